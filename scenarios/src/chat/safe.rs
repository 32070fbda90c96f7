//! Text from elsewhere, made harmless for a terminal.
//!
//! Invariants: the result holds no control character but newline and tab, and nothing that
//! reorders what stands beside it; nothing is dropped silently except the `\r` of a line end, so a
//! command cannot look like another one. Works character by character: a sequence that was split
//! over two chunks stays harmless. It does not know what the text means.

use std::borrow::Cow;

/// Text of any number of lines.
#[must_use]
pub fn text(raw: &str) -> Cow<'_, str> {
    if !raw.chars().any(|c| replacement(c).is_some()) {
        return Cow::Borrowed(raw);
    }
    let raw = raw.replace("\r\n", "\n");
    Cow::Owned(raw.chars().map(|c| replacement(c).unwrap_or(c)).collect())
}

/// Text of one line, at most `max` characters; a cut is marked with `…`.
#[must_use]
pub fn line(raw: &str, max: usize) -> String {
    let mut chars = raw.chars().map(|c| match c {
        '\n' => '⏎',
        '\t' => ' ',
        _ => replacement(c).unwrap_or(c),
    });
    let mut line: String = chars.by_ref().take(max).collect();
    if chars.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

/// What stands for `c`, if it must not reach a terminal.
fn replacement(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => None,
        // The pictures of U+2400 are in the order of the control characters.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('␡'),
        // C1: some terminals take U+009B for ESC [.
        '\u{80}'..='\u{9f}' => Some(char::REPLACEMENT_CHARACTER),
        // Marks, embeddings, overrides and isolates of writing direction; line and paragraph
        // separators; the byte order mark; tag characters, which are invisible.
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_text_is_passed_on_as_it_is() {
        let plain = "a\n\tä 漢字 👍🏽\n";
        assert!(matches!(text(plain), Cow::Borrowed(same) if same == plain));
    }

    #[test]
    fn escape_sequences_become_visible() {
        assert_eq!(text("\x1b[31mred\x07\x1b]0;title\x1b\\"), "␛[31mred␇␛]0;title␛\\");
        assert_eq!(text("\u{9b}2J\x7f\0"), "\u{fffd}2J␡␀");
    }

    #[test]
    fn a_carriage_return_cannot_hide_what_came_before_it() {
        assert_eq!(text("rm -rf /\rls"), "rm -rf /␍ls");
        assert_eq!(text("a\r\nb\r\n"), "a\nb\n");
    }

    #[test]
    fn direction_overrides_are_taken_out() {
        assert_eq!(text("a\u{202e}b\u{2066}c"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn no_character_gets_through_that_a_terminal_obeys() {
        let all: String = ('\0'..=char::MAX).collect();
        for c in text(&all).chars().chain(line(&all, usize::MAX).chars()) {
            assert!(c == '\n' || c == '\t' || !c.is_control(), "{c:?}");
        }
    }

    #[test]
    fn a_line_stays_one_line_and_within_its_bound() {
        assert_eq!(line("a\nb\tc", 9), "a⏎b c");
        assert_eq!(line("äöüß", 4), "äöüß");
        assert_eq!(line("äöüß!", 4), "äöü…");
        assert_eq!(line("", 4), "");
    }
}
