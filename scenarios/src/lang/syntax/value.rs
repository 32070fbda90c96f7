//! The reader of values: JSON with `$names`, `_`, comments and line breaks.
//!
//! Inputs: a cursor on the first character. Outputs: a value with spans and the comments inside it, or
//! the first problem. Invariants: strict JSON otherwise; numbers are kept as written; nesting is bounded
//! by [`DEPTH_MAX`]; every line but the first is indented, empty, a
//! comment or begins with a closing bracket (the cursor's end).
//! Rule: DSL-4.

use super::lex::Cursor;
use super::string;
use super::tree::Comment;
use crate::lang::ast::Path;
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::limits::DEPTH_MAX;
use crate::lang::source::Span;

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Where it is.
    pub span: Span,
}

/// Kinds of value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// As written.
    Number(String),
    /// Decoded.
    Text(String),
    /// `$name.path`, without the `$`.
    Name(String),
    /// `_`.
    Any,
    /// `[…]`.
    Array(List<Value>),
    /// `{…}`.
    Object(List<(Key, Value)>),
}

/// A key of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Decoded.
    pub text: String,
    /// Place, quotes included.
    pub span: Span,
}

/// The inside of brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T> {
    /// In order.
    pub elements: Vec<Element<T>>,
    /// Comments and blank lines before the closing bracket.
    pub tail: Vec<Trivia>,
    /// It was written over several lines.
    pub broken: bool,
}

/// An element with the comments around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element<T> {
    /// Lines above it.
    pub lead: Vec<Trivia>,
    /// The element.
    pub value: T,
    /// A comment behind it on its line.
    pub trail: Option<Comment>,
}

/// What stands between elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trivia {
    /// One or more blank lines.
    Blank,
    /// A comment line.
    Comment(Comment),
}

/// Reads one value.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Value, Problem> {
    value(cursor, 0)
}

