//! Clients that misbehave, and hosts that do: each gets the error of the protocol and a report, and
//! nobody crashes.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

mod process;

use std::io::{BufRead, BufReader, Write};

use process::{INITIALIZE, INITIALIZED, Live, program, run};
use serde_json::{Value, json};

/// Lines after the handshake.
fn after_handshake(more: &[u8]) -> process::Done {
    run(
        &["serve", "--strict"],
        &[format!("{INITIALIZE}\n{INITIALIZED}\n").as_bytes(), more].concat(),
    )
}

fn code(frame: &Value) -> i64 {
    frame["error"]["code"].as_i64().unwrap_or_default()
}

#[test]
fn bad_json_and_binary_get_a_parse_error_and_the_conversation_goes_on() {
    let mut bytes = Vec::new();
    for bad in [&b"{nope"[..], b"\xff\xfe\x00\x01", b"{\"id\":1}{", b"\x1f\x8b\x08"] {
        bytes.extend_from_slice(bad);
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"model/list\"}\n");
    let done = after_handshake(&bytes);
    let frames = done.frames();
    for frame in &frames[1..5] {
        assert_eq!((code(frame), &frame["id"]), (-32700, &Value::Null), "{frame}");
    }
    assert_eq!(frames[5]["id"], 9);
    assert!(frames[5]["result"].is_object());
    assert_eq!(done.stderr.matches("fake-msp: oracle: ").count(), 4, "{}", done.stderr);
    assert_eq!(done.code(), Some(1), "--strict");
}

#[test]
fn json_that_is_no_frame_gets_an_invalid_request() {
    let done =
        after_handshake(b"[1]\n3\n\"x\"\n{}\n{\"jsonrpc\":\"1.0\",\"id\":4,\"method\":\"x\"}\n");
    let frames = done.frames();
    assert!(frames.len() >= 6, "{frames:?}");
    assert!(frames[1..].iter().all(|frame| code(frame) == -32600), "{frames:?}");
    assert_eq!(done.code(), Some(1), "{}", done.stderr);
}

#[test]
fn the_wrong_order_is_refused_and_reported() {
    let start = r#"{"jsonrpc":"2.0","id":2,"method":"session/start","params":{"commandId":"0199aaaa-0000-7000-8000-000000000001"}}"#;
    let text = format!("{start}\n{INITIALIZE}\n{INITIALIZE}\n{INITIALIZED}\n");
    let done = run(&["serve", "--strict"], text.as_bytes());
    let frames = done.frames();
    let kind = |frame: &Value| frame["error"]["data"]["kind"].as_str().map(str::to_owned);
    assert_eq!(kind(&frames[0]).as_deref(), Some("notInitialized"));
    assert!(frames[1]["result"].is_object());
    assert_eq!(kind(&frames[2]).as_deref(), Some("alreadyInitialized"));
    assert!(done.stderr.contains("fake-msp: oracle: HSK-"), "{}", done.stderr);
    assert_eq!(done.code(), Some(1));
}

