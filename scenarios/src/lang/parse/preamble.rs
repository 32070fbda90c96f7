//! What comes before the timeline: `scenario`, `stages`, `vary`, `given`.
//!
//! Inputs: statements. Outputs: title, tables, axes, the opening. Invariant: each stands before the first
//! line of the timeline; there is one `scenario` and at most one `given`. Rules: DSL-8, DSL-12, DEC-8.

use super::Parser;
use super::member;
use super::value::{Place, convert};
use super::words::{Outcome, Words, duration};
use crate::lang::ast::{Given, StageRow, StageTable, Value, ValueKind, Vary, VaryValues};
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::openings::Opening;
use crate::lang::source::Span;
use crate::lang::suggest::nearest;
use crate::lang::syntax::{self, Line, PieceKind, Statement};
use crate::lang::tables::{self, RESOLUTIONS};

impl Parser<'_, '_, '_> {
    /// `scenario "title"` and its header.
    pub(super) fn scenario(&mut self, statement: &Statement, mut words: Words<'_>) -> Outcome<()> {
        let span = words.line();
        words.eat("scenario");
        if let Some((_, first)) = &self.title {
            let found = "a second `scenario` line";
            let help = "one file tells one story: put the second one into a file of its own";
            let allowed = "expected no other `scenario`";
            return Err(Problem::new(codes::SECOND_SCENARIO, span, found, allowed, help)
                .related(*first, "the first is here"));
        }
        let title =
            words.text("say what the story shows: `scenario \"a stale answer is re-read\"`")?;
        words.end("the title is one text in double quotes")?;
        self.title = Some((title, span));
        self.header_rows(statement);
        Ok(())
    }

    /// `stages $run` and its rows.
    pub(super) fn stage_table(
        &mut self,
        statement: &Statement,
        mut words: Words<'_>,
    ) -> Outcome<()> {
        let span = words.line();
        words.eat("stages");
        self.in_preamble(span, "`stages`")?;
        let name = words.dollar_name("name the table: `stages $run`")?;
        words.end("the rows of the table are indented lines below it")?;
        let mut table = StageTable { name, rows: Vec::new(), at: self.source.at(span) };
        let mut broken = false;
        for line in member::lines(statement) {
            broken |= line.broken;
            self.failed |= line.broken;
            if broken {
                continue;
            }
            match self.stage_row(line, table.rows.len()) {
                Ok(row) => table.rows.push(row),
                Err(problem) => {
                    broken = true;
                    self.report(problem);
                }
            }
        }
        if table.rows.is_empty() && !broken {
            self.report(bad_stage(span, "a table without rows", EXAMPLE));
        }
        self.stages.push(table);
        Ok(())
    }

    fn stage_row(&self, line: &Line, index: usize) -> Outcome<StageRow> {
        let mut words = Words::new(self.source, line);
        let (text, span) = words.word("expected the index of the stage", EXAMPLE)?;
        if text != index.to_string() {
            let help = format!("stages are numbered from 0 without holes: write `{index}`");
            return Err(bad_stage(span, format!("`{text}` where stage {index} should be"), &help));
        }
        let span = words.here();
        let resolution = match words.next().map(|piece| &piece.kind) {
            Some(PieceKind::Word(word)) if RESOLUTIONS.contains(&word.as_str()) => word.clone(),
            Some(PieceKind::Word(word)) => {
                let help = match nearest(word, RESOLUTIONS.iter().copied()) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => {
                        format!("to play a kind that is not known write it in quotes: `\"{word}\"`")
                    }
                };
                return Err(bad_stage(span, format!("unknown resolution `{word}`"), &help));
            }
            Some(PieceKind::Value(syntax::Value {
                kind: syntax::ValueKind::Text(text), ..
            })) => text.clone(),
            _ => return Err(bad_stage(span, "a stage without its resolution", EXAMPLE)),
        };
        let mut argv = Vec::new();
        while let Some(piece) = words.next() {
            match &piece.kind {
                PieceKind::Word(word) => argv.push(word.clone()),
                PieceKind::Value(syntax::Value { kind: syntax::ValueKind::Text(text), .. }) => {
                    argv.push(text.clone());
                }
                _ => {
                    return Err(bad_stage(piece.span, "a word of the command is missing", EXAMPLE));
                }
            }
        }
        Ok(StageRow { resolution, argv, at: self.source.at(line.span) })
    }

    /// `vary $x in a, b`.
    pub(super) fn vary(&mut self, statement: &Statement, mut words: Words<'_>) -> Outcome<()> {
        let span = words.line();
        words.eat("vary");
        self.in_preamble(span, "`vary`")?;
        let help = "write `vary $x in 0ms, 1ms, 100ms`";
        let name = words.dollar_name(help)?;
        words.exactly("in", help)?;
        let values = self.vary_values(&mut words, help)?;
        self.no_members(statement, "`vary`");
        self.varies.push(Vary { name, values, at: self.source.at(span) });
        Ok(())
    }

    fn vary_values(&self, words: &mut Words<'_>, help: &str) -> Outcome<VaryValues> {
        let (mut durations, mut json) = (Vec::new(), Vec::new());
        loop {
            let span = words.here();
            match words.next().map(|piece| &piece.kind) {
                Some(PieceKind::Value(value)) => {
                    json.push(convert(self.source, value, Place::Constant)?);
                }
                Some(PieceKind::Word(word)) => match plain(word) {
                    Some(kind) => json.push(Value { kind, at: self.source.at(span) }),
                    None if json.is_empty() => durations.push(vary_duration(word, span)?),
                    None => return Err(two_kinds(span)),
                },
                _ => {
                    let found = "a value is missing in a `vary` list";
                    let allowed = "expected a duration or a JSON value";
                    return Err(Problem::new(codes::INCOMPLETE, span, found, allowed, help));
                }
            }
            if !durations.is_empty() && !json.is_empty() {
                return Err(two_kinds(span));
            }
            match words.next() {
                None => break,
                Some(piece) if piece.kind == PieceKind::Comma => {}
                Some(piece) => {
                    let found = "two values without a comma between them";
                    let help = "separate the values with `, `; put text in double quotes";
                    return Err(Problem::new(
                        codes::EXTRA,
                        piece.span,
                        found,
                        "expected `,`",
                        help,
                    ));
                }
            }
        }
        Ok(if json.is_empty() { VaryValues::Durations(durations) } else { VaryValues::Json(json) })
    }

    /// `given session ready`.
    pub(super) fn given(&mut self, statement: &Statement, mut words: Words<'_>) -> Outcome<()> {
        let span = words.line();
        words.eat("given");
        self.in_preamble(span, "`given`")?;
        if let Some(given) = &self.given {
            let found = "a second `given`";
            let help = "a story has one opening; write the rest out as lines";
            let allowed = "expected the timeline";
            return Err(Problem::new(codes::OUT_OF_PLACE, span, found, allowed, help)
                .related(given.at.span, "the first is here"));
        }
        let start = words.here();
        let mut last = start;
        let mut text = Vec::new();
        while let Some(piece) = words.next() {
            last = piece.span;
            text.push(piece.word().unwrap_or("?"));
        }
        let text = text.join(" ");
        let opening = Opening::find(&text).ok_or_else(|| unknown_opening(&text, start.to(last)))?;
        self.no_members(statement, "`given`");
        let steps = super::opening_steps(opening);
        self.given = Some(Given { opening, steps, at: self.source.at(span) });
        Ok(())
    }

    fn in_preamble(&self, span: Span, what: &str) -> Outcome<()> {
        let Some(first) = self.timeline else { return Ok(()) };
        let found = format!("{what} behind the first line of the timeline");
        let help = format!("move {what} up, above the first line with an arrow");
        let allowed = "expected a line of the timeline";
        Err(Problem::new(codes::OUT_OF_PLACE, span, found, allowed, help)
            .related(first, "the timeline begins here"))
    }
}

