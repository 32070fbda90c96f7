//! What became of each line of the story.
//!
//! In: the source, the marks of the run, the failure. Out: one [`Fate`] a line. A member line shares the fate
//! of its statement; comments and the header have none.

use std::collections::BTreeSet;

use super::Page;
use crate::run::report::Code;

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing: it is a comment, a blank or says something about the file.
    None,
    /// It was carried out, or what it expects was seen.
    Passed,
    /// Here the story broke.
    Broke,
    /// The story broke before.
    NotReached,
}

/// The fates of all lines, first line first.
pub(super) fn fates(page: &Page<'_>) -> Vec<Fate> {
    let passed = passed(page);
    let broke = page.run.failure.as_ref().map(|failure| failure.line).filter(|line| *line > 0);
    let first = first_statement(page);
    let mut fates = Vec::new();
    let mut current = Fate::None;
    for (number, line) in (1u32..).zip(page.source.lines()) {
        let begins = line.starts_with(|c: char| c.is_ascii_alphabetic());
        if begins {
            current = if number < first {
                Fate::None
            } else if broke == Some(number) {
                Fate::Broke
            } else if passed.contains(&number) {
                Fate::Passed
            } else {
                Fate::NotReached
            };
        }
        let says_nothing = line.trim().is_empty() || line.trim_start().starts_with('#');
        fates.push(if says_nothing { Fate::None } else { current });
    }
    fates
}

/// Lines above it describe the file and its tables.
fn first_statement(page: &Page<'_>) -> u32 {
    let file = page.file;
    let given = file.given.iter().map(|given| given.at.line);
    let steps = file.steps.iter().map(|step| step.at().line);
    let ends = file.checks.iter().map(|check| check.at.line);
    let nevers = file.nevers.iter().map(|never| never.at.line);
    given.chain(steps).chain(ends).chain(nevers).min().unwrap_or(u32::MAX)
}

fn passed(page: &Page<'_>) -> BTreeSet<u32> {
    let mut lines: BTreeSet<u32> = page.run.transcript.marks.iter().map(|mark| mark.line).collect();
    let (code, broke) = match &page.run.failure {
        None => (None, 0),
        Some(failure) => (Some(failure.code), failure.line),
    };
    // `never` lines are judged first and `check` lines after them, each in order (`run::outcome`).
    let nevers = page.file.nevers.iter().map(|never| never.at.line);
    let checks = page.file.checks.iter().map(|check| check.at.line);
    match code {
        None | Some(Code::Invariant) => lines.extend(nevers.chain(checks)),
        Some(Code::Never) => lines.extend(nevers.take_while(|line| *line != broke)),
        Some(Code::Check) => {
            lines.extend(nevers);
            lines.extend(checks.take_while(|line| *line != broke));
        }
        Some(_) => {}
    }
    lines
}
