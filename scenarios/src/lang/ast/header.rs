//! The keys below the `scenario` line (DSL-14).
//!
//! Purpose: what a scenario says about itself. Invariants: every key at most once; lists are not empty
//! when their key was written. It does not know which hosts exist on this machine.

use std::time::Duration;

use super::At;

/// All keys. Absent keys are empty lists, `None` or the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// `id`: the rows of the catalogue that the scenario proves; at least one.
    pub ids: Vec<RowId>,
    /// `hosts`: where it may run; empty means everywhere.
    pub hosts: Vec<HostRule>,
    /// `dialect`: overrides of the host's wire dialect (DEC-9).
    pub dialect: Vec<DialectRule>,
    /// `watch`: kinds of notification that need lines; `None` is [`WatchKind::Text`] (DSL-7).
    pub watch: Option<Vec<WatchKind>>,
    /// `model`: what the model service is asked to play on stages with a real host.
    pub model: Option<Note>,
    /// `budget`: deadlines of the adapter for this scenario.
    pub budget: Vec<Budget>,
    /// `recorded`: build, date and checksum of the recording behind it (REC-3).
    pub recorded: Option<Note>,
    /// `live`: remark on runs with a real host.
    pub live: Option<Note>,
    /// `format`: version of the language; 1 if absent.
    pub format: Option<u32>,
}

/// A row of the catalogue, such as `SCN-APR-11`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowId {
    /// The id.
    pub text: String,
    /// Place.
    pub at: At,
}

/// Free text of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The words with single blanks.
    pub text: String,
    /// Place of the key.
    pub at: At,
}

/// One entry of `hosts`: a kind and an optional bound on the host's version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    /// Which hosts.
    pub kind: HostKind,
    /// `>= 1.2.1`.
    pub bound: Option<(Comparison, Version)>,
    /// Place.
    pub at: At,
}

/// Kinds of host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostKind {
    /// The fake host: stages `pipe`, `sim` and `proc`.
    Fake,
    /// A real host behind the fault-injecting proxy: stage `proxy`.
    Proxy,
    /// A real host: stage `host`.
    Host,
}

/// How a version is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Same,
    /// `<`
    Before,
    /// `<=`
    UpTo,
    /// `>`
    Behind,
    /// `>=`
    From,
}

impl Comparison {
    /// `version` compares so with `bound`.
    #[must_use]
    pub fn holds(self, version: Version, bound: Version) -> bool {
        match self {
            Self::Same => version == bound,
            Self::Before => version < bound,
            Self::UpTo => version <= bound,
            Self::Behind => version > bound,
            Self::From => version >= bound,
        }
    }
}

/// `major.minor.patch` of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

/// One entry of `dialect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectRule {
    /// `approvals = …`: how later stages of an approval are presented.
    Approvals(ApprovalStyle),
}

/// Values of `approvals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalStyle {
    /// `refreshed`: `approval/updated` only.
    Refreshed,
    /// `reissued`: a second `approval/request` only.
    Reissued,
    /// `both`: update first, then the request.
    Both,
}

/// A kind of notification that is compared with lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchKind {
    /// `none`: nothing; alone.
    None,
    /// `text`: agent text.
    Text,
    /// `thought`: agent thoughts.
    Thought,
    /// A value of `update.sessionUpdate`, or the method of another notification to the editor.
    Wire(&'static str),
}

/// `submit = 30000ms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Which deadline.
    pub key: BudgetKey,
    /// How long, above zero.
    pub value: Duration,
    /// Place.
    pub at: At,
}

/// Deadlines that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetKey {
    /// `startup`: initialising and preparing, each.
    Startup,
    /// `submit`: the acknowledgement of a turn.
    Submit,
    /// `stall`: a pending question without progress.
    Stall,
}
