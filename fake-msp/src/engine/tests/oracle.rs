use serde_json::{Value, json};

use super::{Options, Talk};

/// One wrong frame per method family: (method, params beside `sessionId` and `commandId`, path, rule).
fn wrong_frames() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let text = json!([{ "type": "text", "text": "x" }]);
    vec![
        ("session/start", json!({ "workspaceRoot": 7 }), "session/start.workspaceRoot", "HOST-5"),
        ("session/resume", json!({ "history": "all" }), "session/resume.history", "TOL-5"),
        ("session/read", json!({ "excludeItems": null }), "session/read.excludeItems", "CMD-12"),
        ("session/list", json!({ "limit": -1 }), "session/list.limit", "HOST-5"),
        ("session/fork", json!({ "cutPoint": {} }), "session/fork.cutPoint.lastTurnId", "ENV-9"),
        ("session/setModel", json!({}), "session/setModel.model", "ENV-9"),
        (
            "session/setApprovalMode",
            json!({ "mode": "yes" }),
            "session/setApprovalMode.mode",
            "TOL-5",
        ),
        ("turn/start", json!({ "input": text, "extra": 1 }), "turn/start.extra", "CMD-13"),
        (
            "turn/start",
            json!({ "input": [{ "type": "text" }] }),
            "turn/start.input[0].text",
            "ENV-9",
        ),
        ("turn/steer", json!({ "input": text }), "turn/steer.expectedTurnId", "ENV-9"),
        ("turn/cancel", json!({ "turnId": "never" }), "turn/cancel.turnId", "ENV-7"),
        (
            "approval/decide",
            json!({ "approvalId": "a", "choiceId": "c", "requirementId": { "approvalId": "a" } }),
            "approval/decide.requirementId.sourceIndex",
            "ENV-9",
        ),
        (
            "userInput/cancel",
            json!({ "userInputId": "u" }),
            "userInput/cancel.userInputId",
            "ENV-7",
        ),
        ("view/page", json!({ "limit": "9" }), "view/page.limit", "HOST-5"),
        ("view/unsubscribe", json!({ "x": 1 }), "view/unsubscribe.x", "CMD-13"),
        ("task/stop", json!({}), "task/stop.taskId", "ENV-9"),
        ("goal/set", json!({ "objective": [] }), "goal/set.objective", "HOST-5"),
        ("subagent/stop", json!({}), "subagent/stop.subagentId", "ENV-9"),
        ("workflow/childControl", json!({}), "workflow/childControl.workflowRunId", "ENV-9"),
        ("item/readOutput", json!({ "itemId": "i" }), "item/readOutput.outputRef", "ENV-9"),
        ("model/list", json!({ "sessionId": 1 }), "model/list.sessionId", "HOST-5"),
        ("media/upload", json!({}), "media/upload.uploadId", "ENV-9"),
        ("plugin/install", json!({}), "plugin/install.target", "ENV-9"),
    ]
}

#[test]
fn a_wrong_frame_of_each_method_family_is_caught() {
    for (method, extra, path, rule) in wrong_frames() {
        let mut talk = Talk::ready();
        let session = talk.session();
        let mut params = json!({ "sessionId": session });
        if method == "session/start" || method == "session/list" {
            params = json!({});
        }
        for (name, value) in extra.as_object().unwrap() {
            params[name] = value.clone();
        }
        let query = [
            "session/read",
            "session/list",
            "view/page",
            "view/unsubscribe",
            "item/readOutput",
            "model/list",
        ];
        if query.contains(&method) {
            talk.request(method, params);
        } else {
            talk.act(method, params);
        }
        let found = talk.host.violations();
        assert!(
            found.iter().any(|v| v.path == path && v.rule == rule),
            "{method}: wanted {rule} at {path}, found {found:?}"
        );
    }
}

#[test]
fn a_clean_conversation_has_no_findings() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "run ls; make");
    talk.settle();
    let id = talk.last("approval/request")["id"].clone();
    talk.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    talk.decide(&session, "allow_once");
    talk.decide(&session, "allow_once");
    talk.settle();
    talk.act("session/resume", json!({ "sessionId": session, "cursor": null }));
    assert_eq!(talk.host.violations(), []);
}

#[test]
fn a_command_id_must_look_like_a_uuid_v7_but_is_served_anyway() {
    let mut talk = Talk::ready();
    let answer = talk.request("session/start", json!({ "commandId": "cmd-1" }));
    assert!(answer.get("result").is_some());
    assert_eq!(talk.rules(), ["CMD-1"]);
}

#[test]
fn crossings_on_the_wire_are_marked_as_such() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "hello");
    talk.settle();

    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));

    let found = talk.host.violations();
    assert_eq!(found.len(), 1);
    assert!(found[0].race, "the turn may have ended while the cancel was under way");
}

#[test]
fn findings_never_quote_content() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let secret = "s3cret";
    let input = json!([{ "type": secret, "text": secret }]);
    talk.act("turn/start", json!({ "sessionId": session, "input": input }));
    talk.act("session/setApprovalMode", json!({ "sessionId": session, "mode": secret }));
    talk.request(secret, json!({}));
    talk.act("userInput/cancel", json!({ "sessionId": secret, "userInputId": secret }));
    assert!(talk.host.violations().len() >= 4);
    for violation in talk.host.violations() {
        assert!(!violation.to_string().contains(secret), "{violation}");
    }
}

