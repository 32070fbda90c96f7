//! Each session-side method, said wrongly by a client.

use serde_json::{Value, json};

use super::super::Options;
use super::Talk;

/// Method, its correct params beside `sessionId`, whether it is a command.
fn methods() -> Vec<(&'static str, Value, bool)> {
    vec![
        ("session/resume", json!({}), true),
        ("session/fork", json!({}), true),
        ("session/sideChat", json!({}), true),
        ("session/rename", json!({ "name": "n" }), true),
        ("session/setModel", json!({ "model": { "modelId": "m" } }), true),
        ("session/setReasoningEffort", json!({ "reasoningEffort": "low" }), true),
        ("session/setApprovalMode", json!({ "mode": "onRequest" }), true),
        ("session/read", json!({}), false),
        ("view/page", json!({ "limit": 1 }), false),
        ("view/subscribe", json!({}), false),
        ("view/unsubscribe", json!({}), false),
        ("session/leave", json!({}), true),
    ]
}

fn said(talk: &mut Talk, method: &str, params: Value, command: bool) -> (Value, Vec<String>) {
    let before = talk.host.violations().len();
    let answer = if command { talk.act(method, params) } else { talk.request(method, params) };
    let found = talk.host.violations()[before..].iter();
    (answer, found.map(|v| format!("{} {}", v.rule, v.path)).collect())
}

#[test]
fn a_missing_member_is_caught_in_every_method() {
    for (method, params, command) in methods() {
        let mut talk = Talk::ready();
        let session = talk.session();
        let mut whole = params;
        whole["sessionId"] = session.into();
        if command {
            let (answer, found) = said(&mut talk, method, whole.clone(), false);
            assert_eq!(answer["error"]["code"], -32602, "{method}: HOST-4");
            assert_eq!(found, [format!("CMD-1 {method}.commandId")]);
        }
        for name in whole.as_object().unwrap().keys() {
            let mut lacking = whole.clone();
            lacking.as_object_mut().unwrap().remove(name);
            let (answer, found) = said(&mut talk, method, lacking, command);
            assert_eq!(answer["error"]["code"], -32602, "{method} without {name}");
            assert_eq!(found, [format!("ENV-9 {method}.{name}")]);
        }
        let (answer, found) = said(&mut talk, method, whole, command);
        assert!(answer["result"].is_object(), "{method}: {answer}");
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn a_wrong_word_or_type_is_caught() {
    for (method, member, value, path) in [
        ("session/resume", "history", json!("all"), "history"),
        ("session/resume", "excludeItems", json!("yes"), "excludeItems"),
        ("session/resume", "modelId", Value::Null, "modelId"),
        ("session/resume", "recoveryMode", json!("maybe"), "recoveryMode"),
        ("session/fork", "cutPoint", json!({}), "cutPoint.lastTurnId"),
        ("session/fork", "cutPoint", json!("t"), "cutPoint"),
        ("session/leave", "stop", json!(1), "stop"),
        ("session/setApprovalMode", "mode", json!("yolo"), "mode"),
        ("session/setReasoningEffort", "reasoningEffort", json!("huge"), "reasoningEffort"),
        ("session/setModel", "model", json!({}), "model.modelId"),
        ("view/page", "direction", json!("up"), "direction"),
        ("view/page", "limit", json!(-1), "limit"),
        ("session/read", "sessionId", json!(7), "sessionId"),
    ] {
        let mut talk = Talk::ready();
        let session = talk.session();
        let row = methods().into_iter().find(|(name, _, _)| *name == method).unwrap();
        let (mut params, command) = (row.1, row.2);
        params["sessionId"] = session.into();
        params[member] = value;
        let (answer, found) = said(&mut talk, method, params, command);
        assert_eq!(answer["error"]["code"], -32602, "{method}.{path}");
        assert_eq!(found.len(), 1, "{method}.{path}: {found:?}");
        assert!(found[0].ends_with(&format!(" {method}.{path}")), "{found:?}");
    }
    let mut talk = Talk::ready();
    for (params, path) in [
        (json!({ "limit": "many" }), "limit"),
        (json!({ "filter": { "text": { "fields": ["body"] } } }), "filter.text.fields[0]"),
        (json!({ "filter": { "sessionId": {} } }), "filter.sessionId.anyOf"),
        (json!({ "cursor": 3 }), "cursor"),
    ] {
        let (answer, found) = said(&mut talk, "session/list", params, false);
        assert_eq!(answer["error"]["code"], -32602, "{path}");
        assert!(found[0].ends_with(&format!(" session/list.{path}")), "{found:?}");
    }
}

#[test]
fn a_wrong_order_is_caught() {
    let mut talk = Talk::ready();
    let session = talk.session();
    // A cursor of nobody, a session of nobody, a session that was left.
    for (method, name) in [("view/page", "cursor"), ("view/subscribe", "after")] {
        let params = json!({ "sessionId": session, "limit": 1, name: "v:x:1" });
        let mut params = params;
        if method == "view/subscribe" {
            params.as_object_mut().unwrap().remove("limit");
        }
        let (_, found) = said(&mut talk, method, params, false);
        assert_eq!(found, [format!("CUR-7 {method}.{name}")]);
    }
    let (_, found) =
        said(&mut talk, "session/rename", json!({ "sessionId": "x", "name": "n" }), true);
    assert_eq!(found, ["ENV-7 session/rename.sessionId"]);
    talk.act("session/leave", json!({ "sessionId": session }));
    for (method, params, command) in methods() {
        let free =
            ["session/resume", "session/fork", "session/read", "view/page", "view/unsubscribe"];
        if free.contains(&method) {
            continue;
        }
        let mut params = params;
        params["sessionId"] = session.clone().into();
        let (answer, found) = said(&mut talk, method, params, command);
        assert_eq!(answer["error"]["code"], -32024, "{method}: CMD-10");
        assert_eq!(found, [format!("CMD-10 {method}.sessionId")]);
    }
    let mut fresh = Talk::with("1.4.14", Options::default());
    let (answer, found) = said(&mut fresh, "session/list", json!({}), false);
    assert_eq!(answer["error"]["data"]["kind"], "notInitialized");
    assert_eq!(found, ["HSK-1 session/list"]);
}
