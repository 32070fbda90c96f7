//! In-memory pipes of a bounded size.
//!
//! Both ends live on one thread and are polled by the stage until nothing moves, so no waker is kept:
//! a pipe that is full or empty is simply tried again. Invariants: bytes keep their order; a writer
//! never has more than `capacity` bytes outstanding; closing either end is seen by the other.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Debug)]
struct Shared {
    bytes: VecDeque<u8>,
    capacity: usize,
    writer_gone: bool,
    reader_gone: bool,
    /// Counts every byte and every closing, so that the stage can see that something happened.
    moves: u64,
}

/// A new pipe that holds at most `capacity` bytes.
#[must_use]
pub fn pipe(capacity: usize) -> (Writer, Reader) {
    let shared = Rc::new(RefCell::new(Shared {
        bytes: VecDeque::new(),
        capacity: capacity.max(1),
        writer_gone: false,
        reader_gone: false,
        moves: 0,
    }));
    (Writer(Rc::clone(&shared)), Reader(shared))
}

/// The end that bytes go into. Dropping it is the end of the stream.
#[derive(Debug)]
pub struct Writer(Rc<RefCell<Shared>>);

/// The end that bytes come out of. Dropping it breaks the pipe.
#[derive(Debug)]
pub struct Reader(Rc<RefCell<Shared>>);

impl Writer {
    /// Puts in what fits and says how much; an error when nobody reads any more.
    ///
    /// # Errors
    /// `BrokenPipe`.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shared = self.0.borrow_mut();
        if shared.reader_gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let room = shared.capacity - shared.bytes.len();
        let count = room.min(bytes.len());
        shared.bytes.extend(&bytes[..count]);
        shared.moves += count as u64;
        Ok(count)
    }

    /// How often something has happened on this pipe.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.0.borrow().moves
    }
}

impl Reader {
    /// Takes everything that is there.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        let mut shared = self.0.borrow_mut();
        shared.moves += shared.bytes.len() as u64;
        std::mem::take(&mut shared.bytes).into()
    }

    /// The writer is gone and everything was taken.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        let shared = self.0.borrow();
        shared.writer_gone && shared.bytes.is_empty()
    }

    /// How often something has happened on this pipe.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.0.borrow().moves
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut shared = self.0.borrow_mut();
        shared.writer_gone = true;
        shared.moves += 1;
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut shared = self.0.borrow_mut();
        shared.reader_gone = true;
        shared.bytes.clear();
        shared.moves += 1;
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut shared = self.0.borrow_mut();
        if shared.bytes.is_empty() {
            return if shared.writer_gone { Poll::Ready(Ok(())) } else { Poll::Pending };
        }
        let count = shared.bytes.len().min(buffer.remaining());
        for byte in shared.bytes.drain(..count) {
            buffer.put_slice(&[byte]);
        }
        shared.moves += count as u64;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.put(bytes) {
            Ok(0) if !bytes.is_empty() => Poll::Pending,
            result => Poll::Ready(result),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = self.0.borrow_mut();
        shared.writer_gone = true;
        shared.moves += 1;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pipe_takes_no_more_and_a_closed_one_says_so() {
        let (mut writer, mut reader) = pipe(3);
        assert_eq!(writer.put(b"hello").expect("open"), 3);
        assert_eq!(writer.put(b"lo").expect("open"), 0);
        assert_eq!(reader.take(), b"hel");
        assert_eq!(writer.put(b"lo").expect("open"), 2);
        drop(reader);
        assert!(writer.put(b"x").is_err());
    }

    #[test]
    fn the_end_comes_after_the_last_byte() {
        let (mut writer, mut reader) = pipe(8);
        writer.put(b"x").expect("open");
        drop(writer);
        assert!(!reader.is_at_end());
        assert_eq!(reader.take(), b"x");
        assert!(reader.is_at_end());
    }
}
