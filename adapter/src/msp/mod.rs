//! The host's messages: typed, tolerant, unknown kept.
//!
//! In: raw JSON of results and notifications. Out: values with the members that the adapter uses.
//! Invariants: an unknown member is ignored, an unknown word of an open enum is kept as text, a member
//! of the wrong type counts as absent unless the message is useless without it, and one bad member
//! never loses a whole frame (TOL-1..8, TOL-17, TOL-18). No behaviour lives here.

pub mod approval;
pub mod classes;
pub mod command;
pub mod event;
pub mod id;
pub mod item;
mod lenient;
pub mod user_input;
pub mod view;

pub use approval::{Approval, Choice, Requirement, Stage};
pub use event::{Event, Terminal};
pub use id::{ApprovalId, ChoiceId, ItemId, SessionId, TurnId, UserInputId, ViewCursor};
pub use item::{Item, Kind, Status};
pub use user_input::UserInput;

/// Error codes of the host that decide what the adapter does (ERR table). All others are reported.
pub mod code {
    /// `sessionNotFound`: the only answer to `session/resume` that leads to `session/start` (HOST-3).
    pub const SESSION_NOT_FOUND: i64 = -32020;
    /// `sessionInUse`: another client holds the session.
    pub const SESSION_IN_USE: i64 = -32021;
    /// `approvalAlreadyResolved`: somebody was faster (APR-24).
    pub const APPROVAL_ALREADY_RESOLVED: i64 = -32051;
    /// `approvalRequirementStale`: the approval moved on (APR-24).
    pub const APPROVAL_STALE: i64 = -32053;
    /// `userInputNotFound`: dropped when the view has settled it (ELI-10).
    pub const INPUT_NOT_FOUND: i64 = -32055;
    /// `userInputAlreadySettled`: as well.
    pub const INPUT_ALREADY_SETTLED: i64 = -32056;
    /// `methodNotFound`, for requests of the host that we do not know (TOL-7).
    pub const METHOD_NOT_FOUND: i64 = -32601;
}
