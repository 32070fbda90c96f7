//! The timeline: what the script does, what the adapter must do, and time (DSL-2..11).
//!
//! Invariants: an act has no test and an expectation sets nothing; a race holds at least two lines of
//! one kind; names of requests belong to requests of the other side.

use std::time::Duration;

use super::{At, FrameKind, Lane, Name, NamePath, Path, Value};

/// One step of the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `->` or `!`: the script acts.
    Act(Act),
    /// Acts in every order; one point of the run per order (DSL-9).
    ActRace(Race<Act>),
    /// `<-`: the adapter must act.
    Expect(Expect),
    /// Expectations of which any order is accepted.
    ExpectRace(Race<Expect>),
    /// `after`.
    After(After),
    /// `quiet`.
    Quiet(Quiet),
}

/// Lines joined by `race`, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race<T> {
    /// Number among the races of acts (from 1, `race1` in `--at`), or among those of expectations.
    pub number: u32,
    /// Two to [`RACE_LINES_MAX`](crate::lang::limits::RACE_LINES_MAX) lines.
    pub lines: Vec<T>,
}

/// Something that the script does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Who does it.
    pub lane: Lane,
    /// `lost`: written to the host's log, not delivered.
    pub lost: bool,
    /// What.
    pub kind: ActKind,
    /// `as NAME`.
    pub bind: Option<Name>,
    /// Member lines in order.
    pub sets: Vec<Set>,
    /// Place of the head line.
    pub at: At,
}

/// What the script does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActKind {
    /// Sends a request or a notification.
    Send {
        /// Wire name.
        method: String,
        /// Whether an answer is due.
        kind: FrameKind,
        /// `of NAME`: continues this entity.
        of: Option<Name>,
    },
    /// `ok NAME`: answers a request of the adapter.
    Ok {
        /// The request.
        request: Name,
    },
    /// `error NAME CODE`: answers it with an error.
    Error {
        /// The request.
        request: Name,
        /// JSON-RPC code.
        code: Number,
    },
    /// `raw {…}`: this frame as it is, a lie (DSL-5).
    Raw(Value),
    /// `bytes "…"`: these bytes as they are, a lie. The line end is not added.
    Bytes(Vec<u8>),
    /// `!`: breaks the process or its pipes.
    Fault(Fault),
}

/// DSL-11, `resume-read`, the end of `stall-read`, and what can happen to a network (`sim`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The output ends; a host process stays.
    Eof,
    /// Host only: ends with this code, 0..=255.
    Exit(Number),
    /// Host only: dies by a signal.
    Kill,
    /// Host only: a line on stderr.
    Stderr(String),
    /// Stops reading its input.
    StallRead,
    /// Reads its input again.
    ResumeRead,
    /// Host only: closes its input and stays.
    CloseStdin,
    /// `sim` only: messages between this party and the adapter wait from now on.
    Hold,
    /// `sim` only: what waited arrives.
    Release,
    /// `sim` only: each message takes this long from now on.
    Delay(Duration),
    /// `sim` only: the party's machine vanishes with everything on it.
    Crash,
    /// `sim` only, host only: the machine is there again, with nothing running.
    Bounce,
}

impl Fault {
    /// It needs a stage with a network.
    #[must_use]
    pub const fn is_of_a_network(&self) -> bool {
        matches!(self, Self::Hold | Self::Release | Self::Delay(_) | Self::Crash | Self::Bounce)
    }
}

/// A number that may be an axis of `vary`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// As written.
    Literal(i64),
    /// `$x`.
    Name(Name),
}

/// `path = VALUE` on an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Where in the frame.
    pub path: Path,
    /// What; without `_`.
    pub value: Value,
    /// Place of the line.
    pub at: At,
}

/// Something that the adapter must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// On which lane.
    pub lane: Lane,
    /// What.
    pub kind: ExpectKind,
    /// `as NAME`.
    pub bind: Option<Name>,
    /// Member lines in order.
    pub matches: Vec<Match>,
    /// Place of the head line.
    pub at: At,
}

/// What the adapter must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectKind {
    /// Sends a request or a notification.
    Frame {
        /// Wire name.
        method: String,
        /// Whether an answer is due.
        kind: FrameKind,
    },
    /// `ok NAME`: answers a request of the script.
    Ok {
        /// The request.
        request: Name,
    },
    /// `error NAME CODE`.
    Error {
        /// The request.
        request: Name,
        /// JSON-RPC code.
        code: Number,
    },
    /// `text "…"`, editor only: the next agent text begins so (DSL-8).
    Text(String),
    /// `thought "…"`, editor only.
    Thought(String),
    /// `close`: the adapter closed this lane; on `editor` it ended.
    Close,
}

/// A member line on an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Where in the frame.
    pub path: Path,
    /// What must hold there.
    pub test: Test,
    /// Place of the line.
    pub at: At,
}

/// What must hold at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// `= VALUE`.
    Equals(Value),
    /// `contains "…"`: a string with this part.
    Contains(String),
    /// `absent`: no such member; `null` is not absent.
    Absent,
    /// `present`: any value, `null` included.
    Present,
}

/// `after DURATION`: moves the clock (DSL-10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// How long.
    pub wait: Wait,
    /// Place of the line.
    pub at: At,
}

/// A duration or an axis of durations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// As written.
    Literal(Duration),
    /// `$x`.
    Name(Name),
}

/// `quiet`: all tasks idle and no frame unconsumed (DSL-6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Place of the line.
    pub at: At,
}

impl Step {
    /// Place of its first line.
    #[must_use]
    pub fn at(&self) -> At {
        match self {
            Self::Act(act) => act.at,
            Self::Expect(expect) => expect.at,
            Self::ActRace(race) => race.lines[0].at,
            Self::ExpectRace(race) => race.lines[0].at,
            Self::After(after) => after.at,
            Self::Quiet(quiet) => quiet.at,
        }
    }
}

impl Act {
    /// Names that its members, code and answer use, in order. `of` is not among them.
    pub fn each_value_name<'a>(&'a self, each: &mut impl FnMut(&'a NamePath)) {
        if let ActKind::Raw(value) = &self.kind {
            value.each_name(each);
        }
        self.sets.iter().for_each(|set| set.value.each_name(each));
    }
}

impl Expect {
    /// Names that its members use, in order.
    pub fn each_value_name<'a>(&'a self, each: &mut impl FnMut(&'a NamePath)) {
        for one in &self.matches {
            if let Test::Equals(value) = &one.test {
                value.each_name(each);
            }
        }
    }
}
