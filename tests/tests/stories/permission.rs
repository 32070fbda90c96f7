//! A question of the host, asked in the editor.

use serde_json::{Value, json};
use tests::{Agent, Setup, setup};

/// Prompts `run ls` and returns the agent with the pending question.
async fn asked(setup: &Setup) -> (Agent, Value, Value) {
    let mut agent = Agent::start(setup).await;
    let session = agent.new_session().await;
    let prompt = agent.begin_prompt(&session, "run ls").await;
    let permission = agent.permission().await;
    (agent, prompt, permission)
}

/// The last status that the tool card of this question was given.
fn last_status(updates: &[Value], permission: &Value) -> Value {
    let card = &permission["params"]["toolCall"]["toolCallId"];
    let mut statuses = updates.iter().filter(|update| update["toolCallId"] == *card);
    statuses.rfind(|update| update["status"].is_string()).expect("a card")["status"].clone()
}

#[tokio::test]
async fn a_question_names_the_command_and_can_be_declined() {
    let setup = setup!();
    let (mut agent, prompt, permission) = asked(&setup).await;

    let shown = permission["params"]["toolCall"].to_string();
    assert!(shown.contains("ls"), "{shown}");
    let options = permission["params"]["options"].as_array().expect("options");
    let kinds: Vec<_> =
        options.iter().map(|option| option["kind"].as_str().expect("kind")).collect();
    assert!(kinds.contains(&"allow_once") && kinds.contains(&"reject_once"), "{kinds:?}");

    agent.choose(&permission, "allow_once").await;
    agent.result(&prompt).await;
    agent.finish().await;
}

#[tokio::test]
async fn an_allowed_command_runs() {
    let setup = setup!();
    let (mut agent, prompt, permission) = asked(&setup).await;

    agent.choose(&permission, "allow_once").await;

    assert_eq!(agent.result(&prompt).await["stopReason"], "end_turn");
    assert_eq!(last_status(&agent.take_updates(), &permission), "completed");
    agent.finish().await;
}

#[tokio::test]
async fn a_denied_command_does_not_run_and_the_turn_ends() {
    let setup = setup!();
    let (mut agent, prompt, permission) = asked(&setup).await;

    agent.choose(&permission, "reject_once").await;

    assert_eq!(agent.result(&prompt).await["stopReason"], "end_turn"); // APR-26
    assert_eq!(last_status(&agent.take_updates(), &permission), "failed");
    agent.finish().await;
}

/// APR-21: a dismissed dialog is the host's own deny, and the turn goes on.
#[tokio::test]
async fn a_dismissed_question_is_a_denial() {
    let setup = setup!();
    let (mut agent, prompt, permission) = asked(&setup).await;

    agent.respond(&permission, json!({"outcome": {"outcome": "cancelled"}})).await;

    assert_eq!(agent.result(&prompt).await["stopReason"], "end_turn");
    assert_eq!(last_status(&agent.take_updates(), &permission), "failed");
    agent.finish().await;
    assert_eq!(setup.host_received_count("approval/decide"), 1);
}

/// PO-46, PIT-5: what cannot be understood as a choice grants nothing and fails the turn by name.
#[tokio::test]
async fn a_malformed_answer_fails_the_turn_and_grants_nothing() {
    let malformed = [
        json!({"outcome": {"outcome": "selected", "optionId": "never offered"}}),
        json!({"outcome": {"outcome": "selected"}}),
        json!({"outcome": "allow"}),
        json!({}),
        json!(null),
    ];
    for answer in malformed {
        let setup = setup!();
        let (mut agent, prompt, permission) = asked(&setup).await;

        agent.respond(&permission, answer.clone()).await;

        let error = agent.refusal(&prompt).await;
        assert_eq!(error["data"]["failure"]["kind"], "permissionInvalid", "{answer}");
        agent.finish().await;
        assert_eq!(setup.host_received_count("approval/decide"), 0, "{answer}");
    }
}

/// An editor that cannot ask answers with an error; that is no grant either.
#[tokio::test]
async fn an_error_instead_of_an_answer_grants_nothing() {
    let setup = setup!();
    let (mut agent, prompt, permission) = asked(&setup).await;

    let error = json!({"code": -32601, "message": "no dialogs here"});
    agent.send(&json!({"jsonrpc": "2.0", "id": permission["id"], "error": error})).await;

    let error = agent.refusal(&prompt).await;
    assert_eq!(error["data"]["failure"]["kind"], "permissionInvalid", "{error}");
    agent.finish().await;
    assert_eq!(setup.host_received_count("approval/decide"), 0);
}
