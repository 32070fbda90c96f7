//! Real programs: the adapter's binary as a child, and `muse` as a child of that, over the pipes of the
//! machine and its clock.
//!
//! The engine of each host stays here, behind a socket of the real `fake-msp` process (decision 0014), so that a
//! story is played line by line as on the other stages. Rest is what the kernel says (`rest`): no sleep, no guess.
//! Time is real, so a story that waits long is refused, and an instant of the story is a short span of the
//! clock, as on `sim`. Paths: the story's workspace stands for a temporary folder, in both directions.

mod link;
mod mapping;
mod program;
mod rest;

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use muse_code_acp::core::Config;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

use super::host::HostProc;
use super::memory::pipe;
use super::world::{Hosts, Machine, STDERR_PIPE, Setting};
use super::{Landing, LinkFault, Party, Stage};
use crate::chat::toolbox::Toolbox;
use link::Link;
use mapping::Mapping;
use program::Program;
use rest::{Look, look};

/// Nothing honest takes so long to come to rest, on the slowest machine.
const REST_MAX: Duration = Duration::from_secs(60);
/// What a timer of the adapter may be late by its own resolution.
const SLACK: Duration = Duration::from_millis(5);
/// How long one wait for the next event lasts while somebody still runs.
const NAP: Duration = Duration::from_millis(1);
/// Held while a child is born and while a pipe is closed. A child that another thread has forked and that
/// has not yet begun its program holds copies of all pipes: an end that is closed meanwhile is seen later,
/// and a story would wait for nothing.
static BIRTHS: Mutex<()> = Mutex::new(());

/// True as well when nobody can tell.
fn has_files(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_some())
}

/// See the module.
pub struct Proc {
    program: Program,
    listener: UnixListener,
    links: Vec<Link>,
    machine: Machine,
    mapping: Mapping,
    start: Instant,
    story: Duration,
    ahead_max: Duration,
    secret: &'static str,
    /// Where the programs may put private files while they run (I8).
    private: PathBuf,
    restless: bool,
    /// Last: everything above uses what is in them.
    _folder: TempDir,
    _toolbox: Toolbox,
}

impl Proc {
    /// Starts the adapter. `program` is an executable that is the adapter and `muse` by name; `secret` must
    /// not be seen in the adapter's log.
    ///
    /// # Errors
    /// When the machine cannot start it.
    pub fn new(
        setting: Setting,
        config: &Config,
        program: &Path,
        secret: &'static str,
    ) -> io::Result<Self> {
        let toolbox = Toolbox::new(program)?;
        let folder = tempfile::Builder::new().prefix("scenario-proc-").tempdir()?;
        let root = folder.path().canonicalize()?;
        let workspace = root.join("w");
        let private = root.join("private");
        std::fs::create_dir(&workspace)?;
        std::fs::create_dir(&private)?;
        let listener = UnixListener::bind(root.join("control"))?;
        listener.set_nonblocking(true)?;
        let mut command = Command::new(toolbox.adapter());
        command
            .env_clear()
            .env("HOME", &root)
            .env("TMPDIR", &private)
            .env("XDG_RUNTIME_DIR", &private)
            .env("META_API_KEY", secret)
            .env("MUSE_CODE_EXECUTABLE", toolbox.muse())
            .env("MUSE_CODE_ACP_STARTUP_TIMEOUT_MS", config.startup.as_millis().to_string())
            .env("MUSE_CODE_ACP_SUBMIT_TIMEOUT_MS", config.submit.as_millis().to_string())
            .env("MUSE_CODE_ACP_STALL_MS", config.stall.as_millis().to_string())
            .env("FAKE_MSP_CONTROL", root.join("control"))
            .env("FAKE_MSP_PROFILE", setting.profile.version)
            .env("RUST_LOG", "trace");
        let mapping = Mapping { real: workspace.into_os_string().into_encoded_bytes() };
        let program = Program::start(command, mapping.clone())?;
        Ok(Self {
            program,
            listener,
            links: Vec::new(),
            machine: Machine { setting, hosts: Hosts::default() },
            mapping,
            start: Instant::now(),
            story: Duration::ZERO,
            ahead_max: Duration::ZERO,
            secret,
            private,
            restless: false,
            _folder: folder,
            _toolbox: toolbox,
        })
    }

    /// Moves every byte that can be moved; true when anything was.
    fn exchange(&mut self) -> bool {
        let mut moved = self.accept();
        moved |= self.program.exchange();
        let now = self.start.elapsed();
        for link in &mut self.links {
            moved |= link.exchange(now);
        }
        moved | self.program.reap()
    }

    fn accept(&mut self) -> bool {
        let Ok((socket, _)) = self.listener.accept() else { return false };
        if socket.set_nonblocking(true).is_err() {
            return false;
        }
        self.start_host(socket);
        true
    }

