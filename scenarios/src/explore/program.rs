//! What the neighbours of the adapter say in a story, and what each word waits for.
//!
//! In: the record of the told run. Out: a [`Program`]: what is delivered to the adapter, each with its causes.
//! A response needs its request and nothing else. What a neighbour says by itself keeps its order, and follows
//! what the story let it hear before: a host's events the commands of the adapter that a line takes, an
//! editor's request the answers that a line takes. So a response and an event may change places, an answer of
//! the person and a cancel too; an event never comes before its own cause. What happens when is not said here.

use std::collections::HashMap;

use serde_json::Value;

use crate::run::transcript::{Entry, Lane, Transcript, What};

/// A request of the adapter, as told: the `nth` of its method on its wire.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) lane: Lane,
    pub(super) method: String,
    pub(super) nth: usize,
}

/// A request of the adapter in the told run.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) params: Value,
    /// The line that takes it.
    pub(super) line: Option<u32>,
}

/// Something that reaches the adapter.
#[derive(Clone, Debug)]
pub(super) struct Stimulus {
    pub(super) lane: Lane,
    pub(super) what: Word,
    /// Index of the stimulus that must have come before.
    pub(super) after: Option<usize>,
    /// Requests of the adapter that must have been sent: indices into [`Program::asked`].
    pub(super) needs: Vec<usize>,
    /// Requests of the editor, by id, that must have been answered.
    pub(super) answers: Vec<u64>,
    /// The line that says it.
    pub(super) line: Option<u32>,
    /// The wait of the story before it, for the told order alone.
    pub(super) waits: std::time::Duration,
}

/// What it is.
#[derive(Clone, Debug)]
pub(super) enum Word {
    /// A request or an event.
    Frame(Value),
    /// The response to this request of the adapter.
    Response(usize, Value),
    /// The stream ends.
    Eof,
    /// The host takes no input any more.
    Deaf,
    /// The process ends, with this code or signal.
    Exit { code: Option<i32>, signal: Option<i32> },
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) stimuli: Vec<Stimulus>,
    pub(super) asked: Vec<Asked>,
    pub(super) keys: HashMap<Key, usize>,
    /// Results that the editor got, by its request's id.
    pub(super) results: HashMap<u64, Value>,
    /// Stimuli of the opening: these keep their order.
    pub(super) opening: usize,
    /// What the adapter said in the told run before the story was over, by wire.
    pub(super) told: Vec<(Lane, Value)>,
    /// What the story waits for when nobody says anything more.
    pub(super) rest: std::time::Duration,
    /// The host lied somewhere.
    pub(super) lies: bool,
}

/// Most stimuli: they are kept as bits.
pub(super) const STIMULI_MAX: usize = 128;

#[derive(Default)]
struct Reader {
    stimuli: Vec<Stimulus>,
    asked: Vec<Asked>,
    keys: HashMap<Key, usize>,
    by_id: HashMap<(Lane, String), usize>,
    counts: HashMap<(Lane, String), usize>,
    /// Last word of its own, by wire.
    last: HashMap<Lane, usize>,
    /// What a line let it hear, by wire.
    heard: HashMap<Lane, Vec<usize>>,
    answered: Vec<u64>,
    results: HashMap<u64, Value>,
    waits: std::time::Duration,
}

impl Program {
    /// Reads the told run. `given` is the line of the opening.
    ///
    /// # Errors
    /// Why the story cannot be explored.
    pub(super) fn new(transcript: &Transcript, given: Option<u32>) -> Result<Self, String> {
        let mut reader = Reader::default();
        let mut marks = transcript.marks.iter().peekable();
        let (mut opening, mut told, mut lies, mut ended) = (None, Vec::new(), false, false);
        let mut faults = Vec::new();
        for index in 0..=transcript.entries.len() {
            while let Some(mark) = marks.next_if(|mark| mark.before <= index) {
                match &mark.what {
                    What::Fault(lane, fault) => faults.push((*lane, fault, mark.line)),
                    What::Bytes(..) => {
                        return Err(format!("line {}: bytes are no frame", mark.line));
                    }
                    What::Waited(by) => reader.waits += *by,
                    What::Ended => ended = true,
                    What::Passed | What::Lost(..) | What::Closed(_) | What::Quiet => {}
                }
                if opening.is_none() && Some(mark.line) != given {
                    opening = Some(reader.stimuli.len());
                }
            }
            // What a neighbour wrote before its end was still in the pipe when the line was played.
            let last = |lane| {
                let rest = transcript.entries.get(index..).unwrap_or_default();
                !rest.iter().any(|entry| entry.lane == lane && !entry.from_adapter)
            };
            for (lane, fault, line) in faults.extract_if(.., |(lane, ..)| last(*lane)) {
                reader.fault(lane, fault, line)?;
            }
            let Some(entry) = transcript.entries.get(index).filter(|_| !ended) else { break };
            let own = entry.line.is_some() && entry.line != given;
            if own && opening.is_none() {
                opening = Some(reader.stimuli.len());
            }
            lies |= entry.lie;
            if entry.from_adapter {
                told.push((entry.lane, entry.frame.clone()));
                reader.heard(entry);
            } else {
                reader.said(entry)?;
            }
        }
        let opening = opening.unwrap_or(0);
        if reader.stimuli.len() > STIMULI_MAX {
            return Err(format!("more than {STIMULI_MAX} frames reach the adapter"));
        }
        let Reader { stimuli, asked, keys, results, waits: rest, .. } = reader;
        Ok(Self { stimuli, asked, keys, results, opening, told, rest, lies })
    }
}

