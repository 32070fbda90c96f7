//! Where a story is played: the adapter between an editor and hosts that the runner holds.
//!
//! A [`Stage`] gives the runner bytes of the editor's side, the hosts that the adapter has started,
//! and time. It decides nothing and matches nothing. [`pipe`] is the default: everything in memory, on
//! a clock that moves only when the story says so.

pub mod host;
pub mod memory;
pub mod pipe;
pub mod world;

use std::time::Duration;

pub use host::HostProc;

/// One adapter, one editor connection, any number of hosts.
pub trait Stage {
    /// Virtual time since the story began.
    fn now(&self) -> Duration;

    /// Bytes from the editor. What does not fit into the pipe waits and goes as it empties.
    fn editor_write(&mut self, bytes: &[u8]);

    /// The editor closes its output.
    fn editor_close(&mut self);

    /// The editor stops (true) or goes on (false) reading.
    fn editor_stall(&mut self, stalled: bool);

    /// What the adapter wrote to the editor since the last call.
    fn editor_read(&mut self) -> Vec<u8>;

    /// Runs everything that can run without time passing.
    fn settle(&mut self);

    /// Moves time, firing what is due in order. Settles before and after.
    fn advance(&mut self, by: Duration);

    /// The hosts in the order in which they were started.
    fn hosts(&mut self) -> Vec<HostProc>;

    /// The adapter has ended by itself.
    fn adapter_ended(&self) -> bool;

    /// Timers that are pending, as time from now, for reports.
    fn pending_timer(&self) -> Option<Duration>;
}
