//! The host as a function: `(state, input, now) → outputs, next deadline`.
//!
//! Purpose: [`Host`] is one connection to one fake Muse host. Inputs: client lines, the end of
//! stdin, timers, and (scripted mode) script acts. Outputs: frames and process effects, in order,
//! from [`Host::poll_output`]. Invariants: no I/O, no clock, no randomness, no hash order, so the
//! same inputs give the same bytes; every frame stays under the frame limit; nothing is ever
//! executed. It does not know pipes, threads or scenario files.
//! Rules: HOST-1..20, DEC-9.
//!
//! Start reading at [`Host::handle`]; lines go through `receive`, `admission` and `dispatch`.

mod acting;
mod admission;
mod approvals;
mod broadcast;
mod connection;
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
mod receive;
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

use connection::{Connection, Phase};
pub(crate) use dispatch::After;
pub(crate) use errors::Refusal;
pub use faults::Fault;
pub(crate) use fold::TurnRef;
pub use frames::{FRAME_BYTES_MAX, PREFIX_BYTES};
pub use ids::EPOCH_MS;
pub(crate) use ids::{Ids, Kind};
pub use io::{AskHandle, Input, Mode, Options, Output};
use ledger::Ledger;
use list::Listing;
pub(crate) use log::Log;
pub(crate) use prompts::check_answers;
pub use restart::Recovery;
pub(crate) use session::Session;
pub use store::{Ends, Store, StoreError};
pub use words::WORDS_HELP;

use crate::oracle::{Finding, Violation};
use crate::profiles::Profile;

/// Findings that are kept; later ones are dropped. A client that breaks more rules than this does
/// not become clearer by a longer list.
const VIOLATIONS_MAX: usize = 10_000;

/// Made-up time between the beginnings of two hosts over one store: an hour.
const BOOT_MS: u64 = 60 * 60 * 1000;

/// Answer of a command handler.
pub(crate) type Reply = Result<Value, Refusal>;

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
