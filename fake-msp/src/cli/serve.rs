//! The loop around the engine: pipes, threads and the clock.
//!
//! Purpose: feed stdin lines and timers to the engine, perform its outputs in order. Invariants:
//! one reader thread, one main loop; stdout is flushed once per drained batch and a batch is at
//! most [`BATCH_BYTES`], so a burst is as fast as the pipe and never buffered beyond that; no
//! decision is taken here. Rules: FRM-7, FRM-11, FRM-12, PRC-4, PRC-8.

#[cfg(unix)]
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use super::args::ServeOptions;
use super::frame_log::FrameLog;
use super::lines::{Event, read_lines};
use super::player::Player;
use super::store::FileStore;
use super::tamper::Tampered;
use crate::engine::{Host, Input, Options, Output};
use crate::transcript::{Dir, Replay, Transcript};

/// Most bytes that are written between two looks at stdin.
const BATCH_BYTES: usize = 64 * 1024;
/// Client lines that may wait for the main loop.
const LINES_WAITING: usize = 64;
/// A file that was named cannot be used: the host's code for a configuration error (PRC).
const EXIT_CONFIGURATION: u8 = 3;
/// How much of a line that is no frame the frame log keeps, in bytes.
const RAW_LOGGED_MAX: usize = 64 * 1024;
/// Longest recording, in bytes: it is held in memory, and a long conversation has a hundredth of this.
const TRANSCRIPT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// After how long without a look a quiet session unloads, in milliseconds. The real window is not
/// published; long enough that nobody who tries a client by hand meets it by accident.
const IDLE_UNLOAD_MS: u64 = 5 * 60 * 1000;
/// How long the grandchild holds stdout, in seconds.
const GRANDCHILD_SECONDS: &str = "30";

/// Serves until the end. Returns the exit code.
pub(super) fn serve(
    options: ServeOptions,
    stdin: Box<dyn Read + Send>,
    stdout: Box<dyn Write>,
    mut stderr: Box<dyn Write>,
) -> u8 {
    let ServeOptions { common, strict, transcript, scenario: _ } = options;
    let transcript = match transcript.as_deref().map(read_transcript).transpose() {
        Ok(transcript) => transcript,
        Err(text) => {
            let _ = writeln!(stderr, "fake-msp: {text}");
            return EXIT_CONFIGURATION;
        }
    };
    let log = match common.frame_log.as_deref().map(FrameLog::append).transpose() {
        Ok(log) => log,
        Err(error) => {
            let _ = writeln!(stderr, "fake-msp: cannot write the frame log: {error}");
            return EXIT_CONFIGURATION;
        }
    };
    if let Some(text) = &common.levers.stderr {
        let _ = writeln!(stderr, "{text}");
    }
    if common.levers.grandchild {
        start_grandchild(&mut stderr);
    }
    let (sender, events) = sync_channel(LINES_WAITING);
    std::thread::spawn(move || read_lines(stdin, &sender));
    let store = common.store.as_deref().filter(|_| transcript.is_none());
    let store = match store.map(|folder| FileStore::open(Path::new(folder))).transpose() {
        Ok(store) => store,
        Err(error) => {
            let _ = writeln!(stderr, "fake-msp: cannot open the session store: {error}");
            return EXIT_CONFIGURATION;
        }
    };
    let engine_options = Options {
        seed: common.seed,
        faults: common.levers.faults,
        idle_unload_ms: Some(IDLE_UNLOAD_MS),
        ..Options::default()
    };
    let pipes = Pipes { events, stdout, stderr, log };
    let host = match (transcript, store) {
        (Some(transcript), _) => return pipes.run(Replay::new(transcript), false),
        (None, None) => Host::new(common.profile, engine_options),
        (None, Some((store, boot))) => {
            let options = Options { boot, muse_home: store.home(), ..engine_options };
            Host::with_store(common.profile, options, Box::new(store))
        }
    };
    pipes.run(Tampered::new(host, common.levers.tampers), strict)
}

/// A recording: the file itself, or the folder of one in the official form.
fn read_transcript(path: &str) -> Result<Transcript, String> {
    let mut file = PathBuf::from(path);
    if file.is_dir() {
        file.push("transcript.ndjson");
    }
    let cannot = |why: String| format!("cannot read the transcript {}: {why}", file.display());
    let bytes = std::fs::metadata(&file).map_err(|error| cannot(error.to_string()))?.len();
    if bytes > TRANSCRIPT_BYTES_MAX {
        return Err(cannot(format!("it is longer than {TRANSCRIPT_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| cannot(error.to_string()))?;
    Transcript::parse(&text)
        .map_err(|error| format!("{} is no transcript: {error}", file.display()))
}

/// What a process has to talk through.
struct Pipes {
    events: Receiver<Event>,
    stdout: Box<dyn Write>,
    stderr: Box<dyn Write>,
    log: Option<FrameLog>,
}

impl Pipes {
    fn run(self, host: impl Player, strict: bool) -> u8 {
        let Self { events, stdout, stderr, log } = self;
        Server {
            host,
            stdout: Some(BufWriter::with_capacity(BATCH_BYTES, stdout)),
            stderr,
            log,
            now: 0,
            reported: 0,
            strict,
        }
        .run(&events)
    }
}

struct Server<P> {
    host: P,
    /// `None` once it was closed or the reader went away.
    stdout: Option<BufWriter<Box<dyn Write>>>,
    stderr: Box<dyn Write>,
    log: Option<FrameLog>,
    /// Milliseconds since the start, as of the last look at the clock.
    now: u64,
    /// Oracle findings that were printed.
    reported: usize,
    strict: bool,
}

impl<P: Player> Server<P> {
    fn run(mut self, events: &Receiver<Event>) -> u8 {
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
            self.now = now();
            match event {
                Ok(event) => self.on_event(self.now, event),
                Err(RecvTimeoutError::Timeout) => self.host.handle(self.now, Input::Timer),
                Err(RecvTimeoutError::Disconnected) => self.wait_for_timer(self.now, more),
            }
        }
    }

    fn on_event(&mut self, now: u64, event: Event) {
        match event {
            Event::Line(line) => {
                self.record(Dir::Client, &line);
                self.host.handle(now, Input::Line(&line));
            }
            Event::TooLong(prefix) => {
                self.record(Dir::Client, &prefix);
                self.host.handle(now, Input::TooLong { prefix: &prefix });
            }
            Event::Tail(tail) => {
                self.record(Dir::Client, &tail);
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
                self.record(Dir::Server, &line);
                line.push(b'\n');
                self.write(&line)
            }
            Output::Raw(bytes) => {
                for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                    self.record(Dir::Server, &line[..line.len().min(RAW_LOGGED_MAX)]);
                }
                self.write(&bytes)
            }
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
            self.lose_stdout();
        }
        bytes.len()
    }

    /// Nobody reads any more: go on until stdin ends (PRC-8).
    fn lose_stdout(&mut self) {
        self.stdout = None;
        let _ =
            writeln!(self.stderr, "fake-msp: nobody reads stdout any more; going on without it");
    }

    fn record(&mut self, dir: Dir, line: &[u8]) {
        if let Some(log) = &mut self.log {
            log.write(self.now, dir, line);
        }
    }

    fn flush(&mut self) {
        if self.stdout.as_mut().is_some_and(|stdout| stdout.flush().is_err()) {
            self.lose_stdout();
        }
        if let Some(log) = &mut self.log {
            log.flush();
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

/// A child that inherits stdout: the client sees no EOF while it lives.
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
