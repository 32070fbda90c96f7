//! Lines on their way out: one queue per stream, in order, written in batches (WIRE-11, WIRE-16).
//!
//! Nothing waits to enter; the owner looks at [`Outbox::bytes`] and stops producing. Invariant: a line
//! is written whole or, when the stream broke, not at all from there on.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;

/// Most bytes joined into one write.
const BATCH_MAX: usize = 64 * 1024;
/// A batch buffer above this is given back.
const KEEP_CAPACITY: usize = 256 * 1024;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    lines: VecDeque<Vec<u8>>,
    queued: usize,
    batch: Vec<u8>,
    written: usize,
    needs_flush: bool,
}

impl Outbox {
    /// Adds a line; the newline is added here.
    pub(super) fn push(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.queued += line.len();
        self.lines.push_back(line);
    }

    /// Bytes that are not written yet.
    pub(super) fn bytes(&self) -> usize {
        self.queued + self.batch.len() - self.written
    }

    /// Everything is written and flushed.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes() == 0 && !self.needs_flush
    }

    /// Writes as much as the stream takes. Ready: all is written, or the stream is broken.
    pub(super) fn poll_write(
        &mut self,
        stream: &mut Pin<Box<dyn AsyncWrite>>,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        loop {
            if self.written == self.batch.len() {
                self.next_batch();
            }
            if self.batch.is_empty() {
                if self.needs_flush {
                    std::task::ready!(stream.as_mut().poll_flush(cx))?;
                    self.needs_flush = false;
                }
                return Poll::Ready(Ok(()));
            }
            let written =
                std::task::ready!(stream.as_mut().poll_write(cx, &self.batch[self.written..]))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
            self.needs_flush = true;
        }
    }

    fn next_batch(&mut self) {
        self.batch.clear();
        self.written = 0;
        if self.batch.capacity() > KEEP_CAPACITY {
            self.batch = Vec::new();
        }
        while let Some(line) = self.lines.front() {
            if !self.batch.is_empty() && self.batch.len() + line.len() > BATCH_MAX {
                break;
            }
            self.queued -= line.len();
            self.batch.extend_from_slice(line);
            self.lines.pop_front();
        }
        if self.lines.is_empty() && self.lines.capacity() > 4096 {
            self.lines = VecDeque::new();
        }
    }
}