fn value(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Problem> {
    let start = cursor.pos();
    let kind = match cursor.peek() {
        Some('"') => ValueKind::Text(string::text(cursor)?),
        Some('[') => {
            ValueKind::Array(list(cursor, depth, ']', &mut |cursor| value(cursor, depth + 1))?)
        }
        Some('{') => {
            let object = list(cursor, depth, '}', &mut |cursor| member(cursor, depth + 1))?;
            unique(&object)?;
            ValueKind::Object(object)
        }
        _ => atom(cursor)?,
    };
    Ok(Value { kind, span: Span::new(start, cursor.pos()) })
}

fn member(cursor: &mut Cursor<'_>, depth: usize) -> Result<(Key, Value), Problem> {
    let start = cursor.pos();
    if cursor.peek() != Some('"') {
        let word = bare(cursor);
        let help = if is_key(word.0) {
            format!("write `\"{}\"` in double quotes", word.0)
        } else {
            "write a key in double quotes, then `:` and its value".to_owned()
        };
        let found = format!("`{}` where a key should be", word.0);
        return Err(bad(word.1, found, "expected `\"key\"`", help));
    }
    let key = Key { text: string::text(cursor)?, span: Span::new(start, cursor.pos()) };
    cursor.blanks();
    if !cursor.eat(":") {
        let span = here(cursor);
        let help = format!("write `\"{}\": VALUE`", key.text);
        return Err(bad(span, "a key without `:`", "expected `:`", help));
    }
    gap(cursor);
    Ok((key, value(cursor, depth)?))
}

/// Elements between brackets; the cursor stands on the opening one.
fn list<'s, T>(
    cursor: &mut Cursor<'s>,
    depth: usize,
    close: char,
    element: &mut dyn FnMut(&mut Cursor<'s>) -> Result<T, Problem>,
) -> Result<List<T>, Problem> {
    let open = Span::new(cursor.pos(), cursor.pos() + 1);
    if depth >= DEPTH_MAX {
        return Err(Problem::new(
            codes::TOO_DEEP,
            open,
            format!("brackets nested deeper than {DEPTH_MAX}"),
            "expected a flatter value",
            "use `-> raw` or `-> bytes` only for small lies; deep nesting belongs in a Rust test",
        ));
    }
    cursor.bump();
    let mut list = List { elements: Vec::new(), tail: Vec::new(), broken: false };
    // A comment behind the opening bracket is the first line inside it.
    let mut lead = trivia(cursor, &mut list.broken);
    loop {
        match cursor.peek() {
            None => return Err(unclosed(cursor, open)),
            Some(c) if c == close => break,
            Some(_) => {}
        }
        let value = element(cursor)?;
        let mut trail = trailing(cursor);
        let behind = trivia(cursor, &mut list.broken);
        let comma = Span::new(cursor.pos(), cursor.pos() + 1);
        let more = cursor.eat(",");
        if more && trail.is_none() && behind.is_empty() {
            trail = trailing(cursor);
        }
        list.elements.push(Element { lead: std::mem::take(&mut lead), value, trail });
        lead = behind;
        lead.extend(trivia(cursor, &mut list.broken));
        match cursor.peek() {
            Some(c) if c == close && more => {
                let help = "JSON has no comma behind the last element: remove it";
                return Err(bad(
                    comma,
                    "a comma before the closing bracket",
                    "expected no `,`",
                    help,
                ));
            }
            Some(c) if !more && c != close => {
                let (found, _) = bare(&mut cursor.clone());
                let found = format!("`{found}` behind a value");
                let allowed = format!("expected `,` or `{close}`");
                let help = format!("separate elements with `,` and close with `{close}`");
                let problem = bad(here(cursor), found, allowed, help);
                let line = |at| cursor.source().line_of(at);
                return Err(if line(open.start) == line(cursor.pos()) {
                    problem
                } else {
                    problem.related(open, "this bracket is still open")
                });
            }
            _ => {}
        }
    }
    cursor.bump();
    list.tail = lead;
    Ok(list)
}

/// A comment on the rest of this line.
fn trailing(cursor: &mut Cursor<'_>) -> Option<Comment> {
    cursor.blanks();
    cursor.comment()
}

/// Blanks, line ends, comments and blank lines. Sets `broken` when a line ends.
fn trivia(cursor: &mut Cursor<'_>, broken: &mut bool) -> Vec<Trivia> {
    let mut found = Vec::new();
    // The line where this begins holds an element or a bracket, so its end is no blank line.
    let mut blank_line = false;
    loop {
        cursor.blanks();
        if let Some(comment) = cursor.comment() {
            found.push(Trivia::Comment(comment));
            blank_line = false;
        }
        if !cursor.rest_of_line().is_empty() || cursor.rest().is_empty() {
            return found;
        }
        if blank_line && !matches!(found.last(), Some(Trivia::Blank)) {
            found.push(Trivia::Blank);
        }
        *broken = true;
        blank_line = true;
        cursor.next_line();
    }
}

/// Blanks and line ends between a key and its value; a comment there has no place.
fn gap(cursor: &mut Cursor<'_>) {
    cursor.blanks();
    while cursor.rest_of_line().is_empty() && !cursor.rest().is_empty() {
        cursor.next_line();
        cursor.blanks();
    }
}

fn atom(cursor: &mut Cursor<'_>) -> Result<ValueKind, Problem> {
    let (word, span) = bare(cursor);
    match word {
        "null" => return Ok(ValueKind::Null),
        "true" => return Ok(ValueKind::Bool(true)),
        "false" => return Ok(ValueKind::Bool(false)),
        "_" => return Ok(ValueKind::Any),
        _ => {}
    }
    if let Some(name) = word.strip_prefix('$') {
        return Ok(ValueKind::Name(name.to_owned()));
    }
    if is_number(word) {
        return Ok(ValueKind::Number(word.to_owned()));
    }
    let help = match word.to_ascii_lowercase().as_str() {
        "" | "]" | "}" | "," | ":" => {
            "write a value here, for example `\"text\"`, `1`, `true`, `[…]` or `{…}`".into()
        }
        "none" | "nil" | "undefined" => "write `null`, or leave the member out".into(),
        lower @ ("null" | "true" | "false") => format!("write `{lower}`"),
        _ if word.starts_with('\'') => "write text in double quotes: `\"…\"`".into(),
        _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+' || c == '.') => {
            "write a number as JSON does: `-1`, `0.5`, `1e3`; a duration stands only behind `after`"
                .into()
        }
        _ if is_key(word) => format!("write text in double quotes: `\"{word}\"`"),
        _ => "write text in double quotes".into(),
    };
    let found = match word {
        "" | "]" | "}" | "," | ":" => "a value is missing".to_owned(),
        word => format!("`{word}` is not a value"),
    };
    let allowed =
        "expected a string, number, `true`, `false`, `null`, `[…]`, `{…}`, `$name` or `_`";
    Err(bad(span, found, allowed, help))
}

