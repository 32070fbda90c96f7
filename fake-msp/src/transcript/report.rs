//! What came of a replay, for people.

use std::fmt;

use super::compare::Difference;

/// The first frame that is not what was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// Line of the recording that was due; `None` after its end.
    pub line: Option<usize>,
    /// What the recording has there.
    pub recorded: Option<String>,
    /// What the client sent.
    pub sent: String,
    /// Where the two differ, at most 20.
    pub differences: Vec<Difference>,
    /// A later line at which the frame would have fitted.
    pub elsewhere: Option<usize>,
}

/// A recorded client line that never came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Line of the recording.
    pub line: usize,
    /// What stands there.
    pub what: String,
}

/// The account of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Client lines that came as recorded.
    pub matched: usize,
    /// Server lines that were sent.
    pub sent: usize,
    /// Client lines of the recording.
    pub client_lines: usize,
    /// Server lines of the recording.
    pub server_lines: usize,
    /// The frame that ended the replay, if one did.
    pub deviation: Option<Deviation>,
    /// Client lines that are still due.
    pub missing: Vec<Missing>,
}

impl Report {
    /// Whether the client did exactly what was recorded.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.deviation.is_none() && self.missing.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(deviation) = &self.deviation {
            match (deviation.line, &deviation.recorded) {
                (Some(line), Some(recorded)) => {
                    writeln!(f, "line {line}: the client deviates from the recording")?;
                    writeln!(f, "  recorded  {recorded}")?;
                }
                _ => writeln!(f, "after the last line: the client says more than was recorded")?,
            }
            writeln!(f, "  sent      {}", deviation.sent)?;
            for difference in &deviation.differences {
                writeln!(f, "  differs   {difference}")?;
            }
            if let Some(line) = deviation.elsewhere {
                writeln!(f, "  hint      the recording has this frame later, at line {line}")?;
            }
        }
        for missing in &self.missing {
            writeln!(f, "missing     line {}: {}", missing.line, missing.what)?;
        }
        write!(
            f,
            "client lines: {} of {} matched, {} unexpected, {} missing; server lines: {} of {} sent",
            self.matched,
            self.client_lines,
            usize::from(self.deviation.is_some()),
            self.missing.len(),
            self.sent,
            self.server_lines
        )
    }
}
