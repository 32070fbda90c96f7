//! Strings, bytes and durations as they are written.
//!
//! Invariant: what is written reads back the same.

use std::fmt::Write as _;
use std::time::Duration;

use crate::lang::tables::UNITS;

/// A JSON string. Control characters and characters that cannot be seen are escaped, so that a review
/// shows them.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    escape(&mut out, text);
    out.push('"');
    out
}

/// The string behind `bytes`: text where it is text, `\xHH` where it is not.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        escape(&mut out, chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if is_invisible(c) => {
                // Writing to a string cannot fail. None of these is outside the basic plane.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
}

/// Controls, zero-width and direction marks, line and paragraph separators, the byte order mark.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A duration in the largest unit that divides it: `2min`, `30s`, `1ms`, `0ms`.
#[must_use]
pub fn duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    let fits = |(_, unit): &&(&str, u64)| millis > 0 && millis.is_multiple_of(u128::from(*unit));
    let (unit, size) = UNITS.iter().rev().find(fits).copied().unwrap_or(("ms", 1));
    format!("{}{unit}", millis / u128::from(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        assert_eq!(quoted("a\"b\\\n\u{1}\u{202e}ä"), r#""a\"b\\\n\u0001\u202eä""#);
        assert_eq!(bytes(b"{\xc3\n\xc3\xa4"), "\"{\\xc3\\nä\"");
    }

    #[test]
    fn durations_take_the_largest_unit_that_divides_them() {
        let shown = |ms| duration(Duration::from_millis(ms));
        assert_eq!(
            [shown(0), shown(1), shown(1500), shown(30_000)],
            ["0ms", "1ms", "1500ms", "30s"]
        );
        assert_eq!([shown(60_000), shown(90_000)], ["1min", "90s"]);
    }
}
