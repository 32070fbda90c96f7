//! Requests, prompts, permissions.

use super::*;

#[test]
fn nothing_is_served_before_initialize_and_unknown_methods_are_named_as_such() {
    let mut stage = Stage::new();
    stage.call("session/new", json!({ "cwd": "/w", "mcpServers": [] }));
    assert_eq!(stage.answer()["error"]["code"], -32600);
    stage.call("initialize", json!({ "protocolVersion": 99 }));
    assert_eq!(stage.answer()["result"]["protocolVersion"], 1);
    for method in ["session/load", "session/delete", "session/set_model", "_muse/other", "x"] {
        stage.call(method, json!({}));
        assert_eq!(stage.answer()["error"]["code"], -32601, "{method}");
    }
    stage.editor(&json!({ "jsonrpc": "2.0", "method": "_unknown/notification" }));
    stage.quiet();
}

#[test]
fn what_initialize_promises_is_what_works() {
    let mut stage = Stage::new();
    stage.call(
        "initialize",
        json!({ "protocolVersion": 1,
                                     "clientCapabilities": { "auth": { "terminal": true } } }),
    );
    let result = stage.answer()["result"].clone();
    let sessions = &result["agentCapabilities"]["sessionCapabilities"];
    assert_eq!(sessions, &json!({ "close": {} }));
    assert_eq!(result["agentCapabilities"]["loadSession"], false);
    let methods = result["authMethods"].as_array().expect("methods");
    assert_eq!(methods[0]["id"], "muse-login");
    assert_eq!(methods[1]["id"], "meta-api-key");
    assert!(methods[1].get("type").is_none(), "an agent method has no type (PO-3)");
}

#[test]
fn a_session_is_refused_when_its_workspace_or_its_wishes_cannot_be_met() {
    let mut stage = Stage::new();
    stage.call("initialize", json!({ "protocolVersion": 1 }));
    stage.answer();
    let server = json!({ "name": "n", "command": "/bin/x", "args": [], "env": [] });
    for params in [
        json!({ "cwd": "relative", "mcpServers": [] }),
        json!({ "cwd": "/w" }),
        json!({ "cwd": "/w", "mcpServers": [server] }),
        json!({ "cwd": "/w", "mcpServers": [], "additionalDirectories": ["/x"] }),
        json!(["/w", []]),
    ] {
        stage.call("session/new", params.clone());
        assert_eq!(stage.answer()["error"]["code"], -32602, "{params}");
    }
    assert!(stage.effects.is_empty());
}

#[test]
fn unknown_sessions_are_named_in_the_error() {
    let (mut stage, _) = Stage::with_session();
    stage.prompt("nobody", "x");
    let error = stage.answer()["error"].clone();
    assert_eq!((&error["code"], &error["data"]["sessionId"]), (&json!(-32002), &json!("nobody")));
    stage.call("session/close", json!({ "sessionId": "nobody" }));
    assert_eq!(stage.answer()["error"]["code"], -32002);
    stage.cancel("nobody");
    stage.quiet();
}

#[test]
fn a_prompt_opens_the_session_on_the_host_and_streams_its_text_once() {
    let (mut stage, session, prompt) = Stage::with_turn();
    let item = |revision: u64, status: &str, text: &str| {
        json!({ "item": { "itemId": "i", "kind": "agentMessage", "turnId": TURN,
                          "revision": revision, "status": status, "text": text } })
    };
    stage.event("item/started", &session, item(1, "inProgress", ""));
    stage.event("item/delta", &session, json!({ "itemId": "i", "delta": "he" }));
    stage.event("item/completed", &session, item(2, "completed", "hello"));
    let texts = [stage.update(), stage.update()];
    assert_eq!(texts[0]["content"]["text"], "he");
    assert_eq!(texts[1]["content"]["text"], "llo");
    assert_eq!(texts[0]["messageId"], "i");
    stage.complete(&session);
    let answer = stage.answer();
    assert_eq!(
        (&answer["id"], &answer["result"]["stopReason"]),
        (&json!(prompt), &json!("end_turn"))
    );
    stage.quiet();
    assert!(stage.closed.is_empty(), "the host is kept for the next prompt");
}

#[test]
fn what_comes_before_the_acknowledgement_waits_for_it() {
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "hello");
    stage.open_host(&session);
    stage.event("item/completed", &session, json!({ "item": { "itemId": "i",
        "kind": "agentMessage", "turnId": TURN, "revision": 1, "status": "completed", "text": "hi" } }));
    stage.event("turn/completed", &session, json!({ "turnId": TURN, "terminal": "completed" }));
    assert!(stage.to_editor.is_empty());
    stage.acknowledge();
    assert_eq!(stage.update()["sessionUpdate"], "session_info_update");
    assert_eq!(stage.update()["content"]["text"], "hi");
}

