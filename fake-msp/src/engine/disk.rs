//! Sessions between the store and the host.
//!
//! ```text
//! start ─► lines wait ──first turn──► log exists, leased ──unload, end──► only in the store
//!                                           ▲                                  │
//!                                           └────resume: lease, read, mark─────┘
//! ```
//! Invariants: nothing is written without the lease; a session that never had a turn leaves nothing
//! behind (LB-62); what a client hears of was handed to the store before; a store that fails ends the
//! host with exit code 1, because an answer would promise what is not kept. Without a store nothing
//! here does anything. Rules: SES-2, SES-11, CMD-6, PRC-4, LB-60..64.

use serde_json::{Map, Value};

use super::head::Head;
use super::ids::date;
use super::list::Listing;
use super::reader::{Read, Reader};
use super::record::{Line, Record};
use super::store::{Store, StoreError};
use super::{Host, Options, Output, Refusal, Reply};
use crate::profiles::Profile;

/// Sessions of the store that are kept in memory for reading; the oldest one goes first.
const COPIES_MAX: usize = 8;

/// A session's place in the store.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) path: String,
    /// There is a log in the store.
    pub(crate) exists: bool,
    /// This host writes it.
    pub(crate) leased: bool,
    /// Sequence of the last line.
    pub(crate) sequence: u64,
    /// Another host wrote it when it was read.
    elsewhere: bool,
    /// What [`Store::stamp`] said when the log was read.
    pub(crate) stamp: Option<u64>,
    /// Lines from before the first turn.
    waiting: String,
}

impl Host {
    /// A host over a store: sessions of earlier hosts are there, and this one's survive it.
    #[must_use]
    pub fn with_store(profile: &'static Profile, options: Options, store: Box<dyn Store>) -> Self {
        let mut host = Self::new(profile, options);
        host.store = Some(store);
        host
    }

    pub(super) fn path_of(&self, session: &str, created_ms: u64) -> String {
        let created = date(created_ms);
        match &self.store {
            Some(store) => store.path(session, created),
            None => {
                let (year, month, day) = created;
                format!(
                    "{}/sessions/{year:04}/{month:02}/{day:02}/{session}/session.jsonl",
                    self.options.muse_home
                )
            }
        }
    }

    /// Writes what a list row needs: at birth, and whenever it has changed.
    pub(super) fn record_head(&mut self, session: &str) {
        if self.store.is_some()
            && let Some(target) = self.sessions.get(session)
        {
            let record = Record::Metadata(Head::of(target).to_record());
            self.record(session, record);
        }
    }

    /// Writes the entry that the log got last.
    pub(super) fn record_event(&mut self, session: &str, method: &str, params: &Value) {
        if self.store.is_none() {
            return;
        }
        let Some(entry) = self.sessions.get(session).and_then(|s| s.log.entries().last()) else {
            return;
        };
        let (position, hidden) = (entry.position, entry.hidden);
        let method_name = method.to_owned();
        let event = Record::Event { position, method: method_name, params: params.clone(), hidden };
        self.record(session, event);
        match method {
            "turn/started" => self.persist(session),
            "turn/completed"
            | "session/modelChanged"
            | "session/nameChanged"
            | "session/branchChanged" => self.record_head(session),
            "item/completed" if params["item"]["kind"] == "userMessage" => {
                let text = params["item"]["text"].as_str().unwrap_or_default();
                self.record(session, Record::Intent(text.to_owned()));
            }
            _ => {}
        }
    }

    /// Writes that a command was taken in, into the session that it names (CMD-6). Loading a session is
    /// no change of it, so `session/resume` has no intake.
    pub(super) fn record_accepted(
        &mut self,
        command_id: &str,
        method: &str,
        params: &Map<String, Value>,
    ) {
        let session = params.get("sessionId").and_then(Value::as_str);
        if let (Some(session), true) = (session, self.store.is_some() && method != "session/resume")
        {
            let (command_id, method) = (command_id.to_owned(), method.to_owned());
            let params = params.clone();
            self.record(session, Record::Accepted { command_id, method, params });
        }
    }

    /// Writes the answer of a command, before it goes out.
    pub(super) fn record_settled(
        &mut self,
        command_id: &str,
        method: &str,
        params: &Map<String, Value>,
        reply: &Reply,
    ) {
        if self.store.is_none() || method == "session/resume" {
            return;
        }
        let born = reply.as_ref().ok().and_then(|result| result["session"]["sessionId"].as_str());
        let named = params.get("sessionId").and_then(Value::as_str);
        let Some(session) = born.or(named).map(str::to_owned) else { return };
        if method == "session/start" && born.is_some() {
            let (command_id, method) = (command_id.to_owned(), method.to_owned());
            let params = params.clone();
            self.record(&session, Record::Accepted { command_id, method, params });
        }
        let command_id = command_id.to_owned();
        self.record(&session, Record::Settled { command_id, reply: reply.clone() });
    }

    pub(super) fn record(&mut self, session: &str, record: Record) {
        let (Some(store), Some(target)) = (&mut self.store, self.sessions.get_mut(session)) else {
            return;
        };
        if target.disk.exists && !target.disk.leased {
            return; // A copy for reading.
        }
        target.disk.sequence += 1;
        let line = Line {
            session: session.to_owned(),
            sequence: target.disk.sequence,
            recorded_ms: self.now,
            record,
        };
        let line = line.write();
        if !target.disk.exists {
            target.disk.waiting.push_str(&line);
            return;
        }
        if let Err(error) = store.append(session, line.as_bytes()) {
            self.store_failed(&error);
        }
    }

