//! The loop around the engine: pipes, threads and the clock.
//!
//! Purpose: feed stdin lines and timers to the engine, perform its outputs in order. Invariants:
//! one reader thread, one main loop; stdout is flushed once per drained batch and a batch is at
//! most [`BATCH_BYTES`], so a burst is as fast as the pipe and never buffered beyond that; no
//! decision is taken here. Rules: FRM-7, FRM-11, FRM-12, PRC-4, PRC-8.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::json;

use super::args::ServeOptions;
use crate::engine::{FRAME_BYTES_MAX, Host, Input, Mode, Options, Output, PREFIX_BYTES};

/// Most bytes that are written between two looks at stdin.
const BATCH_BYTES: usize = 64 * 1024;
/// Client lines that may wait for the main loop.
const LINES_WAITING: usize = 64;
/// How long the grandchild holds stdout, in seconds.
const GRANDCHILD_SECONDS: &str = "30";

/// What the reader thread reports.
enum Event {
    Line(Vec<u8>),
    TooLong(Vec<u8>),
    Tail(Vec<u8>),
    Eof,
}

/// Serves until the end. Returns the exit code.
pub(super) fn serve(
    options: ServeOptions,
    stdin: Box<dyn Read + Send>,
    stdout: Box<dyn Write>,
    mut stderr: Box<dyn Write>,
) -> u8 {
    let log = match options.frame_log.as_deref().map(append).transpose() {
        Ok(log) => log.map(BufWriter::new),
        Err(error) => {
            let _ = writeln!(stderr, "fake-msp: cannot write the frame log: {error}");
            return 3;
        }
    };
    if let Some(text) = &options.levers.stderr {
        let _ = writeln!(stderr, "{text}");
    }
    if options.levers.grandchild {
        start_grandchild(&mut stderr);
    }
    let (sender, events) = sync_channel(LINES_WAITING);
    std::thread::spawn(move || read_lines(stdin, &sender));
    let engine_options = Options {
        seed: options.seed,
        mode: Mode::Obliging,
        faults: options.levers.faults,
        staged: None,
        asked: Vec::new(),
    };
    let mut server = Server {
        host: Host::new(options.profile, engine_options),
        stdout: Some(BufWriter::with_capacity(BATCH_BYTES, stdout)),
        stderr,
        log,
        reported: 0,
        strict: options.strict,
    };
    server.run(&events)
}

struct Server {
    host: Host,
    /// `None` once it was closed or the reader went away.
    stdout: Option<BufWriter<Box<dyn Write>>>,
    stderr: Box<dyn Write>,
    log: Option<BufWriter<File>>,
    /// Oracle findings that were printed.
    reported: usize,
    strict: bool,
}

impl Server {
    fn run(&mut self, events: &Receiver<Event>) -> u8 {
        let start = Instant::now();
        let now = || u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut stalled = false;
        loop {
            let mut more = true;
            let mut written = 0;
            while written < BATCH_BYTES {
                match self.host.poll_output() {
                    Some(Output::Exit { code }) => return self.finish(code),
                    Some(Output::StallRead(stall)) => stalled = stall,
                    Some(output) => written += self.perform(output),
                    None => {
                        more = false;
                        break;
                    }
                }
            }
            self.flush();
            let event =
                if stalled { Err(RecvTimeoutError::Timeout) } else { Ok(()) }.and_then(|()| {
                    if more {
                        return events.try_recv().map_err(|error| match error {
                            TryRecvError::Empty => RecvTimeoutError::Timeout,
                            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                        });
                    }
                    match self.host.deadline() {
                        Some(deadline) => {
                            let wait = deadline.saturating_sub(now());
                            events.recv_timeout(Duration::from_millis(wait))
                        }
                        None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    }
                });
            match event {
                Ok(event) => self.on_event(now(), event),
                Err(RecvTimeoutError::Timeout) => self.host.handle(now(), Input::Timer),
                Err(RecvTimeoutError::Disconnected) => self.wait_for_timer(now(), more),
            }
        }
    }

    fn on_event(&mut self, now: u64, event: Event) {
        match event {
            Event::Line(line) => {
                self.record("client", &line);
                self.host.handle(now, Input::Line(&line));
            }
            Event::TooLong(prefix) => self.host.handle(now, Input::TooLong { prefix: &prefix }),
            Event::Tail(tail) => {
                self.record("client", &tail);
                self.host.handle(now, Input::Tail(&tail));
            }
            Event::Eof => self.host.handle(now, Input::Eof),
        }
    }

