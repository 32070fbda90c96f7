//! A prompt from the editor to the host and back.

use serde_json::{Value, json};
use tests::{Agent, setup};

/// The text of all updates of one kind, joined.
fn text_of(updates: &[Value], kind: &str) -> String {
    let chunks = updates.iter().filter(|update| update["sessionUpdate"] == kind);
    chunks.map(|update| update["content"]["text"].as_str().expect("text")).collect()
}

/// STR: thoughts and text arrive as they are made, all of them before the answer (WIRE-11).
#[tokio::test]
async fn an_answer_is_streamed_before_the_prompt_ends() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    let result = agent.prompt(&session, "hello").await;

    assert_eq!(result["stopReason"], "end_turn");
    let updates = agent.take_updates();
    assert!(!text_of(&updates, "agent_thought_chunk").is_empty(), "{updates:#?}");
    let chunks = updates.iter().filter(|u| u["sessionUpdate"] == "agent_message_chunk").count();
    assert!(chunks > 1, "the text came in one piece: {updates:#?}");
    assert!(text_of(&updates, "agent_message_chunk").contains("hello"), "{updates:#?}");

    let record = agent.finish().await;
    let frames = record.frames();
    let answered = frames.iter().position(|frame| frame["result"]["stopReason"] == "end_turn");
    let last_text = frames
        .iter()
        .rposition(|frame| frame["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    assert!(last_text < answered, "text after the prompt's answer: {frames:#?}");
}

/// HOST-1, HOST-8: the session's host serves the next prompt too.
#[tokio::test]
async fn a_second_prompt_uses_the_same_host_process() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    agent.prompt(&session, "one").await;
    agent.prompt(&session, "two").await;

    agent.finish().await;
    assert_eq!(setup.host_received_count("session/start"), 1);
    assert_eq!(setup.host_received_count("turn/start"), 2);
}

/// PC: a link is passed on to the host as a reference; the file is not read.
#[tokio::test]
async fn a_resource_link_reaches_the_host() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let prompt = json!([
        {"type": "text", "text": "look at"},
        {"type": "resource_link", "uri": "file:///nowhere/plan.md", "name": "plan.md"},
    ]);

    let params = json!({"sessionId": session, "prompt": prompt});
    let id = agent.request("session/prompt", params).await;

    assert_eq!(agent.result(&id).await["stopReason"], "end_turn");
    agent.finish().await;
    let received = setup.host_received();
    let submitted = received.iter().find(|frame| frame["method"] == "turn/start");
    let submitted = submitted.expect("a turn/start")["params"].to_string();
    assert!(submitted.contains("look at") && submitted.contains("/nowhere/plan.md"), "{submitted}");
}

/// Content that was not advertised is refused, and no turn is started for it.
#[tokio::test]
async fn an_image_is_refused_before_a_turn_is_started() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});

    let params = json!({"sessionId": session, "prompt": [image]});
    let id = agent.request("session/prompt", params).await;

    assert_eq!(agent.refusal(&id).await["code"], -32602);
    agent.finish().await;
    assert_eq!(setup.host_received_count("turn/start"), 0);
}

/// NEW-2: a session costs no host process until it is used.
#[tokio::test]
async fn a_new_session_starts_no_host() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;

    agent.new_session().await;

    agent.finish().await;
    assert_eq!(setup.host_received(), Vec::<Value>::new());
}

/// PO-5: the id is told back, so that an editor can drop its stale tab.
#[tokio::test]
async fn an_unknown_session_is_named_in_the_refusal() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;

    let id = agent.begin_prompt("no-such-session", "hello").await;

    let error = agent.refusal(&id).await;
    assert_eq!(
        (&error["code"], &error["data"]["sessionId"]),
        (&json!(-32002), &json!("no-such-session"))
    );
    agent.finish().await;
}

/// BIND-3: one prompt at a time, and the first one is not disturbed.
#[tokio::test]
async fn a_second_prompt_during_a_turn_is_refused() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let first = agent.begin_prompt(&session, "run ls").await;
    let permission = agent.permission().await;

    let second = agent.begin_prompt(&session, "me too").await;
    assert_eq!(agent.refusal(&second).await["code"], -32600);
    agent.choose(&permission, "allow_once").await;

    assert_eq!(agent.result(&first).await["stopReason"], "end_turn");
    agent.finish().await;
}

/// The host's failure is told as an object, and the session goes on (FAIL-6b).
#[tokio::test]
async fn a_failed_turn_is_classified_and_the_session_goes_on() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    let id = agent.begin_prompt(&session, "fail modelError").await;

    let failure = &agent.refusal(&id).await["data"]["failure"];
    assert_eq!(failure["kind"], "modelError");
    assert_eq!(failure["source"], "provider");
    assert_eq!(failure["phase"], "running");
    assert_eq!(failure["execution"], "possiblySubmitted");
    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
}

/// Every frame arrives, in order, however fast the host writes.
#[tokio::test]
async fn a_burst_loses_nothing() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    let result = agent.prompt(&session, "burst 5000 32").await;

    assert_eq!(result["stopReason"], "end_turn");
    let text = text_of(&agent.take_updates(), "agent_message_chunk");
    assert_eq!(text.len(), 5000 * 32, "{}", &text[..text.len().min(200)]);
    agent.finish().await;
}

/// Two processes share nothing but the machine.
#[tokio::test]
async fn two_adapters_side_by_side_do_not_mix() {
    let setup = setup!();
    let (mut one, mut two) = (Agent::start(&setup).await, Agent::start(&setup).await);
    let (first, second) = (one.new_session().await, two.new_session().await);
    assert_ne!(first, second);

    let asked = one.begin_prompt(&first, "wait").await;
    setup.host_frame("turn/started").await;
    assert_eq!(two.prompt(&second, "hello").await["stopReason"], "end_turn");
    let foreign = two.begin_prompt(&first, "hello").await;
    assert_eq!(two.refusal(&foreign).await["code"], -32002);
    two.finish().await;
    one.cancel(&first).await;

    assert_eq!(one.result(&asked).await["stopReason"], "cancelled");
    one.finish().await;
}
