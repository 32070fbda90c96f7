//! The processes of one run, and the proof that none is left (CHD-2, CHD-3).
//!
//! The adapter gives its host a process group of its own, so the group of the adapter alone would not
//! show a host that was forgotten. Each run therefore has a mark in its environment, which every
//! descendant inherits: on Linux the family is every living process that carries the mark. Elsewhere
//! only the adapter's own group is ended, and what is left is not looked at.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The environment variable that carries the mark.
const MARK: &str = "MUSE_TESTS_FAMILY";

/// How long a process that has already been killed may take to be gone. Not a waiting time: the wait
/// ends with the process.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// All processes of one run.
#[derive(Clone, Debug)]
pub struct Family {
    mark: String,
}

impl Family {
    /// A mark that no other run has.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "two families are never equal")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let serial = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { mark: format!("{}-{serial}", std::process::id()) }
    }

    /// What a first member needs in its environment.
    #[must_use]
    pub fn variable(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// Waits until the family is empty.
    ///
    /// # Panics
    /// When a member is still alive after a few seconds: it was left behind.
    pub fn assert_empty(&self) {
        self.assert_only(None);
    }

    /// Waits until this process is the only member.
    ///
    /// # Panics
    /// When another one is still alive after a few seconds.
    pub fn assert_only(&self, pid: Option<u32>) {
        let left = imp::wait_until_gone(&self.mark, pid, GONE_WITHIN);
        if !left.is_empty() {
            self.kill();
        }
        assert!(left.is_empty(), "processes were left behind: {left:#?}");
    }

    /// The command lines of the living members, the calling process excepted.
    #[must_use]
    pub fn members(&self) -> Vec<String> {
        imp::members(&self.mark, None)
            .into_iter()
            .map(|(pid, name)| format!("{pid} {name}"))
            .collect()
    }

    /// Ends every member. Members of a run that went well are gone already.
    pub fn kill(&self) {
        self.kill_all_but(None);
    }

    /// Ends every member but this process.
    pub fn kill_all_but(&self, pid: Option<u32>) {
        imp::kill(&self.mark, pid);
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::fs;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

    /// The members but this process and the one that is excepted.
    pub(super) fn members(mark: &str, except: Option<u32>) -> Vec<(i32, String)> {
        let excepted = [Some(std::process::id()), except].map(|pid| pid.map(u32::cast_signed));
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
            .filter(|pid| !excepted.contains(&Some(*pid)))
            .filter(|pid| carries(*pid, mark) && !is_zombie(*pid))
            .map(|pid| (pid, command_line(pid)))
            .collect()
    }

    fn carries(pid: i32, mark: &str) -> bool {
        let wanted = format!("{}={mark}", super::MARK);
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|all| all.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes()))
    }

    /// Field 3 of `stat`, counted after the last `)`: the name before it may contain anything.
    fn is_zombie(pid: i32) -> bool {
        fs::read_to_string(format!("/proc/{pid}/stat"))
            .ok()
            .and_then(|stat| {
                stat.rsplit_once(')').map(|(_, rest)| rest.trim_start().starts_with('Z'))
            })
            .unwrap_or(true)
    }

    fn command_line(pid: i32) -> String {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).replace('\0', " ")
    }

    /// Waits on each member's pidfd, which becomes readable when it ends.
    pub(super) fn wait_until_gone(
        mark: &str,
        except: Option<u32>,
        within: Duration,
    ) -> Vec<(i32, String)> {
        let deadline = Instant::now() + within;
        loop {
            let left = members(mark, except);
            let Some((pid, _)) = left.first() else { return left };
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return left;
            }
            let Some(pid) = Pid::from_raw(*pid) else { return left };
            // Gone between the two looks.
            let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            let bound = Timespec::try_from(remaining).ok();
            let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], bound.as_ref());
        }
    }

    pub(super) fn kill(mark: &str, except: Option<u32>) {
        for (pid, _) in members(mark, except) {
            if let Some(pid) = Pid::from_raw(pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::time::Duration;

    pub(super) fn members(_mark: &str, _except: Option<u32>) -> Vec<(i32, String)> {
        Vec::new()
    }

    pub(super) fn wait_until_gone(
        _mark: &str,
        _except: Option<u32>,
        _within: Duration,
    ) -> Vec<(i32, String)> {
        Vec::new()
    }

    pub(super) fn kill(_mark: &str, _except: Option<u32>) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::Family;

    /// `cat` lives until its input ends, and so does the grandchild behind `sh`.
    ///
    /// The line says that the program runs: `spawn` returns a moment before the kernel shows the
    /// environment.
    fn relatives(family: &Family) -> std::process::Child {
        let (name, value) = family.variable();
        let mut child = Command::new("sh")
            .args(["-c", "exec 3<&0; cat <&3 & echo; cat"])
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("sh is on every Linux");
        let stdout = child.stdout.as_mut().expect("piped");
        stdout.read_exact(&mut [0]).expect("a line");
        child
    }

    #[test]
    fn a_grandchild_is_a_member_until_it_is_killed() {
        let family = Family::new();
        let mut child = relatives(&family);
        assert!(!family.members().is_empty());
        assert!(Family::new().members().is_empty(), "another run sees nothing of it");

        family.kill();
        child.wait().expect("it was killed");
        family.kill(); // a `cat` that `sh` had not yet started at the first look

        family.assert_empty();
    }

    #[test]
    fn a_member_that_stays_is_reported() {
        let family = Family::new();
        let mut child = relatives(&family);

        let left = super::imp::wait_until_gone(&family.mark, None, Duration::ZERO);

        assert!(!left.is_empty());
        family.kill();
        child.wait().expect("it was killed");
        family.kill();
    }
}
