//! From a red run to the values that would make its line right.
//!
//! In: a story and the first failure of one point. Out: replacements of literal values, or why there is none.
//! It does not decide whether they are right for other points, nor whether the rest of the story holds.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::lang::ast::{Expect, ExpectKind, File, FrameKind, Step, Test, Value, ValueKind};
use crate::lang::fmt::quoted;
use crate::lang::source::Span;
use crate::run::Run;
use crate::run::names::get;
use crate::run::pattern::join;
use crate::run::report::{Code, Failure};

/// One value that should read otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Proposal {
    /// The bytes of the old value.
    pub(super) span: Span,
    /// The new value in canonical form.
    pub(super) text: String,
    /// Which member: the number of the step, and its path.
    pub(super) member: (usize, String),
}

/// What would make the failing line of this run right.
///
/// # Errors
/// Why the failure is not one of literal values.
pub(super) fn proposals(
    file: &File,
    run: &Run,
    failure: &Failure,
) -> Result<Vec<Proposal>, String> {
    let at = if failure.line == 0 { String::new() } else { format!("line {}: ", failure.line) };
    let no = |reason: &str| format!("{at}{reason}");
    if failure.code == Code::Invariant {
        return Err(format!("an invariant is broken: {}", failure.text));
    }
    if failure.code != Code::Members {
        return Err(no(&format!(
            "{} ({}); only values are updated",
            failure.text,
            failure.code.as_str()
        )));
    }
    let step = file.steps.iter().enumerate().find_map(|(index, step)| match step {
        Step::Expect(expect) if expect.at.line == failure.line => Some((index, expect)),
        _ => None,
    });
    let Some((index, expect)) = step else {
        return Err(no(
            "it belongs to a race or an opening, so it is not clear which value is meant",
        ));
    };
    if is_notification(expect) && candidates(run, expect) > 1 {
        return Err(no("several notifications could be meant; name one by a member that differs"));
    }
    let frame: Json = failure
        .instead
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or_else(|| no("the frame that came is not known"))?;
    let root = ["params", "result", "error"].into_iter().find_map(|key| frame.get(key));
    let mut walk = Walk {
        open: failure.mismatches.iter().map(|one| one.path.clone()).collect(),
        step: index,
        found: Vec::new(),
    };
    for one in &expect.matches {
        if let Test::Equals(value) = &one.test {
            let json = root.and_then(|root| get(root, &one.path));
            walk.value(value, &one.path.to_string(), json).map_err(|reason| no(&reason))?;
        }
    }
    match walk.open.first() {
        Some(path) => {
            Err(no(&format!("`{path}` is no `=` with a value; change that line yourself")))
        }
        None => Ok(walk.found),
    }
}

fn is_notification(expect: &Expect) -> bool {
    matches!(&expect.kind, ExpectKind::Frame { kind, .. } if *kind != FrameKind::Request)
        && !expect.lane.is_host()
}

/// Notifications of this method that no line has taken.
fn candidates(run: &Run, expect: &Expect) -> usize {
    let ExpectKind::Frame { method, .. } = &expect.kind else { return 0 };
    let free = run.transcript.entries.iter().filter(|entry| {
        entry.from_adapter && entry.line.is_none() && entry.method() == Some(method)
    });
    free.count()
}

struct Walk {
    /// Paths that differ and have no replacement yet.
    open: BTreeSet<String>,
    step: usize,
    found: Vec<Proposal>,
}

impl Walk {
    /// Looks for differing values at and below `value`; `json` is what the frame has there.
    fn value(&mut self, value: &Value, path: &str, json: Option<&Json>) -> Result<(), String> {
        if self.open.remove(path) {
            let Some(json) = json else {
                return Err(format!("`{path}` is absent now; a line is never taken away"));
            };
            if !is_literal(value) {
                return Err(format!(
                    "`{path}` holds a name or `_`; only literal values are updated"
                ));
            }
            self.found.push(Proposal {
                span: value.at.span,
                text: canonical(json),
                member: (self.step, path.to_owned()),
            });
            return Ok(());
        }
        match &value.kind {
            ValueKind::Object(members) => {
                for (name, inner) in members {
                    self.value(inner, &join(path, name), json.and_then(|json| json.get(name)))?;
                }
            }
            ValueKind::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    let json = json.and_then(|json| json.get(index));
                    self.value(inner, &format!("{path}[{index}]"), json)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Without names and `_`.
fn is_literal(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Name(_) | ValueKind::Any => false,
        ValueKind::Array(list) => list.iter().all(is_literal),
        ValueKind::Object(members) => members.iter().all(|(_, value)| is_literal(value)),
        _ => true,
    }
}

/// JSON as the formatter writes it, in one line.
fn canonical(json: &Json) -> String {
    match json {
        Json::String(text) => quoted(text),
        Json::Array(list) => {
            format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(", "))
        }
        Json::Object(members) => {
            let all =
                members.iter().map(|(key, value)| format!("{}: {}", quoted(key), canonical(value)));
            format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
