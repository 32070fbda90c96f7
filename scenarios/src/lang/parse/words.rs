//! Takes the pieces of a line one by one and says what is missing, wrong or left over.
//!
//! Inputs: a line. Outputs: words, names, numbers, values with their places. Invariant: every refusal
//! names what was found, what is allowed and what to type. It does not know statements.

use std::time::Duration;

use crate::lang::ast::{Name, Number, Path, Segment};
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::fmt::quoted;
use crate::lang::limits::{DURATION_MAX, INDEX_MAX};
use crate::lang::source::{Source, Span};
use crate::lang::syntax::{Line, Piece, PieceKind, Value, ValueKind};
use crate::lang::tables::UNITS;

/// Most characters of what was found that a message repeats.
const SHOWN_MAX: usize = 40;

/// What a step of the parser gives.
pub(super) type Outcome<T> = Result<T, Problem>;

/// The pieces of a line that are not taken yet.
#[derive(Clone, Debug)]
pub(super) struct Words<'l> {
    pub(super) source: &'l Source,
    pieces: &'l [Piece],
    line: Span,
}

impl<'l> Words<'l> {
    pub(super) fn new(source: &'l Source, line: &'l Line) -> Self {
        Self { source, pieces: &line.pieces, line: line.span }
    }

    pub(super) fn peek(&self) -> Option<&'l Piece> {
        self.pieces.first()
    }

    /// The next piece, if there is one.
    pub(super) fn next(&mut self) -> Option<&'l Piece> {
        let (first, rest) = self.pieces.split_first()?;
        self.pieces = rest;
        Some(first)
    }

    /// Takes the next piece if it is this word.
    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|piece| piece.is_word(word));
        if found {
            self.next();
        }
        found
    }

    /// Where the next piece stands, or the end of the line.
    pub(super) fn here(&self) -> Span {
        self.peek().map_or(Span::new(self.line.end, self.line.end), |piece| piece.span)
    }

    /// The place of the whole line.
    pub(super) fn line(&self) -> Span {
        self.line
    }

    /// The next piece as it is written, for messages.
    pub(super) fn found(&self) -> String {
        match self.peek() {
            None => "the end of the line".to_owned(),
            Some(piece) => {
                let text = &self.source.text()[piece.span.start..piece.span.end];
                let line = text.lines().next().unwrap_or_default().trim();
                match line.char_indices().nth(SHOWN_MAX) {
                    Some((cut, _)) => format!("`{}…`", &line[..cut]),
                    None => format!("`{line}`"),
                }
            }
        }
    }

    /// "Something is missing here."
    pub(super) fn missing(&self, allowed: impl Into<String>, help: impl Into<String>) -> Problem {
        let found = match self.peek() {
            None => "the line ends too early".to_owned(),
            Some(_) => format!("{} in the wrong place", self.found()),
        };
        Problem::new(codes::INCOMPLETE, self.here(), found, allowed, help)
    }

    /// A word; `allowed` and `help` say what is missing otherwise.
    pub(super) fn word(&mut self, allowed: &str, help: &str) -> Outcome<(&'l str, Span)> {
        match self.peek() {
            Some(Piece { kind: PieceKind::Word(text), span }) => {
                self.next();
                Ok((text, *span))
            }
            _ => Err(self.missing(allowed, help)),
        }
    }

    /// This word and no other.
    pub(super) fn exactly(&mut self, word: &str, help: &str) -> Outcome<()> {
        if self.eat(word) { Ok(()) } else { Err(self.missing(format!("expected `{word}`"), help)) }
    }

    /// A string.
    pub(super) fn text(&mut self, help: &str) -> Outcome<String> {
        let allowed = "expected text in double quotes";
        match self.peek() {
            Some(Piece { kind: PieceKind::Value(value), .. }) => match &value.kind {
                ValueKind::Text(text) => {
                    self.next();
                    Ok(text.clone())
                }
                _ => Err(self.missing(allowed, help)),
            },
            Some(Piece { kind: PieceKind::Word(_), span }) => {
                let found = format!("{} is not in double quotes", self.found());
                let rest = &self.source.text()[span.start..self.line.end.max(span.end)];
                let help = format!("write {}", quoted(rest.trim_matches(['\'', '"', ' '])));
                Err(Problem::new(codes::INCOMPLETE, *span, found, allowed, help))
            }
            _ => Err(self.missing(allowed, help)),
        }
    }

    /// A value.
    pub(super) fn value(&mut self, help: &str) -> Outcome<&'l Value> {
        match self.peek() {
            Some(Piece { kind: PieceKind::Value(value), .. }) => {
                self.next();
                Ok(value)
            }
            _ => Err(self.missing("expected a value", help)),
        }
    }

    /// A name as it is bound: without `$`.
    pub(super) fn bound_name(&mut self, help: &str) -> Outcome<Name> {
        let (text, span) = self.word("expected a name", help)?;
        self.name_of(text, span, false)
    }

    /// A name with `$` before it.
    pub(super) fn dollar_name(&mut self, help: &str) -> Outcome<Name> {
        let (text, span) = self.word("expected a name such as `$x`", help)?;
        self.name_of(text, span, true)
    }

    fn name_of(&self, text: &str, span: Span, dollar: bool) -> Outcome<Name> {
        let bare = text.strip_prefix('$');
        let (name, help) = match (dollar, bare) {
            (true, Some(name)) => {
                (name, "a name is a letter, then letters, digits and `_`".to_owned())
            }
            (false, None) => (text, "a name is a letter, then letters, digits and `_`".to_owned()),
            (true, None) => ("", format!("write `${text}`")),
            (false, Some(name)) => {
                ("", format!("write `{name}`: names have their `$` only in values"))
            }
        };
        if is_name(name) {
            return Ok(Name { text: name.to_owned(), at: self.source.at(span) });
        }
        let allowed =
            if dollar { "expected `$` and a name" } else { "expected a name without `$`" };
        Err(Problem::new(
            codes::BAD_NAME,
            span,
            format!("`{text}` is not a name here"),
            allowed,
            help,
        ))
    }

    /// A whole number in a range, or `$name`.
    pub(super) fn number(&mut self, what: &str, range: (i64, i64), help: &str) -> Outcome<Number> {
        let (text, span) = self.word(&format!("expected {what}"), help)?;
        if text.starts_with('$') {
            return Ok(Number::Name(self.name_of(text, span, true)?));
        }
        let value = text.parse::<i64>().ok().filter(|n| (range.0..=range.1).contains(n));
        let number = value.filter(|_| !text.starts_with('+')).ok_or_else(|| {
            let allowed = format!("expected {what}, {} to {}", range.0, range.1);
            Problem::new(codes::BAD_NUMBER, span, format!("`{text}` is not {what}"), allowed, help)
        })?;
        Ok(Number::Literal(number))
    }

    /// Nothing is left.
    pub(super) fn end(&self, help: &str) -> Outcome<()> {
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else {
            return Ok(());
        };
        let found = format!("{} is more than this line can hold", self.found());
        let span = first.span.to(last.span);
        Err(Problem::new(codes::EXTRA, span, found, "expected the end of the line", help))
    }
}

