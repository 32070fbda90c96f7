//! The frame log: what went over the wire, when, in which direction.
//!
//! Purpose: JSON lines `{"dir":"client"|"server","ms":N,"raw":"<frame>"}`, `ms` since the start of the
//! process. The form is that of a recording, so a log can be played with `serve --transcript`.
//! Invariant: no secret reaches the file; see [`redact`](super::redact).

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};

use serde_json::json;

use super::redact::redact;
use crate::transcript::Dir;

/// An open log.
pub(super) struct FrameLog {
    file: BufWriter<File>,
}

impl FrameLog {
    /// Opens a file for appending: a second host of the same run goes on in the same file.
    pub(super) fn append(path: &str) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file: BufWriter::new(file) })
    }

    /// Writes one line. A full disk does not end the conversation.
    pub(super) fn write(&mut self, ms: u64, dir: Dir, line: &[u8]) {
        let dir = match dir {
            Dir::Client => "client",
            Dir::Server => "server",
        };
        let text = String::from_utf8_lossy(line);
        let raw = redact(&text);
        let _ = writeln!(self.file, "{}", json!({ "dir": dir, "ms": ms, "raw": raw }));
    }

    pub(super) fn flush(&mut self) {
        let _ = self.file.flush();
    }
}
