//! `check` and `never` at the end of a run, over the transcript (DSL-13).

use std::time::Duration;

use serde_json::Value;

use super::play::{Play, member};
use super::report::{Code, Failure};
use super::transcript::{Entry, Lane as Wire};
use crate::lang::ast::{CheckKind, Condition, Lane, Unwanted};
use crate::stage::{HostProc, Stage};

/// Longer than the ladder that ends a host takes.
const REAP: Duration = Duration::from_secs(5);

impl Play<'_> {
    /// Everything that must hold at the end.
    ///
    /// # Errors
    /// The first that does not.
    pub(super) fn outcome(&mut self) -> Result<(), Failure> {
        let file = self.file;
        let solo = self.solo;
        for never in file.nevers.iter().filter(|never| !solo || never.lane.is_host()) {
            let seen = match &never.what {
                Unwanted::Frame { method, condition } => {
                    self.count(never.lane, method, condition.as_ref())? > 0
                }
                Unwanted::Ok { request } => {
                    self.answers(&request.text, |f| f.get("result").is_some())
                }
                Unwanted::Error { request, code } => {
                    let code = code.as_ref().map(|code| self.names.number(code)).transpose()?;
                    self.answers(&request.text, |frame| {
                        let found = frame.get("error").and_then(|error| error["code"].as_i64());
                        found.is_some() && code.is_none_or(|code| found == Some(code))
                    })
                }
                Unwanted::Text(part) => self.shown("agent_message_chunk").contains(part.as_str()),
                Unwanted::Thought(part) => {
                    self.shown("agent_thought_chunk").contains(part.as_str())
                }
                Unwanted::Close => self.is_closed(never.lane),
            };
            if seen {
                let failure = Failure::new(Code::Never, never.at.line, "this was seen");
                return Err(self.placed(failure));
            }
        }
        for check in file.checks.iter().filter(|check| !solo || super::solo::judges(&check.kind)) {
            let line = check.at.line;
            let wrong = match &check.kind {
                CheckKind::Count { lane, method, count, condition } => {
                    let found = self.count(*lane, method, condition.as_ref())?;
                    (found != *count).then(|| format!("{found} such frames, not {count}"))
                }
                CheckKind::Reaped => {
                    let left = |stage: &mut dyn Stage| {
                        let hosts = stage.hosts();
                        hosts.iter().filter(|host| host.is_closed() && !host.is_gone()).count()
                    };
                    self.wait_until(REAP, |stage| {
                        stage.hosts().iter().any(HostProc::is_gone) && left(stage) == 0
                    });
                    let left = left(self.stage);
                    let closed = self.stage.hosts().iter().any(HostProc::is_gone);
                    match (left, closed) {
                        (0, true) => None,
                        (0, false) => Some("no host process has ended".to_owned()),
                        (left, _) => Some(format!("{left} host processes are left")),
                    }
                }
                CheckKind::File { .. } => Some("this stage has no files".to_owned()),
            };
            if let Some(text) = wrong {
                return Err(self.placed(Failure::new(Code::Check, line, text)));
            }
        }
        Ok(())
    }

    fn count(
        &self,
        lane: Lane,
        method: &str,
        condition: Option<&Condition>,
    ) -> Result<u32, Failure> {
        let mut count = 0;
        for entry in self.transcript.entries.iter().filter(|entry| is_on(entry, lane)) {
            if entry.method() != Some(method) {
                continue;
            }
            let mut mismatches = Vec::new();
            if let Some(condition) = condition {
                let found = member(&entry.frame, &condition.path);
                self.test(&condition.path.to_string(), &condition.test, found, &mut mismatches)?;
            }
            if mismatches.is_empty() {
                count += 1;
            }
        }
        Ok(count)
    }

    fn answers(&self, request: &str, is_it: impl Fn(&Value) -> bool) -> bool {
        let Some(super::names::Bound::EditorRequest { id, .. }) = self.names.get(request) else {
            return false;
        };
        self.transcript.entries.iter().any(|entry| {
            entry.lane == Wire::Editor
                && entry.from_adapter
                && entry.frame["id"] == *id
                && entry.is_response()
                && is_it(&entry.frame)
        })
    }

    fn shown(&self, kind: &str) -> String {
        let entries = self.transcript.entries.iter().filter(|entry| is_on(entry, Lane::Editor));
        entries
            .filter_map(|entry| {
                let update = &entry.frame["params"]["update"];
                (update["sessionUpdate"] == kind).then(|| update["content"]["text"].as_str())?
            })
            .collect()
    }

    fn is_closed(&mut self, lane: Lane) -> bool {
        if lane == Lane::Editor {
            return self.stage.adapter_ended();
        }
        let hosts = self.stage.hosts();
        hosts.iter().enumerate().any(|(index, host)| {
            let meant = match lane {
                Lane::HostNumber(number) => index + 1 == usize::from(number),
                _ => true,
            };
            meant && host.is_closed()
        })
    }
}

/// Frames of the adapter on a lane.
fn is_on(entry: &Entry, lane: Lane) -> bool {
    entry.from_adapter
        && match (lane, entry.lane) {
            (Lane::Editor, Wire::Editor) | (Lane::Host, Wire::Host(_)) => true,
            (Lane::HostNumber(number), Wire::Host(index)) => usize::from(number) == index + 1,
            _ => false,
        }
}