    fn start_host(&mut self, socket: UnixStream) {
        let size = self.machine.setting.pipe;
        let (to_host, host_in) = pipe(size);
        let (host_out, from_host) = pipe(size);
        let (host_err, from_stderr) = pipe(STDERR_PIPE);
        let started = self.start.elapsed();
        let host = HostProc::new(self.machine.engine(), started, host_in, host_out, host_err);
        self.machine.hosts.borrow_mut().push(host.clone());
        let pipes = (to_host, from_host, from_stderr);
        self.links.push(Link::new(host, socket, pipes, self.mapping.clone()));
    }

    /// Waits until anything can be moved, at most `limit`.
    fn nap(&self, limit: Duration) {
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        fds.extend(self.program.readable());
        fds.extend(
            self.links
                .iter()
                .filter_map(Link::socket)
                .map(|socket| PollFd::new(socket, PollFlags::IN)),
        );
        let limit = Timespec::try_from(limit).ok();
        // An interrupted wait is a short one.
        let _ = poll(&mut fds, limit.as_ref());
    }

    /// Whether a deadline of an engine has come: its process would wake up by itself.
    fn engine_due(&self) -> bool {
        let now = self.start.elapsed();
        self.links.iter().any(|link| link.host.deadline().is_some_and(|at| at <= now))
    }
}

impl Stage for Proc {
    fn now(&self) -> Duration {
        self.story
    }

    fn editor_write(&mut self, bytes: &[u8]) {
        let bytes = self.mapping.outward(bytes);
        self.program.unsent.extend(bytes);
    }

    fn editor_close(&mut self) {
        self.settle();
        self.program.closing = true;
    }

    fn editor_stall(&mut self, stalled: bool) {
        self.program.stalled = stalled;
    }

    fn editor_read(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.program.inbox)
    }

    fn settle(&mut self) {
        let begun = Instant::now();
        let mut before = Look::Awake;
        loop {
            if self.exchange() || self.engine_due() {
                before = Look::Awake;
            } else {
                let now = look(self.program.id());
                if now != Look::Awake && now == before {
                    break;
                }
                if now == Look::Awake {
                    self.nap(NAP);
                }
                before = now;
            }
            if begun.elapsed() > REST_MAX {
                self.restless = true;
                break;
            }
        }
        let ahead = self.start.elapsed().saturating_sub(self.story);
        self.ahead_max = self.ahead_max.max(ahead);
    }

    fn advance(&mut self, by: Duration, landing: Landing) {
        self.settle();
        self.story += by;
        let target = match landing {
            Landing::Before => self.story,
            // What is left of the wait is waited before the next expectation.
            Landing::Quiet => self.story.saturating_sub(by / 2),
            Landing::After => self.story + self.ahead_max + SLACK,
        };
        loop {
            let left = target.saturating_sub(self.start.elapsed());
            if left.is_zero() {
                break;
            }
            let engine = self.links.iter().filter_map(|link| link.host.deadline()).min();
            let engine = engine.map(|at| at.saturating_sub(self.start.elapsed()) + NAP);
            self.nap(left.min(engine.unwrap_or(left)));
            while self.exchange() {}
        }
        self.settle();
    }

    fn link(&mut self, _: Party, _: LinkFault) -> Result<(), &'static str> {
        Err("`proc` has no network: this line needs `sim`")
    }

    fn hosts(&mut self) -> Vec<HostProc> {
        self.machine.hosts.borrow().clone()
    }

    fn adapter_ended(&self) -> bool {
        self.program.ended.is_some()
    }

    fn pending_timer(&self) -> Option<Duration> {
        None
    }

    fn findings(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        if self.restless {
            found.push("the programs never came to rest".to_owned());
        }
        if let Some(status) =
            self.program.ended.as_ref().filter(|status| *status != "exit status: 0")
        {
            found.push(format!("the adapter ended with {status}"));
        }
        if self
            .program
            .log
            .windows(self.secret.len())
            .any(|window| window == self.secret.as_bytes())
        {
            found.push("the adapter's log shows a secret".to_owned());
        }
        if self.links.iter().any(|link| link.socket().is_some()) {
            found.push("a host process is left behind".to_owned());
        }
        if self.program.ended.is_some() && has_files(&self.private) {
            found.push("I8: private files are left behind".to_owned());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_that_is_left_is_seen() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        assert!(!has_files(folder.path()));
        std::fs::write(folder.path().join("overlay.json"), "{}")?;
        assert!(has_files(folder.path()));
        assert!(has_files(&folder.path().join("gone")));
        Ok(())
    }

    #[test]
    fn a_frame_is_taken_when_it_is_whole() {
        let mut received = vec![b'i', 0, 0, 0, 2, b'a'];
        assert_eq!(link::take_frame(&mut received), None);
        received.push(b'b');
        assert_eq!(link::take_frame(&mut received), Some((b'i', b"ab".to_vec())));
        assert!(received.is_empty());
    }
}
