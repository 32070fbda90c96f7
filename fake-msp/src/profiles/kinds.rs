//! Item kinds by generation (section 9.3). Data only.

use super::Era;

/// One row of the kinds.
#[derive(Debug)]
pub struct ItemKind {
    /// Wire word.
    pub name: &'static str,
    /// First generation.
    pub since: Era,
    /// Needs `experimentalApi`.
    pub experimental: bool,
    /// May stand outside of any turn (ITM-6).
    pub turnless: bool,
}

const fn row(name: &'static str, since: Era, turnless: bool) -> ItemKind {
    ItemKind { name, since, experimental: false, turnless }
}

/// All kinds of the published schemas. A word outside of it is one of a later host (TOL-8).
pub const ITEM_KINDS: &[ItemKind] = &[
    row("userMessage", Era::First, false),
    row("agentMessage", Era::First, false),
    row("reasoning", Era::First, false),
    row("toolCall", Era::First, false),
    row("userShell", Era::First, true),
    row("subagent", Era::First, true),
    row("workflow", Era::First, true),
    row("reminderChild", Era::First, true),
    row("compaction", Era::First, true),
    row("hookRun", Era::V1_4, true),
    row("sideChat", Era::V1_4, true),
    row("webSearch", Era::V1_4, true),
    row("monitorFeed", Era::V1_4, true),
    row("damagedRange", Era::V1_4, true),
    row("scheduledFire", Era::V1_4, true),
    row("backgroundTerminalCompletion", Era::V1_4, true),
    row("overdueNotice", Era::V1_4, true),
    ItemKind { name: "skillRead", since: Era::V1_4, experimental: true, turnless: true },
    row("earlierHistory", Era::V1_4_14, true),
];
