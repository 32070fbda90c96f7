//! Whether a rule that the person chose was written (OBS-6..8, APR-35).
//!
//! In: lasting choices that were sent, events of the view, pages, time. Out: reports, and when to read
//! which page. Invariants: nothing is inferred from an acceptance or from the success of a tool; at most
//! one page a second and one at a time; after the first read that fails nothing is read again from this
//! host. It sends nothing itself and keeps no text of a rule.

use std::time::Duration;

use indexmap::IndexSet;

use super::io::Tick;
use crate::msp::{ApprovalId, ViewCursor};

/// Events of one page (OBS-7).
pub const PAGE_LIMIT: u32 = 100;
/// From one page to the next (OBS-7).
pub const PAGE_EVERY: Duration = Duration::from_secs(1);
/// How long a page may take (OBS-7).
pub const PAGE_BUDGET: Duration = Duration::from_secs(1);
/// Rules that are watched at a time. What is above it stays unverified.
pub const WATCHED_MAX: usize = 256;

/// What is known of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was chosen.
    Unverified,
    /// The host wrote it.
    Succeeded,
    /// The host could not write it.
    Failed,
}

impl Status {
    /// The wire's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// A word of the host. An unknown one leaves the rule unverified (OBS-8).
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        match word {
            "succeeded" => Some(Self::Succeeded),
            "failed" => Some(Self::Failed),
            _ => None,
        }
    }
}

/// The rules of one host that are not verified yet.
#[derive(Clone, Debug, Default)]
pub struct Persistence {
    watched: IndexSet<ApprovalId>,
    cursor: Option<ViewCursor>,
    /// When the next page is due, or when the one that was asked for is too late.
    at: Option<Tick>,
    asked: bool,
    disabled: bool,
}

/// What a passed deadline means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// Read a page behind this cursor.
    Read(ViewCursor),
    /// The page did not come; nothing is read any more.
    GivenUp,
}

impl Persistence {
    /// A lasting choice was sent (OBS-6). True: report it as unverified.
    pub fn chosen(&mut self, approval: &ApprovalId, at: Option<ViewCursor>, now: Tick) -> bool {
        if self.watched.len() >= WATCHED_MAX || !self.watched.insert(approval.clone()) {
            return false;
        }
        self.cursor = self.cursor.take().or(at);
        if !self.disabled && !self.asked && self.at.is_none() && self.cursor.is_some() {
            self.at = Some(now.after(PAGE_EVERY));
        }
        true
    }

    /// The host told how writing a rule went, live or in a page. True: report it, once.
    pub fn told(&mut self, approval: &ApprovalId) -> bool {
        let ours = self.watched.shift_remove(approval);
        if self.watched.is_empty() {
            self.cursor = None;
            if !self.asked {
                self.at = None;
            }
        }
        ours
    }

    /// When [`Persistence::due`] has something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Tick> {
        self.at
    }

    /// The deadline may have passed.
    pub fn due(&mut self, now: Tick) -> Option<Due> {
        if self.at.is_none_or(|at| at > now) {
            return None;
        }
        self.at = None;
        if self.asked {
            self.give_up();
            return Some(Due::GivenUp);
        }
        let cursor = self.cursor.clone()?;
        self.asked = true;
        self.at = Some(now.after(PAGE_BUDGET));
        Some(Due::Read(cursor))
    }

    /// Whether a page was asked for and is not too late.
    #[must_use]
    pub fn awaits_page(&self) -> bool {
        self.asked
    }

    /// A page was read; its events have been told. `next` is where the next one begins; at the end of
    /// the view (`None`) it begins where this one did.
    pub fn page(&mut self, next: Option<ViewCursor>, now: Tick) {
        if !std::mem::replace(&mut self.asked, false) {
            return;
        }
        self.at = None;
        if next.is_some() && self.cursor.is_some() {
            self.cursor = next;
        }
        if self.cursor.is_some() {
            self.at = Some(now.after(PAGE_EVERY));
        }
    }

    /// A page could not be read (OBS-8).
    pub fn give_up(&mut self) {
        self.disabled = true;
        self.asked = false;
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Tick {
        Tick(Duration::from_millis(milliseconds))
    }

    fn watching() -> (Persistence, ApprovalId) {
        let (mut rules, approval) = (Persistence::default(), ApprovalId::from("a"));
        assert!(rules.chosen(&approval, Some(ViewCursor::from("v1")), at(0)));
        assert!(!rules.chosen(&approval, Some(ViewCursor::from("v2")), at(0)), "told once");
        (rules, approval)
    }

    #[test]
    fn one_page_a_second_until_the_host_has_told() {
        let (mut rules, approval) = watching();
        assert_eq!(rules.due(at(999)), None);
        assert_eq!(rules.due(at(1000)), Some(Due::Read(ViewCursor::from("v1"))));
        assert_eq!(rules.due(at(1000)), None, "one at a time");
        rules.page(Some(ViewCursor::from("v9")), at(1100));
        assert_eq!(rules.due(at(2099)), None);
        assert_eq!(rules.due(at(2100)), Some(Due::Read(ViewCursor::from("v9"))));
        assert!(rules.told(&approval));
        assert!(!rules.told(&approval), "reported once");
        rules.page(None, at(2200));
        assert_eq!(rules.deadline(), None, "nothing is watched any more");
    }

    #[test]
    fn a_page_that_fails_is_the_last_one() {
        let (mut rules, approval) = watching();
        assert!(matches!(rules.due(at(1000)), Some(Due::Read(_))));
        assert_eq!(rules.due(at(1999)), None);
        assert_eq!(rules.due(at(2000)), Some(Due::GivenUp));
        rules.page(Some(ViewCursor::from("v9")), at(2500));
        assert_eq!(rules.deadline(), None, "a late page changes nothing");
        assert!(rules.chosen(&ApprovalId::from("b"), Some(ViewCursor::from("v3")), at(3000)));
        assert_eq!(rules.deadline(), None);
        assert!(rules.told(&approval), "a live event still counts");
    }

    #[test]
    fn a_rule_that_is_told_meanwhile_needs_no_page() {
        let (mut rules, approval) = watching();
        assert!(rules.told(&approval));
        assert_eq!(rules.deadline(), None);
        assert!(!rules.told(&ApprovalId::from("other")));
    }

    #[test]
    fn only_two_words_of_the_host_mean_something() {
        assert_eq!(Status::read("succeeded"), Some(Status::Succeeded));
        assert_eq!(Status::read("failed"), Some(Status::Failed));
        assert_eq!(Status::read("soon"), None);
    }
}
