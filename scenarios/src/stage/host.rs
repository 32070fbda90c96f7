//! One host process of a stage: the fake host's engine behind pipes.
//!
//! The handle can be cloned; all clones are the same process. The four ends of a process (stdout, its
//! end, stderr, exit) are independent here as they are on a real machine (PRC-1).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use fake_msp::engine::{Host, Input, Output};
use muse_code_acp::shell::{HostControl, HostExit};

use super::memory::{Reader, Writer};
use super::tamper::Tampering;

/// See the module.
#[derive(Clone)]
pub struct HostProc(Rc<RefCell<Process>>);

/// Something that happened to a process.
#[derive(Clone, Debug)]
pub enum Event {
    /// A line of the adapter arrived.
    Received(Vec<u8>),
    /// The model did something.
    Did(Output),
}

/// The process behind the handle.
pub struct Process {
    /// The model. The script acts on it.
    pub engine: Host,
    /// What happened on this process's wire and the runner has not looked at, in order.
    pub events: VecDeque<Event>,
    /// Started at this virtual time.
    pub started: Duration,
    /// The adapter closed our input.
    pub input_ended: bool,
    /// SIGTERM arrived.
    pub terminated: bool,
    /// Findings of the client oracle, kept when the engine goes on in another process.
    pub violations: Vec<String>,
    /// The engine goes on in another process.
    pub taken: bool,
    /// What is done to the frames of all hosts of the run.
    pub tampering: Option<Tampering>,
    touched: bool,
    stdin: Option<Reader>,
    partial: Vec<u8>,
    stdout: Option<Writer>,
    stderr: Option<Writer>,
    queued: VecDeque<u8>,
    stalled: bool,
    close_when_written: bool,
    exit_when_written: Option<HostExit>,
    exit: Option<HostExit>,
}

impl HostProc {
    /// A process around an engine; the other ends of the pipes are the adapter's.
    #[must_use]
    pub fn new(
        engine: Host,
        started: Duration,
        stdin: Reader,
        stdout: Writer,
        stderr: Writer,
    ) -> Self {
        Self(Rc::new(RefCell::new(Process {
            engine,
            events: VecDeque::new(),
            started,
            input_ended: false,
            terminated: false,
            violations: Vec::new(),
            taken: false,
            tampering: None,
            touched: true,
            stdin: Some(stdin),
            partial: Vec::new(),
            stdout: Some(stdout),
            stderr: Some(stderr),
            queued: VecDeque::new(),
            stalled: false,
            close_when_written: false,
            exit_when_written: None,
            exit: None,
        })))
    }

    /// Acts on the process. Pump it afterwards.
    pub fn with<R>(&self, act: impl FnOnce(&mut Process) -> R) -> R {
        let mut process = self.0.borrow_mut();
        process.touched = true;
        act(&mut process)
    }

    /// What happened on the wire since the last call, in order.
    #[must_use]
    pub fn take_events(&self) -> VecDeque<Event> {
        std::mem::take(&mut self.0.borrow_mut().events)
    }

    /// Somebody acted on the process after it was last pumped.
    #[must_use]
    pub fn is_touched(&self) -> bool {
        self.0.borrow().touched
    }

    /// Whether the process has exited.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.0.borrow().exit.is_some()
    }

    /// How the process ended, once it has.
    #[must_use]
    pub fn exit(&self) -> Option<HostExit> {
        self.0.borrow().exit
    }

    /// The adapter has closed the process's input or asked it to end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let process = self.0.borrow();
        process.input_ended || process.terminated
    }

    /// The control that the adapter gets.
    #[must_use]
    pub fn control(&self) -> Box<dyn HostControl> {
        Box::new(self.clone())
    }

    /// Moves bytes and outputs as far as they go at `now`. True when anything happened.
    pub fn pump(&self, now: Duration) -> bool {
        self.0.borrow_mut().pump(now)
    }

    /// When the engine does something by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let process = self.0.borrow();
        if process.exit.is_some() {
            return None;
        }
        process.engine.deadline().map(|at| process.started + Duration::from_millis(at))
    }
}

