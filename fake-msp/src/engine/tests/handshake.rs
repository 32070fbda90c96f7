use serde_json::json;

use super::{Options, Talk, outline};

#[test]
fn nothing_is_answered_before_initialize() {
    let mut talk = Talk::with("1.4.14", Options::default());

    let answer = talk.request("model/list", json!({}));

    assert_eq!(answer["error"]["code"], -32600);
    assert_eq!(answer["error"]["data"]["kind"], "notInitialized");
    assert_eq!(talk.rules(), ["HSK-1"]);
}

#[test]
fn a_second_initialize_is_refused() {
    let mut talk = Talk::ready();

    let answer = talk.initialize(json!({}));

    assert_eq!(answer["error"]["data"]["kind"], "alreadyInitialized");
}

#[test]
fn a_request_between_initialize_and_initialized_is_refused_and_noted() {
    let mut talk = Talk::with("1.4.14", Options::default());
    talk.initialize(json!({}));

    let frames = talk.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "model/list" }));

    assert_eq!(outline(&frames), ["error"]);
    assert_eq!(talk.rules(), ["HSK-1"]);
}

#[test]
fn the_client_name_is_validated() {
    for (name, good) in [("acp_1", true), ("Acp", false), ("a-b", false), ("", false)] {
        let mut talk = Talk::with("1.4.14", Options::default());
        let info = json!({ "name": name, "version": "1" });
        let answer = talk.request("initialize", json!({ "clientInfo": info }));
        assert_eq!(answer.get("result").is_some(), good, "{name:?}: {answer}");
    }
}

#[test]
fn grants_are_what_was_asked_for_and_exists_in_the_generation() {
    let wanted = json!({ "requestedCapabilities": ["userShell", "sessionMcp", "flying"] });
    for (version, granted) in
        [("1.1.1", json!(["userShell"])), ("1.3.0", json!(["userShell", "sessionMcp"]))]
    {
        let mut talk = Talk::with(version, Options::default());
        let answer = talk.initialize(wanted.clone());
        assert_eq!(answer["result"]["grantedCapabilities"], granted, "{version}");
        assert_eq!(answer["result"]["serverInfo"]["version"], version);
    }
}

#[test]
fn an_older_host_does_not_write_newer_members() {
    for (version, sandbox, title) in [("1.1.1", false, false), ("1.4.14", true, true)] {
        let mut talk = Talk::with(version, Options::default());
        let answer = talk.initialize(json!({}));
        assert_eq!(answer["result"].get("sandboxAvailability").is_some(), sandbox, "{version}");

        talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        let session = talk.session();
        talk.prompt(&session, "hello");
        talk.settle();
        let read = talk.request("session/read", json!({ "sessionId": session }));
        assert_eq!(read["result"]["session"].get("title").is_some(), title, "{version}");
        assert_eq!(read["result"].get("lastTurn").is_some(), title, "{version}");
    }
}

#[test]
fn opt_outs_are_honoured_but_never_for_the_protected_set() {
    let mut talk = Talk::with("1.4.14", Options::default());
    talk.initialize(json!({
        "optOutNotificationMethods": ["item/delta", "approval/requested", "approval/resolved"],
    }));
    talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
    let session = talk.session();

    talk.prompt(&session, "run ls");
    talk.settle();
    let asked = talk.last("approval/request")["params"].clone();
    talk.act(
        "approval/decide",
        json!({
            "sessionId": session, "approvalId": asked["approvalId"],
            "requirementId": asked["currentRequirementId"], "choiceId": "abort",
        }),
    );
    talk.settle();

    assert!(talk.of("item/delta").is_empty());
    assert!(talk.of("approval/requested").is_empty());
    assert_eq!(talk.of("approval/resolved").len(), 1);
}

#[test]
fn a_client_without_dialogs_gets_the_view_event_but_no_request() {
    let mut talk = Talk::with("1.4.14", Options::default());
    talk.initialize(json!({ "userInputDialogs": false }));
    talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
    let session = talk.session();

    talk.prompt(&session, "ask");
    talk.settle();

    assert_eq!(talk.of("userInput/requested").len(), 1);
    assert!(talk.of("userInput/request").is_empty());
}
