//! The timeline in order, with its races.
//!
//! Inputs: lines as they are understood. Outputs: steps. Invariants: a race has one kind and at most
//! [`RACE_LINES_MAX`] lines; races of acts and of expectations are numbered apart, from 1.
//! Rules: DSL-6, DSL-9, DSL-10.

use super::Parser;
use super::frame::Arrow;
use super::words::{Outcome, Words, duration};
use crate::lang::ast::{After, File, Quiet, Race, Step, Wait};
use crate::lang::codes;
use crate::lang::diagnostic::{Problem, Sink};
use crate::lang::limits::{POINTS_MAX, RACE_LINES_MAX};
use crate::lang::point;
use crate::lang::source::Span;
use crate::lang::syntax::Statement;

/// Steps so far.
#[derive(Debug, Default)]
pub(super) struct Steps {
    list: Vec<Step>,
    /// The line before was not understood, so nothing is known about what a `race` would join.
    interrupted: bool,
    act_races: u32,
    expect_races: u32,
}

impl Steps {
    pub(super) fn finish(self) -> Vec<Step> {
        self.list
    }

    /// A line was not understood.
    pub(super) fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Adds a line, joined to the one before if `race` says where the word stands.
    pub(super) fn push(&mut self, arrow: Arrow, race: Option<Span>) -> Outcome<()> {
        let interrupted = std::mem::take(&mut self.interrupted);
        let Some(span) = race.filter(|_| !interrupted) else {
            self.list.push(match arrow {
                Arrow::Act(act) => Step::Act(act),
                Arrow::Expect(expect) => Step::Expect(expect),
            });
            return Ok(());
        };
        let before = self.list.last().map_or(span, |step| step.at().span);
        let (step, outcome) = match (self.list.pop(), arrow) {
            (Some(Step::Act(first)), Arrow::Act(act)) => {
                self.act_races += 1;
                (Step::ActRace(Race { number: self.act_races, lines: vec![first, act] }), Ok(()))
            }
            (Some(Step::Expect(first)), Arrow::Expect(expect)) => {
                self.expect_races += 1;
                let lines = vec![first, expect];
                (Step::ExpectRace(Race { number: self.expect_races, lines }), Ok(()))
            }
            (Some(Step::ActRace(mut race)), Arrow::Act(act)) => {
                race.lines.push(act);
                let outcome = few(race.lines.len(), span);
                (Step::ActRace(race), outcome)
            }
            (Some(Step::ExpectRace(mut race)), Arrow::Expect(expect)) => {
                race.lines.push(expect);
                let outcome = few(race.lines.len(), span);
                (Step::ExpectRace(race), outcome)
            }
            (Some(last @ (Step::After(_) | Step::Quiet(_))), arrow) => {
                self.list.push(last);
                (single(arrow), Err(alone(span)))
            }
            (Some(last), arrow) => {
                self.list.push(last);
                (single(arrow), Err(mixed(span, before)))
            }
            (None, arrow) => (single(arrow), Err(alone(span))),
        };
        self.list.push(step);
        outcome
    }

    fn time(&mut self, step: Step) {
        self.interrupted = false;
        self.list.push(step);
    }
}

fn single(arrow: Arrow) -> Step {
    match arrow {
        Arrow::Act(act) => Step::Act(act),
        Arrow::Expect(expect) => Step::Expect(expect),
    }
}

impl Parser<'_, '_, '_> {
    /// `after DURATION`.
    pub(super) fn after(&mut self, statement: &Statement, mut words: Words<'_>) -> Outcome<()> {
        let span = words.line();
        self.timeline.get_or_insert(span);
        words.eat("after");
        let help = "write how long, for example `after 30s`";
        let wait = if words.peek().and_then(|p| p.word()).is_some_and(|word| word.starts_with('$'))
        {
            Wait::Name(words.dollar_name(help)?)
        } else {
            let (text, place) = words.word("expected a duration such as `30s`", help)?;
            Wait::Literal(duration(text, place)?)
        };
        words.end("write the number and its unit without a blank: `after 30s`")?;
        self.no_members(statement, "`after`");
        self.steps.time(Step::After(After { wait, at: self.source.at(span) }));
        Ok(())
    }

    /// `quiet`.
    pub(super) fn quiet(&mut self, statement: &Statement, mut words: Words<'_>) -> Outcome<()> {
        let span = words.line();
        self.timeline.get_or_insert(span);
        words.eat("quiet");
        words.end("`quiet` stands alone; time passes with `after DURATION`")?;
        self.no_members(statement, "`quiet`");
        self.steps.time(Step::Quiet(Quiet { at: self.source.at(span) }));
        Ok(())
    }
}

/// The product of all axes is bounded.
pub(super) fn bounded(file: &File, sink: &mut Sink<'_>) {
    let mut points: u64 = 1;
    for axis in point::axes(file) {
        points = points.saturating_mul(axis.size() as u64);
        if points > POINTS_MAX {
            let found = format!("`vary` and `race` span more than {POINTS_MAX} runs");
            let allowed = "this line makes them too many";
            let help = "take a `vary` value or a `race` out, or tell two stories in two files";
            return sink.push(Problem::new(
                codes::TOO_MANY_POINTS,
                axis.at.span,
                found,
                allowed,
                help,
            ));
        }
    }
}

fn few(lines: usize, span: Span) -> Outcome<()> {
    if lines <= RACE_LINES_MAX {
        return Ok(());
    }
    let found = format!("a race of {lines} lines");
    let allowed = format!("expected at most {RACE_LINES_MAX} lines in one race");
    let help = "remove a `race`, so that some of the lines keep their order";
    Err(Problem::new(codes::TOO_MANY_POINTS, span, found, allowed, help))
}

fn alone(span: Span) -> Problem {
    Problem::new(
        codes::RACE_ALONE,
        span,
        "`race` with no line to race with",
        "expected a line with an arrow directly before it",
        "`race` joins a line to the one before it: put the other line above, or remove `race`",
    )
}

fn mixed(span: Span, before: Span) -> Problem {
    Problem::new(
        codes::RACE_MIXED,
        span,
        "`race` between an act and an expectation",
        "expected two lines of one kind",
        "race `->` and `!` lines with each other, and `<-` lines with each other",
    )
    .related(before, "the line before is of the other kind")
}
