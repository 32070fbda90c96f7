use serde_json::{Value, json};

use super::super::Input;
use super::{Options, Talk, scripted};

/// A small generator: the test needs variety, not quality.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides
    }
}

/// Every place inside a value, as a list of steps.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, inner) in object {
                let here = format!("{at}/{name}");
                places(inner, &here, out);
                out.push(here);
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                let here = format!("{at}/{index}");
                places(inner, &here, out);
                out.push(here);
            }
        }
        _ => {}
    }
}

fn spoil(frame: &mut Value, dice: &mut Dice) {
    let odd = [
        json!(null),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!(true),
        json!([[{}]]),
        json!({ "approvalId": 1 }),
        json!(u64::MAX),
        json!([{ "type": "text", "text": "run a; b" }]),
        json!("v:x:1"),
    ];
    let mut found = Vec::new();
    places(frame, "", &mut found);
    let place = &found[dice.roll(found.len())];
    match dice.roll(5) {
        0 => {
            let (parent, name) = place.rsplit_once('/').unwrap();
            if let Some(Value::Object(object)) = frame.pointer_mut(parent) {
                object.remove(name);
            }
        }
        _ => *frame.pointer_mut(place).unwrap() = odd[dice.roll(odd.len())].clone(),
    }
}

/// One valid frame of many methods, for the state that the session is in.
fn frames(talk: &mut Talk, session: &str) -> Vec<Value> {
    let view = talk.host.sessions[session].log.view().clone();
    let turn = view.active.as_ref().map(|turn| turn.turn_id.clone()).unwrap_or_default();
    let approval = view.approvals.keys().last().cloned().unwrap_or_default();
    let prompt = view.prompts.keys().last().cloned().unwrap_or_default();
    let text = json!([{ "type": "text", "text": "run ls; pwd; make" }]);
    let answers = json!([{ "questionId": "colour", "selectedLabel": "Red" }]);
    let item = |kind: &str, name: &str| {
        let found = view.items.values().rev().find(|item| item["kind"] == kind);
        found.map(|item| item[name].clone()).unwrap_or_default()
    };
    let (task, agent) = (item("toolCall", "itemId"), item("subagent", "subagentId"));
    let run = item("workflow", "workflowRunId");
    let words = ["subagent wait", "workflow wait", "task 9", "output 99", "ask soon", "tool 9"];
    let word = words[talk.frames.len() % words.len()];
    let requirement = json!({ "approvalId": approval, "sourceIndex": 0 });
    let bodies = [
        ("session/start", json!({ "workspaceRoot": "/w" })),
        ("session/resume", json!({ "history": "snapshot" })),
        ("session/read", json!({ "excludeItems": false })),
        ("session/list", json!({ "limit": 5 })),
        ("session/setModel", json!({ "model": { "modelId": "m" } })),
        ("session/setApprovalMode", json!({ "mode": "onRequest" })),
        ("session/rename", json!({ "name": "n" })),
        ("turn/start", json!({ "input": text })),
        (
            "turn/start",
            json!({ "input": [{ "type": "text", "text": "ask" }], "ifBusy": "replace" }),
        ),
        ("turn/steer", json!({ "input": text, "expectedTurnId": turn })),
        ("turn/cancel", json!({ "turnId": turn })),
        ("turn/unqueue", json!({ "turnId": turn })),
        (
            "approval/decide",
            json!({ "approvalId": approval, "requirementId": requirement,
            "choiceId": "allow_session" }),
        ),
        ("approval/listPending", json!({})),
        ("userInput/answer", json!({ "userInputId": prompt, "answers": answers })),
        ("userInput/cancel", json!({ "userInputId": prompt, "reason": "r" })),
        ("view/page", json!({ "limit": 3, "direction": "backward" })),
        ("view/subscribe", json!({ "after": format!("v:{session}:1") })),
        ("view/unsubscribe", json!({})),
        ("model/list", json!({})),
        ("turn/start", json!({ "input": [{ "type": "text", "text": word }], "ifBusy": "replace" })),
        ("goal/set", json!({ "objective": "wait" })),
        ("goal/resume", json!({})),
        ("session/compact", json!({})),
        ("task/background", json!({ "taskId": task })),
        ("task/stop", json!({ "taskId": task })),
        ("task/list", json!({})),
        ("subagent/interrupt", json!({ "subagentId": agent, "reason": "r" })),
        ("subagent/followupTask", json!({ "subagentId": agent, "body": "b" })),
        ("subagent/reopen", json!({ "subagentId": agent })),
        (
            "workflow/childControl",
            json!({ "workflowRunId": run, "childId": "c1", "attempt": 1, "action": "retry" }),
        ),
        ("workflow/pause", json!({ "workflowRunId": run })),
        ("workflow/resume", json!({ "workflowRunId": run })),
        (
            "item/readOutput",
            json!({ "itemId": task, "outputRef": item("toolCall", "outputRef")["id"],
            "offsetBytes": 3, "lengthBytes": 7 }),
        ),
        ("skill/list", json!({})),
    ];
    let build = |(method, mut params): (&str, Value)| {
        params["sessionId"] = session.into();
        params["commandId"] = talk.command().into();
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
    };
    bodies.into_iter().map(build).collect()
}

#[test]
fn spoilt_frames_never_break_the_host() {
    for (seed, options) in [(1, Options::default()), (2, Options::default()), (3, scripted())] {
        let mut dice = Dice(seed);
        let mut talk = Talk::ready_with("1.4.14", options);
        let session = talk.session();
        for _ in 0..15 {
            for mut frame in frames(&mut talk, &session) {
                if dice.roll(3) > 0 {
                    spoil(&mut frame, &mut dice);
                }
                talk.send(&frame);
                if let Some(deadline) = talk.host.deadline() {
                    talk.now = talk.now.max(deadline);
                    talk.input(Input::Timer);
                }
            }
        }
        assert!(talk.frames.iter().all(|frame| frame["error"]["code"] != -32603));
        assert!(talk.request("model/list", json!({})).get("result").is_some());
    }
}
