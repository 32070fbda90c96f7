//! The node `editor`: bytes between the runner and the adapter's connection.

use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::TcpStream;

use super::Shared;
use super::net::{PORT, Tap};

/// What the runner and the node share.
#[derive(Default)]
pub(super) struct Desk {
    /// From the runner.
    pub(super) outbox: VecDeque<u8>,
    /// For the runner.
    pub(super) inbox: Vec<u8>,
    /// Nothing is read.
    pub(super) stalled: bool,
    /// The output ends once it is written.
    pub(super) closing: bool,
}

/// Connects and carries bytes until the simulation ends.
pub(super) async fn editor(shared: Rc<Shared>) -> turmoil::Result {
    let stream = TcpStream::connect(("adapter", PORT)).await?;
    let mut wire = Some(Tap::new(stream, Rc::clone(&shared.moves)));
    let mut closed = false;
    let mut scratch = vec![0; 16 * 1024];
    loop {
        let notified = shared.editor_wake.notified();
        tokio::pin!(notified);
        std::future::poll_fn(|cx| {
            let asked = notified.as_mut().poll(cx).is_ready();
            while carry(&shared, &mut wire, &mut closed, &mut scratch, cx) {}
            if asked { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// One step; true when anything moved.
fn carry(
    shared: &Shared,
    wire: &mut Option<Tap>,
    closed: &mut bool,
    scratch: &mut [u8],
    cx: &mut Context<'_>,
) -> bool {
    let mut desk = shared.desk.borrow_mut();
    let Some(tap) = wire else {
        desk.outbox.clear();
        return false;
    };
    let (front, _) = desk.outbox.as_slices();
    if !front.is_empty() {
        match Pin::new(&mut *tap).poll_write(cx, front) {
            Poll::Pending => {}
            Poll::Ready(Ok(count)) => {
                desk.outbox.drain(..count);
                return true;
            }
            Poll::Ready(Err(_)) => desk.outbox.clear(),
        }
    } else if desk.closing && !*closed {
        *closed = Pin::new(&mut *tap).poll_shutdown(cx).is_ready();
        return *closed;
    }
    if desk.stalled {
        return false;
    }
    let mut buffer = ReadBuf::new(scratch);
    match Pin::new(tap).poll_read(cx, &mut buffer) {
        Poll::Pending => false,
        Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
            desk.inbox.extend_from_slice(buffer.filled());
            true
        }
        Poll::Ready(_) => {
            *wire = None;
            true
        }
    }
}
