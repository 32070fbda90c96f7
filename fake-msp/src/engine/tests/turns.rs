use serde_json::{Value, json};

use super::super::Input;
use super::{Options, Output, Talk, outline};

/// Every item that was opened got exactly one terminal, and before the turn's own (HOST-11).
fn assert_closed(frames: &[Value], turn: &str) {
    let mut open: Vec<&Value> = Vec::new();
    let mut ended = 0;
    for frame in frames {
        let params = &frame["params"];
        let id = &params["item"]["itemId"];
        match frame["method"].as_str() {
            Some("item/started") => open.push(id),
            Some("item/completed") => open.retain(|known| *known != id),
            Some("turn/completed") if params["turnId"] == turn => {
                ended += 1;
                assert!(open.is_empty(), "{open:?} open at the end of the turn");
            }
            _ => {}
        }
    }
    assert_eq!(ended, 1);
}

#[test]
fn a_turn_is_acknowledged_then_started_then_shows_the_user_message() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let before = talk.frames.len();

    let turn = talk.prompt(&session, "hello");

    assert_eq!(
        outline(&talk.frames[before..]),
        ["result", "turn/started", "item/completed", "session/statusChanged"],
        "TRN-11"
    );
    let message = &talk.last("item/completed")["params"]["item"];
    assert_eq!(message["commandId"], turn);
    assert_eq!(message["text"], "hello");
}

#[test]
fn an_answer_streams_a_thought_and_words_and_says_what_it_is() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "hello\nsecond line");

    let frames = talk.settle();

    assert_closed(&frames, &turn);
    let items: Vec<Value> =
        talk.of("item/completed").iter().map(|f| f["params"]["item"].clone()).collect();
    assert_eq!(items[1]["kind"], "reasoning");
    assert_eq!(items[1]["summary"].as_array().unwrap().len(), 2);
    let text = items[2]["text"].as_str().unwrap();
    assert!(text.contains("fake") && text.contains("hello") && !text.contains("second"), "{text}");
    let streamed: String = talk
        .of("item/delta")
        .iter()
        .filter(|f| f["params"]["field"] == "text")
        .map(|f| f["params"]["delta"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(streamed, text, "ITM-9");
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
    assert!(talk.rules().is_empty());
}

#[test]
fn revisions_grow_and_cursors_are_unique() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "tool 3");
    talk.settle();

    let mut seen = std::collections::BTreeSet::new();
    let events = talk.frames.iter().filter(|f| f["params"]["viewCursor"].is_string());
    // A status broadcast names the head, it is no event of the view.
    for frame in events.filter(|f| f["method"] != "session/statusChanged") {
        assert!(seen.insert(frame["params"]["viewCursor"].to_string()), "HOST-7: {frame}");
        let durable = frame["method"] != "item/delta";
        assert_eq!(frame["params"]["sourceRange"].is_object(), durable, "{frame}");
    }
    let tool = &talk.of("item/completed")[1]["params"]["item"];
    assert_eq!(tool["revision"], 2);
    assert_eq!(tool["visibleOutput"], "line 1\nline 2\nline 3\n");
}

#[test]
fn a_second_turn_is_queued_and_starts_by_itself() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let first = talk.prompt(&session, "one");

    let input = json!([{ "type": "text", "text": "two" }]);
    let answer = talk.act("turn/start", json!({ "sessionId": session, "input": input }));
    assert_eq!(answer["result"]["disposition"], "queued");
    assert_eq!(talk.rules(), ["TRN-3"]);
    talk.settle();

    let ends: Vec<Value> =
        talk.of("turn/completed").iter().map(|f| f["params"]["turnId"].clone()).collect();
    assert_eq!(ends, [json!(first), answer["result"]["turnId"].clone()]);
}

#[test]
fn a_queued_turn_can_be_taken_back_and_never_completes() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "wait");
    let queued = talk.prompt(&session, "two");

    let answer = talk.act("turn/unqueue", json!({ "sessionId": session, "turnId": queued }));

    assert_eq!(answer["result"]["status"], "accepted");
    assert_eq!(talk.last("turn/unqueued")["params"]["turnId"], queued);
    let running = talk.host.sessions[&session].log.view().active.clone().unwrap();
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": running.turn_id }));
    talk.settle();
    assert_eq!(talk.of("turn/completed").len(), 1);
}

#[test]
fn cancel_closes_what_is_open_and_the_turn_ends_cancelled() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "tool 50");
    for _ in 0..5 {
        talk.now = talk.host.deadline().unwrap();
        talk.input(Input::Timer);
    }

    let answer = talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    talk.settle();

    assert_eq!(answer["result"]["turnId"], turn);
    assert_closed(&talk.frames, &turn);
    let tool = &talk.last("item/completed")["params"]["item"];
    assert_eq!(tool["status"], "cancelled");
    assert!(tool["visibleOutput"].as_str().unwrap().starts_with("line 1\n"), "{tool}");
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "cancelled");
}