#[test]
fn events_of_another_session_or_turn_are_not_shown() {
    let (mut stage, session, _) = Stage::with_turn();
    let item = |turn: &str| {
        json!({ "item": { "itemId": "i", "kind": "agentMessage", "turnId": turn,
                          "revision": 1, "status": "inProgress", "text": "no" } })
    };
    stage.event("item/started", "another", item(TURN));
    stage.event("item/started", &session, item("another"));
    stage.event("turn/completed", &session, json!({ "turnId": "another", "terminal": "failed" }));
    stage.event("turn/completed", "another", json!({ "turnId": TURN, "terminal": "failed" }));
    stage.quiet();
}

#[test]
fn the_kept_host_is_used_again_and_told_its_mode_again() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.complete(&session);
    stage.answer();
    stage.prompt(&session, "again");
    stage.resolve();
    let mode = stage.asked("session/setApprovalMode");
    stage.reply(&mode, json!({ "status": "accepted" }));
    stage.acknowledge();
    stage.complete(&session);
    assert_eq!(stage.answer()["result"]["stopReason"], "end_turn");
    assert_eq!(stage.spawned.len(), 1);
}

/// HOST-8: whatever befalls it before anything was submitted costs the host alone. The files of Muse are
/// being read meanwhile, which no story on a stage can hold up.
#[test]
fn a_kept_host_that_is_lost_while_a_prompt_is_prepared_is_replaced() {
    for lost in 0..5 {
        let (mut stage, session, _) = Stage::with_turn();
        stage.complete(&session);
        stage.answer();
        let host = stage.spawned[0];
        stage.prompt(&session, "again");
        match lost {
            0 => stage.feed(Input::HostEof(host)),
            1 => stage.feed(Input::HostDeaf(host)),
            2 => stage.event("session/closed", &session, json!({})),
            3 => stage.event("view/gap", &session, json!({})),
            _ => stage.host_gone(HostEnd::default()),
        }
        assert_eq!(stage.closed, [host], "way {lost}");
        if lost < 4 {
            stage.host_gone(HostEnd::default());
        }
        stage.quiet();
        stage.open_host(&session);
        stage.acknowledge();
        assert_eq!(stage.update()["sessionUpdate"], "session_info_update");
        stage.complete(&session);
        assert_eq!(stage.answer()["result"]["stopReason"], "end_turn", "way {lost}");
        assert_eq!(stage.spawned.len(), 2);
    }
}

#[test]
fn a_second_prompt_is_refused_and_does_not_disturb_the_first() {
    let (mut stage, session, prompt) = Stage::with_turn();
    let second = stage.prompt(&session, "me too");
    let refused = stage.answer();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(second), &json!(-32600)));
    assert_eq!(refused["error"]["data"]["availability"], "busy");
    stage.complete(&session);
    assert_eq!(stage.answer()["id"], prompt);
}

fn approval(session: &str) -> Value {
    json!({
        "sessionId": session, "approvalId": "a", "turnId": TURN, "itemId": "i", "toolCallId": "c",
        "toolName": "bash", "rawArgs": "{\"command\":\"make\"}",
        "currentRequirementId": { "approvalId": "a", "sourceIndex": 0 },
        "availableChoices": [
            { "choiceId": "yes", "label": "Allow", "decision": "approved", "scope": "once" },
            { "choiceId": "no", "label": "Reject", "decision": "abort", "scope": "once" }],
    })
}

fn ask(stage: &mut Stage, session: &str) -> Value {
    stage.event("approval/requested", session, approval(session));
    stage.host(&json!({ "jsonrpc": "2.0", "id": 1, "method": "approval/request",
                        "params": approval(session) }));
    assert_eq!(stage.to_host.pop_front().expect("a receipt")["result"], json!({}));
    let question = stage.to_editor.pop_front().expect("a question");
    assert_eq!(question["method"], "session/request_permission");
    assert!(stage.to_editor.is_empty(), "told twice, asked once");
    question
}

fn choose(stage: &mut Stage, question: &Value, outcome: Value) {
    stage.editor(&json!({ "jsonrpc": "2.0", "id": question["id"],
                          "result": { "outcome": outcome } }));
}

