//! One host process: its streams, its end, and the ladder that ends it.
//!
//! Out: [`Event`]s. The ladder is stdin EOF, one second, SIGTERM, one second, SIGKILL, one second
//! (HOST-2, PRC-3); whatever the process leaves behind in its group is killed when it exits (PO-41).
//! Exit and end of output may come in either order, or never: each wait has a bound (PRC-6).

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::outbox::Outbox;
use super::world::{HostControl, HostExit, HostProcess};
use crate::core::HostEnd;
use crate::core::redact::Redactor;
use crate::wire::Framer;
use crate::wire::framing::HOST_LINE_MAX;

/// Each rung of the ladder.
const RUNG: Duration = Duration::from_secs(1);
/// From the exit to giving up on output that something else holds open.
const DRAIN: Duration = Duration::from_millis(500);
/// Longest stderr line that is logged, and looked through, as one.
const STDERR_LINE_MAX: usize = 4096;
/// Said by hosts whose SDK tier is off (BIN-5), compared without case.
const SDK_DISABLED: &str = "experimental sdk tier is disabled";

/// What a poll of the host found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Bytes of stdout are in the framer.
    Output,
    /// Stdout ended; the framer may hold a tail.
    OutputEnded,
    /// A host in use does not take its input any more.
    InputBroken,
    /// The process is gone and will not be heard of again.
    Gone(HostEnd),
}

/// See the module.
pub(super) struct HostIo {
    /// Frames that were read and not yet taken.
    pub(super) framer: Framer,
    /// Whether reading stops while the editor is behind.
    pub(super) throttled: bool,
    /// Lines towards the host.
    pub(super) outbox: Outbox,
    stdin: Option<Pin<Box<dyn AsyncWrite>>>,
    stdout: Option<Pin<Box<dyn AsyncRead>>>,
    stderr: Option<Pin<Box<dyn AsyncRead>>>,
    stderr_line: Vec<u8>,
    sdk_disabled: bool,
    control: Box<dyn HostControl>,
    exit: Option<HostExit>,
    ladder: Ladder,
    /// When the current rung or drain ends.
    deadline: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ladder {
    /// In use.
    Up,
    /// Stdin is being closed, the exit is awaited.
    Asked,
    /// SIGTERM was sent.
    Terminated,
    /// SIGKILL was sent.
    Killed,
    /// The process has exited, or cannot be ended.
    Down,
}

impl HostIo {
    pub(super) fn new(process: HostProcess) -> Self {
        Self {
            framer: Framer::new(HOST_LINE_MAX),
            throttled: true,
            outbox: Outbox::default(),
            stdin: Some(process.stdin),
            stdout: Some(process.stdout),
            stderr: Some(process.stderr),
            stderr_line: Vec::new(),
            sdk_disabled: false,
            control: process.control,
            exit: None,
            ladder: Ladder::Up,
            deadline: None,
        }
    }

    /// Begins to end the host. What is queued for it is still written.
    pub(super) fn close(&mut self, now: Instant) {
        if self.ladder == Ladder::Up {
            self.ladder = Ladder::Asked;
            self.deadline = Some(now + RUNG);
            self.throttled = false;
        }
    }

    /// When [`HostIo::poll`] wants to be called without any stream having moved.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Does one step of everything that is ready; `None` when nothing is.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        may_read: bool,
        redactor: &Redactor,
        scratch: &mut [u8],
    ) -> Option<Event> {
        if self.poll_stdin(cx) && self.ladder == Ladder::Up {
            return Some(Event::InputBroken);
        }
        while self.poll_stderr(cx, redactor, scratch) {}
        if self.exit.is_none()
            && self.ladder != Ladder::Down
            && let Poll::Ready(exit) = self.control.poll_exit(cx)
        {
            // A signal that we sent says nothing about the host.
            let by_us = matches!(self.ladder, Ladder::Terminated | Ladder::Killed);
            self.exit = Some(HostExit { signal: exit.signal.filter(|_| !by_us), ..exit });
            self.control.kill();
            self.ladder = Ladder::Down;
            self.stdin = None;
            self.deadline = Some(now + DRAIN);
        }
        if (may_read || !self.throttled)
            && let Some(event) = self.poll_stdout(cx, scratch)
        {
            return Some(event);
        }
        self.climb(now)
    }

