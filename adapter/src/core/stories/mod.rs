//! Stories of the core: an editor, the agent and a host that speaks from the page.
//!
//! The stage is deterministic: time is a number, ids are counted, effects are answered by hand. Most
//! behaviour is told by scenario files; here is what a scenario cannot reach, and the spine.

mod ending;
mod modes;
mod prompting;
mod steering;

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::io::{Resolved, Settings};
use super::{Agent, Config, Effect, EffectResult, HostEnd, HostId, IdSource, Input, Output, Tick};
use crate::wire::Line;

/// Counts, so that a transcript is the same every time.
struct Counted(u64);

impl IdSource for Counted {
    fn uuid(&mut self) -> String {
        self.0 += 1;
        format!("00000000-0000-7000-8000-{:012}", self.0)
    }
}

/// The stage.
struct Stage {
    agent: Agent,
    ids: Counted,
    now: Tick,
    to_editor: VecDeque<Value>,
    to_host: VecDeque<Value>,
    spawned: Vec<HostId>,
    /// What each was started with.
    arguments: Vec<&'static [&'static str]>,
    closed: Vec<HostId>,
    effects: VecDeque<(super::io::EffectId, Effect)>,
    exited: bool,
    next_id: u64,
}

const TURN: &str = "turn-1";

impl Stage {
    fn new() -> Self {
        Self {
            agent: Agent::new(Config::default()),
            ids: Counted(0),
            now: Tick::default(),
            to_editor: VecDeque::new(),
            to_host: VecDeque::new(),
            spawned: Vec::new(),
            arguments: Vec::new(),
            closed: Vec::new(),
            effects: VecDeque::new(),
            exited: false,
            next_id: 100,
        }
    }

    /// An initialized connection with one session.
    fn with_session() -> (Self, String) {
        Self::with_session_in("/w")
    }

    fn with_session_in(workspace: &str) -> (Self, String) {
        let mut stage = Self::new();
        stage.call("initialize", json!({ "protocolVersion": 1 }));
        stage.answer();
        let session = stage.session_in(workspace);
        (stage, session)
    }

    fn session_in(&mut self, workspace: &str) -> String {
        self.call("session/new", json!({ "cwd": "/given", "mcpServers": [] }));
        let (effect, what) = self.effects.pop_front().expect("an effect");
        assert_eq!(what, Effect::Workspace("/given".into()));
        self.feed(Input::Effect(effect, EffectResult::Workspace(Ok(workspace.into()))));
        self.answer()["result"]["sessionId"].as_str().expect("id").to_owned()
    }

    /// A session whose first prompt has been acknowledged as [`TURN`].
    fn with_turn() -> (Self, String, u64) {
        let (mut stage, session) = Self::with_session();
        let prompt = stage.prompt(&session, "hello");
        stage.open_host(&session);
        stage.acknowledge();
        assert_eq!(stage.update()["sessionUpdate"], "session_info_update");
        (stage, session, prompt)
    }

    fn feed(&mut self, input: Input<'_>) {
        self.agent.handle(self.now, input, &mut self.ids);
        while let Some(output) = self.agent.poll_output() {
            match output {
                Output::Editor(line) => self.to_editor.push_back(parse(&line)),
                Output::Host(id, line) => {
                    assert_eq!(Some(&id), self.spawned.last(), "only the newest host is spoken to");
                    self.to_host.push_back(parse(&line));
                }
                Output::Spawn(id, spec) => {
                    self.spawned.push(id);
                    self.arguments.push(spec.flags);
                }
                Output::CloseHost(id) => self.closed.push(id),
                Output::Effect(id, effect) => self.effects.push_back((id, effect)),
                Output::Unthrottle(_) => {}
                Output::Exit => self.exited = true,
            }
        }
    }

    fn editor(&mut self, message: &Value) {
        self.feed(Input::Editor(Line::Complete(message.to_string().as_bytes())));
    }

    fn host(&mut self, message: &Value) {
        let host = *self.spawned.last().expect("a host");
        self.feed(Input::Host(host, Line::Complete(message.to_string().as_bytes())));
    }

