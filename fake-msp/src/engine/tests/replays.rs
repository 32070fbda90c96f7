//! Exactly-once by `commandId` (CMD-4, CMD-5), over every command that the model knows.

use serde_json::{Value, json};

use super::super::script::EmittedRef;
use super::{Talk, outline};
use crate::profiles::{Class, METHODS};

/// Params of a command beside `sessionId` and `commandId`, as valid as they can be without ids that
/// only a conversation knows.
fn params(method: &str, turn: &str) -> Value {
    let text = json!([{ "type": "text", "text": "wait" }]);
    match method {
        "session/start" => json!({ "workspaceRoot": "/w" }),
        "session/setModel" => json!({ "model": { "modelId": "m" } }),
        "session/setApprovalMode" => json!({ "mode": "onRequest" }),
        "session/setReasoningEffort" => json!({ "reasoningEffort": "low" }),
        "session/rename" => json!({ "name": "n" }),
        "session/userShell" => json!({ "commandText": "ls" }),
        "turn/start" => json!({ "input": text, "ifBusy": "queue" }),
        "turn/steer" => json!({ "input": text, "expectedTurnId": turn }),
        "turn/cancel" | "turn/interrupt" | "turn/unqueue" => json!({ "turnId": turn }),
        "goal/set" | "goal/edit" => json!({ "objective": "o" }),
        "approval/decide" => json!({ "approvalId": "a", "choiceId": "c",
            "requirementId": { "approvalId": "a", "sourceIndex": 0 } }),
        "task/stop" | "task/background" => json!({ "taskId": "t" }),
        "subagent/sendMessage" | "subagent/followupTask" => {
            json!({ "subagentId": "s", "body": "b" })
        }
        "workflow/childControl" => {
            json!({ "workflowRunId": "w", "childId": "c", "attempt": 1, "action": "skip" })
        }
        "userInput/answer" => json!({ "userInputId": "u", "answers": [] }),
        "userInput/clarify" => {
            json!({ "userInputId": "u", "clarification": { "format": "text", "content": "c" } })
        }
        "skill/setActivation" => {
            json!({ "selector": "fake-hello", "scope": "bundled", "activation": "on" })
        }
        "skill/import" => json!({ "source": "claude" }),
        "media/upload" => json!({ "uploadId": "u", "mediaType": "video/mp4", "totalBytes": 1,
            "chunkIndex": 0, "chunkCount": 1, "chunkBase64": "AA==" }),
        "plugin/install" => json!({ "target": { "localPath": { "path": "/p" } } }),
        "plugin/marketplaceAdd" => json!({ "name": "m", "source": "s" }),
        _ if method.starts_with("plugin/") => json!({ "name": "m" }),
        _ if method.starts_with("subagent/") => json!({ "subagentId": "s" }),
        _ if method.starts_with("workflow/") => json!({ "workflowRunId": "w" }),
        _ if method.starts_with("userInput/") => json!({ "userInputId": "u" }),
        _ => json!({}),
    }
}

#[test]
fn every_command_is_answered_once_and_typed() {
    let commands = METHODS.iter().filter(|row| row.class == Class::Command && !row.experimental);
    let mut count = 0;
    for row in commands {
        let mut talk = Talk::ready();
        let session = talk.session();
        let turn = talk.prompt(&session, "wait");
        let mut request = params(row.name, &turn);
        if row.name != "session/start" {
            request["sessionId"] = session.as_str().into();
        }
        request["commandId"] = talk.command().into();
        let strip = |mut answer: Value| {
            answer["id"] = Value::Null;
            answer
        };
        let first = strip(talk.request(row.name, request.clone()));
        let code = first["error"]["code"].clone();
        let known = first.get("result").is_some() || code.is_i64();
        assert!(known && code != -32603 && code != -32602, "{}: {first}", row.name);
        assert!(code != -32601, "the model answers every stable command: {}", row.name);

        let before = talk.frames.len();
        let again = strip(talk.request(row.name, request.clone()));
        assert_eq!(first, again, "CMD-4: {}", row.name);
        let durable = first.get("result").is_some() || code == -32030;
        if durable && row.name != "session/resume" {
            assert_eq!(talk.frames.len(), before + 1, "a replay has no effects: {}", row.name);
            request["extra"] = true.into();
            let other = talk.request(row.name, request);
            let reason = &other["error"]["data"]["reason"];
            assert_eq!(reason, "command_id_conflict", "CMD-5: {}", row.name);
        }
        count += 1;
    }
    assert!(count > 45, "{count}");
}

