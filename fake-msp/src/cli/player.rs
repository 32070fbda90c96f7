//! What the loop plays.
//!
//! Purpose: one interface for everything that can stand behind the pipes of `serve`.

use crate::engine::{Host, Input, Output};
use crate::oracle::Violation;
use crate::transcript::Replay;

/// A state machine that answers a client. `now` is milliseconds since the start.
pub(super) trait Player {
    /// Feeds one thing that happened.
    fn handle(&mut self, now: u64, input: Input<'_>);
    /// The next effect.
    fn poll_output(&mut self) -> Option<Output>;
    /// When a timer is due.
    fn deadline(&self) -> Option<u64>;
    /// What the client did wrong so far.
    fn violations(&self) -> &[Violation];
}

impl Player for Host {
    fn handle(&mut self, now: u64, input: Input<'_>) {
        Host::handle(self, now, input);
    }

    fn poll_output(&mut self) -> Option<Output> {
        Host::poll_output(self)
    }

    fn deadline(&self) -> Option<u64> {
        Host::deadline(self)
    }

    fn violations(&self) -> &[Violation] {
        Host::violations(self)
    }
}

/// A recording has no time, and its report is its own.
impl Player for Replay {
    fn handle(&mut self, _now: u64, input: Input<'_>) {
        Replay::handle(self, input);
    }

    fn poll_output(&mut self) -> Option<Output> {
        Replay::poll_output(self)
    }

    fn deadline(&self) -> Option<u64> {
        None
    }

    fn violations(&self) -> &[Violation] {
        &[]
    }
}
