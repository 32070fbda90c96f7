//! A client for integration tests: it remembers every frame and which method an answer is for.

pub(crate) mod conversations;
pub(crate) mod schema;
pub(crate) mod work;

use std::collections::BTreeMap;

use fake_msp::engine::{AskHandle, Host, Input, Mode, Options, Output};
use fake_msp::profiles::Profile;
use serde_json::{Value, json};

/// A conversation with an obliging host.
pub(crate) struct Talk {
    host: Host,
    now: u64,
    pub(crate) frames: Vec<Value>,
    methods: BTreeMap<u64, String>,
    commands: u64,
    answered: usize,
    asked: Option<AskHandle>,
}

impl Talk {
    /// A host of this version after the handshake.
    pub(crate) fn ready(version: &str) -> Self {
        Self::with(version, Options::default())
    }

    /// The same, scripted.
    pub(crate) fn scripted(version: &str) -> Self {
        Self::with(version, Options { mode: Mode::Scripted, ..Options::default() })
    }

    fn with(version: &str, options: Options) -> Self {
        let profile = Profile::find(version).expect("a known profile");
        let mut talk = Self {
            host: Host::new(profile, options),
            now: 0,
            frames: Vec::new(),
            methods: BTreeMap::new(),
            commands: 0,
            answered: 0,
            asked: None,
        };
        let info = json!({ "name": "schema_test", "version": "1" });
        let capabilities =
            json!({ "requestedCapabilities": ["userShell", "feedback", "sessionListStream"] });
        let params = json!({ "clientInfo": info, "capabilities": capabilities });
        talk.request("initialize", params);
        talk.line(br#"{"jsonrpc":"2.0","method":"initialized"}"#);
        talk
    }

    pub(crate) fn line(&mut self, line: &[u8]) {
        self.host.handle(self.now, Input::Line(line));
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.host.poll_output() {
            match output {
                Output::Line(line) => {
                    self.frames.push(serde_json::from_slice(&line).expect("a frame is JSON"));
                }
                Output::Asked { handle, .. } => self.asked = Some(handle),
                _ => {}
            }
        }
    }

    /// Sends a request; returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.methods.len() as u64 + 1;
        self.methods.insert(id, method.to_owned());
        let start = self.frames.len();
        let frame = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.line(frame.to_string().as_bytes());
        let mut new = self.frames[start..].iter();
        new.find(|f| f["id"] == id && f.get("method").is_none())
            .map(|f| f["result"].clone())
            .unwrap_or_default()
    }

    /// Sends a command with a fresh `commandId`.
    pub(crate) fn act(&mut self, method: &str, mut params: Value) -> Value {
        self.commands += 1;
        params["commandId"] = format!("0199aaaa-0000-7000-8000-{:012x}", self.commands).into();
        self.request(method, params)
    }

    pub(crate) fn session(&mut self) -> String {
        let result = self.act("session/start", json!({ "workspaceRoot": "/w" }));
        result["session"]["sessionId"].as_str().expect("a session").to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> String {
        let input = json!([{ "type": "text", "text": text }]);
        let result = self.act("turn/start", json!({ "sessionId": session, "input": input }));
        result["turnId"].as_str().expect("a turn").to_owned()
    }

    /// Starts a turn of a scripted host and accepts it.
    pub(crate) fn prompt_scripted(&mut self, session: &str) {
        let input = json!([{ "type": "text", "text": "go" }]);
        self.act("turn/start", json!({ "sessionId": session, "input": input }));
        let handle = self.asked.take().expect("it was asked");
        self.host.answer_ok(handle, &[]).expect("the model accepts it");
        self.drain();
    }

    /// A script act.
    pub(crate) fn emit(&mut self, method: &str, sets: &[(&str, Value)]) {
        self.host.emit(method, sets, None).unwrap_or_else(|error| panic!("{method}: {error}"));
        self.drain();
    }

    /// Lets time pass until no timer is left.
    pub(crate) fn run_timers(&mut self) {
        while let Some(deadline) = self.host.deadline() {
            self.now = self.now.max(deadline);
            self.host.handle(self.now, Input::Timer);
            self.drain();
        }
    }

    /// Runs to quiescence, answering every question that comes up.
    pub(crate) fn settle(&mut self, choice: &str) {
        loop {
            self.run_timers();
            let Some(asked) = self.frames.get(self.answered..).and_then(|new| {
                new.iter().find(|f| {
                    f["method"] == "approval/requested"
                        || f["method"] == "approval/updated"
                        || f["method"] == "userInput/requested"
                })
            }) else {
                break;
            };
            let (method, params) = (asked["method"].clone(), asked["params"].clone());
            // A replay may have shown an equal frame before.
            let new = &self.frames[self.answered..];
            let at = new.iter().position(|f| f["params"] == params).expect("it is there");
            self.answered += at + 1;
            if method == "userInput/requested" {
                let answers = json!([{ "questionId": "colour", "selectedLabel": "Red" }]);
                self.act(
                    "userInput/answer",
                    json!({ "sessionId": params["sessionId"],
                        "userInputId": params["userInputId"], "answers": answers }),
                );
            } else {
                self.act(
                    "approval/decide",
                    json!({ "sessionId": params["sessionId"], "approvalId": params["approvalId"],
                        "requirementId": params["currentRequirementId"], "choiceId": choice }),
                );
            }
        }
        self.answered = self.frames.len();
    }

    /// A member of the params of the last frame of a method.
    pub(crate) fn last_param(&self, method: &str, name: &str) -> Value {
        let last = self.frames.iter().rev().find(|frame| frame["method"] == method);
        last.map(|frame| frame["params"][name].clone()).unwrap_or_default()
    }

    /// Frames with the method that types them; `None` for errors without a known request.
    pub(crate) fn typed_frames(&self) -> impl Iterator<Item = (Option<String>, &Value)> {
        self.frames.iter().map(|frame| {
            let own = frame["method"].as_str().map(str::to_owned);
            let of = frame["id"].as_u64().and_then(|id| self.methods.get(&id)).cloned();
            (own.or(of), frame)
        })
    }
}