/// A letter, then letters, digits and `_`.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A duration such as `30000ms`.
pub(super) fn duration(text: &str, span: Span) -> Outcome<Duration> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = &text[digits.len()..];
    let millis = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, millis)| *millis);
    let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'));
    let product = number.zip(millis).and_then(|(number, millis)| number.checked_mul(millis));
    let value = product.map(Duration::from_millis);
    if let Some(value) = value.filter(|value| *value <= DURATION_MAX) {
        return Ok(value);
    }
    let help = match (number, millis, value) {
        (_, _, Some(_)) => "the longest wait is one day: `1440min`".to_owned(),
        (Some(number), None, _) if unit.is_empty() => {
            format!("write the unit directly behind it: `{number}ms`, `{number}s` or `{number}min`")
        }
        (None, Some(_), _) if digits.contains('.') => {
            "durations are whole numbers: write `1500ms` for one and a half seconds".to_owned()
        }
        _ => "write a whole number and a unit, for example `250ms`, `30s` or `2min`".to_owned(),
    };
    let found = format!("`{text}` is not a duration");
    let allowed = "expected a whole number with `ms`, `s` or `min`";
    Err(Problem::new(codes::BAD_DURATION, span, found, allowed, help))
}

/// A path such as `questions[0].header`.
pub(super) fn path(text: &str, span: Span) -> Outcome<Path> {
    read_path(text).map(Path).map_err(|(at, why)| {
        let start = span.start + at;
        let rest = &text[at..];
        let width = rest.chars().next().map_or(0, char::len_utf8);
        let found = format!("`{text}` is not a path: {why}");
        let allowed = "expected keys joined by `.`, with `[0]` for an element of a list";
        let help = "write for example `item.kind`, `questions[0].header` or `data[\"odd key\"].x`";
        Problem::new(codes::BAD_PATH, Span::new(start, start + width), found, allowed, help)
    })
}

