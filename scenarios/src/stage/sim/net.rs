//! Streams of the simulated network: a connection that is made on first use, and a count of what moves.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use turmoil::net::TcpStream;

/// Where everybody listens for the adapter's editor and the machine of hosts for a process's standard
/// streams and its control connection (PRC-2).
pub(super) const PORT: u16 = 1;
/// The four connections of one process, by port. They are independent, as the pipes of a process are.
pub(super) const STDIN: u16 = 1;
/// See [`STDIN`].
pub(super) const STDOUT: u16 = 2;
/// See [`STDIN`].
pub(super) const STDERR: u16 = 3;
/// See [`STDIN`].
pub(super) const CONTROL: u16 = 4;

/// Counts everything that happens on any stream, so that the stage can see that nothing does.
pub(super) type Moves = Rc<Cell<u64>>;

pub(super) fn moved(moves: &Moves) {
    moves.set(moves.get() + 1);
}

/// A stream whose traffic is counted, its ends included.
pub(super) struct Tap {
    stream: TcpStream,
    moves: Moves,
}

impl Tap {
    pub(super) fn new(stream: TcpStream, moves: Moves) -> Self {
        moved(&moves);
        Self { stream, moves }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        moved(&self.moves);
    }
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.stream).poll_read(cx, buffer));
        moved(&self.moves);
        Poll::Ready(result)
    }
}

impl AsyncWrite for Tap {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        moved(&self.moves);
        Poll::Ready(result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = ready!(Pin::new(&mut self.stream).poll_shutdown(cx));
        moved(&self.moves);
        Poll::Ready(result)
    }
}

/// A connection to one port of the machine of hosts, made on first use: starting a process is no waiting
/// call. A connection that cannot be made reads as ended and writes as broken, as the pipes of a process
/// that is gone.
pub(super) enum Lazy {
    Connecting(Pin<Box<dyn Future<Output = io::Result<Tap>>>>),
    Open(Tap),
    Broken,
}

impl Lazy {
    /// A connection for the process with this number.
    pub(super) fn new(port: u16, process: u32, moves: Moves) -> Self {
        Self::Connecting(Box::pin(async move {
            let mut stream = Tap::new(TcpStream::connect(("muse", port)).await?, moves);
            stream.write_u32(process).await?;
            Ok(stream)
        }))
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Option<Pin<&mut Tap>>> {
        if let Self::Connecting(connecting) = self {
            *self = match ready!(connecting.as_mut().poll(cx)) {
                Ok(tap) => Self::Open(tap),
                Err(_) => Self::Broken,
            };
        }
        Poll::Ready(match self {
            Self::Open(tap) => Some(Pin::new(tap)),
            _ => None,
        })
    }
}

impl AsyncRead for Lazy {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match ready!(self.poll_open(cx)) {
            Some(tap) => tap.poll_read(cx, buffer),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Lazy {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match ready!(self.poll_open(cx)) {
            Some(tap) => tap.poll_write(cx, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(self.poll_open(cx)) {
            Some(tap) => tap.poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match ready!(self.poll_open(cx)) {
            Some(tap) => tap.poll_shutdown(cx),
            None => Poll::Ready(Ok(())),
        }
    }
}
