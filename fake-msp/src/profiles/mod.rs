//! Host generations as data.
//!
//! Purpose: one row per emulated host: what it calls itself, which methods and notifications it
//! has, which optional members it writes, how it presents staged approvals.
//! Inputs: none, everything is `const`. Outputs: lookups for the engine, the oracle and the CLI.
//! Invariants: the engine asks these tables and never compares version strings (DEC-9, VER-2).
//! It does not know any behaviour. Rules: HOST-18, HSK-5, section 17, appendices A and B.

mod kinds;
mod members;
mod methods;
mod notices;
mod print;

pub use kinds::{ITEM_KINDS, ItemKind};
pub(crate) use members::trim;
pub use methods::{Class, METHODS, Method};
pub use notices::{NOTIFICATIONS, Notification, NotificationKind, PROTECTED};
pub(crate) use print::describe;

/// Schema generations, oldest first. A tag of the wire reference maps to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Era {
    /// The oldest complete published schema (hosts 1.1.x and 1.2.x).
    First,
    /// Host 1.3.
    V1_3,
    /// Host 1.4.2 to 1.4.13.
    V1_4,
    /// Host 1.4.14.
    V1_4_14,
}

/// How a host tells its client that the next stage of an approval is current (APR-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Staged {
    /// `approval/updated` only, no second request.
    Refreshed,
    /// A second `approval/request` with the same approval id and opening cursor, no update.
    Reissued,
    /// Both, update first.
    Both,
}

/// What a host does with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Runs it without asking.
    Run,
    /// Asks.
    Ask,
    /// Opens an approval and denies it by itself.
    Deny,
}

/// Effect of one approval mode (APR-19).
#[derive(Debug)]
pub struct ModeRow {
    /// Wire word.
    pub mode: &'static str,
    /// For commands that the host's parser knows to be harmless.
    pub known_safe: Policy,
    /// For all others.
    pub unknown: Policy,
}

const fn mode(mode: &'static str, known_safe: Policy, unknown: Policy) -> ModeRow {
    ModeRow { mode, known_safe, unknown }
}

/// Measured on 1.1.1-R2514.1: no mode but `onRequest` makes a difference.
const MODES_1_1: &[ModeRow] = &[
    mode("onRequest", Policy::Run, Policy::Ask),
    mode("promptUnmatched", Policy::Run, Policy::Ask),
    mode("denyUnmatched", Policy::Run, Policy::Ask),
    mode("allowAll", Policy::Run, Policy::Ask),
];

/// Measured on 1.2.1-R2847.1.
const MODES_1_2: &[ModeRow] = &[
    mode("onRequest", Policy::Run, Policy::Ask),
    mode("promptUnmatched", Policy::Ask, Policy::Ask),
    mode("denyUnmatched", Policy::Deny, Policy::Deny),
    mode("allowAll", Policy::Run, Policy::Run),
];

/// One emulated host generation.
#[derive(Debug)]
pub struct Profile {
    /// `serverInfo.version`.
    pub version: &'static str,
    /// What `--version` prints.
    pub version_line: &'static str,
    /// `schema.fingerprint`; advisory on the wire (HSK-4).
    pub fingerprint: &'static str,
    /// Which tags of the reference are present.
    pub era: Era,
    /// Capabilities that are granted when asked for (HSK-5).
    pub grantable: &'static [&'static str],
    /// Methods served although the schema of the era lacks them.
    pub extra_methods: &'static [&'static str],
    /// Notifications sent although the schema of the era lacks them.
    pub extra_notifications: &'static [&'static str],
    /// Presentation of later approval stages.
    pub staged: Staged,
    /// Approval mode of a session that was started without one.
    pub default_mode: &'static str,
    /// What each approval mode does (APR-19).
    pub modes: &'static [ModeRow],
    /// Whether `session/compact` is offered.
    pub compacts: bool,
    /// Whether `goal/clear` is told by an event with an explicit null.
    pub goal_clear_event: bool,
    /// Whether a session with the saved profile `:auto-review` can be loaded (SES-13).
    pub resumes_auto_review: bool,
    /// Whether unreadable lines of a session's log are shown as an item; else the session is refused.
    pub shows_damage: bool,
    /// `model/list.source`.
    pub model_source: &'static str,
    /// Flags of `serve`, with their help lines (PRC-10).
    pub serve_flags: &'static [(&'static str, &'static str)],
    /// What each row is known from: (row, source).
    pub evidence: &'static [(&'static str, &'static str)],
}

