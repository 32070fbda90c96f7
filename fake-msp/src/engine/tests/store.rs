use serde_json::{Value, json};

use super::super::{Host, Input, Options, Output};
use super::shelf::Shelf;
use super::{Talk, outline};
use crate::profiles::Profile;

impl Talk {
    /// The `boot`-th host over a shelf, after the handshake.
    fn over(shelf: &Shelf, version: &str, boot: u64) -> Self {
        Self::over_with(shelf, version, Options { boot, ..Options::default() })
    }

    fn over_with(shelf: &Shelf, version: &str, options: Options) -> Self {
        let profile = Profile::find(version).expect("a known profile");
        let mut talk = Self::with(version, Options::default());
        talk.host = Host::with_store(profile, options, shelf.open());
        talk.next_command = talk.host.options.boot * 1000;
        talk.initialize(json!({}));
        talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        talk
    }

    fn resume(&mut self, session: &str) -> Value {
        self.act("session/resume", json!({ "sessionId": session }))
    }

    fn items(&mut self, session: &str) -> Value {
        let read = json!({ "sessionId": session, "excludeItems": false });
        self.request("session/read", read)["result"]["history"]["items"].clone()
    }

    /// What the host wrote to stderr.
    fn stderr(&self) -> Vec<String> {
        let texts = self.effects.iter().filter_map(|effect| match effect {
            Output::Stderr(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }
}

/// A shelf with one finished turn, told by a host that is gone.
fn told(prompt: &str) -> (Shelf, String, Talk) {
    let shelf = Shelf::default();
    let mut talk = Talk::over(&shelf, "1.4.14", 0);
    let session = talk.session();
    talk.prompt(&session, prompt);
    talk.settle();
    (shelf, session, talk)
}

#[test]
fn a_session_outlives_its_host_and_goes_on_in_the_next_one() {
    let (shelf, session, mut first) = told("hello");
    let before = first.items(&session);
    first.input(Input::Eof);
    drop(first);

    let mut next = Talk::over(&shelf, "1.4.14", 1);
    let rows = next.request("session/list", json!({}))["result"]["sessions"].clone();
    assert_eq!(rows[0]["sessionId"], session);
    assert_eq!(rows[0]["status"], "notLoaded");
    assert_eq!(rows[0]["title"], "hello");
    assert_eq!(rows[0]["turnCount"], 1);
    assert_eq!(next.items(&session), before, "a read folds the same log");

    let answer = next.resume(&session);
    assert_eq!(answer["result"]["history"]["items"], before);
    assert_eq!(answer["result"]["lastTurn"]["terminal"], "completed");
    assert_eq!(answer["result"]["session"]["approvalMode"]["source"], "replay");
    next.prompt(&session, "again");
    next.settle();
    assert_eq!(next.items(&session).as_array().unwrap().len(), 6);

    let page = next.request("view/page", json!({ "sessionId": session, "limit": 1000 }));
    let mut cursors: Vec<String> = page["result"]["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["params"]["viewCursor"].to_string())
        .collect();
    let all = cursors.len();
    cursors.sort();
    cursors.dedup();
    assert_eq!(cursors.len(), all, "CUR-1: no cursor twice over two hosts");
}

#[test]
fn a_session_without_a_turn_leaves_nothing_behind() {
    let shelf = Shelf::default();
    let mut talk = Talk::over(&shelf, "1.4.14", 0);
    let session = talk.session();
    assert_eq!(shelf.text(&session), None, "LB-62");
    let listed = talk.request("session/list", json!({}));
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], session);
    drop(talk);

    let mut next = Talk::over(&shelf, "1.4.14", 1);
    assert_eq!(next.resume(&session)["error"]["code"], -32020);
}

#[test]
fn one_host_writes_and_others_only_read() {
    let (shelf, session, mut first) = told("hello");
    let mut second = Talk::over(&shelf, "1.4.14", 1);

    let refused = second.resume(&session);
    assert_eq!(refused["error"]["code"], -32021);
    assert_eq!(refused["error"]["data"]["sessionId"], session);
    assert_eq!(second.items(&session).as_array().unwrap().len(), 3, "reads need no lease");

    first.prompt(&session, "more");
    first.settle();
    assert_eq!(second.items(&session).as_array().unwrap().len(), 6, "and see what was added");

    first.act("session/leave", json!({ "sessionId": session }));
    assert_eq!(second.resume(&session)["result"]["session"]["status"], "idle");
    let input = json!([{ "type": "text", "text": "x" }]);
    let late = first.act("turn/start", json!({ "sessionId": session, "input": input }));
    assert_eq!(late["error"]["code"], -32024, "CMD-10");
    assert_eq!(first.resume(&session)["error"]["code"], -32021);
}

#[test]
fn a_cursor_that_is_refused_costs_no_lease() {
    let (shelf, session, first) = told("hello");
    drop(first);
    let mut second = Talk::over(&shelf, "1.4.14", 1);
    let params = json!({ "sessionId": session, "cursor": "v:nonsense:1" });
    assert_eq!(second.act("session/resume", params)["error"]["code"], -32011);
    let mut third = Talk::over(&shelf, "1.4.14", 2);
    assert!(third.resume(&session)["result"].is_object());
}

#[test]
fn an_interrupted_turn_is_found_failed_once_and_for_all() {
    let shelf = Shelf::default();
    let mut first = Talk::over(&shelf, "1.4.14", 0);
    let session = first.session();
    let turn = first.prompt(&session, "run ls");
    first.settle();
    let mut reader = Talk::over(&shelf, "1.4.14", 1);
    let pending = reader.request("session/read", json!({ "sessionId": session }));
    assert_eq!(pending["result"]["pendingRequests"].as_array().unwrap().len(), 1, "it runs there");
    drop(first); // The process died: no word on the wire, the lease is free.

    let mut next = Talk::over(&shelf, "1.4.14", 2);
    let read = reader.request("session/read", json!({ "sessionId": session }));
    assert_eq!(read["result"]["lastTurn"]["reason"], "crash_inferred", "SES-11");
    assert_eq!(read["result"]["pendingRequests"], json!([]));
    let lines = shelf.text(&session).unwrap().lines().count();
    let answer = next.resume(&session);
    let ended = json!({ "turnId": turn, "terminal": "failed", "reason": "crash_inferred" });
    assert_eq!(answer["result"]["lastTurn"], ended);
    assert!(shelf.text(&session).unwrap().lines().count() > lines, "now it is written");
    drop(next);

    let mut last = Talk::over(&shelf, "1.4.14", 3);
    assert_eq!(last.resume(&session)["result"]["lastTurn"], ended);
    let page = last.request("view/page", json!({ "sessionId": session, "limit": 1000 }));
    let ends = page["result"]["events"].as_array().unwrap().iter();
    assert_eq!(ends.filter(|event| event["method"] == "turn/completed").count(), 1, "HOST-11");
}

#[test]
fn a_torn_last_line_is_cut_and_unknown_records_are_passed_over() {
    let (shelf, session, mut first) = told("hello");
    let before = first.items(&session);
    drop(first);
    shelf.spoil(&session, |text| {
        let unknown = text
            .lines()
            .next_back()
            .unwrap()
            .replace("\"payload_type\":\"", "\"payload_type\":\"x.");
        format!("{text}{unknown}\n{{\"schema_version\":1,\"id")
    });

    let mut next = Talk::over(&shelf, "1.4.14", 1);
    assert_eq!(next.items(&session), before);
    assert!(next.stderr().iter().any(|text| text.contains("1 records of unknown kinds")));
    next.resume(&session);
    next.prompt(&session, "again");
    next.settle();
    let text = shelf.text(&session).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_hole_in_the_log_is_shown_where_the_host_has_words_for_it() {
    let (shelf, session, first) = told("hello");
    drop(first);
    let mut cut = String::new();
    shelf.spoil(&session, |text| {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| line.contains("\"reasoning\"")).unwrap();
        cut = lines[at].to_owned();
        lines[at] = "\u{0}\u{0}\u{0}";
        format!("{}\n", lines.join("\n"))
    });
    assert!(cut.contains("item/started"));

    let mut new = Talk::over(&shelf, "1.4.14", 1);
    let items = new.items(&session);
    let damaged = items.as_array().unwrap().iter().find(|item| item["kind"] == "damagedRange");
    assert_eq!(damaged.unwrap()["damagedRange"]["unreadableLines"], 1);
    let page = new.request("view/page", json!({ "sessionId": session, "limit": 1000 }));
    assert!(page["result"]["events"].to_string().contains("damagedRange"));

    let mut old = Talk::over(&shelf, "1.3.0", 2);
    let read = old.request("session/read", json!({ "sessionId": session }));
    assert_eq!(read["error"]["code"], -32603, "half a history is not shown as a whole one");
    assert_eq!(old.resume(&session)["error"]["code"], -32603);
}

#[test]
fn a_log_of_another_session_and_a_log_without_a_head_are_refused() {
    let (shelf, session, first) = told("hello");
    drop(first);
    let text = shelf.text(&session).unwrap();
    let mut next = Talk::over(&shelf, "1.4.14", 1);
    shelf.spoil(&session, |text| text.replace(&session, "0198f0aa-1111-7000-8000-0000000000aa"));
    assert_eq!(next.resume(&session)["error"]["code"], -32025);
    assert_eq!(next.request("session/list", json!({}))["result"]["sessions"], json!([]));
    shelf.spoil(&session, |_| {
        let events = text.lines().filter(|line| !line.contains("session.metadata"));
        events.map(|line| format!("{line}\n")).collect()
    });
    assert_eq!(next.resume(&session)["error"]["code"], -32603);
    shelf.spoil(&session, |_| String::new());
    assert_eq!(next.resume(&session)["error"]["code"], -32603);
}

#[test]
fn the_ledger_is_kept_with_the_session() {
    let (shelf, session, mut first) = told("hello");
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "sessionId": session, "input": input, "commandId": first.command() });
    let original = first.request("turn/start", params.clone());
    first.settle();
    drop(first);

