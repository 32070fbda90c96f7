use serde_json::{Value, json};

use super::*;
use crate::msp::TurnId;

fn approval(source_index: u64) -> Value {
    let stage = |index: u64, kind: &str, word: &str| {
        json!({ "requirementId": { "approvalId": "a", "sourceIndex": index },
                "position": index + 1, "totalStages": 4, "argv": ["echo", word],
                "argvComplete": true, "resolution": { "kind": kind } })
    };
    json!({
        "sessionId": "s", "approvalId": "a", "turnId": "t", "itemId": "i", "toolCallId": "c",
        "toolName": "bash", "rawArgs": "{\"command\":\"echo one; ls; echo two; ls\"}",
        "currentRequirementId": { "approvalId": "a", "sourceIndex": source_index },
        "subject": { "kind": "shell", "stages": [
            stage(0, "unresolved", "one"), stage(1, "knownSafe", "x"),
            stage(2, "unresolved", "t wo"), stage(3, "known_safe", "y")] },
        "availableChoices": [
            { "choiceId": "allow_once", "label": "Allow", "decision": "approved", "scope": "once" },
            { "choiceId": "odd", "label": "?", "decision": "perhaps", "scope": "once" },
            { "choiceId": "never", "label": "Never", "decision": "denied", "scope": "localPersistent" },
            { "choiceId": "abort", "label": "Reject", "decision": "abort", "scope": "once" }],
    })
}

fn parse<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_str(&value.to_string()).expect("decodes")
}

fn next(approvals: &mut Approvals) -> Option<Result<Question, ApprovalId>> {
    let turn = TurnId::from("t");
    let asking = Asking { session: "s", workspace: "/w", turn: &turn, detailed: false };
    approvals.next_question(asking)
}

fn ask(approvals: &mut Approvals) -> Option<Question> {
    next(approvals).map(|question| question.expect("options"))
}

#[test]
fn a_stage_is_asked_once_however_often_and_in_whatever_form_it_is_told() {
    let mut approvals = Approvals::default();
    approvals.requested(parse(approval(0))).expect("room");
    let first = ask(&mut approvals).expect("a question");
    let request = serde_json::to_value(&first.request).expect("json");
    assert_eq!(request["toolCall"]["title"], "Stage 1 of 4: echo one");
    assert_eq!(request["options"].as_array().expect("options").len(), 3, "unknown word left out");
    approvals.requested(parse(approval(0))).expect("room");
    assert!(ask(&mut approvals).is_none());
    assert!(matches!(
        approvals.selected(&first.approval, 0, "allow_once"),
        Decision::Send(requirement, _) if requirement.source_index == 0
    ));
    assert!(ask(&mut approvals).is_none(), "still the same stage");

    approvals.updated(parse(approval(2)));
    let second = ask(&mut approvals).expect("the next stage");
    let request = serde_json::to_value(&second.request).expect("json");
    assert_eq!(request["toolCall"]["title"], "Stage 3 of 4: echo \"t wo\"");
    approvals.requested(parse(approval(2))).expect("room");
    approvals.updated(parse(approval(0)));
    assert!(ask(&mut approvals).is_none());
}

#[test]
fn an_answer_to_a_stage_that_has_moved_on_grants_nothing() {
    let mut approvals = Approvals::default();
    approvals.requested(parse(approval(0))).expect("room");
    let question = ask(&mut approvals).expect("a question");
    approvals.updated(parse(approval(2)));
    assert_eq!(approvals.selected(&question.approval, 0, "allow_once"), Decision::Obsolete);
    assert!(ask(&mut approvals).is_some(), "the current stage is asked now");
    approvals.resolved(&question.approval);
    assert_eq!(approvals.selected(&question.approval, 2, "allow_once"), Decision::Obsolete);
    approvals.updated(parse(approval(3)));
    assert!(!approvals.has_pending(), "an update never reopens what was resolved");
}

#[test]
fn only_what_was_offered_can_be_chosen() {
    for option in ["allow_always", "odd", ""] {
        let mut approvals = Approvals::default();
        approvals.requested(parse(approval(0))).expect("room");
        let question = ask(&mut approvals).expect("a question");
        assert_eq!(approvals.selected(&question.approval, 0, option), Decision::NotOffered);
    }
}

#[test]
fn a_dismissed_dialog_takes_the_hosts_passing_denial() {
    let mut approvals = Approvals::default();
    approvals.requested(parse(approval(0))).expect("room");
    let question = ask(&mut approvals).expect("a question");
    let Decision::Send(_, choice) = approvals.dismissed(&question.approval, 0) else {
        panic!("a denial")
    };
    assert_eq!(choice.choice_id.as_str(), "abort");
}

#[test]
fn without_a_choice_that_can_be_shown_there_is_no_question() {
    let mut bare = approval(0);
    bare["availableChoices"] = json!([{ "choiceId": "x", "decision": "perhaps" }]);
    let mut approvals = Approvals::default();
    approvals.requested(parse(bare)).expect("room");
    assert!(next(&mut approvals).expect("due").is_err());
}
