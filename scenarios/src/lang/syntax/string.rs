//! Strings: JSON, and `bytes` strings that can hold any byte.
//!
//! Inputs: the text behind an opening quote. Outputs: what it stands for, or the problem.
//! Invariant: a string ends on its line. Rules: DSL-4, DSL-5.

use super::lex::Cursor;
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::source::Span;

/// Reads a string; the cursor stands on its quote.
pub(super) fn text(cursor: &mut Cursor<'_>) -> Result<String, Problem> {
    let start = cursor.pos();
    let bytes = read(cursor, false)?;
    String::from_utf8(bytes)
        .map_err(|_| bad(Span::new(start, cursor.pos()), "text that is not UTF-8"))
}

/// Reads a string in which `\xHH` is one byte.
pub(super) fn bytes(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Problem> {
    read(cursor, true)
}

fn read(cursor: &mut Cursor<'_>, any_byte: bool) -> Result<Vec<u8>, Problem> {
    let open = cursor.pos();
    cursor.bump();
    let mut out = Vec::new();
    loop {
        let at = cursor.pos();
        match cursor.bump_in_line() {
            None => return Err(unclosed(Span::new(open, cursor.pos()))),
            Some('"') => return Ok(out),
            Some('\\') => escape(cursor, at, any_byte, &mut out)?,
            Some(c) if c.is_control() => {
                let found = format!("a control character (U+{:04X}) in a string", u32::from(c));
                return Err(bad(Span::new(at, cursor.pos()), &found));
            }
            Some(c) => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

fn escape(
    cursor: &mut Cursor<'_>,
    start: usize,
    any_byte: bool,
    out: &mut Vec<u8>,
) -> Result<(), Problem> {
    let letter = cursor.bump_in_line();
    let plain = match letter {
        Some(c @ ('"' | '\\' | '/')) => c,
        Some('n') => '\n',
        Some('t') => '\t',
        Some('r') => '\r',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('u') => unicode(cursor, start)?,
        Some('x') if any_byte => {
            let byte = hex(cursor, 2).and_then(|code| u8::try_from(code).ok());
            let span = Span::new(start, cursor.pos());
            out.push(byte.ok_or_else(|| bad(span, "`\\x` without two hexadecimal digits"))?);
            return Ok(());
        }
        Some(c) => {
            let span = Span::new(start, cursor.pos());
            return Err(bad(span, &format!("unknown escape `\\{c}`")));
        }
        None => return Err(unclosed(Span::new(start, cursor.pos()))),
    };
    out.extend(plain.encode_utf8(&mut [0; 4]).bytes());
    Ok(())
}

/// Behind `\u`: four digits, and a second escape if they are the first half of a pair.
fn unicode(cursor: &mut Cursor<'_>, start: usize) -> Result<char, Problem> {
    let first = hex(cursor, 4);
    let code = match first {
        Some(high @ 0xD800..=0xDBFF) if cursor.eat("\\u") => {
            let low = hex(cursor, 4).filter(|low| (0xDC00..=0xDFFF).contains(low));
            low.map(|low| 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        }
        other => other,
    };
    let span = Span::new(start, cursor.pos());
    code.and_then(char::from_u32).ok_or_else(|| match first {
        None => bad(span, "`\\u` without four hexadecimal digits"),
        Some(_) => bad(span, "half of a surrogate pair, which is no character"),
    })
}

fn hex(cursor: &mut Cursor<'_>, digits: usize) -> Option<u32> {
    let text = cursor.rest_of_line().get(..digits)?;
    let code = text.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(text, 16));
    cursor.skip(digits);
    code?.ok()
}

fn bad(span: Span, found: &str) -> Problem {
    Problem::new(
        codes::BAD_STRING,
        span,
        found,
        r#"expected JSON text: \" \\ \/ \n \r \t \b \f \uXXXX"#,
        r#"write `\\` for a backslash; to send bytes that are no text, use `-> bytes "…"` with `\xHH`"#,
    )
}

fn unclosed(span: Span) -> Problem {
    Problem::new(
        codes::BAD_STRING,
        span,
        "a string without its closing quote",
        "expected `\"` before the end of the line",
        "close the string with `\"`; a line break inside it is written `\\n`",
    )
}
