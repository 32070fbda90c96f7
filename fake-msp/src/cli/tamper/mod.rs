//! Levers on the wire: what a client sees of a host that is slow, forgetful or of another build.
//!
//! Purpose: stand between the pipes and a host, hold lines back, change or drop answers. Inputs and
//! outputs: those of [`Player`]. Invariants: lines keep their order, so a delayed one delays what
//! comes after it, the end of stdin included, as a host that is busy would; with no levers nothing is
//! read or copied. No I/O, no clock. Rules: HOST-15, HOST-16; LEG.

mod change;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use change::{Change, NOISE, huge, legacy, set};
use serde::Deserialize;
use serde_json::Value;

use super::player::Player;
use crate::engine::{Input, Output};
use crate::oracle::Violation;

/// One lever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tamper {
    /// The host sees this method so many milliseconds later.
    Delay(String, u64),
    /// The host acts at once, its answer comes so many milliseconds later.
    Late(String, u64),
    /// The host acts and never answers.
    Lost(String),
    /// The answer comes twice.
    Twice(String),
    /// Before the answer come lines that a client must step over.
    Noise(String),
    /// Before the answer comes a line above the frame limit.
    Huge(String),
    /// Half of the answer, then the end of the process.
    Cut(String),
    /// `initialize` names this fingerprint.
    Fingerprint(String),
    /// `session/read` names this model.
    Model(String),
    /// Sessions were saved with a permission profile that this host cannot use.
    LegacyProfile,
}

/// A line that has not reached the host.
#[derive(Debug)]
struct Held {
    due: u64,
    what: HeldInput,
}

#[derive(Debug)]
enum HeldInput {
    Line(Vec<u8>),
    TooLong(Vec<u8>),
    Tail(Vec<u8>),
    Eof,
}

/// The members by which a frame is recognised.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
}

/// A host behind levers.
pub(super) struct Tampered<P> {
    inner: P,
    levers: Vec<Tamper>,
    held: VecDeque<Held>,
    /// Answers by the time at which they are due; the number keeps the order of equal times.
    late: BTreeMap<(u64, u64), Output>,
    /// Requests whose answers change, by id as JSON text.
    changes: BTreeMap<String, Vec<Change>>,
    out: VecDeque<Output>,
    exit: Option<Output>,
    now: u64,
    counter: u64,
}

impl<P: Player> Tampered<P> {
    pub(super) fn new(inner: P, levers: Vec<Tamper>) -> Self {
        Self {
            inner,
            levers,
            held: VecDeque::new(),
            late: BTreeMap::new(),
            changes: BTreeMap::new(),
            out: VecDeque::new(),
            exit: None,
            now: 0,
            counter: 0,
        }
    }

    /// Keeps an input back if it must wait. True if it was taken.
    fn hold(&mut self, input: Input<'_>) -> bool {
        let what = match input {
            Input::Line(line) => HeldInput::Line(line.to_vec()),
            Input::TooLong { prefix } => HeldInput::TooLong(prefix.to_vec()),
            Input::Tail(tail) => HeldInput::Tail(tail.to_vec()),
            Input::Eof => HeldInput::Eof,
            Input::Timer => return false,
        };
        let wait = match &what {
            HeldInput::Line(line) | HeldInput::Tail(line) => self.delay(line),
            HeldInput::TooLong(_) | HeldInput::Eof => 0,
        };
        let before = self.held.back().map(|held| held.due);
        if wait == 0 && before.is_none() {
            return false;
        }
        let due = before.unwrap_or(self.now).max(self.now).saturating_add(wait);
        self.held.push_back(Held { due, what });
        true
    }

    fn delay(&self, line: &[u8]) -> u64 {
        let Some(method) = head(line).method else { return 0 };
        let found = self.levers.iter().find_map(|lever| match lever {
            Tamper::Delay(name, ms) if *name == method => Some(*ms),
            _ => None,
        });
        found.unwrap_or(0)
    }