#[test]
fn wait_never_ends_by_itself() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "wait");
    talk.settle();
    assert!(talk.of("turn/completed").is_empty());
    assert_eq!(talk.host.deadline(), None);
}

#[test]
fn a_failure_is_an_event_and_not_an_error() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "fail stepLimit");
    talk.settle();
    let end = talk.last("turn/completed");
    assert_eq!(end["params"]["terminal"], "failed");
    assert_eq!(end["params"]["error"]["kind"], "stepLimit");
}

#[test]
fn a_burst_is_pulled_frame_by_frame_and_a_cancel_cuts_it() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "wait");
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    let input = json!([{ "type": "text", "text": "burst 1000000000 8" }]);
    let command = talk.command();
    let start = json!({ "jsonrpc": "2.0", "id": 77, "method": "turn/start", "params": {
        "sessionId": session, "commandId": command, "input": input } });
    talk.host.handle(talk.now, Input::Line(start.to_string().as_bytes()));
    talk.host.handle(talk.now + 100, Input::Timer);

    let pulled = (0..500).filter_map(|_| talk.host.poll_output()).count();
    assert_eq!(pulled, 500);
    assert!(talk.host.out.len() <= 1, "frames are made when they are pulled");

    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": command }));
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "cancelled");
}

#[test]
fn a_short_burst_ends_with_its_text_and_a_long_one_is_truncated() {
    let mut talk = Talk::ready();
    let session = talk.session();

    talk.prompt(&session, "burst 3 2");
    talk.settle();
    let item = talk.last("item/completed")["params"]["item"].clone();
    assert_eq!(item["text"], "aabbcc");
    assert!(item.get("truncated").is_none());

    talk.prompt(&session, "burst 5 300000");
    talk.settle();
    let item = talk.last("item/completed")["params"]["item"].clone();
    assert_eq!(item["truncated"], true);
    assert_eq!(item["text"].as_str().unwrap().len(), 64 * 1024);
}

#[test]
fn the_end_of_stdin_cancels_the_turn_and_exits_cleanly() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "wait");

    let frames = talk.input(Input::Eof);

    assert_eq!(outline(&frames), ["turn/completed", "session/closed"], "SES-9");
    assert_eq!(frames[0]["params"]["terminal"], "cancelled");
    assert_eq!(frames[1]["params"]["reason"], "hostShutdown");
    assert_eq!(talk.effects, [Output::Exit { code: 0 }]);
    assert!(talk.line(br#"{"jsonrpc":"2.0","id":1,"method":"model/list"}"#).is_empty());
}

#[test]
fn a_steer_adds_a_message_to_the_running_turn() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "wait");
    let input = json!([{ "type": "text", "text": "more" }]);

    let params = json!({ "sessionId": session, "expectedTurnId": turn, "input": input });
    let answer = talk.act("turn/steer", params);

    assert_eq!(answer["result"]["turnId"], turn);
    let item = &talk.last("item/completed")["params"]["item"];
    assert_eq!((&item["steered"], &item["text"]), (&json!(true), &json!("more")));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_other_ids() {
    let run = |seed: u64| {
        let mut talk = Talk::ready_with("1.3.0", Options { seed, ..Options::default() });
        let session = talk.session();
        talk.prompt(&session, "run make a; make b");
        talk.settle();
        talk.decide(&session, "allow_once");
        talk.decide(&session, "allow_session");
        talk.settle();
        talk.frames.iter().map(|frame| format!("{frame}\n")).collect::<String>()
    };
    similar_asserts::assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_skill_or_a_video_is_refused_before_anything_is_admitted() {
    let mut talk = Talk::ready();
    let session = talk.session();
    for (part, code) in [
        (json!({ "type": "skill", "selector": "s" }), -32032),
        (json!({ "type": "video", "uploadId": "u" }), -32038),
        (json!({ "type": "mention", "path": "p" }), -32602),
        (json!({ "type": "image", "mediaType": "i/p", "base64Data": "", "width": 1 }), -32602),
    ] {
        let answer = talk.act("turn/start", json!({ "sessionId": session, "input": [part] }));
        assert_eq!(answer["error"]["code"], code);
    }
    let empty = talk.act("turn/start", json!({ "sessionId": session, "input": [] }));
    assert_eq!(empty["error"]["code"], -32602);
    assert!(talk.of("turn/started").is_empty());
}