impl Reader {
    /// A frame of the adapter.
    fn heard(&mut self, entry: &Entry) {
        let (lane, frame) = (entry.lane, &entry.frame);
        let Some(method) = entry.method() else {
            if lane == Lane::Editor
                && let (Some(id), Some(result)) = (frame["id"].as_u64(), frame.get("result"))
            {
                self.results.insert(id, result.clone());
            }
            if entry.is_response() && entry.line.is_some() && lane == Lane::Editor {
                self.answered.extend(frame["id"].as_u64());
            }
            return;
        };
        let Some(id) = frame.get("id") else { return };
        let nth = self.counts.entry((lane, method.to_owned())).or_default();
        let key = Key { lane, method: method.to_owned(), nth: *nth };
        *nth += 1;
        let index = self.asked.len();
        self.by_id.insert((lane, id.to_string()), index);
        self.keys.insert(key, index);
        self.asked.push(Asked { params: frame["params"].clone(), line: entry.line });
        if entry.line.is_some() && lane != Lane::Editor {
            self.heard.entry(lane).or_default().push(index);
        }
    }

    /// A frame to the adapter.
    fn said(&mut self, entry: &Entry) -> Result<(), String> {
        let (lane, frame) = (entry.lane, entry.frame.clone());
        if !frame.is_object() {
            return Err("a line of the story is no frame".into());
        }
        if entry.method().is_none()
            && let Some(request) = self.by_id.get(&(lane, frame["id"].to_string()))
        {
            let what = Word::Response(*request, frame);
            let needs = vec![*request];
            self.push(Stimulus { lane, what, after: None, needs, ..self.bare(lane, entry.line) });
            return Ok(());
        }
        let is_request = frame.get("id").is_some();
        self.own(lane, Word::Frame(frame), is_request, entry.line);
        Ok(())
    }

    fn fault(&mut self, lane: Lane, fault: &str, line: u32) -> Result<(), String> {
        let word = match fault.split_once(' ').unwrap_or((fault, "")) {
            ("eof", _) => Word::Eof,
            ("exit", code) => Word::Exit { code: code.parse().ok(), signal: None },
            ("kill", _) => Word::Exit { code: None, signal: Some(9) },
            ("close-stdin", _) => Word::Deaf,
            ("stderr", _) => return Ok(()),
            // Its answers are missing from the record, and what it is sent is the same.
            ("stall-read", _) if lane != Lane::Editor => return Ok(()),
            (fault, _) => return Err(format!("line {line}: `{fault}` is no matter of the core")),
        };
        self.own(lane, word, false, Some(line));
        Ok(())
    }

    /// A word that answers nothing.
    fn own(&mut self, lane: Lane, what: Word, is_request: bool, line: Option<u32>) {
        let needs = self.heard.get(&lane).cloned().unwrap_or_default();
        let waits_for_answers = lane == Lane::Editor && is_request;
        let answers = if waits_for_answers { self.answered.clone() } else { Vec::new() };
        let after = self.last.insert(lane, self.stimuli.len());
        self.push(Stimulus { what, after, needs, answers, ..self.bare(lane, line) });
    }

    fn bare(&self, lane: Lane, line: Option<u32>) -> Stimulus {
        Stimulus {
            lane,
            what: Word::Eof,
            after: None,
            needs: Vec::new(),
            answers: Vec::new(),
            line,
            waits: self.waits,
        }
    }

    fn push(&mut self, stimulus: Stimulus) {
        self.waits = std::time::Duration::ZERO;
        self.stimuli.push(stimulus);
    }
}
