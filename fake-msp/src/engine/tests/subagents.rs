use serde_json::{Value, json};

use super::{Options, Talk};

/// A subagent that waits; returns its id.
fn waiting(talk: &mut Talk, session: &str) -> Value {
    talk.prompt(session, "subagent wait");
    talk.settle();
    talk.item(session, "subagent")["subagentId"].clone()
}

fn steer(talk: &mut Talk, session: &str, verb: &str, agent: &Value) -> Value {
    let mut params = json!({ "sessionId": session, "subagentId": agent });
    if matches!(verb, "sendMessage" | "followupTask") {
        params["body"] = "count again".into();
    }
    talk.act(&format!("subagent/{verb}"), params)
}

fn reason(answer: &Value) -> &str {
    answer["error"]["data"]["reason"].as_str().unwrap_or_default()
}

#[test]
fn subagents_live_side_by_side_and_the_turn_waits_for_them() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "subagent 3");
    talk.settle();

    let ended = talk.of("item/completed");
    let ended = ended.iter().map(|f| &f["params"]["item"]).filter(|i| i["kind"] == "subagent");
    let ended: Vec<&Value> = ended.collect();
    assert_eq!(ended.len(), 3);
    assert!(ended.iter().all(|item| item["controlStatus"] == "closed" && item["turnId"] == turn));
    let failed = ended.iter().filter(|item| item["status"] == "failed");
    assert!(failed.clone().all(|item| item["result"]["errorKind"] == "provider_error"));
    assert_eq!(failed.count(), 1);
    let depths: Vec<u64> = ended.iter().map(|item| item["depth"].as_u64().unwrap()).collect();
    assert_eq!(depths, [1, 2, 2]);
    let foreground = talk.last("turn/foregroundCompleted")["params"].clone();
    assert_eq!(foreground["blockingAgents"].as_array().unwrap().len(), 3);
    let last = talk.frames.iter().rposition(|f| f["params"]["item"]["kind"] == "subagent");
    let end = talk.frames.iter().position(|f| f["method"] == "turn/completed");
    assert!(last < end, "the children end before the turn");
}

#[test]
fn control_states_come_in_order_and_an_error_shows_only_at_the_end() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "subagent");
    talk.settle();
    let items = talk.frames.iter().map(|f| &f["params"]["item"]);
    let states: Vec<&Value> =
        items.filter(|i| i["kind"] == "subagent").map(|i| &i["controlStatus"]).collect();
    assert_eq!(states, ["accepted", "starting", "running", "running", "resultReady", "closed"]);
}

#[test]
fn an_old_host_has_no_word_for_the_foreground() {
    let mut talk = Talk::ready_with("1.3.0", Options::default());
    let session = talk.session();
    talk.prompt(&session, "subagent");
    talk.settle();
    assert!(talk.of("turn/foregroundCompleted").is_empty());
    assert_eq!(talk.of("turn/completed").len(), 1);
}

#[test]
fn a_result_is_not_ready_before_it_is_and_a_message_only_gets_an_ack() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let agent = waiting(&mut talk, &session);
    let before = talk.frames.len();

    assert_eq!(reason(&steer(&mut talk, &session, "readResult", &agent)), "not_ready");
    assert_eq!(reason(&steer(&mut talk, &session, "close", &agent)), "not_ready");
    let sent = steer(&mut talk, &session, "sendMessage", &agent);
    assert_eq!(sent["result"]["status"], "accepted");
    assert_eq!(talk.frames.len(), before + 3, "answers only");
    let unknown = steer(&mut talk, &session, "stop", &json!("x"));
    assert_eq!(reason(&unknown), "subagent_not_found");
}

#[test]
fn an_interrupted_subagent_takes_another_task_and_is_closed() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let agent = waiting(&mut talk, &session);

    steer(&mut talk, &session, "interrupt", &agent);
    talk.settle();
    let item = talk.item(&session, "subagent");
    assert_eq!(
        (&item["controlStatus"], &item["status"]),
        (&json!("resultReady"), &json!("inProgress"))
    );
    assert_eq!(steer(&mut talk, &session, "readResult", &agent)["result"]["status"], "accepted");
    steer(&mut talk, &session, "followupTask", &agent);
    talk.settle();
    let item = talk.item(&session, "subagent");
    assert_eq!(item["objective"], "count again");
    assert!(item["result"].get("errorKind").is_none());
    assert!(talk.of("turn/completed").is_empty());
    steer(&mut talk, &session, "close", &agent);
    talk.settle();
    assert_eq!(talk.item(&session, "subagent")["status"], "completed");
    assert_eq!(talk.of("turn/completed").len(), 1);
    assert_eq!(reason(&steer(&mut talk, &session, "stop", &agent)), "already_terminal");
}

#[test]
fn a_stop_is_replayed_and_a_reopened_subagent_is_a_new_item() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let agent = waiting(&mut talk, &session);
    let stop = json!({ "sessionId": session, "subagentId": agent, "commandId": talk.command(),
        "reason": "enough" });
    let first = talk.request("subagent/stop", stop.clone());
    let again = talk.request("subagent/stop", stop);
    assert_eq!(first["result"], again["result"], "CMD-4");
    talk.settle();
    let old = talk.item(&session, "subagent");
    assert_eq!(old["status"], "cancelled");

    steer(&mut talk, &session, "reopen", &agent);
    talk.settle();

    let new = talk.item(&session, "subagent");
    assert_ne!(new["itemId"], old["itemId"], "one terminal an item");
    assert_eq!((&new["subagentId"], &new["controlStatus"]), (&agent, &json!("resultReady")));
}

#[test]
fn a_cancelled_turn_takes_its_subagents_along() {
    let mut talk = Talk::ready();
    let session = talk.session();
    waiting(&mut talk, &session);
    let turn = talk.view(&session).active.clone().unwrap().turn_id;
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    assert_eq!(talk.item(&session, "subagent")["status"], "cancelled");
    assert_eq!(talk.host.deadline(), None);
}