    fn pass(&mut self, input: Input<'_>) {
        if let Input::Line(line) | Input::Tail(line) = input {
            let Head { id: Some(id), method: Some(method) } = head(line) else {
                return self.inner.handle(self.now, input);
            };
            if self.levers.contains(&Tamper::LegacyProfile) && method == "session/resume" {
                self.out.push_back(Output::Line(legacy(&id).to_string().into_bytes()));
                return;
            }
            let changes: Vec<Change> =
                self.levers.iter().filter_map(|lever| lever.change(&method)).collect();
            if !changes.is_empty() {
                self.changes.insert(id.to_string(), changes);
            }
        }
        self.inner.handle(self.now, input);
    }

    /// Gives the host what is due.
    fn release(&mut self) {
        while self.held.front().is_some_and(|held| held.due <= self.now) {
            let Some(held) = self.held.pop_front() else { return };
            match &held.what {
                HeldInput::Line(line) => self.pass(Input::Line(line)),
                HeldInput::TooLong(prefix) => self.pass(Input::TooLong { prefix }),
                HeldInput::Tail(tail) => self.pass(Input::Tail(tail)),
                HeldInput::Eof => self.pass(Input::Eof),
            }
        }
    }

    /// What becomes of an effect; `None` if it does not happen now.
    fn change(&mut self, output: Output) -> Option<Output> {
        let mut line = match output {
            Output::Line(line) => line,
            // Late answers still come before the end.
            Output::Exit { .. } if !self.late.is_empty() => {
                self.exit = Some(output);
                return None;
            }
            other => return Some(other),
        };
        if self.changes.is_empty() {
            return Some(Output::Line(line));
        }
        let Head { id: Some(id), method: None } = head(&line) else {
            return Some(Output::Line(line));
        };
        let (mut wait, mut before, mut twice) = (None, Vec::new(), false);
        for change in self.changes.remove(&id.to_string()).unwrap_or_default() {
            match change {
                Change::Lost => return None,
                Change::Late(ms) => wait = Some(ms),
                Change::Twice => twice = true,
                Change::Noise => before.extend_from_slice(NOISE.as_bytes()),
                Change::Huge => before.extend(huge()),
                Change::Cut => {
                    line.truncate(line.len() / 2);
                    self.out.push_back(Output::Exit { code: 1 });
                    return Some(Output::Raw(line));
                }
                Change::Set(path, text) => line = set(line, path, &text),
            }
        }
        let mut outputs = VecDeque::new();
        if !before.is_empty() {
            outputs.push_back(Output::Raw(before));
        }
        outputs.extend(std::iter::repeat_n(Output::Line(line), if twice { 2 } else { 1 }));
        let Some(ms) = wait else {
            let first = outputs.pop_front();
            self.out.append(&mut outputs);
            return first;
        };
        for output in outputs {
            self.counter += 1;
            self.late.insert((self.now.saturating_add(ms), self.counter), output);
        }
        None
    }
}

impl<P: Player> Player for Tampered<P> {
    fn handle(&mut self, now: u64, input: Input<'_>) {
        self.now = self.now.max(now);
        if self.levers.is_empty() {
            return self.inner.handle(now, input);
        }
        self.release();
        while let Some(entry) = self.late.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            self.out.push_back(entry.remove());
        }
        if self.late.is_empty()
            && let Some(exit) = self.exit.take()
        {
            self.out.push_back(exit);
        }
        if !self.hold(input) {
            self.pass(input);
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.out.pop_front() {
            return Some(output);
        }
        if self.exit.is_some() {
            return None;
        }
        loop {
            let output = self.inner.poll_output()?;
            if let Some(output) = self.change(output) {
                return Some(output);
            }
            if self.exit.is_some() {
                return None;
            }
        }
    }

    fn deadline(&self) -> Option<u64> {
        let held = self.held.front().map(|held| held.due);
        let late = self.late.keys().next().map(|(due, _)| *due);
        let inner = if self.exit.is_some() { None } else { self.inner.deadline() };
        [held, late, inner].into_iter().flatten().min()
    }

    fn violations(&self) -> &[Violation] {
        self.inner.violations()
    }
}

/// What does not parse has no head, and passes as it is.
fn head(line: &[u8]) -> Head {
    serde_json::from_slice(line).unwrap_or_default()
}
