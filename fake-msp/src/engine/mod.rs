//! The host as a function: `(state, input, now) → outputs, next deadline`.
//!
//! Purpose: [`Host`] is one connection to one fake Muse host. Inputs: client lines, the end of
//! stdin, timers, and (scripted mode) script acts. Outputs: frames and process effects, in order,
//! from [`Host::poll_output`]. Invariants: no I/O, no clock, no randomness, no hash order, so the
//! same inputs give the same bytes; every frame stays under the frame limit; nothing is ever
//! executed. It does not know pipes, threads or scenario files.
//! Rules: HOST-1..20, DEC-9.
//!
//! Start reading at [`Host::handle`]; commands are dispatched in `execute`.

mod acting;
mod approvals;
mod broadcast;
mod disk;
mod dispatch;
mod emit;
mod errors;
mod faults;
mod fold;
mod fork;
mod frames;
mod gap;
mod handshake;
mod head;
mod history;
mod ids;
mod input;
mod io;
mod leave;
mod ledger;
mod list;
mod log;
mod paging;
mod plan;
mod prompts;
mod reactions;
mod reader;
mod record;
mod repertoire;
mod restart;
pub mod script;
mod session;
mod sessions;
mod settings;
mod store;
mod subjects;
mod turns;
pub(crate) mod words;
mod work;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;
use serde_json::{Map, Value};

pub(crate) use dispatch::After;
pub(crate) use errors::Refusal;
pub use faults::Fault;
pub(crate) use fold::TurnRef;
pub(crate) use frames::Incoming;
pub use frames::{FRAME_BYTES_MAX, PREFIX_BYTES};
pub use ids::EPOCH_MS;
pub(crate) use ids::{Ids, Kind};
pub use io::{AskHandle, Input, Mode, Options, Output};
use ledger::{Ledger, Seen};
use list::Listing;
pub(crate) use log::Log;
pub(crate) use prompts::check_answers;
pub use restart::Recovery;
pub(crate) use session::Session;
pub use store::{Ends, Store, StoreError};
pub use words::WORDS_HELP;

use crate::oracle::{self, Finding, Violation};
use crate::profiles::{Class, Profile};

/// Findings that are kept; later ones are dropped. A client that breaks more rules than this does
/// not become clearer by a longer list.
const VIOLATIONS_MAX: usize = 10_000;

/// Made-up time between the beginnings of two hosts over one store: an hour.
const BOOT_MS: u64 = 60 * 60 * 1000;

/// Answer of a command handler.
pub(crate) type Reply = Result<Value, Refusal>;

/// Where the handshake stands (HSK-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing yet.
    New,
    /// `initialize` was answered.
    Answered,
    /// `initialized` arrived.
    Ready,
}

/// What the handshake fixed for the connection (HSK-2).
#[derive(Debug)]
struct Connection {
    phase: Phase,
    client_name: String,
    opted_out: BTreeSet<String>,
    granted: Vec<&'static str>,
    experimental: bool,
    dialogs: bool,
    /// Last request id that was minted (HOST-6).
    requests: u64,
    /// Requests whose receipt is missing, by id: method.
    unreceipted: BTreeMap<u64, &'static str>,
}

impl Connection {
    fn new() -> Self {
        Self {
            phase: Phase::New,
            client_name: String::new(),
            opted_out: BTreeSet::new(),
            granted: Vec::new(),
            experimental: false,
            dialogs: true,
            requests: 0,
            unreceipted: BTreeMap::new(),
        }
    }
}

/// A client request that the script has not answered yet.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// The model's reply, if an event needed its effects before the answer.
    pub(crate) prepared: Option<Reply>,
    /// What the model does after its reply; the script's business for turns and approvals.
    pub(crate) after: Vec<After>,
}

impl Ask {
    fn new(id: Value, method: String, params: Map<String, Value>) -> Self {
        Self { id, method, params, prepared: None, after: Vec::new() }
    }
}

