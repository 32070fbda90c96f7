//! Histories, pages and subscriptions, all read from the log.
//!
//! Rules: CUR-4..8, HOST-8, HOST-9.

use serde_json::{Map, Value, json};

use super::frames::FRAME_BYTES_MAX;
use super::sessions::str_of;
use super::{After, Host, Refusal, Reply, Session};
use crate::profiles::trim;

/// Room for the envelope around histories and pages, in bytes.
const ENVELOPE_BYTES: usize = 64 * 1024;
const PAGE_LIMIT_MAX: u64 = 1000;

impl Host {
    /// The `history` envelope and, for a suffix, the position after which events must follow.
    pub(super) fn history(
        &self,
        session: &Session,
        preference: &str,
        excluded: bool,
        cursor: Option<&str>,
    ) -> Result<(Value, Option<u64>), Refusal> {
        let position = match cursor {
            None => None,
            Some(cursor) => match session.log.position(cursor) {
                // The start of the view: as if there were no cursor (CUR-7).
                Some(0) => None,
                Some(position) => Some(position),
                None => return Err(missing_anchor(session, cursor)),
            },
        };
        let none = |reason: &str| json!({ "mode": "none", "items": null, "snapshot": null, "noneReason": reason });
        if let Some(position) = position {
            return Ok((none("cursorSuffix"), Some(position)));
        }
        if excluded {
            return Ok((none("excluded"), None));
        }
        let items: Vec<&Value> = session.log.view().items.values().collect();
        // Nothing was ever compacted, so `auto` and `anchored` come down to `inline` (CUR-5).
        let history = match preference {
            "snapshot" => json!({
                "mode": "snapshot", "items": null, "snapshot": self.snapshot(session),
            }),
            _ => json!({ "mode": "inline", "items": items, "snapshot": null }),
        };
        if history.to_string().len() > FRAME_BYTES_MAX - ENVELOPE_BYTES {
            return Ok((none("historyBudget"), None));
        }
        Ok((history, None))
    }

    fn snapshot(&self, session: &Session) -> Value {
        let view = session.log.view();
        let pointer = |id_name: &str, id: &str, params: &Map<String, Value>| json!({ id_name: id, "itemId": params.get("itemId"), "viewCursor": params.get("viewCursor") });
        let queued: Vec<Value> =
            session.waiting.iter().map(|admitted| admitted.turn.to_value()).collect();
        let approvals: Vec<Value> = view
            .pending_approvals()
            .map(|(id, approval)| pointer("approvalId", id, &approval.params))
            .collect();
        let prompts: Vec<Value> = view
            .pending_prompts()
            .map(|(id, prompt)| pointer("userInputId", id, &prompt.params))
            .collect();
        let mut state = Map::new();
        let mut put = |name: &str, value: Value| state.insert(name.to_owned(), value);
        put("items", view.items.values().cloned().collect());
        put("activeTurn", json!(view.active.as_ref().map(|turn| turn.to_value())));
        put("queuedTurns", queued.into());
        put("pendingApprovals", approvals.into());
        put("pendingUserInputs", prompts.into());
        put("approvalMode", Self::shown_mode(session));
        put("effectiveModel", view.model.clone());
        put("goal", view.goal.clone());
        put("todoList", view.todo_list.clone());
        put("branch", view.branch.clone());
        put("name", json!(view.name));
        put("tokenUsage", view.tokens.clone());
        put("turnCount", view.turn_count.into());
        if let Some(effort) = &view.effort {
            put("reasoningEffort", effort.clone());
        }
        if let Some(context) = &view.context {
            put("contextUsage", context.clone());
        }
        trim(self.profile, "SnapshotState", &mut state);
        json!({ "schemaVersion": 1, "viewCursor": session.log.head(), "state": state })
    }

    /// Stored events after `position`, pushed as ordinary notifications.
    pub(super) fn replay(&mut self, session: &str, position: u64) {
        let Some(target) = self.sessions.get(session) else { return };
        for (method, params) in target.log.since(position) {
            self.notify(&method, &params);
        }
    }

    /// Every pending approval and prompt once more, oldest first (HOST-9).
    pub(super) fn reissue(&mut self, session: &str) {
        let Some(target) = self.sessions.get(session) else { return };
        let view = target.log.view();
        let mut requests: Vec<(&'static str, Value)> = Vec::new();
        for (_, approval) in view.pending_approvals() {
            requests.push(("approval/request", Value::Object(approval.params.clone())));
        }
        for (_, prompt) in view.pending_prompts() {
            requests.push(("userInput/request", Value::Object(prompt.params.clone())));
        }
        for (method, params) in requests {
            self.ask_client(method, &params);
        }
    }

    pub(super) fn view_page(&mut self, params: &Map<String, Value>) -> Reply {
        let session = self.stored(params)?;
        let limit = params["limit"].as_u64().unwrap_or(0);
        if limit == 0 || limit > PAGE_LIMIT_MAX {
            return Err(Refusal::invalid_params("limit: 1 to 1000"));
        }
        let max_bytes = params.get("maxBytes").and_then(Value::as_u64);
        if max_bytes == Some(0) {
            return Err(Refusal::invalid_params("maxBytes: at least 1"));
        }
        let cursor = str_of(params, "cursor");
        if params.get("anchor").is_some_and(|anchor| !anchor.is_null()) {
            if cursor.is_some() {
                return Err(Refusal::invalid_params("anchor and cursor exclude each other"));
            }
            let refusal = Refusal::new(-32042, "nothing was compacted").kind("noBoundary");
            let refusal = refusal.with("anchor", Value::Null);
            return Err(refusal.with("latestBoundaryCursor", Value::Null));
        }
        let from = match cursor {
            None => None,
            Some(cursor) => match session.log.position(cursor) {
                Some(position) => Some(position),
                None => return Err(missing_anchor(session, cursor)),
            },
        };
        let forward = str_of(params, "direction") != Some("backward");
        let room = FRAME_BYTES_MAX - ENVELOPE_BYTES;
        let bytes = max_bytes.and_then(|max| usize::try_from(max).ok()).unwrap_or(room).min(room);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let page = session.log.page(from, forward, limit, bytes);
        Ok(json!({ "events": page.events, "nextCursor": page.next }))
    }

    pub(super) fn view_subscribe(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let start = match str_of(params, "after") {
            None => None,
            Some(cursor) => {
                let session = self.stored(params)?;
                let position = session.log.position(cursor);
                Some(position.ok_or_else(|| missing_anchor(session, cursor))?)
            }
        };
        let session = self.loaded(params)?;
        session.subscribed = true;
        if let Some(position) = start {
            after.push(After::Replay { session: session.log.session_id.clone(), position });
        }
        Ok(json!({ "viewCursor": session.log.head() }))
    }

    pub(super) fn view_unsubscribe(&mut self, params: &Map<String, Value>) -> Reply {
        self.stored(params)?;
        if let Ok(session) = self.loaded(params) {
            session.subscribed = false;
        }
        Ok(json!({}))
    }
}

fn missing_anchor(session: &Session, cursor: &str) -> Refusal {
    Refusal::new(-32011, "unknown cursor")
        .with("reason", "missingAnchor")
        .with("anchor", cursor)
        .with("sessionId", session.log.session_id.as_str())
}
