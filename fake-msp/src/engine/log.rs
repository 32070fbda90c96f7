//! The durable log of one session and its positions.
//!
//! Purpose: the one place where events are stored; view cursors, `sourceRange`, pages, compaction
//! boundaries and the folded [`View`] come from it. Inputs: events without positions. Invariants:
//! cursors are strictly monotonic and unique (HOST-7); deltas take a cursor but are never stored
//! (HOST-8); folding the entries again gives the same view; an entry is kept as text, because a tree
//! takes about five times its size, and a page costs what it holds, wherever in the log it lies.
//! It knows no connection. Rules: CUR-1..3, CUR-7, CUR-8.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fold::{Birth, View};
use super::ids::{Ids, Kind};
use crate::profiles::NOTIFICATIONS;

/// One stored event.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Position in the view.
    pub(crate) position: u64,
    pub(crate) method: Cow<'static, str>,
    /// The params as JSON text.
    pub(crate) params: Box<str>,
    /// A fact of the host that no client sees as an event (a re-issued approval stage).
    pub(crate) hidden: bool,
}

impl Entry {
    /// The params as a value. They were written by [`Log::store`] or read by [`Log::put`].
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.params).unwrap_or_default()
    }

    fn shown(&self) -> Value {
        json!({ "method": self.method, "params": self.value() })
    }
}

/// Where a compaction was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boundary {
    /// Position of the `item/completed` that installed it.
    pub(crate) position: u64,
    pub(crate) summarized_through: String,
    /// Index of the compaction's item: items before it are summarized.
    pub(crate) first_item: usize,
}

/// The log.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) session_id: String,
    birth: Birth,
    entries: Vec<Entry>,
    head: u64,
    /// Events at or before this position are not served any more (CUR-7).
    earliest: u64,
    boundaries: Vec<Boundary>,
    sequences: BTreeMap<String, u64>,
    view: View,
}

/// A slice of the log for `view/page`.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) events: Vec<Value>,
    pub(crate) next: Option<String>,
    /// The cursor of an event that does not fit into a frame although it stands alone.
    pub(crate) too_large: Option<String>,
}

impl Log {
    pub(crate) fn new(session_id: String, birth: Birth) -> Self {
        Self {
            view: View::new(&birth),
            session_id,
            birth,
            entries: Vec::new(),
            head: 0,
            earliest: 0,
            boundaries: Vec::new(),
            sequences: BTreeMap::new(),
        }
    }

    /// The folded state after the last entry.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// What the session was born with.
    pub(crate) fn birth(&self) -> &Birth {
        &self.birth
    }

    /// The stored entries, hidden ones included.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Cursor of the newest position, delta or event.
    pub(crate) fn head(&self) -> String {
        self.cursor(self.head)
    }