#[test]
fn an_approval_is_asked_once_and_the_answer_is_sent_once() {
    let (mut stage, session, _) = Stage::with_turn();
    let question = ask(&mut stage, &session);
    assert_eq!(question["params"]["toolCall"]["title"], "make");
    let selected = json!({ "outcome": "selected", "optionId": "yes" });
    choose(&mut stage, &question, selected.clone());
    let decide = stage.asked("approval/decide");
    assert_eq!(decide["params"]["choiceId"], "yes");
    assert_eq!(decide["params"]["requirementId"], json!({ "approvalId": "a", "sourceIndex": 0 }));
    choose(&mut stage, &question, selected);
    stage.quiet();
    stage.refuse(&decide, -32053, "approvalRequirementStale");
    let list = stage.asked("approval/listPending"); // PO-10
    stage.refuse(&list, -32601, "methodNotFound");
    stage.quiet();
    stage.event("approval/resolved", &session, json!({ "approvalId": "a" }));
    stage.complete(&session);
    assert_eq!(stage.answer()["result"]["stopReason"], "end_turn");
}

#[test]
fn a_dismissed_question_sends_the_hosts_own_denial() {
    let (mut stage, session, _) = Stage::with_turn();
    let question = ask(&mut stage, &session);
    choose(&mut stage, &question, json!({ "outcome": "cancelled" }));
    assert_eq!(stage.asked("approval/decide")["params"]["choiceId"], "no");
}

#[test]
fn an_answer_that_was_not_offered_or_cannot_be_read_grants_nothing() {
    for outcome in [
        json!({ "outcome": "selected", "optionId": "always" }),
        json!({ "outcome": "selected" }),
        json!({ "outcome": "maybe" }),
        json!(null),
    ] {
        let (mut stage, session, _) = Stage::with_turn();
        let question = ask(&mut stage, &session);
        choose(&mut stage, &question, outcome);
        assert_eq!(failure(&stage.answer())["kind"], "permissionInvalid");
        assert!(stage.to_host.is_empty(), "no decision was sent");
    }
    let (mut stage, session, _) = Stage::with_turn();
    let question = ask(&mut stage, &session);
    stage.editor(&json!({ "jsonrpc": "2.0", "id": question["id"],
                          "error": { "code": -32603, "message": "no dialog" } }));
    assert_eq!(failure(&stage.answer())["kind"], "permissionInvalid");
}

#[test]
fn a_refused_decision_fails_the_turn_with_the_code_alone() {
    let (mut stage, session, _) = Stage::with_turn();
    let question = ask(&mut stage, &session);
    choose(&mut stage, &question, json!({ "outcome": "selected", "optionId": "yes" }));
    let decide = stage.asked("approval/decide");
    stage.refuse(&decide, -32051, "approvalNotFound");
    let answer = stage.answer();
    assert_eq!(failure(&answer)["kind"], "approvalRejected");
    assert_eq!(failure(&answer)["mspCode"], -32051);
}

#[test]
fn a_question_of_the_host_is_cancelled_and_fails_the_prompt() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.event("userInput/requested", &session, json!({ "userInputId": "u", "turnId": TURN }));
    assert_eq!(stage.asked("userInput/cancel")["params"]["userInputId"], "u");
    assert_eq!(failure(&stage.answer())["kind"], "userInputUnsupported");
}

#[test]
fn an_unknown_request_of_the_host_is_refused_by_kind() {
    let (mut stage, _, _) = Stage::with_turn();
    stage.host(&json!({ "jsonrpc": "2.0", "id": 9, "method": "future/request", "params": {} }));
    let refusal = stage.to_host.pop_front().expect("a refusal");
    assert_eq!(refusal["error"]["data"]["kind"], "methodNotFound");
    stage.host(&json!({ "jsonrpc": "2.0", "id": "text", "method": "future/request" }));
    stage.quiet();
}

#[test]
fn odd_lines_of_the_host_change_nothing() {
    let (mut stage, session, _) = Stage::with_turn();
    let host = stage.spawned[0];
    for line in ["not json", "[]", "7", r#"{"jsonrpc":"2.0","id":999,"result":{}}"#, "{\"a\":1}"] {
        stage.feed(Input::Host(host, Line::Complete(line.as_bytes())));
    }
    stage.feed(Input::Host(host, Line::TooLong { bytes: 99_000_000 }));
    stage.event("item/started", &session, json!({ "item": 7 }));
    stage.quiet();
    stage.complete(&session);
    assert_eq!(stage.answer()["result"]["stopReason"], "end_turn");
}
