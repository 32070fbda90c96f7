//! The host goes away on its own (PO-37, FAIL-6d, FAIL-6g, PO-2).

use serde_json::Value;
use tests::{Agent, Setup, setup};

/// Prompts once and returns the error's message and failure object. Then the session must be usable
/// or the next failure be told as well: the adapter itself goes on.
async fn failure(setup: &Setup) -> (String, Value) {
    let mut agent = Agent::start(setup).await;
    let session = agent.new_session().await;
    let id = agent.begin_prompt(&session, "hello").await;
    let error = agent.refusal(&id).await;
    assert_eq!(error["code"], -32603, "{error}");
    agent.assert_alone();
    agent.initialize().await;
    agent.finish().await;
    (error["message"].as_str().expect("a message").to_owned(), error["data"]["failure"].clone())
}

fn assert_lost(failure: &Value, kind: &str, phase: &str, execution: &str, outcome: &str) {
    assert_eq!(failure["kind"], kind, "{failure}");
    assert_eq!(failure["source"], "transport", "{failure}");
    assert_eq!(failure["phase"], phase, "{failure}");
    assert_eq!(failure["execution"], execution, "{failure}");
    assert_eq!(failure["outcome"], outcome, "{failure}");
}

#[tokio::test]
async fn a_host_that_exits_before_the_acknowledgement_is_a_transport_error() {
    let (message, failure) = failure(&setup!().fault("exit:turn/start:3")).await;
    assert_lost(&failure, "transportError", "submitting", "possiblySubmitted", "unknown");
    assert!(message.contains("code 3"), "the exit code is told: {message}");
}

#[tokio::test]
async fn a_host_that_crashes_before_the_acknowledgement_is_a_transport_error() {
    let (_, failure) = failure(&setup!().fault("crash:turn/start")).await;
    assert_lost(&failure, "transportError", "submitting", "possiblySubmitted", "unknown");
}

/// It closes its stdout and lives on, so the adapter has to end it (CHD-4).
#[tokio::test]
async fn a_host_that_only_closes_its_output_is_a_transport_error_and_is_ended() {
    let (_, failure) = failure(&setup!().fault("eof:turn/start")).await;
    assert_lost(&failure, "transportError", "submitting", "possiblySubmitted", "unknown");
}

#[tokio::test]
async fn a_host_that_dies_while_preparing_has_certainly_submitted_nothing() {
    let (_, failure) = failure(&setup!().fault("exit:session/setModel:1")).await;
    assert_lost(&failure, "transportError", "preparing", "notSubmitted", "failed");
}

#[tokio::test]
async fn a_host_that_dies_in_the_handshake_has_certainly_submitted_nothing() {
    let (_, failure) = failure(&setup!().fault("exit:initialize:1")).await;
    assert_lost(&failure, "transportError", "initializing", "notSubmitted", "failed");
}

/// After the acknowledgement nobody knows how the turn ended. The next prompt gets a new host.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_host_that_is_killed_during_a_turn_leaves_its_end_unknown() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let id = agent.begin_prompt(&session, "run ls").await;
    agent.permission().await;

    agent.kill_hosts();

    let error = agent.refusal(&id).await;
    let failure = &error["data"]["failure"];
    assert_lost(failure, "terminalUnknown", "running", "possiblySubmitted", "unknown");
    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
}

/// HOST-12: between two prompts it is nobody's failure.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_host_that_dies_between_two_prompts_is_replaced() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    agent.prompt(&session, "hello").await;

    agent.kill_hosts();
    agent.assert_alone();

    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
}

/// HOST-5: a refusal is an answer; nothing was submitted.
#[tokio::test]
async fn a_refused_model_fails_the_prompt_before_a_turn() {
    let (_, failure) = failure(&setup!().fault("error:session/setModel:-32030")).await;
    assert_eq!(failure["source"], "host", "{failure}");
    assert_eq!(failure["phase"], "preparing", "{failure}");
    assert_eq!(failure["execution"], "notSubmitted", "{failure}");
    assert_eq!(failure["mspCode"], -32030, "{failure}");
}

/// PO-2, PO-6: an editor can list and start the agent on a machine without Muse; the first prompt says
/// what to do.
#[tokio::test]
async fn without_muse_the_first_prompt_says_how_to_get_it() {
    let missing = setup!().var("MUSE_CODE_EXECUTABLE", "/nowhere/muse");
    let (message, refusal) = failure(&missing).await;
    assert_eq!(refusal["kind"], "hostUnavailable", "{refusal}");
    assert_eq!(refusal["source"], "adapter", "{refusal}");
    assert_eq!(refusal["execution"], "notSubmitted", "{refusal}");
    assert!(
        message.contains("MUSE_CODE_EXECUTABLE") && message.contains("/nowhere/muse"),
        "{message}"
    );

    // The search on PATH is the other way to find nothing (BIN-1, BIN-2).
    let unset = setup!().without("MUSE_CODE_EXECUTABLE");
    let empty = unset.scratch().to_owned();
    let (message, refusal) = failure(&unset.var("PATH", empty)).await;
    assert_eq!(refusal["kind"], "hostUnavailable", "{refusal}");
    assert!(message.contains("PATH") && message.contains("MUSE_CODE_EXECUTABLE"), "{message}");
}

/// BIN-4: the upgrade or the way back is named.
#[tokio::test]
async fn a_muse_without_serve_is_named_with_the_way_out() {
    let (message, failure) = failure(&setup!().fault("no-serve")).await;
    assert_eq!(failure["kind"], "hostUnavailable", "{failure}");
    assert!(message.contains("MUSE_CODE_ACP_BACKEND=exec"), "{message}");
}

/// PO-30: the handshake does not wait for a slow `muse --version`, and no probe outlives the adapter.
#[tokio::test]
async fn a_muse_that_is_slow_to_say_its_version_does_not_hold_up_the_handshake() {
    let setup = setup!().fault("slow-version");
    let mut agent = Agent::spawn(&setup);

    agent.initialize().await;

    agent.finish().await;
}

/// Section 8 of the design: every host generation gives a plain turn.
#[tokio::test]
async fn every_known_host_generation_answers_a_prompt() {
    for profile in ["1.1.1", "1.2.1", "1.3.0", "1.4.14"] {
        let setup = setup!().var("FAKE_MSP_PROFILE", profile);
        let mut agent = Agent::start(&setup).await;
        let session = agent.new_session().await;
        let id = agent.begin_prompt(&session, "run ls").await;
        let permission = agent.permission().await;

        agent.choose(&permission, "allow_once").await;

        assert_eq!(agent.result(&id).await["stopReason"], "end_turn", "{profile}");
        agent.finish().await;
    }
}
