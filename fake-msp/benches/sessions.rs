//! What a page costs as sessions and logs grow: `cargo bench -p fake-msp --bench sessions`.
//!
//! Prints a table and asserts nothing. Figures of one run can be compared with each other; memory is
//! read from `/proc` and absent elsewhere.

#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has nothing to say")]

use std::time::{Duration, Instant};

use fake_msp::engine::{AskHandle, Ends, Host, Input, Mode, Options, Output, Store, StoreError};
use fake_msp::profiles::Profile;
use serde_json::{Value, json};

/// A store of `count` logs that nobody ever reads, only lists.
#[derive(Debug)]
struct Heads {
    count: usize,
    scanned: bool,
}

impl Heads {
    fn log(id: &str, index: usize) -> String {
        let at = index as u64 * 1000;
        let record = json!({
            "workspace_root": format!("/home/me/src/project-{}", index % 7),
            "created_at_ms": at, "updated_at_ms": at + 500,
            "birth_provider_id": "fake", "birth_model_id": "fake-model",
            "approval_mode": "promptUnmatched", "provider_id": "fake", "model_id": "fake-model",
            "turn_count": index % 40, "name": null, "branch": "main",
            "first_user_prompt": "Please look at the failing test and say what is wrong with it",
        });
        let line = json!({
            "schema_version": 1, "id": format!("{id}:1"), "stream": { "kind": "session", "id": id },
            "sequence": 1, "recorded_at": 1_767_225_600_000_000_u64, "record_type": "event",
            "durability": "durable", "payload_type": "runtime.session.metadata",
            "payload_schema_version": 1, "payload": { "kind": "session_metadata", "record": record },
        });
        format!("{line}\n")
    }
}

impl Store for Heads {
    fn read(&mut self, _: &str, _: &mut dyn FnMut(&[u8])) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn stamp(&mut self, _: &str) -> Option<u64> {
        None
    }

    fn is_leased(&mut self, _: &str) -> bool {
        false
    }

