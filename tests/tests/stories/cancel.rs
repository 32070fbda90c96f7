//! Cancelling a turn, and closing a session.

use serde_json::json;
use tests::{Agent, setup};

#[tokio::test]
async fn a_cancelled_turn_says_so_and_the_next_prompt_works() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let waiting = agent.begin_prompt(&session, "wait").await;
    setup.host_frame("turn/started").await;

    agent.cancel(&session).await;

    assert_eq!(agent.result(&waiting).await["stopReason"], "cancelled");
    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
}

/// HOST-12: without an acknowledgement there is no turn to cancel, so the host goes.
#[tokio::test]
async fn a_cancel_before_the_acknowledgement_is_answered_too() {
    let setup = setup!().fault("ignore:turn/start");
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let waiting = agent.begin_prompt(&session, "hello").await;
    setup.host_frame("turn/start").await;

    agent.cancel(&session).await;

    assert_eq!(agent.result(&waiting).await["stopReason"], "cancelled");
    agent.finish().await;
}

/// BIND-9: nothing has been started yet, and the prompt is answered all the same.
#[tokio::test]
async fn a_cancel_right_behind_the_prompt_is_not_lost() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    let prompt = agent.begin_prompt(&session, "wait").await;
    agent.cancel(&session).await;

    assert_eq!(agent.result(&prompt).await["stopReason"], "cancelled");
    agent.finish().await;
}

/// The question is over when the turn is: a late answer to it is ignored.
#[tokio::test]
async fn a_cancel_during_a_question_ends_the_turn_without_a_grant() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let prompt = agent.begin_prompt(&session, "run ls").await;
    let permission = agent.permission().await;

    agent.cancel(&session).await;
    agent.respond(&permission, json!({"outcome": {"outcome": "cancelled"}})).await;

    assert_eq!(agent.result(&prompt).await["stopReason"], "cancelled");
    agent.finish().await;
}

/// Neither is an error of the protocol: there is nobody to answer to.
#[tokio::test]
async fn a_cancel_without_a_turn_or_a_session_changes_nothing() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    agent.cancel(&session).await;
    agent.cancel("no-such-session").await;

    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
}

/// CLOSE-1, CLOSE-2: the answer to `session/close` comes when the host is gone.
#[tokio::test]
async fn a_closed_session_has_no_host_and_is_unknown() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    agent.prompt(&session, "hello").await;

    let id = agent.request("session/close", json!({"sessionId": session})).await;

    assert_eq!(agent.result(&id).await, json!({}));
    agent.assert_alone();
    let gone = agent.begin_prompt(&session, "hello").await;
    assert_eq!(agent.refusal(&gone).await["code"], -32002);
    agent.finish().await;
}

/// CLOSE-1: the turn is cancelled, not failed.
#[tokio::test]
async fn closing_a_session_cancels_its_turn() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let prompt = agent.begin_prompt(&session, "wait").await;
    setup.host_frame("turn/started").await;

    let close = agent.request("session/close", json!({"sessionId": session})).await;

    assert_eq!(agent.result(&prompt).await["stopReason"], "cancelled");
    assert_eq!(agent.result(&close).await, json!({}));
    agent.assert_alone();
    agent.finish().await;
}

/// PO-5: the same code as everywhere; the TypeScript client reads it as "already closed".
#[tokio::test]
async fn closing_an_unknown_session_is_refused_by_name() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;

    let id = agent.request("session/close", json!({"sessionId": "no-such-session"})).await;

    let error = agent.refusal(&id).await;
    assert_eq!(error["code"], -32002);
    assert_eq!(error["data"]["sessionId"], "no-such-session");
    agent.finish().await;
}