impl Process {
    /// What the client oracle found, as text without content.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let fresh = self.engine.violations().iter().filter(|violation| !violation.race);
        let fresh = fresh.map(|v| format!("{} {}: {}", v.rule, v.path, v.text));
        self.violations.iter().cloned().chain(fresh).collect()
    }

    /// Ends the output; the process stays.
    pub fn close_stdout(&mut self) {
        self.close_when_written = true;
    }

    /// Ends the process at once, as a signal does: nothing more is written.
    pub fn die(&mut self, exit: HostExit) {
        self.queued.clear();
        (self.stdin, self.stdout, self.stderr) = (None, None, None);
        self.exit.get_or_insert(exit);
    }

    /// Ends the process after what is queued was written.
    pub fn exit_after_writing(&mut self, code: i32) {
        self.exit_when_written.get_or_insert(HostExit { code: Some(code), signal: None });
    }

    /// Closes the process's own end of stdin, so that the adapter's writes break.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Stops or goes on reading.
    pub fn stall(&mut self, stalled: bool) {
        self.stalled = stalled;
    }

    /// A line for people.
    pub fn say_stderr(&mut self, line: &str) {
        if let Some(stderr) = &mut self.stderr {
            // A full stderr pipe loses the rest: the adapter always drains it.
            let _ = stderr.put(format!("{line}\n").as_bytes());
        }
    }

    fn pump(&mut self, now: Duration) -> bool {
        self.touched = false;
        if self.exit.is_some() {
            return false;
        }
        let mut moved = self.read(now);
        moved |= self.perform();
        if self.tampering.as_ref().is_some_and(Tampering::is_cut) {
            self.exit_after_writing(1);
        }
        moved |= self.write();
        moved
    }

    fn read(&mut self, now: Duration) -> bool {
        let since = u64::try_from((now - self.started).as_millis()).unwrap_or(u64::MAX);
        let Some(stdin) = self.stdin.as_mut().filter(|_| !self.stalled) else {
            return false;
        };
        let bytes = stdin.take();
        let ended = stdin.is_at_end() && !self.input_ended;
        let moved = !bytes.is_empty() || ended;
        for byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.partial);
                self.engine.handle(since, Input::Line(&line));
                self.events.push_back(Event::Received(line));
                self.perform();
            } else {
                self.partial.push(byte);
            }
        }
        if ended {
            self.input_ended = true;
            self.engine.handle(since, Input::Eof);
        } else if self.engine.deadline().is_some_and(|at| at <= since) {
            self.engine.handle(since, Input::Timer);
            return true;
        }
        moved
    }

    fn perform(&mut self) -> bool {
        let mut moved = false;
        while let Some(output) = self.engine.poll_output() {
            moved = true;
            match &output {
                Output::Line(line) => {
                    let sent = self.tampering.as_ref().map(|tampering| tampering.lines(line));
                    for line in sent.unwrap_or_else(|| vec![line.clone()]) {
                        self.queued.extend(line);
                        self.queued.push_back(b'\n');
                    }
                }
                Output::Raw(bytes) => self.queued.extend(bytes),
                Output::Stderr(line) => self.say_stderr(&line.clone()),
                Output::CloseStdout => self.close_stdout(),
                Output::StallRead(stalled) => self.stalled = *stalled,
                Output::CloseStdin => self.close_stdin(),
                Output::Exit { code } => self.exit_after_writing(*code),
                Output::Kill => self.die(HostExit { code: None, signal: Some(9) }),
                Output::Asked { .. } => {}
            }
            self.events.push_back(Event::Did(output));
        }
        moved
    }

    fn write(&mut self) -> bool {
        let mut moved = false;
        if let Some(stdout) = &mut self.stdout {
            let (front, _) = self.queued.as_slices();
            match stdout.put(front) {
                Ok(count) => {
                    moved |= count > 0;
                    self.queued.drain(..count);
                }
                Err(_) => self.queued.clear(),
            }
            if self.queued.is_empty() && self.close_when_written {
                self.stdout = None;
                moved = true;
            }
        }
        if self.queued.is_empty()
            && let Some(exit) = self.exit_when_written
        {
            self.die(exit);
            moved = true;
        }
        moved
    }
}

impl HostControl for HostProc {
    fn poll_exit(&mut self, _: &mut Context<'_>) -> Poll<HostExit> {
        self.0.borrow().exit.map_or(Poll::Pending, Poll::Ready)
    }

    fn terminate(&mut self) {
        let mut process = self.0.borrow_mut();
        process.terminated = true;
        process.die(HostExit { code: None, signal: Some(15) });
    }

    fn kill(&mut self) {
        self.0.borrow_mut().die(HostExit { code: None, signal: Some(9) });
    }
}