/// A fake Muse host. See the module's documentation.
#[derive(Debug)]
pub struct Host {
    profile: &'static Profile,
    options: Options,
    /// Engine time at which this host began.
    start_ms: u64,
    now: u64,
    out: VecDeque<Output>,
    ids: Ids,
    connection: Connection,
    sessions: IndexMap<String, Session>,
    /// Where sessions outlive this host, if anywhere.
    store: Option<Box<dyn Store>>,
    listing: Listing,
    /// Sessions whose status may have changed since it was told.
    moved: BTreeSet<String>,
    ledger: Ledger,
    /// Outcomes of completed leaves, by command.
    left: BTreeMap<String, Value>,
    asks: BTreeMap<u64, Ask>,
    asked: u64,
    /// Activation words of skills that a client changed.
    skill_states: BTreeMap<String, String>,
    uploads: work::Uploads,
    /// The session that was started, resumed or addressed last: the script's default.
    current: Option<String>,
    violations: Vec<Violation>,
    stdout_open: bool,
    ended: bool,
}

impl Host {
    /// A host that nobody has spoken to.
    #[must_use]
    pub fn new(profile: &'static Profile, options: Options) -> Self {
        let ids = Ids::over(options.seed, options.boot);
        let start_ms = options.boot.saturating_mul(BOOT_MS);
        Self {
            profile,
            options,
            start_ms,
            now: start_ms,
            out: VecDeque::new(),
            ids,
            connection: Connection::new(),
            sessions: IndexMap::new(),
            store: None,
            listing: Listing::default(),
            moved: BTreeSet::new(),
            ledger: Ledger::default(),
            left: BTreeMap::new(),
            asks: BTreeMap::new(),
            asked: 0,
            skill_states: BTreeMap::new(),
            uploads: work::Uploads::default(),
            current: None,
            violations: Vec::new(),
            stdout_open: true,
            ended: false,
        }
    }

    /// The emulated generation.
    #[must_use]
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// Feeds one input at `now_ms` (milliseconds since the host began; never runs backwards).
    /// Afterwards outputs may wait in [`Host::poll_output`] and the deadline may have changed.
    /// After the host has ended, inputs are ignored.
    pub fn handle(&mut self, now_ms: u64, input: Input<'_>) {
        self.now = self.now.max(self.start_ms.saturating_add(now_ms));
        if self.ended {
            return;
        }
        match input {
            Input::Line(line) => self.on_line(line),
            Input::Tail(tail) => self.on_tail(tail),
            Input::TooLong { prefix } => self.on_too_long(prefix),
            Input::Eof => self.on_eof(),
            Input::Timer => {}
        }
        self.run_due();
        self.tell_status();
        self.unload_quiet();
    }