    /// Creates the log of a session that has something to keep.
    pub(super) fn persist(&mut self, session: &str) {
        let (Some(store), Some(target)) = (&mut self.store, self.sessions.get_mut(session)) else {
            return;
        };
        if target.disk.exists {
            return;
        }
        let lines = std::mem::take(&mut target.disk.waiting);
        let created = date(target.log.birth().created_ms);
        let made =
            store.create(session, created).and_then(|()| store.append(session, lines.as_bytes()));
        match made {
            Ok(()) => (target.disk.exists, target.disk.leased) = (true, true),
            Err(error) => self.store_failed(&error),
        }
    }

    fn store_failed(&mut self, error: &StoreError) {
        if !self.ended {
            self.out.push_back(Output::Stderr(format!("fake-msp: session store: {error:?}")));
            self.end(Output::Exit { code: 1 });
        }
    }

    /// Brings a session that only the store knows, or a copy that is out of date, into memory. The
    /// session may still be absent afterwards.
    pub(super) fn fetch(&mut self, session: &str) -> Result<(), Refusal> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let known = self.sessions.get(session);
        if known.is_some_and(|known| known.loaded || !known.disk.exists) {
            return Ok(());
        }
        // A writer that died changes what its last turn means, although the log is the same.
        let elsewhere = store.is_leased(session);
        if let Some(Disk { stamp, elsewhere: then, .. }) = known.map(|known| &known.disk)
            && (*stamp, *then) == (store.stamp(session), elsewhere)
        {
            return Ok(());
        }
        match self.read_log(session)? {
            None => {
                self.sessions.shift_remove(session);
            }
            Some(mut read) => {
                read.session.disk.elsewhere = elsewhere;
                self.adopt_copy(read, !elsewhere);
                if !elsewhere {
                    // Nobody is there who could go on with the turn; nothing is written yet.
                    self.infer_end(session);
                }
            }
        }
        Ok(())
    }

    fn read_log(&mut self, session: &str) -> Result<Option<Read>, Refusal> {
        let Some(store) = &mut self.store else { return Ok(None) };
        let stamp = store.stamp(session);
        let mut reader = Reader::new(session, self.profile);
        match store.read(session, &mut |line| reader.line(line)) {
            Ok(None) => Ok(None),
            Ok(Some(path)) => {
                let mut read = reader.finish()?;
                read.session.disk.path = path;
                read.session.disk.stamp = stamp;
                Ok(Some(read))
            }
            Err(error) => Err(refusal(session, &error)),
        }
    }

    fn adopt_copy(&mut self, read: Read, commands: bool) {
        let id = read.session.log.session_id.clone();
        for note in read.notes {
            self.out.push_back(Output::Stderr(format!("fake-msp: session {id}: {note}")));
        }
        if commands {
            for row in read.commands {
                self.ledger.adopt(row);
            }
        }
        self.sessions.insert(id.clone(), read.session);
        self.retain(&id);
        let copies: Vec<String> = self
            .sessions
            .iter()
            .filter(|(other, session)| session.disk.exists && !session.loaded && **other != id)
            .map(|(id, _)| id.clone())
            .collect();
        for old in copies.iter().take((copies.len() + 1).saturating_sub(COPIES_MAX)) {
            self.sessions.shift_remove(old);
        }
    }

    /// Loads a session for writing: takes the lease and reads the log anew, so that nothing of
    /// another writer is missed.
    pub(super) fn load(&mut self, session: &str) -> Result<(), Refusal> {
        let stored = self.sessions.get(session).is_some_and(|known| known.disk.exists);
        if let (Some(store), true) = (&mut self.store, stored) {
            store.lease(session).map_err(|error| refusal(session, &error))?;
            match self.read_log(session) {
                Ok(Some(read)) => self.adopt_copy(read, true),
                other => {
                    if let Some(store) = &mut self.store {
                        store.release(session);
                    }
                    return Err(other
                        .err()
                        .unwrap_or_else(|| super::sessions::no_such_session(session)));
                }
            }
            if let Some(target) = self.sessions.get_mut(session) {
                target.disk.leased = true;
                target.log.skip_unknown_deltas();
            }
            self.record(session, Record::Resumed);
            self.infer_end(session);
        }
        if let Some(target) = self.sessions.get_mut(session) {
            target.loaded = true;
            target.quiet_since = self.now;
        }
        Ok(())
    }

    /// What a new process finds: leases are free, and stored sessions are in the store only.
    pub(super) fn forget_stored(&mut self) {
        let Some(store) = &mut self.store else { return };
        for (id, _) in self.sessions.iter().filter(|(_, session)| session.disk.leased) {
            store.release(id);
        }
        // Without a turn a session leaves nothing behind (LB-62).
        self.sessions.clear();
        self.listing = Listing::default();
    }

    /// Gives a session back to the store. What was never persisted stays in memory.
    pub(super) fn give_back(&mut self, session: &str) {
        let leased = self.sessions.get(session).is_some_and(|target| target.disk.leased);
        if leased {
            self.record_head(session);
            self.record(session, Record::Ended);
        }
        if let (Some(store), true) = (&mut self.store, leased) {
            store.release(session);
            self.sessions.shift_remove(session);
        }
    }
}

/// What a client hears of a store's error.
pub(super) fn refusal(session: &str, error: &StoreError) -> Refusal {
    match error {
        StoreError::Leased => Refusal::new(-32021, "session is in use").with("sessionId", session),
        StoreError::Ambiguous(paths) => {
            let refusal = Refusal::new(-32022, "more than one log carries this id");
            refusal.with("sessionId", session).with("paths", paths.clone())
        }
        StoreError::Failed(text) => {
            let refusal = Refusal::new(-32603, format!("session log cannot be read: {text}"));
            refusal.with("sessionId", session)
        }
    }
}
