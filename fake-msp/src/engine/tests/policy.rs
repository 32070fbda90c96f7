use serde_json::{Value, json};

use super::{Options, Talk, outline};

fn modes(version: &str, mode: &str, prompt: &str) -> (bool, String) {
    let mut talk = Talk::ready_with(version, Options::default());
    let session = talk.session();
    talk.act("session/setApprovalMode", json!({ "sessionId": session, "mode": mode }));
    talk.prompt(&session, prompt);
    talk.settle();
    let asked = !talk.of("approval/request").is_empty();
    (asked, talk.item(&session, "toolCall")["status"].as_str().unwrap().to_owned())
}

#[test]
fn approval_modes_do_what_was_measured() {
    for mode in ["onRequest", "promptUnmatched", "denyUnmatched", "allowAll"] {
        assert_eq!(modes("1.1.1", mode, "run make"), (true, "inProgress".into()), "{mode}");
        assert_eq!(modes("1.1.1", mode, "run pwd"), (false, "completed".into()), "{mode}");
    }
    let rows = [
        ("onRequest", "run pwd", false, "completed"),
        ("onRequest", "run make", true, "inProgress"),
        ("promptUnmatched", "run pwd", true, "inProgress"),
        ("denyUnmatched", "run make", true, "rejected"),
        ("denyUnmatched", "run pwd", true, "rejected"),
        ("allowAll", "run make", false, "completed"),
    ];
    for (mode, prompt, asked, status) in rows {
        assert_eq!(modes("1.2.1", mode, prompt), (asked, status.into()), "APR-19 {mode} {prompt}");
    }
}

#[test]
fn a_policy_denial_follows_its_own_request() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.act("session/setApprovalMode", json!({ "sessionId": session, "mode": "denyUnmatched" }));
    talk.prompt(&session, "run make");
    talk.settle();
    let resolved = talk.last("approval/resolved")["params"].clone();
    assert_eq!(
        (&resolved["decision"], &resolved["resolvedBy"]),
        (&json!("denied"), &json!("policy"))
    );
    assert_eq!(resolved["policyResult"], "deny");
    assert!(resolved.get("decidedByCommandId").is_none());
    let late = talk.decide(&session, "allow_once");
    assert_eq!(late["error"]["code"], -32051, "HOST-12");
    assert_eq!(late["error"]["data"]["resolution"]["resolvedBy"], "policy");
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
}

#[test]
fn a_session_grant_resolves_without_a_request() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "run make");
    talk.settle();
    talk.decide(&session, "allow_session");
    talk.settle();
    let requests = talk.of("approval/request").len();
    talk.prompt(&session, "run make");
    talk.settle();
    assert_eq!(talk.of("approval/request").len(), requests);
    let resolved = talk.last("approval/resolved")["params"].clone();
    assert_eq!(resolved["resolvedBy"], "policy", "APR-14");
    assert_eq!(resolved["approvalId"], talk.item(&session, "toolCall")["approvalId"]);
}

/// Where the outcome of writing a rule stands among the events of the turn.
fn rule_news(prompt: &str) -> (Vec<String>, Value) {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, prompt);
    talk.settle();
    let offered = talk.last("approval/requested")["params"]["availableChoices"].clone();
    assert_eq!(offered[2]["scope"], "localPersistent");
    let before = talk.frames.len();
    talk.decide(&session, "allow_always");
    talk.settle();
    let amendment = talk.last("approval/resolved")["params"]["amendment"].clone();
    let words = ["approval/resolved", "approval/updated", "turn/completed"];
    let seen = outline(&talk.frames[before..]);
    (seen.into_iter().filter(|name| words.contains(&name.as_str())).collect(), amendment)
}

#[test]
fn the_outcome_of_writing_a_rule_comes_after_the_resolution_or_after_the_turn() {
    let (soon, amendment) = rule_news("remember make");
    assert_eq!(soon, ["approval/resolved", "approval/updated", "turn/completed"], "APR-13");
    assert_eq!(amendment["durability"], "localPersistent");
    assert_eq!(amendment["rulePreview"], "bash make");
    let (late, _) = rule_news("remember late make");
    assert_eq!(late, ["approval/resolved", "turn/completed", "approval/updated"], "HOST-14");
}

#[test]
fn a_protected_write_offers_once_or_never_and_needs_somebody_who_watches() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "write a.txt");
    talk.settle();
    let asked = talk.last("approval/requested")["params"].clone();
    assert_eq!(asked["protectedWrite"], true);
    assert_eq!(asked["subject"]["kind"], "fileAccess");
    let scopes = asked["availableChoices"].as_array().unwrap();
    assert!(scopes.iter().all(|choice| choice["scope"] == "once"), "APR-6");
    talk.request("view/unsubscribe", json!({ "sessionId": session }));
    let refused = talk.decide(&session, "allow_once");
    assert_eq!(refused["error"]["code"], -32054);
    assert_eq!(refused["error"]["data"]["approvalId"], asked["approvalId"]);
    talk.request("view/subscribe", json!({ "sessionId": session }));
    assert_eq!(talk.decide(&session, "allow_once")["result"]["terminal"], true);
}
