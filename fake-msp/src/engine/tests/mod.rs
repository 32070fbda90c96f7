//! Stories about the engine. [`Talk`] is a client that remembers every frame it got.

mod approvals;
mod commands;
mod fork;
mod framing;
mod gap;
mod goals;
mod handshake;
mod history;
mod knobs;
mod leave;
mod list;
mod odd_input;
mod oracle;
mod oracle_sessions;
mod outputs;
mod policy;
mod prompts;
mod replays;
mod restart;
mod script;
mod script_sessions;
mod script_work;
mod shelf;
mod store;
mod subagents;
mod tasks;
mod turns;
mod view;
mod workflows;

use serde_json::{Value, json};

use super::{FRAME_BYTES_MAX, Host, Input, Options, Output};
use crate::profiles::Profile;

/// A conversation with one host.
pub(super) struct Talk {
    pub(super) host: Host,
    pub(super) now: u64,
    /// Every frame of the host, in order.
    pub(super) frames: Vec<Value>,
    /// Every other output, in order.
    pub(super) effects: Vec<Output>,
    next_id: u64,
    next_command: u64,
}

impl Talk {
    pub(super) fn with(version: &str, options: Options) -> Self {
        let profile = Profile::find(version).expect("a known profile");
        Self {
            host: Host::new(profile, options),
            now: 0,
            frames: Vec::new(),
            effects: Vec::new(),
            next_id: 0,
            next_command: 0,
        }
    }

    /// A newest host after the handshake.
    pub(super) fn ready() -> Self {
        Self::ready_with("1.4.14", Options::default())
    }

    pub(super) fn ready_with(version: &str, options: Options) -> Self {
        let mut talk = Self::with(version, options);
        talk.initialize(json!({}));
        talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        talk
    }

    pub(super) fn initialize(&mut self, capabilities: Value) -> Value {
        let info = json!({ "name": "test_client", "version": "1" });
        self.request("initialize", json!({ "clientInfo": info, "capabilities": capabilities }))
    }

    /// Feeds bytes as one line; returns the frames that came at once.
    pub(super) fn line(&mut self, line: &[u8]) -> Vec<Value> {
        self.input(Input::Line(line))
    }

    pub(super) fn input(&mut self, input: Input<'_>) -> Vec<Value> {
        self.host.handle(self.now, input);
        self.drain()
    }

    pub(super) fn send(&mut self, frame: &Value) -> Vec<Value> {
        self.line(frame.to_string().as_bytes())
    }

    fn drain(&mut self) -> Vec<Value> {
        let start = self.frames.len();
        while let Some(output) = self.host.poll_output() {
            match output {
                Output::Line(line) => {
                    assert!(!line.contains(&b'\n') && !line.contains(&b'\r'), "HOST-1");
                    self.frames.push(serde_json::from_slice(&line).expect("a frame is JSON"));
                }
                other => self.effects.push(other),
            }
        }
        for session in self.host.sessions.values() {
            assert_eq!(*session.log.view(), session.log.refold(), "the view is a fold of the log");
        }
        self.frames[start..].to_vec()
    }

    /// Sends a request; returns its answer.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        let frames = self.send(&json!({
            "jsonrpc": "2.0", "id": id, "method": method, "params": params,
        }));
        let mut answers = frames.into_iter().filter(|f| f.get("method").is_none() && f["id"] == id);
        answers.next().unwrap_or(Value::Null)
    }

    /// A fresh command id.
    pub(super) fn command(&mut self) -> String {
        self.next_command += 1;
        format!("0199aaaa-0000-7000-8000-{:012x}", self.next_command)
    }

    /// A request with a fresh `commandId`.
    pub(super) fn act(&mut self, method: &str, mut params: Value) -> Value {
        params["commandId"] = self.command().into();
        self.request(method, params)
    }

    /// Starts a session; returns its id.
    pub(super) fn session(&mut self) -> String {
        let answer = self.act("session/start", json!({ "workspaceRoot": "/w" }));
        answer["result"]["session"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Starts a turn; returns its id.
    pub(super) fn prompt(&mut self, session: &str, text: &str) -> String {
        let input = json!([{ "type": "text", "text": text }]);
        let answer = self.act("turn/start", json!({ "sessionId": session, "input": input }));
        answer["result"]["turnId"].as_str().expect("a turn").to_owned()
    }

    /// Lets time pass until no timer is left; returns the frames of that time.
    pub(super) fn settle(&mut self) -> Vec<Value> {
        let start = self.frames.len();
        while let Some(deadline) = self.host.deadline() {
            self.now = self.now.max(deadline);
            self.input(Input::Timer);
        }
        self.frames[start..].to_vec()
    }

    /// What the session's view folds to now.
    pub(super) fn view(&self, session: &str) -> &super::fold::View {
        self.host.sessions[session].log.view()
    }

    /// The newest item of a kind, as the view has it.
    pub(super) fn item(&self, session: &str, kind: &str) -> Value {
        let mut items = self.view(session).items.values().rev();
        items.find(|item| item["kind"] == kind).cloned().unwrap_or_default()
    }

    /// Lets one timer run out.
    pub(super) fn tick(&mut self) -> Vec<Value> {
        self.now = self.host.deadline().expect("something is due");
        self.input(Input::Timer)
    }

    /// Frames of one method so far.
    pub(super) fn of(&self, method: &str) -> Vec<Value> {
        self.frames.iter().filter(|frame| frame["method"] == method).cloned().collect()
    }

    /// The last frame of a method.
    pub(super) fn last(&self, method: &str) -> Value {
        self.of(method).pop().unwrap_or_else(|| panic!("no {method} came"))
    }

    /// Rules that the oracle named so far.
    pub(super) fn rules(&self) -> Vec<&'static str> {
        self.host.violations().iter().map(|violation| violation.rule).collect()
    }

    /// Decides the approval that was requested last.
    pub(super) fn decide(&mut self, session: &str, choice: &str) -> Value {
        let asked = self.last("approval/requested")["params"].clone();
        let view = self.host.sessions[session].log.view();
        let id = asked["approvalId"].as_str().expect("an id");
        let current = view.approvals[id].params["currentRequirementId"].clone();
        self.act(
            "approval/decide",
            json!({
                "sessionId": session, "approvalId": id, "requirementId": current,
                "choiceId": choice,
            }),
        )
    }
}

/// The methods of frames, in order; answers are `result` or `error`.
pub(super) fn outline(frames: &[Value]) -> Vec<String> {
    let name = |frame: &Value| match (frame["method"].as_str(), frame.get("error")) {
        (Some(method), _) => method.to_owned(),
        (None, Some(_)) => "error".into(),
        (None, None) => "result".into(),
    };
    frames.iter().map(name).collect()
}

/// A scripted host's options.
pub(super) fn scripted() -> Options {
    Options { mode: super::Mode::Scripted, ..Options::default() }
}
