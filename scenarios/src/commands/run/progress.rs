//! One line on a terminal that says how far a run is.
//!
//! In: each file that is done. Out: a line that is written over itself and taken away at the end, without
//! escape sequences. Invariant: where it is not wanted nothing is written at all. Reports do not wait for it
//! and do not mix with it: they are printed when it is gone, in the order of files.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Characters of the bar between its brackets.
const BAR: usize = 30;

/// See the module.
pub(super) struct Progress<'w> {
    state: Mutex<State<'w>>,
    total: usize,
}

struct State<'w> {
    out: Option<&'w mut (dyn Write + Send)>,
    done: usize,
    failed: usize,
    /// Characters of the line that stands there.
    width: usize,
}

impl<'w> Progress<'w> {
    /// A line for so many files; `None` writes nothing.
    pub(super) fn new(out: Option<&'w mut (dyn Write + Send)>, total: usize) -> Self {
        Self { state: Mutex::new(State { out, done: 0, failed: 0, width: 0 }), total }
    }

    /// One file more.
    pub(super) fn done(&self, failed: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.failed += usize::from(failed);
        let filled = state.done * BAR / self.total.max(1);
        let bar = "#".repeat(filled.min(BAR)) + &".".repeat(BAR.saturating_sub(filled));
        let text = format!("[{bar}] {}/{} files, {} failed", state.done, self.total, state.failed);
        state.show(&text);
    }

    /// Takes the line away.
    pub(super) fn finish(self) {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if state.width > 0 {
            state.show("");
        }
    }
}

impl State<'_> {
    /// Writes over what stands there. A terminal that cannot be written to loses only this line.
    fn show(&mut self, text: &str) {
        let Some(out) = &mut self.out else { return };
        let rest = " ".repeat(self.width.saturating_sub(text.len()));
        let back = if text.is_empty() { "\r" } else { "" };
        let _ = write!(out, "\r{text}{rest}{back}");
        let _ = out.flush();
        self.width = text.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_files_and_failures_and_is_taken_away() {
        let mut out = Vec::new();
        let progress = Progress::new(Some(&mut out), 2);
        progress.done(false);
        progress.done(true);
        progress.finish();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.split('\r').collect();
        assert_eq!(lines[1], "[###############...............] 1/2 files, 0 failed");
        assert_eq!(lines[2], "[##############################] 2/2 files, 1 failed");
        assert!(
            lines[3].trim().is_empty() && lines[3].len() == lines[2].len() && lines[4].is_empty()
        );
        assert!(!text.contains(['\u{1b}', '\n']));
    }

    #[test]
    fn nothing_is_written_where_nobody_looks() {
        let progress = Progress::new(None, 1);
        progress.done(true);
        progress.finish();
    }
}
