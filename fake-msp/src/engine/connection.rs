//! What the handshake fixed.

use std::collections::{BTreeMap, BTreeSet};

/// Where the handshake stands (HSK-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing yet.
    New,
    /// `initialize` was answered.
    Answered,
    /// `initialized` arrived.
    Ready,
}

/// What the handshake fixed for the connection (HSK-2).
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) phase: Phase,
    pub(super) client_name: String,
    pub(super) opted_out: BTreeSet<String>,
    pub(super) granted: Vec<&'static str>,
    pub(super) experimental: bool,
    pub(super) dialogs: bool,
    /// Last request id that was minted (HOST-6).
    pub(super) requests: u64,
    /// Requests whose receipt is missing, by id: method.
    pub(super) unreceipted: BTreeMap<u64, &'static str>,
}

impl Connection {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::New,
            client_name: String::new(),
            opted_out: BTreeSet::new(),
            granted: Vec::new(),
            experimental: false,
            dialogs: true,
            requests: 0,
            unreceipted: BTreeMap::new(),
        }
    }
}