/// A run of characters up to a blank, a separator or a bracket; `$name[0].x` keeps its brackets.
fn bare<'s>(cursor: &mut Cursor<'s>) -> (&'s str, Span) {
    let rest = cursor.rest_of_line();
    let is_name = rest.starts_with('$');
    let mut length = rest.len();
    let mut open = false;
    for (at, c) in rest.char_indices() {
        let ends = match c {
            '[' if is_name => {
                open = true;
                false
            }
            ']' if open => {
                open = false;
                false
            }
            ' ' | '\t' | ',' | ':' | '[' | ']' | '{' | '}' | '"' | '#' => !(open && c == '"'),
            _ => false,
        };
        if ends {
            length = at;
            break;
        }
    }
    // A lone bracket is what was found.
    if length == 0 {
        length = rest.chars().next().filter(|c| *c != '#').map_or(0, char::len_utf8);
    }
    let span = Span::new(cursor.pos(), cursor.pos() + length);
    cursor.skip(length);
    (&rest[..length], span)
}

fn is_key(word: &str) -> bool {
    !word.is_empty() && word.chars().all(Path::is_plain)
}

/// The grammar of numbers in RFC 8259.
pub(crate) fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let body = word.strip_prefix('-').unwrap_or(word);
    let (body, exponent) = body.split_once(['e', 'E']).map_or((body, None), |(b, e)| (b, Some(e)));
    let (whole, fraction) = body.split_once('.').map_or((body, None), |(w, f)| (w, Some(f)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

fn unique(object: &List<(Key, Value)>) -> Result<(), Problem> {
    let mut seen: std::collections::BTreeMap<&str, Span> = std::collections::BTreeMap::new();
    for element in &object.elements {
        let key = &element.value.0;
        if let Some(first) = seen.insert(&key.text, key.span) {
            let help = "remove one of them; a frame with a key twice can be sent with `-> bytes`";
            let found = format!("the key `{}` twice in one object", key.text);
            let problem =
                Problem::new(codes::KEY_TWICE, key.span, found, "expected each key once", help);
            return Err(problem.related(first, "first here"));
        }
    }
    Ok(())
}

fn here(cursor: &Cursor<'_>) -> Span {
    let length = cursor.rest_of_line().chars().next().map_or(0, char::len_utf8);
    Span::new(cursor.pos(), cursor.pos() + length)
}

fn bad(
    span: Span,
    found: impl Into<String>,
    allowed: impl Into<String>,
    help: impl Into<String>,
) -> Problem {
    Problem::new(codes::BAD_VALUE, span, found, allowed, help)
}

fn unclosed(cursor: &Cursor<'_>, open: Span) -> Problem {
    let bracket = &cursor.source().text()[open.start..open.end];
    let close = if bracket == "[" { "]" } else { "}" };
    let end = Span::new(cursor.pos(), cursor.pos());
    Problem::new(
        codes::UNCLOSED,
        open,
        format!("`{bracket}` is never closed"),
        format!("expected `{close}` before the statement ends"),
        format!("write the missing `{close}`; a line in column one ends a value unless it begins with its bracket"),
    )
    .related(end, "the statement ends here")
}
