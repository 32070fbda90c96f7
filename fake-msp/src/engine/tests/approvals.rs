use serde_json::{Value, json};

use super::{Options, Talk, outline};
use crate::profiles::Staged;

/// A host that asks about a command.
fn asked(version: &str, staged: Option<Staged>, command: &str) -> (Talk, String) {
    let mut talk = Talk::ready_with(version, Options { staged, ..Options::default() });
    let session = talk.session();
    talk.prompt(&session, &format!("run {command}"));
    talk.settle();
    (talk, session)
}

fn receipt(talk: &mut Talk, result: Value) -> Vec<Value> {
    let id = talk.last("approval/request")["id"].clone();
    talk.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

#[test]
fn the_view_event_precedes_the_request_and_both_say_the_same() {
    let (talk, _) = asked("1.4.14", None, "ls -la");

    let event = talk.last("approval/requested");
    let request = talk.last("approval/request");

    assert_eq!(event["params"], request["params"], "ENV-11");
    assert_eq!(request["id"], 1, "HOST-6");
    assert!(request.get("emittedAtMs").is_none(), "HOST-6");
    let order = outline(&talk.frames);
    let at = |name: &str| order.iter().position(|method| method == name).unwrap();
    assert!(at("item/started") < at("approval/requested"));
    assert!(at("approval/requested") < at("approval/request"));
    let tool = &talk.last("item/started")["params"]["item"];
    assert_eq!(tool["approvalId"], request["params"]["approvalId"]);
    let args: Value = serde_json::from_str(tool["args"].as_str().unwrap()).unwrap();
    assert_eq!(args["command"], "ls -la");
}

#[test]
fn a_receipt_changes_nothing_and_a_wrong_receipt_is_noted() {
    let (mut talk, session) = asked("1.4.14", None, "ls");
    assert!(receipt(&mut talk, json!({})).is_empty());
    assert!(talk.rules().is_empty());
    assert!(receipt(&mut talk, json!({})).is_empty());
    assert_eq!(talk.rules(), ["ENV-5"], "answered twice");

    let pending = talk.request("approval/listPending", json!({ "sessionId": session }));
    assert_eq!(pending["result"]["approvals"].as_array().unwrap().len(), 1);

    let (mut talk, _) = asked("1.4.14", None, "ls");
    receipt(&mut talk, json!({ "outcome": "allow" }));
    assert_eq!(talk.rules(), ["ENV-10"]);
}

#[test]
fn an_allowed_command_is_pretended_and_the_turn_completes() {
    let (mut talk, session) = asked("1.4.14", None, "ls");

    let answer = talk.decide(&session, "allow_once");
    talk.settle();

    assert_eq!(answer["result"]["terminal"], true);
    let resolved = talk.last("approval/resolved");
    assert_eq!(resolved["params"]["policyResult"], "allow");
    assert_eq!(resolved["params"]["decidedByCommandId"], answer["result"]["commandId"]);
    let tool = &talk.of("item/completed")[2]["params"]["item"];
    assert_eq!(tool["status"], "completed");
    assert!(tool["visibleOutput"].as_str().unwrap().contains("nothing was executed"));
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
    assert!(talk.rules().is_empty(), "{:?}", talk.host.violations());
}

#[test]
fn a_rejected_command_ends_rejected_and_the_turn_goes_on() {
    let (mut talk, session) = asked("1.4.14", None, "ls");

    talk.decide(&session, "abort");
    talk.settle();

    assert_eq!(talk.last("approval/resolved")["params"]["policyResult"], "deny");
    let tool = &talk.of("item/completed")[2]["params"]["item"];
    assert_eq!(tool["status"], "rejected");
    assert!(tool["failureReason"].is_string());
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
}

#[test]
fn a_session_grant_is_not_asked_again() {
    let (mut talk, session) = asked("1.4.14", None, "ls");
    talk.decide(&session, "allow_session");
    talk.settle();
    assert_eq!(talk.last("approval/resolved")["params"]["amendment"]["durability"], "session");

    talk.prompt(&session, "run ls");
    talk.settle();

    assert_eq!(talk.of("approval/request").len(), 1);
    assert_eq!(talk.of("turn/completed").len(), 2);
}

#[test]
fn a_repeated_command_is_asked_for_in_each_round_until_it_is_granted_or_refused() {
    let rounds = |choices: &[&str]| {
        let mut talk = Talk::ready_with("1.4.14", Options::default());
        let session = talk.session();
        talk.prompt(&session, "repeat 3 ls");
        talk.settle();
        for choice in choices {
            talk.decide(&session, choice);
            talk.settle();
        }
        assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed", "{choices:?}");
        let ends = talk.of("item/completed");
        let cards = ends.iter().filter(|end| end["params"]["item"]["kind"] == "toolCall").count();
        (talk.of("approval/request").len(), cards)
    };
    assert_eq!(rounds(&["allow_once", "allow_once", "allow_once"]), (3, 3));
    assert_eq!(rounds(&["allow_session"]), (1, 3));
    assert_eq!(rounds(&["allow_once", "abort"]), (2, 2));
}

#[test]
fn stages_are_presented_in_the_style_of_the_generation() {
    for (version, staged, updates, requests) in [
        ("1.2.1", None, 1, 1),
        ("1.1.1", None, 0, 2),
        ("1.3.0", None, 1, 2),
        ("1.3.0", Some(Staged::Refreshed), 1, 1),
    ] {
        let (mut talk, session) = asked(version, staged, "make a; pwd; make b");

        let first = talk.decide(&session, "allow_once");
        assert_eq!(first["result"]["terminal"], false, "{version}");
        assert_eq!(talk.of("approval/updated").len(), updates, "{version}");
        assert_eq!(talk.of("approval/request").len(), requests, "{version}");
        let pending = talk.request("approval/listPending", json!({ "sessionId": session }));
        let current = &pending["result"]["approvals"][0]["currentRequirementId"];
        assert_eq!(current["sourceIndex"], 2, "{version}: the known-safe stage is skipped");
        let opened = talk.of("approval/requested")[0]["params"]["viewCursor"].clone();
        for request in talk.of("approval/request") {
            assert_eq!(request["params"]["viewCursor"], opened, "{version}: opening cursor");
        }

        let second = talk.decide(&session, "allow_once");
        assert_eq!(second["result"]["terminal"], true, "{version}");
        let evidence = talk.last("approval/resolved")["params"]["stageEvidence"].clone();
        let kinds: Vec<&Value> =
            evidence.as_array().unwrap().iter().map(|e| &e["resolution"]["kind"]).collect();
        assert_eq!(kinds, ["allowOnce", "knownSafe", "allowOnce"], "{version}");
    }
}

#[test]
fn decisions_are_checked_against_the_current_state() {
    let (mut talk, session) = asked("1.2.1", None, "make a; make b");
    let asked = talk.last("approval/request")["params"].clone();
    let decide = |talk: &mut Talk, approval: &Value, index: u64, choice: &str, feedback: Value| {
        let params = json!({
            "sessionId": session, "approvalId": approval, "choiceId": choice,
            "requirementId": { "approvalId": approval, "sourceIndex": index },
            "feedback": feedback,
        });
        talk.act("approval/decide", params)["error"]["code"].clone()
    };
    let id = &asked["approvalId"];

    assert_eq!(decide(&mut talk, &json!("nope"), 0, "allow_once", Value::Null), -32050);
    assert_eq!(decide(&mut talk, id, 1, "allow_once", Value::Null), -32053);
    assert_eq!(decide(&mut talk, id, 0, "always", Value::Null), -32052);
    assert_eq!(decide(&mut talk, id, 0, "allow_once", json!("why")), -32052);
    assert_eq!(decide(&mut talk, id, 0, "allow_once", Value::Null), Value::Null);
    assert_eq!(decide(&mut talk, id, 0, "allow_once", Value::Null), -32053, "stale now");
    assert_eq!(decide(&mut talk, id, 1, "abort", json!("no")), Value::Null);
    assert_eq!(decide(&mut talk, id, 1, "abort", Value::Null), -32051, "HOST-12");
    assert_eq!(talk.of("approval/resolved").len(), 1);
    assert_eq!(
        talk.rules(),
        ["ENV-7", "APR-8", "APR-4", "APR-8", "APR-8", "HOST-12"],
        "{:?}",
        talk.host.violations()
    );
}

#[test]
fn allow_all_asks_only_where_it_was_measured_to_ask() {
    for (version, asks) in [("1.1.1", 1), ("1.2.1", 0)] {
        let mut talk = Talk::ready_with(version, Options::default());
        let session = talk.session();
        talk.act("session/setApprovalMode", json!({ "sessionId": session, "mode": "allowAll" }));
        talk.prompt(&session, "run ls");
        talk.settle();
        assert_eq!(talk.of("approval/request").len(), asks, "{version}");
    }
}

#[test]
fn cancel_withdraws_an_open_approval() {
    let (mut talk, session) = asked("1.4.14", None, "ls");
    let turn = talk.last("turn/started")["params"]["turnId"].clone();

    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));

    assert_eq!(talk.last("approval/resolved")["params"]["resolvedBy"], "policy");
    assert_eq!(talk.last("item/completed")["params"]["item"]["status"], "cancelled");
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "cancelled");
}

#[test]
fn a_question_is_answered_checked_and_settled_once() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "ask");
    talk.settle();
    let input = talk.last("userInput/request")["params"]["userInputId"].clone();
    let answer = |talk: &mut Talk, label: &str| {
        let answers = json!([{ "questionId": "colour", "selectedLabel": label }]);
        let params = json!({ "sessionId": session, "userInputId": input, "answers": answers });
        talk.act("userInput/answer", params)["error"]["code"].clone()
    };

    assert_eq!(answer(&mut talk, "Blue"), -32057);
    assert_eq!(answer(&mut talk, "Red"), Value::Null);
    let settled = talk.last("userInput/settled");
    assert_eq!(settled["params"]["outcome"], "answered");
    assert_eq!(settled["params"]["clarification"], Value::Null);
    assert_eq!(answer(&mut talk, "Red"), -32056);
    talk.settle();
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
}