    let mut next = Talk::over(&shelf, "1.4.14", 1);
    next.resume(&session);
    let before = next.frames.len();
    let replayed = next.request("turn/start", params.clone());
    assert_eq!(replayed["result"], original["result"], "CMD-4 over a restart (CMD-6)");
    assert_eq!(outline(&next.frames[before..]), ["result"], "nothing ran again");
    let mut other = params;
    other["input"][0]["text"] = "different".into();
    let conflict = next.request("turn/start", other);
    assert_eq!(conflict["error"]["data"]["reason"], "command_id_conflict");
}

#[test]
fn an_intake_without_an_answer_is_abandoned() {
    let (shelf, session, mut first) = told("hello");
    let input = json!([{ "type": "text", "text": "hello" }]);
    let params = json!({ "sessionId": session, "input": input, "commandId": first.command() });
    first.request("turn/start", params.clone());
    first.settle();
    drop(first);
    let command = params["commandId"].as_str().unwrap().to_owned();
    shelf.spoil(&session, |text| {
        let cut = text
            .lines()
            .position(|line| line.contains("runtime.command.settled") && line.contains(&command));
        let kept: Vec<&str> = text.lines().take(cut.unwrap()).collect();
        format!("{}\n", kept.join("\n"))
    });

    let mut next = Talk::over(&shelf, "1.4.14", 1);
    let replayed = next.request("turn/start", params);
    assert_eq!(replayed["error"]["data"]["reason"], "abandoned", "CMD-6");
}

