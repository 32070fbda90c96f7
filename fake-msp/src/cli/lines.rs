//! Lines of stdin, bounded.
//!
//! Purpose: a reader thread that never holds more than one line of the allowed length. Rules: FRM-7,
//! FRM-12.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::SyncSender;

use crate::engine::{FRAME_BYTES_MAX, PREFIX_BYTES};

/// Bytes of one read.
const CHUNK_BYTES: usize = 64 * 1024;

/// What the reader thread reports.
pub(super) enum Event {
    Line(Vec<u8>),
    TooLong(Vec<u8>),
    Tail(Vec<u8>),
    Eof,
}

/// Splits stdin into lines, never holding more than one line of the allowed length.
pub(super) fn read_lines(stdin: Box<dyn Read + Send>, events: &SyncSender<Event>) {
    let mut stdin = BufReader::with_capacity(CHUNK_BYTES, stdin);
    let mut line: Vec<u8> = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = match stdin.fill_buf() {
            Ok(chunk) if !chunk.is_empty() => chunk,
            // A read error is the end as well: nobody can write to us any more.
            Ok(_) | Err(_) => break,
        };
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        if line.len() + part.len() > FRAME_BYTES_MAX + 1 {
            // One byte more than the limit may be a `\r`; the engine decides about that.
            too_long = true;
            line.extend_from_slice(&part[..part.len().min(PREFIX_BYTES)]);
            line.truncate(PREFIX_BYTES);
        } else if !too_long {
            line.extend_from_slice(part);
        }
        let used = end.map_or(chunk.len(), |end| end + 1);
        stdin.consume(used);
        if end.is_some() {
            let whole = std::mem::take(&mut line);
            let event = if too_long { Event::TooLong(whole) } else { Event::Line(whole) };
            too_long = false;
            if events.send(event).is_err() {
                return;
            }
        }
    }
    if !line.is_empty() && events.send(Event::Tail(line)).is_err() {
        return;
    }
    let _ = events.send(Event::Eof);
}
