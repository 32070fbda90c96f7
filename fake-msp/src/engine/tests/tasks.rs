use serde_json::{Value, json};

use super::{Input, Options, Talk, outline};

/// A host that granted the user's shell.
fn with_shell() -> Talk {
    let mut talk = Talk::with("1.4.14", Options::default());
    talk.initialize(json!({ "requestedCapabilities": ["userShell"] }));
    talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
    talk
}

/// A running tool card; returns its item id.
fn tool(talk: &mut Talk, session: &str, prompt: &str) -> Value {
    talk.prompt(session, prompt);
    while talk.of("item/delta").is_empty() {
        talk.tick();
    }
    talk.item(session, "toolCall")["itemId"].clone()
}

fn task(talk: &mut Talk, session: &str, verb: &str, task: &Value) -> Value {
    talk.act(&format!("task/{verb}"), json!({ "sessionId": session, "taskId": task }))
}

#[test]
fn a_tool_in_the_background_outlives_its_turn() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let id = tool(&mut talk, &session, "tool 30");

    let answer = task(&mut talk, &session, "background", &id);

    assert_eq!(answer["result"]["taskId"], id);
    let item = talk.last("item/updated")["params"]["item"].clone();
    assert_eq!((&item["background"], &item["backgroundInitiator"]), (&json!(true), &json!("user")));
    let listed = talk.request("task/list", json!({ "sessionId": session }));
    assert_eq!(listed["result"]["tasks"][0]["executionMode"], "background");
    assert_eq!(listed["result"]["tasks"][0]["taskId"], id);
    let again = task(&mut talk, &session, "background", &id);
    assert_eq!(again["error"]["data"]["reason"], "already_background");
    while talk.of("turn/completed").is_empty() {
        talk.tick();
    }
    assert_eq!(talk.item(&session, "toolCall")["status"], "inProgress", "TRN-12");
    talk.settle();
    let item = talk.item(&session, "toolCall");
    assert_eq!(item["status"], "completed");
    let lines = item["visibleOutput"].as_str().unwrap();
    assert!(lines.starts_with("line 1\n") && lines.ends_with("line 30\n"), "ITM-9: {lines}");
    assert_eq!(talk.of("turn/completed").len(), 1);
}

#[test]
fn a_stopped_tool_ends_cancelled_and_its_turn_goes_on() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let id = tool(&mut talk, &session, "tool 30");

    task(&mut talk, &session, "stop", &id);
    talk.settle();

    let item = talk.item(&session, "toolCall");
    assert_eq!((&item["status"], &item["itemId"]), (&json!("cancelled"), &id));
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
    let late = task(&mut talk, &session, "stop", &id);
    assert_eq!(late["error"]["data"]["reason"], "already_terminal");
    let unknown = task(&mut talk, &session, "stop", &json!("x"));
    assert_eq!(unknown["error"]["data"]["reason"], "task_not_found");
    assert!(talk.host.violations().iter().any(|v| v.rule == "ENV-7"));
}

#[test]
fn stopping_a_tool_that_waits_for_an_answer_withdraws_the_question() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "run make");
    talk.settle();
    let id = talk.item(&session, "toolCall")["itemId"].clone();
    let refused = task(&mut talk, &session, "background", &id);
    assert_eq!(refused["error"]["data"]["reason"], "not_backgroundable");

    task(&mut talk, &session, "stop", &id);
    talk.settle();

    let resolved = talk.last("approval/resolved")["params"].clone();
    assert_eq!(
        (&resolved["decision"], &resolved["resolvedBy"]),
        (&json!("abort"), &json!("policy"))
    );
    assert_eq!(talk.item(&session, "toolCall")["status"], "cancelled");
    assert_eq!(talk.of("turn/completed").len(), 1);
}

#[test]
fn stop_all_ends_every_task_and_is_always_accepted() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "task 100");
    for _ in 0..20 {
        talk.tick();
    }
    let answer = talk.act("task/stopAll", json!({ "sessionId": session }));
    assert_eq!(answer["result"]["status"], "accepted");
    assert!(answer["result"].get("taskId").is_none());
    assert_eq!(talk.item(&session, "toolCall")["status"], "cancelled");
    let again = talk.act("task/stopAll", json!({ "sessionId": session }));
    assert_eq!(again["result"]["status"], "accepted");
}

