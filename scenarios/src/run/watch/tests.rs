use std::time::Duration;

use serde_json::{Value, json};

use super::*;

/// `>` to the adapter, `<` from it; `e` editor, `h` host.
fn judge_lines(lines: &[(&str, Value)]) -> Vec<&'static str> {
    let entries = lines.iter().map(|(mark, frame)| Entry {
        at: Duration::ZERO,
        lane: if mark.starts_with('e') { Lane::Editor } else { Lane::Host(0) },
        from_adapter: mark.ends_with('<'),
        frame: frame.clone(),
        lie: false,
        line: None,
    });
    let transcript = Transcript { entries: entries.collect(), marks: Vec::new() };
    let mut ending = Ending { secrets: vec!["sk-secret".into()], ..Ending::default() };
    ending.violations.clear();
    judge(&transcript, &ending).into_iter().map(|finding| finding.invariant).collect()
}

fn prompt() -> (&'static str, Value) {
    (
        "e>",
        json!({ "jsonrpc": "2.0", "id": 1, "method": "session/prompt",
                   "params": { "sessionId": "s", "prompt": [] } }),
    )
}

fn answer(id: u64) -> (&'static str, Value) {
    ("e<", json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } }))
}

fn update(update: Value) -> (&'static str, Value) {
    (
        "e<",
        json!({ "jsonrpc": "2.0", "method": "session/update",
                   "params": { "sessionId": "s", "update": update } }),
    )
}

fn chunk(text: &str) -> (&'static str, Value) {
    update(json!({ "sessionUpdate": "agent_message_chunk", "messageId": "i",
                   "content": { "type": "text", "text": text } }))
}

fn said(text: &str) -> (&'static str, Value) {
    (
        "h>",
        json!({ "jsonrpc": "2.0", "method": "item/completed", "params": { "item": {
        "itemId": "i", "kind": "agentMessage", "status": "completed", "text": text } } }),
    )
}

#[test]
fn an_honest_run_has_no_findings() {
    let card = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t" });
    let next = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" });
    let lines = [
        prompt(),
        said("hello"),
        chunk("hel"),
        chunk("lo"),
        update(card),
        update(next.clone()),
        answer(1),
        update(next),
    ];
    assert_eq!(judge_lines(&lines), [""; 0]);
}

#[test]
fn frames_of_corrections_are_judged() {
    let steer = |method: &str| {
        (
            "e>",
            json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": { "sessionId": "s" } }),
        )
    };
    let result = |result: Value| ("e<", json!({ "jsonrpc": "2.0", "id": 7, "result": result }));
    let sent = (
        "h<",
        json!({ "jsonrpc": "2.0", "id": 1, "method": "turn/steer", "params": { "sessionId": "s" } }),
    );
    let active = |turn: Value| {
        update(
            json!({ "sessionUpdate": "session_info_update", "_meta": { "muse/activeTurnId": turn } }),
        )
    };
    let good = [
        prompt(),
        active(json!("t")),
        steer("_muse/steer"),
        sent.clone(),
        result(json!({ "status": "accepted", "turnId": "t" })),
        active(json!(null)),
        answer(1),
    ];
    assert_eq!(judge_lines(&good), [""; 0]);
    let odd = result(json!({ "status": "accepted" }));
    assert_eq!(judge_lines(&[steer("_muse/steer"), odd]), ["E1"]);
    let odd = result(json!({ "outcome": "injected", "startedNewTurn": false }));
    assert_eq!(judge_lines(&[steer("_session/steering"), odd]), ["E1"]);
    assert_eq!(judge_lines(&[sent]), ["I2"]);
    assert_eq!(judge_lines(&[prompt(), answer(1), active(json!(null))]), ["E1"]);
    assert_eq!(judge_lines(&[prompt(), active(json!(1)), answer(1)]), ["E1"]);
}

#[test]
fn each_broken_invariant_is_found() {
    let next = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" });
    let card = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t" });
    let start = (
        "h<",
        json!({ "jsonrpc": "2.0", "id": 1, "method": "turn/start",
                               "params": { "sessionId": "s" } }),
    );
    let title = json!({ "sessionUpdate": "session_info_update", "title": "t" });
    let cases: [(&[_], &str); 12] = [
        (&[prompt()], "I1"),
        (&[prompt(), answer(1), answer(1)], "I1"),
        (&[answer(9)], "I1"),
        (std::slice::from_ref(&start), "I2"),
        (&[prompt(), answer(1), chunk("x")], "I3"),
        (&[update(title), prompt(), answer(1)], "I3"),
        (&[("e<", json!("banner"))], "I4"),
        (&[prompt(), chunk("sk-secret"), answer(1)], "I5"),
        (&[prompt(), update(next), answer(1)], "E2"),
        (&[prompt(), update(card.clone()), update(card), answer(1)], "E2"),
        (&[prompt(), said("hello"), chunk("hello"), chunk("hello"), answer(1)], "E3"),
        (&[prompt(), said("hello"), chunk("hel"), answer(1)], "E3"),
    ];
    for (lines, expected) in cases {
        assert!(judge_lines(lines).contains(&expected), "{expected}: {lines:?}");
    }
    let odd = ("e<", json!({ "jsonrpc": "2.0", "method": "session/update", "params": {} }));
    assert_eq!(judge_lines(&[odd]), ["E1"]);
}
