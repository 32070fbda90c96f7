//! The binary over a session store: start, talk, kill, start again.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fake-msp-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn logs(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        find(&self.0, &mut found);
        found.sort();
        found
    }
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, found);
        } else if path.ends_with("session.jsonl") {
            found.push(path);
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A live host over a store.
struct Live {
    child: Child,
    stdout: BufReader<ChildStdout>,
    ids: u64,
    commands: u64,
}

impl Live {
    fn start(folder: &Folder, commands: u64) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-msp"));
        command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in fake_msp::cli::ENVIRONMENT {
            command.env_remove(name);
        }
        command.env("FAKE_MSP_STORE", &folder.0);
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut live = Self { child, stdout, ids: 0, commands };
        let info = json!({ "name": "t", "version": "1" });
        let hello = live.request("initialize", json!({ "clientInfo": info }));
        assert_eq!(
            hello["result"]["museHome"],
            fs::canonicalize(&folder.0).unwrap().to_str().unwrap()
        );
        live.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        live
    }

    fn send(&mut self, frame: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{frame}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).expect(&line)
    }

    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next();
            if wanted(&frame) {
                return frame;
            }
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.ids += 1;
        let id = self.ids;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.until(|frame| frame["id"] == id && frame.get("method").is_none())
    }

    fn act(&mut self, method: &str, mut params: Value) -> Value {
        self.commands += 1;
        params["commandId"] = format!("0199aaaa-0000-7000-8000-{:012}", self.commands).into();
        self.request(method, params)
    }

    fn session(&mut self, root: &str) -> String {
        let answer = self.act("session/start", json!({ "workspaceRoot": root }));
        answer["result"]["session"]["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) {
        let input = json!([{ "type": "text", "text": text }]);
        self.act("turn/start", json!({ "sessionId": session, "input": input }));
    }

    fn told(&mut self, session: &str, text: &str) {
        self.prompt(session, text);
        self.until(|frame| frame["method"] == "turn/completed");
    }

    fn items(&mut self, session: &str) -> Value {
        let params = json!({ "sessionId": session, "excludeItems": false });
        self.request("session/read", params)["result"]["history"]["items"].clone()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn close(mut self) -> String {
        drop(self.child.stdin.take());
        let mut rest = Vec::new();
        self.stdout.read_to_end(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        String::from_utf8(rest).unwrap()
    }
}

#[test]
fn a_session_is_read_and_resumed_by_the_next_process() {
    let folder = Folder::new("resume");
    let mut first = Live::start(&folder, 0);
    let session = first.session("/w");
    assert!(folder.logs().is_empty(), "LB-62: nothing before the first turn");
    first.told(&session, "hello");
    let before = first.items(&session);
    assert!(first.close().contains("hostShutdown"));

    let logs = folder.logs();
    assert_eq!(logs.len(), 1);
    let place = logs[0].strip_prefix(&folder.0).unwrap().to_str().unwrap().to_owned();
    assert_eq!(place, format!("sessions/2026/01/01/{session}/session.jsonl"), "LB-60");
    let head = fs::read_to_string(&logs[0]).unwrap();
    let records: Vec<Value> =
        head.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().all(|record| record["stream"]["id"] == session));
    assert_eq!(records[0]["payload_type"], "runtime.session.metadata");
    assert_eq!(records[0]["payload"]["record"]["workspace_root"], "/w");
    let intent = records.iter().find(|r| r["payload_type"] == "runtime.user_intent.accepted");
    assert_eq!(intent.unwrap()["payload"]["refill_blocks"][0]["text"], "hello");

    let mut next = Live::start(&folder, 100);
    let rows = next.request("session/list", json!({ "workspaceRoot": "/w" }));
    assert_eq!(rows["result"]["sessions"][0]["title"], "hello");
    assert_eq!(
        rows["result"]["sessions"][0]["path"],
        fs::canonicalize(&logs[0]).unwrap().to_str().unwrap()
    );
    assert_eq!(next.items(&session), before);
    let answer = next.act("session/resume", json!({ "sessionId": session }));
    assert_eq!(answer["result"]["history"]["items"], before);
    next.told(&session, "again");
    let other = next.session("/v");
    next.told(&other, "elsewhere");
    let rows = next.request("session/list", json!({}));
    assert_eq!(rows["result"]["sessions"][0]["sessionId"], other, "later hosts are later");
    next.close();
}

#[test]
fn a_killed_hosts_turn_is_closed_by_the_next_one() {
    let folder = Folder::new("kill");
    let mut first = Live::start(&folder, 0);
    let session = first.session("/w");
    first.told(&session, "hello");
    first.prompt(&session, "run ls");
    first.until(|frame| frame["method"] == "approval/request");

    let mut second = Live::start(&folder, 100);
    let refused = second.act("session/resume", json!({ "sessionId": session }));
    assert_eq!(refused["error"]["code"], -32021, "LB-64");
    let read = second.request("session/read", json!({ "sessionId": session }));
    assert_eq!(read["result"]["pendingRequests"][0]["kind"], "approval", "reads need no lease");
    first.kill();

    let answer = second.act("session/resume", json!({ "sessionId": session }));
    assert_eq!(answer["result"]["lastTurn"]["reason"], "crash_inferred", "SES-11");
    assert_eq!(answer["result"]["pendingRequests"], json!([]));
    second.told(&session, "go on");
    second.close();
}

#[test]
fn a_line_torn_by_a_crash_costs_only_itself() {
    let folder = Folder::new("torn");
    let mut first = Live::start(&folder, 0);
    let session = first.session("/w");
    first.told(&session, "hello");
    let before = first.items(&session);
    first.kill();
    let log = folder.logs().remove(0);
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(b"{\"schema_version\":1,\"id\":\"x").unwrap();

    let mut next = Live::start(&folder, 100);
    assert_eq!(next.items(&session), before);
    next.act("session/resume", json!({ "sessionId": session }));
    next.told(&session, "again");
    next.close();
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn one_id_in_two_places_is_ambiguous_and_an_id_cannot_leave_the_store() {
    let folder = Folder::new("odd");
    let mut host = Live::start(&folder, 0);
    let session = host.session("/w");
    host.told(&session, "hello");
    host.act("session/leave", json!({ "sessionId": session }));
    let log = folder.logs().remove(0);
    let twin = folder.0.join("sessions/2025/12/31").join(&session);
    fs::create_dir_all(&twin).unwrap();
    fs::copy(&log, twin.join("session.jsonl")).unwrap();
    let answer = host.act("session/resume", json!({ "sessionId": session }));
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["paths"].as_array().unwrap().len(), 2);

    let id = "../../../outside";
    let start = json!({ "workspaceRoot": "/w", "sessionId": id });
    assert!(host.act("session/start", start)["result"].is_object());
    host.told(id, "hello");
    host.close();
    assert_eq!(folder.logs().len(), 3);
    assert!(!folder.0.join("outside").exists());

    let mut next = Live::start(&folder, 100);
    assert_eq!(next.items(id).as_array().unwrap().len(), 3);
    next.close();
}

#[test]
fn what_was_said_can_be_exported() {
    let folder = Folder::new("export");
    let mut host = Live::start(&folder, 0);
    let session = host.session("/w");
    host.told(&session, "tool 2");
    let export = |session: &str| {
        Command::new(env!("CARGO_BIN_EXE_fake-msp"))
            .args(["export", "--session", session, "--store"])
            .arg(&folder.0)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    // The host still runs: exporting needs no lease.
    let output = export(&session);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kinds: Vec<String> = document["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["envelope"]["payload"]["event"]["kind"].as_str().unwrap().to_owned())
        .collect();
    let wanted = ["started", "side_effect_intent", "completed", "assistant_message_committed"];
    assert_eq!(kinds, wanted, "LB-65");
    assert_eq!(document["events"][0]["envelope"]["payload"]["event"]["prompt"], "tool 2");
    host.close();
    let none = export("nobody");
    assert_eq!(none.status.code(), Some(1));
    assert!(none.stdout.is_empty() && !none.stderr.is_empty());
}

#[test]
fn strays_in_the_store_are_passed_over() {
    let folder = Folder::new("stray");
    let mut host = Live::start(&folder, 0);
    let session = host.session("/w");
    host.told(&session, "hello");
    let day = folder.0.join("sessions/2026/01/01");
    fs::write(folder.0.join("sessions/readme"), "x").unwrap();
    fs::create_dir_all(day.join("empty")).unwrap();
    fs::create_dir_all(day.join("broken")).unwrap();
    fs::write(day.join("broken/session.jsonl"), "\u{0}\u{0}\n{}\n").unwrap();
    let rows = host.request("session/list", json!({}));
    assert_eq!(rows["result"]["sessions"].as_array().unwrap().len(), 1, "STORE-1");
    let answer = host.request("session/read", json!({ "sessionId": "broken" }));
    assert_eq!(answer["error"]["code"], -32603, "it is there and cannot be read");
    host.close();
}

#[test]
fn a_store_that_cannot_be_opened_is_a_configuration_error() {
    let folder = Folder::new("file");
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fake-msp"))
        .args(["serve", "--store"])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("session store"));
}
