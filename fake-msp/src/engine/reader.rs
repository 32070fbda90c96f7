//! Reading a session's log from a store.
//!
//! Purpose: lines to a [`Session`]. Invariants: a torn last line is passed over; unknown record kinds
//! are passed over and counted; a log of another session, or one without its head, is refused; lines in
//! the middle that cannot be read become a `damagedRange` item where the host generation has that kind,
//! and refuse the session where it has not: half a history must not look like a whole one.
//! Rules: LB-60, LB-71, section 9.3.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use super::head::Head;
use super::ids::rfc3339;
use super::ledger::Stored;
use super::record::{Line, Record};
use super::{Log, Refusal, Session};
use crate::profiles::Profile;

/// What came out.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) session: Session,
    pub(super) commands: Vec<Stored>,
    /// For people.
    pub(super) notes: Vec<String>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Reader {
    id: String,
    profile: &'static Profile,
    log: Option<Log>,
    commands: BTreeMap<String, Stored>,
    /// Sequence and time of the last readable line.
    last: Option<(u64, u64)>,
    updated_ms: u64,
    /// Unreadable lines since then.
    broken: u64,
    damages: u64,
    unknown: u64,
    foreign: bool,
}

impl Reader {
    pub(super) fn new(id: &str, profile: &'static Profile) -> Self {
        Self {
            id: id.to_owned(),
            profile,
            log: None,
            commands: BTreeMap::new(),
            last: None,
            updated_ms: 0,
            broken: 0,
            damages: 0,
            unknown: 0,
            foreign: false,
        }
    }

    /// Takes the next line.
    pub(super) fn line(&mut self, bytes: &[u8]) {
        if bytes.trim_ascii().is_empty() {
            return;
        }
        let Some(line) = Line::read(bytes) else {
            self.broken += 1;
            return;
        };
        if line.session != self.id {
            self.foreign = true;
            return;
        }
        self.note_damage(&line);
        self.last = Some((line.sequence, line.recorded_ms));
        self.broken = 0;
        self.take(line);
    }

    fn take(&mut self, line: Line) {
        match line.record {
            Record::Metadata(record) => {
                if let Some(head) = Head::from_record(&self.id, &record) {
                    self.updated_ms = self.updated_ms.max(head.updated_ms);
                    self.log.get_or_insert_with(|| Log::new(self.id.clone(), head.birth));
                }
            }
            Record::Event { position, method, params, hidden } => {
                self.updated_ms = self.updated_ms.max(line.recorded_ms);
                if let Some(log) = &mut self.log {
                    log.put(position, &method, &params, hidden);
                }
            }
            Record::Accepted { command_id, method, params } => {
                let row = Stored { command_id: command_id.clone(), method, params, reply: None };
                self.commands.insert(command_id, row);
            }
            Record::Settled { command_id, reply } => {
                if let Some(row) = self.commands.get_mut(&command_id) {
                    row.reply = Some(reply);
                }
            }
            Record::Intent(_) | Record::Resumed | Record::Ended => {}
            Record::Unknown => self.unknown += 1,
        }
    }

    /// Puts an item where lines are missing.
    fn note_damage(&mut self, next: &Line) {
        let last = self.last.map_or(0, |(sequence, _)| sequence);
        let missing = next.sequence.saturating_sub(last + 1);
        if self.broken == 0 && missing == 0 {
            return;
        }
        self.damages += 1;
        let Some(log) = &mut self.log else { return };
        let mut range = Map::new();
        range.insert("unreadableLines".into(), self.broken.into());
        range.insert("missingRecords".into(), missing.into());
        range.insert("readableAfterAt".into(), rfc3339(next.recorded_ms).into());
        if let Some((_, before_ms)) = self.last {
            range.insert("readableBeforeAt".into(), rfc3339(before_ms).into());
        }
        let turn = log.view().last_turn.as_ref().map(|turn| turn["turnId"].clone());
        if let Some(turn) = turn {
            range.insert("lastGoodTurnId".into(), turn);
        }
        let place =
            json!({ "id": format!("{}:{}", self.id, next.sequence), "sequence": next.sequence });
        // A lost event leaves its position free; other lost lines do not, and then no page shows it.
        let free = log.next_position();
        let hidden = match &next.record {
            Record::Event { position, .. } => *position <= free,
            _ => true,
        };
        let params = json!({
            "sessionId": self.id,
            "viewCursor": log.cursor(free),
            "sourceRange": {
                "stream": { "kind": "session", "id": self.id }, "first": place, "last": place,
            },
            "item": {
                "itemId": format!("damaged-{}", next.sequence), "kind": "damagedRange",
                "turnId": null, "revision": 1, "status": "completed", "damagedRange": range,
                "fallbackText": "a part of this session could not be read",
            },
        });
        let position = if hidden { free - 1 } else { free };
        log.put(position, "item/completed", &params, hidden);
    }

    /// The session, not loaded.
    pub(super) fn finish(self) -> Result<Read, Refusal> {
        let refused = |code: i64, text: &str| {
            Err(Refusal::new(code, text).with("sessionId", self.id.as_str()))
        };
        if self.foreign {
            return refused(-32025, "the log belongs to another session");
        }
        if self.damages > 0 && !self.profile.shows_damage {
            return refused(-32603, "the session log is damaged");
        }
        let Some(log) = self.log else {
            return refused(-32603, "the session log has no head");
        };
        let mut notes = Vec::new();
        if self.damages > 0 {
            notes.push(format!("{} damaged ranges", self.damages));
        }
        if self.broken > 0 {
            notes.push(format!("{} unreadable lines at the end, passed over", self.broken));
        }
        if self.unknown > 0 {
            notes.push(format!("{} records of unknown kinds, passed over", self.unknown));
        }
        let mut session = Session::new(log, self.updated_ms);
        session.disk.exists = true;
        session.disk.sequence = self.last.map_or(0, |(sequence, _)| sequence) + self.broken;
        Ok(Read { session, commands: self.commands.into_values().collect(), notes })
    }
}
