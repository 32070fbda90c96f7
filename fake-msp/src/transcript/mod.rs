//! Plays a recorded conversation to a live client.
//!
//! Purpose: a host that says exactly what a recording says, to a client that says what the recorded
//! client said. Inputs: a [`Transcript`], client lines. Outputs: the effects of
//! [`Output`] and a [`Report`]. Invariants: the recorded client lines are
//! expected in their order; a server line is sent as soon as every client line before it has
//! matched, byte for byte where no value of the client's own making stands in it; the first
//! deviation ends the replay. No I/O, no clock. It does not know the protocol's methods, only which
//! members a client mints. Rules: HOST-19, ENV-7.

mod compare;
mod read;
mod report;
mod unify;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub use compare::{Difference, MASK};
pub use read::{BadLine, Dir, Line, Transcript};
pub use report::{Deviation, Missing, Report};
use serde_json::{Value, json};
use unify::Bindings;

use crate::engine::{Input, Output};

/// Exit code after a deviation: outside the host's own codes 0 to 5, so that it cannot be mistaken.
pub const EXIT_DEVIATED: i32 = 6;

/// A recording being played.
#[derive(Debug)]
pub struct Replay {
    transcript: Transcript,
    /// Index of the line that comes next.
    next: usize,
    bindings: Bindings,
    out: VecDeque<Output>,
    matched: usize,
    sent: usize,
    deviation: Option<Deviation>,
    ended: bool,
}

impl Replay {
    /// Starts a replay; server lines before the first client line are sent at once.
    #[must_use]
    pub fn new(transcript: Transcript) -> Self {
        let mut replay = Self {
            transcript,
            next: 0,
            bindings: Bindings::default(),
            out: VecDeque::new(),
            matched: 0,
            sent: 0,
            deviation: None,
            ended: false,
        };
        replay.speak();
        replay
    }

    /// Feeds one thing that happened. After the end of the replay nothing has an effect.
    pub fn handle(&mut self, input: Input<'_>) {
        if self.ended {
            return;
        }
        match input {
            Input::Line(line) => self.on_line(line),
            Input::Tail(tail) if serde_json::from_slice::<Value>(tail).is_ok() => {
                self.on_line(tail);
            }
            Input::Tail(_) => self.deviate(
                None,
                "the end of stdin in the middle of a line",
                Vec::new(),
                &error(&Value::Null, -32700, "truncated frame"),
            ),
            Input::TooLong { .. } => self.deviate(
                None,
                "a line longer than the frame limit",
                Vec::new(),
                &error(&Value::Null, -32002, "the line is longer than the frame limit"),
            ),
            Input::Eof => self.end(),
            Input::Timer => {}
        }
    }

    /// The next effect: lines, texts for people, at last the exit.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// How far the replay has come, and what went wrong.
    #[must_use]
    pub fn report(&self) -> Report {
        let missing = self.transcript.lines[self.next..]
            .iter()
            .filter(|line| line.dir == Dir::Client)
            .map(|line| Missing { line: line.number, what: read::name(&line.frame) })
            .collect();
        Report {
            matched: self.matched,
            sent: self.sent,
            client_lines: self.transcript.count(Dir::Client),
            server_lines: self.transcript.count(Dir::Server),
            deviation: self.deviation.clone(),
            missing,
        }
    }

    fn on_line(&mut self, bytes: &[u8]) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let frame: Value = match serde_json::from_slice(bytes) {
            Ok(frame) => frame,
            Err(_) => {
                let answer = error(&Value::Null, -32700, "not JSON");
                return self.deviate(None, "a line that is no JSON", Vec::new(), &answer);
            }
        };
        let Some(line) = self.transcript.lines.get(self.next) else {
            let answer = refusal(&frame, "the recording has ended");
            return self.deviate(None, &read::name(&frame), Vec::new(), &answer);
        };
        match self.bindings.meet(&self.transcript.lines[..self.next], line, &frame) {
            Ok(()) => {
                self.matched += 1;
                self.next += 1;
                self.speak();
            }
            Err(differences) => {
                let text = format!("the recording has something else at line {}", line.number);
                let elsewhere = self.elsewhere(&frame);
                let answer = refusal(&frame, &text);
                self.deviate(elsewhere, &read::name(&frame), differences, &answer);
            }
        }
    }

    /// Where a frame that does not fit here would fit: a client that skipped or swapped lines.
    fn elsewhere(&self, frame: &Value) -> Option<usize> {
        let lines = &self.transcript.lines;
        let mut later = (self.next + 1..lines.len()).filter(|at| lines[*at].dir == Dir::Client);
        let fits =
            |at: &usize| self.bindings.clone().meet(&lines[..*at], &lines[*at], frame).is_ok();
        later.find(fits).map(|at| lines[at].number)
    }

    /// Sends server lines up to the next client line.
    fn speak(&mut self) {
        while let Some(line) = self.transcript.lines.get(self.next) {
            if line.dir != Dir::Server {
                return;
            }
            self.out.push_back(Output::Line(self.bindings.speak(line)));
            self.sent += 1;
            self.next += 1;
        }
    }

    fn deviate(
        &mut self,
        elsewhere: Option<usize>,
        sent: &str,
        differences: Vec<Difference>,
        answer: &Value,
    ) {
        let expected = self.transcript.lines.get(self.next);
        self.deviation = Some(Deviation {
            line: expected.map(|line| line.number),
            recorded: expected.map(|line| read::name(&line.frame)),
            sent: sent.to_owned(),
            differences,
            elsewhere,
        });
        if !answer.is_null() {
            self.out.push_back(Output::Line(answer.to_string().into_bytes()));
        }
        self.end();
    }

    fn end(&mut self) {
        self.ended = true;
        let report = self.report();
        for line in report.to_string().lines() {
            self.out.push_back(Output::Stderr(format!("fake-msp: transcript: {line}")));
        }
        let code = if report.is_clean() { 0 } else { EXIT_DEVIATED };
        self.out.push_back(Output::Exit { code });
    }
}

/// The protocol's answer to a frame that does not fit; nothing where no answer is due.
fn refusal(frame: &Value, text: &str) -> Value {
    match (frame.get("id"), frame.get("method")) {
        (Some(id), Some(_)) => error(id, -32600, text),
        (None, Some(_)) | (Some(_), None) => Value::Null,
        (None, None) => error(&Value::Null, -32600, text),
    }
}

fn error(id: &Value, code: i64, text: &str) -> Value {
    let kind = match code {
        -32700 => "parseError",
        -32002 => "inputTooLarge",
        _ => "invalidRequest",
    };
    json!({ "jsonrpc": "2.0", "id": id,
        "error": { "code": code, "message": text, "data": { "kind": kind, "retryable": false } } })
}
