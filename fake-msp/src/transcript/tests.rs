//! A recording is played to clients of every kind.

use serde_json::json;

use super::*;

const SERVER_STARTED: &str =
    r#"{"method":"turn/started","jsonrpc":"2.0","params":{"turnId":"c-2","viewCursor":"v:s:4"}}"#;

fn recording() -> Transcript {
    let rows = [
        (
            "client",
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"a","version":"0"}}}"#,
        ),
        ("server", r#"{"jsonrpc":"2.0","id":1,"result":{"grantedCapabilities":[]}}"#),
        ("client", r#"{"jsonrpc":"2.0","method":"initialized"}"#),
        (
            "client",
            r#"{"jsonrpc":"2.0","id":"b9","method":"turn/start","params":{"sessionId":"s","commandId":"c-2","input":[{"type":"text","text":"hi"}],"futureOptionalField":1}}"#,
        ),
        ("server", r#"{"jsonrpc":"2.0","id":"b9","result":{"commandId":"c-2","turnId":"c-2"}}"#),
        ("server", SERVER_STARTED),
        (
            "server",
            r#"{"jsonrpc":"2.0","id":1,"method":"approval/request","params":{"approvalId":"a"}}"#,
        ),
        ("client", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        (
            "client",
            r#"{"jsonrpc":"2.0","id":3,"method":"turn/cancel","params":{"sessionId":"s","commandId":"c-3","turnId":"c-2"}}"#,
        ),
        ("server", r#"{"jsonrpc":"2.0","id":3,"result":{"commandId":"c-3"}}"#),
    ];
    let text: String =
        rows.iter().map(|(dir, raw)| format!("{}\n", json!({ "dir": dir, "raw": raw }))).collect();
    Transcript::parse(&text).unwrap()
}

struct Play {
    replay: Replay,
    frames: Vec<Value>,
    raw: Vec<String>,
    stderr: String,
    code: Option<i32>,
}

impl Play {
    fn new(transcript: Transcript) -> Self {
        let mut play = Self {
            replay: Replay::new(transcript),
            frames: Vec::new(),
            raw: Vec::new(),
            stderr: String::new(),
            code: None,
        };
        play.drain();
        play
    }

    fn drain(&mut self) {
        while let Some(output) = self.replay.poll_output() {
            match output {
                Output::Line(line) => {
                    self.frames.push(serde_json::from_slice(&line).unwrap());
                    self.raw.push(String::from_utf8(line).unwrap());
                }
                Output::Stderr(text) => self.stderr.push_str(&format!("{text}\n")),
                Output::Exit { code } => self.code = Some(code),
                other => panic!("{other:?}"),
            }
        }
    }

    fn send(&mut self, frame: &Value) {
        self.input(Input::Line(frame.to_string().as_bytes()));
    }

    fn input(&mut self, input: Input<'_>) {
        self.replay.handle(input);
        self.drain();
    }

    /// Plays the beginning with ids of its own.
    fn begun() -> Self {
        let mut play = Self::new(recording());
        play.send(&json!({ "params": { "clientInfo": { "name": "mine", "x": 1 } },
            "method": "initialize", "jsonrpc": "2.0", "id": "first" }));
        play.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        play
    }

    fn turn(command: &str) -> Value {
        json!({ "jsonrpc": "2.0", "id": 77, "method": "turn/start", "params": {
            "sessionId": "s", "commandId": command, "input": [{ "type": "text", "text": "hi" }] } })
    }
}

#[test]
fn a_client_may_choose_its_own_ids_and_is_answered_with_them() {
    let mut play = Play::begun();
    assert_eq!(play.frames[0]["id"], "first");
    play.send(&Play::turn("mine"));
    assert_eq!(play.frames[1]["id"], 77);
    assert_eq!(play.frames[1]["result"]["turnId"], "mine");
    assert_eq!(play.frames[2]["params"]["turnId"], "mine");
    assert_eq!(play.frames[3]["id"], 1, "a request of the host keeps its id");
    play.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    play.send(&json!({ "jsonrpc": "2.0", "id": 78, "method": "turn/cancel",
        "params": { "sessionId": "s", "commandId": "other", "turnId": "mine" } }));
    play.input(Input::Eof);
    assert_eq!(play.code, Some(0), "{}", play.stderr);
    assert!(play.stderr.contains("5 of 5 matched, 0 unexpected, 0 missing"), "{}", play.stderr);
}

#[test]
fn the_recorded_client_gets_the_recorded_bytes() {
    let transcript = recording();
    let mut play = Play::new(transcript.clone());
    for line in transcript.lines.iter().filter(|line| line.dir == Dir::Client) {
        play.input(Input::Line(line.raw.as_bytes()));
    }
    let server = transcript.lines.iter().filter(|line| line.dir == Dir::Server);
    assert_eq!(play.raw, server.map(|line| line.raw.clone()).collect::<Vec<_>>());
    assert!(play.raw.contains(&SERVER_STARTED.to_owned()));
}

#[test]
fn what_was_learned_from_the_wire_must_come_back_exactly() {
    let mut play = Play::begun();
    play.send(&Play::turn("mine"));
    play.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    play.send(&json!({ "jsonrpc": "2.0", "id": 78, "method": "turn/cancel",
        "params": { "sessionId": "s", "commandId": "other", "turnId": "c-2" } }));
    assert_eq!(play.code, Some(EXIT_DEVIATED));
    assert!(play.stderr.contains("line 9: the client deviates"), "{}", play.stderr);
    assert!(play.stderr.contains("params.turnId: recorded \"mine\", sent another string"));
}

#[test]
fn a_deviation_names_the_paths_and_never_what_was_sent() {
    let mut play = Play::begun();
    let mut turn = Play::turn("mine");
    turn["params"]["input"][0]["text"] = "my secret".into();
    turn["params"]["more"] = json!([1, 2]);
    turn["params"].as_object_mut().unwrap().remove("sessionId");
    play.send(&turn);
    let text = &play.stderr;
    for wanted in [
        "line 4: the client deviates",
        "recorded  turn/start (request)",
        "params.input[0].text: recorded \"hi\", sent another string, of 9 characters",
        "params.more: not recorded, sent an array of 2",
        "params.sessionId: recorded \"s\", missing",
        "2 of 5 matched, 1 unexpected, 3 missing; server lines: 1 of 5 sent",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(!text.contains("my secret"));
    assert_eq!(play.frames.last().unwrap()["error"]["code"], -32600);
    assert_eq!(play.frames.last().unwrap()["id"], 77);
    assert_eq!(play.code, Some(EXIT_DEVIATED));
    play.send(&Play::turn("mine"));
    assert_eq!(play.frames.len(), 2, "the replay is over");
}

#[test]
fn a_skipped_line_is_named() {
    let mut play = Play::new(recording());
    play.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "clientInfo": { "name": "mine" } } }));
    play.send(&Play::turn("mine"));
    assert!(play.stderr.contains("has this frame later, at line 4"), "{}", play.stderr);
    assert!(play.stderr.contains("missing     line 3: initialized (notification)"));
}

