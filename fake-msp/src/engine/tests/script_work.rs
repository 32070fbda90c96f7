//! Scripts about the families of section 13 and what no honest host could say of them.

use serde_json::{Value, json};

use super::{Options, Talk, scripted};

fn asking(methods: &[&str]) -> Options {
    Options { asked: methods.iter().map(|name| (*name).to_owned()).collect(), ..scripted() }
}

#[test]
fn the_model_answers_for_a_script_and_leaves_the_items_to_it() {
    let (mut talk, session, _) = Talk::running("1.4.14");
    let kind = [("item.kind", json!("workflow"))];
    let item = talk.emit("item/started", &kind, None);
    let run = item.params["item"]["workflowRunId"].clone();
    let before = talk.frames.len();

    let params = json!({ "sessionId": session, "workflowRunId": run });
    let ack = talk.act("workflow/cancel", params.clone());

    assert_eq!(ack["result"]["status"], "accepted");
    assert_eq!(talk.frames.len(), before + 1, "an ack is admission, the rest is the script's");
    let end = [("item.status", json!("cancelled"))];
    talk.emit("item/completed", &end, Some(&item));
    let late = talk.act("workflow/cancel", params);
    assert_eq!(late["error"]["data"]["reason"], "already_terminal");
}

#[test]
fn a_goal_of_a_scripted_host_waits_for_the_script_to_start_its_turn() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    let ack = talk.act("goal/set", json!({ "sessionId": session, "objective": "o" }));
    assert_eq!(talk.last("session/goalChanged")["params"]["goal"]["objective"], "o");
    assert!(talk.of("turn/started").is_empty());
    let started = talk.emit("turn/started", &[], None);
    assert_eq!(started.params["turnId"], ack["result"]["turnId"]);
    let progress = [("goal.percentComplete", json!(40)), ("goal.objective", json!("o"))];
    let told = talk.emit("session/goalChanged", &progress, None);
    assert_eq!(told.params["goal"]["status"], "active", "the rest is the present state");
}

#[test]
fn a_script_may_take_any_of_these_commands_over() {
    let methods = ["task/stop", "goal/pause", "session/compact", "item/readOutput"];
    let mut talk = Talk::ready_with("1.4.14", asking(&methods));
    let session = talk.session();
    let goal = json!({ "sessionId": session });
    assert_eq!(talk.act("goal/pause", goal), Value::Null);
    assert_eq!(talk.host.answer_ok(talk.asked(), &[]).unwrap_err().rule, "ERR-1", "missing_goal");
    talk.host
        .answer_error(talk.asked(), -32030, &[("data.reason", json!("missing_goal"))])
        .unwrap();
    assert_eq!(talk.drain()[0]["error"]["data"]["reason"], "missing_goal");

    let reference = json!({ "id": "o", "kind": "tool_output", "uri": "u", "byteLen": 5,
        "availability": "available" });
    let (sets, turnless) = ([("item.outputRef", reference)], ("item.kind", json!("compaction")));
    let item = talk.emit("item/completed", &[sets[0].clone(), turnless], None);
    let read = json!({ "sessionId": session, "itemId": item.params["item"]["itemId"],
        "outputRef": "o" });
    talk.request("item/readOutput", read.clone());
    let result = talk.host.answer_ok(talk.asked(), &[("content", json!("héllo"))]).unwrap();
    assert_eq!((&result["byteLen"], &result["eof"]), (&json!(6), &json!(true)));
    talk.drain();
    talk.request("item/readOutput", read);
    talk.host.answer_error(talk.asked(), -32041, &[]).unwrap();
    let data = talk.drain()[0]["error"]["data"].clone();
    assert_eq!((&data["availability"], &data["outputRef"]), (&json!("missing"), &json!("o")));
}

#[test]
fn what_the_generation_does_not_have_is_refused() {
    let (mut talk, _, _) = Talk::running("1.3.0");
    let hook = [("item.kind", json!("hookRun"))];
    assert_eq!(talk.forbidden("item/started", &hook, None), "HOST-18");
    let phase = [("item.messagePhase", json!("commentary"))];
    assert_eq!(talk.forbidden("item/completed", &phase, None), "HOST-18");
    assert_eq!(talk.forbidden("turn/foregroundCompleted", &[], None), "HOST-18");
    assert_eq!(talk.forbidden("account/changed", &[], None), "HSK-7");
    let (mut talk, _, _) = Talk::running("1.4.14");
    talk.emit("item/started", &hook, None);
    talk.emit("item/completed", &phase, None);
    let read = [("item.kind", json!("skillRead"))];
    assert_eq!(talk.forbidden("item/completed", &read, None), "HSK-7");
}