#[test]
fn a_store_that_fails_ends_the_host_before_it_promises_anything() {
    let (shelf, session, mut talk) = told("hello");
    shelf.break_down();
    let input = json!([{ "type": "text", "text": "x" }]);
    let answer = talk.act("turn/start", json!({ "sessionId": session, "input": input }));
    assert!(talk.effects.contains(&Output::Exit { code: 1 }), "PRC: unhandled failure");
    assert!(talk.stderr().iter().any(|text| text.contains("no space left")));
    assert_eq!(answer, Value::Null, "an ack would be a promise");
}

#[test]
fn the_saved_auto_review_profile_resumes_only_where_it_was_measured_to() {
    let shelf = Shelf::default();
    let mut talk = Talk::over(&shelf, "1.4.14", 0);
    let start = json!({ "workspaceRoot": "/w", "permissionProfile": ":auto-review" });
    let answer = talk.act("session/start", start);
    let session = answer["result"]["session"]["sessionId"].as_str().unwrap().to_owned();
    talk.prompt(&session, "hello");
    talk.settle();
    drop(talk);
    for (boot, version, works) in [(1, "1.1.1", true), (2, "1.2.1", false), (3, "1.3.0", false)] {
        let mut talk = Talk::over(&shelf, version, boot);
        let answer = talk.resume(&session);
        assert_eq!(answer["result"].is_object(), works, "{version}: SES-13");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(message.contains(":auto-review"), !works);
        let input = json!([{ "type": "text", "text": "x" }]);
        if !works {
            let late = talk.act("turn/start", json!({ "sessionId": session, "input": input }));
            assert_eq!(late["error"]["code"], -32024);
        }
    }
}

#[test]
fn copies_for_reading_do_not_pile_up() {
    let shelf = Shelf::default();
    let mut talk = Talk::over(&shelf, "1.4.14", 0);
    let mut made = Vec::new();
    for _ in 0..20 {
        let session = talk.session();
        talk.prompt(&session, "hello");
        talk.settle();
        made.push(session);
    }
    drop(talk);
    let mut next = Talk::over(&shelf, "1.4.14", 1);
    for session in &made {
        assert!(
            next.request("session/read", json!({ "sessionId": session }))["result"].is_object()
        );
    }
    assert!(next.host.sessions.len() <= 8, "{}", next.host.sessions.len());
}
