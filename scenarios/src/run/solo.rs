//! The host lanes of a story against a client of one's own: `scenario host`, `fake-msp serve --scenario`.
//!
//! Lines of the editor are skipped: the client is the one who acts. A `host <-` line waits until its frame
//! comes, however long; `after` is real time; what no line names is answered by the model. After the last
//! line the model goes on until the client closes the input, then `check host` and `never host` are judged.

use super::play::Play;
use super::report::{Code, Failure};
use crate::lang::ast::{Act, CheckKind, Expect, File, Lane, Step};

impl Play<'_> {
    /// Plays the host lanes, then whatever the client still wants.
    ///
    /// # Errors
    /// The first departure of the client.
    pub(super) fn host_lanes(&mut self) -> Result<(), Failure> {
        self.solo = true;
        self.timeline()?;
        // What the story answers by lines has no lines left: a client that asks again asks for nothing.
        while self.stage.more() {
            self.settle();
            self.nothing_left()?;
        }
        self.settle();
        self.nothing_left()?;
        self.outcome()
    }

    /// One expectation, awaited.
    pub(super) fn await_line(&mut self, expect: &Expect) -> Result<(), Failure> {
        loop {
            match self.expect(expect) {
                Err(failure) if failure.code == Code::Missing && self.stage.more() => {
                    self.settle();
                }
                result => return result,
            }
        }
    }

    /// A race of expectations, awaited one by one in whatever order they come.
    pub(super) fn await_race(&mut self, lines: &[Expect]) -> Result<(), Failure> {
        let lines: Vec<Expect> = lines.iter().filter(|line| line.lane.is_host()).cloned().collect();
        // Each is a frame of its own; the last one that is missing says so.
        let mut seen = self.lanes.hosts.len();
        while seen < lines.len() && self.stage.more() {
            self.settle();
            seen = self.lanes.hosts.len();
        }
        self.expect_race(&lines)
    }
}

/// Whether a host that plays alone plays this step.
pub(super) fn plays(step: &Step) -> bool {
    match step {
        Step::Act(Act { lane, .. }) | Step::Expect(Expect { lane, .. }) => lane.is_host(),
        Step::ActRace(race) => race.lines.iter().any(|act| act.lane.is_host()),
        Step::ExpectRace(race) => race.lines.iter().any(|line| line.lane.is_host()),
        Step::After(_) => true,
        Step::Quiet(_) => false,
    }
}

/// A check that a host alone can judge.
pub(super) fn judges(check: &CheckKind) -> bool {
    matches!(check, CheckKind::Count { lane, .. } if lane.is_host())
}

/// Why a host alone cannot play the file.
pub(super) fn refuses(file: &File) -> Option<String> {
    let second = file.timeline().find_map(|step| {
        let lanes: Vec<(Lane, u32)> = match step {
            Step::Act(act) => vec![(act.lane, act.at.line)],
            Step::ActRace(race) => race.lines.iter().map(|act| (act.lane, act.at.line)).collect(),
            Step::Expect(line) => vec![(line.lane, line.at.line)],
            Step::ExpectRace(race) => {
                race.lines.iter().map(|line| (line.lane, line.at.line)).collect()
            }
            Step::After(_) | Step::Quiet(_) => Vec::new(),
        };
        lanes.into_iter().find(|(lane, _)| matches!(lane, Lane::HostNumber(2..)))
    });
    if let Some((_, line)) = second {
        return Some(format!("line {line} speaks of a second host, and this is one process"));
    }
    let network = super::StageKind::Pipe.refuses(file);
    network.or_else(|| {
        (!file.timeline().any(plays)).then(|| "the story has no line of a host".to_owned())
    })
}