#[test]
fn a_child_asks_through_its_parent_on_hosts_that_say_so() {
    let origin = json!({ "subagentId": "s", "childSessionId": "c", "childRunId": "r" });
    let (mut talk, session, turn) = Talk::running("1.4.14");
    let sets = [
        ("subagentOrigin", origin.clone()),
        ("itemId", json!("item-of-the-child")),
        ("turnId", turn.params["turnId"].clone()),
        ("toolName", json!("bash")),
    ];
    let asked = talk.emit("approval/requested", &sets, None);
    assert_eq!(talk.last("approval/request")["params"]["subagentOrigin"], origin, "APR-17");
    talk.decide(&session, "allow_once");
    talk.host.answer_ok(talk.asked(), &[]).unwrap();
    let resolved = talk.emit("approval/resolved", &[sets[0].clone()], Some(&asked));
    assert_eq!(resolved.params["itemId"], "item-of-the-child");
    assert_eq!(resolved.params["resolvedBy"], "user");
    assert_eq!(talk.rules(), [""; 0]);
    let (mut talk, _, _) = Talk::running("1.1.1");
    assert_eq!(talk.forbidden("approval/requested", &sets, None), "HOST-18");
}

#[test]
fn turn_notices_belong_to_their_turn() {
    let (mut talk, _, turn) = Talk::running("1.4.14");
    talk.emit("turn/retryScheduled", &[], None);
    talk.emit("turn/foregroundCompleted", &[("blockingAgents", json!(["a"]))], None);
    assert_eq!(talk.forbidden("turn/unqueued", &[], Some(&turn)), "TRN-6");
    let stranger = [("turnId", json!("x"))];
    assert_eq!(talk.forbidden("turn/retryScheduled", &stranger, None), "TRN-12");
    assert_eq!(talk.forbidden("turn/retracted", &stranger, None), "ENV-7");
    let spent = json!({ "promptTokens": 9, "outputTokens": 1, "totalTokens": 10 });
    talk.emit("session/tokenUsage", &[("cumulative", spent)], None);
    let less = [("cumulative.totalTokens", json!(9))];
    assert_eq!(talk.forbidden("session/tokenUsage", &less, None), "STA-2");
    talk.emit("turn/completed", &[], None);
    assert_eq!(talk.forbidden("turn/modelRetryScheduled", &[], Some(&turn)), "TRN-12");
    let of_the_past = ("item.turnId", turn.params["turnId"].clone());
    let late = [of_the_past.clone(), ("item.kind", json!("toolCall"))];
    assert_eq!(talk.forbidden("item/started", &late, None), "TRN-12");
    let background = [of_the_past.clone(), ("item.kind", json!("subagent"))];
    talk.emit("item/started", &background, None);
}

#[test]
fn prompts_keep_their_bounds() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    talk.emit("item/started", &[("item.kind", json!("toolCall"))], None);
    let option = |label: &str| json!({ "label": label });
    let bad = [
        ("questions", json!([])),
        ("questions[0].header", json!("thirteen char")),
        ("questions[0].options", json!([option("A")])),
        ("questions[0].options", json!([option("A"), option("A")])),
        ("questions[0].options[0].label", json!("x".repeat(81))),
    ];
    for set in bad {
        assert_eq!(talk.forbidden("userInput/requested", &[set], None), "UIN-1");
    }
    talk.emit("userInput/requested", &[], None);
}

#[test]
fn items_get_the_members_of_their_kind_and_of_their_end() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    let kinds = [
        ("userShell", "commandText", "exitCode"),
        ("subagent", "subagentId", "controlStatus"),
        ("workflow", "workflowRunId", "children"),
        ("reminderChild", "taskId", "taskId"),
        ("compaction", "trigger", "outcome"),
    ];
    for (kind, first, last) in kinds {
        let item = talk.emit("item/started", &[("item.kind", json!(kind))], None);
        assert!(!item.params["item"][first].is_null(), "{kind}");
        let done = talk.emit("item/completed", &[], Some(&item));
        assert!(!done.params["item"][last].is_null(), "{kind}");
        assert_eq!(done.params["item"][first], item.params["item"][first]);
    }
    assert_eq!(talk.last("item/started")["params"]["item"]["kind"], "compaction");
}
