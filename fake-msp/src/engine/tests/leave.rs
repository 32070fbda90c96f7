use serde_json::{Value, json};

use super::super::Options;
use super::{Talk, outline};

#[test]
fn leaving_is_acknowledged_then_done_and_a_replay_tells_it_again() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let params = json!({ "sessionId": session, "commandId": talk.command() });
    let before = talk.frames.len();

    talk.request("session/leave", params.clone());

    let frames = talk.frames[before..].to_vec();
    assert_eq!(outline(&frames), ["result", "session/closed", "session/leaveCompleted"]);
    assert_eq!(frames[1]["params"]["reason"], "leave");
    assert_eq!(frames[2]["params"]["outcome"], "released");
    assert_eq!(frames[2]["params"]["commandId"], params["commandId"]);
    let before = talk.frames.len();
    talk.request("session/leave", params);
    let again = talk.frames[before..].to_vec();
    assert_eq!(outline(&again), ["result", "session/leaveCompleted"], "SES-10");
    assert_eq!(again[1]["params"], frames[2]["params"]);

    let answer =
        talk.act("session/setModel", json!({ "sessionId": session, "model": { "modelId": "m" } }));
    assert_eq!(answer["error"]["code"], -32024, "CMD-10");
    assert_eq!(talk.act("session/leave", json!({ "sessionId": session }))["error"]["code"], -32024);
    assert!(talk.act("session/resume", json!({ "sessionId": session }))["result"].is_object());
}

#[test]
fn work_is_finished_first_unless_it_is_to_be_stopped() {
    for stop in [false, true] {
        let mut talk = Talk::ready();
        let session = talk.session();
        talk.prompt(&session, "hello");
        talk.prompt(&session, "queued");
        talk.act("session/leave", json!({ "sessionId": session, "stop": stop }));
        assert_eq!(talk.of("session/leaveCompleted").len(), usize::from(stop));
        talk.settle();
        let words: Vec<Value> =
            talk.of("turn/completed").iter().map(|f| f["params"]["terminal"].clone()).collect();
        let unqueued = talk.of("turn/unqueued").len();
        match stop {
            true => assert_eq!((words, unqueued), (vec![json!("cancelled")], 1), "HOST-11"),
            false => assert_eq!((words, unqueued), (vec![json!("completed"); 2], 0)),
        }
        assert_eq!(talk.of("session/leaveCompleted").len(), 1);
        let last = outline(&talk.frames).pop();
        assert_eq!(last.as_deref(), Some("session/leaveCompleted"));
    }
}

#[test]
fn a_session_nobody_looks_at_unloads_after_its_window() {
    let options = Options { idle_unload_ms: Some(1000), ..Options::default() };
    let mut talk = Talk::ready_with("1.4.14", options);
    let session = talk.session();
    assert_eq!(talk.host.deadline(), None, "somebody looks");
    talk.prompt(&session, "run ls");
    talk.settle();
    talk.request("view/unsubscribe", json!({ "sessionId": session }));
    assert_eq!(talk.host.deadline(), None, "SES-9: parked on an approval");
    talk.decide(&session, "abort");
    talk.settle();
    let closed = talk.last("session/closed");
    assert_eq!(closed["params"]["reason"], "idle");
    assert_eq!(closed["params"]["sessionId"], session);
    let answer = talk.act("session/resume", json!({ "sessionId": session }));
    assert_eq!(answer["result"]["session"]["status"], "idle");
}

#[test]
fn an_old_host_unloads_without_a_word_and_knows_no_leave() {
    let mut talk = Talk::ready_with("1.1.1", Options::default());
    let session = talk.session();
    let answer = talk.act("session/leave", json!({ "sessionId": session }));
    assert_eq!(answer["error"]["data"]["kind"], "methodNotFound");
    assert_eq!(talk.rules(), ["HOST-18"]);
    let frames = talk.input(super::super::Input::Eof);
    assert!(frames.is_empty());
}
