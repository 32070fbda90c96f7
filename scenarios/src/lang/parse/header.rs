//! The keys below `scenario` (DSL-14).
//!
//! Inputs: rows `KEY VALUE…`. Outputs: the header. Invariant: unknown and repeated keys are refused; a
//! value that is refused leaves its key empty.

use super::Parser;
use super::member;
use super::words::{Outcome, Words, duration};
use crate::lang::ast::{
    Budget, Comparison, DialectRule, HostRule, Note, RowId, Version, WatchKind,
};
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::source::Span;
use crate::lang::suggest::nearest;
use crate::lang::syntax::{Piece, PieceKind, Statement};
use crate::lang::tables::{
    self, APPROVAL_STYLES, BUDGETS, HEADER_KEYS, HOST_KINDS, WATCHES, meaning,
};

/// The version of the language that this is.
const FORMAT: u32 = 1;

impl Parser<'_, '_, '_> {
    /// The rows below `scenario`.
    pub(super) fn header_rows(&mut self, statement: &Statement) {
        let mut first: std::collections::BTreeMap<&str, Span> = std::collections::BTreeMap::new();
        for line in member::lines(statement) {
            let key = line.pieces.first().and_then(Piece::word);
            self.keys.extend(key.map(str::to_owned));
            self.failed |= line.broken;
            if line.broken {
                continue;
            }
            let before = key.and_then(|key| first.insert(key, line.pieces[0].span));
            let outcome = match before {
                Some(before) => Err(twice(line.pieces[0].span, before)),
                None => self.header_row(Words::new(self.source, line)),
            };
            if let Err(problem) = outcome {
                self.report(problem);
            }
        }
    }

    fn header_row(&mut self, mut words: Words<'_>) -> Outcome<()> {
        let at = words.source.at(words.here());
        let (key, span) = words.word("expected a header key", "write `id SCN-ABC-01`")?;
        let header = &mut self.header;
        match key {
            "id" => header.ids = ids(&mut words)?,
            "hosts" => header.hosts = list(&mut words, host_rule)?,
            "dialect" => header.dialect = list(&mut words, dialect_rule)?,
            "watch" => header.watch = Some(watch(&mut words)?),
            "model" => header.model = Some(Note { text: note(&mut words)?, at }),
            "budget" => header.budget = list(&mut words, budget)?,
            "recorded" => header.recorded = Some(Note { text: note(&mut words)?, at }),
            "live" => header.live = Some(Note { text: note(&mut words)?, at }),
            "format" => header.format = Some(format(&mut words)?),
            _ => return Err(unknown_key(key, span)),
        }
        Ok(())
    }
}

type Pieces<'w, 'l> = &'w mut Words<'l>;

/// One or more entries, separated by commas.
fn list<T>(words: Pieces<'_, '_>, entry: fn(Pieces<'_, '_>) -> Outcome<T>) -> Outcome<Vec<T>> {
    let mut all = Vec::new();
    loop {
        all.push(entry(words)?);
        match words.peek() {
            None => return Ok(all),
            Some(piece) if piece.kind == PieceKind::Comma => words.next(),
            Some(piece) => {
                let help = match piece.word() {
                    Some("=>" | "=<" | "==" | "!=" | "~>") => {
                        "compare with `=`, `<`, `<=`, `>` or `>=`"
                    }
                    _ => "separate entries with `, `",
                };
                return Err(bad(
                    piece.span,
                    format!("{} behind an entry", words.found()),
                    "expected `,`",
                    help,
                ));
            }
        };
    }
}

fn ids(words: Pieces<'_, '_>) -> Outcome<Vec<RowId>> {
    let mut all: Vec<RowId> = Vec::new();
    let help =
        "write the rows of the catalogue with blanks between them: `id SCN-APR-11 SCN-APR-14`";
    loop {
        let (text, span) = entry(words, "a row of the catalogue", help)?;
        if !is_row(text) {
            let allowed = "expected ids such as `SCN-APR-11`";
            return Err(bad(span, format!("`{text}` is not the id of a row"), allowed, help));
        }
        if let Some(first) = all.iter().find(|row| row.text == text) {
            let problem =
                bad(span, format!("`{text}` twice"), "expected each id once", "remove one of them");
            return Err(problem.related(first.at.span, "first here"));
        }
        all.push(RowId { text: text.to_owned(), at: words.source.at(span) });
        match words.peek() {
            None => return Ok(all),
            Some(piece) if piece.kind == PieceKind::Comma => {
                return Err(bad(piece.span, "a comma between ids", "expected a blank", help));
            }
            Some(_) => {}
        }
    }
}

/// Capital words joined by `-`, the last a number: `SCN-APR-11`.
fn is_row(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let upper = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_uppercase());
    match parts.as_slice() {
        [words @ .., number] if !words.is_empty() => {
            words.iter().all(upper)
                && !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    }
}

fn host_rule(words: Pieces<'_, '_>) -> Outcome<HostRule> {
    let help = "for example `hosts fake, proxy >= 1.2.1`";
    let (text, span) = entry(words, "a kind of host", help)?;
    let kind = known(HOST_KINDS, text, span, "kind of host", help)?;
    let at = words.source.at(span);
    let comparison = match words.peek().and_then(|piece| piece.word()) {
        Some("=") => Comparison::Same,
        Some("<") => Comparison::Before,
        Some("<=") => Comparison::UpTo,
        Some(">") => Comparison::Behind,
        Some(">=") => Comparison::From,
        _ => return Ok(HostRule { kind, bound: None, at }),
    };
    words.next();
    let (text, span) = entry(words, "a version", help)?;
    let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    match numbers.as_deref() {
        Some([major, minor, patch]) => {
            let bound = Some((comparison, Version(*major, *minor, *patch)));
            Ok(HostRule { kind, bound, at })
        }
        _ => {
            let found = format!("`{text}` is not a version");
            Err(bad(span, found, "expected three numbers such as `1.2.1`", help))
        }
    }
}

