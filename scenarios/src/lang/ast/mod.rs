//! What a scenario says: the tree that a runner walks.
//!
//! Inputs: the parser. Outputs: typed statements with their places. Invariants: a tree without
//! diagnostics has every name bound, every method known for its lane and direction, one kind in every
//! race, and at least one assertion; comments and layout are not part of it (see [`super::syntax`]);
//! trees are compared by meaning, places do not count.
//! It does not know how a statement is carried out. Rules: DSL-1..14.

mod header;
mod outcome;
mod path;
mod step;
mod value;

pub use header::{
    ApprovalStyle, Budget, BudgetKey, Comparison, DialectRule, Header, HostKind, HostRule, Note,
    RowId, Version, WatchKind,
};
pub use outcome::{Check, CheckKind, Condition, FileTest, Never, Unwanted};
pub use path::{Path, Segment};
pub use step::{
    Act, ActKind, After, Expect, ExpectKind, Fault, Match, Number, Quiet, Race, Set, Step, Test,
    Wait,
};
pub use value::{NamePath, Value, ValueKind};

use std::time::Duration;

use super::openings::Opening;
pub use super::source::At;
pub use super::tables::{Direction, FrameKind};

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// What the story claims, in a sentence.
    pub title: String,
    /// Place of the `scenario` line.
    pub at: At,
    /// The keys below the `scenario` line.
    pub header: Header,
    /// `stages` tables in order.
    pub stages: Vec<StageTable>,
    /// `vary` lines in order.
    pub varies: Vec<Vary>,
    /// The opening, if the story does not begin with nothing.
    pub given: Option<Given>,
    /// The timeline after the opening.
    pub steps: Vec<Step>,
    /// `check` lines in order; they hold at the end.
    pub checks: Vec<Check>,
    /// `never` lines in order; they hold over the whole run.
    pub nevers: Vec<Never>,
}

impl File {
    /// The steps of the opening, then those of the file.
    pub fn timeline(&self) -> impl Iterator<Item = &Step> {
        self.given.iter().flat_map(|given| &given.steps).chain(&self.steps)
    }
}

/// A lane: one neighbour of the adapter (DSL-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// `editor`: the ACP peer.
    Editor,
    /// `host`: the MSP peer. As an actor the host that was started last; as a source of frames all
    /// hosts of the run in order.
    Host,
    /// `host1`, `host2`, …: the n-th host that the adapter started in this run, from 1.
    HostNumber(u8),
}

impl Lane {
    /// Which protocol the lane speaks.
    #[must_use]
    pub const fn is_host(self) -> bool {
        matches!(self, Self::Host | Self::HostNumber(_))
    }
}

impl std::fmt::Display for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Editor => f.write_str("editor"),
            Self::Host => f.write_str("host"),
            Self::HostNumber(n) => write!(f, "host{n}"),
        }
    }
}

/// A name with its place, without the `$`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// `apr` of `$apr` or `as apr`.
    pub text: String,
    /// Place, the `$` included where there is one.
    pub at: At,
}

/// `stages $run`: the stages of a shell approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageTable {
    /// The name of the table.
    pub name: Name,
    /// Rows by index, 0 first, without holes.
    pub rows: Vec<StageRow>,
    /// Place of the head line.
    pub at: At,
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageRow {
    /// `resolution.kind`.
    pub resolution: String,
    /// The words of the command; empty for a stage without `argv`.
    pub argv: Vec<String>,
    /// Place of the row.
    pub at: At,
}

/// `vary $x in a, b`: the scenario holds for each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vary {
    /// The name of the axis.
    pub name: Name,
    /// At least one; durations only or JSON only.
    pub values: VaryValues,
    /// Place of the line.
    pub at: At,
}

/// The values of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaryValues {
    /// For `after $x`.
    Durations(Vec<Duration>),
    /// For values, codes and exit codes. Without names and `_`.
    Json(Vec<Value>),
}

impl VaryValues {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Durations(list) => list.len(),
            Self::Json(list) => list.len(),
        }
    }

    /// There are none; only in a tree with diagnostics.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// `given session ready`: the opening (DSL-12, DEC-8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Which one.
    pub opening: Opening,
    /// Its statements. Their places are lines of [`Opening::text`], not of this file.
    pub steps: Vec<Step>,
    /// Place of the line in this file.
    pub at: At,
}
