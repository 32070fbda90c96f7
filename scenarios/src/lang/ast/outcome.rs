//! What must hold at the end, over the transcript (DSL-13).
//!
//! Invariants: only frames of the adapter are counted; names may be bound anywhere in the file.

use super::{At, Lane, Name, Number, Path, Test};

/// A `check` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub kind: CheckKind,
    /// Place of the line.
    pub at: At,
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// `LANE <- METHOD = N [where …]`: so many such frames.
    Count {
        /// Whose wire.
        lane: Lane,
        /// Wire name.
        method: String,
        /// How many.
        count: u32,
        /// Which of them.
        condition: Option<Condition>,
    },
    /// `host process reaped`: every host process and its group is gone.
    Reaped,
    /// `file PATH …`.
    File {
        /// Relative to the working folder of the session.
        path: String,
        /// What must hold.
        test: FileTest,
    },
}

/// `where path = VALUE` and its relatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Where in the frame.
    pub path: Path,
    /// What must hold there.
    pub test: Test,
    /// Place.
    pub at: At,
}

/// What must hold of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileTest {
    /// `= "…"`: its whole content.
    Equals(String),
    /// `contains "…"`.
    Contains(String),
    /// `absent`.
    Absent,
    /// `present`.
    Present,
}

/// A `never` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Never {
    /// Whose wire.
    pub lane: Lane,
    /// What must not appear.
    pub what: Unwanted,
    /// Place of the line.
    pub at: At,
}

/// What must not appear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwanted {
    /// A frame of this method.
    Frame {
        /// Wire name.
        method: String,
        /// Which of them.
        condition: Option<Condition>,
    },
    /// A result for this request.
    Ok {
        /// The request.
        request: Name,
    },
    /// An error for this request; of this code, if there is one.
    Error {
        /// The request.
        request: Name,
        /// JSON-RPC code.
        code: Option<Number>,
    },
    /// Agent text that contains this.
    Text(String),
    /// Agent thoughts that contain this.
    Thought(String),
    /// The adapter closes this lane.
    Close,
}