impl Profile {
    /// Looks a profile up by its version; a leading `v` and a build suffix are ignored.
    #[must_use]
    pub fn find(version: &str) -> Option<&'static Self> {
        let wanted = version.strip_prefix('v').unwrap_or(version);
        let wanted = wanted.split_once('-').map_or(wanted, |(head, _)| head);
        PROFILES.iter().find(|profile| profile.version == wanted)
    }

    /// The newest generation, used when nothing was chosen.
    #[must_use]
    pub fn newest() -> &'static Self {
        &PROFILES[PROFILES.len() - 1]
    }

    /// The method's row if this generation serves it, experimental tier included.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&'static Method> {
        let row = METHODS.iter().find(|method| method.name == name)?;
        (row.since <= self.era || self.extra_methods.contains(&row.name)).then_some(row)
    }

    /// What a mode does with a command; an unknown word asks.
    #[must_use]
    pub fn policy(&self, mode: &str, known_safe: bool) -> Policy {
        let row = self.modes.iter().find(|row| row.mode == mode);
        row.map_or(Policy::Ask, |row| if known_safe { row.known_safe } else { row.unknown })
    }

    /// The notification's row if this generation sends (or, for client ones, accepts) it.
    #[must_use]
    pub fn notification(&self, name: &str) -> Option<&'static Notification> {
        let row = NOTIFICATIONS.iter().find(|notice| notice.name == name)?;
        (row.since <= self.era || self.extra_notifications.contains(&row.name)).then_some(row)
    }
}

const FLAGS_1_1: &[(&str, &str)] = &[
    ("--disable-write", "do not let tools write files"),
    ("--disable-shell", "do not let tools run commands"),
    ("--disable-sandbox", "run tools without the sandbox"),
    ("--sandbox-network <MODE>", "restricted, enabled or proxy-only (default)"),
];

const FLAGS_1_4: &[(&str, &str)] = &[
    ("--disable-write", "do not let tools write files"),
    ("--disable-shell", "do not let tools run commands"),
    ("--disable-sandbox", "run tools without the sandbox"),
    ("--sandbox-network <MODE>", "restricted, enabled or proxy-only (default)"),
    ("--trust-workspace", "trust the workspace without asking"),
];

const GRANTS_1_4: &[&str] =
    &["userShell", "sessionMcp", "sessionListStream", "feedback", "sessionRename"];

