//! A story that is played, changed and played again until it is green at every point, or refused.

use std::collections::{BTreeMap, BTreeSet};

use super::propose::{Proposal, proposals};
use crate::lang::diagnostic::summary;
use crate::lang::point;
use crate::lang::read;
use crate::lang::source::Source;
use crate::run::{self, Options, StageKind};

/// Most rounds: each makes at least one line of `<-` right, and a file has fewer of them.
const ROUNDS_MAX: usize = 5_000;

/// A story that is green at every point.
#[derive(Debug)]
pub(super) struct Rewritten {
    /// The whole text.
    pub(super) text: String,
    /// What differs from the file, in order; empty if nothing does.
    pub(super) changes: Vec<Change>,
}

/// One changed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Line of the value in the file as it was.
    pub(super) line: u32,
    /// Its path.
    pub(super) member: String,
    /// The lines that hold it.
    pub(super) before: String,
    /// The same lines after the change.
    pub(super) after: String,
}

/// Makes literal values of `<-` lines right.
///
/// # Errors
/// Why nothing may be written.
pub(super) fn rewrite(path: &str, bytes: &[u8]) -> Result<Rewritten, String> {
    let mut text = String::from_utf8(bytes.to_vec()).map_err(|_| "it is not UTF-8".to_owned())?;
    let (mut seen, mut changes) = (BTreeSet::new(), Vec::new());
    for _ in 0..ROUNDS_MAX {
        let round = round(path, &text)?;
        if round.is_empty() {
            return Ok(Rewritten { text, changes });
        }
        let source = Source::new(path, text.as_str());
        // From the last to the first, so that spans stay right.
        let mut after = text.clone();
        let mut fresh = Vec::new();
        for one in round.into_values().rev() {
            if !seen.insert(one.member.clone()) {
                return Err(format!("`{}` is another value at another point", one.member.1));
            }
            fresh.push(change(&source, &one));
            after.replace_range(one.span.start..one.span.end, &one.text);
        }
        changes.extend(fresh.into_iter().rev());
        text = after;
    }
    Err("it does not become green".into())
}

/// What every point of the story proposes next, by place. Empty when all are green.
fn round(path: &str, text: &str) -> Result<BTreeMap<usize, Proposal>, String> {
    let reading = read(path, text.as_bytes());
    let (Some(file), true) = (&reading.file, reading.diagnostics.is_empty()) else {
        let count = summary(reading.diagnostics.len(), 1).unwrap_or_default();
        return Err(format!("{count}; see `scenario check {path}`"));
    };
    let axes = point::axes(file);
    let mut all: BTreeMap<usize, Proposal> = BTreeMap::new();
    for index in 0..point::count(&axes).min(run::POINTS_MAX) {
        let point = point::at(&axes, index);
        let run = run::run_point(
            file,
            &axes,
            &point,
            Options { stage: StageKind::fitting(file), ..Options::default() },
        )?;
        let Some(failure) = &run.failure else { continue };
        for one in proposals(file, &run, failure)? {
            let overlaps = |other: &&Proposal| {
                other.span.start < one.span.end && one.span.start < other.span.end && **other != one
            };
            if let Some(other) = all.values().find(overlaps) {
                return Err(format!(
                    "the points disagree on `{}`: {} and {}",
                    one.member.1, other.text, one.text
                ));
            }
            all.insert(one.span.start, one);
        }
    }
    Ok(all)
}

fn change(source: &Source, one: &Proposal) -> Change {
    let (first, last) = (source.line_of(one.span.start), source.line_of(one.span.end));
    let (start, end) = (source.line_span(first).start, source.line_span(last).end);
    let text = source.text();
    Change {
        line: source.at(one.span).line,
        member: one.member.1.clone(),
        before: text[start..end].to_owned(),
        after: format!("{}{}{}", &text[start..one.span.start], one.text, &text[one.span.end..end]),
    }
}
