//! A recording through the fake host: the client's lines go in, what its host said is what a script
//! makes the fake say. Ids that a host mints differ; they are learned as the two go along.

use std::collections::{BTreeMap, BTreeSet};

use fake_msp::engine::script::{Illegal, Set};
use fake_msp::engine::{AskHandle, Host, Input, Mode, Options, Output};
use fake_msp::profiles::Profile;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::transcripts::Line;

/// What a client only seems to do wrong because the beginning is not recorded, or does on purpose:
/// story (or how it begins), rule, reason. What the recorded host refused needs no row.
const EXPECTED: &[(&str, &str, &str)] = &[
    ("gap_recovery_splice_fill", "CMD-13", "says an unknown member on purpose"),
    (
        "provider_failure_turn::turn_start_legs",
        "TRN-3",
        "the end of the first turn is not recorded",
    ),
    ("subagent_", "ENV-7", "the child was started before the recording"),
];

/// What the model would not have said, and why the recording may: story (or how it begins), rule,
/// reason. A row that nothing needs any more is told, so that it can go.
const MISSING: &[(&str, &str, &str)] = &[
    ("gap_recovery_reanchor", "CUR-7", "nothing is ever compacted"),
    ("cursor_retained", "ITM-10", "the item was opened before the recording"),
    ("tolerance_unknown_state_method", "HOST-18", "an unknown event, on purpose"),
];

fn row<'a>(table: &'a [(&str, &str, &str)], story: &str, rule: &str) -> Option<&'a str> {
    let fits = |row: &&(&str, &str, &str)| story.starts_with(row.0) && row.1 == rule;
    table.iter().find(fits).map(|row| row.2)
}

/// Plays a recording: the oracle finds no violation, the model has no objection, tables excepted.
pub(crate) fn accepts(story: &str, lines: &[Line]) -> Result<(), Failed> {
    let mut stage = Stage::new(lines)?;
    for line in lines {
        let frame: Value = serde_json::from_str(&line.raw)?;
        match line.dir.as_str() {
            "client" => stage.client(frame),
            _ => stage.server(&frame),
        }
    }
    let violations = stage.host.violations().iter().enumerate();
    let violations = violations.filter(|(index, found)| {
        !stage.agreed.contains(index) && row(EXPECTED, story, found.rule).is_none()
    });
    let objections = stage.lies.iter().filter(|lie| row(MISSING, story, lie.rule).is_none());
    let texts: Vec<String> = violations
        .map(|(_, found)| found.to_string())
        .chain(objections.map(ToString::to_string))
        .collect();
    for (_, rule, reason) in MISSING.iter().filter(|row| row.0 == story) {
        if !stage.lies.iter().any(|lie| lie.rule == *rule) {
            eprintln!("judges::transcripts::fake::{story}: no longer needs {rule} ({reason})");
        }
    }
    if texts.is_empty() { Ok(()) } else { Err(texts.join("\n").into()) }
}

struct Stage {
    host: Host,
    /// Words of the recording, and what the fake says instead.
    learned: BTreeMap<String, String>,
    /// Requests that wait for their recorded answer, by id.
    asked: BTreeMap<String, AskHandle>,
    /// Answers of the fake that were not looked at yet, by id.
    answers: BTreeMap<String, Value>,
    /// Requests of the fake whose receipt is missing, oldest first.
    requests: Vec<Value>,
    session: String,
    /// What the model would not have said.
    lies: Vec<Illegal>,
    /// Requests that the recorded host refused.
    refused: BTreeSet<String>,
    /// Findings about those: both hosts object.
    agreed: BTreeSet<usize>,
    /// Turns that were heard of; a session that was resumed has one from before.
    turns: BTreeSet<String>,
    resumed: bool,
}

