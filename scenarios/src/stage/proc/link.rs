//! One host process: the real `muse` whose engine is here (`FAKE_MSP_CONTROL`).
//!
//! The process carries bytes, ends and signals; the frames of its socket are described where it is written
//! (`fake-msp`, `cli::relay`).

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use muse_code_acp::shell::HostExit;

use super::Mapping;
use crate::stage::HostProc;
use crate::stage::memory::{Reader, Writer};

/// Most that is read at once.
const CHUNK: usize = 64 * 1024;

/// See the module.
pub(super) struct Link {
    pub(super) host: HostProc,
    socket: Option<UnixStream>,
    to_host: Option<Writer>,
    from_host: Option<Reader>,
    from_stderr: Reader,
    received: Vec<u8>,
    /// Bytes of stdin that the process's pipe has not taken.
    input: VecDeque<u8>,
    input_ended: bool,
    line: Vec<u8>,
    orders: VecDeque<u8>,
    /// The exit was ordered; the end of the socket follows.
    ending: bool,
    mapping: Mapping,
}

impl Link {
    pub(super) fn new(
        host: HostProc,
        socket: UnixStream,
        (to_host, from_host, from_stderr): (Writer, Reader, Reader),
        mapping: Mapping,
    ) -> Self {
        Self {
            host,
            socket: Some(socket),
            to_host: Some(to_host),
            from_host: Some(from_host),
            from_stderr,
            received: Vec::new(),
            input: VecDeque::new(),
            input_ended: false,
            line: Vec::new(),
            orders: VecDeque::new(),
            ending: false,
            mapping,
        }
    }

    /// The socket, while the process lives.
    pub(super) fn socket(&self) -> Option<&UnixStream> {
        self.socket.as_ref()
    }

    /// Moves everything that can be moved; true when anything was.
    pub(super) fn exchange(&mut self, now: Duration) -> bool {
        let mut moved = self.receive();
        moved |= self.feed();
        moved |= self.host.pump(now);
        moved |= self.collect();
        moved | self.send()
    }

    fn receive(&mut self) -> bool {
        let Some(socket) = &mut self.socket else { return false };
        // A host that does not read must feel it: the rest waits in the socket.
        if self.input.len() > CHUNK {
            return false;
        }
        let mut chunk = vec![0; CHUNK];
        let count = match socket.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => 0,
        };
        if count == 0 {
            self.socket = None;
            self.to_host = None;
            // Nobody here asked for it: somebody ended the process from outside.
            if !self.ending && !self.host.is_gone() {
                self.host.with(|process| {
                    process.terminated = true;
                    process.die(HostExit { code: None, signal: Some(15) });
                });
            }
            return true;
        }
        self.received.extend_from_slice(&chunk[..count]);
        while let Some((kind, payload)) = take_frame(&mut self.received) {
            match kind {
                b'i' => {
                    for byte in payload {
                        self.line.push(byte);
                        if byte == b'\n' {
                            let line = std::mem::take(&mut self.line);
                            self.input.extend(self.mapping.inward(&line));
                        }
                    }
                }
                b'e' => {
                    let rest = std::mem::take(&mut self.line);
                    self.input.extend(self.mapping.inward(&rest));
                    self.input_ended = true;
                }
                _ => {}
            }
        }
        true
    }

    fn feed(&mut self) -> bool {
        let Some(to_host) = &mut self.to_host else { return false };
        let (front, _) = self.input.as_slices();
        match to_host.put(front) {
            Ok(count) => {
                self.input.drain(..count);
                if self.input.is_empty() && self.input_ended {
                    self.to_host = None;
                    return true;
                }
                count > 0
            }
            Err(_) => {
                self.to_host = None;
                self.order(b'x', &[]);
                true
            }
        }
    }

    fn collect(&mut self) -> bool {
        let mut moved = false;
        if let Some(from_host) = &mut self.from_host {
            let bytes = Reader::take(from_host);
            let ended = from_host.is_at_end();
            if !bytes.is_empty() {
                let bytes = self.mapping.outward(&bytes);
                self.order(b'o', &bytes);
                moved = true;
            }
            if ended {
                self.from_host = None;
                if self.host.exit().is_none() {
                    self.order(b'c', &[]);
                }
                moved = true;
            }
        }
        let bytes = Reader::take(&mut self.from_stderr);
        if !bytes.is_empty() {
            self.order(b'r', &bytes);
            moved = true;
        }
        if let Some(exit) = self.host.exit()
            && !self.ending
        {
            self.ending = true;
            match exit.code.and_then(|code| u8::try_from(code).ok()) {
                Some(code) => self.order(b'q', &[code]),
                None => self.order(b'k', &[]),
            }
            moved = true;
        }
        moved
    }

    fn order(&mut self, kind: u8, payload: &[u8]) {
        self.orders.push_back(kind);
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        self.orders.extend(length.to_be_bytes());
        self.orders.extend(payload);
    }

    fn send(&mut self) -> bool {
        let Some(socket) = &mut self.socket else {
            self.orders.clear();
            return false;
        };
        let (front, _) = self.orders.as_slices();
        if front.is_empty() {
            return false;
        }
        match socket.write(front) {
            Ok(count) => {
                self.orders.drain(..count);
                true
            }
            // Broken: the next read finds the end.
            Err(error) => {
                if error.kind() != ErrorKind::WouldBlock {
                    self.orders.clear();
                }
                false
            }
        }
    }
}

/// The next whole frame.
pub(super) fn take_frame(received: &mut Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let head: [u8; 5] = received.get(..5)?.try_into().ok()?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let payload = received.get(5..5 + length)?.to_vec();
    received.drain(..5 + length);
    Some((head[0], payload))
}