#[test]
fn a_hundred_mebibytes_are_passed_over_and_the_next_line_is_read() {
    let mut live = Live::start(&["serve", "--strict"]);
    live.say(INITIALIZE);
    live.say(INITIALIZED);
    live.write(br#"{"jsonrpc":"2.0","id":7,"method":"turn/start","params":{"t":""#);
    let chunk = vec![b'a'; 1024 * 1024];
    for _ in 0..100 {
        live.write(&chunk);
    }
    live.say("\"}}");
    let refusal = live.until(|frame| frame["id"] == 7);
    assert_eq!(code(&refusal), -32002);
    assert_eq!(refusal["error"]["data"]["limitBytes"], 10_485_760);
    live.say(r#"{"jsonrpc":"2.0","id":8,"method":"model/list"}"#);
    live.until(|frame| frame["id"] == 8);
    let done = live.finish();
    assert_eq!(done.code(), Some(1));
    assert!(done.stderr.contains("FRM-"), "{}", done.stderr);
}

#[test]
fn a_hundred_mebibytes_without_a_newline_are_not_kept() {
    let mut live = Live::start(&["serve"]);
    let chunk = vec![0; 1024 * 1024];
    for _ in 0..100 {
        live.write(&chunk);
    }
    let done = live.finish();
    assert_eq!(done.code(), Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("FRM-12"), "{}", done.stderr);
}

#[test]
fn a_client_that_closes_early_is_reported_when_a_line_was_cut() {
    let none = run(&["serve", "--strict"], b"");
    assert_eq!((none.code(), none.stdout.as_str(), none.stderr.as_str()), (Some(0), "", ""));
    let cut = run(&["serve", "--strict"], &INITIALIZE.as_bytes()[..40]);
    assert_eq!(cut.code(), Some(1));
    assert!(cut.stderr.contains("FRM-12"), "{}", cut.stderr);

    // In the middle of a turn: the turn is cancelled, the end is clean.
    let mut live = Live::start(&["serve", "--strict"]);
    live.prompt("wait");
    live.until(|frame| frame["method"] == "turn/started");
    let done = live.finish();
    assert_eq!(done.code(), Some(0), "{}", done.stderr);
    let frames = done.frames();
    let ends: Vec<&str> =
        frames.iter().rev().take(2).filter_map(|f| f["method"].as_str()).collect();
    assert_eq!(ends, ["session/closed", "turn/completed"]);
    assert_eq!(frames[frames.len() - 2]["params"]["terminal"], "cancelled");
}

#[test]
fn a_client_that_never_reads_and_goes_away_does_not_keep_the_host_alive() {
    let mut child = program(&["serve"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let frames = [INITIALIZE.to_owned(), INITIALIZED.to_owned()].into_iter().chain(
        (2..5000)
            .map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "model/list" }).to_string()),
    );
    let text: String = frames.map(|frame| frame + "\n").collect();
    // The host stops reading once nobody takes its answers, so this may block: in a thread.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(text.as_bytes());
    });
    drop(child.stdout.take());
    // Without a reader the host goes on to the end of stdin.
    writer.join().unwrap();
    let stderr = child.stderr.take().unwrap();
    let text = std::io::read_to_string(stderr).unwrap();
    assert!(text.contains("nobody reads stdout"), "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_client_that_reads_late_loses_nothing() {
    let mut child = program(&["serve"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |wanted: &dyn Fn(&Value) -> bool| loop {
        let frame: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if wanted(&frame) {
            return frame;
        }
    };
    let command = |n: u8| format!("0199aaaa-0000-7000-8000-{n:012}");
    let start = json!({ "jsonrpc": "2.0", "id": 2, "method": "session/start",
        "params": { "commandId": command(1) } });
    writeln!(stdin, "{INITIALIZE}\n{INITIALIZED}\n{start}").unwrap();
    let session = until(&|frame| frame["id"] == 2)["result"]["session"]["sessionId"].clone();
    // Far more than a pipe holds, and nothing of it is read before everything was asked.
    let input = json!([{ "type": "text", "text": "burst 5000 1000" }]);
    let turn = json!({ "jsonrpc": "2.0", "id": 3, "method": "turn/start",
        "params": { "commandId": command(2), "sessionId": session, "input": input } });
    writeln!(stdin, "{turn}").unwrap();
    for id in 100..150 {
        let ask = json!({ "jsonrpc": "2.0", "id": id, "method": "model/list" });
        writeln!(stdin, "{ask}").unwrap();
    }
    for id in 100..150 {
        until(&|frame| frame["id"] == id);
    }
    until(&|frame| frame["method"] == "turn/completed");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_delayed_handshake_comes_when_its_time_has_come() {
    let mut live = Live::start(&["serve", "--fault", "delay:initialize:30,late:model/list:20"]);
    live.say(INITIALIZE);
    live.say(INITIALIZED);
    live.say(r#"{"jsonrpc":"2.0","id":8,"method":"model/list"}"#);
    live.say(r#"{"jsonrpc":"2.0","id":9,"method":"session/list"}"#);
    let order: Vec<Value> =
        (0..3).map(|_| live.until(|f| f["id"].is_u64())["id"].clone()).collect();
    assert_eq!(order, [json!(1), json!(9), json!(8)], "the late answer is overtaken");
    assert_eq!(live.finish().code(), Some(0));
}

#[test]
fn a_lost_acknowledgement_does_not_stop_the_turn() {
    let mut live = Live::start(&["serve", "--fault", "lost:turn/start"]);
    live.prompt("hello");
    live.until(|frame| frame["method"] == "turn/completed");
    let done = live.finish();
    assert!(done.frames().iter().all(|frame| frame["id"] != 3));
}

#[test]
fn another_build_can_be_played() {
    let faults = "fingerprint:sha256:00,model:other,legacy-profile,error:session/setModel:-32030";
    let mut live = Live::start(&["serve", "--fault", faults]);
    live.say(INITIALIZE);
    let answer = live.until(|frame| frame["id"] == 1);
    assert_eq!(answer["result"]["schema"]["fingerprint"], "sha256:00");
    live.say(INITIALIZED);
    live.say(r#"{"jsonrpc":"2.0","id":2,"method":"session/start","params":{"commandId":"0199aaaa-0000-7000-8000-000000000001"}}"#);
    let session = live.until(|frame| frame["id"] == 2)["result"]["session"]["sessionId"].clone();
    let read = json!({ "jsonrpc": "2.0", "id": 3, "method": "session/read",
        "params": { "sessionId": session } });
    live.say(&read.to_string());
    assert_eq!(live.until(|frame| frame["id"] == 3)["result"]["session"]["modelId"], "other");
    let resume = json!({ "jsonrpc": "2.0", "id": 4, "method": "session/resume", "params": {
        "sessionId": session, "commandId": "0199aaaa-0000-7000-8000-000000000002" } });
    live.say(&resume.to_string());
    assert_eq!(code(&live.until(|frame| frame["id"] == 4)), -32603);
    assert_eq!(live.finish().code(), Some(0));
}
