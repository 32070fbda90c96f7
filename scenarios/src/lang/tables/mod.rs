//! The words of the language and of both protocols.
//!
//! Purpose: one place for every word that a message lists or a suggestion draws from. Outputs: lookups.
//! Invariants: a keyword of the parser is in [`KEYWORDS`] (the editor grammar is compared with it);
//! methods of the host's protocol come from the fake host's tables and are not repeated here.
//! It does not know how a word is used. Rules: DSL-2, DSL-3, DSL-11, DSL-14.

mod methods;

pub use methods::{Direction, FrameKind, frame_kind, method_names};

use super::ast::{ApprovalStyle, BudgetKey, HostKind, WatchKind};

/// Words that begin a statement, besides lanes.
pub const KEYWORDS: &[&str] =
    &["scenario", "stages", "vary", "given", "race", "lost", "after", "quiet", "check", "never"];

/// Lanes without number.
pub const LANES: &[&str] = &["editor", "host"];

/// Words inside statements.
pub const WORDS: &[&str] = &[
    "as", "of", "ok", "error", "raw", "bytes", "text", "thought", "close", "in", "where",
    "contains", "absent", "present", "process", "reaped", "file",
];

/// Words of `LANE ! …`.
pub const FAULTS: &[&str] = &[
    "eof",
    "exit",
    "kill",
    "stderr",
    "stall-read",
    "resume-read",
    "close-stdin",
    "hold",
    "release",
    "delay",
    "crash",
    "bounce",
];

/// Faults that an editor can play.
pub const EDITOR_FAULTS: &[&str] =
    &["eof", "stall-read", "resume-read", "hold", "release", "delay", "crash"];

/// Keys below `scenario`, in the order of the canonical form.
pub const HEADER_KEYS: &[&str] =
    &["id", "hosts", "dialect", "watch", "model", "budget", "recorded", "live", "format"];

/// Units of durations and their milliseconds.
pub const UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("min", 60_000)];

/// Kinds of `resolution` that a `stages` row may name without quotes (msp.md, `ApprovalStage`).
pub const RESOLUTIONS: &[&str] =
    &["unresolved", "knownSafe", "policyAllow", "allowOnce", "policyAmendment"];

/// Values of the header key `hosts`.
pub const HOST_KINDS: &[(&str, HostKind)] =
    &[("fake", HostKind::Fake), ("proxy", HostKind::Proxy), ("host", HostKind::Host)];

/// Values of `dialect approvals = …`.
pub const APPROVAL_STYLES: &[(&str, ApprovalStyle)] = &[
    ("refreshed", ApprovalStyle::Refreshed),
    ("reissued", ApprovalStyle::Reissued),
    ("both", ApprovalStyle::Both),
];

/// Keys of the header key `budget`.
pub const BUDGETS: &[(&str, BudgetKey)] =
    &[("startup", BudgetKey::Startup), ("submit", BudgetKey::Submit), ("stall", BudgetKey::Stall)];

/// Values of the header key `watch`: two short words for text, else what the wire says.
pub const WATCHES: &[(&str, WatchKind)] = &[
    ("none", WatchKind::None),
    ("text", WatchKind::Text),
    ("thought", WatchKind::Thought),
    ("user_message_chunk", WatchKind::Wire("user_message_chunk")),
    ("tool_call", WatchKind::Wire("tool_call")),
    ("tool_call_update", WatchKind::Wire("tool_call_update")),
    ("plan", WatchKind::Wire("plan")),
    ("plan_update", WatchKind::Wire("plan_update")),
    ("plan_removed", WatchKind::Wire("plan_removed")),
    ("available_commands_update", WatchKind::Wire("available_commands_update")),
    ("current_mode_update", WatchKind::Wire("current_mode_update")),
    ("config_option_update", WatchKind::Wire("config_option_update")),
    ("session_info_update", WatchKind::Wire("session_info_update")),
    ("usage_update", WatchKind::Wire("usage_update")),
    ("notice", WatchKind::Wire("notice")),
    ("compaction_update", WatchKind::Wire("compaction_update")),
    ("compaction_summary_chunk", WatchKind::Wire("compaction_summary_chunk")),
    ("subagent_update", WatchKind::Wire("subagent_update")),
    ("session_message", WatchKind::Wire("session_message")),
    ("session_message_chunk", WatchKind::Wire("session_message_chunk")),
    ("elicitation/complete", WatchKind::Wire("elicitation/complete")),
    ("$/cancel_request", WatchKind::Wire("$/cancel_request")),
];

/// The meaning of a word in one of the tables above.
pub fn meaning<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, meaning)| *meaning)
}

/// The words of one of the tables above.
pub fn words<T>(table: &'static [(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(name, _)| *name).collect()
}

/// More words than this are not listed in a message.
const LISTED_MAX: usize = 12;

/// `` `a`, `b` or `c` ``, for messages. A long list is cut and says so.
#[must_use]
pub fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        all if all.len() > LISTED_MAX => {
            let shown = LISTED_MAX / 2;
            format!("{} or one of {} more", all[..shown].join(", "), all.len() - shown)
        }
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}
