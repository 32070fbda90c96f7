//! `check` and `never`: what holds at the end (DSL-13).
//!
//! Inputs: statements. Outputs: checks. Invariant: only what the adapter sends is counted.

use super::Parser;
use super::frame::{self, take_lane};
use super::member;
use super::value::Place;
use super::words::{Outcome, Words};
use crate::lang::ast::{
    ActKind, Check, CheckKind, Condition, File, FileTest, Lane, Never, Step, Test, Unwanted,
    ValueKind,
};
use crate::lang::codes;
use crate::lang::diagnostic::{Problem, Sink};
use crate::lang::source::Span;
use crate::lang::syntax::{self, PieceKind, Statement};
use crate::lang::tables::Direction;

impl Parser<'_, '_, '_> {
    /// `check …`.
    pub(super) fn check(&mut self, statement: &Statement, mut words: Words<'_>) -> Outcome<()> {
        let at = self.source.at(words.line());
        words.eat("check");
        let next = words.clone();
        let kind = if words.eat("file") {
            file_check(&mut words)?
        } else if words.eat("host") && words.eat("process") {
            words.exactly("reaped", CHECKS)?;
            CheckKind::Reaped
        } else {
            words = next;
            count_check(&mut words)?
        };
        words.end(CHECKS)?;
        self.no_members(statement, "`check`");
        self.checks.push(Check { kind, at });
        Ok(())
    }

    /// `never LANE <- …`.
    pub(super) fn never(&mut self, statement: &Statement, mut words: Words<'_>) -> Outcome<()> {
        let at = self.source.at(words.line());
        words.eat("never");
        let lane = check_lane(&mut words)?;
        let help =
            "say what must not come: `never host <- turn/cancel` or `never editor <- ok NAME`";
        let (text, span) =
            words.word("expected a method, `ok`, `error`, `text`, `thought` or `close`", help)?;
        let what = match text {
            "ok" => Unwanted::Ok { request: words.bound_name(help)? },
            "error" => {
                let mut rest = words.clone();
                let request = words.bound_name(help)?;
                let code = if words.peek().is_some() {
                    let (_, code) = frame::error(&mut rest)?;
                    words = rest;
                    Some(code)
                } else {
                    None
                };
                Unwanted::Error { request, code }
            }
            "close" => Unwanted::Close,
            "text" if lane == Lane::Editor => Unwanted::Text(words.text(frame::TEXT)?),
            "thought" if lane == Lane::Editor => Unwanted::Thought(words.text(frame::TEXT)?),
            method => {
                frame::method(lane, Direction::Adapter, method, span)?;
                Unwanted::Frame { method: method.to_owned(), condition: condition(&mut words)? }
            }
        };
        words.end("write one `never` a line; a frame may have one `where path = VALUE`")?;
        self.no_members(statement, "`never`");
        self.nevers.push(Never { lane, what, at });
        Ok(())
    }
}

const CHECKS: &str = "write `check host <- turn/start = 1`, `check host process reaped` or \
                      `check file notes.txt = \"…\"`";

fn check_lane(words: &mut Words<'_>) -> Outcome<Lane> {
    let lane = take_lane(words, true)?;
    if words.eat("<-") {
        return Ok(lane);
    }
    let span = words.here();
    let found = format!("{} where `<-` should be", words.found());
    let help = "only what the adapter sends is counted: write `<-`";
    Err(Problem::new(codes::BAD_CHECK, span, found, "expected `<-`", help))
}

fn count_check(words: &mut Words<'_>) -> Outcome<CheckKind> {
    let lane = check_lane(words)?;
    let (text, span) = words.word("expected a method", CHECKS)?;
    frame::method(lane, Direction::Adapter, text, span).map_err(|problem| {
        let example = if lane.is_host() { "turn/start" } else { "session/request_permission" };
        problem.narrowed(codes::UNKNOWN_METHOD, format!("expected a method such as `{example}`"))
    })?;
    if !words.eat("=") {
        let found = format!("{} where `= N` should be", words.found());
        let help = format!("say how many: `check {lane} <- {text} = 1`");
        return Err(Problem::new(codes::BAD_CHECK, words.here(), found, "expected `= N`", help));
    }
    let span = words.here();
    let count = match words.next().map(|piece| &piece.kind) {
        Some(PieceKind::Value(syntax::Value { kind: syntax::ValueKind::Number(n), .. })) => {
            n.parse().ok()
        }
        _ => None,
    };
    let count = count.ok_or_else(|| {
        let help = format!("write a whole number: `check {lane} <- {text} = 1`");
        Problem::new(
            codes::BAD_CHECK,
            span,
            "a count that is no whole number",
            "expected 0, 1, 2, …",
            help,
        )
    })?;
    let condition = condition(words)?;
    Ok(CheckKind::Count { lane, method: text.to_owned(), count, condition })
}

fn condition(words: &mut Words<'_>) -> Outcome<Option<Condition>> {
    let at = words.source.at(words.here());
    if !words.eat("where") {
        return Ok(None);
    }
    let (path, _) = member::take_path(words)?;
    let test = member::test(words, &path, Place::Expect)?;
    Ok(Some(Condition { path, test, at }))
}

fn file_check(words: &mut Words<'_>) -> Outcome<CheckKind> {
    let help =
        "write `check file notes.txt = \"content\"`, or `absent`, `present`, `contains \"…\"`";
    let path = match words.peek() {
        Some(piece) if piece.word().is_some() => words.word("expected a path", help)?.0.to_owned(),
        Some(_) => words.text(help)?,
        None => return Err(words.missing("expected the path of a file", help)),
    };
    let span = words.here();
    let named = crate::lang::ast::Path(vec![crate::lang::ast::Segment::Key("file".to_owned())]);
    let test = match member::test(words, &named, Place::Expect) {
        Ok(Test::Equals(value)) => match value.kind {
            ValueKind::Text(text) => FileTest::Equals(text),
            _ => return Err(bad_file(span, "a file compared with what is no text", help)),
        },
        Ok(Test::Contains(text)) => FileTest::Contains(text),
        Ok(Test::Absent) => FileTest::Absent,
        Ok(Test::Present) => FileTest::Present,
        Err(_) => return Err(bad_file(span, "a file check without a test", help)),
    };
    Ok(CheckKind::File { path, test })
}

fn bad_file(span: Span, found: &str, help: &str) -> Problem {
    let allowed = "expected `= \"…\"`, `contains \"…\"`, `absent` or `present`";
    Problem::new(codes::BAD_CHECK, span, found, allowed, help)
}

/// A story without `<-`, `check` or `never` passes whatever the adapter does.
pub(super) fn asserts_something(file: &File, span: Span, sink: &mut Sink<'_>) {
    let expects = |step: &Step| matches!(step, Step::Expect(_) | Step::ExpectRace(_));
    if file.steps.iter().any(expects) || !file.checks.is_empty() || !file.nevers.is_empty() {
        return;
    }
    let open = file.timeline().filter_map(|step| match step {
        Step::Act(act) => act.bind.as_ref().filter(|_| matches!(act.kind, ActKind::Send { .. })),
        _ => None,
    });
    let help = match open.last() {
        Some(name) if file.given.is_none() => {
            format!("say what must come of it, for example `editor <- ok {}`", name.text)
        }
        _ => "add a line with `<-`, or a `check` or `never` line".to_owned(),
    };
    let found = "a scenario that asserts nothing";
    let allowed = "expected at least one `<-`, `check` or `never`";
    sink.push(Problem::new(codes::NOTHING_ASSERTED, span, found, allowed, help));
}
