//! Memory and processor time of one process, from `/proc`.

use std::fs;
use std::time::Duration;

/// A process by its id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process(pub(crate) u32);

impl Process {
    /// Largest resident set so far, in KiB.
    pub(crate) fn peak_kib(self) -> u64 {
        self.status("VmHWM:")
    }

    /// Resident set now, in KiB.
    pub(crate) fn resident_kib(self) -> u64 {
        self.status("VmRSS:")
    }

    fn status(self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
    }

    /// Time that the living threads spent on a processor. In nanoseconds at the source: the ticks of
    /// `stat` are 10 ms each, too coarse for these runs.
    pub(crate) fn cpu(self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.0)).into_iter().flatten().flatten();
        let nanoseconds = tasks.filter_map(|task| {
            let schedule = fs::read_to_string(task.path().join("schedstat")).ok()?;
            schedule.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanoseconds.sum())
    }
}