    pub(crate) fn cursor(&self, position: u64) -> String {
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

    /// The position before the oldest event that is still served.
    pub(crate) fn earliest(&self) -> u64 {
        self.earliest
    }

    /// Serves the newest `events` events only; the fold keeps what it knows.
    pub(crate) fn retain(&mut self, events: usize) {
        let cut = self.entries.len().saturating_sub(events);
        if let Some(last) = cut.checked_sub(1).and_then(|index| self.entries.get(index)) {
            self.earliest = self.earliest.max(last.position);
        }
    }

    /// The latest compaction boundary, served or not.
    pub(crate) fn boundary(&self) -> Option<&Boundary> {
        self.boundaries.last()
    }

    /// The position that the next event or delta gets.
    pub(crate) fn next_position(&self) -> u64 {
        self.head + 1
    }

    /// Takes a cursor for a delta.
    pub(crate) fn ephemeral(&mut self) -> String {
        self.head += 1;
        self.cursor(self.head)
    }

    /// Leaves room for the cursors that a dead host may have given to deltas: they are not stored, so
    /// a new host numbers on from the next multiple of 2^32 (CUR-1).
    pub(crate) fn skip_unknown_deltas(&mut self) {
        self.head = ((self.head >> 32) + 1) << 32;
    }

    /// Stores an event: adds `sessionId`, `viewCursor` and `sourceRange` where they are not given.
    /// Returns the complete params.
    pub(crate) fn append(
        &mut self,
        ids: &mut Ids,
        method: &str,
        mut params: Map<String, Value>,
    ) -> Value {
        self.head += 1;
        let cursor = self.cursor(self.head);
        params.entry("sessionId").or_insert_with(|| self.session_id.clone().into());
        params.entry("viewCursor").or_insert_with(|| cursor.into());
        if !params.contains_key("sourceRange") {
            let range = self.source_range(ids, method, &params);
            params.insert("sourceRange".into(), range);
        }
        let params = Value::Object(params);
        self.put(self.head, method, &params, false);
        params
    }

    /// Stores a host fact that is folded but is no view event.
    pub(crate) fn put_hidden(&mut self, method: &str, params: &Value) {
        self.put(self.head, method, params, true);
    }

    /// Stores an entry at a position that is known: from a store, or copied into a fork. Positions
    /// never run backwards; one that does is put at the head.
    pub(crate) fn put(&mut self, position: u64, method: &str, params: &Value, hidden: bool) {
        self.head = self.head.max(position);
        let entry = Entry {
            position: self.head,
            method: known_method(method),
            params: params.to_string().into(),
            hidden,
        };
        self.view.apply(method, params);
        self.entries.push(entry);
        let item = &params["item"];
        if method == "item/completed"
            && item["kind"] == "compaction"
            && item["outcome"] == "compacted"
        {
            let id = item["itemId"].as_str().unwrap_or_default();
            let through = item["summarizedThrough"].as_str().unwrap_or_default();
            self.boundaries.push(Boundary {
                position: self.head,
                summarized_through: through.to_owned(),
                first_item: self.view.items.get_index_of(id).unwrap_or(self.view.items.len()),
            });
        }
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
    /// At most `limit` events and about `bytes` bytes; at least one event if there is one that fits
    /// into `frame` bytes.
    pub(crate) fn page(
        &self,
        from: Option<u64>,
        forward: bool,
        limit: usize,
        bytes: usize,
        frame: usize,
    ) -> Page {
        let low = from.unwrap_or(0).max(self.earliest);
        let low = self.entries.partition_point(|entry| entry.position <= low);
        let high = match from {
            None => self.entries.len(),
            Some(position) => self.entries.partition_point(|entry| entry.position < position),
        };
        let range = match forward {
            true => low..self.entries.len(),
            false => self.entries.partition_point(|entry| entry.position <= self.earliest)..high,
        };
        let candidates = self.entries.get(range).unwrap_or_default();
        let mut forwards = candidates.iter();
        let mut backwards = candidates.iter().rev();
        let mut step = || if forward { forwards.next() } else { backwards.next() };
        let mut taken: Vec<&Entry> = Vec::new();
        let (mut size, mut more, mut too_large) = (0, false, None);
        while let Some(entry) = step() {
            if entry.hidden {
                continue;
            }
            size += entry.params.len();
            if taken.len() == limit || (size > bytes && !taken.is_empty()) {
                more = true;
                break;
            }
            if entry.params.len() > frame {
                too_large = Some(self.cursor(entry.position));
                break;
            }
            taken.push(entry);
        }
        let next = taken.last().filter(|_| more).map(|entry| self.cursor(entry.position));
        if !forward {
            taken.reverse();
        }
        Page { events: taken.into_iter().map(Entry::shown).collect(), next, too_large }
    }

    /// Visible events after a position, for a replay.
    pub(crate) fn since(&self, position: u64) -> Vec<(String, Value)> {
        let start = self.entries.partition_point(|entry| entry.position <= position);
        self.entries[start..]
            .iter()
            .filter(|entry| !entry.hidden)
            .map(|entry| (entry.method.clone().into_owned(), entry.value()))
            .collect()
    }

    /// Methods of the visible events strictly between two positions.
    pub(crate) fn between(&self, after: u64, next: u64) -> Vec<&str> {
        let start = self.entries.partition_point(|entry| entry.position <= after);
        self.entries[start..]
            .iter()
            .take_while(|entry| entry.position < next)
            .filter(|entry| !entry.hidden)
            .map(|entry| entry.method.as_ref())
            .collect()
    }

    /// Folds all entries again; equals [`Log::view`] or the fold is not a function of the log.
    #[cfg(test)]
    pub(crate) fn refold(&self) -> View {
        let mut view = View::new(&self.birth);
        for entry in &self.entries {
            view.apply(&entry.method, &entry.value());
        }
        view
    }
}

/// The table's own text for a method, so that a million entries do not each carry their own.
fn known_method(method: &str) -> Cow<'static, str> {
    let known = NOTIFICATIONS.iter().find(|row| row.name == method);
    known.map_or_else(|| Cow::Owned(method.to_owned()), |row| Cow::Borrowed(row.name))
}
