//! Where a story is played: the adapter between an editor and hosts that the runner holds.
//!
//! A [`Stage`] gives the runner bytes of the editor's side, the hosts that the adapter has started,
//! and time. It decides nothing and matches nothing. [`pipe`] is the default: everything in memory, on
//! a clock that moves only when the story says so. [`sim`] puts the three parties on a simulated network, and
//! `proc` plays with the real programs.

pub mod host;
pub mod memory;
pub mod pipe;
#[cfg(target_os = "linux")]
pub mod proc;
pub mod sim;
pub mod solo;
pub mod tamper;
pub mod world;

use std::time::Duration;

pub use host::HostProc;

/// On which side of what is due at the target a wait ends. Only a stage on which coming to rest takes time
/// needs to know: there an instant of the story is a short span of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// The story goes on with an act: what is due later than the target has not happened.
    Before,
    /// The story goes on with `quiet`: as before an act. Real time may stop earlier, because it can refute that
    /// nothing was said until a millisecond before a bound, and never prove it.
    Quiet,
    /// The story goes on with an expectation: what is due at the target has happened.
    After,
}

/// A neighbour of the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The ACP client.
    Editor,
    /// The machine that host processes run on.
    Host,
}

/// What can happen to a link or to the machine behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// What is sent from now on, in both directions, waits.
    Hold,
    /// What waited arrives.
    Release,
    /// Each message takes this long.
    Delay(Duration),
    /// The machine vanishes with everything that ran on it: no exit code, no last words.
    Crash,
    /// The machine is there again, with nothing running.
    Bounce,
}

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

    /// Waits for something that comes by itself. False: nothing can, which is so at once on every stage that
    /// is at rest.
    fn more(&mut self) -> bool {
        false
    }

    /// Moves time, firing what is due in order. Settles before and after.
    fn advance(&mut self, by: Duration, landing: Landing);

    /// Does something to the link between the adapter and a party.
    ///
    /// # Errors
    /// Why this stage cannot.
    fn link(&mut self, party: Party, fault: LinkFault) -> Result<(), &'static str>;

    /// Nobody stalls and no link is held any more: the story is over.
    fn calm(&mut self) {
        self.editor_stall(false);
    }

    /// The hosts in the order in which they were started.
    fn hosts(&mut self) -> Vec<HostProc>;

    /// The adapter has ended by itself.
    fn adapter_ended(&self) -> bool;

    /// What the stage itself saw that must not be, asked once at the end: a run with a finding is red,
    /// whatever the story says. Texts are free of content.
    fn findings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Timers that are pending, as time from now, for reports.
    fn pending_timer(&self) -> Option<Duration>;
}
