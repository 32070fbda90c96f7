use serde_json::{Value, json};

use super::Talk;

fn waiting(talk: &mut Talk, session: &str) -> Value {
    talk.prompt(session, "workflow wait");
    talk.settle();
    talk.item(session, "workflow")["workflowRunId"].clone()
}

fn act(talk: &mut Talk, session: &str, verb: &str, run: &Value) -> Value {
    let params = json!({ "sessionId": session, "workflowRunId": run });
    talk.act(&format!("workflow/{verb}"), params)
}

fn control(talk: &mut Talk, session: &str, run: &Value, attempt: u64, action: &str) -> Value {
    talk.act(
        "workflow/childControl",
        json!({ "sessionId": session, "workflowRunId": run, "childId": "c1", "attempt": attempt,
            "action": action }),
    )
}

fn reason(answer: &Value) -> &str {
    answer["error"]["data"]["reason"].as_str().unwrap_or_default()
}

#[test]
fn a_workflow_retries_a_child_under_the_same_id() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "workflow");
    talk.settle();
    let item = talk.item(&session, "workflow");
    assert_eq!(item["status"], "completed");
    let keys: Vec<(&str, u64)> = item["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|child| (child["childId"].as_str().unwrap(), child["attempt"].as_u64().unwrap()))
        .collect();
    assert_eq!(keys, [("c1", 1), ("c2", 1), ("c2", 2)]);
    assert_eq!(item["children"][1]["terminal"], "failed");
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
}

#[test]
fn a_cancel_settles_once_and_a_late_one_is_too_late() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let run = waiting(&mut talk, &session);

    assert_eq!(act(&mut talk, &session, "cancel", &run)["result"]["status"], "accepted");
    assert_eq!(act(&mut talk, &session, "cancel", &run)["result"]["status"], "accepted");
    talk.settle();

    let item = talk.item(&session, "workflow");
    assert_eq!(item["status"], "cancelled");
    assert_eq!(item["message"], "Workflow fake-batch cancelled: 0/1 children succeeded");
    let ends = talk.of("item/completed");
    assert_eq!(ends.iter().filter(|f| f["params"]["item"]["kind"] == "workflow").count(), 1);
    assert_eq!(reason(&act(&mut talk, &session, "cancel", &run)), "already_terminal");
    assert_eq!(reason(&act(&mut talk, &session, "cancel", &json!("x"))), "workflow_not_found");
}

#[test]
fn a_child_is_skipped_and_tried_again_by_its_newest_attempt() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let run = waiting(&mut talk, &session);

    assert_eq!(reason(&control(&mut talk, &session, &run, 5, "skip")), "stale_attempt");
    assert_eq!(reason(&control(&mut talk, &session, &run, 1, "retry")), "not_ready");
    control(&mut talk, &session, &run, 1, "skip");
    let children = talk.item(&session, "workflow")["children"].clone();
    assert_eq!(children[0]["terminal"], "cancelled");
    control(&mut talk, &session, &run, 1, "retry");
    let children = talk.item(&session, "workflow")["children"].clone();
    assert_eq!((&children[1]["attempt"], &children[1]["status"]), (&json!(2), &json!("started")));
    assert_eq!(reason(&control(&mut talk, &session, &run, 1, "skip")), "stale_attempt");
}

#[test]
fn a_command_in_the_middle_of_a_run_is_not_undone_by_its_timetable() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "workflow");
    for _ in 0..3 {
        talk.tick();
    }
    let run = talk.item(&session, "workflow")["workflowRunId"].clone();
    control(&mut talk, &session, &run, 1, "skip");
    talk.settle();
    let item = talk.item(&session, "workflow");
    assert_eq!(item["children"][0]["terminal"], "cancelled", "{item}");
    assert_eq!(item["status"], "completed");
}

#[test]
fn a_paused_workflow_stands_still_and_resume_names_a_turn() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "workflow");
    talk.tick();
    let run = talk.item(&session, "workflow")["workflowRunId"].clone();
    assert_eq!(reason(&act(&mut talk, &session, "resume", &run)), "not_paused");
    act(&mut talk, &session, "pause", &run);
    talk.settle();
    assert_eq!(talk.item(&session, "workflow")["paused"], true);
    assert!(talk.of("turn/completed").is_empty());

    let resumed = act(&mut talk, &session, "resume", &run);
    assert_eq!(resumed["result"]["turnId"], turn);
    talk.settle();
    assert_eq!(talk.item(&session, "workflow")["status"], "completed");
}
