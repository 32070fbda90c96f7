//! One prompt from admission to its answer.
//!
//! ```text
//!  Resolving ─► WaitingForOldHost ─► Opening ─► Submitted ─► Running ─► Titling ─► answered
//!      │               │                │           │            │
//!      └───────────────┴────────────────┴───────────┴──► AwaitingExit ─► answered (failure)
//! ```
//! Every stage may also end by a failure or a cancellation. Invariants: one `turn/start` a prompt
//! (PRM-26); the first cause is kept (FAIL-10); nothing is shown before the acknowledgement (TRN-3).

use std::time::Duration;

use serde_json::value::RawValue;

use super::approvals::Asked;
use super::failure::{Failure, Phase};
use super::io::{Resolved, Tick};
use super::mode::Mode;
use crate::msp::command::InputPart;
use crate::msp::{SessionId, TurnId};
use crate::wire::Id;

/// Bytes of events that may arrive before the acknowledgement. A host that sends more is not waiting
/// for anything that we could answer.
pub const HELD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// And how many.
pub const HELD_EVENTS_MAX: usize = 65_536;
/// From a cancel to the end of the turn, else the host is closed (CAN-3).
pub const CANCEL_GRACE: Duration = Duration::from_secs(5);
/// The read of the title after a good turn (DL-10).
pub const TITLE_BUDGET: Duration = Duration::from_secs(1);
/// From the end of the host's output to its exit, which says why (PRC-6).
pub const EXIT_GRACE: Duration = Duration::from_secs(3);

/// See the module.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The prompt to answer.
    pub request: Id,
    /// Dead interactions carry an older one (CON-7).
    pub generation: u64,
    /// Chosen when the prompt came; a later change is for a later turn (APR-34).
    pub mode: Mode,
    /// Where it is.
    pub stage: Stage,
    /// When the current phase or grace ends.
    pub deadline: Option<Tick>,
    /// The editor asked to cancel.
    pub cancelled: bool,
    /// What came before the acknowledgement is being applied: nobody is asked before all of it is.
    pub catching_up: bool,
    /// When the phase began, for the log.
    pub since: Tick,
}

/// Where a prompt is, with what is valid there.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the members say what they are
pub enum Stage {
    /// Muse is being located.
    Resolving { parts: Vec<InputPart> },
    /// The previous host must have ended first.
    WaitingForOldHost { parts: Vec<InputPart>, resolved: Box<Resolved> },
    /// Handshake and session opening; the details are the host's step.
    Opening { parts: Vec<InputPart>, effort: String, preparing: bool },
    /// `turn/start` was sent.
    Submitted { command: String, held: Held },
    /// Acknowledged.
    Running { turn: TurnId },
    /// Ended well; the host is asked for a title. `read`: only a hole in the view is still to be filled.
    Titling { turn: TurnId, read: bool },
    /// The host's output ended; its exit code may say why.
    AwaitingExit { failure: Box<Failure> },
}

impl Turn {
    /// The phase that a failure observed now belongs to (TRN-1).
    #[must_use]
    pub fn phase(&self) -> Phase {
        match &self.stage {
            Stage::Resolving { .. } | Stage::WaitingForOldHost { .. } => Phase::Initializing,
            Stage::Opening { preparing: false, .. } => Phase::Initializing,
            Stage::Opening { preparing: true, .. } => Phase::Preparing,
            Stage::Submitted { .. } => Phase::Submitting,
            Stage::Running { .. } | Stage::Titling { .. } => Phase::Running,
            Stage::AwaitingExit { failure } => failure.phase(),
        }
    }

    /// The turn whose items are shown: also while its title is read, when a hole before its end is
    /// filled (DEC-6).
    #[must_use]
    pub fn shown(&self) -> Option<&TurnId> {
        match &self.stage {
            Stage::Running { turn } | Stage::Titling { turn, .. } => Some(turn),
            _ => None,
        }
    }

    /// The acknowledged turn, while it runs.
    #[must_use]
    pub fn running(&self) -> Option<&TurnId> {
        match &self.stage {
            Stage::Running { turn } => Some(turn),
            _ => None,
        }
    }
}

/// What came before the acknowledgement, in order (TRN-3).
#[derive(Clone, Debug, Default)]
pub struct Held {
    events: Vec<HeldEvent>,
    bytes: usize,
}

/// Something that waits for the acknowledgement.
#[derive(Clone, Debug)]
pub enum HeldEvent {
    /// A view event: method and params.
    View(String, Box<RawValue>),
    /// Here deltas of open items may be missing, or be part of what a page has shown (GAP-3).
    Hole,
}

impl Held {
    /// Keeps an event. False: a bound is reached.
    pub fn keep(&mut self, method: &str, params: &RawValue) -> bool {
        self.bytes += method.len() + params.get().len();
        self.events.push(HeldEvent::View(method.to_owned(), params.to_owned()));
        self.is_within_bounds()
    }

    /// Keeps the place of a hole. False: a bound is reached.
    pub fn keep_hole(&mut self) -> bool {
        self.events.push(HeldEvent::Hole);
        self.is_within_bounds()
    }

    fn is_within_bounds(&self) -> bool {
        self.bytes <= HELD_BYTES_MAX && self.events.len() <= HELD_EVENTS_MAX
    }

    /// The events in order.
    pub fn into_events(self) -> impl Iterator<Item = HeldEvent> {
        self.events.into_iter()
    }
}

/// What we asked a host, and for whom.
#[derive(Clone, Debug)]
pub enum HostCall {
    /// Handshake.
    Initialize,
    /// Open.
    Resume,
    /// Create.
    Start,
    /// Approval mode while opening or reusing.
    Mode,
    /// Model while opening.
    Model,
    /// Confirmation of the model.
    Confirm,
    /// The turn of this generation.
    TurnStart(u64),
    /// Cancellation of this generation's turn.
    TurnCancel(u64),
    /// A decision of this generation.
    Decide {
        /// Of which turn.
        generation: u64,
        /// What was decided.
        asked: Asked,
    },
    /// What is open, after a refusal as stale.
    Pending {
        /// Of which turn.
        generation: u64,
        /// What was refused.
        asked: Asked,
    },
    /// A page of this walk.
    Page(u64),
    /// An answer or a cancellation of a question, of this generation.
    Reply(u64, crate::msp::UserInputId),
    /// A correction, by the number of its send.
    Steer(u64),
    /// A page that may say whether a rule was written.
    Rules,
    /// Title after this generation's turn.
    Title(u64),
    /// Its answer changes nothing.
    Forgotten,
}

/// What we asked the editor.
#[derive(Clone, Debug)]
pub enum EditorCall {
    /// A permission question.
    Permission {
        /// Whose.
        session: SessionId,
        /// Of which turn.
        generation: u64,
        /// Which approval.
        approval: crate::msp::ApprovalId,
        /// Which stage.
        source_index: u64,
    },
    /// A form.
    Question {
        /// Whose.
        session: SessionId,
        /// Of which turn.
        generation: u64,
        /// Which prompt.
        input: crate::msp::UserInputId,
    },
}

impl EditorCall {
    /// Whose it is.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        match self {
            Self::Permission { session, .. } | Self::Question { session, .. } => session,
        }
    }
}
