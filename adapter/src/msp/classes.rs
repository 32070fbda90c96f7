//! What becomes of each notification and each item kind of the published schemas (adapter-turns.md §24).
//!
//! A name has one row, with its consumer or the reason why it has none (VEV-1, VEV-2). A name without a row
//! is one of a later host: it is ignored, with one line in the log (VEV-3). Data only; tests hold the
//! tables to the tables of the fake host and, where it is at hand, to the published schema.

/// What becomes of a notification or an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The rules that it is consumed under.
    Consumed(&'static str),
    /// Why nobody consumes it.
    Ignored(&'static str),
    /// The rules that will consume it; until then it is ignored.
    Later(&'static str),
}

use Class::{Consumed, Ignored, Later};

/// Notifications of hosts, in the order of their names.
pub const NOTIFICATIONS: &[(&str, Class)] = &[
    ("account/changed", Ignored("not a view event; login is checked by evidence on disk")),
    (
        "account/loginCompleted",
        Ignored("not a view event; the adapter starts no login on the wire"),
    ),
    ("admission/requested", Ignored("the capability peerMessaging is not requested")),
    ("admission/resolved", Ignored("the capability peerMessaging is not requested")),
    ("approval/requested", Consumed("APR-1..4")),
    ("approval/resolved", Consumed("APR-17, APR-21")),
    (
        "approval/reviewing",
        Ignored("a reviewer holds it: no dialog; requested or resolved follows"),
    ),
    ("approval/updated", Consumed("APR-1..4, OBS-7")),
    ("computerUseSetup/changed", Ignored("not a view event; the feature is not used")),
    ("item/completed", Consumed("STR, TOL")),
    ("item/delta", Consumed("STR-1, STR-6, TOL-9")),
    ("item/started", Consumed("STR, TOL")),
    ("item/updated", Consumed("STR, TOL")),
    ("log/gap", Ignored("not a view event; logs are not read")),
    ("log/physicalLine", Ignored("not a view event; logs are not read")),
    ("log/physicalReset", Ignored("not a view event; logs are not read")),
    ("log/record", Ignored("not a view event; logs are not read")),
    ("mcpServer/oauthLoginCompleted", Ignored("not a view event; the adapter starts no login")),
    ("monitor/inboxItemAdmitted", Ignored("nothing in ACP shows it")),
    ("monitor/inboxItemDrained", Ignored("nothing in ACP shows it")),
    ("monitor/inboxItemVoided", Ignored("nothing in ACP shows it")),
    ("plugin/changed", Ignored("not a view event; plugins are not used")),
    ("plugin/marketplaceChanged", Ignored("not a view event; plugins are not used")),
    ("recap/completed", Ignored("not a view event; recaps are not asked for")),
    ("session/approvalModeChanged", Later("OBS-1")),
    ("session/branchChanged", Ignored("no field of ACP carries the branch")),
    ("session/closed", Consumed("section 24: as a lost host")),
    ("session/contextUsage", Later("USG-1")),
    ("session/goalChanged", Later("GOL-1")),
    ("session/leaveCompleted", Ignored("about a session that the adapter has left")),
    ("session/listChanged", Ignored("the capability sessionListStream is not requested")),
    ("session/modelChanged", Later("OBS-1")),
    (
        "session/modelRouteUnserved",
        Ignored("the route is confirmed before the first turn of a host"),
    ),
    ("session/nameChanged", Later("section 24: the title; today it is read after each turn")),
    ("session/permissionProfileChanged", Ignored("profiles are no part of the contract")),
    (
        "session/reasoningEffortChanged",
        Ignored("effort is a wish of each turn; OBS-1 does not tell it"),
    ),
    ("session/started", Ignored("about sessions that no turn of ours belongs to")),
    ("session/statusChanged", Ignored("the turns themselves say what runs")),
    ("session/todoListChanged", Later("PLN-1")),
    ("session/tokenUsage", Later("USG-3")),
    ("session/viewHealthChanged", Consumed("GAP-5")),
    ("skill/changed", Later("CMD-13")),
    ("turn/completed", Consumed("section 22")),
    ("turn/foregroundCompleted", Ignored("says itself that it ends nothing (END-3)")),
    ("turn/modelRetryScheduled", Ignored("a retry of the host ends nothing (END-3)")),
    ("turn/retracted", Ignored("no terminal: the turn still gets its own (END-3)")),
    ("turn/retryScheduled", Ignored("a retry of the host ends nothing (END-3)")),
    ("turn/started", Consumed("PRM-4")),
    ("turn/unqueued", Consumed("section 22")),
    ("usage/changed", Ignored("the account's: no quota is told (GEN-2)")),
    ("userInput/requested", Consumed("ELI")),
    ("userInput/settled", Consumed("ELI")),
    ("view/gap", Consumed("GAP")),
];

/// Kinds of items, in the order of their names.
pub const ITEM_KINDS: &[(&str, Class)] = &[
    ("agentMessage", Consumed("STR-1")),
    ("backgroundTerminalCompletion", Consumed("TOL-10")),
    ("compaction", Consumed("TOL-10")),
    ("damagedRange", Consumed("TOL-10")),
    ("earlierHistory", Consumed("TOL-10")),
    ("hookRun", Consumed("TOL-10")),
    ("monitorFeed", Consumed("TOL-10")),
    ("overdueNotice", Consumed("TOL-10")),
    ("reasoning", Consumed("STR-6")),
    ("reminderChild", Consumed("TSK-1")),
    ("scheduledFire", Consumed("TOL-10")),
    ("sideChat", Consumed("TOL-10")),
    ("skillRead", Consumed("TOL-10")),
    ("subagent", Consumed("TSK-1")),
    ("toolCall", Consumed("TOL, KND")),
    ("userMessage", Ignored("the person knows it (TRN-7)")),
    ("userShell", Consumed("TOL, KND")),
    ("webSearch", Consumed("TOL-6, TOL-10")),
    ("workflow", Consumed("TSK-1")),
];

/// The row of a notification, if a schema has it.
#[must_use]
pub fn notification(method: &str) -> Option<Class> {
    let at = NOTIFICATIONS.binary_search_by_key(&method, |(name, _)| name).ok()?;
    Some(NOTIFICATIONS[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msp::event::{Event, decode};
    use serde_json::value::RawValue;

    #[test]
    fn each_name_has_one_row_and_the_order_is_that_of_the_names() {
        for table in [NOTIFICATIONS, ITEM_KINDS] {
            assert!(table.is_sorted_by(|(a, _), (b, _)| a < b));
        }
        assert_eq!(notification("turn/completed"), Some(Consumed("section 22")));
        assert_eq!(notification("future/thing"), None);
    }

    /// What the table calls consumed is decoded, and nothing else is. The two that tell of the view are
    /// read where holes are filled.
    #[test]
    fn the_table_says_what_the_decoder_does() {
        let raw: &RawValue = serde_json::from_str("{}").expect("json");
        for (method, class) in NOTIFICATIONS {
            let decoded = !matches!(decode(method, Some(raw)), Event::Ignored);
            let of_the_view = matches!(*method, "view/gap" | "session/viewHealthChanged");
            let consumed = matches!(class, Consumed(_));
            assert_eq!(decoded, consumed && !of_the_view, "{method}");
        }
    }
}