    /// Stdin has ended and the host lives on (lever `hang-on-eof`): only timers are left.
    fn wait_for_timer(&mut self, now: u64, more: bool) {
        match self.host.deadline() {
            Some(deadline) => {
                let wait = Duration::from_millis(deadline.saturating_sub(now));
                std::thread::park_timeout(wait);
                self.host.handle(now.max(deadline), Input::Timer);
            }
            None if more => {}
            None => std::thread::park(),
        }
    }

    /// Performs one effect; returns how many bytes it wrote.
    fn perform(&mut self, output: Output) -> usize {
        match output {
            Output::Line(mut line) => {
                self.record("server", &line);
                line.push(b'\n');
                self.write(&line)
            }
            Output::Raw(bytes) => self.write(&bytes),
            Output::Stderr(text) => {
                let _ = writeln!(self.stderr, "{text}");
                text.len()
            }
            Output::CloseStdout => {
                self.flush();
                self.stdout = None;
                close_stdout(&mut self.stderr);
                0
            }
            Output::Kill => {
                self.flush();
                std::process::abort();
            }
            // The script API is in process; the binary has no script yet.
            Output::Asked { .. }
            | Output::CloseStdin
            | Output::StallRead(_)
            | Output::Exit { .. } => 0,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        if let Some(stdout) = &mut self.stdout
            && stdout.write_all(bytes).is_err()
        {
            // Nobody reads any more: go on until stdin ends (PRC-8).
            self.stdout = None;
        }
        bytes.len()
    }

    fn record(&mut self, dir: &str, line: &[u8]) {
        if let Some(log) = &mut self.log {
            let raw = String::from_utf8_lossy(line);
            let _ = writeln!(log, "{}", json!({ "dir": dir, "raw": raw }));
        }
    }

    fn flush(&mut self) {
        if self.stdout.as_mut().is_some_and(|stdout| stdout.flush().is_err()) {
            self.stdout = None;
        }
        if let Some(log) = &mut self.log {
            let _ = log.flush();
        }
        for violation in &self.host.violations()[self.reported..] {
            let _ = writeln!(self.stderr, "fake-msp: oracle: {violation}");
        }
        self.reported = self.host.violations().len();
    }

    fn finish(&mut self, code: i32) -> u8 {
        self.flush();
        let certain = self.host.violations().iter().any(|violation| !violation.race);
        match u8::try_from(code).unwrap_or(1) {
            0 if self.strict && certain => 1,
            code => code,
        }
    }
}

/// Splits stdin into lines, never holding more than one line of the allowed length.
fn read_lines(stdin: Box<dyn Read + Send>, events: &SyncSender<Event>) {
    let mut stdin = BufReader::with_capacity(BATCH_BYTES, stdin);
    let mut line: Vec<u8> = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = match stdin.fill_buf() {
            Ok(chunk) if !chunk.is_empty() => chunk,
            // A read error is the end as well: nobody can write to us any more.
            Ok(_) | Err(_) => break,
        };
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        if line.len() + part.len() > FRAME_BYTES_MAX + 1 {
            // One byte more than the limit may be a `\r`; the engine decides about that.
            too_long = true;
            line.extend_from_slice(&part[..part.len().min(PREFIX_BYTES)]);
            line.truncate(PREFIX_BYTES);
        } else if !too_long {
            line.extend_from_slice(part);
        }
        let used = end.map_or(chunk.len(), |end| end + 1);
        stdin.consume(used);
        if end.is_some() {
            let whole = std::mem::take(&mut line);
            let event = if too_long { Event::TooLong(whole) } else { Event::Line(whole) };
            too_long = false;
            if events.send(event).is_err() {
                return;
            }
        }
    }
    if !line.is_empty() && events.send(Event::Tail(line)).is_err() {
        return;
    }
    let _ = events.send(Event::Eof);
}

/// A child that inherits stdout: the client sees no EOF while it lives.
/// A second host of the same run goes on in the same file.
fn append(path: &str) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

fn start_grandchild(stderr: &mut Box<dyn Write>) {
    let child = Command::new("sleep")
        .arg(GRANDCHILD_SECONDS)
        .stdin(Stdio::null())
        .stdout(Stdio::inherit())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = child {
        let _ = writeln!(stderr, "fake-msp: no grandchild: {error}");
    }
}

/// Points descriptor 1 at nothing, so that the pipe's other end sees EOF.
#[cfg(unix)]
fn close_stdout(stderr: &mut Box<dyn Write>) {
    let closed = File::options()
        .write(true)
        .open("/dev/null")
        .and_then(|null| rustix::stdio::dup2_stdout(&null).map_err(Into::into));
    if let Err(error) = closed {
        let _ = writeln!(stderr, "fake-msp: cannot close stdout: {error}");
    }
}

#[cfg(not(unix))]
fn close_stdout(stderr: &mut Box<dyn Write>) {
    let _ = writeln!(stderr, "fake-msp: closing stdout while alive needs a unix system");
}
