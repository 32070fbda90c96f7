//! One session as this host process has it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::disk::Disk;
use super::plan::Plan;
use super::{Log, TurnRef, approvals, prompts, turns, work};

/// One session: its log and what this host process knows beside it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) log: Log,
    pub(crate) subscribed: bool,
    pub(crate) loaded: bool,
    pub(crate) resumed: bool,
    pub(crate) updated_ms: u64,
    /// Admitted turns that have not started, oldest first.
    pub(crate) waiting: VecDeque<turns::Admitted>,
    /// What the obliging host is doing.
    pub(crate) plan: Option<Plan>,
    /// Commands that the user allowed for the rest of the session.
    pub(crate) allowed: BTreeSet<String>,
    /// Last admitted decision of each approval.
    pub(crate) decisions: BTreeMap<String, approvals::Decision>,
    /// Last admitted settlement of each prompt.
    pub(crate) settlements: BTreeMap<String, prompts::Settlement>,
    /// What happens beside the turn.
    pub(crate) work: work::Work,
    /// Params of the `turn/start` of the turn that a script started last.
    pub(crate) request: Option<Value>,
    /// Turns that were taken back while the script owes the event.
    pub(crate) taken_back: Vec<TurnRef>,
    /// Text that a script streamed since the last whole item: item, delta field, text.
    pub(crate) streamed: BTreeMap<String, BTreeMap<String, String>>,
    /// Whether the view can be served (CUR-15).
    pub(crate) healthy: bool,
    /// When somebody last looked at it or changed it.
    pub(crate) quiet_since: u64,
    /// Admitted leaves that are not completed.
    pub(crate) leaving: Vec<String>,
    /// Positions of the first and the last event that were dropped since the last gap frame.
    pub(crate) missed: Option<(u64, u64)>,
    /// Status and attention as they were last broadcast.
    pub(crate) told_status: (&'static str, Vec<&'static str>),
    /// Its place in the store.
    pub(crate) disk: Disk,
}

impl Session {
    /// A session that is not loaded, as its log has it.
    pub(crate) fn new(log: Log, updated_ms: u64) -> Self {
        Self {
            log,
            subscribed: false,
            loaded: false,
            resumed: false,
            updated_ms,
            waiting: VecDeque::new(),
            plan: None,
            allowed: BTreeSet::new(),
            decisions: BTreeMap::new(),
            settlements: BTreeMap::new(),
            work: work::Work::default(),
            request: None,
            taken_back: Vec::new(),
            streamed: BTreeMap::new(),
            healthy: true,
            quiet_since: updated_ms,
            leaving: Vec::new(),
            missed: None,
            told_status: ("idle", Vec::new()),
            disk: Disk::default(),
        }
    }
}