fn dialect_rule(words: Pieces<'_, '_>) -> Outcome<DialectRule> {
    let help = "for example `dialect approvals = refreshed`";
    let (text, span) = entry(words, "a part of the dialect", help)?;
    known(&[("approvals", ())], text, span, "part of the dialect", help)?;
    equals(words, help)?;
    let (text, span) = entry(words, "a style", help)?;
    Ok(DialectRule::Approvals(known(APPROVAL_STYLES, text, span, "style of approvals", help)?))
}

fn budget(words: Pieces<'_, '_>) -> Outcome<Budget> {
    let help = "for example `budget submit = 30000ms`";
    let (text, span) = entry(words, "a deadline", help)?;
    let key = known(BUDGETS, text, span, "deadline", help)?;
    let at = words.source.at(span);
    equals(words, help)?;
    let (text, span) = entry(words, "a duration", help)?;
    let value = duration(text, span)?;
    if value.is_zero() {
        return Err(bad(span, "a budget of nothing", "expected at least `1ms`", help));
    }
    Ok(Budget { key, value, at })
}

fn watch(words: Pieces<'_, '_>) -> Outcome<Vec<WatchKind>> {
    let span = words.here();
    let all = list(words, |words| {
        let help =
            "write `text`, `thought` or a kind as the wire has it: `watch text, plan, tool_call`";
        let (text, span) = entry(words, "a kind of notification", help)?;
        known(WATCHES, text, span, "kind of notification", help)
    })?;
    if all.len() > 1 && all.contains(&WatchKind::None) {
        let help = "write `watch none` alone, or the kinds without it";
        return Err(bad(span, "`none` together with other kinds", "expected `none` alone", help));
    }
    Ok(all)
}

/// Free text of one line: the words with single blanks.
fn note(words: Pieces<'_, '_>) -> Outcome<String> {
    let mut text = String::new();
    let start = words.here();
    while let Some(piece) = words.next() {
        let part = match &piece.kind {
            PieceKind::Word(word) => word.clone(),
            PieceKind::Comma => ",".to_owned(),
            PieceKind::Value(_) | PieceKind::Bytes(_) => {
                words.source.text()[piece.span.start..piece.span.end].to_owned()
            }
        };
        if !text.is_empty() && part != "," {
            text.push(' ');
        }
        text.push_str(&part);
    }
    if text.is_empty() {
        let help = "write a few words behind the key, or remove the line";
        return Err(bad(start, "a key without a value", "expected text", help));
    }
    Ok(text)
}

fn format(words: Pieces<'_, '_>) -> Outcome<u32> {
    let help = "leave the line out: 1 is the default";
    let (text, span) = entry(words, "a version of the language", help)?;
    if text != FORMAT.to_string() {
        let found = format!("version `{text}` of the language");
        return Err(bad(span, found, "expected `1`, the only version this tool knows", help));
    }
    words.end(help)?;
    Ok(FORMAT)
}

fn equals(words: Pieces<'_, '_>, help: &str) -> Outcome<()> {
    if words.eat("=") {
        return Ok(());
    }
    Err(bad(words.here(), format!("{} where `=` should be", words.found()), "expected ` = `", help))
}

/// The next word of a header value.
fn entry<'l>(words: Pieces<'_, 'l>, what: &str, help: &str) -> Outcome<(&'l str, Span)> {
    match words.peek().and_then(|piece| piece.word()) {
        Some(_) => words.word(what, help),
        None => {
            let found = format!("{} where {what} should be", words.found());
            Err(bad(words.here(), found, format!("expected {what}"), help))
        }
    }
}

fn known<T: Copy>(
    table: &[(&'static str, T)],
    text: &str,
    span: Span,
    what: &str,
    help: &str,
) -> Outcome<T> {
    meaning(table, text).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        let help = match nearest(text, names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => help.to_owned(),
        };
        let allowed = format!("expected {}", tables::list(&names));
        bad(span, format!("unknown {what} `{text}`"), allowed, help)
    })
}

fn bad(
    span: Span,
    found: impl Into<String>,
    allowed: impl Into<String>,
    help: impl Into<String>,
) -> Problem {
    Problem::new(codes::BAD_HEADER_VALUE, span, found, allowed, help)
}

fn unknown_key(key: &str, span: Span) -> Problem {
    let help = match nearest(key, HEADER_KEYS.iter().copied()) {
        Some(known) => format!("did you mean `{known}`?"),
        None => {
            "lines below `scenario` are its header; other statements begin in column one".to_owned()
        }
    };
    let allowed = format!("expected {}", tables::list(HEADER_KEYS));
    Problem::new(
        codes::UNKNOWN_HEADER_KEY,
        span,
        format!("unknown header key `{key}`"),
        allowed,
        help,
    )
}

fn twice(span: Span, first: Span) -> Problem {
    let found = "a header key for the second time";
    let help = "put both values into one line";
    Problem::new(codes::HEADER_KEY_TWICE, span, found, "expected each key once", help)
        .related(first, "first here")
}

/// `id` is the one key that may not be missing.
pub(super) fn no_id(span: Span) -> Problem {
    Problem::new(
        codes::NO_ID,
        span,
        "a scenario without `id`",
        "expected an indented line `id SCN-ABC-01` below this one",
        "name the rows of the catalogue that the story proves: `  id SCN-APR-11`",
    )
}
