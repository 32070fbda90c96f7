use serde_json::{Value, json};

use super::{Talk, outline};

fn goal(talk: &mut Talk, session: &str, verb: &str) -> Value {
    talk.act(&format!("goal/{verb}"), json!({ "sessionId": session }))
}

fn set(talk: &mut Talk, session: &str, objective: &str) -> Value {
    talk.act("goal/set", json!({ "sessionId": session, "objective": objective }))
}

#[test]
fn a_goal_on_an_idle_session_wakes_a_turn_of_its_own() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let before = talk.frames.len();

    let answer = set(&mut talk, &session, "  green tests ");

    assert_eq!(
        outline(&talk.frames[before..]),
        ["result", "session/goalChanged", "turn/started", "session/statusChanged"]
    );
    let started = talk.last("turn/started")["params"].clone();
    assert_eq!(answer["result"]["turnId"], started["turnId"]);
    assert_eq!(answer["result"]["commandId"], started["commandId"]);
    assert_ne!(started["turnId"], started["commandId"], "minted, as recorded");
    let goal = &talk.last("session/goalChanged")["params"]["goal"];
    assert_eq!(goal["objective"], "green tests");
    assert_eq!((&goal["status"], &goal["percentComplete"]), (&json!("active"), &json!(0)));
    talk.settle();
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
    assert!(talk.of("item/completed").iter().all(|f| f["params"]["item"]["kind"] != "userMessage"));
    assert_eq!(talk.view(&session).goal["status"], "active");
}

#[test]
fn editing_a_running_goal_names_its_turn_and_a_paused_one_wakes_nothing() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = set(&mut talk, &session, "wait")["result"]["turnId"].clone();

    let edit = json!({ "sessionId": session, "objective": "wait on" });
    let busy = talk.act("goal/edit", edit.clone());
    assert_eq!(busy["result"]["turnId"], turn);
    let pause = goal(&mut talk, &session, "pause");
    assert!(pause["result"].get("turnId").is_none(), "never for pause");
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));

    let paused = talk.act("goal/edit", edit);
    assert!(paused["result"].get("turnId").is_none());
    assert_eq!(talk.of("turn/started").len(), 1);
    assert_eq!(talk.view(&session).goal["status"], "paused");
    let resumed = goal(&mut talk, &session, "resume");
    let woken = talk.last("turn/started")["params"]["turnId"].clone();
    assert_eq!(resumed["result"]["turnId"], woken);
    assert_ne!(woken, turn);
}

#[test]
fn an_interrupt_of_the_goal_turn_pauses_the_goal_first() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = set(&mut talk, &session, "wait")["result"]["turnId"].clone();
    let before = talk.frames.len();

    talk.act("turn/interrupt", json!({ "sessionId": session, "turnId": turn }));

    let outline = outline(&talk.frames[before..]);
    assert_eq!(
        outline,
        ["result", "session/goalChanged", "turn/completed", "session/statusChanged"]
    );
    assert_eq!(talk.last("session/goalChanged")["params"]["goal"]["status"], "paused");
}

#[test]
fn interrupting_another_turn_or_cancelling_leaves_the_goal_alone() {
    let mut talk = Talk::ready();
    let session = talk.session();
    set(&mut talk, &session, "calm");
    talk.settle();
    let turn = talk.prompt(&session, "wait");
    talk.act("turn/interrupt", json!({ "sessionId": session, "turnId": turn }));
    assert_eq!(talk.view(&session).goal["status"], "active");
    let turn = set(&mut talk, &session, "wait")["result"]["turnId"].clone();
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    assert_eq!(talk.view(&session).goal["status"], "active");
}

#[test]
fn without_a_goal_every_verb_but_set_is_refused() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let edit = talk.act("goal/edit", json!({ "sessionId": session, "objective": "o" }));
    let mut answers = vec![edit];
    for verb in ["pause", "resume", "clear"] {
        answers.push(goal(&mut talk, &session, verb));
    }
    for answer in answers {
        assert_eq!(answer["error"]["code"], -32030);
        assert_eq!(answer["error"]["data"]["reason"], "missing_goal");
        assert!(answer["error"]["data"]["commandId"].is_string());
    }
    let blank = set(&mut talk, &session, " \n");
    assert_eq!(blank["error"]["code"], -32602);
}

#[test]
fn a_cleared_goal_is_gone_with_or_without_an_event() {
    for (version, told) in [("1.3.0", false), ("1.4.13", true)] {
        let mut talk = Talk::ready_with(version, super::Options::default());
        let session = talk.session();
        set(&mut talk, &session, "o");
        talk.settle();
        let before = talk.of("session/goalChanged").len();

        let answer = goal(&mut talk, &session, "clear");

        assert!(answer["result"].get("turnId").is_none());
        assert_eq!(talk.of("session/goalChanged").len() > before, told, "{version}");
        assert_eq!(talk.view(&session).goal, Value::Null);
        assert_eq!(goal(&mut talk, &session, "pause")["error"]["code"], -32030);
    }
}

#[test]
fn a_replayed_goal_command_applies_once() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let params = json!({ "sessionId": session, "objective": "o", "commandId": talk.command() });
    let first = talk.request("goal/set", params.clone());
    talk.settle();
    let before = talk.frames.len();

    let again = talk.request("goal/set", params.clone());

    assert_eq!(first["result"], again["result"], "CMD-4");
    assert_eq!(outline(&talk.frames[before..]), ["result"]);
    let mut other = params;
    other["objective"] = "p".into();
    let conflict = talk.request("goal/set", other);
    assert_eq!(conflict["error"]["data"]["reason"], "command_id_conflict", "CMD-5");
}

#[test]
fn old_hosts_know_no_goals() {
    let mut talk = Talk::ready_with("1.2.1", super::Options::default());
    let session = talk.session();
    assert_eq!(set(&mut talk, &session, "o")["error"]["data"]["kind"], "methodNotFound");
}