#[test]
fn ids_are_used_once_at_a_time() {
    for (mut frame, wanted) in [
        (Play::turn("mine"), "id: must be an integer or a string, sent null"),
        (Play::turn("mine"), "id: recorded \"b9\", missing"),
    ] {
        let mut play = Play::begun();
        if wanted.contains("missing") {
            frame.as_object_mut().unwrap().remove("id");
        } else {
            frame["id"] = Value::Null;
        }
        play.send(&frame);
        assert!(play.stderr.contains(wanted), "{}", play.stderr);
    }
    let mut play = Play::begun();
    play.send(&Play::turn("mine"));
    play.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    play.send(&json!({ "jsonrpc": "2.0", "id": 78, "method": "turn/cancel",
        "params": { "sessionId": "s", "commandId": "mine", "turnId": "mine" } }));
    assert!(play.stderr.contains("params.commandId: must be a new one, is that of line 4"));
}

#[test]
fn lines_that_are_no_frames_get_the_error_of_the_protocol() {
    for (input, code) in [
        (Input::Line(b"{nope"), -32700),
        (Input::Line(&[0xff, 0xfe, 0]), -32700),
        (Input::Line(b"[]"), -32600),
        (Input::TooLong { prefix: b"{" }, -32002),
        (Input::Tail(b"{\"a"), -32700),
    ] {
        let mut play = Play::begun();
        play.input(input);
        assert_eq!(play.frames[1]["error"]["code"], code, "{input:?}");
        assert_eq!(play.code, Some(EXIT_DEVIATED), "{input:?}");
    }
}

#[test]
fn leaving_early_and_saying_more_are_reported() {
    let mut play = Play::begun();
    play.input(Input::Line(b" \r"));
    play.input(Input::Eof);
    assert_eq!(play.code, Some(EXIT_DEVIATED));
    assert!(play.stderr.contains("missing     line 8: the answer to request 1"), "{}", play.stderr);

    let text = format!("{}\n", json!({ "dir": "client", "raw": "{\"method\":\"a\"}", "ms": 3 }));
    let mut play = Play::new(Transcript::parse(&text).unwrap());
    play.send(&json!({ "method": "a" }));
    play.send(&json!({ "method": "a" }));
    assert!(play.stderr.contains("after the last line"), "{}", play.stderr);
    assert_eq!(play.code, Some(EXIT_DEVIATED));
}

