use serde_json::{Value, json};

use super::super::Fault;
use super::{Options, Output, Talk, outline};

#[test]
fn a_command_without_command_id_is_invalid() {
    let mut talk = Talk::ready();
    let answer = talk.request("session/start", json!({}));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(talk.rules(), ["CMD-1"]);
}

#[test]
fn the_same_command_is_applied_once_and_answered_alike() {
    let mut talk = Talk::ready();
    let command = talk.command();
    let params = json!({ "commandId": command, "workspaceRoot": "/w" });

    let first = talk.request("session/start", params.clone());
    let again = talk.request("session/start", params);

    assert_eq!(first["result"], again["result"]);
    assert_eq!(talk.host.sessions.len(), 1);
    assert!(talk.rules().is_empty(), "a replay is no violation");
}

#[test]
fn the_same_command_id_with_another_payload_is_a_conflict() {
    let mut talk = Talk::ready();
    let command = talk.command();
    talk.request("session/start", json!({ "commandId": command, "workspaceRoot": "/w" }));

    let answer = talk.request("session/start", json!({ "commandId": command }));

    assert_eq!(answer["error"]["code"], -32030);
    assert_eq!(answer["error"]["data"]["reason"], "command_id_conflict");
    assert_eq!(talk.rules(), ["CMD-5"]);
}

#[test]
fn a_durable_rejection_is_replayed_and_a_refusal_that_admitted_nothing_is_not() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let command = talk.command();
    let cancel = json!({ "commandId": command, "sessionId": session });
    let first = talk.request("turn/cancel", cancel.clone());
    talk.prompt(&session, "wait");

    let again = talk.request("turn/cancel", cancel);
    assert_eq!(first["error"], again["error"], "the turn that runs now is not its target");

    let command = talk.command();
    let unknown = json!({ "commandId": command, "sessionId": "x", "model": { "modelId": "m" } });
    assert_eq!(talk.request("session/setModel", unknown)["error"]["code"], -32020);
    let known = json!({ "commandId": command, "sessionId": session, "model": { "modelId": "m" } });
    assert!(talk.request("session/setModel", known).get("result").is_some());
}

#[test]
fn unknown_members_are_ignored_and_null_is_refused_where_the_schema_says_so() {
    let mut talk = Talk::ready();

    let answer = talk.act("session/start", json!({ "fancy": 1, "approvalMode": null }));
    assert!(answer.get("result").is_some());
    assert_eq!(talk.rules(), ["CMD-13"]);

    let answer = talk.act("session/start", json!({ "permissionProfile": null }));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn methods_of_a_later_generation_do_not_exist() {
    let mut talk = Talk::ready_with("1.1.1", Options::default());
    let session = talk.session();
    let answer = talk.act("session/rename", json!({ "sessionId": session, "name": "n" }));
    assert_eq!(answer["error"]["data"]["kind"], "methodNotFound");

    let mut talk = Talk::ready();
    let session = talk.session();
    let answer = talk.act("session/rename", json!({ "sessionId": session, "name": "n" }));
    assert_eq!(answer["result"]["name"], "n");
    assert_eq!(talk.last("session/nameChanged")["params"]["name"], "n");
}

#[test]
fn experimental_methods_need_the_opt_in() {
    let mut talk = Talk::ready();
    let answer = talk.request("settings/read", json!({}));
    assert_eq!(answer["error"]["data"]["kind"], "experimentalRequired");
    assert_eq!(answer["error"]["data"]["descriptor"], "settings/read");
}

#[test]
fn session_started_precedes_the_answer_of_session_start() {
    let mut talk = Talk::ready();
    talk.session();
    assert_eq!(outline(&talk.frames[1..]), ["session/started", "result"]);
    assert!(talk.frames[1]["emittedAtMs"].is_u64());
}

#[test]
fn the_approval_mode_and_the_model_are_read_back() {
    let mut talk = Talk::ready();
    let session = talk.session();

    let mode = json!({ "sessionId": session, "mode": "allowAll" });
    let answer = talk.act("session/setApprovalMode", mode.clone());
    assert_eq!(answer["result"]["applyOutcome"], "completed");
    assert_eq!(talk.last("session/approvalModeChanged")["params"]["clientName"], "test_client");
    let answer = talk.act("session/setApprovalMode", mode);
    assert_eq!(answer["result"]["applyOutcome"], "noop");
    talk.act("session/setModel", json!({ "sessionId": session, "model": { "modelId": "m2" } }));

    let read = talk.request("session/read", json!({ "sessionId": session }));
    assert_eq!(read["result"]["session"]["approvalMode"]["mode"], "allowAll");
    assert_eq!(read["result"]["session"]["modelId"], "m2");
    assert_eq!(read["result"]["history"]["noneReason"], "excluded");
}

#[test]
fn mcp_servers_need_the_grant_on_hosts_that_know_it() {
    let config = json!({ "config": { "mcpServers": { "a": {
        "transport": "stdio", "command": "x" } } } });
    let mut talk = Talk::ready();
    let answer = talk.act("session/start", config.clone());
    assert_eq!(answer["error"]["data"]["capability"], "sessionMcp");

    let mut old = Talk::ready_with("1.1.1", Options::default());
    assert!(old.act("session/start", config).get("result").is_some());
    assert_eq!(old.rules(), ["CMD-13"], "the old host ignores it, the oracle does not");
}

#[test]
fn levers_replace_the_answer() {
    let with = |fault: Fault| {
        Talk::ready_with("1.4.14", Options { faults: vec![fault], ..Options::default() })
    };
    let method = || "model/list".to_owned();

    let mut talk = with(Fault::Ignore(method()));
    assert_eq!(talk.request("model/list", json!({})), Value::Null);

    let mut talk = with(Fault::Error(method(), -32001));
    let answer = talk.request("model/list", json!({}));
    assert_eq!(answer["error"]["data"], json!({ "kind": "overloaded", "retryable": true }));

    let mut talk = with(Fault::Exit(method(), 5));
    talk.request("model/list", json!({}));
    assert_eq!(talk.effects, [Output::Exit { code: 5 }]);

    let mut talk = with(Fault::CloseStdout(method()));
    talk.request("model/list", json!({}));
    assert_eq!(talk.effects, [Output::CloseStdout]);
    assert!(talk.request("view/page", json!({})).is_null(), "nothing is written any more");
}
