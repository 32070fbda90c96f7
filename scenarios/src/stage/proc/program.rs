//! The adapter's process: its pipes without blocking, what it said, how it ended.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::PoisonError;

use rustix::event::{PollFd, PollFlags};

use super::BIRTHS;
use super::mapping::Mapping;

/// Most bytes of the adapter's log that are kept for looking through.
const LOG_MAX: usize = 16 * 1024 * 1024;

/// Above every descriptor of a run; below the limit that machines set.
const HIGHEST: i32 = 1000;

/// See the module.
pub(super) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    mapping: Mapping,
    /// What the editor has written and the pipe has not taken.
    pub(super) unsent: VecDeque<u8>,
    /// Close the input when all of it is taken.
    pub(super) closing: bool,
    /// The editor does not read.
    pub(super) stalled: bool,
    line: Vec<u8>,
    /// What the editor can read, in the story's paths.
    pub(super) inbox: Vec<u8>,
    /// Its stderr.
    pub(super) log: Vec<u8>,
    /// How it ended.
    pub(super) ended: Option<String>,
}

impl Program {
    /// Starts it in a process group of its own.
    pub(super) fn start(mut command: Command, mapping: Mapping) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        let mut child = born(&mut command)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        for fd in [stdin.as_ref().map(AsFd::as_fd), stdout.as_ref().map(AsFd::as_fd)]
            .into_iter()
            .chain([stderr.as_ref().map(AsFd::as_fd)])
            .flatten()
        {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(Self {
            child,
            stdin,
            stdout,
            stderr,
            mapping,
            unsent: VecDeque::new(),
            closing: false,
            stalled: false,
            line: Vec::new(),
            inbox: Vec::new(),
            log: Vec::new(),
            ended: None,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Moves every byte that can be moved; true when anything was.
    pub(super) fn exchange(&mut self) -> bool {
        let mut moved = self.write();
        moved |= self.read();
        moved | self.read_log()
    }

    /// What is worth waking up for.
    pub(super) fn readable(&self) -> impl Iterator<Item = PollFd<'_>> {
        let stdout = self.stdout.as_ref().filter(|_| !self.stalled);
        let stdout = stdout.map(|stdout| PollFd::new(stdout, PollFlags::IN));
        stdout
            .into_iter()
            .chain(self.stderr.as_ref().map(|stderr| PollFd::new(stderr, PollFlags::IN)))
    }

    fn write(&mut self) -> bool {
        let Some(stdin) = &mut self.stdin else {
            self.unsent.clear();
            return false;
        };
        let (front, _) = self.unsent.as_slices();
        if front.is_empty() {
            if self.closing {
                let _nobody_is_born = BIRTHS.lock().unwrap_or_else(PoisonError::into_inner);
                self.stdin = None;
            }
            return self.closing;
        }
        match stdin.write(front) {
            Ok(count) => {
                self.unsent.drain(..count);
                true
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(_) => {
                self.stdin = None;
                true
            }
        }
    }

    fn read(&mut self) -> bool {
        let Some(stdout) = self.stdout.as_mut().filter(|_| !self.stalled) else { return false };
        let mut chunk = vec![0; 64 * 1024];
        let count = match stdout.read(&mut chunk) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => 0,
        };
        if count == 0 {
            self.stdout = None;
        }
        for &byte in &chunk[..count] {
            self.line.push(byte);
            if byte == b'\n' {
                self.end_line();
            }
        }
        if count == 0 {
            self.end_line();
        }
        true
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.inbox.extend(self.mapping.inward(&line));
    }

    fn read_log(&mut self) -> bool {
        let Some(stderr) = &mut self.stderr else { return false };
        let mut chunk = vec![0; 64 * 1024];
        match stderr.read(&mut chunk) {
            Ok(0) => self.stderr = None,
            Ok(count) => {
                if self.log.len() < LOG_MAX {
                    self.log.extend_from_slice(&chunk[..count]);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => self.stderr = None,
        }
        true
    }

    /// Looks whether it has ended; true when that is news.
    pub(super) fn reap(&mut self) -> bool {
        // Its last words are read first.
        if self.ended.is_some() || self.stdout.is_some() && !self.stalled {
            return false;
        }
        match self.child.try_wait() {
            Ok(Some(status)) => {
                self.ended = Some(status.to_string());
                true
            }
            _ => false,
        }
    }
}

/// Begins a program, and comes back when it has closed its copies of all pipes of ours.
///
/// The kernel lets the parent of a child go on before the child closes what it must not keep, so a pipe that
/// is closed in between does not end for its reader until the child is given the processor again. The mark
/// is a pipe as well, numbered above all others, and the kernel closes in the order of numbers.
fn born(command: &mut Command) -> io::Result<Child> {
    let _nobody_closes = BIRTHS.lock().unwrap_or_else(PoisonError::into_inner);
    let (mark, low) = io::pipe()?;
    let high = match rustix::io::fcntl_dupfd_cloexec(&low, HIGHEST) {
        Ok(high) => {
            drop(low);
            high
        }
        // A machine with a lower limit: most of our pipes are still numbered below.
        Err(_) => low.into(),
    };
    let child = command.spawn()?;
    drop(high);
    // The end of it is all that it says.
    (&mark).read_to_end(&mut Vec::new())?;
    Ok(child)
}

impl Drop for Program {
    fn drop(&mut self) {
        // Hosts end with their sockets; the adapter's own group may still live after a red run.
        if self.ended.is_none()
            && let Some(group) = rustix::process::Pid::from_raw(self.child.id().cast_signed())
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
