//! Items that live by a timetable of their own.
//!
//! ```text
//! begin ─► (change │ output)* ─► end       one due time a step; `due: None` waits for a command
//! ```
//! Invariants: the item is what the log folds to; nothing happens to an item that has ended, so it
//! has exactly one terminal (HOST-11); a turn that waits for the item is woken by its end.
//! Rules: ITM-1..4, TRN-12.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::super::fold::is_open;
use super::super::ids::rfc3339;
use super::super::plan::{INLINE_BYTES_MAX, PACE_MS};
use super::super::{Host, Kind};
use crate::profiles::trim;

/// One step of a timetable.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// More output, as a delta.
    Output(String),
    /// The whole item with other members.
    Set(Value),
    /// The terminal.
    End { status: &'static str, set: Value },
}

/// An item and what happens to it next.
#[derive(Debug)]
pub(crate) struct Track {
    pub(super) item: String,
    /// When the next change is due; `None` while it waits for a command.
    pub(super) due: Option<u64>,
    pub(super) changes: VecDeque<Change>,
    /// Output since the last whole item.
    output: String,
}

impl Host {
    /// Opens an item and gives it a timetable. Returns its id.
    pub(in super::super) fn begin_item(
        &mut self,
        session: &str,
        turn: Option<&str>,
        mut item: Map<String, Value>,
        changes: VecDeque<Change>,
    ) -> String {
        let id = self.ids.next(Kind::Item);
        item.insert("itemId".into(), id.as_str().into());
        item.insert("turnId".into(), json!(turn));
        item.insert("revision".into(), 1.into());
        item.insert("status".into(), "inProgress".into());
        item.insert("recordedAt".into(), rfc3339(self.now).into());
        trim(self.profile, "Item", &mut item);
        self.event(session, "item/started", json!({ "item": item }));
        self.follow(session, &id, changes, String::new());
        id
    }

    /// Gives an open item a new timetable; an empty one waits for a command.
    pub(in super::super) fn follow(
        &mut self,
        session: &str,
        item: &str,
        changes: VecDeque<Change>,
        output: String,
    ) {
        let due = (!changes.is_empty()).then_some(self.now + PACE_MS);
        let Some(target) = self.sessions.get_mut(session) else { return };
        let tracks = &mut target.work.tracks;
        match tracks.iter_mut().find(|track| track.item == item) {
            Some(track) => (track.due, track.changes) = (due, changes),
            None => tracks.push(Track { item: item.to_owned(), due, changes, output }),
        }
    }

    /// Whether the item's timetable is not played out.
    pub(super) fn has_future(&self, session: &str, item: &str) -> bool {
        let Some(target) = self.sessions.get(session) else { return false };
        target.work.tracks.iter().any(|track| track.item == item && !track.changes.is_empty())
    }

    /// Stops the clock of an item.
    pub(super) fn hold(&mut self, session: &str, item: &str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        for track in target.work.tracks.iter_mut().filter(|track| track.item == item) {
            track.due = None;
        }
    }

    /// Starts the clock of an item again.
    pub(super) fn release(&mut self, session: &str, item: &str) {
        let due = self.now + PACE_MS;
        let Some(target) = self.sessions.get_mut(session) else { return };
        for track in target.work.tracks.iter_mut().filter(|track| track.item == item) {
            track.due = (!track.changes.is_empty()).then_some(due);
        }
    }

    /// The item as it stands, if it is open.
    pub(super) fn open_item(&self, session: &str, id: &str) -> Option<Value> {
        let item = self.sessions.get(session)?.log.view().items.get(id)?;
        is_open(item).then(|| item.clone())
    }

    /// `item/updated` with other members.
    pub(super) fn change_item(&mut self, session: &str, id: &str, set: &Value) {
        let Some(item) = self.open_item(session, id) else { return };
        let item = self.next_revision(session, item, set);
        self.event(session, "item/updated", json!({ "item": item }));
    }

    /// The terminal of an item.
    pub(in super::super) fn end_item(
        &mut self,
        session: &str,
        id: &str,
        status: &str,
        set: &Value,
    ) {
        if let Some(item) = self.open_item(session, id) {
            let mut item = self.next_revision(session, item, set);
            item["status"] = status.into();
            self.event(session, "item/completed", json!({ "item": item }));
        }
        if let Some(target) = self.sessions.get_mut(session) {
            target.work.tracks.retain(|track| track.item != id);
        }
        self.wake_plan(session);
    }

    /// The item once more: next revision, streamed output, other members (null removes one).
    fn next_revision(&mut self, session: &str, item: Value, set: &Value) -> Value {
        let Value::Object(mut item) = item else { return item };
        let revision = item.get("revision").and_then(Value::as_u64).unwrap_or(0) + 1;
        item.insert("revision".into(), revision.into());
        item.insert("recordedAt".into(), rfc3339(self.now).into());
        let id = item.get("itemId").and_then(Value::as_str).unwrap_or_default();
        let tracks = self.sessions.get(session).map(|target| target.work.tracks.as_slice());
        let track = tracks.unwrap_or_default().iter().find(|track| track.item == id);
        if let Some(output) = track.map(|track| &track.output).filter(|text| !text.is_empty()) {
            item.insert("visibleOutput".into(), output.as_str().into());
        }
        for (name, value) in set.as_object().into_iter().flatten() {
            match value {
                Value::Null => item.remove(name),
                value => item.insert(name.clone(), value.clone()),
            };
        }
        trim(self.profile, "Item", &mut item);
        Value::Object(item)
    }

    /// Plays the next change of the track that is due first.
    pub(in super::super) fn step_track(&mut self, session: &str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let due = target.work.tracks.iter_mut().filter(|track| track.due.is_some());
        let Some(track) = due.min_by_key(|track| track.due) else { return };
        let id = track.item.clone();
        let change = track.changes.pop_front();
        let next = track.due.map(|due| due + PACE_MS).filter(|_| !track.changes.is_empty());
        track.due = next;
        match change {
            None => {}
            Some(Change::Output(text)) => {
                if track.output.len() + text.len() <= INLINE_BYTES_MAX {
                    track.output.push_str(&text);
                }
                self.delta(session, &id, "output", &text);
            }
            Some(Change::Set(set)) => self.change_item(session, &id, &set),
            Some(Change::End { status, set }) => self.end_item(session, &id, status, &set),
        }
    }
}
