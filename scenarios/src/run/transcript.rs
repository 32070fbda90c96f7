//! What was said, in order: the record of one run.
//!
//! One line per frame: `<virtual ms> <lane> <direction> <compact JSON>` (DET-9). The same story, point
//! and seed give the same bytes. Keys are sorted, so that the record does not depend on who wrote them.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

/// Which neighbour of the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// The editor.
    Editor,
    /// The n-th host that was started, from 0.
    Host(usize),
}

/// One frame.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Virtual time.
    pub at: Duration,
    /// Whose wire.
    pub lane: Lane,
    /// From the adapter (true) or to it.
    pub from_adapter: bool,
    /// The frame, or the text of a line that is none.
    pub frame: Value,
    /// The script sent it over the model's objection.
    pub lie: bool,
}

impl Entry {
    /// `method`, if it has one.
    #[must_use]
    pub fn method(&self) -> Option<&str> {
        self.frame.get("method")?.as_str()
    }

    /// A response to a request.
    #[must_use]
    pub fn is_response(&self) -> bool {
        self.frame.get("method").is_none()
            && (self.frame.get("result").is_some() || self.frame.get("error").is_some())
    }
}

/// Everything that was said.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// In order.
    pub entries: Vec<Entry>,
}

impl Transcript {
    /// The record as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let lane = match entry.lane {
                Lane::Editor => "editor".to_owned(),
                Lane::Host(n) => format!("host{n}"),
            };
            let arrow = if entry.from_adapter { "<-" } else { "->" };
            let lie = if entry.lie { " (lie)" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {lane} {arrow}{lie} {}", entry.at.as_millis(), entry.frame);
        }
        text
    }
}
