//! The openings that `given` names: how a story may begin, written in the language itself.
//!
//! Inputs: the name behind `given`. Outputs: text, bound names, statements (through the parser).
//! Invariants: the list is fixed and no opening can be changed in part (DEC-8); each one begins as the one
//! before it. A test proves that the names listed here are exactly those that the text binds.
//! Rules: DSL-12, DEC-8.

/// One opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opening {
    /// `session ready`: the editor has a session; no host was started for it yet.
    SessionReady,
    /// `turn running`: a prompt was accepted and its turn has started.
    TurnRunning,
    /// `approval open`: a tool call of that turn waits for the person.
    ApprovalOpen,
}

const SESSION: &[(&str, &str)] =
    &[("init", "the editor's `initialize`"), ("session", "the session that `session/new` made")];

const TURN: &[(&str, &str)] = &[
    SESSION[0],
    SESSION[1],
    ("prompt", "the editor's `session/prompt`, not answered yet"),
    ("start", "the adapter's `turn/start`, answered"),
    ("turn", "the turn, started"),
];

const APPROVAL: &[(&str, &str)] = &[
    TURN[0],
    TURN[1],
    TURN[2],
    TURN[3],
    TURN[4],
    ("tool", "the tool call that wants to run `echo one`"),
    ("apr", "its approval, of one stage"),
    ("ask", "the question to the editor, not answered yet"),
];

impl Opening {
    /// All of them, shortest first.
    pub const ALL: [Self; 3] = [Self::SessionReady, Self::TurnRunning, Self::ApprovalOpen];

    /// The words behind `given`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionReady => "session ready",
            Self::TurnRunning => "turn running",
            Self::ApprovalOpen => "approval open",
        }
    }

    /// The opening of these words.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|opening| opening.name() == name)
    }

    /// Its statements, in canonical form.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::SessionReady => include_str!("session_ready.scn"),
            Self::TurnRunning => include_str!("turn_running.scn"),
            Self::ApprovalOpen => include_str!("approval_open.scn"),
        }
    }

    /// The names that it binds, with what they stand for, in order.
    #[must_use]
    pub const fn names(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::SessionReady => SESSION,
            Self::TurnRunning => TURN,
            Self::ApprovalOpen => APPROVAL,
        }
    }
}