    /// The next effect in order. Call until `None` after every [`Host::handle`]. A burst (see
    /// [`WORDS_HELP`]) is made here, one frame per call, so that whoever pulls slowly buffers little.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output> {
        if self.out.is_empty() && !self.ended {
            self.pump_burst();
            self.tell_status();
        }
        self.out.pop_front()
    }

    /// The next time at which [`Input::Timer`] does something, if any.
    #[must_use]
    pub fn deadline(&self) -> Option<u64> {
        let sessions = self.sessions.values();
        let idle = sessions.filter_map(|session| self.idle_deadline(session)).min();
        let next = self.next_due().map(|(due, _)| due).into_iter().chain(idle).min();
        next.map(|at| at.saturating_sub(self.start_ms))
    }

    /// What the oracle found so far, in order.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Whether the host has ended (its `Exit` or `Kill` may still wait in the outputs).
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    fn on_line(&mut self, line: &[u8]) {
        // The limit is one of content: a `\r` before the line end does not count (FRM-3, FRM-6).
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > FRAME_BYTES_MAX {
            return self.on_too_long(&line[..PREFIX_BYTES]);
        }
        match frames::read(line) {
            Incoming::Blank => {}
            Incoming::Bad { id, refusal, note } => {
                self.note("frame", note);
                self.respond(&id, &Err(refusal));
            }
            Incoming::Request { id, method, params, notes } => {
                for note in notes {
                    self.note(&method, note);
                }
                self.on_request(&id, &method, params);
            }
            Incoming::Notification { method, params, notes } => {
                for note in notes {
                    self.note(&method, note);
                }
                self.on_notification(&method, params.as_ref());
            }
            Incoming::Response { id, result, error } => {
                self.on_response(&id, result.as_ref(), error.as_ref());
            }
        }
    }

    fn on_tail(&mut self, tail: &[u8]) {
        if serde_json::from_slice::<Map<String, Value>>(tail).is_ok() {
            self.on_line(tail);
        } else if !tail.iter().all(u8::is_ascii_whitespace) {
            self.note("frame", ("", "FRM-12", "stdin ended inside a frame"));
        }
    }

    fn on_too_long(&mut self, prefix: &[u8]) {
        self.note("frame", ("", "FRM-6", "line is longer than the frame limit"));
        let (id, refusal) = frames::too_long(prefix);
        self.respond(&id, &Err(refusal));
    }

    fn on_request(&mut self, id: &Value, method: &str, params: Option<Value>) {
        if self.play_fault(id, method) {
            return;
        }
        match self.admit(id, method, params) {
            Ok(Some(params)) => self.run_command(id, method, params),
            Ok(None) => {}
            Err(refusal) => self.respond(id, &Err(refusal)),
        }
    }

    /// Checks everything that does not depend on the command: phase, method, shape, ledger.
    /// `None` means that it was answered from the ledger.
    fn admit(
        &mut self,
        id: &Value,
        method: &str,
        params: Option<Value>,
    ) -> Result<Option<Map<String, Value>>, Refusal> {
        self.check_phase(method)?;
        let Some(row) = self.profile.method(method) else {
            self.note("method", ("", "HOST-18", "method does not exist in this host generation"));
            return Err(Refusal::new(-32601, "no such method"));
        };
        if row.experimental && !self.connection.experimental {
            self.note(method, ("", "HSK-7", "experimental method without the opt-in"));
            let refusal = Refusal::new(-32601, "experimental method").kind("experimentalRequired");
            return Err(refusal.with("descriptor", method));
        }
        let mut params = match params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                self.note(method, ("params", "ENV-9", "params must be an object or left out"));
                return Err(Refusal::invalid_params("params must be an object"));
            }
        };
        if self.asks.values().any(|ask| ask.id == *id) {
            self.note(method, ("id", "ENV-2", "request id is still in flight"));
        }
        let findings =
            oracle::check_params(self.profile, self.connection.experimental, method, &params);
        let refused = findings.iter().find(|finding| finding.refused).map(|finding| {
            let refusal = Refusal::invalid_params(format!("{}: {}", finding.path, finding.text));
            match finding.experimental {
                true => refusal
                    .kind("experimentalRequired")
                    .with("descriptor", format!("{method}.{}", finding.path)),
                false => refusal,
            }
        });
        self.find(method, findings);
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        oracle::drop_newer(self.profile, method, &mut params);
        if let Some(session) = params.get("sessionId").and_then(Value::as_str) {
            self.fetch(session)?;
        }
        if let (Class::Command, Some(command_id)) =
            (row.class, params.get("commandId").and_then(Value::as_str))
        {
            match self.ledger.look(command_id, method, &params, id) {
                Seen::Fresh => {}
                Seen::Waiting => return Ok(None),
                Seen::Replay(reply) => {
                    self.respond(id, &reply);
                    self.repeat_leave(command_id);
                    return Ok(None);
                }
                Seen::Conflict => {
                    let finding = ("commandId", "CMD-5", "used before with another payload");
                    self.note(method, finding);
                    return Err(Refusal::rejected(command_id, "command_id_conflict"));
                }
            }
        }
        Ok(Some(params))
    }

    fn run_command(&mut self, id: &Value, method: &str, params: Map<String, Value>) {
        let mut findings = oracle::model::judge(&self.sessions, method, &params);
        findings.extend(oracle::model::ungranted(
            self.profile,
            &self.connection.granted,
            method,
            &params,
        ));
        self.find(method, findings);
        let command_id = params.get("commandId").and_then(Value::as_str).map(str::to_owned);
        if let Some(command_id) = &command_id {
            self.ledger.open(command_id, method, &params);
            self.record_accepted(command_id, method, &params);
        }
        if self.is_asked(method) {
            self.asked += 1;
            self.current = params.get("sessionId").and_then(Value::as_str).map(str::to_owned);
            let handle = AskHandle(self.asked);
            self.out.push_back(Output::Asked {
                handle,
                id: id.clone(),
                method: method.to_owned(),
                params: Value::Object(params.clone()),
            });
            let method = method.to_owned();
            self.asks.insert(handle.0, Ask::new(id.clone(), method, params));
            return;
        }
        let mut after = Vec::new();
        let reply = self.execute(method, &params, &mut after);
        if let Some(command_id) = &command_id {
            self.record_settled(command_id, method, &params, &reply);
        }
        self.settle(id, command_id.as_deref(), &reply);
        for effect in after {
            self.run_after(effect);
        }
    }

    pub(super) fn is_asked(&self, method: &str) -> bool {
        self.options.mode == Mode::Scripted
            && (is_scripted(method) || self.options.asked.iter().any(|asked| asked == method))
    }

    /// Answers a command and every replay that waited for it.
    pub(crate) fn settle(&mut self, id: &Value, command_id: Option<&str>, reply: &Reply) {
        self.respond(id, reply);
        if let Some(command_id) = command_id {
            for waiting in self.ledger.settle(command_id, reply) {
                self.respond(&waiting, reply);
            }
        }
    }

    fn on_notification(&mut self, method: &str, params: Option<&Value>) {
        match method {
            "initialized" => self.on_initialized(params),
            "userInput/engaged" if self.profile.notification(method).is_some() => {
                let params = params.and_then(Value::as_object).cloned().unwrap_or_default();
                let mut findings = oracle::check_params(
                    self.profile,
                    self.connection.experimental,
                    method,
                    &params,
                );
                findings.extend(oracle::model::judge(&self.sessions, method, &params));
                self.find(method, findings);
                self.on_engaged(&params);
            }
            _ => self.note("notification", ("method", "TOL-6", "unknown notification")),
        }
    }

    /// A receipt: it changes no state (ENV-10, HOST-9).
    fn on_response(&mut self, id: &Value, result: Option<&Value>, error: Option<&Value>) {
        let known = id.as_u64().and_then(|id| self.connection.unreceipted.remove(&id));
        if known.is_none() {
            self.note("response", ("id", "ENV-5", "answers no open request of the host"));
            return;
        }
        match (result, error) {
            (Some(_), Some(_)) => {
                self.note("response", ("", "ENV-1", "both result and error"));
            }
            (Some(Value::Object(receipt)), None) if receipt.is_empty() => {}
            (Some(_), None) => {
                self.note("response", ("result", "ENV-10", "a receipt is the empty object"));
            }
            (None, Some(error)) => {
                let formed = error["code"].is_i64() && error["message"].is_string();
                if !formed {
                    let text = "an error has an integer code and a message";
                    self.note("response", ("error", "ENV-1", text));
                }
            }
            (None, None) => {}
        }
    }

    /// Orderly end: the active turn gets its terminal, then exit 0 (PRC-4).
    fn on_eof(&mut self) {
        if self.options.faults.contains(&Fault::HangOnEof) {
            return;
        }
        if self.options.mode == Mode::Obliging {
            self.close_sessions();
        }
        self.end(Output::Exit { code: 0 });
    }

    /// Ends the host: `last` is the final output.
    pub(crate) fn end(&mut self, last: Output) {
        self.out.push_back(last);
        for session in self.sessions.values_mut() {
            session.plan = None;
            session.work.clear();
        }
        self.ended = true;
    }

    fn note(&mut self, method: &str, (path, rule, text): (&str, &'static str, &str)) {
        self.find(method, vec![Finding::noted(path.to_owned(), rule, text)]);
    }

    fn find(&mut self, method: &str, findings: Vec<Finding>) {
        let room = VIOLATIONS_MAX.saturating_sub(self.violations.len());
        let findings = findings.into_iter().take(room);
        self.violations.extend(findings.map(|finding| finding.of(method)));
    }
}

/// Methods that a script always answers (section 2 of the scenario language, DSL-7).
fn is_scripted(method: &str) -> bool {
    let family = method.split_once('/').map_or(method, |(family, _)| family);
    matches!(family, "turn" | "approval" | "userInput") || method == "view/page"
}