const EXAMPLE: &str = "write index, resolution and command: `0  unresolved  echo one`";

fn bad_stage(span: Span, found: impl Into<String>, help: &str) -> Problem {
    let allowed =
        format!("expected `INDEX RESOLUTION COMMAND…`; known are {}", tables::list(RESOLUTIONS));
    Problem::new(codes::BAD_STAGE, span, found, allowed, help)
}

/// A JSON value that is a bare word.
fn plain(word: &str) -> Option<ValueKind> {
    match word {
        "null" => Some(ValueKind::Null),
        "true" => Some(ValueKind::Bool(true)),
        "false" => Some(ValueKind::Bool(false)),
        _ => syntax::is_number(word).then(|| ValueKind::Number(word.to_owned())),
    }
}

fn vary_duration(word: &str, span: Span) -> Outcome<std::time::Duration> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return duration(word, span);
    }
    let found = format!("`{word}` is not a value");
    let help = format!("put text in double quotes: `\"{word}\"`");
    let allowed = "expected a duration or a JSON value";
    Err(Problem::new(codes::BAD_VALUE, span, found, allowed, help))
}

fn two_kinds(span: Span) -> Problem {
    Problem::new(
        codes::BAD_VALUE,
        span,
        "durations and JSON values in one `vary` list",
        "expected the same kind as the first value",
        "write all values with a unit, or none of them",
    )
}

fn unknown_opening(text: &str, span: Span) -> Problem {
    let names: Vec<&str> = Opening::ALL.iter().map(|opening| opening.name()).collect();
    let help = match nearest(text, names.iter().copied()) {
        Some(name) => format!("did you mean `given {name}`?"),
        None => "openings cannot be changed: write another beginning out as lines".to_owned(),
    };
    let found = if text.is_empty() {
        "`given` without an opening".to_owned()
    } else {
        format!("unknown opening `{text}`")
    };
    let allowed = format!("expected {}", tables::list(&names));
    Problem::new(codes::UNKNOWN_OPENING, span, found, allowed, help)
}
