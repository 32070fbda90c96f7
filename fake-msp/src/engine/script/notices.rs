//! What the model says in notifications that are no part of a turn, an item or an approval.
//!
//! Purpose: complete params of state families and broadcasts from the folded state. Rules: section
//! 10, SES-9..12, section 13.

use serde_json::{Value, json};

use super::super::ids::rfc3339;
use super::super::{Host, Kind, Session};

impl Host {
    /// State families (section 10) say the present state once more; broadcasts something plain.
    pub(super) fn fill_notice(&mut self, session: &str, method: &str, turn: Option<&str>) -> Value {
        let now = self.now;
        let (item, plugin) = match method {
            _ if method.starts_with("monitor/") => (self.ids.next(Kind::Item), Value::Null),
            "plugin/changed" => (
                String::new(),
                json!({ "id": "plugin", "version": "1", "enabled": true, "source": "curated" }),
            ),
            _ => (String::new(), Value::Null),
        };
        let client_name = self.connection.client_name.clone();
        let usage = self.usage_read();
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let mut params = match method {
            "monitor/inboxItemAdmitted" => json!({
                "itemId": item, "taskId": item, "eventIndex": 0, "eventKind": "line",
                "showLines": false, "body": "", "summary": "a line", "queuedAt": rfc3339(now),
            }),
            "monitor/inboxItemDrained" => json!({
                "itemId": item, "deliveryVisible": true, "drainedAt": rfc3339(now),
            }),
            "monitor/inboxItemVoided" => json!({ "itemId": item, "voidedAt": rfc3339(now) }),
            "plugin/changed" => plugin,
            "plugin/marketplaceChanged" => json!({ "change": "updated", "name": "market" }),
            "recap/completed" => json!({
                "commandId": "recap", "outcome": "completed", "text": "A recap.",
            }),
            "session/leaveCompleted" => json!({ "commandId": "leave", "outcome": "released" }),
            "session/viewHealthChanged" => json!({ "health": "unavailable" }),
            "usage/changed" => return usage["usage"].clone(),
            "computerUseSetup/changed" => json!({ "state": {
                "setup": "dormant", "accessibility": "unknown", "screenRecording": "unknown",
                "inputMonitoring": "unknown",
            } }),
            "view/gap" | "skill/changed" => json!({}),
            _ => family(target, method, turn, &client_name),
        };
        params["sessionId"] = session.into();
        params
    }
}

fn family(target: &Session, method: &str, turn: Option<&str>, client_name: &str) -> Value {
    let view = target.log.view();
    match method {
        "session/modelChanged" => json!({
            "modelId": view.model["modelId"], "providerId": view.model["providerId"],
            "source": "user",
        }),
        "session/modelRouteUnserved" => json!({
            "commandId": "route", "installedProviderId": view.model["providerId"],
            "modelId": view.model["modelId"], "providerId": view.model["providerId"],
        }),
        "session/approvalModeChanged" => json!({
            "mode": view.mode["mode"], "source": "approvalReconfigure",
            "commandId": view.mode["lastCommandId"].as_str().unwrap_or("none"),
            "clientName": client_name,
        }),
        "session/reasoningEffortChanged" => {
            json!({ "reasoningEffort": "medium", "source": "user" })
        }
        "session/goalChanged" => json!({ "goal": view.goal }),
        "session/todoListChanged" => json!({
            "items": [], "sourceTool": "todo_write",
            "revision": view.todo_list["revision"].as_u64().unwrap_or(0) + 1,
        }),
        "session/branchChanged" => json!({
            "workspaceRoot": target.log.birth().workspace_root.as_deref().unwrap_or("/"),
            "branch": null,
        }),
        "session/nameChanged" => json!({ "name": view.name.as_deref().unwrap_or("Session") }),
        "session/contextUsage" => json!({ "usedTokens": 0, "pressure": "normal" }),
        "session/tokenUsage" => json!({
            "turnId": turn, "modelId": view.model["modelId"],
            "usage": {
                "inputTokens": 0, "outputTokens": 0, "cachedTokens": 0, "reasoningTokens": 0,
            },
            "promptTokens": 0, "totalTokens": 0, "cumulative": view.tokens,
        }),
        _ => json!({}),
    }
}
