//! Where in the file a run is: which line sent or took a frame, and what happened between frames.
//!
//! In: steps as they are carried out, frames as they are recorded. Out: `line` of transcript entries, and
//! [`Mark`](super::transcript::Mark)s. Invariant: a line is that of the file; a step of the opening counts
//! as the line `given`, because its own lines are nowhere to be seen. It changes nothing of a run.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::play::Play;
use super::transcript::{Lane as Wire, Mark, What};
use crate::lang::ast::{Act, ActKind, At, Expect, ExpectKind, Fault, Lane, Number, Step, Wait};

/// The state of one run.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// Line of `given`, while the opening is played.
    opening: Option<u32>,
    /// Acts of hosts whose frames have not been seen on the wire yet, in order.
    sent: VecDeque<Sent>,
    /// How far text and thoughts were taken: the entry, and bytes of it.
    said: [(usize, usize); 2],
}

/// A frame that a line put on the way.
#[derive(Debug)]
struct Sent {
    host: usize,
    line: u32,
    /// Wire name; `None` for an answer.
    method: Option<String>,
    /// `raw`: whatever comes next is it.
    lie: bool,
}

impl Play<'_> {
    /// The `index`-th step of the timeline begins.
    pub(super) fn begin(&mut self, index: usize) {
        let given = self.file.given.as_ref().filter(|given| index < given.steps.len());
        self.trail.opening = given.map(|given| given.at.line);
    }

    /// The line of the file that stands for this place.
    pub(super) fn line(&self, at: At) -> u32 {
        self.trail.opening.unwrap_or(at.line)
    }

    /// The line of `given`, while the opening is played.
    pub(super) fn opening_line(&self) -> Option<u32> {
        self.trail.opening
    }

    /// An act is about to be carried out.
    pub(super) fn note_act(&mut self, act: &Act) {
        let wire = self.actor(act.lane);
        let what = match &act.kind {
            ActKind::Fault(fault) => What::Fault(wire, self.fault(fault)),
            ActKind::Bytes(bytes) => What::Bytes(wire, String::from_utf8_lossy(bytes).into_owned()),
            ActKind::Send { method, .. } if act.lost => What::Lost(wire, method.clone()),
            _ => What::Passed,
        };
        self.mark(act.at, what);
        let method = match &act.kind {
            ActKind::Send { method, .. } if !act.lost => Some(method.clone()),
            ActKind::Ok { .. } | ActKind::Error { .. } | ActKind::Raw(_) => None,
            _ => return,
        };
        if let Wire::Host(host) = wire {
            let lie = matches!(act.kind, ActKind::Raw(_));
            self.trail.sent.push_back(Sent { host, line: self.line(act.at), method, lie });
        }
    }

    /// A step has been carried out. Acts were noted one by one.
    pub(super) fn note_step(&mut self, step: &Step) {
        match step {
            Step::Act(_) | Step::ActRace(_) => {}
            Step::Expect(expect) => self.note_expect(expect),
            Step::ExpectRace(race) => race.lines.iter().for_each(|line| self.note_expect(line)),
            Step::After(after) => {
                let by = match &after.wait {
                    Wait::Literal(by) => *by,
                    Wait::Name(name) => self.duration(&name.text),
                };
                self.mark(after.at, What::Waited(by));
            }
            Step::Quiet(quiet) => self.mark(quiet.at, What::Quiet),
        }
    }

    fn note_expect(&mut self, expect: &Expect) {
        let what = match &expect.kind {
            ExpectKind::Close => What::Closed(self.actor(expect.lane)),
            _ => What::Passed,
        };
        match &expect.kind {
            ExpectKind::Text(text) => self.note_text(expect.at, text, "agent_message_chunk", 0),
            ExpectKind::Thought(text) => self.note_text(expect.at, text, "agent_thought_chunk", 1),
            _ => {}
        }
        self.mark(expect.at, what);
    }

    /// Agent text was taken: the chunks that it came in are the line's, each the first line's that took of it.
    fn note_text(&mut self, at: At, text: &str, kind: &str, which: usize) {
        let line = self.line(at);
        let (mut next, mut used) = self.trail.said[which];
        let mut left = text.len();
        while left > 0
            && let Some(entry) = self.transcript.entries.get_mut(next)
        {
            let update = &entry.frame["params"]["update"];
            let is_it = entry.from_adapter && update["sessionUpdate"] == kind;
            let length = update["content"]["text"].as_str().filter(|_| is_it).map_or(0, str::len);
            let taken = left.min(length - used);
            left -= taken;
            used += taken;
            if taken > 0 && entry.line.is_none() {
                entry.line = Some(line);
            }
            if used == length {
                (next, used) = (next + 1, 0);
            }
        }
        self.trail.said[which] = (next, used);
    }

    /// The transcript has a new frame of a host: finds the line that sent it.
    pub(super) fn note_host_frame(&mut self, host: usize) {
        let Some(entry) = self.transcript.entries.last_mut() else { return };
        let method = entry.frame.get("method").and_then(Value::as_str);
        // Frames of the model itself come between those of lines, and a host that has closed its output
        // sends nothing for a line; so the first line that fits is meant, and those before it sent nothing.
        let fits =
            |sent: &Sent| sent.host == host && (sent.lie || sent.method.as_deref() == method);
        let Some(at) = self.trail.sent.iter().position(fits) else { return };
        if let Some(sent) = self.trail.sent.remove(at) {
            entry.line = Some(sent.line);
            entry.lie = sent.lie;
        }
        let mut earlier = at;
        self.trail.sent.retain(|sent| {
            let passed_over = earlier > 0 && sent.host == host;
            earlier = earlier.saturating_sub(1);
            !passed_over
        });
    }

    /// The transcript has a new frame of the editor, sent by this act.
    pub(super) fn note_editor_frame(&mut self, act: &Act) {
        let line = self.line(act.at);
        if let Some(entry) = self.transcript.entries.last_mut() {
            entry.line = Some(line);
            entry.lie = matches!(act.kind, ActKind::Raw(_));
        }
    }

    /// The story is over.
    pub(super) fn note_end(&mut self) {
        let (at, before) = (self.stage.now(), self.transcript.entries.len());
        self.transcript.marks.push(Mark { at, before, line: 0, what: What::Ended });
    }

    fn mark(&mut self, at: At, what: What) {
        let mark = Mark {
            at: self.stage.now(),
            before: self.transcript.entries.len(),
            line: self.line(at),
            what,
        };
        self.transcript.marks.push(mark);
    }

    /// Whom a lane means as an actor; the first host if there is none yet.
    fn actor(&mut self, lane: Lane) -> Wire {
        match lane {
            Lane::Editor => Wire::Editor,
            Lane::HostNumber(number) => Wire::Host(usize::from(number).saturating_sub(1)),
            Lane::Host => Wire::Host(self.stage.hosts().len().saturating_sub(1)),
        }
    }

    /// A fault as a story writes it.
    fn fault(&self, fault: &Fault) -> String {
        match fault {
            Fault::Eof => "eof".into(),
            Fault::Exit(Number::Literal(code)) => format!("exit {code}"),
            Fault::Exit(number) => self
                .names
                .number(number)
                .map_or_else(|_| "exit".into(), |code| format!("exit {code}")),
            Fault::Kill => "kill".into(),
            Fault::Stderr(text) => format!("stderr {}", Value::from(text.as_str())),
            Fault::StallRead => "stall-read".into(),
            Fault::ResumeRead => "resume-read".into(),
            Fault::CloseStdin => "close-stdin".into(),
            Fault::Hold => "hold".into(),
            Fault::Release => "release".into(),
            Fault::Delay(by) => format!("delay {}ms", by.as_millis()),
            Fault::Crash => "crash".into(),
            Fault::Bounce => "bounce".into(),
        }
    }

    /// The value of a `vary` name of durations.
    pub(super) fn duration(&self, name: &str) -> Duration {
        match self.names.get(name) {
            Some(super::names::Bound::Value(value)) => {
                Duration::from_millis(value.as_u64().unwrap_or_default())
            }
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{parse, point};
    use crate::run::{Options, Run, run_point};

    fn play(story: &str) -> Run {
        let (file, found) = parse("a.scn", story.as_bytes());
        assert!(found.is_empty(), "{found:?}");
        let file = file.expect("a story");
        let axes = point::axes(&file);
        run_point(&file, &axes, &point::at(&axes, 0), Options::default()).expect("playable")
    }

    #[test]
    fn every_frame_of_a_line_knows_its_line_and_the_opening_is_its_given() {
        let run = play(
            "scenario \"t\"\n  id SCN-A-01\n\ngiven session ready\n\n\
             editor -> session/prompt as prompt\nhost   <- turn/start as start\nhost   -> ok start\n\
             host   -> turn/started\nhost   -> item/completed\n  item.kind = \"agentMessage\"\n  \
             item.text = \"hi\"\nhost   -> turn/completed\neditor <- text \"hi\"\neditor <- ok prompt\n",
        );
        assert_eq!(run.failure, None);
        let lines: Vec<(u32, &str)> = run
            .transcript
            .entries
            .iter()
            .filter_map(|entry| Some((entry.line?, entry.method().unwrap_or("answer"))))
            .collect();
        assert_eq!(
            lines[..4],
            [(4, "initialize"), (4, "answer"), (4, "session/new"), (4, "answer")]
        );
        let story = [
            (6, "session/prompt"),
            (7, "turn/start"),
            (8, "answer"),
            (9, "turn/started"),
            (10, "item/completed"),
            (13, "turn/completed"),
            (14, "session/update"),
            (15, "answer"),
        ];
        assert_eq!(lines[4..], story);
    }

    #[test]
    fn what_is_no_frame_is_a_mark_and_a_lie_is_called_one() {
        let run = play(
            "scenario \"t\"\n  id SCN-A-01\n\ngiven turn running\n\nlost host -> item/started as one\n\
             host   -> raw {\"jsonrpc\": \"2.0\", \"method\": \"x/y\", \"params\": {}}\n\
             host   -> bytes \"torn\"\nafter  5ms\nhost   ! exit 3\neditor <- error prompt -32603\n",
        );
        let lies: Vec<_> = run.transcript.entries.iter().filter(|entry| entry.lie).collect();
        assert_eq!(lies.iter().map(|entry| entry.line).collect::<Vec<_>>(), [Some(7)]);
        let marks: Vec<_> = run.transcript.marks.iter().filter(|mark| mark.line > 4).collect();
        let host = Wire::Host(0);
        let expected = [
            (6, What::Lost(host, "item/started".into())),
            (7, What::Passed),
            (8, What::Bytes(host, "torn".into())),
            (9, What::Waited(Duration::from_millis(5))),
            (10, What::Fault(host, "exit 3".into())),
            (11, What::Passed),
        ];
        let found: Vec<_> = marks.iter().map(|mark| (mark.line, mark.what.clone())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_report_from_within_an_opening_names_the_line_of_given() {
        let run = play(
            "scenario \"t\"\n  id SCN-A-01\n\ngiven session ready\n\n\
             editor -> session/prompt as prompt\neditor <- ok prompt\n",
        );
        assert_eq!(run.failure.map(|failure| failure.last_matched), Some(Some(4)));
    }

    /// Each frame that a line sent over a corpus of stories is found again on the wire.
    #[test]
    fn no_line_of_the_corpus_loses_its_frame() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        for path in crate::lang::catalogue::files(&root).expect("the corpus") {
            let bytes = std::fs::read(&path).expect("a story");
            let (Some(file), _) = parse("a.scn", &bytes) else { continue };
            let axes = point::axes(&file);
            let Ok(run) = run_point(&file, &axes, &point::at(&axes, 0), Options::default()) else {
                continue;
            };
            let acts = file.steps.iter().filter_map(|step| match step {
                Step::Act(act) if act.lane.is_host() && !act.lost => Some(act),
                _ => None,
            });
            for act in acts {
                let sends = matches!(act.kind, ActKind::Send { .. } | ActKind::Ok { .. });
                let seen = run.transcript.entries.iter().any(|e| e.line == Some(act.at.line));
                // A host that has ended says nothing more.
                let faults = run.transcript.marks.iter().any(|m| matches!(m.what, What::Fault(..)));
                assert!(!sends || seen || faults, "{}:{}", path.display(), act.at.line);
            }
        }
    }
}
