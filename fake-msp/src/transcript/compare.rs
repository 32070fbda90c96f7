//! Structural comparison of frames.
//!
//! Purpose: the paths at which two JSON values differ. Member order does not count, and a number is
//! equal to itself however it is written. Invariant: a [`Difference`] quotes the recording, which is
//! the author's own file, and never what the client sent, which may be a prompt or a credential.

use std::fmt;

use serde_json::Value;

/// A member of recorded client frames that probes whether hosts ignore what they do not know; it is
/// no member to send, so its absence is none.
const PROBE: &str = "futureOptionalField";
/// What a frame log has in the place of a secret; as a recording it stands for any text.
pub const MASK: &str = "[redacted]";
/// Most differences of one frame that are listed.
const LISTED_MAX: usize = 20;
/// Longest quotation of the recording, in characters.
const QUOTE_CHARS_MAX: usize = 80;

/// One path at which the client's frame is not the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// For example `params.input[0].text`; empty for the frame itself.
    pub path: String,
    /// What the recording has and what was sent instead.
    pub text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the frame" } else { &self.path };
        write!(f, "{path}: {}", self.text)
    }
}

/// Adds the differences between `recorded` and `sent` below `path`.
pub(super) fn compare(recorded: &Value, sent: &Value, path: &str, out: &mut Vec<Difference>) {
    if out.len() >= LISTED_MAX {
        return;
    }
    match (recorded, sent) {
        (Value::Object(recorded), Value::Object(sent)) => {
            for (name, value) in recorded {
                let path = member(path, name);
                match sent.get(name) {
                    Some(found) => compare(value, found, &path, out),
                    None if name == PROBE => {}
                    None => push(out, path, format!("recorded {}, missing", quote(value))),
                }
            }
            for (name, value) in sent.iter().filter(|(name, _)| !recorded.contains_key(*name)) {
                // A member's name is the client's, and may be anything.
                let name: String = name.chars().take(QUOTE_CHARS_MAX).collect();
                push(out, member(path, &name), format!("not recorded, sent {}", kind(value)));
            }
        }
        (Value::Array(recorded), Value::Array(sent)) => {
            for (index, (value, found)) in recorded.iter().zip(sent).enumerate() {
                compare(value, found, &format!("{path}[{index}]"), out);
            }
            if recorded.len() != sent.len() {
                let text = format!("recorded {} elements, sent {}", recorded.len(), sent.len());
                push(out, path.to_owned(), text);
            }
        }
        (Value::Number(one), Value::Number(two)) if one.as_f64() == two.as_f64() => {
            // Large integers are compared as such: their nearest floats can be equal.
            let (one, two) = (one.as_i128(), two.as_i128());
            if let (Some(one), Some(two)) = (one, two)
                && one != two
            {
                push(out, path.to_owned(), format!("recorded {one}, sent another number"));
            }
        }
        (Value::String(text), Value::String(_)) if text.contains(MASK) => {}
        (one, two) if one == two => {}
        (one, two) => {
            let text = format!("recorded {}, sent {}", quote(one), other_kind(one, two));
            push(out, path.to_owned(), text);
        }
    }
}

pub(super) fn push(out: &mut Vec<Difference>, path: String, text: String) {
    if out.len() < LISTED_MAX {
        out.push(Difference { path, text });
    }
}

fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A value of the recording, shortened.
pub(super) fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// What a value of the client is, without saying what it is.
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(_) => "a number".into(),
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        Value::Array(list) => format!("an array of {}", list.len()),
        Value::Object(_) => "an object".into(),
    }
}

fn other_kind(recorded: &Value, sent: &Value) -> String {
    match (recorded, sent) {
        (Value::String(_), Value::String(text)) => {
            format!("another string, of {} characters", text.chars().count())
        }
        (Value::Number(_), Value::Number(_)) => "another number".into(),
        (_, sent) => kind(sent),
    }
}
