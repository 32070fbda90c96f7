//! Plays one point of a story on a stage.
//!
//! In: the tree, a point, a stage. Out: the transcript, and the first failure. `->` lines are performed at
//! once and in order; before every `<-`, `after` and `quiet` the stage comes to rest (DSL-6). A change of
//! lane between two acts comes to rest too, so that the written order is the order in which the adapter
//! sees them. It does not judge invariants: that is [`super::watch`].

use std::time::Duration;

use fake_msp::engine::script::{EntityRef, ProcessFault};
use fake_msp::engine::{AskHandle, Output};
use serde_json::{Value, json};

use super::lanes::{Lanes, Waiting};
use super::names::{Bound, Names, get, set};
use super::report::{Code, Failure};
use super::trail::Trail;
use super::transcript::{Entry, Lane as Wire, Transcript};
use crate::lang::ast::{
    Act, ActKind, Fault, File, FrameKind, Lane, Set, StageTable, Step, Wait, WatchKind,
};
use crate::lang::point::{Axis, Choice, Point};
use crate::stage::host::Event;
use crate::stage::{HostProc, Landing, LinkFault, Party, Stage};

/// The state of one run.
pub(super) struct Play<'a> {
    pub(super) file: &'a File,
    pub(super) stage: &'a mut dyn Stage,
    pub(super) names: Names,
    pub(super) lanes: Lanes,
    pub(super) transcript: Transcript,
    pub(super) last_matched: Option<u32>,
    /// The host lied somewhere.
    pub(super) lied: bool,
    /// Only the host lanes are played ([`super::solo`]).
    pub(super) solo: bool,
    /// The editor's session, for what a line leaves unsaid.
    session: Option<Value>,
    next_id: u64,
    partial: Vec<u8>,
    last_lane: Option<bool>,
    /// Asks of the model that no line has taken yet, with the host.
    asks: Vec<(usize, AskHandle, String)>,
    races: std::vec::IntoIter<Vec<usize>>,
    pub(super) trail: Trail,
}