type Broken = (usize, &'static str);

fn read_path(text: &str) -> Result<Vec<Segment>, Broken> {
    let mut segments = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(inner) = rest.strip_prefix('[') {
            let (segment, length) = bracket(inner).map_err(|(more, why)| (at + 1 + more, why))?;
            if segments.is_empty() && matches!(segment, Segment::Index(_)) {
                return Err((at, "it begins with an index"));
            }
            segments.push(segment);
            at += 1 + length;
            continue;
        }
        if !segments.is_empty() {
            if !rest.starts_with('.') {
                return Err((at, "a `.` is missing"));
            }
            at += 1;
        }
        let key = &text[at..];
        let length = key.find(|c| !Path::is_plain(c)).unwrap_or(key.len());
        if length == 0 {
            let why = if key.is_empty() || key.starts_with('.') {
                "a key is missing"
            } else {
                "this character needs quotes"
            };
            return Err((at, why));
        }
        segments.push(Segment::Key(key[..length].to_owned()));
        at += length;
    }
    if segments.is_empty() { Err((0, "it is empty")) } else { Ok(segments) }
}

/// Behind `[`: an index or a key in quotes, with the length up to and with `]`.
fn bracket(inner: &str) -> Result<(Segment, usize), Broken> {
    if inner.starts_with('"') {
        let mut stream = serde_json::Deserializer::from_str(inner).into_iter::<String>();
        let Some(Ok(key)) = stream.next() else { return Err((0, "the key in quotes is broken")) };
        let end = stream.byte_offset();
        let closed = inner[end..].starts_with(']');
        return if closed {
            Ok((Segment::Key(key), end + 1))
        } else {
            Err((end, "`]` is missing"))
        };
    }
    let end = inner.find(']').ok_or((0, "`]` is missing"))?;
    let index = inner[..end].parse::<u32>().ok().filter(|_| !inner.starts_with('+'));
    let index = index.ok_or((0, "an index is a whole number"))?;
    if index > INDEX_MAX {
        return Err((0, "the index is larger than 999"));
    }
    Ok((Segment::Index(index), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, String> {
        let span = Span::new(0, text.len());
        path(text, span).map(|path| path.to_string()).map_err(|problem| format!("{problem:?}"))
    }

    #[test]
    fn paths_are_shown_in_the_shortest_form() {
        for text in ["a", "a.b[0].c", "update._meta.muse/approval.x", "a[0][1]", r#"a["b c"].d"#] {
            assert_eq!(shown(text).as_deref(), Ok(text));
        }
        assert_eq!(shown(r#"["a"]["b"]"#).as_deref(), Ok("a.b"));
    }

    #[test]
    fn a_broken_path_says_why() {
        for (text, why) in [
            ("a..b", "a key is missing"),
            ("a.", "a key is missing"),
            ("[0]", "begins with an index"),
            ("a[x]", "whole number"),
            ("a[1000]", "larger than 999"),
            ("a[1", "`]` is missing"),
            ("a:b", "a `.` is missing"),
            ("é", "needs quotes"),
        ] {
            let message = shown(text).expect_err(text);
            assert!(message.contains(why), "{text}: {message}");
        }
    }

    #[test]
    fn durations_have_a_unit_and_a_bound() {
        let read = |text: &str| duration(text, Span::new(0, text.len()));
        assert_eq!(read("0ms").unwrap(), Duration::ZERO);
        assert_eq!(read("2min").unwrap(), Duration::from_secs(120));
        for text in
            ["5", "ms", "1.5s", "-1ms", "1h", "", "1441min", "99999999999999999999ms", "+1s"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
