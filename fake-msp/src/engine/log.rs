//! The durable log of one session and its positions.
//!
//! Purpose: the one place where events are stored; view cursors, `sourceRange`, pages and the
//! folded [`View`] come from it. Inputs: events without positions. Invariants: cursors are strictly
//! monotonic and unique (HOST-7); deltas take a cursor but are never stored (HOST-8); folding the
//! entries again gives the same view. It knows no connection. Rules: CUR-1..3, CUR-8.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fold::{Birth, View};
use super::ids::{Ids, Kind};

/// One stored event.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Position in the view.
    pub(crate) position: u64,
    pub(crate) method: String,
    pub(crate) params: Value,
    /// A fact of the host that no client sees as an event (a re-issued approval stage).
    pub(crate) hidden: bool,
}

/// The log.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) session_id: String,
    birth: Birth,
    entries: Vec<Entry>,
    head: u64,
    sequences: BTreeMap<String, u64>,
    view: View,
}

/// A slice of the log for `view/page`.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) events: Vec<Value>,
    pub(crate) next: Option<String>,
}

impl Log {
    pub(crate) fn new(session_id: String, birth: Birth) -> Self {
        let view = View::new(&birth);
        Self { session_id, birth, entries: Vec::new(), head: 0, sequences: BTreeMap::new(), view }
    }

    /// The folded state after the last entry.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// What the session was born with.
    pub(crate) fn birth(&self) -> &Birth {
        &self.birth
    }

    /// Cursor of the newest position, delta or event.
    pub(crate) fn head(&self) -> String {
        self.cursor(self.head)
    }

    fn cursor(&self, position: u64) -> String {
        format!("v:{}:{position}", self.session_id)
    }

    /// The position that a cursor names, if it was ever issued. Only the host may read its cursors.
    pub(crate) fn position(&self, cursor: &str) -> Option<u64> {
        let rest = cursor.strip_prefix("v:")?.strip_prefix(self.session_id.as_str())?;
        let digits = rest.strip_prefix(':')?;
        // `+5` and `05` parse as numbers but were never issued.
        let position: u64 = digits.parse().ok()?;
        (position <= self.head && position.to_string() == digits).then_some(position)
    }

    /// Takes a cursor for a delta.
    pub(crate) fn ephemeral(&mut self) -> String {
        self.head += 1;
        self.cursor(self.head)
    }

    /// Stores an event: adds `sessionId`, `viewCursor` and `sourceRange` where they are not given.
    pub(crate) fn append(
        &mut self,
        ids: &mut Ids,
        method: &str,
        mut params: Map<String, Value>,
    ) -> &Entry {
        self.head += 1;
        let cursor = self.cursor(self.head);
        params.entry("sessionId").or_insert_with(|| self.session_id.clone().into());
        params.entry("viewCursor").or_insert_with(|| cursor.into());
        if !params.contains_key("sourceRange") {
            let range = self.source_range(ids, method, &params);
            params.insert("sourceRange".into(), range);
        }
        self.store(method, params, false)
    }

    /// Stores a host fact that is folded but is no view event.
    pub(crate) fn append_hidden(&mut self, method: &str, params: Map<String, Value>) {
        self.store(method, params, true);
    }

    fn store(&mut self, method: &str, params: Map<String, Value>, hidden: bool) -> &Entry {
        let entry = Entry {
            position: self.head,
            method: method.to_owned(),
            params: Value::Object(params),
            hidden,
        };
        self.view.apply(&entry.method, &entry.params);
        let index = self.entries.len();
        self.entries.push(entry);
        &self.entries[index]
    }

    /// Stream by the recorded habit: approvals have their own, run events name the turn.
    fn source_range(&mut self, ids: &mut Ids, method: &str, params: &Map<String, Value>) -> Value {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let turn = text(params.get("turnId"))
            .or_else(|| text(params.get("item").and_then(|item| item.get("turnId"))));
        let (kind, id) = match (method, turn) {
            (name, _) if name.starts_with("approval/") => {
                ("approval.review", text(params.get("approvalId")).unwrap_or_default())
            }
            (_, Some(turn)) => ("run", turn),
            _ => ("session", self.session_id.clone()),
        };
        let sequence = self.sequences.entry(format!("{kind} {id}")).or_insert(0);
        *sequence += 1;
        let record = json!({ "id": ids.next(Kind::Record), "sequence": *sequence });
        json!({ "stream": { "kind": kind, "id": id }, "first": record, "last": record })
    }

    /// Events after (forward) or before (backward) an exclusive position, ascending both ways.
    /// At most `limit` events and about `bytes` bytes; at least one event if there is one.
    pub(crate) fn page(
        &self,
        from: Option<u64>,
        forward: bool,
        limit: usize,
        bytes: usize,
    ) -> Page {
        let visible = |entry: &&Entry| !entry.hidden;
        let mut taken: Vec<&Entry> = Vec::new();
        let mut size = 0;
        let mut more = false;
        let mut take = |entry: &'_ Entry| -> bool {
            size += entry.params.to_string().len();
            size <= bytes
        };
        let (low, high) = match from {
            None => (0, self.entries.len()),
            Some(position) => (
                self.entries.partition_point(|entry| entry.position <= position),
                self.entries.partition_point(|entry| entry.position < position),
            ),
        };
        let candidates: Box<dyn Iterator<Item = &Entry>> = if forward {
            Box::new(self.entries[low..].iter())
        } else {
            Box::new(self.entries[..high].iter().rev())
        };
        for entry in candidates.filter(visible) {
            if taken.len() == limit || (!take(entry) && !taken.is_empty()) {
                more = true;
                break;
            }
            taken.push(entry);
        }
        let next = taken.last().filter(|_| more).map(|entry| self.cursor(entry.position));
        if !forward {
            taken.reverse();
        }
        let events = taken
            .iter()
            .map(|entry| json!({ "method": entry.method, "params": entry.params }))
            .collect();
        Page { events, next }
    }

    /// Visible events after a position, for a replay.
    pub(crate) fn since(&self, position: u64) -> Vec<(String, Value)> {
        self.entries
            .iter()
            .filter(|entry| entry.position > position && !entry.hidden)
            .map(|entry| (entry.method.clone(), entry.params.clone()))
            .collect()
    }

    /// Methods of the visible events strictly between two positions.
    pub(crate) fn between(&self, after: u64, next: u64) -> Vec<&str> {
        self.entries
            .iter()
            .filter(|entry| entry.position > after && entry.position < next && !entry.hidden)
            .map(|entry| entry.method.as_str())
            .collect()
    }

    /// Folds all entries again; equals [`Log::view`] or the fold is not a function of the log.
    #[cfg(test)]
    pub(crate) fn refold(&self) -> View {
        let mut view = View::new(&self.birth);
        for entry in &self.entries {
            view.apply(&entry.method, &entry.params);
        }
        view
    }
}