impl Stage {
    fn new(lines: &[Line]) -> Result<Self, Failed> {
        let profile = Profile::find("1.4.13").ok_or("no profile")?;
        let asked =
            ["goal/set", "goal/edit", "goal/pause", "goal/resume", "goal/clear", "session/compact"];
        let options = Options {
            mode: Mode::Scripted,
            asked: asked.map(str::to_owned).into(),
            ..Options::default()
        };
        let mut stage = Self {
            host: Host::new(profile, options),
            learned: BTreeMap::new(),
            asked: BTreeMap::new(),
            answers: BTreeMap::new(),
            requests: Vec::new(),
            session: String::new(),
            lies: Vec::new(),
            refused: BTreeSet::new(),
            agreed: BTreeSet::new(),
            turns: BTreeSet::new(),
            resumed: false,
        };
        for line in lines.iter().filter(|line| line.dir == "server") {
            let frame: Value = serde_json::from_str(&line.raw)?;
            if frame.get("error").is_some() {
                stage.refused.insert(frame["id"].to_string());
            }
        }
        let first: Value = lines
            .first()
            .map(|line| serde_json::from_str(&line.raw))
            .transpose()?
            .unwrap_or_default();
        if first["method"] != "initialize" {
            // Only the legs of one command: what lies before them is not recorded.
            let info = json!({ "name": "judge", "version": "1" });
            stage.say(&json!({ "jsonrpc": "2.0", "id": "j1", "method": "initialize",
                "params": { "clientInfo": info } }));
            stage.say(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        }
        Ok(stage)
    }

    fn say(&mut self, frame: &Value) {
        self.host.handle(0, Input::Line(frame.to_string().as_bytes()));
        while let Some(output) = self.host.poll_output() {
            match output {
                Output::Asked { handle, id, .. } => {
                    self.asked.insert(id.to_string(), handle);
                }
                Output::Line(line) => self.hear(&line),
                _ => {}
            }
        }
    }

    fn hear(&mut self, line: &[u8]) {
        let Ok(frame) = serde_json::from_slice::<Value>(line) else { return };
        match (frame.get("method"), frame.get("id")) {
            (Some(_), Some(id)) => self.requests.push(id.clone()),
            (None, Some(id)) => {
                self.answers.insert(id.to_string(), frame.clone());
            }
            _ => {}
        }
    }

    /// A session that the recording knows from before exists.
    fn know(&mut self, session: &str) {
        if self.session == session || self.learned.contains_key(session) {
            return;
        }
        self.session = session.to_owned();
        self.resumed = true;
        self.say(
            &json!({ "jsonrpc": "2.0", "id": format!("j-{session}"), "method": "session/start",
            "params": { "commandId": "0199aaaa-0000-7000-8000-00000000aaaa", "sessionId": session,
                "workspaceRoot": "/w" } }),
        );
    }

    fn client(&mut self, mut frame: Value) {
        let method = frame["method"].as_str().unwrap_or_default().to_owned();
        if let Some(session) = frame["params"]["sessionId"].as_str().map(str::to_owned)
            && method != "session/start"
        {
            self.know(&session);
        }
        self.translate(&mut frame);
        let refused = self.refused.contains(&frame["id"].to_string());
        if let (false, Some(params)) = (refused, frame.get_mut("params")) {
            self.place(params);
        }
        if method.is_empty() {
            // A receipt: for the oldest request that has none.
            if !self.requests.is_empty() {
                frame["id"] = self.requests.remove(0);
            }
        }
        let before = self.host.violations().len();
        self.say(&frame);
        if self.refused.contains(&frame["id"].to_string()) {
            self.agreed.extend(before..self.host.violations().len());
        }
    }

    fn server(&mut self, frame: &Value) {
        match (frame["method"].as_str(), frame.get("id")) {
            (None, Some(id)) => self.answer(&id.to_string(), frame),
            // The request follows its event by itself.
            (Some(_), Some(_)) if !self.requests.is_empty() => {}
            (Some(method), Some(_)) => {
                let event = format!("{method}ed");
                self.event(&event, &frame["params"]);
            }
            (Some(method), None) => self.event(method, &frame["params"]),
            (None, None) => {}
        }
    }

    fn answer(&mut self, id: &str, frame: &Value) {
        let said = match (self.asked.remove(id), frame["error"]["code"].as_i64()) {
            (Some(handle), Some(code)) => {
                let _ = self.host.answer_error(handle, code, &[]);
                Value::Null
            }
            (Some(handle), None) => match self.host.answer_ok(handle, &[]) {
                Ok(result) => result,
                Err(illegal) => {
                    self.lies.push(illegal);
                    self.host.answer_lie(handle, &[]).unwrap_or_default()
                }
            },
            (None, _) => {
                self.answers.remove(id).map(|own| own["result"].clone()).unwrap_or_default()
            }
        };
        self.learn(&frame["result"], &said);
        if let Some(turn) = frame["result"]["session"]["activeTurnId"].as_str() {
            self.begin("session/resume", &json!({ "turnId": turn }));
        }
        self.pump();
    }

    fn event(&mut self, method: &str, params: &Value) {
        let mut params = params.clone();
        self.translate(&mut params);
        self.place(&mut params);
        self.begin(method, &params);
        let placed = ["viewCursor", "sourceRange"];
        let members = params.as_object().into_iter().flatten();
        let sets: Vec<Set<'_>> = members
            .filter(|(name, _)| !placed.contains(&name.as_str()))
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        let sent = match self.host.emit(method, &sets, None) {
            Ok(sent) => Ok(sent),
            Err(illegal) => {
                self.lies.push(illegal);
                self.host.emit_lie(method, &sets, None)
            }
        };
        if let (Ok(sent), Some(recorded)) = (sent, params["viewCursor"].as_str())
            && let Some(cursor) = sent.view_cursor
        {
            self.learned.insert(recorded.to_owned(), cursor);
        }
        self.pump();
    }

    /// Cursors from before the recording stand for the beginning of the fake's session.
    fn place(&self, params: &mut Value) {
        for name in ["cursor", "after", "next"] {
            let Some(Value::String(cursor)) = params.get_mut(name) else { continue };
            if !self.learned.values().any(|own| own == cursor) {
                *cursor = format!("v:{}:0", self.session);
            }
        }
    }

    /// A turn that ran before the recording runs in the fake as well.
    fn begin(&mut self, method: &str, params: &Value) {
        let turn = params["turnId"].as_str().or(params["item"]["turnId"].as_str());
        let Some(turn) = turn.map(str::to_owned) else { return };
        let new = self.turns.insert(turn.clone());
        if self.resumed && new && !matches!(method, "turn/started" | "turn/unqueued") {
            let sets = [("turnId", json!(turn)), ("commandId", json!(turn))];
            let _ = self.host.emit_lie("turn/started", &sets, None);
        }
    }

    fn pump(&mut self) {
        while let Some(output) = self.host.poll_output() {
            if let Output::Line(line) = output {
                self.hear(&line);
            }
        }
    }

    /// Strings at the same place in both answers.
    fn learn(&mut self, recorded: &Value, own: &Value) {
        match (recorded, own) {
            (Value::Object(recorded), Value::Object(own)) => {
                for (name, value) in recorded {
                    self.learn(value, own.get(name).unwrap_or(&Value::Null));
                }
            }
            (Value::String(recorded), Value::String(own)) if recorded != own => {
                self.learned.insert(recorded.clone(), own.clone());
            }
            _ => {}
        }
    }

    fn translate(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(own) = self.learned.get(text) {
                    own.clone_into(text);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.translate(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.translate(value)),
            _ => {}
        }
    }
}
