//! The host side of a story alone, for a client that nobody here controls: one process, which is this one.
//!
//! In: the standard streams. The story's host lanes are played against whatever comes in; there is no
//! adapter and no editor. Time is real. Bytes are read by a thread, so that a wait ends with the next of
//! them, with a timer of the engine, or with its own end.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use super::host::HostProc;
use super::memory::{Reader, Writer, pipe};
use super::world::{Hosts, Machine, STDERR_PIPE, Setting};
use super::{Landing, LinkFault, Party, Stage};

/// Chunks that may wait: a client that sends without reading is not read either.
const CHUNKS_MAX: usize = 16;

/// See the module.
pub struct Solo {
    host: HostProc,
    to_host: Option<Writer>,
    from_host: Reader,
    from_stderr: Reader,
    chunks: Receiver<Vec<u8>>,
    input: Vec<u8>,
    input_ended: bool,
    output: Box<dyn Write>,
    errors: Box<dyn Write>,
    broken: bool,
    start: Instant,
}

impl Solo {
    /// A process on these streams.
    #[must_use]
    pub fn new(
        setting: Setting,
        mut input: Box<dyn Read + Send>,
        output: Box<dyn Write>,
        errors: Box<dyn Write>,
    ) -> Self {
        let (to_host, host_in) = pipe(setting.pipe);
        let (host_out, from_host) = pipe(setting.pipe);
        let (host_err, from_stderr) = pipe(STDERR_PIPE);
        let engine = Machine { setting, hosts: Hosts::default() }.engine();
        let host = HostProc::new(engine, Duration::ZERO, host_in, host_out, host_err);
        let (sender, chunks) = sync_channel(CHUNKS_MAX);
        std::thread::spawn(move || {
            let mut chunk = vec![0; 64 * 1024];
            // An error is the end of the input; the channel's end says so.
            while let Ok(count @ 1..) = input.read(&mut chunk) {
                if sender.send(chunk[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            host,
            to_host: Some(to_host),
            from_host,
            from_stderr,
            chunks,
            input: Vec::new(),
            input_ended: false,
            output,
            errors,
            broken: false,
            start: Instant::now(),
        }
    }

    /// Waits for bytes or a timer of the engine, at most `limit`. False: nothing can come any more.
    fn wait(&mut self, limit: Option<Duration>) -> bool {
        if self.input_ended && self.host.deadline().is_none() && limit.is_none() {
            return false;
        }
        let now = self.start.elapsed();
        let engine = self.host.deadline().map(|at| at.saturating_sub(now));
        let most = [engine, limit].into_iter().flatten().min();
        let got = match most {
            None => self.chunks.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(most) => self.chunks.recv_timeout(most),
        };
        match got {
            Ok(chunk) => self.input.extend(chunk),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) if self.input_ended => {
                // A channel that has ended no longer waits.
                std::thread::park_timeout(most.unwrap_or_default());
            }
            Err(RecvTimeoutError::Disconnected) => self.input_ended = true,
        }
        true
    }

    fn exchange(&mut self) -> bool {
        while !self.input_ended && self.input.is_empty() {
            match self.chunks.try_recv() {
                Ok(chunk) => self.input.extend(chunk),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.input_ended = true,
            }
        }
        let mut moved = false;
        if let Some(to_host) = &mut self.to_host {
            match to_host.put(&self.input) {
                Ok(count) => {
                    self.input.drain(..count);
                    moved |= count > 0;
                    if self.input.is_empty() && self.input_ended {
                        self.to_host = None;
                        moved = true;
                    }
                }
                Err(_) => self.to_host = None,
            }
        }
        moved |= self.host.pump(self.start.elapsed());
        let bytes = Reader::take(&mut self.from_host);
        if !bytes.is_empty() && !self.broken {
            self.broken = self.output.write_all(&bytes).and_then(|()| self.output.flush()).is_err();
            moved = true;
        }
        let bytes = Reader::take(&mut self.from_stderr);
        // Who does not read our words for people misses them.
        let _ = self.errors.write_all(&bytes);
        moved | !bytes.is_empty()
    }
}

impl Stage for Solo {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn editor_write(&mut self, _: &[u8]) {}

    fn editor_close(&mut self) {}

    fn editor_stall(&mut self, _: bool) {}

    fn editor_read(&mut self) -> Vec<u8> {
        Vec::new()
    }

    fn settle(&mut self) {
        while self.exchange() {}
    }

    fn advance(&mut self, by: Duration, _: Landing) {
        let target = self.start.elapsed() + by;
        self.settle();
        while let Some(left) = target.checked_sub(self.start.elapsed()).filter(|d| !d.is_zero()) {
            self.wait(Some(left));
            self.settle();
        }
    }

    fn more(&mut self) -> bool {
        !self.host.is_gone() && self.wait(None)
    }

    fn link(&mut self, _: Party, _: LinkFault) -> Result<(), &'static str> {
        Err("a host alone has no network: this line needs `sim`")
    }

    fn hosts(&mut self) -> Vec<HostProc> {
        vec![self.host.clone()]
    }

    fn adapter_ended(&self) -> bool {
        self.input_ended
    }

    fn pending_timer(&self) -> Option<Duration> {
        Some(self.host.deadline()?.saturating_sub(self.start.elapsed()))
    }
}
