//! Where sessions outlive a host.
//!
//! Purpose: the interface between the engine and a session store; the engine does no I/O, so whoever
//! makes a host brings a [`Store`] (files in the program, memory in tests) or none, and then sessions
//! live as long as the [`Host`](super::Host) value. Invariants: one writer per session over all hosts of
//! a store (the lease); lines are appended whole and in order. It knows neither frames nor events.
//! Rules: LB-60..64, SES-2, PRC-4, PRC-9.

use std::fmt;

/// Why a store could not do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Another host holds the session's lease.
    Leased,
    /// More than one log carries the id.
    Ambiguous(Vec<String>),
    /// Reading or writing failed; the text is for people.
    Failed(String),
}

/// Both ends of a session's log: what [`Store::scan`] shows of it.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// Id of the session, by its place in the store.
    pub session: &'a str,
    /// Path for people and for `Session.path`.
    pub path: &'a str,
    /// The beginning of the log, or all of it.
    pub first: &'a [u8],
    /// The end of the log if it is longer than its beginning; may start inside a line.
    pub last: &'a [u8],
}

/// A session store.
pub trait Store: fmt::Debug + Send {
    /// Shows each whole line of a session's log, oldest first and without line ends. A last line
    /// without line end is torn: it is not shown. Returns the log's path, or `None` without a log.
    ///
    /// # Errors
    /// When the log cannot be read or the id is ambiguous.
    fn read(
        &mut self,
        session: &str,
        line: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<String>, StoreError>;

    /// A number that differs when the log was changed; `None` without a log.
    fn stamp(&mut self, session: &str) -> Option<u64>;

    /// Whether some host, this one included, may write the log now.
    fn is_leased(&mut self, session: &str) -> bool;

    /// Makes this host the session's only writer and cuts a torn last line off.
    ///
    /// # Errors
    /// [`StoreError::Leased`] when another host is the writer.
    fn lease(&mut self, session: &str) -> Result<(), StoreError>;

    /// Gives the lease back. Does nothing without one.
    fn release(&mut self, session: &str);

    /// Creates a log, leased to this host. `created` is the date, `(year, month, day)`.
    ///
    /// # Errors
    /// When the log exists or cannot be made.
    fn create(&mut self, session: &str, created: (u64, u64, u64)) -> Result<(), StoreError>;

    /// Appends lines, line ends included, to a log whose lease this host holds.
    ///
    /// # Errors
    /// When it cannot be written.
    fn append(&mut self, session: &str, lines: &[u8]) -> Result<(), StoreError>;

    /// The path that a session's log has or would have.
    fn path(&self, session: &str, created: (u64, u64, u64)) -> String;

    /// Shows the logs that are new or changed since the last scan. Returns the ids that are gone.
    ///
    /// # Errors
    /// When the store itself cannot be read; a single log that cannot is passed over.
    fn scan(&mut self, each: &mut dyn FnMut(Ends<'_>)) -> Result<Vec<String>, StoreError>;
}
