//! Lines from a byte stream, with a bound.
//!
//! Invariants: [`Lines::next`] may be dropped at any await and called again without losing a byte
//! (it stands in a `select!`); no more than the bound is kept in memory, whatever arrives.
//! It does not know what is in a line.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// A reader of lines.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    max: usize,
    buffer: Vec<u8>,
    /// Where the current line begins in `buffer`.
    start: usize,
    /// Up to where `buffer` is known to hold no end of the current line.
    scanned: usize,
    /// The rest of a line that was too long is passed over.
    skipping: bool,
    ended: bool,
}

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line.
    Whole(Vec<u8>),
    /// What came after the last line end before the stream ended; never empty.
    Unfinished(Vec<u8>),
    /// The beginning of a line that is longer than the bound.
    TooLong(Vec<u8>),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `max` bytes from `source`.
    pub fn new(source: R, max: usize) -> Self {
        let buffer = Vec::new();
        Self { source, max, buffer, start: 0, scanned: 0, skipping: false, ended: false }
    }

    /// The next line, or `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream's own.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            if self.ended {
                let rest = std::mem::take(&mut self.buffer);
                self.scanned = 0;
                let nothing = rest.is_empty() || self.skipping;
                return Ok((!nothing).then_some(Line::Unfinished(rest)));
            }
            // `read_buf` is cancel safe: dropped, it has read nothing.
            self.buffer.reserve(READ_SIZE);
            self.ended = self.source.read_buf(&mut self.buffer).await? == 0;
        }
    }

    /// A line that is in the buffer already. Without one, the buffer holds only its beginning.
    fn take_line(&mut self) -> Option<Line> {
        while let Some(found) = self.buffer[self.scanned..].iter().position(|b| *b == b'\n') {
            let end = self.scanned + found;
            let line = self.buffer[self.start..end].to_vec();
            (self.start, self.scanned) = (end + 1, end + 1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            return Some(if line.len() > self.max {
                Line::TooLong(line)
            } else {
                Line::Whole(line)
            });
        }
        // Once per read and not once per line, or many short lines would cost their square.
        self.buffer.drain(..std::mem::take(&mut self.start));
        self.scanned = self.buffer.len();
        if self.skipping || self.buffer.len() > self.max {
            self.scanned = 0;
            let head = std::mem::take(&mut self.buffer);
            return (!std::mem::replace(&mut self.skipping, true)).then_some(Line::TooLong(head));
        }
        None
    }
}

/// Bytes asked for at once; a pipe holds as many.
const READ_SIZE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], max: usize) -> Vec<Line> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut lines = Lines::new(bytes, max);
            let mut found = Vec::new();
            while let Some(line) = lines.next().await.expect("no error from memory") {
                found.push(line);
            }
            found
        })
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn lines_are_cut_at_their_ends_and_a_rest_is_told_apart() {
        assert_eq!(all(b"a\n\nb\n", 9), [whole("a"), whole(""), whole("b")]);
        assert_eq!(all(b"a\nb", 9), [whole("a"), Line::Unfinished("b".into())]);
        assert_eq!(all(b"", 9), []);
    }

    #[test]
    fn the_bound_itself_is_allowed_and_one_more_is_not() {
        assert_eq!(all(b"1234\n", 4), [whole("1234")]);
        assert_eq!(all(b"12345\nx\n", 4), [Line::TooLong("12345".into()), whole("x")]);
    }

    #[test]
    fn after_a_line_without_end_the_next_one_is_found() {
        let mut long = vec![b'x'; 3 * READ_SIZE];
        long.extend(b"\nnext\n");
        let found = all(&long, 10);
        assert!(matches!(found[0], Line::TooLong(_)));
        assert_eq!(found[1..], [whole("next")]);
        assert!(matches!(all(&vec![b'x'; 3 * READ_SIZE], 10)[..], [Line::TooLong(_)]));
    }
}
