//! The agent's process, and everything that must be gone when the chat is.
//!
//! Invariants: the folder with the links, the agent, and whatever the agent left in its process
//! group are gone after [`Agent::finish`], and after a drop on any other path; waiting for them is
//! bounded. The agent has a process group of its own, so a Ctrl-C in the terminal reaches only us
//! and the agent is asked to stop in its own language. It does not know what is said to the agent.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::lines::{Line, Lines};
use super::safe;
use super::toolbox::Toolbox;

/// A running agent.
#[derive(Debug)]
pub struct Agent {
    // Declared before the toolbox: dropped first, so its executable is no longer in use.
    child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
    last_words: LastWords,
    stderr: JoinHandle<()>,
    reaped: bool,
    _toolbox: Toolbox,
}

/// The agent's ends of the protocol.
#[derive(Debug)]
pub struct Pipes {
    /// Frames for the agent.
    pub to_agent: ChildStdin,
    /// Frames from the agent.
    pub from_agent: ChildStdout,
}

impl Agent {
    /// Starts the adapter of `toolbox` with this Muse, or with the fake one for `None`. Call inside
    /// the runtime. With `verbose` the agent's log is passed on to stderr as it comes.
    ///
    /// # Errors
    /// The system's own.
    pub fn start(
        toolbox: Toolbox,
        muse: Option<&Path>,
        verbose: bool,
    ) -> io::Result<(Self, Pipes)> {
        let mut command = Command::new(toolbox.adapter());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        match muse {
            Some(muse) => command.env(MUSE_VARIABLE, muse),
            None => command.env(MUSE_VARIABLE, toolbox.muse()).envs(toolbox.private_homes()),
        };
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to_agent), Some(from_agent), Some(stderr)) = pipes else {
            return Err(io::Error::other("the agent has no pipes")); // never: all three were asked for
        };
        let last_words = LastWords::default();
        let agent = Self {
            #[cfg(unix)]
            group: child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
            child,
            stderr: tokio::spawn(listen(stderr, last_words.clone(), verbose)),
            last_words,
            reaped: false,
            _toolbox: toolbox,
        };
        Ok((agent, Pipes { to_agent, from_agent }))
    }

    /// Waits until the agent has ended, and ends it when it does not by itself. Close its stdin
    /// first: that is how it is asked. Takes at most three seconds and a little. Returns its status,
    /// and whether it had to be killed.
    pub async fn finish(&mut self) -> (Option<ExitStatus>, bool) {
        let ended = timeout(END_WAIT, self.child.wait()).await;
        let killed = ended.is_err();
        let status = match ended {
            Ok(status) => status.ok(),
            Err(_) => {
                self.terminate_group();
                if timeout(TERM_WAIT, self.child.wait()).await.is_err() {
                    self.kill_group();
                }
                timeout(TERM_WAIT, self.child.wait()).await.ok().and_then(Result::ok)
            }
        };
        // Also after a good end: what the agent left behind in its group must not outlive it.
        self.kill_group();
        self.reaped = status.is_some();
        (status, killed)
    }

    /// The last lines of the agent's stderr. Waits a little for its end, so that they are all
    /// there; a grandchild may hold it open for longer.
    pub async fn last_words(&mut self) -> Vec<String> {
        let _ = timeout(STDERR_WAIT, &mut self.stderr).await;
        self.last_words.take()
    }

    #[cfg(unix)]
    fn terminate_group(&self) {
        if let Some(group) = self.group {
            // The agent ends its own children on this signal; it may be gone already.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        }
    }

    /// The group keeps its number while it has a member. Right after its last one was reaped the
    /// number could in theory be given away again, but numbers go round: that takes a whole round.
    #[cfg(unix)]
    fn kill_group(&mut self) {
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn terminate_group(&self) {}

    #[cfg(not(unix))]
    fn kill_group(&mut self) {
        let _ = self.child.start_kill(); // it may be gone already
    }
}

impl Drop for Agent {
    /// For the paths that did not come to [`Agent::finish`]: errors and panics.
    fn drop(&mut self) {
        self.stderr.abort();
        if !self.reaped {
            self.kill_group();
        }
    }
}

/// The end of the agent's stderr, for the case that it dies.
#[derive(Clone, Debug, Default)]
struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

/// Reads stderr to its end, always: an agent must not block on a log that nobody reads.
async fn listen(stderr: ChildStderr, last_words: LastWords, verbose: bool) {
    let mut lines = Lines::new(stderr, STDERR_LINE_MAX);
    while let Ok(Some(line)) = lines.next().await {
        let (Line::Whole(line) | Line::Unfinished(line) | Line::TooLong(line)) = line;
        let text = safe::line(String::from_utf8_lossy(&line).trim_end(), STDERR_LINE_MAX);
        if verbose {
            // Nobody is left to be told that stderr is closed.
            let _ = writeln!(io::stderr(), "agent: {text}");
        }
        last_words.push(text);
    }
}

/// Tells the adapter which Muse to use (BIN-1).
const MUSE_VARIABLE: &str = "MUSE_CODE_EXECUTABLE";
/// How long the agent may take to end after its stdin was closed.
const END_WAIT: Duration = Duration::from_secs(3);
/// How long it may take after a signal.
const TERM_WAIT: Duration = Duration::from_secs(1);
/// How long its stderr is waited for when it has died.
const STDERR_WAIT: Duration = Duration::from_millis(500);
/// Lines kept of stderr: the cause of a death stands at the end.
const LAST_LINES: usize = 20;
/// Bytes of a line of stderr.
const STDERR_LINE_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept() {
        let words = LastWords::default();
        (0..=LAST_LINES).for_each(|n| words.push(n.to_string()));
        let kept = words.take();
        assert_eq!((kept.len(), kept[0].as_str()), (LAST_LINES, "1"));
    }
}