    fn lease(&mut self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn release(&mut self, _: &str) {}

    fn create(&mut self, _: &str, _: (u64, u64, u64)) -> Result<(), StoreError> {
        Ok(())
    }

    fn append(&mut self, _: &str, _: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    fn path(&self, session: &str, _: (u64, u64, u64)) -> String {
        format!("/store/{session}/session.jsonl")
    }

    fn scan(&mut self, each: &mut dyn FnMut(Ends<'_>)) -> Result<Vec<String>, StoreError> {
        for index in (0..self.count).filter(|_| !self.scanned) {
            let id = format!("0198f0aa-1111-7000-8000-{index:012x}");
            let log = Self::log(&id, index);
            let path = self.path(&id, (0, 0, 0));
            each(Ends { session: &id, path: &path, first: log.as_bytes(), last: &[] });
        }
        self.scanned = true;
        Ok(Vec::new())
    }
}

/// How many pages of a log are timed, from both of its ends.
const PAGES: usize = 400;

/// A client.
struct Talk {
    host: Host,
    ids: u64,
    asked: Option<AskHandle>,
}

impl Talk {
    fn new(host: Host) -> Self {
        let mut talk = Self { host, ids: 0, asked: None };
        let info = json!({ "name": "bench", "version": "1" });
        talk.request("initialize", json!({ "clientInfo": info }));
        talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        talk
    }

    /// The last frame that came.
    fn send(&mut self, frame: &Value) -> Option<Vec<u8>> {
        self.host.handle(0, Input::Line(frame.to_string().as_bytes()));
        self.drain()
    }

    fn drain(&mut self) -> Option<Vec<u8>> {
        let mut last = None;
        while let Some(output) = self.host.poll_output() {
            match output {
                Output::Line(line) => last = Some(line),
                Output::Asked { handle, .. } => self.asked = Some(handle),
                _ => {}
            }
        }
        last
    }

    /// The answer and how long the host took for it; reading it is the client's time.
    fn timed(&mut self, method: &str, params: Value) -> (Value, Duration) {
        self.ids += 1;
        let id = self.ids;
        let line =
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let start = Instant::now();
        self.host.handle(0, Input::Line(line.as_bytes()));
        let mut answer = self.drain();
        if let Some(handle) = self.asked.take() {
            self.host.answer_ok(handle, &[]).unwrap();
            answer = self.drain();
        }
        let took = start.elapsed();
        let answer: Value = serde_json::from_slice(&answer.unwrap()).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        (answer["result"].clone(), took)
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.timed(method, params).0
    }
}

/// Resident memory in KiB.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn grown(before: Option<u64>) -> String {
    match (before, resident()) {
        (Some(before), Some(after)) => {
            format!("{:.1} MiB", after.saturating_sub(before) as f64 / 1024.0)
        }
        _ => "unknown".into(),
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Lower quartile: what else the machine does only ever adds.
fn quartile(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 4]
}

fn list(count: usize) -> f64 {
    let before = resident();
    let store = Box::new(Heads { count, scanned: false });
    let mut talk = Talk::new(Host::with_store(Profile::newest(), Options::default(), store));
    let (mut page, first) = talk.timed("session/list", json!({ "limit": 50 }));
    let memory = grown(before);
    let (mut times, mut rows) = (Vec::new(), page["sessions"].as_array().unwrap().len());
    while let Some(cursor) = page["nextCursor"].as_str() {
        let params = json!({ "limit": 50, "cursor": cursor });
        let (next, took) = talk.timed("session/list", params);
        rows += next["sessions"].as_array().unwrap().len();
        times.push(took);
        page = next;
    }
    assert_eq!(rows, count);
    let total: Duration = times.iter().sum();
    let page = micros(quartile(times));
    println!(
        "| session/list, {count} sessions | {page:.0} µs | {:.0} ms | {:.0} ms | {memory} |",
        total.as_secs_f64() * 1e3,
        first.as_secs_f64() * 1e3,
    );
    page
}

fn page(count: usize) -> f64 {
    let before = resident();
    let options = Options { mode: Mode::Scripted, ..Options::default() };
    let mut talk = Talk::new(Host::new(Profile::newest(), options));
    let command = "0199aaaa-0000-7000-8000-000000000001";
    let started = talk.request("session/start", json!({ "commandId": command }));
    let session = started["session"]["sessionId"].as_str().unwrap().to_owned();
    let start = Instant::now();
    let text = "x".repeat(200);
    for index in 0..count {
        let emitted = match index % 4 {
            0 => {
                let sets = [("item.kind", json!("agentMessage")), ("item.text", json!(text))];
                talk.host.emit_lie("item/completed", &sets, None)
            }
            _ => talk.host.emit("session/contextUsage", &[], None),
        };
        emitted.unwrap();
        talk.drain();
    }
    let told = start.elapsed();
    let memory = grown(before);
    let mut times = Vec::new();
    for direction in ["forward", "backward"].iter().cycle() {
        let mut params = json!({ "sessionId": session, "limit": 200, "direction": direction });
        for _ in 0..PAGES / 4 {
            let (page, took) = talk.timed("view/page", params.clone());
            if page["events"].as_array().unwrap().len() == 200 {
                times.push(took);
            }
            match &page["nextCursor"] {
                Value::Null => break,
                cursor => params["cursor"] = cursor.clone(),
            }
        }
        if times.len() >= PAGES {
            break;
        }
    }
    let page = micros(quartile(times));
    println!(
        "| view/page of 200, {count} events | {page:.0} µs | | {:.1} µs an event | {memory} |",
        micros(told) / count as f64,
    );
    page
}

fn main() {
    println!("| What | a page, lower quartile | all pages | first page / telling | memory |");
    println!("|---|---|---|---|---|");
    let lists: Vec<f64> = [1_000, 10_000, 100_000].map(list).to_vec();
    let pages: Vec<f64> = [1_000, 10_000, 100_000, 1_000_000].map(page).to_vec();
    println!();
    println!("a list page at 100,000 sessions costs {:.2} of one at 1,000", lists[2] / lists[0]);
    println!("a view page at 1,000,000 events costs {:.2} of one at 1,000", pages[3] / pages[0]);
}
