use serde_json::{Value, json};

use super::super::Options;
use super::Talk;

/// A session with two finished turns.
fn source() -> (Talk, String, Vec<String>) {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turns = ["one", "two"].map(|text| {
        let turn = talk.prompt(&session, text);
        talk.settle();
        turn
    });
    (talk, session, turns.to_vec())
}

#[test]
fn a_fork_copies_completed_turns_and_goes_its_own_way() {
    let (mut talk, session, _) = source();
    let params = json!({ "sessionId": session, "model": { "modelId": "other" } });
    talk.act("session/setModel", params);
    let running = talk.prompt(&session, "wait");

    let answer = talk.act("session/fork", json!({ "sessionId": session }));

    let result = &answer["result"];
    let fork = result["session"]["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(fork, session);
    assert_eq!(result["session"]["turnCount"], 2);
    assert_eq!(result["session"]["status"], "idle");
    assert_eq!(result["session"]["modelId"], "other", "the present model, not that of the cut");
    let from = &result["session"]["forkedFrom"];
    assert_eq!(from["sessionId"], session);
    assert_eq!(from["cutExplicit"], false);
    assert!(from["cutCursor"].is_string() && from["commandId"].is_string());
    assert_eq!(result["history"]["items"].as_array().unwrap().len(), 6);
    assert!(!result["history"].to_string().contains(&running), "SES-5");
    assert!(result.get("lastTurn").is_none(), "no such member in a fork's result");

    let page = talk.request("view/page", json!({ "sessionId": fork, "limit": 1000 }));
    for event in page["result"]["events"].as_array().unwrap() {
        assert_eq!(event["params"]["sessionId"], fork);
        assert!(event["params"]["viewCursor"].as_str().unwrap().contains(&fork));
    }
    talk.prompt(&fork, "three");
    talk.settle();
    let read = talk.request("session/read", json!({ "sessionId": session }));
    assert_eq!(read["result"]["session"]["turnCount"], 2, "the source stays as it was");
    assert_eq!(talk.rules(), [""; 0]);
}

#[test]
fn a_cut_is_the_end_of_a_turn_that_ended() {
    let (mut talk, session, turns) = source();
    let mut fork = |turn: &str| {
        let cut = json!({ "lastTurnId": turn });
        talk.act("session/fork", json!({ "sessionId": session, "cutPoint": cut }))
    };
    let answer = fork(&turns[0]);
    assert_eq!(answer["result"]["session"]["turnCount"], 1);
    assert_eq!(answer["result"]["session"]["forkedFrom"]["cutExplicit"], true);
    let refused = fork("nope");
    assert_eq!(refused["error"]["code"], -32023);
    assert_eq!(refused["error"]["data"]["lastTurnId"], "nope");
    let running = talk.prompt(&session, "wait");
    let cut = json!({ "lastTurnId": running });
    let refused = talk.act("session/fork", json!({ "sessionId": session, "cutPoint": cut }));
    assert_eq!(refused["error"]["code"], -32023);
}

#[test]
fn a_fork_needs_no_loaded_source_and_may_leave_the_items_out() {
    let (mut talk, session, _) = source();
    talk.act("session/leave", json!({ "sessionId": session }));
    let params = json!({ "sessionId": session, "excludeItems": true });
    let answer = talk.act("session/fork", params);
    assert_eq!(answer["result"]["history"]["noneReason"], "excluded");
    let fork = answer["result"]["session"]["sessionId"].clone();
    let read = talk.request("session/read", json!({ "sessionId": fork, "excludeItems": false }));
    assert_eq!(read["result"]["history"]["items"].as_array().unwrap().len(), 6);
}

#[test]
fn an_empty_session_forks_to_an_empty_one() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let answer = talk.act("session/fork", json!({ "sessionId": session }));
    assert_eq!(answer["result"]["history"]["items"], json!([]));
    assert_eq!(answer["result"]["session"]["turnCount"], 0);
}

#[test]
fn a_fork_is_made_once_per_command() {
    let (mut talk, session, _) = source();
    let params = json!({ "sessionId": session, "commandId": talk.command() });
    let first = talk.request("session/fork", params.clone());
    let second = talk.request("session/fork", params);
    assert_eq!(first["result"], second["result"], "CMD-4");
    assert_eq!(talk.request("session/list", json!({}))["result"]["sessions"][2], Value::Null);
}

#[test]
fn a_side_chat_hangs_on_a_loaded_main_session() {
    let (mut talk, session, _) = source();
    let answer = talk.act("session/sideChat", json!({ "sessionId": session }));
    let side = &answer["result"]["session"];
    assert_eq!(side["sideFrom"]["sessionId"], session);
    assert_eq!(side["forkedFrom"], Value::Null);
    let nested = talk.act("session/sideChat", json!({ "sessionId": side["sessionId"] }));
    assert_eq!(nested["error"]["code"], -32030);

    let mut old = Talk::ready_with("1.3.0", Options::default());
    let session = old.session();
    let answer = old.act("session/sideChat", json!({ "sessionId": session }));
    assert_eq!(answer["error"]["code"], -32601, "HOST-18");
    assert_eq!(old.rules(), ["HOST-18"]);
}