    /// Sends a request as the editor and gives its id.
    fn call(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.editor(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let blocks = json!([{ "type": "text", "text": text }]);
        self.call("session/prompt", json!({ "sessionId": session, "prompt": blocks }))
    }

    fn cancel(&mut self, session: &str) {
        self.editor(&json!({ "jsonrpc": "2.0", "method": "session/cancel",
                             "params": { "sessionId": session } }));
    }

    /// The next line to the editor, which must be an answer.
    fn answer(&mut self) -> Value {
        let line = self.to_editor.pop_front().expect("an answer");
        assert!(line.get("method").is_none(), "an answer, not {line}");
        line
    }

    /// The next line to the editor, which must be an update.
    fn update(&mut self) -> Value {
        let line = self.to_editor.pop_front().expect("an update");
        assert_eq!(line["method"], "session/update", "{line}");
        line["params"]["update"].clone()
    }

    /// The next request to the host, by method.
    fn asked(&mut self, method: &str) -> Value {
        let line = self.to_host.pop_front().unwrap_or_else(|| panic!("{method} was not sent"));
        assert_eq!(line["method"], method, "{line}");
        line
    }

    fn reply(&mut self, request: &Value, result: Value) {
        self.host(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    fn refuse(&mut self, request: &Value, code: i64, kind: &str) {
        self.host(&json!({ "jsonrpc": "2.0", "id": request["id"],
                           "error": { "code": code, "message": "m", "data": { "kind": kind } } }));
    }

    fn event(&mut self, method: &str, session: &str, mut params: Value) {
        params["sessionId"] = json!(session);
        self.host(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn resolve(&mut self) {
        let (effect, what) = self.effects.pop_front().expect("an effect");
        assert_eq!(what, Effect::Resolve);
        let resolved = resolved();
        self.feed(Input::Effect(effect, EffectResult::Resolve(Box::new(Ok(resolved)))));
    }

    /// From the admitted prompt to the moment when `turn/start` is on the wire.
    fn open_host(&mut self, session: &str) {
        self.resolve();
        let initialize = self.asked("initialize");
        self.reply(&initialize, json!({ "schema": { "fingerprint": "sha256:0" } }));
        self.asked("initialized");
        let resume = self.asked("session/resume");
        self.refuse(&resume, -32020, "sessionNotFound");
        let start = self.asked("session/start");
        self.reply(&start, row(session));
        let mode = self.asked("session/setApprovalMode");
        self.reply(&mode, json!({ "status": "accepted" }));
        let model = self.asked("session/setModel");
        self.reply(&model, json!({ "status": "accepted" }));
        let read = self.asked("session/read");
        self.reply(&read, row(session));
        assert_eq!(self.to_host[0]["method"], "turn/start");
    }

    fn acknowledge(&mut self) {
        let start = self.asked("turn/start");
        let command = start["params"]["commandId"].clone();
        self.reply(
            &start,
            json!({ "commandId": command, "status": "accepted", "turnId": TURN,
                                   "startedNewTurn": true, "disposition": "started" }),
        );
    }

    fn complete(&mut self, session: &str) {
        self.event("turn/completed", session, json!({ "turnId": TURN, "terminal": "completed" }));
        let read = self.asked("session/read");
        self.reply(&read, row(session));
    }

    /// Moves the clock to the next deadline, which must be this far away.
    fn wait(&mut self, expected: Duration) {
        let at = self.agent.deadline().expect("a deadline");
        assert_eq!(at.since(self.now), expected);
        self.now = at;
        self.feed(Input::Timer);
    }

    fn host_gone(&mut self, end: HostEnd) {
        let host = *self.spawned.last().expect("a host");
        self.feed(Input::HostGone(host, end));
    }

    /// Nothing is left to say on either side.
    fn quiet(&self) {
        assert!(self.to_editor.is_empty(), "{:?}", self.to_editor);
        assert!(self.to_host.is_empty(), "{:?}", self.to_host);
    }
}

fn resolved() -> Resolved {
    Resolved {
        binary: "/bin/muse".into(),
        version: Some("1.2.1".into()),
        identity: [0; 32],
        flags: crate::core::mode::FLAGS.to_vec(),
        settings: Settings { model: "m".into(), provider: "p".into(), effort: "high".into() },
    }
}

fn parse(line: &[u8]) -> Value {
    let value: Value = serde_json::from_slice(line).expect("our lines are JSON");
    assert_eq!(value["jsonrpc"], "2.0");
    value
}

fn row(session: &str) -> Value {
    json!({ "session": { "sessionId": session, "workspaceRoot": "/w", "modelId": "m",
                         "providerId": "p", "activeTurnId": null },
            "viewCursor": "v:1" })
}

fn failure(answer: &Value) -> &Value {
    &answer["error"]["data"]["failure"]
}
