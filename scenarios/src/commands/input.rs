//! Files as the verbs read them, and the reasons when one cannot be read.
//!
//! Invariants: nothing is waited for (a pipe or a device is refused, not opened), and no more is read than a
//! scenario may be long, so that a wrong path costs nothing.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::lang::limits::FILE_BYTES_MAX;

/// The bytes of a file. One that is too large is cut one byte behind the bound, which is enough for the
/// parser to refuse it.
///
/// # Errors
/// Why it cannot be read, to be printed behind its path.
pub fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let kind = std::fs::metadata(path).map_err(|error| reason(&error))?.file_type();
    if kind.is_dir() {
        return Err("this is a folder; name a .scn file".into());
    }
    if !kind.is_file() {
        return Err("this is no regular file (a pipe, a socket or a device)".into());
    }
    let mut bytes = Vec::new();
    let bound = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX) + 1;
    let file = File::open(path).map_err(|error| reason(&error))?;
    file.take(bound).read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    Ok(bytes)
}

/// A system's error in words.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".into(),
        ErrorKind::PermissionDenied => "it may not be read (permission denied)".into(),
        _ => error.to_string(),
    }
}
