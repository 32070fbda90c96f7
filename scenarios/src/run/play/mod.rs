//! Plays one point of a story on a stage.
//!
//! In: the tree, a point, a stage. Out: the transcript, and the first failure. `->` lines are performed at
//! once and in order; before every `<-`, `after` and `quiet` the stage comes to rest (DSL-6). A change of
//! lane between two acts comes to rest too, so that the written order is the order in which the adapter
//! sees them. It does not judge invariants: that is [`super::watch`].

mod editor;
mod host;

use std::time::Duration;

use fake_msp::engine::{AskHandle, Output};
use serde_json::{Value, json};

use super::lanes::{Lanes, Waiting};
use super::names::{Bound, Names, get, set};
use super::report::{Code, Failure};
use super::trail::Trail;
use super::transcript::{Entry, Lane as Wire, Transcript};
use crate::lang::ast::{Act, Fault, File, Set, Step, Wait, WatchKind};
use crate::lang::point::{Axis, Choice, Point};
use crate::stage::host::Event;
use crate::stage::{HostProc, Landing, LinkFault, Stage};

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
            names.bind(&table.name.text, Bound::Value(host::stage_table(table)));
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

    /// A lie may be a request; its answer is expected by its name.
    fn bind_raw(&mut self, act: &Act, host: usize, frame: &Value) {
        if let Some(name) = &act.bind {
            let bound = Bound::FromHost { host, entity: None, params: frame.clone() };
            self.names.bind(&name.text, bound);
        }
    }

    fn apply(&self, root: &mut Value, sets: &[Set]) -> Result<(), Failure> {
        for one in sets {
            set(root, &one.path, self.names.json(&one.value)?);
        }
        Ok(())
    }
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

/// The member at a path of a frame's params, result or error.
pub(super) fn member<'v>(frame: &'v Value, path: &crate::lang::ast::Path) -> Option<&'v Value> {
    let root = ["params", "result", "error"].into_iter().find_map(|name| frame.get(name))?;
    get(root, path)
}
