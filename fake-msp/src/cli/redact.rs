//! Secrets out of logged frames.
//!
//! Purpose: a log that may be attached to a report. What is replaced: the values of members whose name
//! ends in `key`, `token`, `secret`, `password`, `credential(s)` or `authorization`; every value below
//! `env` and `headers`; the word after `Bearer `; `user:password@` of a URL; the values of URL
//! parameters that carry keys. A frame without any of these is returned as it is, byte for byte.

use std::borrow::Cow;

use serde_json::Value;

use crate::transcript::MASK;

/// Ends of member names, in lower case.
const SECRET_ENDS: [&str; 7] =
    ["key", "token", "secret", "password", "credential", "credentials", "authorization"];
/// Maps whose values are other people's secrets more often than not.
const SECRET_MAPS: [&str; 2] = ["env", "headers"];
/// URL parameters.
const PARAMETERS: [&str; 4] = ["api_key=", "access_token=", "token=", "key="];

/// A frame as it may be kept.
pub(super) fn redact(line: &str) -> Cow<'_, str> {
    // Most frames hold nothing of the kind, and a burst of them is logged without being parsed.
    if !may_hold_a_secret(line) {
        return Cow::Borrowed(line);
    }
    let Ok(mut frame) = serde_json::from_str::<Value>(line) else {
        return Cow::Owned(mask_text(line));
    };
    if mask(&mut frame) { Cow::Owned(frame.to_string()) } else { Cow::Borrowed(line) }
}

fn may_hold_a_secret(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    SECRET_MAPS.iter().chain(&SECRET_ENDS).chain(&["bearer ", "://"]).any(|w| lower.contains(w))
}

/// Masks what is below; true if anything changed.
fn mask(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let masked = mask_text(text);
            let changed = masked != *text;
            *text = masked;
            changed
        }
        Value::Array(list) => list.iter_mut().fold(false, |changed, value| mask(value) | changed),
        Value::Object(map) => map.iter_mut().fold(false, |changed, (name, value)| {
            let name = name.to_ascii_lowercase();
            let masked = if SECRET_ENDS.iter().any(|end| name.ends_with(end)) {
                hide(value)
            } else if SECRET_MAPS.contains(&name.as_str()) {
                hide_values(value)
            } else {
                mask(value)
            };
            masked | changed
        }),
        _ => false,
    }
}

/// Replaces a text; numbers, flags and nulls are no secrets (a `maxTokens` count is none either).
fn hide(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            MASK.clone_into(text);
            true
        }
        value => mask(value),
    }
}

fn hide_values(value: &mut Value) -> bool {
    match value {
        Value::Object(map) => map.values_mut().fold(false, |changed, value| hide(value) | changed),
        Value::Array(list) => list.iter_mut().fold(false, |done, value| hide_values(value) | done),
        value => mask(value),
    }
}

/// Masks credentials inside a text.
fn mask_text(text: &str) -> String {
    let text = mask_after(text, "bearer ", |c| c.is_whitespace() || c == '"');
    let text = PARAMETERS.iter().fold(text, |text, name| {
        ["?", "&"].iter().fold(text, |text, mark| {
            mask_after(&text, &format!("{mark}{name}"), |c| {
                c.is_whitespace() || matches!(c, '"' | '&' | '#')
            })
        })
    });
    mask_user_info(&text)
}

/// Replaces what follows each `mark` up to an `end`. The mark is found in any case.
fn mask_after(text: &str, mark: &str, end: impl Fn(char) -> bool) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    while let Some(found) = lower[from..].find(mark) {
        let start = from + found + mark.len();
        let stop = text[start..].find(&end).map_or(text.len(), |length| start + length);
        out.push_str(&text[from..start]);
        if stop > start {
            out.push_str(MASK);
        }
        from = stop;
    }
    out.push_str(&text[from..]);
    out
}

/// `scheme://user:password@host` without the middle.
fn mask_user_info(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(found) = rest.find("://") {
        let (head, tail) = rest.split_at(found + 3);
        out.push_str(head);
        let authority = tail.find(|c: char| c.is_whitespace() || "/\"?#".contains(c));
        let authority = &tail[..authority.unwrap_or(tail.len())];
        rest = match authority.rfind('@') {
            Some(at) if authority[..at].contains(':') => {
                out.push_str(MASK);
                &tail[at..]
            }
            _ => tail,
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        for (line, secret) in [
            (r#"{"params":{"config":{"mcpServers":{"a":{"env":{"X":"s3"}}}}}}"#, "s3"),
            (r#"{"params":{"headers":[{"X-A":"s3"}]}}"#, "s3"),
            (r#"{"params":{"apiKey":"s3"}}"#, "s3"),
            (r#"{"a":["Authorization: Bearer s3 and more"]}"#, "s3"),
            (r#"{"url":"https://me:s3@host/x"}"#, "s3"),
            (r#"{"url":"http://host/x?a=1&Token=s3#y"}"#, "s3"),
            (r#"no json, bearer s3"#, "s3"),
        ] {
            let kept = redact(line);
            assert!(!kept.contains(secret) && kept.contains(MASK), "{kept}");
        }
    }

    #[test]
    fn anything_else_is_kept_byte_for_byte() {
        for line in [
            r#"{"b":1,"a":{"usage":{"maxTokens":5,"tokens":[1]}}}"#,
            r#"{"url":"https://host/a@b?x=1"}"#,
            r#"{"text":"the bearer"}"#,
            "İ://bearer",
        ] {
            assert_eq!(redact(line), line);
        }
    }

    #[test]
    fn what_stands_around_a_secret_is_kept() {
        assert_eq!(
            mask_text("x https://u:p@h/?key=1&b=2 Bearer abc, y"),
            format!("x https://{MASK}@h/?key={MASK}&b=2 Bearer {MASK} y")
        );
    }
}
