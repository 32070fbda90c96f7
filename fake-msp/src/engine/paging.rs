//! Pages, subscriptions and what is pushed after an answer, all read from the log.
//!
//! Rules: CUR-7, CUR-8, HOST-8, HOST-9.

use serde_json::{Map, Value, json};

use super::frames::FRAME_BYTES_MAX;
use super::history::served_position;
use super::sessions::str_of;
use super::{After, Host, Refusal, Reply, Session};

/// Room for the envelope around histories and pages, in bytes.
pub(super) const ENVELOPE_BYTES: usize = 64 * 1024;
const PAGE_LIMIT_MAX: u64 = 1000;

impl Host {
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
        let id = session.log.session_id.as_str();
        if !session.healthy {
            return Err(Refusal::new(-32603, "the view cannot be served").with("sessionId", id));
        }
        let cursor = str_of(params, "cursor");
        let anchor = params.get("anchor").filter(|anchor| !anchor.is_null());
        let (from, resolved) = match (anchor, cursor) {
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid_params("anchor and cursor exclude each other"));
            }
            (Some(anchor), None) => {
                let position = boundary_position(session, anchor)?;
                (Some(position), Some(session.log.cursor(position)))
            }
            (None, Some(cursor)) => (Some(served_position(session, cursor)?), None),
            (None, None) => (None, None),
        };
        let forward = str_of(params, "direction") != Some("backward");
        let room = FRAME_BYTES_MAX - ENVELOPE_BYTES;
        let bytes = max_bytes.and_then(|max| usize::try_from(max).ok()).unwrap_or(room).min(room);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let page = session.log.page(from, forward, limit, bytes, room);
        if let Some(cursor) = page.too_large {
            let refusal = Refusal::new(-32603, "an event is too large for a frame");
            let refusal = refusal.kind("pageEventTooLarge").with("sessionId", id);
            return Err(refusal.with("viewCursor", cursor).with("limitBytes", FRAME_BYTES_MAX));
        }
        let mut result = json!({ "events": page.events, "nextCursor": page.next });
        if let Some(boundary) = resolved {
            result["resolvedAnchor"] = json!({ "boundaryCursor": boundary });
        }
        Ok(result)
    }

    pub(super) fn view_subscribe(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let start = match str_of(params, "after") {
            None => None,
            Some(cursor) => Some(served_position(self.stored(params)?, cursor)?),
        };
        let session = self.loaded(params)?;
        session.subscribed = true;
        if let Some(position) = start {
            after.push(After::Replay { session: session.log.session_id.clone(), position });
        }
        Ok(json!({ "viewCursor": session.log.head() }))
    }

    /// Idempotent, also for a session that is not loaded.
    pub(super) fn view_unsubscribe(&mut self, params: &Map<String, Value>) -> Reply {
        self.stored(params)?;
        if let Ok(session) = self.loaded(params) {
            session.subscribed = false;
        }
        Ok(json!({}))
    }
}

/// Where `anchor: "latestCompaction"` begins (section 7.3).
fn boundary_position(session: &Session, anchor: &Value) -> Result<u64, Refusal> {
    if anchor != "latestCompaction" {
        return Err(Refusal::invalid_params("anchor: latestCompaction"));
    }
    let refusal = |text: &str, kind: &str| {
        let refusal =
            Refusal::new(-32042, text).kind(kind).with("latestBoundaryCursor", Value::Null);
        refusal.with("sessionId", session.log.session_id.as_str())
    };
    match session.log.boundary() {
        None => Err(refusal("nothing was compacted", "noBoundary").with("anchor", Value::Null)),
        Some(boundary) if boundary.position < session.log.earliest() => {
            let refusal = refusal("the boundary is not retained", "boundaryPruned");
            Err(refusal.with("anchor", boundary.summarized_through.as_str()))
        }
        Some(boundary) => Ok(boundary.position),
    }
}
