//! Notifications by generation (appendix B).
//!
//! Purpose: which notifications exist where and of which kind; the protected set. Data only.

use super::Era;

/// Kind of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationKind {
    /// Stored view event with `viewCursor` and `sourceRange`.
    Durable,
    /// View event that is never stored.
    Ephemeral,
    /// Broadcast or connection-level.
    Broadcast,
    /// Sent by the client.
    ToHost,
}

/// One row of the notification index.
#[derive(Debug)]
pub struct Notification {
    /// Wire name.
    pub name: &'static str,
    /// Kind.
    pub kind: NotificationKind,
    /// First generation.
    pub since: Era,
    /// Needs `experimentalApi`.
    pub experimental: bool,
}

/// Never dropped, never gapped, never opted out (HSK-6). Responses and requests are protected too.
pub const PROTECTED: &[&str] = &[
    "approval/resolved",
    "userInput/settled",
    "admission/resolved",
    "view/gap",
    "log/gap",
    "session/leaveCompleted",
    "deprecationNotice",
];

const fn row(name: &'static str, kind: NotificationKind, since: Era) -> Notification {
    Notification { name, kind, since, experimental: false }
}

const fn trial(name: &'static str, kind: NotificationKind, since: Era) -> Notification {
    Notification { name, kind, since, experimental: true }
}

/// All notifications of the published schemas, both directions.
pub const NOTIFICATIONS: &[Notification] = &[
    trial("account/changed", NotificationKind::Broadcast, Era::V1_3),
    trial("account/loginCompleted", NotificationKind::Broadcast, Era::V1_3),
    trial("admission/requested", NotificationKind::Durable, Era::V1_4),
    trial("admission/resolved", NotificationKind::Durable, Era::V1_4),
    row("approval/requested", NotificationKind::Durable, Era::First),
    row("approval/resolved", NotificationKind::Durable, Era::First),
    row("approval/reviewing", NotificationKind::Durable, Era::V1_4),
    row("approval/updated", NotificationKind::Durable, Era::First),
    row("computerUseSetup/changed", NotificationKind::Broadcast, Era::V1_4),
    row("initialized", NotificationKind::ToHost, Era::First),
    row("item/completed", NotificationKind::Durable, Era::First),
    row("item/delta", NotificationKind::Ephemeral, Era::First),
    row("item/started", NotificationKind::Durable, Era::First),
    row("item/updated", NotificationKind::Durable, Era::First),
    trial("log/gap", NotificationKind::Broadcast, Era::V1_4),
    trial("log/physicalLine", NotificationKind::Broadcast, Era::V1_4),
    trial("log/physicalReset", NotificationKind::Broadcast, Era::V1_4),
    trial("log/record", NotificationKind::Broadcast, Era::V1_4),
    trial("mcpServer/oauthLoginCompleted", NotificationKind::Broadcast, Era::V1_4),
    row("monitor/inboxItemAdmitted", NotificationKind::Durable, Era::V1_4),
    row("monitor/inboxItemDrained", NotificationKind::Durable, Era::V1_4),
    row("monitor/inboxItemVoided", NotificationKind::Durable, Era::V1_4),
    row("plugin/changed", NotificationKind::Broadcast, Era::V1_4),
    row("plugin/marketplaceChanged", NotificationKind::Broadcast, Era::V1_4),
    row("recap/completed", NotificationKind::Broadcast, Era::V1_4),
    row("session/approvalModeChanged", NotificationKind::Durable, Era::First),
    row("session/branchChanged", NotificationKind::Durable, Era::First),
    row("session/closed", NotificationKind::Broadcast, Era::V1_4),
    row("session/contextUsage", NotificationKind::Durable, Era::First),
    row("session/goalChanged", NotificationKind::Durable, Era::First),
    row("session/leaveCompleted", NotificationKind::Broadcast, Era::V1_4),
    row("session/listChanged", NotificationKind::Broadcast, Era::V1_3),
    row("session/modelChanged", NotificationKind::Durable, Era::First),
    row("session/modelRouteUnserved", NotificationKind::Durable, Era::V1_3),
    row("session/nameChanged", NotificationKind::Durable, Era::V1_3),
    trial("session/permissionProfileChanged", NotificationKind::Durable, Era::V1_4),
    row("session/reasoningEffortChanged", NotificationKind::Durable, Era::V1_3),
    row("session/started", NotificationKind::Broadcast, Era::V1_4),
    row("session/statusChanged", NotificationKind::Broadcast, Era::V1_3),
    row("session/todoListChanged", NotificationKind::Durable, Era::First),
    row("session/tokenUsage", NotificationKind::Durable, Era::First),
    row("session/viewHealthChanged", NotificationKind::Broadcast, Era::V1_3),
    row("skill/changed", NotificationKind::Broadcast, Era::V1_3),
    row("turn/completed", NotificationKind::Durable, Era::First),
    row("turn/foregroundCompleted", NotificationKind::Durable, Era::V1_4),
    row("turn/modelRetryScheduled", NotificationKind::Durable, Era::V1_4),
    row("turn/retracted", NotificationKind::Durable, Era::First),
    row("turn/retryScheduled", NotificationKind::Durable, Era::First),
    row("turn/started", NotificationKind::Durable, Era::First),
    row("turn/unqueued", NotificationKind::Durable, Era::First),
    row("usage/changed", NotificationKind::Broadcast, Era::V1_3),
    row("userInput/engaged", NotificationKind::ToHost, Era::V1_4),
    row("userInput/requested", NotificationKind::Durable, Era::First),
    row("userInput/settled", NotificationKind::Durable, Era::First),
    row("view/gap", NotificationKind::Broadcast, Era::First),
];
