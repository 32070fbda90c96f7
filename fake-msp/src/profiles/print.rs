//! The profiles as text: every row with what it is known from.
//!
//! Invariant: a row that is printed has its evidence and the other way round (tested), so that nobody
//! reads a guess as a measurement. Rules: section 17, VER-0..4.

use std::fmt::Write;

use super::{ITEM_KINDS, METHODS, NOTIFICATIONS, PROFILES, Profile};

/// Width of the row names and of the values.
const NAME: usize = 20;
const VALUE: usize = 52;

impl Profile {
    /// The rows that are printed: name and value.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let methods = METHODS.iter().filter(|row| self.method(row.name).is_some()).count();
        let notices =
            NOTIFICATIONS.iter().filter(|row| self.notification(row.name).is_some()).count();
        let kinds = ITEM_KINDS.iter().filter(|row| row.since <= self.era).count();
        let modes = self.modes.iter().map(|row| {
            let (safe, other) = (row.known_safe, row.unknown);
            format!("{}: {safe:?}/{other:?}", row.mode)
        });
        vec![
            ("version line", self.version_line.to_owned()),
            ("fingerprint", self.fingerprint.to_owned()),
            ("methods", methods.to_string()),
            ("notifications", notices.to_string()),
            ("item kinds", kinds.to_string()),
            ("extra methods", list(self.extra_methods)),
            ("extra notifications", list(self.extra_notifications)),
            ("grants", list(self.grantable)),
            ("staged approvals", format!("{:?}", self.staged)),
            ("default mode", self.default_mode.to_owned()),
            ("approval modes", modes.collect::<Vec<_>>().join(", ")),
            ("compaction", if self.compacts { "offered" } else { "refused" }.to_owned()),
            (
                "goal/clear",
                if self.goal_clear_event { "null event" } else { "no event" }.to_owned(),
            ),
            (
                ":auto-review",
                if self.resumes_auto_review { "resumes" } else { "refused" }.to_owned(),
            ),
            ("damaged logs", if self.shows_damage { "shown" } else { "refused" }.to_owned()),
            ("model source", self.model_source.to_owned()),
            ("serve flags", self.serve_flags.len().to_string()),
        ]
    }

    /// What a row is known from.
    pub(crate) fn source(&self, row: &str) -> Option<&'static str> {
        self.evidence.iter().find(|(name, _)| *name == row).map(|(_, source)| *source)
    }
}

/// All profiles, for people.
pub(crate) fn describe() -> String {
    let mut text = String::from(
        "Approval modes are read as MODE: what happens to a known safe command/to any other.\n\n",
    );
    for profile in PROFILES {
        let _ = writeln!(text, "{}", profile.version);
        for (name, value) in profile.rows() {
            let source = profile.source(name).unwrap_or("?");
            if value.len() > VALUE {
                let _ = writeln!(text, "  {name:<NAME$} {value}");
                let _ = writeln!(text, "  {:<NAME$} {:<VALUE$} {source}", "", "");
            } else {
                let _ = writeln!(text, "  {name:<NAME$} {value:<VALUE$} {source}");
            }
        }
        text.push('\n');
    }
    text
}

fn list(words: &[&str]) -> String {
    if words.is_empty() { "none".into() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_what_it_is_known_from() {
        for profile in PROFILES {
            let rows: Vec<&str> = profile.rows().iter().map(|(name, _)| *name).collect();
            for name in &rows {
                assert!(profile.source(name).is_some(), "{}: {name}", profile.version);
            }
            for (name, _) in profile.evidence {
                assert!(rows.contains(name), "{}: no row {name}", profile.version);
            }
            assert_eq!(rows.len(), profile.evidence.len(), "{}", profile.version);
        }
        assert!(!describe().contains(" ?\n"));
    }
}
