//! What was said, in order: the record of one run.
//!
//! One line per frame: `<virtual ms> <lane> <direction> <compact JSON>` (DET-9). The same story, point
//! and seed give the same bytes. Keys are sorted, so that the record does not depend on who wrote them.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

/// Which neighbour of the adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// A `raw` line sent it over the model's objection (DSL-5).
    pub lie: bool,
    /// Line of the file that sent or took it; `None` for what the models said and no line took.
    pub line: Option<u32>,
}

/// Something that happened between two frames, or a line that was fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Virtual time.
    pub at: Duration,
    /// Number of entries that came before it.
    pub before: usize,
    /// Line of the file; that of `given` for everything of the opening.
    pub line: u32,
    /// What it was.
    pub what: What,
}

/// Kinds of [`Mark`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The line was carried out or fulfilled; a frame shows it.
    Passed,
    /// `!`: a fault of this neighbour, as the story writes it.
    Fault(Lane, String),
    /// `bytes`: what was sent, which need not be a frame.
    Bytes(Lane, String),
    /// `lost`: an event with this method that was not delivered.
    Lost(Lane, String),
    /// The adapter had closed this neighbour.
    Closed(Lane),
    /// `after`.
    Waited(Duration),
    /// `quiet`.
    Quiet,
    /// The story was over, held or broken; what follows is its aftermath.
    Ended,
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
    /// What else happened, in order. Not part of the text.
    pub marks: Vec<Mark>,
}

impl Transcript {
    /// The record as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let lane = match entry.lane {
                Lane::Editor => "editor".to_owned(),
                // As stories count them.
                Lane::Host(n) => format!("host{}", n + 1),
            };
            let arrow = if entry.from_adapter { "<-" } else { "->" };
            let lie = if entry.lie { " (lie)" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {lane} {arrow}{lie} {}", entry.at.as_millis(), entry.frame);
        }
        text
    }
}
