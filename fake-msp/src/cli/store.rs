//! The session store as files, in Muse's layout.
//!
//! ```text
//! DIR/sessions/YYYY/MM/DD/<session id>/session.jsonl    the log, one envelope a line
//! DIR/sessions/YYYY/MM/DD/<session id>/session.lock     the lease: an advisory lock of its writer
//! DIR/fake-msp.boots                                    how many hosts ran over this store
//! ```
//! Invariants: a name on disk is one harmless path component, whatever id a client chose; the system
//! gives a lease back when its process dies; nothing outside `DIR` is touched. What was appended is in
//! the file before the frame that tells of it is on the wire, but it is not forced to the platter.
//! Rules: LB-60..64, PRC-4, PRC-9.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::engine::{Ends, Store, StoreError};

const LOG: &str = "session.jsonl";
const LOCK: &str = "session.lock";
/// What a scan reads from each end of a log.
const WINDOW: usize = 64 * 1024;
/// Longest line that is read; a longer one cannot be one of ours.
const LINE_MAX: u64 = 64 * 1024 * 1024;
/// How often a lease is tried: a host that only looks whether somebody writes holds the lock for a
/// moment.
const LEASE_TRIES: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct FileStore {
    root: PathBuf,
    leases: BTreeMap<String, Lease>,
    /// Logs that were scanned: length and time.
    seen: BTreeMap<String, (u64, u128)>,
}

#[derive(Debug)]
struct Lease {
    log: File,
    /// Held for its lock.
    _lock: File,
}

impl FileStore {
    /// A store in `folder`, made if absent, and how many hosts ran over it before.
    pub(crate) fn open(folder: &Path) -> io::Result<(Self, u64)> {
        let root = folder.join("sessions");
        fs::create_dir_all(&root)?;
        let root = root.canonicalize()?;
        let boots = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(folder.join("fake-msp.boots"))?;
        let before = count_boot(boots)?;
        Ok((Self { root, leases: BTreeMap::new(), seen: BTreeMap::new() }, before))
    }

    /// The same for a reader that is no host: nothing is made and nothing is counted.
    pub(crate) fn look(folder: &Path) -> io::Result<Self> {
        let root = folder.join("sessions").canonicalize()?;
        Ok(Self { root, leases: BTreeMap::new(), seen: BTreeMap::new() })
    }

    /// The folder that holds `sessions`.
    pub(crate) fn home(&self) -> String {
        self.root.parent().unwrap_or(&self.root).display().to_string()
    }

    /// The folders of a session, of which there should be one.
    fn folders(&self, session: &str) -> Vec<PathBuf> {
        let name = file_name(session);
        let mut found = Vec::new();
        for_each_day(&self.root, &mut |day| {
            let folder = day.join(&name);
            if folder.join(LOG).is_file() {
                found.push(folder);
            }
        });
        found.sort();
        found
    }

    fn folder(&self, session: &str) -> Result<Option<PathBuf>, StoreError> {
        let mut folders = self.folders(session);
        match folders.len() {
            0 | 1 => Ok(folders.pop()),
            _ => {
                let paths = folders.iter().map(|folder| folder.join(LOG).display().to_string());
                Err(StoreError::Ambiguous(paths.collect()))
            }
        }
    }

    fn hold(&mut self, session: &str, folder: &Path, new: bool) -> Result<(), StoreError> {
        let lock = open_lock(&folder.join(LOCK)).map_err(failed)?;
        take_lock(&lock)?;
        let log = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(new)
            .open(folder.join(LOG))
            .map_err(failed)?;
        if !new {
            cut_torn_line(&log).map_err(failed)?;
        }
        self.leases.insert(session.to_owned(), Lease { log, _lock: lock });
        Ok(())
    }

    fn day(&self, (year, month, day): (u64, u64, u64)) -> PathBuf {
        self.root.join(format!("{year:04}")).join(format!("{month:02}")).join(format!("{day:02}"))
    }
}

impl Store for FileStore {
    fn read(
        &mut self,
        session: &str,
        line: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<String>, StoreError> {
        let Some(folder) = self.folder(session)? else { return Ok(None) };
        let path = folder.join(LOG);
        let file = File::open(&path).map_err(failed)?;
        let mut reader = BufReader::with_capacity(WINDOW, file);
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let read =
                (&mut reader).take(LINE_MAX).read_until(b'\n', &mut bytes).map_err(failed)?;
            match bytes.pop() {
                Some(b'\n') => line(&bytes),
                // A longer line cannot be read; its parts are unreadable lines.
                Some(_) if read as u64 == LINE_MAX => line(b"?"),
                // Torn, or the end.
                _ => break,
            }
        }
        Ok(Some(path.display().to_string()))
    }

    fn stamp(&mut self, session: &str) -> Option<u64> {
        let folders = self.folders(session);
        let (length, changed) = facts(&folders.first()?.join(LOG)).ok()?;
        // Appending changes the length; the time tells of a log that was replaced.
        let changed = u64::try_from(changed % u128::from(u64::MAX)).unwrap_or_default();
        Some(length.rotate_left(32) ^ changed ^ folders.len() as u64)
    }