impl<'a> Play<'a> {
    /// A run at its beginning.
    pub(super) fn new(
        file: &'a File,
        axes: &[Axis<'_>],
        point: &Point,
        stage: &'a mut dyn Stage,
    ) -> Self {
        let (mut names, mut races) = (Names::default(), Vec::new());
        for (axis, index) in axes.iter().zip(&point.0) {
            let value = match axis.choice(*index) {
                Some(Choice::Duration(duration)) => {
                    Value::from(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
                }
                Some(Choice::Value(value)) => names.json(value).unwrap_or_default(),
                Some(Choice::Order(order)) => {
                    races.push(order);
                    continue;
                }
                None => continue,
            };
            names.bind(&axis.name, Bound::Value(value));
        }
        for table in &file.stages {
            names.bind(&table.name.text, Bound::Value(stage_table(table)));
        }
        Self {
            file,
            stage,
            names,
            lanes: Lanes::default(),
            transcript: Transcript::default(),
            last_matched: None,
            lied: false,
            solo: false,
            session: None,
            next_id: 0,
            partial: Vec::new(),
            last_lane: None,
            asks: Vec::new(),
            races: races.into_iter(),
            trail: Trail::default(),
        }
    }

    /// Plays the timeline.
    ///
    /// # Errors
    /// The first failure.
    pub(super) fn timeline(&mut self) -> Result<(), Failure> {
        let steps: Vec<&Step> = self.file.timeline().collect();
        for index in 0..steps.len() {
            if self.solo && !super::solo::plays(steps[index]) {
                continue;
            }
            self.begin(index);
            self.step(&steps, index)?;
            self.note_step(steps[index]);
        }
        self.begin(usize::MAX);
        self.settle();
        self.nothing_left()
    }

    /// One step of the timeline.
    ///
    /// # Errors
    /// Why it could not be carried out or was not fulfilled.
    pub(super) fn step(&mut self, steps: &[&Step], index: usize) -> Result<(), Failure> {
        match steps[index] {
            Step::Act(act) => self.act(act)?,
            Step::ActRace(race) => {
                let order = self.races.next().unwrap_or_else(|| (0..race.lines.len()).collect());
                for act in order.into_iter().filter_map(|index| race.lines.get(index)) {
                    if !self.solo || act.lane.is_host() {
                        self.act(act)?;
                    }
                }
            }
            Step::Expect(expect) => {
                self.settle();
                if self.solo { self.await_line(expect) } else { self.expect(expect) }?;
            }
            Step::ExpectRace(race) => {
                self.settle();
                if self.solo {
                    self.await_race(&race.lines)
                } else {
                    self.expect_race(&race.lines)
                }?;
            }
            Step::After(after) => {
                self.settle();
                let by = match &after.wait {
                    Wait::Literal(by) => *by,
                    Wait::Name(name) => self.duration(&name.text),
                };
                let landing = match steps.get(index + 1) {
                    Some(Step::Act(_) | Step::ActRace(_)) => Landing::Before,
                    Some(Step::Quiet(_)) => Landing::Quiet,
                    _ => Landing::After,
                };
                self.stage.advance(by, landing);
                self.collect();
            }
            Step::Quiet(quiet) => {
                self.settle();
                if let Some(left) = self.left() {
                    let mut failure =
                        Failure::new(Code::NotQuiet, quiet.at.line, "something was said");
                    failure.instead = Some(left);
                    return Err(self.placed(failure));
                }
            }
        }
        Ok(())
    }

    /// DSL-7.
    pub(super) fn nothing_left(&self) -> Result<(), Failure> {
        match self.left() {
            None => Ok(()),
            Some(left) => {
                let text = "the adapter said something that no line expects (DSL-7)";
                let mut failure = Failure::new(Code::Unexpected, 0, text);
                failure.instead = Some(left);
                Err(self.placed(failure))
            }
        }
    }

    /// What no line has consumed, by the file's `watch`.
    pub(super) fn left(&self) -> Option<String> {
        let default = [WatchKind::Text];
        let watch = self.file.header.watch.as_deref().unwrap_or(&default);
        let has = |kind: WatchKind| watch.contains(&kind);
        let wires: Vec<&str> = watch
            .iter()
            .filter_map(|kind| match kind {
                WatchKind::Wire(name) => Some(*name),
                _ => None,
            })
            .collect();
        self.lanes.left(has(WatchKind::Text), has(WatchKind::Thought), &wires)
    }

    /// Adds the state of the run to a failure.
    pub(super) fn placed(&self, mut failure: Failure) -> Failure {
        failure.at = self.stage.now();
        // Lines of the opening are not lines of the file.
        failure.line = self.opening_line().unwrap_or(failure.line);
        failure.pending = self.stage.pending_timer();
        failure.last_matched = failure.last_matched.or(self.last_matched);
        failure
    }

    /// Runs to rest and takes what was said.
    pub(super) fn settle(&mut self) {
        self.stage.settle();
        self.collect();
        self.last_lane = None;
    }

    /// Moves time, outside the story.
    pub(super) fn wait(&mut self, by: Duration) {
        self.stage.advance(by, Landing::After);
        self.collect();
    }

    /// Waits until the adapter and every host have ended, at most `limit`.
    pub(super) fn wind_down(&mut self, limit: Duration) {
        self.wait_until(limit, |stage| {
            stage.adapter_ended() && stage.hosts().iter().all(HostProc::is_gone)
        });
    }

    /// Waits in growing steps until `done`, at most `limit`: what has happened already costs no time.
    pub(super) fn wait_until(&mut self, limit: Duration, done: impl Fn(&mut dyn Stage) -> bool) {
        self.settle();
        let (mut waited, mut step) = (Duration::ZERO, Duration::from_millis(10));
        while waited < limit && !done(self.stage) {
            self.wait(step);
            waited += step;
            step *= 2;
        }
    }

    /// Takes what both neighbours were told since the last time.
    fn collect(&mut self) {
        let at = self.stage.now();
        // Within a lane the order is that of the wire; across lanes it is hosts, then editor, each time
        // the stage came to rest.
        for (index, host) in self.stage.hosts().into_iter().enumerate() {
            let mut asked = None;
            for event in host.take_events() {
                match event {
                    Event::Did(Output::Line(line)) => {
                        self.record(at, Wire::Host(index), false, &line);
                        self.note_host_frame(index);
                    }
                    Event::Did(Output::Asked { handle, id, method, .. }) => {
                        self.asks.push((index, handle, id.to_string() + " " + &method));
                        // The request itself came just before.
                        if let Some((frame, entry)) = asked.take() {
                            self.lanes.hosts.push_back(Waiting { frame, host: Some(index), entry });
                        }
                    }
                    Event::Did(_) => {}
                    Event::Received(line) => {
                        self.record(at, Wire::Host(index), true, &line);
                        let entry = self.transcript.entries.len() - 1;
                        let Ok(frame) = serde_json::from_slice::<Value>(&line) else { continue };
                        let is_answer = frame.get("method").is_none();
                        let receipt = is_answer && frame["result"] == json!({});
                        // The model answers everything else by itself (DSL-7).
                        if (is_answer && !receipt) || self.is_named(&frame) {
                            self.lanes.hosts.push_back(Waiting { frame, host: Some(index), entry });
                        } else {
                            asked = Some((frame, entry));
                        }
                    }
                }
            }
        }
        let bytes = self.stage.editor_read();
        self.partial.extend(bytes);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            let line = &line[..line.len() - 1];
            self.record(at, Wire::Editor, true, line);
            if let Ok(frame) = serde_json::from_slice::<Value>(line) {
                if let (Some(id), Some(result)) = (frame["id"].as_u64(), frame.get("result")) {
                    self.names.answered(id, result);
                    if let Some(session) = result.get("sessionId") {
                        self.session = Some(session.clone());
                    }
                }
                self.lanes.take_editor(frame, self.transcript.entries.len() - 1);
            }
        }
    }

    /// A notification of the adapter that some line of the file names.
    fn is_named(&self, frame: &Value) -> bool {
        let method = frame["method"].as_str().unwrap_or_default();
        frame.get("id").is_none() && !method.is_empty() && super::expects(self.file, method)
    }

    fn record(&mut self, at: Duration, lane: Wire, from_adapter: bool, line: &[u8]) {
        let frame = serde_json::from_slice(line)
            .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(line).into_owned()));
        let entry = Entry { at, lane, from_adapter, frame, lie: false, line: None };
        self.transcript.entries.push(entry);
    }

    fn act(&mut self, act: &Act) -> Result<(), Failure> {
        let is_host = act.lane.is_host();
        if self.last_lane.is_some_and(|last| last != is_host) {
            self.settle();
        }
        self.last_lane = Some(is_host);
        self.note_act(act);
        if is_host { self.host_act(act) } else { self.editor_act(act) }
    }

    fn editor_act(&mut self, act: &Act) -> Result<(), Failure> {
        match &act.kind {
            ActKind::Send { method, kind, .. } => {
                let mut params = self.editor_params(method);
                self.apply(&mut params, &act.sets)?;
                let mut frame = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                if *kind == FrameKind::Request {
                    self.next_id += 1;
                    frame["id"] = json!(self.next_id);
                    if let Some(name) = &act.bind {
                        let bound = Bound::EditorRequest { id: self.next_id, params, result: None };
                        self.names.bind(&name.text, bound);
                    }
                }
                self.editor_frame(act, &frame);
            }
            ActKind::Ok { request } => {
                let (id, params) = self.question(&request.text, act.at.line)?;
                let mut result = default_answer(&params);
                self.apply(&mut result, &act.sets)?;
                self.editor_frame(act, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            ActKind::Error { request, code } => {
                let (id, _) = self.question(&request.text, act.at.line)?;
                let mut error = json!({ "code": self.names.number(code)?, "message": "refused" });
                self.apply(&mut error, &act.sets)?;
                self.editor_frame(act, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            ActKind::Raw(value) => {
                let frame = self.names.json(value)?;
                self.bind_raw(act, 0, &frame);
                self.editor_frame(act, &frame);
            }
            ActKind::Bytes(bytes) => self.stage.editor_write(bytes),
            ActKind::Fault(Fault::Eof) => self.stage.editor_close(),
            ActKind::Fault(Fault::StallRead) => self.stage.editor_stall(true),
            ActKind::Fault(Fault::ResumeRead) => self.stage.editor_stall(false),
            ActKind::Fault(fault) => {
                let fault = link_fault(fault);
                let done = fault.map_or(Err("this fault is one of hosts"), |fault| {
                    self.stage.link(Party::Editor, fault)
                });
                done.map_err(|text| self.placed(Failure::new(Code::Illegal, act.at.line, text)))?;
            }
        }
        Ok(())
    }

    /// A lie may be a request; its answer is expected by its name.
    fn bind_raw(&mut self, act: &Act, host: usize, frame: &Value) {
        if let Some(name) = &act.bind {
            let bound = Bound::FromHost { host, entity: None, params: frame.clone() };
            self.names.bind(&name.text, bound);
        }
    }

    fn editor_frame(&mut self, act: &Act, frame: &Value) {
        let at = self.stage.now();
        let line = frame.to_string();
        self.record(at, Wire::Editor, false, line.as_bytes());
        self.note_editor_frame(act);
        self.stage.editor_write(format!("{line}\n").as_bytes());
    }

    /// What a plain editor sends.
    fn editor_params(&self, method: &str) -> Value {
        let session = self.session.clone().unwrap_or_default();
        match method {
            "initialize" => json!({ "protocolVersion": 1, "clientCapabilities": {} }),
            "session/new" => json!({ "cwd": "/workspace", "mcpServers": [] }),
            "session/prompt" => json!({ "sessionId": session,
                                        "prompt": [{ "type": "text", "text": "hello" }] }),
            "session/cancel" | "session/close" | "session/set_mode" => {
                json!({ "sessionId": session })
            }
            "session/set_config_option" => json!({ "sessionId": session, "configId": "mode" }),
            "_muse/steer" | "_session/steering" => json!({ "sessionId": session,
                "prompt": [{ "type": "text", "text": "rather so" }] }),
            _ => json!({}),
        }
    }

    fn question(&self, name: &str, line: u32) -> Result<(Value, Value), Failure> {
        match self.names.get(name) {
            Some(Bound::FromAdapter { id: Some(id), params, .. }) => {
                Ok((id.clone(), params.clone()))
            }
            _ => Err(Failure::new(Code::Name, line, format!("${name} is no request that waits"))),
        }
    }

    fn apply(&self, root: &mut Value, sets: &[Set]) -> Result<(), Failure> {
        for one in sets {
            set(root, &one.path, self.names.json(&one.value)?);
        }
        Ok(())
    }

    fn host_act(&mut self, act: &Act) -> Result<(), Failure> {
        let line = act.at.line;
        if let ActKind::Fault(fault) = &act.kind
            && let Some(fault) = link_fault(fault)
        {
            // The machine is there before any process runs on it.
            return self
                .stage
                .link(Party::Host, fault)
                .map_err(|text| self.placed(Failure::new(Code::Illegal, line, text)));
        }
        let index = self.host_index(act.lane, line)?;
        let hosts = self.stage.hosts();
        let host = &hosts[index];
        let illegal = |error: fake_msp::engine::script::Illegal| {
            Failure::new(Code::Illegal, line, error.to_string())
        };
        match &act.kind {
            ActKind::Send { method, of, .. } => {
                // A frame may name itself: its id is minted before it is sent.
                if let Some(name) = &act.bind
                    && of.is_none()
                    && uses(act, &name.text)
                {
                    let id = host.with(|process| process.engine.mint(method));
                    self.names.bind(&name.text, Bound::Value(Value::from(id)));
                }
                let of = match of {
                    None => None,
                    Some(name) => match self.names.get(&name.text) {
                        Some(Bound::FromHost { entity: Some(entity), .. }) => Some(entity.clone()),
                        Some(Bound::FromAdapter { params, .. }) => turn_of(params),
                        _ => None,
                    },
                };
                let mut sets = self.host_sets(act, host)?;
                if let (Some(name), None) = (&act.bind, &of)
                    && let Some(Bound::Value(minted)) = self.names.get(&name.text)
                {
                    sets.extend(own_id(method).map(|path| (path.to_owned(), minted.clone())));
                }
                let sets: Vec<(&str, Value)> =
                    sets.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
                let emitted = host.with(|process| {
                    if act.lost {
                        process.engine.lose(method, &sets, of.as_ref())
                    } else {
                        process.engine.emit(method, &sets, of.as_ref())
                    }
                });
                let emitted = emitted.map_err(illegal).map_err(|failure| self.placed(failure))?;
                if let Some(name) = &act.bind {
                    let bound = Bound::FromHost {
                        host: index,
                        entity: emitted.entity,
                        params: emitted.params,
                    };
                    self.names.bind(&name.text, bound);
                }
            }
            ActKind::Ok { request } => {
                let handle = self.handle(&request.text, line)?;
                let sets = self.host_sets(act, host)?;
                let sets: Vec<(&str, Value)> =
                    sets.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
                let answered = host.with(|process| process.engine.answer_ok(handle, &sets));
                let result = answered.map_err(illegal).map_err(|failure| self.placed(failure))?;
                if let Some(name) = &act.bind {
                    let bound = Bound::FromHost { host: index, entity: None, params: result };
                    self.names.bind(&name.text, bound);
                }
            }
            ActKind::Error { request, code } => {
                let handle = self.handle(&request.text, line)?;
                let code = self.names.number(code)?;
                let sets = self.host_sets(act, host)?;
                let sets: Vec<(&str, Value)> =
                    sets.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
                let answered =
                    host.with(|process| process.engine.answer_error(handle, code, &sets));
                answered.map_err(illegal).map_err(|failure| self.placed(failure))?;
            }
            ActKind::Raw(value) => {
                self.lied = true;
                let frame = self.names.json(value)?;
                self.bind_raw(act, index, &frame);
                host.with(|process| process.engine.raw(&frame));
            }
            ActKind::Bytes(bytes) => {
                self.lied = true;
                host.with(|process| process.engine.bytes(bytes));
            }
            ActKind::Fault(fault) => {
                let fault = match fault {
                    Fault::Eof => ProcessFault::Eof,
                    Fault::Exit(code) => {
                        let code = self.names.number(code)?;
                        ProcessFault::Exit(i32::try_from(code).unwrap_or(1))
                    }
                    Fault::Kill => ProcessFault::Kill,
                    Fault::Stderr(text) => ProcessFault::Stderr(text.clone()),
                    Fault::StallRead => ProcessFault::StallRead(true),
                    Fault::ResumeRead => ProcessFault::StallRead(false),
                    Fault::CloseStdin => ProcessFault::CloseStdin,
                    Fault::Hold
                    | Fault::Release
                    | Fault::Delay(_)
                    | Fault::Crash
                    | Fault::Bounce => return Ok(()), // played above
                };
                host.with(|process| process.engine.fault(fault));
            }
        }
        Ok(())
    }

    /// Members of a host act as the engine takes them.
    fn host_sets(&self, act: &Act, host: &HostProc) -> Result<Vec<(String, Value)>, Failure> {
        let mut sets = Vec::new();
        for one in &act.sets {
            let path = one.path.to_string();
            let value = if path == "events" && matches!(act.kind, ActKind::Ok { .. }) {
                self.stored_events(&one.value, host)?
            } else {
                self.names.json(&one.value)?
            };
            sets.push((path, value));
        }
        Ok(sets)
    }

    /// A page is made of whole events: there a bare name stands for what the log holds.
    fn stored_events(
        &self,
        value: &crate::lang::ast::Value,
        host: &HostProc,
    ) -> Result<Value, Failure> {
        use crate::lang::ast::ValueKind;
        let ValueKind::Array(list) = &value.kind else { return self.names.json(value) };
        let mut events = Vec::new();
        for value in list {
            let stored = match &value.kind {
                ValueKind::Name(name) if name.path.is_none() => match self.names.get(&name.name) {
                    Some(Bound::FromHost { params, .. }) => {
                        let text = |key: &str| params[key].as_str().unwrap_or_default().to_owned();
                        let (session, cursor) = (text("sessionId"), text("viewCursor"));
                        host.with(|process| process.engine.stored_event(&session, &cursor))
                    }
                    _ => None,
                },
                _ => None,
            };
            events.push(match stored {
                Some(event) => event,
                None => self.names.json(value)?,
            });
        }
        Ok(Value::Array(events))
    }

    fn handle(&self, name: &str, line: u32) -> Result<AskHandle, Failure> {
        match self.names.get(name) {
            Some(Bound::FromAdapter { handle: Some(handle), .. }) => Ok(*handle),
            _ => Err(self.placed(Failure::new(
                Code::Name,
                line,
                format!("${name} does not wait for an answer of the story"),
            ))),
        }
    }

    /// The model's handle of a request of the adapter, taken once.
    pub(super) fn take_ask(&mut self, host: usize, frame: &Value) -> Option<AskHandle> {
        let key = format!(
            "{} {}",
            frame.get("id")?,
            frame.get("method").and_then(Value::as_str).unwrap_or_default()
        );
        let at = self.asks.iter().position(|(of, _, asked)| *of == host && *asked == key)?;
        Some(self.asks.remove(at).1)
    }

    /// The host that a lane means as an actor.
    pub(super) fn host_index(&mut self, lane: Lane, line: u32) -> Result<usize, Failure> {
        let count = self.stage.hosts().len();
        let index = match lane {
            Lane::HostNumber(number) => usize::from(number).checked_sub(1),
            _ => count.checked_sub(1),
        };
        index.filter(|index| *index < count).ok_or_else(|| {
            self.placed(Failure::new(Code::Missing, line, "the adapter has not started this host"))
        })
    }
}

/// The answer that a line leaves unsaid: the first option that allows once.
fn default_answer(params: &Value) -> Value {
    let options = params["options"].as_array();
    let allow = options.and_then(|all| all.iter().find(|one| one["kind"] == "allow_once"));
    match allow.and_then(|option| option.get("optionId")) {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None if options.is_some() => json!({ "outcome": { "outcome": "cancelled" } }),
        None => json!({}),
    }
}

/// The members of a frame use the frame's own name.
fn uses(act: &Act, name: &str) -> bool {
    let mut found = false;
    act.each_value_name(&mut |used| found |= used.name == name);
    found
}

/// What a fault does to a network, if it is one of those.
const fn link_fault(fault: &Fault) -> Option<LinkFault> {
    Some(match fault {
        Fault::Hold => LinkFault::Hold,
        Fault::Release => LinkFault::Release,
        Fault::Delay(by) => LinkFault::Delay(*by),
        Fault::Crash => LinkFault::Crash,
        Fault::Bounce => LinkFault::Bounce,
        _ => return None,
    })
}

/// Where a frame carries its own id.
fn own_id(method: &str) -> Option<&'static str> {
    match method.split_once('/')?.0 {
        "approval" => Some("approvalId"),
        "userInput" => Some("userInputId"),
        "item" => Some("item.itemId"),
        _ => None,
    }
}

/// A `turn/start` of the adapter stands for its turn.
fn turn_of(params: &Value) -> Option<EntityRef> {
    Some(EntityRef::Turn {
        session: params["sessionId"].as_str()?.to_owned(),
        id: params["commandId"].as_str()?.to_owned(),
    })
}

fn stage_table(table: &StageTable) -> Value {
    let rows = table.rows.iter().map(|row| {
        let mut stage = json!({ "resolution": row.resolution });
        if !row.argv.is_empty() {
            stage["argv"] = json!(row.argv);
        }
        stage
    });
    Value::Array(rows.collect())
}

/// The member at a path of a frame's params, result or error.
pub(super) fn member<'v>(frame: &'v Value, path: &crate::lang::ast::Path) -> Option<&'v Value> {
    let root = ["params", "result", "error"].into_iter().find_map(|name| frame.get(name))?;
    get(root, path)
}
