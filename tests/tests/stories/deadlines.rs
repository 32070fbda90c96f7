//! The three budgets up to the acknowledgement (DL-1..3, FAIL-7, FAIL-8). Real time, with budgets made
//! short through the environment (LANE-3).

use serde_json::Value;
use tests::{Agent, Setup, setup};

const STARTUP: &str = "MUSE_CODE_ACP_STARTUP_TIMEOUT_MS";
const SUBMIT: &str = "MUSE_CODE_ACP_SUBMIT_TIMEOUT_MS";

/// Prompts once and returns the failure object.
async fn failure(setup: &Setup) -> Value {
    let mut agent = Agent::start(setup).await;
    let session = agent.new_session().await;
    let id = agent.begin_prompt(&session, "hello").await;
    let error = agent.refusal(&id).await;
    assert_eq!(error["code"], -32603, "{error}");
    // DL-8: the host that was late is gone when the prompt is answered.
    agent.assert_alone();
    agent.finish().await;
    error["data"]["failure"].clone()
}

fn assert_deadline(failure: &Value, phase: &str, execution: &str, outcome: &str) {
    assert_eq!(failure["kind"], "deadlineExceeded", "{failure}");
    assert_eq!(failure["source"], "adapter", "{failure}");
    assert_eq!(failure["phase"], phase, "{failure}");
    assert_eq!(failure["execution"], execution, "{failure}");
    assert_eq!(failure["outcome"], outcome, "{failure}");
}

#[tokio::test]
async fn a_host_that_does_not_shake_hands_is_given_up_while_initializing() {
    let setup = setup!().fault("ignore:initialize").var(STARTUP, "300");
    assert_deadline(&failure(&setup).await, "initializing", "notSubmitted", "failed");
}

#[tokio::test]
async fn a_host_that_does_not_take_the_model_is_given_up_while_preparing() {
    // Long enough for a slow machine to get through the handshake, which has the same budget.
    let setup = setup!().fault("ignore:session/setModel").var(STARTUP, "3000");
    assert_deadline(&failure(&setup).await, "preparing", "notSubmitted", "failed");
}

#[tokio::test]
async fn a_host_that_does_not_acknowledge_is_given_up_while_submitting() {
    let setup = setup!().fault("ignore:turn/start").var(SUBMIT, "300");
    assert_deadline(&failure(&setup).await, "submitting", "possiblySubmitted", "unknown");
}

/// FAIL-10: the end of the host is a consequence of the deadline and does not replace it.
#[tokio::test]
async fn a_stubborn_host_does_not_change_what_the_deadline_says() {
    let setup = setup!().fault("ignore:turn/start").fault("hang-on-eof").var(SUBMIT, "300");
    assert_deadline(&failure(&setup).await, "submitting", "possiblySubmitted", "unknown");
}

/// PROC-10: nothing is guessed from a value that is no number of milliseconds.
#[tokio::test]
async fn an_unusable_budget_is_refused_by_name() {
    for value in ["0", "-1", "1.5", "2147483648", "soon", ""] {
        let setup = setup!().var(SUBMIT, value);
        let mut agent = Agent::start(&setup).await;
        let session = agent.new_session().await;

        let id = agent.begin_prompt(&session, "hello").await;

        let error = agent.refusal(&id).await;
        assert_eq!(error["code"], -32602, "{value:?}: {error}");
        assert!(error["message"].to_string().contains(SUBMIT), "{value:?}: {error}");
        agent.finish().await;
    }
}
