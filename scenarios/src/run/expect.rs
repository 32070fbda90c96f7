//! Lines that the adapter must fulfil: matching and consuming frames (DSL-2, DSL-4, DSL-6, DSL-8).

use serde_json::Value;

use super::lanes::Waiting;
use super::names::Bound;
use super::pattern::Mismatch;
use super::play::{Play, member};
use super::report::{Code, Failure};
use crate::lang::ast::{Expect, ExpectKind, FrameKind, Lane, Match, Test};

impl Play<'_> {
    /// One expectation.
    pub(super) fn expect(&mut self, expect: &Expect) -> Result<(), Failure> {
        self.fulfil(expect).map_err(|failure| self.placed(failure))?;
        self.last_matched = Some(self.line(expect.at));
        Ok(())
    }

    /// Expectations in any order: each frame goes to the first line that takes it.
    pub(super) fn expect_race(&mut self, lines: &[Expect]) -> Result<(), Failure> {
        let mut open: Vec<&Expect> = lines.iter().collect();
        while !open.is_empty() {
            let mut first = None;
            let taken = open.iter().position(|line| match self.fulfil(line) {
                Ok(()) => true,
                Err(failure) => {
                    first.get_or_insert(failure);
                    false
                }
            });
            match (taken, first) {
                (Some(index), _) => {
                    let at = open.remove(index).at;
                    self.last_matched = Some(self.line(at));
                }
                (None, Some(failure)) => return Err(self.placed(failure)),
                (None, None) => break,
            }
        }
        Ok(())
    }

    /// Consumes what the line expects, or leaves everything as it was.
    fn fulfil(&mut self, expect: &Expect) -> Result<(), Failure> {
        let line = expect.at.line;
        match &expect.kind {
            ExpectKind::Text(text) => consume(&mut self.lanes.text, text, "agent text", line),
            ExpectKind::Thought(text) => {
                consume(&mut self.lanes.thought, text, "agent thought", line)
            }
            ExpectKind::Close => self.expect_close(expect.lane, line),
            ExpectKind::Frame { method, kind }
                if *kind != FrameKind::Request && !expect.lane.is_host() =>
            {
                self.notification(expect, method)
            }
            ExpectKind::Frame { method, .. } => self.frame(expect, |frame| {
                (frame["method"] == method.as_str()).then_some(()).ok_or_else(|| method.clone())
            }),
            ExpectKind::Ok { request } => {
                let id = self.id_of(&request.text, line)?;
                self.frame(expect, |frame| {
                    let right = frame["id"] == id && frame.get("result").is_some();
                    right.then_some(()).ok_or_else(|| format!("a result for {}", request.text))
                })
            }
            ExpectKind::Error { request, code } => {
                let id = self.id_of(&request.text, line)?;
                let code = self.names.number(code)?;
                self.frame(expect, |frame| {
                    let right = frame["id"] == id && frame["error"]["code"] == code;
                    right.then_some(()).ok_or_else(|| format!("error {code} for {}", request.text))
                })
            }
        }
    }

    /// The next request or response of the lane.
    fn frame(
        &mut self,
        expect: &Expect,
        is_right: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let line = expect.at.line;
        let at = match expect.lane {
            Lane::Editor => (!self.lanes.editor.is_empty()).then_some(0),
            Lane::Host => self.lanes.next_host(None),
            Lane::HostNumber(number) => self.lanes.next_host(Some(usize::from(number) - 1)),
        };
        let queue = if expect.lane.is_host() { &self.lanes.hosts } else { &self.lanes.editor };
        let Some(waiting) = at.and_then(|at| queue.get(at)).cloned() else {
            let mut failure = Failure::new(Code::Missing, line, "expected frame did not arrive");
            failure.instead = Some("nothing (all tasks idle)".into());
            return Err(failure);
        };
        if let Err(expected) = is_right(&waiting.frame) {
            let text = format!("expected {expected}, another frame came");
            let mut failure = Failure::new(Code::WrongFrame, line, text);
            failure.instead = Some(waiting.frame.to_string());
            return Err(failure);
        }
        let mismatches = self.mismatches(&expect.matches, &waiting.frame)?;
        if !mismatches.is_empty() {
            let mut failure = Failure::new(Code::Members, line, "the frame has other members");
            failure.mismatches = mismatches;
            failure.instead = Some(waiting.frame.to_string());
            return Err(failure);
        }
        let queue =
            if expect.lane.is_host() { &mut self.lanes.hosts } else { &mut self.lanes.editor };
        queue.remove(at.unwrap_or_default());
        self.bind(expect, &waiting);
        Ok(())
    }

    /// The next notification that has the members; earlier ones that nobody watches are passed over.
    fn notification(&mut self, expect: &Expect, method: &str) -> Result<(), Failure> {
        let mut nearest: Option<(Vec<Mismatch>, String)> = None;
        let mut found = None;
        for (index, waiting) in self.lanes.notifications.iter().enumerate() {
            if waiting.method() != Some(method) {
                continue;
            }
            let mismatches = self.mismatches(&expect.matches, &waiting.frame)?;
            if mismatches.is_empty() {
                found = Some(index);
                break;
            }
            if nearest.as_ref().is_none_or(|(least, _)| mismatches.len() < least.len()) {
                nearest = Some((mismatches, waiting.frame.to_string()));
            }
        }
        let Some(index) = found else {
            let (code, text) = match nearest {
                None => (Code::Missing, "expected notification did not arrive"),
                Some(_) => {
                    (Code::Members, "no notification has these members; the nearest differs")
                }
            };
            let mut failure = Failure::new(code, expect.at.line, text);
            if let Some((mismatches, instead)) = nearest {
                failure.mismatches = mismatches;
                failure.instead = Some(instead);
            }
            return Err(failure);
        };
        let passed: Vec<Waiting> = self.lanes.notifications.drain(..=index).collect();
        if let Some(waiting) = passed.last() {
            self.bind(expect, waiting);
        }
        // Passed ones that the file watches must have lines of their own.
        let kept = passed.into_iter().rev().skip(1).filter(|waiting| self.is_watched(waiting));
        for waiting in kept.collect::<Vec<_>>() {
            self.lanes.notifications.push_front(waiting);
        }
        Ok(())
    }

    fn is_watched(&self, waiting: &Waiting) -> bool {
        use crate::lang::ast::WatchKind;
        let update = waiting.frame["params"]["update"]["sessionUpdate"].as_str();
        let kind = update.or(waiting.method()).unwrap_or_default();
        let watch = self.file.header.watch.as_deref().unwrap_or_default();
        watch.iter().any(|one| matches!(one, WatchKind::Wire(name) if *name == kind))
    }

    fn bind(&mut self, expect: &Expect, waiting: &Waiting) {
        self.transcript.entries[waiting.entry].line = Some(self.line(expect.at));
        let frame = &waiting.frame;
        let handle = waiting.host.and_then(|host| self.take_ask(host, frame));
        let Some(name) = &expect.bind else { return };
        let root = ["params", "result", "error"].into_iter().find_map(|key| frame.get(key));
        self.names.bind(
            &name.text,
            Bound::FromAdapter {
                id: frame.get("id").cloned(),
                host: waiting.host,
                handle,
                method: waiting.method().unwrap_or_default().to_owned(),
                params: root.cloned().unwrap_or_default(),
            },
        );
    }

    fn expect_close(&mut self, lane: Lane, line: u32) -> Result<(), Failure> {
        if lane == Lane::Editor {
            return if self.stage.adapter_ended() {
                Ok(())
            } else {
                Err(Failure::new(Code::Missing, line, "the adapter has not ended"))
            };
        }
        let index = self.host_index(lane, line)?;
        let closed = self.stage.hosts()[index].is_closed() || self.stage.hosts()[index].is_gone();
        if closed {
            Ok(())
        } else {
            Err(Failure::new(Code::Missing, line, "the adapter has not closed this host"))
        }
    }

    /// The JSON-RPC id of a request that the script sent.
    fn id_of(&self, name: &str, line: u32) -> Result<Value, Failure> {
        match self.names.get(name) {
            Some(Bound::EditorRequest { id, .. }) => Ok(Value::from(*id)),
            Some(Bound::FromHost { params, .. }) => {
                Ok(params.get("id").cloned().unwrap_or_default())
            }
            _ => {
                Err(Failure::new(Code::Name, line, format!("${name} is no request of the script")))
            }
        }
    }

    /// Everything in which a frame differs from the member lines.
    pub(super) fn mismatches(
        &self,
        lines: &[Match],
        frame: &Value,
    ) -> Result<Vec<Mismatch>, Failure> {
        let mut all = Vec::new();
        for one in lines {
            let found = member(frame, &one.path);
            self.test(&one.path.to_string(), &one.test, found, &mut all)?;
        }
        Ok(all)
    }

    /// One member test.
    pub(super) fn test(
        &self,
        path: &str,
        test: &Test,
        found: Option<&Value>,
        all: &mut Vec<Mismatch>,
    ) -> Result<(), Failure> {
        let shown = || found.map_or_else(|| "absent".to_owned(), Value::to_string);
        let mut differ = |expected: String| {
            all.push(Mismatch { path: path.to_owned(), expected, found: shown() });
        };
        match test {
            Test::Equals(value) => self.names.pattern(value)?.compare(path, found, all),
            Test::Contains(part) => {
                if !found.and_then(Value::as_str).is_some_and(|text| text.contains(part.as_str())) {
                    differ(format!("a text with {}", Value::from(part.as_str())));
                }
            }
            Test::Absent => {
                if found.is_some() {
                    differ("absent".into());
                }
            }
            Test::Present => {
                if found.is_none() {
                    differ("present".into());
                }
            }
        }
        Ok(())
    }
}

/// Takes `expected` from the front of what was said.
fn consume(said: &mut String, expected: &str, what: &str, line: u32) -> Result<(), Failure> {
    if said.starts_with(expected) {
        said.drain(..expected.len());
        return Ok(());
    }
    let code = if said.is_empty() { Code::Missing } else { Code::Text };
    let mut failure = Failure::new(code, line, format!("{what} does not begin so"));
    failure.instead = Some(Value::from(said.as_str()).to_string());
    Err(failure)
}
