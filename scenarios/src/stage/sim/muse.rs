//! The node `muse`: the machine on which host processes run.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use muse_code_acp::shell::HostControl;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::Sleep;
use turmoil::net::TcpListener;

use super::adapter::NONE;
use super::net::{CONTROL, STDERR, STDIN, STDOUT, Tap};
use super::{Far, Shared};
use crate::stage::HostProc;
use crate::stage::memory::Reader;

/// Most that is read of the network at once.
const CHUNK: usize = 16 * 1024;

/// Accepts the four connections of each process, then runs it.
pub(super) async fn muse(shared: Rc<Shared>) -> turmoil::Result {
    let mut waiting: BTreeMap<u32, BTreeMap<u16, Tap>> = BTreeMap::new();
    let (sender, mut accepted) = tokio::sync::mpsc::unbounded_channel();
    for port in [STDIN, STDOUT, STDERR, CONTROL] {
        let listener = TcpListener::bind(("0.0.0.0", port)).await?;
        let (sender, moves) = (sender.clone(), Rc::clone(&shared.moves));
        tokio::task::spawn_local(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = Tap::new(stream, Rc::clone(&moves));
                // Who hangs up before saying which process it means wants nothing.
                let Ok(number) = stream.read_u32().await else { continue };
                if sender.send((number, port, stream)).is_err() {
                    return;
                }
            }
        });
    }
    while let Some((number, port, stream)) = accepted.recv().await {
        let streams = waiting.entry(number).or_default();
        streams.insert(port, stream);
        if streams.len() < 4 {
            continue;
        }
        let streams = waiting.remove(&number).unwrap_or_default();
        if let Some(far) = shared.far.borrow_mut().remove(&number) {
            let process = Process::new(far, streams);
            shared.spawn(process.run());
        }
    }
    Ok(())
}

/// One direction from the process to the network.
struct Outward {
    pipe: Reader,
    waiting: Vec<u8>,
    stream: Option<Tap>,
}

impl Outward {
    /// Moves what can be moved; true when anything was.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        if self.waiting.is_empty() {
            self.waiting = Reader::take(&mut self.pipe);
        }
        if !self.waiting.is_empty() {
            return match Pin::new(stream).poll_write(cx, &self.waiting) {
                Poll::Pending => false,
                Poll::Ready(Ok(count)) => {
                    self.waiting.drain(..count);
                    true
                }
                Poll::Ready(Err(_)) => {
                    self.stream = None;
                    true
                }
            };
        }
        let ended = self.pipe.is_at_end();
        if ended {
            self.stream = None;
        }
        ended
    }

    fn is_done(&self) -> bool {
        self.stream.is_none()
    }
}

/// A process between its pipes and the network.
struct Process {
    far: Far,
    stdin: Option<Tap>,
    /// Read and not yet taken by the process.
    input: Vec<u8>,
    stdout: Outward,
    stderr: Outward,
    control: Option<Tap>,
    timer: Option<Pin<Box<Sleep>>>,
    scratch: Vec<u8>,
}

impl Process {
    fn new(mut far: Far, mut streams: BTreeMap<u16, Tap>) -> Self {
        let (from_host, from_stderr) = (far.from_host.take(), far.from_stderr.take());
        let mut outward = |pipe: Option<Reader>, port| Outward {
            pipe: pipe.unwrap_or_else(|| crate::stage::memory::pipe(1).1),
            waiting: Vec::new(),
            stream: streams.remove(&port),
        };
        let stdout = outward(from_host, STDOUT);
        let stderr = outward(from_stderr, STDERR);
        Self {
            far,
            stdin: streams.remove(&STDIN),
            input: Vec::new(),
            stdout,
            stderr,
            control: streams.remove(&CONTROL),
            timer: None,
            scratch: vec![0; CHUNK],
        }
    }

    async fn run(mut self) {
        let wake = Rc::clone(&self.far.wake);
        loop {
            // What the story does to the engine comes from outside the simulation.
            let notified = wake.notified();
            tokio::pin!(notified);
            let done = std::future::poll_fn(|cx| {
                let asked = notified.as_mut().poll(cx).is_ready();
                match self.poll(cx) {
                    Poll::Ready(()) => Poll::Ready(true),
                    Poll::Pending if asked => Poll::Ready(false),
                    Poll::Pending => Poll::Pending,
                }
            });
            if done.await {
                return;
            }
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let host = self.far.host.clone();
        loop {
            let now = turmoil::sim_elapsed().unwrap_or_default();
            let mut moved = self.poll_control(cx, &host);
            moved |= self.poll_stdin(cx);
            moved |= host.pump(now);
            moved |= self.stdout.poll(cx);
            moved |= self.stderr.poll(cx);
            moved |= self.poll_exit(cx, &host);
            if self.stdout.is_done() && self.stderr.is_done() && self.control.is_none() {
                return Poll::Ready(());
            }
            if moved {
                continue;
            }
            let Some(due) = host.deadline() else {
                self.timer = None;
                return Poll::Pending;
            };
            // The engine counts in milliseconds and must not be asked too early.
            let at = tokio::time::Instant::now() + due.saturating_sub(now);
            let timer = self.timer.get_or_insert_with(|| {
                Box::pin(tokio::time::sleep_until(at)) // allow-sleep: the engine's virtual timer
            });
            if timer.deadline() != at {
                timer.as_mut().reset(at);
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    fn poll_stdin(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(to_host) = &mut self.far.to_host else { return false };
        if !self.input.is_empty() {
            return match to_host.put(&self.input) {
                Ok(count) => {
                    self.input.drain(..count);
                    count > 0
                }
                Err(_) => {
                    // The process has closed its input.
                    (self.far.to_host, self.stdin) = (None, None);
                    true
                }
            };
        }
        if to_host.put(&[]).is_err() {
            (self.far.to_host, self.stdin) = (None, None);
            return true;
        }
        let Some(stream) = &mut self.stdin else { return false };
        let mut buffer = ReadBuf::new(&mut self.scratch);
        match Pin::new(stream).poll_read(cx, &mut buffer) {
            Poll::Pending => false,
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                self.input.extend_from_slice(buffer.filled());
                true
            }
            Poll::Ready(_) => {
                (self.far.to_host, self.stdin) = (None, None);
                true
            }
        }
    }

    fn poll_control(&mut self, cx: &mut Context<'_>, host: &HostProc) -> bool {
        let Some(control) = &mut self.control else { return false };
        let mut byte = [0];
        let mut buffer = ReadBuf::new(&mut byte);
        match Pin::new(control).poll_read(cx, &mut buffer) {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) if buffer.filled() == [15] => host.clone().terminate(),
            // Whoever lets go of a process without asking for its end is gone himself.
            Poll::Ready(_) => {
                let gone = buffer.filled().is_empty();
                host.clone().kill();
                if gone {
                    self.control = None;
                }
            }
        }
        true
    }

    fn poll_exit(&mut self, cx: &mut Context<'_>, host: &HostProc) -> bool {
        let Some(exit) = host.exit() else { return false };
        let Some(control) = &mut self.control else { return false };
        let number =
            |value: Option<i32>| value.and_then(|value| u8::try_from(value).ok()).unwrap_or(NONE);
        // Two bytes always find room on a connection that carries nothing else.
        let told = exit.code.is_some() || exit.signal.is_some();
        if told {
            let _ = Pin::new(control).poll_write(cx, &[number(exit.code), number(exit.signal)]);
        }
        self.control = None;
        true
    }
}