#[test]
fn a_session_that_the_client_names_may_be_named_otherwise() {
    let rows = [
        (
            "client",
            json!({ "id": 1, "method": "session/start",
            "params": { "commandId": "c", "sessionId": "the-recorded-session" } }),
        ),
        (
            "server",
            json!({ "id": 1, "result": { "path": "/s/the-recorded-session/x",
            "viewCursor": "v:the-recorded-session:3" } }),
        ),
        (
            "client",
            json!({ "id": 2, "method": "view/page", "params": {
            "sessionId": "the-recorded-session", "cursor": "v:the-recorded-session:3" } }),
        ),
    ];
    let text: String = rows
        .iter()
        .map(|(dir, raw)| format!("{}\n", json!({ "dir": dir, "raw": raw.to_string() })))
        .collect();
    let play = |cursor: &str| {
        let mut play = Play::new(Transcript::parse(&text).unwrap());
        play.send(&json!({ "id": 1, "method": "session/start",
            "params": { "commandId": "k", "sessionId": "my-own" } }));
        assert_eq!(
            play.frames[0]["result"],
            json!({ "path": "/s/my-own/x", "viewCursor": "v:my-own:3" })
        );
        play.send(&json!({ "id": 2, "method": "view/page",
            "params": { "sessionId": "my-own", "cursor": cursor } }));
        play.input(Input::Eof);
        play.code
    };
    assert_eq!(play("v:my-own:3"), Some(0));
    assert_eq!(play("v:my-own:4"), Some(EXIT_DEVIATED));
    assert_eq!(play("v:the-recorded-session:3"), Some(EXIT_DEVIATED));
}

#[test]
fn numbers_are_equal_however_they_are_written() {
    let differences = |one: &str, two: &str| {
        let mut out = Vec::new();
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        compare::compare(&read(one), &read(two), "", &mut out);
        out.len()
    };
    assert_eq!(differences("[1, 2.0, {\"a\": 1, \"b\": 2}]", "[1.0, 2, {\"b\": 2, \"a\": 1}]"), 0);
    assert_eq!(differences("9007199254740993", "9007199254740992"), 1);
    assert_eq!(differences("[1]", "[1, 2]"), 1);
    assert_eq!(differences("1", "\"1\""), 1);
    assert_eq!(differences("\"Bearer [redacted]\"", "\"Bearer abc\""), 0, "a masked secret");
}

#[test]
fn a_bad_recording_is_refused_with_its_line() {
    for (text, wanted) in [
        ("\n{}\n", "line 2: not of the form"),
        ("{\"dir\":\"client\",\"raw\":\"{\"}", "line 1: `raw` is no JSON"),
        ("{\"dir\":\"server\",\"raw\":\"[]\"}", "line 1: `raw` is no JSON object"),
        ("{\"dir\":\"both\",\"raw\":\"{}\"}", "line 1: not of the form"),
        (" \n", "no lines"),
    ] {
        let error = Transcript::parse(text).unwrap_err();
        assert!(error.to_string().starts_with(wanted), "{error}");
    }
}

/// Whatever one wrong byte does to a line, the client is answered or reported, and the replay ends once.
#[test]
fn any_wrong_byte_ends_in_a_verdict() {
    let transcript = recording();
    let clients: Vec<&Line> = transcript.lines.iter().filter(|l| l.dir == Dir::Client).collect();
    let mut departures = 0;
    for (number, line) in clients.iter().enumerate() {
        for at in 0..line.raw.len() {
            for byte in *b"\"{1,\xff" {
                let mut play = Play::new(transcript.clone());
                for before in &clients[..number] {
                    play.input(Input::Line(before.raw.as_bytes()));
                }
                let mut bytes = line.raw.clone().into_bytes();
                bytes[at] = byte;
                play.input(Input::Line(&bytes));
                if play.code.is_none() {
                    play.input(Input::Eof);
                }
                let report = play.replay.report();
                assert_eq!(play.code, Some(if report.is_clean() { 0 } else { EXIT_DEVIATED }));
                assert_eq!(report.matched + report.missing.len(), report.client_lines);
                departures += usize::from(report.deviation.is_some());
            }
        }
    }
    assert!(departures > 1000, "{departures}");
}