#[test]
fn a_cancelled_turn_leaves_background_tasks_running() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "task 100");
    for _ in 0..4 {
        talk.tick();
    }
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "cancelled");
    assert_eq!(talk.item(&session, "toolCall")["status"], "inProgress");
    talk.input(Input::Eof);
    assert_eq!(talk.item(&session, "toolCall")["status"], "cancelled", "HOST-11 at an orderly end");
}

#[test]
fn the_users_shell_needs_its_capability() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let params = json!({ "sessionId": session, "commandText": "ls" });
    let refused = talk.act("session/userShell", params.clone());
    assert_eq!(refused["error"]["code"], -32010);
    assert_eq!(refused["error"]["data"]["capability"], "userShell");

    let mut talk = with_shell();
    let session = talk.session();
    let before = talk.frames.len();
    let params = json!({ "sessionId": session, "commandText": "ls" });
    let ack = talk.act("session/userShell", params);
    talk.settle();
    let frames = outline(&talk.frames[before..]);
    assert_eq!(frames, ["result", "item/started", "item/delta", "item/completed"]);
    let item = talk.item(&session, "userShell");
    assert_eq!(item["turnId"], Value::Null, "ITM-6");
    assert_eq!(item["commandId"], ack["result"]["commandId"]);
    assert_eq!((&item["exitCode"], &item["status"]), (&json!(0), &json!("completed")));
}

#[test]
fn a_turn_may_begin_with_the_users_shell() {
    let mut talk = with_shell();
    let session = talk.session();
    let input = json!([{ "type": "text", "text": "hello" }]);
    let shell = json!({ "commandText": "ls" });
    let params = json!({ "sessionId": session, "input": input, "userShell": shell });
    let answer = talk.act("turn/start", params.clone());
    talk.settle();
    assert_eq!(talk.item(&session, "userShell")["turnId"], answer["result"]["turnId"]);
    assert_eq!(talk.item(&session, "agentMessage")["status"], "completed");

    let mut talk = Talk::ready();
    let session = talk.session();
    let params = json!({ "sessionId": session, "input": input, "userShell": shell });
    assert_eq!(talk.act("turn/start", params)["error"]["code"], -32010);
}

#[test]
fn compaction_needs_a_turn_and_something_new() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let compact = |talk: &mut Talk| talk.act("session/compact", json!({ "sessionId": session }));
    assert_eq!(compact(&mut talk)["error"]["data"]["reason"], "missing_run");
    let turn = talk.prompt(&session, "wait");
    let noop = compact(&mut talk)["result"].clone();
    assert_eq!(
        (&noop["status"], &noop["reason"]),
        (&json!("noop"), &json!("no_compactable_history"))
    );
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    let before = talk.frames.len();

    let ack = compact(&mut talk);
    assert_eq!(compact(&mut talk)["result"]["status"], "noop", "one runs already");
    talk.settle();

    assert_eq!(ack["result"]["status"], "accepted");
    let frames = outline(&talk.frames[before..]);
    assert_eq!(frames, ["result", "item/started", "result", "item/completed"]);
    let item = talk.item(&session, "compaction");
    assert_eq!((&item["outcome"], &item["trigger"]), (&json!("compacted"), &json!("manual")));
    assert!(item["summarizedThrough"].is_string() && item["tokensAfter"].is_u64());
    assert_eq!(compact(&mut talk)["result"]["status"], "noop");
    talk.prompt(&session, "compact");
    talk.settle();
    assert_eq!(talk.item(&session, "compaction")["trigger"], "auto");
}

#[test]
fn hosts_before_1_3_offer_no_compaction() {
    let mut talk = Talk::ready_with("1.2.1", Options::default());
    let session = talk.session();
    talk.prompt(&session, "hello");
    talk.settle();
    let refused = talk.act("session/compact", json!({ "sessionId": session }));
    assert_eq!(refused["error"]["data"]["reason"], "compaction_unavailable");
}
