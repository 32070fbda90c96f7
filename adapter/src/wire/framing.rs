//! Newline-delimited framing with a limit.
//!
//! In: chunks of any size. Out: lines without their terminator, in order. Invariants: never more
//! than `limit` bytes of one line are kept; an oversized line is passed over and reported once; the
//! result does not depend on how the input was cut. It does not look at the content beyond blank
//! lines, one trailing carriage return and one leading byte order mark. Rules: FRM-2..4, FRM-9, FRM-12, WIRE-1, WIRE-2, WIRE-5.

use memchr::memchr;

/// Editor side: 32 MiB of line content (WIRE-5).
pub const EDITOR_LINE_MAX: usize = 32 * 1024 * 1024;
/// Host side: 10 MiB of line content (FRM-6, FRM-9).
pub const HOST_LINE_MAX: usize = 10 * 1024 * 1024;

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Buffers grown by a large line are given back above this size, so that one large frame does not
/// stay in resident memory for the life of the process.
const KEEP_CAPACITY: usize = 256 * 1024;

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line that is not blank, without `\n`, without one `\r` before it, and without a byte order mark,
    /// which some writers put before a stream or before each text.
    Complete(&'a [u8]),
    /// The stream ended inside this line. It counts only if it is a whole JSON object (PO-34).
    Unterminated(&'a [u8]),
    /// A line above the limit was passed over; `bytes` is its length as far as it was read.
    TooLong {
        /// Length of the line in bytes, without its terminator.
        bytes: u64,
    },
}

/// Cuts a byte stream into lines.
#[derive(Debug)]
pub struct Framer {
    limit: usize,
    buffer: Vec<u8>,
    /// Start of the next line in `buffer`.
    start: usize,
    /// Bytes from `start` that are known to hold no newline.
    scanned: usize,
    /// Length so far of a line that is being passed over.
    skipping: Option<u64>,
}

impl Framer {
    /// A framer for lines of at most `limit` bytes, terminator not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, buffer: Vec::new(), start: 0, scanned: 0, skipping: None }
    }

    /// Adds input. Take every line with [`Framer::next_line`] before the next push, else the buffer
    /// grows beyond one line.
    pub fn push(&mut self, bytes: &[u8]) {
        self.compact();
        self.buffer.extend_from_slice(bytes);
    }

    /// The next line, or `None` until more input arrives.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let rest = self.start + self.scanned;
            match memchr(b'\n', &self.buffer[rest..]) {
                Some(offset) => {
                    let (from, to) = (self.start, rest + offset);
                    self.start = to + 1;
                    self.scanned = 0;
                    if let Some(bytes) = self.skipping.take() {
                        return Some(Line::TooLong { bytes: bytes + (to - from) as u64 });
                    }
                    let to = if to > from && self.buffer[to - 1] == b'\r' { to - 1 } else { to };
                    if to - from > self.limit {
                        return Some(Line::TooLong { bytes: (to - from) as u64 });
                    }
                    let from = from + mark(&self.buffer[from..to]);
                    if !is_blank(&self.buffer[from..to]) {
                        return Some(Line::Complete(&self.buffer[from..to]));
                    }
                }
                None => {
                    self.scanned = self.buffer.len() - self.start;
                    // One byte above the limit may still be the carriage return of a legal line.
                    if self.skipping.is_some() || self.scanned > self.limit + 1 {
                        *self.skipping.get_or_insert(0) += self.scanned as u64;
                        self.start = self.buffer.len();
                        self.scanned = 0;
                        self.compact();
                    }
                    return None;
                }
            }
        }
    }

    /// The tail that the end of the stream left without a newline, once.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        let from = std::mem::replace(&mut self.start, self.buffer.len());
        self.scanned = 0;
        if let Some(bytes) = self.skipping.take() {
            return Some(Line::TooLong { bytes: bytes + (self.buffer.len() - from) as u64 });
        }
        let from = from + mark(&self.buffer[from..]);
        let tail = &self.buffer[from..];
        (!is_blank(tail)).then_some(Line::Unterminated(tail))
    }

    fn compact(&mut self) {
        if self.start == 0 {
            return;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.capacity() > KEEP_CAPACITY && self.buffer.len() < KEEP_CAPACITY / 2 {
            self.buffer.shrink_to(KEEP_CAPACITY);
        }
    }
}

/// Length of the byte order mark at the beginning of a line.
fn mark(line: &[u8]) -> usize {
    if line.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `step` bytes and renders what came out.
    fn lines(limit: usize, input: &[u8], step: usize) -> Vec<String> {
        let mut framer = Framer::new(limit);
        let mut seen = Vec::new();
        for piece in input.chunks(step) {
            framer.push(piece);
            while let Some(line) = framer.next_line() {
                seen.push(render(&line));
            }
        }
        seen.extend(framer.finish().map(|line| render(&line)));
        seen
    }

    fn render(line: &Line<'_>) -> String {
        match line {
            Line::Complete(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Line::Unterminated(bytes) => format!("tail {}", String::from_utf8_lossy(bytes)),
            Line::TooLong { bytes } => format!("too long {bytes}"),
        }
    }

    #[test]
    fn the_result_does_not_depend_on_how_the_input_was_cut() {
        let input = b"{\"a\":1}\r\n\n  \t\r\nabcdefghijk\n12345678\r\nxx\r\rtail";
        let whole = lines(8, input, input.len());
        assert_eq!(whole, ["{\"a\":1}", "too long 11", "12345678", "tail xx\r\rtail"]);
        for step in 1..input.len() {
            assert_eq!(lines(8, input, step), whole, "cut every {step} bytes");
        }
    }

    /// <https://github.com/modelcontextprotocol/rust-sdk/issues/825> (BL-49)
    #[test]
    fn a_byte_order_mark_is_no_part_of_a_line_and_alone_it_is_blank() {
        let input =
            "\u{feff}{}\n\u{feff}\n\u{feff} \r\n{}\r\n\u{feff}[]\n\u{feff}\u{feff}7\n\u{feff}";
        for step in 1..input.len() {
            let seen = lines(64, input.as_bytes(), step);
            assert_eq!(seen, ["{}", "{}", "[]", "\u{feff}7"], "cut every {step} bytes");
        }
        assert_eq!(lines(64, "\u{feff}{}".as_bytes(), 1), ["tail {}"]);
    }

    #[test]
    fn an_oversized_line_is_not_buffered() {
        let mut framer = Framer::new(1024);
        for _ in 0..10_000 {
            framer.push(&[b'x'; 1000]);
            assert_eq!(framer.next_line(), None);
            assert!(framer.buffer.capacity() <= KEEP_CAPACITY, "memory stays bounded");
        }
        framer.push(b"\nok\n");
        assert_eq!(framer.next_line(), Some(Line::TooLong { bytes: 10_000_000 }));
        assert_eq!(framer.next_line(), Some(Line::Complete(b"ok")));
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes_with_and_without_carriage_return() {
        assert_eq!(lines(4, b"abcd\nabcd\r\nabcde\n", 1), ["abcd", "abcd", "too long 5"]);
    }

    #[test]
    fn memory_of_a_large_line_is_given_back() {
        let mut framer = Framer::new(HOST_LINE_MAX);
        framer.push(&vec![b'x'; 8 * 1024 * 1024]);
        framer.push(b"\n");
        assert!(matches!(framer.next_line(), Some(Line::Complete(_))));
        framer.push(b"y\n");
        assert!(framer.buffer.capacity() <= KEEP_CAPACITY);
    }
}
