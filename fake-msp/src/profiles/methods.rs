//! Client requests by generation (appendix A).
//!
//! Purpose: which methods exist where, of which class, in which tier. Data only.

use super::Era;

/// Class of a method: decides whether it carries a `commandId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Changes state, carries a `commandId`, is in the ledger.
    Command,
    /// Reads.
    Query,
    /// Subscription control, `view/*`.
    ViewControl,
    /// Everything else.
    Other,
}

/// One row of the method index.
#[derive(Debug)]
pub struct Method {
    /// Wire name.
    pub name: &'static str,
    /// Class.
    pub class: Class,
    /// First generation.
    pub since: Era,
    /// Needs `experimentalApi` (HSK-7).
    pub experimental: bool,
}

const fn row(name: &'static str, class: Class, since: Era) -> Method {
    Method { name, class, since, experimental: false }
}

const fn trial(name: &'static str, class: Class, since: Era) -> Method {
    Method { name, class, since, experimental: true }
}

/// All client requests of the published schemas.
pub const METHODS: &[Method] = &[
    trial("account/loginCancel", Class::Other, Era::V1_3),
    trial("account/loginStart", Class::Other, Era::V1_3),
    trial("account/logout", Class::Other, Era::V1_3),
    trial("account/read", Class::Query, Era::V1_3),
    trial("admission/decide", Class::Command, Era::V1_4),
    trial("admission/listPending", Class::Query, Era::V1_4),
    row("approval/decide", Class::Command, Era::First),
    row("approval/listPending", Class::Query, Era::First),
    row("computerUseSettings/read", Class::Query, Era::V1_4),
    row("computerUseSettings/update", Class::Other, Era::V1_4),
    row("computerUseSetup/check", Class::Query, Era::V1_4),
    row("computerUseSetup/read", Class::Query, Era::V1_4),
    row("computerUseSetup/start", Class::Command, Era::V1_4),
    row("feedback/submit", Class::Other, Era::V1_4),
    row("goal/clear", Class::Command, Era::V1_3),
    row("goal/edit", Class::Command, Era::V1_3),
    row("goal/pause", Class::Command, Era::V1_3),
    row("goal/resume", Class::Command, Era::V1_3),
    row("goal/set", Class::Command, Era::V1_3),
    row("hook/list", Class::Query, Era::V1_4),
    trial("host/readLimits", Class::Query, Era::V1_4),
    row("initialize", Class::Other, Era::First),
    row("item/readOutput", Class::Query, Era::V1_3),
    trial("log/page", Class::Query, Era::V1_4),
    trial("log/physicalFiles", Class::Query, Era::V1_4),
    trial("log/physicalSubscribe", Class::Other, Era::V1_4),
    trial("log/physicalUnsubscribe", Class::Other, Era::V1_4),
    trial("log/streams", Class::Query, Era::V1_4),
    trial("log/subscribe", Class::Other, Era::V1_4),
    trial("log/unsubscribe", Class::Other, Era::V1_4),
    trial("mcpServer/list", Class::Query, Era::V1_4),
    trial("mcpServer/oauthLogin", Class::Other, Era::V1_4),
    trial("mcpServer/oauthLoginCancel", Class::Other, Era::V1_4),
    trial("mcpServer/oauthLogout", Class::Other, Era::V1_4),
    row("media/upload", Class::Command, Era::V1_4),
    row("model/list", Class::Query, Era::First),
    trial("peer/list", Class::Query, Era::V1_4),
    trial("permissionProfile/list", Class::Query, Era::V1_4),
    row("plugin/install", Class::Command, Era::V1_4),
    row("plugin/list", Class::Query, Era::V1_4),
    row("plugin/marketplaceAdd", Class::Command, Era::V1_4),
    row("plugin/marketplaceRemove", Class::Command, Era::V1_4),
    row("plugin/marketplaceUpdate", Class::Command, Era::V1_4),
    trial("projection/list", Class::Query, Era::V1_4),
    trial("projection/read", Class::Query, Era::V1_4),
    row("recap/cancel", Class::Command, Era::V1_4),
    row("recap/request", Class::Command, Era::V1_4),
    row("session/compact", Class::Command, Era::First),
    row("session/fork", Class::Command, Era::First),
    row("session/leave", Class::Command, Era::V1_4),
    row("session/list", Class::Query, Era::First),
    trial("session/promptHint", Class::Query, Era::V1_4),
    row("session/read", Class::Query, Era::First),
    trial("session/readLimits", Class::Query, Era::V1_4),
    row("session/rename", Class::Command, Era::V1_3),
    trial("session/reportStartupPhases", Class::Other, Era::V1_4),
    row("session/resume", Class::Command, Era::First),
    row("session/setApprovalMode", Class::Command, Era::First),
    row("session/setModel", Class::Command, Era::First),
    trial("session/setPermissionProfile", Class::Command, Era::V1_4),
    row("session/setReasoningEffort", Class::Command, Era::V1_3),
    row("session/sideChat", Class::Command, Era::V1_4),
    row("session/start", Class::Command, Era::First),
    row("session/userShell", Class::Command, Era::First),
    trial("settings/read", Class::Query, Era::V1_4),
    trial("settings/readSchema", Class::Query, Era::V1_4),
    trial("settings/writeMany", Class::Other, Era::V1_4),
    trial("settings/writeValue", Class::Other, Era::V1_4),
    row("skill/import", Class::Command, Era::V1_4),
    row("skill/list", Class::Query, Era::V1_3),
    row("skill/setActivation", Class::Command, Era::V1_4),
    row("subagent/close", Class::Command, Era::First),
    row("subagent/followupTask", Class::Command, Era::First),
    row("subagent/interrupt", Class::Command, Era::First),
    row("subagent/readResult", Class::Command, Era::First),
    row("subagent/reopen", Class::Command, Era::First),
    row("subagent/resume", Class::Command, Era::First),
    row("subagent/sendMessage", Class::Command, Era::First),
    row("subagent/stop", Class::Command, Era::First),
    row("task/background", Class::Command, Era::V1_3),
    row("task/list", Class::Query, Era::V1_4),
    row("task/stop", Class::Command, Era::V1_3),
    row("task/stopAll", Class::Command, Era::V1_3),
    row("turn/cancel", Class::Command, Era::First),
    row("turn/interrupt", Class::Command, Era::First),
    row("turn/start", Class::Command, Era::First),
    row("turn/steer", Class::Command, Era::First),
    row("turn/unqueue", Class::Command, Era::First),
    row("usage/read", Class::Query, Era::V1_3),
    trial("usage/refresh", Class::Other, Era::V1_4),
    row("userInput/answer", Class::Command, Era::First),
    row("userInput/cancel", Class::Command, Era::First),
    row("userInput/clarify", Class::Command, Era::First),
    row("userInput/interrupt", Class::Command, Era::V1_4),
    row("view/page", Class::Query, Era::First),
    row("view/subscribe", Class::ViewControl, Era::V1_3),
    row("view/unsubscribe", Class::ViewControl, Era::First),
    row("workflow/cancel", Class::Command, Era::V1_3),
    row("workflow/childControl", Class::Command, Era::V1_3),
    row("workflow/pause", Class::Command, Era::V1_4),
    row("workflow/resume", Class::Command, Era::V1_4),
    trial("worktree/list", Class::Query, Era::V1_4),
];
