//! Builders for `session/update` (acp.md §3.4). One function per variant that this version sends.

use serde_json::json;

use super::schema as acp;

/// Text of the agent; all chunks of one item share its id (TRN-14).
#[must_use]
pub fn message(item: &str, text: String) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentMessageChunk(chunk(item, text))
}

/// A summary of reasoning.
#[must_use]
pub fn thought(item: &str, text: String) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentThoughtChunk(chunk(item, text))
}

fn chunk(item: &str, text: String) -> acp::ContentChunk {
    acp::ContentChunk::new(acp::ContentBlock::Text(acp::TextContent::new(text)))
        .message_id(acp::MessageId::new(item))
}

/// Facts about the host, once per process (COMPAT-1, COMPAT-2).
#[must_use]
pub fn host_compatibility(version: Option<&str>, served: Option<&str>) -> acp::SessionUpdate {
    let served = served.unwrap_or(crate::PINNED_FINGERPRINT);
    info(json!({ "muse/hostCompatibility": {
        "sdk": concat!("muse-code-acp@", env!("CARGO_PKG_VERSION")),
        "hostVersion": version,
        "minimumHostVersion": crate::MINIMUM_HOST_VERSION,
        "verifiedHosts": crate::VERIFIED_HOSTS,
        "pinnedFingerprint": crate::PINNED_FINGERPRINT,
        "servedFingerprint": served,
        "matches": served == crate::PINNED_FINGERPRINT,
    }}))
}

/// Title and time of the last change, as the host reports them (TRN-10).
#[must_use]
pub fn session_info(title: String, updated_at: Option<String>) -> acp::SessionUpdate {
    let mut info = acp::SessionInfoUpdate::new().title(title);
    if let Some(at) = updated_at {
        info = info.updated_at(at);
    }
    acp::SessionUpdate::SessionInfoUpdate(info)
}

/// The turn that can be corrected, or none (STE-3).
#[must_use]
pub fn active_turn(turn: Option<&str>) -> acp::SessionUpdate {
    info(json!({ "muse/activeTurnId": turn }))
}

/// How approvals of the turn ended, one update each (APR-17).
#[must_use]
pub fn approval_result(
    approval: &str,
    turn: Option<&str>,
    decision: Option<&str>,
    by: Option<&str>,
    stages: serde_json::Value,
) -> acp::SessionUpdate {
    let mut result = json!({ "approvalId": approval, "stages": stages });
    for (name, value) in [("turnId", turn), ("decision", decision), ("resolvedBy", by)] {
        if let Some(value) = value {
            result[name] = value.into();
        }
    }
    info(json!({ "muse/approval": result }))
}

/// Whether a rule was written (OBS-6, OBS-7).
#[must_use]
pub fn rule(approval: &str, status: &str) -> acp::SessionUpdate {
    info(json!({ "muse/sessionState": {
        "policyPersistence": { "approvalId": approval, "status": status } } }))
}

/// The mode of the session, as `modes` has it (MODE-2).
#[must_use]
pub fn current_mode(id: &'static str) -> acp::SessionUpdate {
    acp::SessionUpdate::CurrentModeUpdate(acp::CurrentModeUpdate::new(id))
}

/// All options of the session (CFG-7).
#[must_use]
pub fn config_options(options: Vec<acp::SessionConfigOption>) -> acp::SessionUpdate {
    acp::SessionUpdate::ConfigOptionUpdate(acp::ConfigOptionUpdate::new(options))
}

fn info(meta: serde_json::Value) -> acp::SessionUpdate {
    let serde_json::Value::Object(meta) = meta else { unreachable!("built as an object above") };
    acp::SessionUpdate::SessionInfoUpdate(acp::SessionInfoUpdate::new().meta(meta))
}
