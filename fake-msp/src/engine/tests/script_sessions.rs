//! What a script may say of whole sessions.

use serde_json::{Value, json};

use super::super::Options;
use super::{Talk, scripted};

fn said(talk: &mut Talk, method: &str, sets: &[(&str, Value)]) -> Result<Value, &'static str> {
    let emitted = talk.host.emit(method, sets, None);
    talk.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "model/list" }));
    emitted.map(|emitted| emitted.params).map_err(|illegal| illegal.rule)
}

#[test]
fn a_script_closes_leaves_lists_and_names_as_a_host_would() {
    let mut talk =
        Talk::with("1.4.14", Options { asked: vec!["session/leave".into()], ..scripted() });
    talk.initialize(json!({ "requestedCapabilities": ["sessionListStream"] }));
    talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
    let session = talk.session();

    let row = said(&mut talk, "session/listChanged", &[]).unwrap();
    assert_eq!(row["session"]["sessionId"], session);
    let named = said(&mut talk, "session/nameChanged", &[("name", json!("n"))]).unwrap();
    assert_eq!(named["name"], "n");
    assert_eq!(said(&mut talk, "session/nameChanged", &[("name", json!(" "))]), Err("STA-1"));
    assert_eq!(said(&mut talk, "session/leaveCompleted", &[]), Err("SES-10"));
    let command = talk.command();
    talk.request("session/leave", json!({ "sessionId": session, "commandId": command }));
    let handle = super::super::AskHandle(talk.host.asked);
    talk.host.answer_ok(handle, &[]).unwrap();
    talk.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "model/list" }));
    assert!(talk.of("session/leaveCompleted").is_empty(), "DSL-7: the story says it");
    let left = said(&mut talk, "session/leaveCompleted", &[]).unwrap();
    assert_eq!((&left["commandId"], &left["outcome"]), (&json!(command), &json!("released")));
    assert_eq!(said(&mut talk, "session/leaveCompleted", &[]), Err("SES-10"), "once");
    said(&mut talk, "session/closed", &[("reason", json!("leave"))]).unwrap();
    assert_eq!(said(&mut talk, "session/closed", &[]), Err("SES-9"), "it is not loaded");
}

#[test]
fn a_broadcast_without_its_grant_and_an_idle_close_of_a_busy_session_are_lies() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    assert_eq!(said(&mut talk, "session/listChanged", &[]), Err("HSK-5"));
    let input = json!([{ "type": "text", "text": "go" }]);
    talk.act("turn/start", json!({ "sessionId": session, "input": input }));
    talk.host.answer_ok(super::super::AskHandle(talk.host.asked), &[]).unwrap();
    talk.host.emit("turn/started", &[], None).unwrap();
    let idle = [("reason", json!("idle"))];
    assert_eq!(said(&mut talk, "session/closed", &idle), Err("SES-9"));
    talk.host.emit_lie("session/closed", &idle, None).unwrap();

    let mut old = Talk::ready_with("1.1.1", scripted());
    old.session();
    assert_eq!(said(&mut old, "session/closed", &[]), Err("HOST-18"));
    assert_eq!(said(&mut old, "session/statusChanged", &[]), Err("HOST-18"));
}
