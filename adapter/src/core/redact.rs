//! Removes secrets from texts that came from a host (FAIL-20, FAIL-23) and bounds them (FAIL-19).
//!
//! In: any text. Out: at most 4096 characters without known secret values, bearer tokens, URL user
//! information and secret URL parameters. It never fails, and it does not know where secrets come
//! from: the shell hands it the values.

use std::borrow::Cow;

/// Longest text in an error, in Unicode scalar values (FAIL-19, PO-24).
pub const TEXT_MAX: usize = 4096;
/// Shorter values are not treated as secrets: they would destroy every message (FAIL-23).
const SECRET_MIN: usize = 4;
const MARK: &str = "[redacted]";

/// Endings of environment names whose values are secret, compared without case (FAIL-20).
pub const SECRET_SUFFIXES: [&str; 6] =
    ["key", "token", "secret", "password", "credential", "credentials"];
const SECRET_PARAMETERS: [&str; 4] = ["api_key", "key", "token", "access_token"];

/// See the module.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret that contains another is removed whole.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// A redactor for the secret values among these environment variables.
    pub fn from_environment(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let is_secret = |name: &str| {
            let name = name.to_ascii_lowercase();
            SECRET_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
        };
        let mut secrets: Vec<String> = variables
            .into_iter()
            .filter(|(name, value)| is_secret(name) && value.chars().count() >= SECRET_MIN)
            .map(|(_, value)| value)
            .collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.dedup();
        Self { secrets }
    }

    /// The text without secrets, cut to [`TEXT_MAX`] characters.
    #[must_use]
    pub fn clean(&self, text: &str) -> String {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), MARK));
            }
        }
        cut(&parameters(&user_information(&bearer(&text))), TEXT_MAX)
    }
}

/// At most `max` characters, an ellipsis included when something was cut.
#[must_use]
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(max.saturating_sub(1)).map_or(0, |(at, _)| at);
            format!("{}…", &text[..end])
        }
    }
}

/// `Bearer x` in any case. ASCII lower-casing keeps byte offsets.
fn bearer(text: &str) -> String {
    replace_after(text, "bearer ", |byte| byte.is_ascii_whitespace() || b"\"',;".contains(&byte))
}

fn replace_after(text: &str, needle: &str, ends: impl Fn(u8) -> bool) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(found) = lower[from..].find(needle) {
        let value = from + found + needle.len();
        let length = text[value..].bytes().position(&ends).unwrap_or(text.len() - value);
        out.push_str(&text[from..value]);
        if length > 0 {
            out.push_str(MARK);
        }
        from = value + length;
    }
    out.push_str(&text[from..]);
    out
}

/// `user:password@` of http and https URLs.
fn user_information(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(found) = lower[from..].find("://") {
        let authority = from + found + 3;
        let scheme = &lower[..from + found];
        let end = text[authority..]
            .bytes()
            .position(|byte| byte.is_ascii_whitespace() || b"/?#\"'<>".contains(&byte))
            .map_or(text.len(), |length| authority + length);
        out.push_str(&text[from..authority]);
        from = authority;
        if (scheme.ends_with("http") || scheme.ends_with("https"))
            && let Some(at) = text[authority..end].rfind('@')
        {
            out.push_str(MARK);
            from = authority + at;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// Values of secret URL parameters.
fn parameters(text: &str) -> String {
    let mut text = text.to_owned();
    for name in SECRET_PARAMETERS {
        for separator in ['?', '&'] {
            let needle = format!("{separator}{name}=");
            if text.to_ascii_lowercase().contains(&needle) {
                text = replace_after(&text, &needle, |byte| {
                    byte.is_ascii_whitespace() || b"&#\"'<>".contains(&byte)
                });
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let variables = [
            ("META_API_KEY", "sk-abc"),
            ("other_token", "sk-abcdef"),
            ("MY_PASSWORD", "x"),
            ("EDITOR", "vim-editor"),
        ];
        Redactor::from_environment(variables.map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn secrets_of_every_kind_are_removed() {
        for (text, expected) in [
            ("key sk-abc and sk-abcdef", "key [redacted] and [redacted]"),
            ("x marks vim-editor", "x marks vim-editor"),
            ("Authorization: BEARER abc.def, next", "Authorization: BEARER [redacted], next"),
            ("see https://u:p@h/x and ftp://u:p@h", "see https://[redacted]@h/x and ftp://u:p@h"),
            ("HTTP://a@b@c/", "HTTP://[redacted]@c/"),
            (
                "http://h/?API_KEY=1&b=2&token=3#f",
                "http://h/?API_KEY=[redacted]&b=2&token=[redacted]#f",
            ),
            ("monkey=1 ?turkey=2", "monkey=1 ?turkey=2"),
            ("", ""),
        ] {
            assert_eq!(redactor().clean(text), expected);
        }
    }

    #[test]
    fn every_name_of_a_secret_is_known_in_any_case() {
        for name in ["A_KEY", "aToken", "client_secret", "PASSWORD", "Db_Credential", "CREDENTIALS"]
        {
            let redactor = Redactor::from_environment([(name.to_owned(), "hush".to_owned())]);
            assert_eq!(redactor.clean("hush, hush"), "[redacted], [redacted]", "{name}");
        }
        for name in ["KEYBOARD", "SECRETARY", "TOKENS", "PATH"] {
            let redactor = Redactor::from_environment([(name.to_owned(), "hush".to_owned())]);
            assert_eq!(redactor.clean("hush"), "hush", "{name}");
        }
    }

    #[test]
    fn a_text_is_cut_at_a_character_boundary_after_redaction() {
        let long = "ä".repeat(TEXT_MAX + 1);
        let cut = redactor().clean(&long);
        assert_eq!(cut.chars().count(), TEXT_MAX);
        assert!(cut.ends_with('…'));
        assert_eq!(redactor().clean(&"ä".repeat(TEXT_MAX)), "ä".repeat(TEXT_MAX));
    }
}
