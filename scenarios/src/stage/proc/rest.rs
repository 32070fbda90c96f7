//! Whether a family of processes is at rest, as the kernel sees it.
//!
//! At rest: every thread of every member sleeps, and none has run between two looks. `State: S` alone does not
//! say that: a thread says it sleeps a moment before it does, and may be preempted in that moment. So the
//! look asks for the system call that the thread waits in, which the kernel tells only once the thread
//! has left the processor; and a thread that ran since then was charged for it, to the nanosecond. A pipe or socket that
//! gets bytes makes its sleeping reader runnable before the write returns, so nothing can be under way
//! between two members that both looks saw asleep without having run in between.

use std::fs;

/// What one look saw: what each thread was charged, or that somebody is not asleep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// All asleep; thread ids with their processor time, delays and switches.
    Asleep(Vec<(u32, u64, String)>),
    /// Somebody runs, or could not be looked at.
    Awake,
}

/// Looks at a process and everything below it. A process that is gone has no threads.
pub(super) fn look(pid: u32) -> Look {
    let mut threads = Vec::new();
    let mut pids = vec![pid];
    while let Some(pid) = pids.pop() {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for task in tasks.flatten() {
            let folder = task.path();
            match fs::read_to_string(folder.join("syscall")) {
                Ok(call) if call.starts_with("running") => return Look::Awake,
                // Not told to us on this machine: the counts are what is left.
                _ => {}
            }
            // A thread that ends while it is looked at ran.
            let Ok(status) = fs::read_to_string(folder.join("status")) else { return Look::Awake };
            let Ok(children) = fs::read_to_string(folder.join("children")) else {
                return Look::Awake;
            };
            pids.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            match switches(&status) {
                Some(count) => {
                    let id = task.file_name().to_string_lossy().parse().unwrap_or_default();
                    // Switches alone would miss a thread that was woken while it went to sleep.
                    let charged = fs::read_to_string(folder.join("schedstat")).unwrap_or_default();
                    threads.push((id, count, charged));
                }
                None => return Look::Awake,
            }
        }
    }
    threads.sort_unstable();
    Look::Asleep(threads)
}

/// Context switches of a thread that sleeps or has ended; `None` for one that does not.
fn switches(status: &str) -> Option<u64> {
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        Some(line[name.len()..].trim())
    };
    if !matches!(field("State:")?.chars().next()?, 'S' | 'Z' | 'X' | 'I') {
        return None;
    }
    let count = |name| field(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    Some(count("voluntary_ctxt_switches:") + count("nonvoluntary_ctxt_switches:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sleeper_is_at_rest() {
        let text = |state: &str| {
            format!(
                "Name:\tx\nState:\t{state}\nvoluntary_ctxt_switches:\t2\nnonvoluntary_ctxt_switches:\t1\n"
            )
        };
        assert_eq!(switches(&text("S (sleeping)")), Some(3));
        assert_eq!(switches(&text("R (running)")), None);
        assert_eq!(switches(&text("D (disk sleep)")), None);
        assert_eq!(switches(""), None);
    }

    #[test]
    fn whoever_looks_is_awake_and_nobody_is_asleep() {
        assert_eq!(look(std::process::id()), Look::Awake);
        assert_eq!(look(u32::MAX), Look::Asleep(Vec::new()));
    }
}