/// Every emulated generation, oldest first.
pub const PROFILES: &[Profile] = &[
    Profile {
        version: "1.1.1",
        version_line: "Muse Code 1.1.1 (1.1.1-R2514.1)",
        fingerprint: "sha256:cfd31ee77d78fdada9febc4edccd29b0434ff8f6bf157c7c03fd0ecfcbc29f5a",
        era: Era::First,
        grantable: &["userShell"],
        extra_methods: &[],
        extra_notifications: &["session/started"],
        staged: Staged::Reissued,
        default_mode: "promptUnmatched",
        modes: MODES_1_1,
        compacts: false,
        goal_clear_event: true,
        resumes_auto_review: true,
        shows_damage: false,
        model_source: "bundledCatalog",
        serve_flags: FLAGS_1_1,
        evidence: &[
            ("version line", "a build that was measured"),
            ("fingerprint", "pin of SDK 0.1.1; what the host serves is not published"),
            ("methods", "schema of the 0.1.1 SDK era"),
            ("notifications", "schema of the 0.1.1 SDK era"),
            ("item kinds", "schema of the 0.1.1 SDK era"),
            ("extra methods", "no other is known"),
            ("extra notifications", "recorded sessions of that age"),
            ("grants", "schema of that era; none without request was measured"),
            ("staged approvals", "seen by authors of another adapter; not measured here"),
            ("default mode", "measured on 1.1.1-R2514.1"),
            ("approval modes", "measured on 1.1.1-R2514.1"),
            ("compaction", "refused by hosts of that age, reason word from later ones"),
            ("goal/clear", "no goals in this era: without effect"),
            (":auto-review", "measured on 1.1.1-R2514.1"),
            ("damaged logs", "unmeasured: the item kind that shows them came with 1.4"),
            ("model source", "measured on 1.1.1-R2514.1"),
            ("serve flags", "documentation of 1.4; which of them are older is a guess"),
        ],
    },
    Profile {
        version: "1.2.1",
        version_line: "Muse Code 1.2.1 (1.2.1-R2847.1)",
        fingerprint: "sha256:c7ff6c5d1e89cd42f803aea1f05b8e72082f2099685802473eb726903484713b",
        era: Era::First,
        grantable: &["userShell"],
        extra_methods: &["item/readOutput", "workflow/cancel"],
        extra_notifications: &["session/started"],
        staged: Staged::Refreshed,
        default_mode: "promptUnmatched",
        modes: MODES_1_2,
        compacts: false,
        goal_clear_event: true,
        resumes_auto_review: false,
        shows_damage: false,
        model_source: "bundledCatalog",
        serve_flags: FLAGS_1_1,
        evidence: &[
            ("version line", "a build that was measured"),
            ("fingerprint", "served by a real 1.2.1 host"),
            ("methods", "no schema published: oldest era assumed"),
            ("notifications", "no schema published: oldest era assumed"),
            ("item kinds", "no schema published: oldest era assumed"),
            ("extra methods", "measured on 1.2.1-R2847.1"),
            ("extra notifications", "as 1.1.1"),
            ("grants", "as 1.1.1"),
            ("staged approvals", "measured on 1.2.1-R2847.1"),
            ("default mode", "as 1.1.1"),
            ("approval modes", "measured on 1.2.1-R2847.1"),
            ("compaction", "refused by hosts of that age, reason word from later ones"),
            ("goal/clear", "no goals in this era: without effect"),
            (":auto-review", "measured on 1.2.1-R2847.1"),
            ("damaged logs", "as 1.1.1"),
            ("model source", "as 1.1.1"),
            ("serve flags", "as 1.1.1"),
        ],
    },
    Profile {
        version: "1.3.0",
        version_line: "Muse Code 1.3.0 (1.3.0-R3401.1)",
        fingerprint: "sha256:b1e6676d624e116e2c1b150fec3192200d2cbca8ed79898e44f8921759c7872f",
        era: Era::V1_3,
        grantable: &["userShell", "sessionMcp", "sessionListStream"],
        extra_methods: &[],
        extra_notifications: &["session/started"],
        staged: Staged::Both,
        default_mode: "promptUnmatched",
        modes: MODES_1_2,
        compacts: true,
        goal_clear_event: false,
        resumes_auto_review: false,
        shows_damage: false,
        model_source: "providerCatalog",
        serve_flags: FLAGS_1_1,
        evidence: &[
            ("version line", "a build that was measured"),
            ("fingerprint", "types 1.3.1 for host 1.3.0; another pin exists for 1.3.0"),
            ("methods", "published types 1.3.1"),
            ("notifications", "published types 1.3.1"),
            ("item kinds", "published types 1.3.1"),
            ("extra methods", "no other is known"),
            ("extra notifications", "recorded sessions; in the schema since 1.4"),
            ("grants", "published types 1.3.1"),
            ("staged approvals", "unmeasured: both styles at once"),
            ("default mode", "as 1.1.1"),
            ("approval modes", "unmeasured: as 1.2.1"),
            ("compaction", "recorded sessions"),
            ("goal/clear", "recorded goal sessions; the schema has no null yet"),
            (":auto-review", "measured on 1.3.0-R3057.1 and R3401.1"),
            ("damaged logs", "as 1.1.1"),
            ("model source", "unmeasured"),
            ("serve flags", "as 1.1.1"),
        ],
    },
    Profile {
        version: "1.4.13",
        version_line: "Muse Code 1.4.13 (1.4.13-fake)",
        fingerprint: "sha256:7fddaf646dbc317e5fcac0785e135eb04df14fbb0db1863089dfd6da21730e5b",
        era: Era::V1_4,
        grantable: GRANTS_1_4,
        extra_methods: &[],
        extra_notifications: &[],
        staged: Staged::Refreshed,
        default_mode: "promptUnmatched",
        modes: MODES_1_2,
        compacts: true,
        goal_clear_event: true,
        resumes_auto_review: true,
        shows_damage: true,
        model_source: "providerCatalog",
        serve_flags: FLAGS_1_4,
        evidence: &[
            ("version line", "the build suffix is not published"),
            ("fingerprint", "published types 1.4.13; the pin of both SDKs"),
            ("methods", "published types 1.4.13"),
            ("notifications", "published types 1.4.13"),
            ("item kinds", "published types 1.4.13"),
            ("extra methods", "no other is known"),
            ("extra notifications", "no other is known"),
            ("grants", "published types 1.4.13; computer use is not offered by the fake"),
            ("staged approvals", "unmeasured: as 1.2.1"),
            ("default mode", "as 1.1.1"),
            ("approval modes", "unmeasured: as 1.2.1"),
            ("compaction", "recorded sessions"),
            ("goal/clear", "the schema made the null required"),
            (":auto-review", "unverified"),
            ("damaged logs", "item kind damagedRange of the published types"),
            ("model source", "unmeasured"),
            ("serve flags", "documentation of 1.4"),
        ],
    },
    Profile {
        version: "1.4.14",
        version_line: "Muse Code 1.4.14 (1.4.14-fake)",
        fingerprint: "sha256:c94c3d1f2f51e6424074b9ec43eac3eedcf532d3dcd77351ec1383a87d3049c6",
        era: Era::V1_4_14,
        grantable: GRANTS_1_4,
        extra_methods: &[],
        extra_notifications: &[],
        staged: Staged::Refreshed,
        default_mode: "promptUnmatched",
        modes: MODES_1_2,
        compacts: true,
        goal_clear_event: true,
        resumes_auto_review: true,
        shows_damage: true,
        model_source: "providerCatalog",
        serve_flags: FLAGS_1_4,
        evidence: &[
            ("version line", "the build suffix is not published"),
            ("fingerprint", "types of the 1.4.14 crate"),
            ("methods", "types of the 1.4.14 crate"),
            ("notifications", "types of the 1.4.14 crate"),
            ("item kinds", "types of the 1.4.14 crate"),
            ("extra methods", "no other is known"),
            ("extra notifications", "no other is known"),
            ("grants", "types of the 1.4.14 crate; computer use is not offered by the fake"),
            ("staged approvals", "unmeasured: as 1.2.1"),
            ("default mode", "as 1.1.1"),
            ("approval modes", "unmeasured: as 1.2.1"),
            ("compaction", "recorded sessions"),
            ("goal/clear", "the schema made the null required"),
            (":auto-review", "unverified"),
            ("damaged logs", "as 1.4.13"),
            ("model source", "unmeasured"),
            ("serve flags", "documentation of 1.4"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_by_version_with_or_without_build_suffix() {
        assert_eq!(Profile::find("1.2.1-R2847.1").unwrap().version, "1.2.1");
        assert_eq!(Profile::find("v1.4.14").unwrap().version, "1.4.14");
        assert!(Profile::find("9.9.9").is_none());
    }

    #[test]
    fn methods_follow_their_era_and_the_measured_extras() {
        let old = Profile::find("1.1.1").unwrap();
        let mid = Profile::find("1.2.1").unwrap();
        let new = Profile::newest();
        assert!(old.method("item/readOutput").is_none());
        assert!(mid.method("item/readOutput").is_some());
        assert!(old.method("session/rename").is_none());
        assert!(new.method("session/rename").is_some());
    }

    #[test]
    fn names_in_the_tables_are_unique() {
        for (index, row) in METHODS.iter().enumerate() {
            assert!(METHODS[index + 1..].iter().all(|other| other.name != row.name));
        }
        for (index, row) in NOTIFICATIONS.iter().enumerate() {
            assert!(NOTIFICATIONS[index + 1..].iter().all(|other| other.name != row.name));
        }
    }
}
