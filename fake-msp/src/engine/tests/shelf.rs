//! A session store in memory that several hosts share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::{Ends, Store, StoreError};

#[derive(Debug, Default)]
struct Inner {
    logs: BTreeMap<String, Vec<u8>>,
    changes: BTreeMap<String, u64>,
    leases: BTreeMap<String, u64>,
    hosts: u64,
    broken: bool,
}

/// All logs; [`Shelf::open`] gives each host its handle.
#[derive(Clone, Debug, Default)]
pub(super) struct Shelf(Arc<Mutex<Inner>>);

/// One host's handle: dropping it gives its leases back, as the end of a process does.
#[derive(Debug)]
pub(super) struct Handle {
    shelf: Shelf,
    me: u64,
    scanned: BTreeMap<String, u64>,
}

impl Shelf {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(&self) -> Box<Handle> {
        let mut inner = self.inner();
        inner.hosts += 1;
        Box::new(Handle { shelf: self.clone(), me: inner.hosts, scanned: BTreeMap::new() })
    }

    pub(super) fn text(&self, session: &str) -> Option<String> {
        self.inner().logs.get(session).map(|log| String::from_utf8_lossy(log).into_owned())
    }

    /// Rewrites a log, as a bad disk might.
    pub(super) fn spoil(&self, session: &str, change: impl FnOnce(String) -> String) {
        let text = change(self.text(session).expect("a log"));
        let mut inner = self.inner();
        inner.logs.insert(session.to_owned(), text.into_bytes());
        *inner.changes.entry(session.to_owned()).or_default() += 1;
    }

    pub(super) fn break_down(&self) {
        self.inner().broken = true;
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shelf.inner().leases.retain(|_, holder| *holder != self.me);
    }
}

impl Store for Handle {
    fn read(
        &mut self,
        session: &str,
        line: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<String>, StoreError> {
        let Some(log) = self.shelf.inner().logs.get(session).cloned() else { return Ok(None) };
        for part in log.split_inclusive(|byte| *byte == b'\n') {
            if let Some(part) = part.strip_suffix(b"\n") {
                line(part);
            }
        }
        Ok(Some(self.path(session, (0, 0, 0))))
    }

    fn stamp(&mut self, session: &str) -> Option<u64> {
        self.shelf.inner().changes.get(session).copied()
    }

    fn is_leased(&mut self, session: &str) -> bool {
        self.shelf.inner().leases.contains_key(session)
    }

    fn lease(&mut self, session: &str) -> Result<(), StoreError> {
        let mut inner = self.shelf.inner();
        if inner.leases.get(session).is_some_and(|holder| *holder != self.me) {
            return Err(StoreError::Leased);
        }
        inner.leases.insert(session.to_owned(), self.me);
        if let Some(log) = inner.logs.get_mut(session) {
            let end = log.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            log.truncate(end);
        }
        Ok(())
    }

    fn release(&mut self, session: &str) {
        self.shelf.inner().leases.remove(session);
    }

    fn create(&mut self, session: &str, _: (u64, u64, u64)) -> Result<(), StoreError> {
        self.lease(session)?;
        let old = self.shelf.inner().logs.insert(session.to_owned(), Vec::new());
        assert!(old.is_none(), "a log is created once");
        Ok(())
    }

    fn append(&mut self, session: &str, lines: &[u8]) -> Result<(), StoreError> {
        let mut inner = self.shelf.inner();
        assert_eq!(inner.leases.get(session), Some(&self.me), "writing needs the lease");
        if inner.broken {
            return Err(StoreError::Failed("no space left".into()));
        }
        inner.logs.get_mut(session).expect("a log").extend_from_slice(lines);
        *inner.changes.entry(session.to_owned()).or_default() += 1;
        Ok(())
    }

    fn path(&self, session: &str, _: (u64, u64, u64)) -> String {
        format!("/shelf/{session}/session.jsonl")
    }

    fn scan(&mut self, each: &mut dyn FnMut(Ends<'_>)) -> Result<Vec<String>, StoreError> {
        let shelf = self.shelf.clone();
        let inner = shelf.inner();
        for (session, log) in &inner.logs {
            let change = inner.changes.get(session).copied().unwrap_or(0);
            if self.scanned.insert(session.clone(), change) != Some(change) {
                let path = self.path(session, (0, 0, 0));
                each(Ends { session, path: &path, first: log, last: &[] });
            }
        }
        let known: BTreeSet<String> = self.scanned.keys().cloned().collect();
        let gone = known.into_iter().filter(|id| !inner.logs.contains_key(id)).collect::<Vec<_>>();
        for id in &gone {
            self.scanned.remove(id);
        }
        Ok(gone)
    }
}