    /// True when writing failed: it stops, and reading goes on until the output ends (PRC-8).
    fn poll_stdin(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(stdin) = &mut self.stdin else { return false };
        match self.outbox.poll_write(stdin, cx) {
            Poll::Pending => {}
            Poll::Ready(Err(_)) => {
                self.stdin = None;
                return true;
            }
            Poll::Ready(Ok(())) => {
                if self.ladder != Ladder::Up && stdin.as_mut().poll_shutdown(cx).is_ready() {
                    self.stdin = None;
                }
            }
        }
        false
    }

    fn poll_stdout(&mut self, cx: &mut Context<'_>, scratch: &mut [u8]) -> Option<Event> {
        match read(self.stdout.as_mut()?, cx, scratch) {
            Poll::Pending => None,
            Poll::Ready(0) => {
                self.stdout = None;
                Some(Event::OutputEnded)
            }
            Poll::Ready(count) => {
                self.framer.push(&scratch[..count]);
                Some(Event::Output)
            }
        }
    }

    /// True while there may be more. A full stderr pipe stalls a host, so it is always drained.
    fn poll_stderr(
        &mut self,
        cx: &mut Context<'_>,
        redactor: &Redactor,
        scratch: &mut [u8],
    ) -> bool {
        let Some(stderr) = &mut self.stderr else { return false };
        match read(stderr, cx, scratch) {
            Poll::Pending => false,
            Poll::Ready(0) => {
                self.stderr = None;
                self.end_stderr_line(redactor);
                false
            }
            Poll::Ready(count) => {
                for &byte in &scratch[..count] {
                    if byte == b'\n' || self.stderr_line.len() >= STDERR_LINE_MAX {
                        self.end_stderr_line(redactor);
                    }
                    if byte != b'\n' {
                        self.stderr_line.push(byte);
                    }
                }
                true
            }
        }
    }

    fn end_stderr_line(&mut self, redactor: &Redactor) {
        if self.stderr_line.is_empty() {
            return;
        }
        let line = String::from_utf8_lossy(&self.stderr_line);
        self.sdk_disabled |= line.to_lowercase().contains(SDK_DISABLED);
        // LOG-6: a host's text is never logged as it came.
        tracing::debug!(target: "muse_stderr", line = %redactor.clean(&line));
        self.stderr_line.clear();
    }

    fn climb(&mut self, now: Instant) -> Option<Event> {
        let drained = self.stdout.is_none() && self.stderr.is_none();
        let due = self.deadline.is_some_and(|at| at <= now);
        match self.ladder {
            Ladder::Down if drained || due => {
                if self.stdout.take().is_some() {
                    return Some(Event::OutputEnded);
                }
                self.deadline = None;
                let HostExit { code, signal } = self.exit.unwrap_or_default();
                Some(Event::Gone(HostEnd { code, signal, sdk_disabled: self.sdk_disabled }))
            }
            Ladder::Asked if due => {
                self.stdin = None;
                self.control.terminate();
                self.ladder = Ladder::Terminated;
                self.deadline = Some(now + RUNG);
                None
            }
            Ladder::Terminated if due => {
                self.control.kill();
                self.ladder = Ladder::Killed;
                self.deadline = Some(now + RUNG);
                None
            }
            Ladder::Killed if due => {
                tracing::error!(code = "host-stuck", "a host survives SIGKILL; giving up on it");
                self.ladder = Ladder::Down;
                self.deadline = Some(now);
                None
            }
            _ => None,
        }
    }
}

impl Drop for HostIo {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.control.kill();
        }
    }
}

/// One read; an error is the end of the stream.
pub(super) fn read(
    stream: &mut Pin<Box<dyn AsyncRead>>,
    cx: &mut Context<'_>,
    scratch: &mut [u8],
) -> Poll<usize> {
    let mut buffer = ReadBuf::new(scratch);
    std::task::ready!(stream.as_mut().poll_read(cx, &mut buffer))
        .map_or(Poll::Ready(0), |()| Poll::Ready(buffer.filled().len()))
}