#[test]
fn a_failed_launch_turns_the_accepted_command_into_a_refused_one() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "wait");
    let input = json!([{ "type": "text", "text": "fail launchError" }]);
    let params = json!({ "sessionId": session, "input": input, "ifBusy": "queue",
        "commandId": talk.command() });
    let queued = talk.request("turn/start", params.clone());
    assert_eq!(queued["result"]["disposition"], "queued");
    let third = talk.prompt(&session, "hello");
    let before = talk.frames.len();

    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));

    let seen = outline(&talk.frames[before..]);
    let expected = ["result", "turn/completed", "turn/completed", "turn/started", "item/completed"];
    assert_eq!(seen, expected, "TRN-9: no turn/started for the dead one");
    assert_eq!(talk.last("turn/started")["params"]["turnId"], third);
    let again = talk.request("turn/start", params);
    assert_eq!(again["error"]["data"]["reason"], "deferred_start_failed");
}

#[test]
fn a_script_that_lets_a_launch_fail_has_the_same_ledger() {
    let (mut talk, session, turn): (Talk, String, EmittedRef) = Talk::running("1.4.14");
    let input = json!([{ "type": "text", "text": "two" }]);
    let params = json!({ "sessionId": session, "input": input, "ifBusy": "queue",
        "commandId": talk.command() });
    talk.request("turn/start", params.clone());
    let queued = talk.host.answer_ok(talk.asked(), &[]).unwrap()["turnId"].clone();
    talk.emit("turn/completed", &[], Some(&turn));
    let dead =
        [("turnId", queued), ("terminal", json!("failed")), ("error.kind", json!("launchError"))];
    talk.emit("turn/completed", &dead, None);
    let again = talk.request("turn/start", params);
    assert_eq!(again["error"]["data"]["reason"], "deferred_start_failed");
}

#[test]
fn the_words_of_a_disposition() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let start = |talk: &mut Talk, busy: &str| {
        let input = json!([{ "type": "text", "text": "wait" }]);
        let params = json!({ "sessionId": session, "input": input, "ifBusy": busy });
        talk.act("turn/start", params)["result"].clone()
    };
    let first = start(&mut talk, "steer");
    assert_eq!(
        (&first["disposition"], &first["startedNewTurn"]),
        (&json!("started"), &json!(true))
    );
    let steered = start(&mut talk, "steer");
    assert_eq!(steered["disposition"], "steered");
    assert_eq!((&steered["turnId"], &steered["startedNewTurn"]), (&first["turnId"], &json!(false)));
    let queued = start(&mut talk, "queue");
    let replacing = start(&mut talk, "replace");
    assert_eq!(queued["disposition"], "queued");
    // The replaced turn is cancelled and the replacing one overtakes the queue (TRN-3).
    assert_eq!(talk.last("turn/completed")["params"]["turnId"], first["turnId"]);
    assert_eq!(talk.last("turn/started")["params"]["turnId"], replacing["turnId"]);
}

#[test]
fn a_full_queue_admits_nothing_and_the_same_command_may_come_again() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "wait");
    for _ in 0..256 {
        talk.prompt(&session, "wait");
    }
    let input = json!([{ "type": "text", "text": "wait" }]);
    let params = json!({ "sessionId": session, "input": input, "ifBusy": "queue",
        "commandId": talk.command() });
    let full = talk.request("turn/start", params.clone());
    assert_eq!(full["error"]["code"], -32031);
    assert_eq!(full["error"]["data"]["capacity"], 256);
    assert_eq!(full["error"]["data"]["retryable"], true, "CMD-9");
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    assert!(talk.request("turn/start", params).get("result").is_some());
}

#[test]
fn a_retracted_message_is_marked_unless_it_was_answered() {
    for (version, ticks, outcome, marked) in [
        ("1.4.14", 0, Some("accepted"), true),
        ("1.4.14", 3, Some("declined"), false),
        ("1.3.0", 0, None, true),
    ] {
        let mut talk = Talk::ready_with(version, super::Options::default());
        let session = talk.session();
        let turn = talk.prompt(&session, "tool 40");
        for _ in 0..ticks {
            talk.tick();
        }
        let params = json!({ "sessionId": session, "turnId": turn, "retract": true });
        talk.act("turn/interrupt", params);
        let told = talk.last("turn/retracted")["params"].clone();
        assert_eq!(told.get("outcome").and_then(Value::as_str), outcome, "{version}");
        assert_eq!(talk.item(&session, "userMessage")["retracted"] == true, marked);
    }
    let mut talk = Talk::ready_with("1.3.0", super::Options::default());
    let session = talk.session();
    let turn = talk.prompt(&session, "tool 40");
    talk.tick();
    talk.tick();
    let params = json!({ "sessionId": session, "turnId": turn, "retract": true });
    talk.act("turn/interrupt", params);
    assert!(talk.of("turn/retracted").is_empty(), "it could only be read as accepted");
}
