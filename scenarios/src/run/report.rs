//! Why a run is red, for people (MSG-4) and for machines.

use std::fmt;
use std::time::Duration;

use super::StageKind;
use super::pattern::Mismatch;

/// Stable codes of a failed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The adapter said something that no line expects.
    Unexpected,
    /// The next frame is another one than the line expects.
    WrongFrame,
    /// The frame has other members.
    Members,
    /// An honest host could not do this now.
    Illegal,
    /// Agent text differs.
    Text,
    /// A `check` does not hold.
    Check,
    /// The expected frame did not arrive.
    Missing,
    /// `quiet` was not.
    NotQuiet,
    /// A `never` was seen.
    Never,
    /// An invariant that holds in every run is broken.
    Invariant,
    /// A name has no such member.
    Name,
}

impl Code {
    /// `R0001` and so on.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unexpected => "R0001",
            Self::WrongFrame => "R0002",
            Self::Members => "R0003",
            Self::Illegal => "R0004",
            Self::Text => "R0005",
            Self::Check => "R0006",
            Self::Missing => "R0007",
            Self::NotQuiet => "R0008",
            Self::Never => "R0009",
            Self::Invariant => "R0010",
            Self::Name => "R0011",
        }
    }
}

/// The first thing that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which kind.
    pub code: Code,
    /// Line of the file; 0 for what belongs to no line.
    pub line: u32,
    /// One sentence.
    pub text: String,
    /// Differing members.
    pub mismatches: Vec<Mismatch>,
    /// The frame of the lane that came instead, as JSON.
    pub instead: Option<String>,
    /// Line of the file that was matched last.
    pub last_matched: Option<u32>,
    /// Virtual time.
    pub at: Duration,
    /// When the adapter does something next.
    pub pending: Option<Duration>,
}

/// What the command that plays a run again needs besides the file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replay<'a> {
    /// The point's label; empty when there is only one.
    pub point: &'a str,
    /// The stage.
    pub stage: StageKind,
    /// The seed.
    pub seed: u64,
}

impl fmt::Display for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.point.is_empty() {
            write!(f, " --at '{}'", self.point)?;
        }
        if self.stage != StageKind::Pipe {
            write!(f, " --stage {}", self.stage.name())?;
        }
        if self.seed != 0 {
            write!(f, " --seed {}", self.seed)?;
        }
        Ok(())
    }
}

impl Failure {
    /// A failure without details.
    #[must_use]
    pub fn new(code: Code, line: u32, text: impl Into<String>) -> Self {
        Self {
            code,
            line,
            text: text.into(),
            mismatches: Vec::new(),
            instead: None,
            last_matched: None,
            at: Duration::ZERO,
            pending: None,
        }
    }

    /// The report: where, what, the line, what came instead, timers, how to replay.
    #[must_use]
    pub fn render(&self, path: &str, source: &str, how: &Replay<'_>) -> String {
        use fmt::Write as _;
        let mut out = String::new();
        let at = if how.point.is_empty() { String::new() } else { format!(", {}", how.point) };
        let place = if self.line == 0 { path.to_owned() } else { format!("{path}:{}", self.line) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{} {place}  {}   at t={}ms{at}",
            self.code.as_str(),
            self.text,
            self.at.as_millis()
        );
        if let Some(text) = line_of(source, self.line) {
            let _ = writeln!(out, "  {:>4} | {text}", self.line);
        }
        for mismatch in &self.mismatches {
            let _ = writeln!(out, "         {mismatch}");
        }
        if let Some(instead) = &self.instead {
            let _ = writeln!(out, "       next on this lane: {instead}");
        }
        if let Some(line) = self.last_matched
            && let Some(text) = line_of(source, line)
        {
            let _ = writeln!(out, "       last matched: {}   (line {line})", text.trim());
        }
        if let Some(pending) = self.pending {
            let _ = writeln!(out, "       next timer: +{}ms", pending.as_millis());
        }
        let _ = write!(out, "replay: scenario run {path}{how}");
        out
    }
}

fn line_of(source: &str, line: u32) -> Option<&str> {
    source.lines().nth(usize::try_from(line.checked_sub(1)?).ok()?)
}