    fn is_leased(&mut self, session: &str) -> bool {
        if self.leases.contains_key(session) {
            return true;
        }
        let folders = self.folders(session);
        let Some(lock) = folders.first().and_then(|f| File::open(f.join(LOCK)).ok()) else {
            return false;
        };
        matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    fn lease(&mut self, session: &str) -> Result<(), StoreError> {
        if self.leases.contains_key(session) {
            return Ok(());
        }
        match self.folder(session)? {
            Some(folder) => self.hold(session, &folder, false),
            None => Err(StoreError::Failed("the log is gone".into())),
        }
    }

    fn release(&mut self, session: &str) {
        self.leases.remove(session);
    }

    fn create(&mut self, session: &str, created: (u64, u64, u64)) -> Result<(), StoreError> {
        let folder = self.day(created).join(file_name(session));
        fs::create_dir_all(&folder).map_err(failed)?;
        self.hold(session, &folder, true)
    }

    fn append(&mut self, session: &str, lines: &[u8]) -> Result<(), StoreError> {
        match self.leases.get_mut(session) {
            Some(lease) => lease.log.write_all(lines).map_err(failed),
            None => Err(StoreError::Failed("no lease".into())),
        }
    }

    fn path(&self, session: &str, created: (u64, u64, u64)) -> String {
        self.day(created).join(file_name(session)).join(LOG).display().to_string()
    }

    fn scan(&mut self, each: &mut dyn FnMut(Ends<'_>)) -> Result<Vec<String>, StoreError> {
        let mut now = BTreeMap::new();
        let seen = &self.seen;
        for_each_day(&self.root, &mut |day| {
            for folder in folders_in(day) {
                let Some(session) = folder.file_name().and_then(|n| session_id(n.to_str()?)) else {
                    continue;
                };
                let path = folder.join(LOG);
                let Ok(facts) = facts(&path) else { continue };
                if seen.get(&session) != Some(&facts) {
                    let Ok((first, last)) = ends(&path, facts.0) else { continue };
                    let path = path.display().to_string();
                    each(Ends { session: &session, path: &path, first: &first, last: &last });
                }
                now.insert(session, facts);
            }
        });
        let gone = self.seen.keys().filter(|id| !now.contains_key(*id)).cloned().collect();
        self.seen = now;
        Ok(gone)
    }
}

fn failed(error: io::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}

fn count_boot(mut file: File) -> io::Result<u64> {
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let before: u64 = text.trim().parse().unwrap_or(0);
    file.seek(SeekFrom::Start(0))?;
    file.set_len(0)?;
    writeln!(file, "{}", before + 1)?;
    Ok(before)
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

fn take_lock(lock: &File) -> Result<(), StoreError> {
    for _ in 0..LEASE_TRIES {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Err(StoreError::Leased)
}

/// Cuts a log after its last whole line, so that the next line does not become part of a torn one.
fn cut_torn_line(mut log: &File) -> io::Result<()> {
    let length = log.metadata()?.len();
    let mut end = length;
    let mut window = vec![0; WINDOW];
    while end > 0 {
        let start = end.saturating_sub(WINDOW as u64);
        let size = usize::try_from(end - start).unwrap_or(WINDOW);
        let window = &mut window[..size];
        log.seek(SeekFrom::Start(start))?;
        log.read_exact(window)?;
        if let Some(at) = window.iter().rposition(|byte| *byte == b'\n') {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    if end < length {
        log.set_len(end)?;
    }
    Ok(())
}

/// Length and time of change.
fn facts(path: &Path) -> io::Result<(u64, u128)> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok((metadata.len(), changed.as_nanos()))
}

fn ends(path: &Path, length: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut file = File::open(path)?;
    let (mut first, mut last) = (Vec::new(), Vec::new());
    (&mut file).take(WINDOW as u64).read_to_end(&mut first)?;
    if length > WINDOW as u64 {
        file.seek(SeekFrom::Start(length - WINDOW as u64))?;
        file.take(WINDOW as u64).read_to_end(&mut last)?;
    }
    Ok((first, last))
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}

fn for_each_day(root: &Path, each: &mut dyn FnMut(&Path)) {
    for year in folders_in(root) {
        for month in folders_in(&year) {
            for day in folders_in(&month) {
                each(&day);
            }
        }
    }
}

/// One path component for an id: what is not a plain character is written as `%XX`.
fn file_name(session: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let dots = session.bytes().all(|byte| byte == b'.');
    session
        .bytes()
        .map(|byte| match plain(byte) && !dots {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// The id of a folder that [`file_name`] could have named.
fn session_id(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        rest = tail;
        if *byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = rest.get(2..)?;
        } else {
            bytes.push(*byte);
        }
    }
    let id = String::from_utf8(bytes).ok()?;
    (file_name(&id) == name).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_becomes_one_harmless_path_component_and_is_read_back() {
        for id in ["0198f0aa-1111-7000-8000-0000000000aa", "..", ".", "../../etc", "a b/ü", "%2E"]
        {
            let name = file_name(id);
            assert!(!name.contains('/') && name != "." && name != "..", "{name}");
            assert_eq!(session_id(&name).as_deref(), Some(id));
        }
        assert_eq!(session_id("%zz"), None);
        assert_eq!(session_id("%2e"), None, "not a name that we would give");
    }
}
