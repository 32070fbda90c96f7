//! Reads recordings.
//!
//! Purpose: the official format, one `{"dir":"client"|"server","raw":"<frame>"}` a line, to frames.
//! Other members of a line are ignored, so a frame log of `fake-msp` is a recording as well.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dir {
    /// The client, to the host's stdin.
    Client,
    /// The host, to its stdout.
    Server,
}

/// One recorded line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Line of the file, from 1.
    pub number: usize,
    /// Who wrote it.
    pub dir: Dir,
    /// The frame as it was on the wire, without its `\n`.
    pub raw: String,
    /// The same, parsed: always an object.
    pub frame: Value,
}

/// A whole recording, in the order of the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    /// Its lines. Blank lines of the file are not among them.
    pub lines: Vec<Line>,
}

/// Why a text is no recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Line of the file, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong, without the content of the line.
    pub text: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}: {}", self.text),
        }
    }
}

impl std::error::Error for BadLine {}

#[derive(Deserialize)]
struct Row {
    dir: Dir,
    raw: String,
}

impl Transcript {
    /// Parses the text of a recording.
    ///
    /// # Errors
    /// A line that is not of the format, a `raw` that is no JSON object, or a text without lines.
    pub fn parse(text: &str) -> Result<Self, BadLine> {
        let mut lines = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let number = index + 1;
            if text.trim().is_empty() {
                continue;
            }
            let bad = |text: String| BadLine { line: number, text };
            let Row { dir, raw } = serde_json::from_str(text).map_err(|error| {
                bad(format!("not of the form {{\"dir\":\"client\"|\"server\",\"raw\":…}}: {error}"))
            })?;
            let frame: Value = serde_json::from_str(&raw)
                .map_err(|error| bad(format!("`raw` is no JSON: {error}")))?;
            if !frame.is_object() {
                return Err(bad("`raw` is no JSON object".into()));
            }
            lines.push(Line { number, dir, raw, frame });
        }
        if lines.is_empty() {
            return Err(BadLine { line: 0, text: "no lines".into() });
        }
        Ok(Self { lines })
    }

    /// How many lines one side wrote.
    #[must_use]
    pub fn count(&self, dir: Dir) -> usize {
        self.lines.iter().filter(|line| line.dir == dir).count()
    }
}

/// What a frame is, for people: `turn/start (request)`.
pub(super) fn name(frame: &Value) -> String {
    let method = frame.get("method").and_then(Value::as_str);
    match (method, frame.get("id")) {
        // A method is a word of the protocol; what is longer was not meant as one.
        (Some(method), _) if method.len() > 64 => "a method with an overlong name".into(),
        (Some(method), Some(_)) => format!("{method} (request)"),
        (Some(method), None) => format!("{method} (notification)"),
        (None, Some(Value::Number(id))) => format!("the answer to request {id}"),
        (None, Some(_)) => "an answer".into(),
        (None, None) => "a frame without method and id".into(),
    }
}
