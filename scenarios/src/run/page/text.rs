//! Text on its way into a page.
//!
//! Invariant: what comes out holds no markup, no control character but the line end and the tab, and
//! nothing that turns the direction of the text around.

use std::fmt::{self, Write as _};

use serde_json::Value;

/// Longest JSON of one frame that is shown, in characters: a page is read by people.
const JSON_MAX: usize = 20_000;

/// Shows a text in HTML, between tags or within a quoted attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(character)?,
                // Marks that let text look like other text than it is.
                '\u{61c}'
                | '\u{200e}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}' => write!(f, "{}", character.escape_unicode())?,
                character if character.is_control() => write!(f, "{}", character.escape_unicode())?,
                character => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

/// A frame as people read it.
pub(super) fn pretty(value: &Value) -> String {
    let text = match value {
        Value::String(line) => line.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    muse_code_acp::core::redact::cut(&text, JSON_MAX)
}

/// Text that may be JSON, so that it can be spread over lines.
pub(super) fn pretty_text(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => pretty(&value),
        _ => muse_code_acp::core::redact::cut(text, JSON_MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_said_becomes_markup_or_turns_the_text_around() {
        let nasty = "<script>alert('x')</script>&\"\u{202e}\u{1b}[31m\u{0}\n\ttab";
        assert_eq!(
            Escaped(nasty).to_string(),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\\u{202e}\\u{1b}[31m\\u{0}\n\ttab"
        );
    }

    #[test]
    fn a_long_frame_is_cut() {
        let long = Value::from("x".repeat(JSON_MAX * 2));
        assert!(pretty(&long).chars().count() < JSON_MAX + 100);
        assert_eq!(pretty_text("{\"a\":1}"), "{\n  \"a\": 1\n}");
        assert_eq!(pretty_text("nothing"), "nothing");
    }
}