#[test]
fn notifications_out_of_place_are_noted_and_ignored() {
    let mut talk = Talk::ready();
    talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
    talk.send(&json!({ "jsonrpc": "2.0", "method": "made/up", "params": {} }));
    assert_eq!(talk.rules(), ["HSK-1", "TOL-6"]);
}

#[test]
fn asking_whether_a_session_exists_is_no_mistake() {
    let mut talk = Talk::ready();
    let unknown = "01900000-0000-7000-8000-0000000000ff";

    let answer = talk.act("session/resume", json!({ "sessionId": unknown }));

    assert_eq!(answer["error"]["code"], -32020);
    assert!(talk.host.violations().is_empty(), "{:?}", talk.host.violations());
}

/// What is wrong only because of when it is sent: steps before, the frame, path and rule.
#[test]
fn a_frame_at_the_wrong_time_is_caught_in_each_family() {
    type Frame = (&'static str, Value);
    type Case = (&'static str, fn(&Talk, &str) -> Frame, &'static str, &'static str);
    fn last(talk: &Talk, method: &str, name: &str) -> Value {
        talk.last(method)["params"][name].clone()
    }
    let cases: [Case; 9] = [
        (
            "wait",
            |_, _| ("turn/start", json!({ "input": [{ "type": "text", "text": "x" }] })),
            "turn/start",
            "TRN-3",
        ),
        (
            "hello",
            |talk, _| {
                let turn = last(talk, "turn/completed", "turnId");
                let input = json!([{ "type": "text", "text": "x" }]);
                ("turn/steer", json!({ "expectedTurnId": turn, "input": input }))
            },
            "turn/steer.expectedTurnId",
            "TRN-5",
        ),
        (
            "ask soon 1",
            |talk, _| {
                let input = last(talk, "userInput/requested", "userInputId");
                ("userInput/cancel", json!({ "userInputId": input }))
            },
            "userInput/cancel.userInputId",
            "HOST-12",
        ),
        (
            "ask",
            |talk, _| {
                let input = last(talk, "userInput/requested", "userInputId");
                ("userInput/answer", json!({ "userInputId": input, "answers": [] }))
            },
            "userInput/answer.answers",
            "UIN-1",
        ),
        (
            "tool 1",
            |talk, session| {
                let task = talk.item(session, "toolCall")["itemId"].clone();
                ("task/stop", json!({ "taskId": task }))
            },
            "task/stop.taskId",
            "ITM-4",
        ),
        (
            "subagent",
            |talk, session| {
                let agent = talk.item(session, "subagent")["subagentId"].clone();
                ("subagent/stop", json!({ "subagentId": agent }))
            },
            "subagent/stop.subagentId",
            "ITM-4",
        ),
        (
            "workflow",
            |talk, session| {
                let run = talk.item(session, "workflow")["workflowRunId"].clone();
                ("workflow/cancel", json!({ "workflowRunId": run }))
            },
            "workflow/cancel.workflowRunId",
            "ITM-4",
        ),
        (
            "workflow wait",
            |talk, session| {
                let run = talk.item(session, "workflow")["workflowRunId"].clone();
                let child = json!({ "workflowRunId": run, "childId": "c1", "attempt": 4,
                    "action": "skip" });
                ("workflow/childControl", child)
            },
            "workflow/childControl.attempt",
            "ENV-7",
        ),
        (
            "hello",
            |_, _| ("session/userShell", json!({ "commandText": "ls" })),
            "session/userShell",
            "HSK-5",
        ),
    ];
    for (prompt, frame, path, rule) in cases {
        let mut talk = Talk::ready();
        let session = talk.session();
        talk.prompt(&session, prompt);
        talk.settle();
        assert_eq!(talk.host.violations(), [], "{prompt}");
        let (method, mut params) = frame(&talk, &session);
        params["sessionId"] = session.as_str().into();
        talk.act(method, params);
        let found = talk.host.violations();
        assert!(found.iter().any(|v| v.path == path && v.rule == rule), "{method}: {found:?}");
    }
}

#[test]
fn an_experimental_member_needs_the_opt_in() {
    let budget = json!({ "input": [{ "type": "text", "text": "hello" }], "tokenBudget": 5 });
    for (experimental, served) in [(false, false), (true, true)] {
        let mut talk = Talk::with("1.4.14", Options::default());
        talk.initialize(json!({ "experimentalApi": experimental }));
        talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        let session = talk.session();
        let mut params = budget.clone();
        params["sessionId"] = session.as_str().into();
        let answer = talk.act("turn/start", params);
        assert_eq!(answer.get("result").is_some(), served);
        if !served {
            assert_eq!(answer["error"]["code"], -32602, "HSK-7");
            assert_eq!(answer["error"]["data"]["kind"], "experimentalRequired");
            assert_eq!(answer["error"]["data"]["descriptor"], "turn/start.tokenBudget");
            assert_eq!(talk.rules(), ["HSK-7"]);
        }
    }
}
