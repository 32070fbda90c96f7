//! What the model says when the script does not.
//!
//! Purpose: complete params of every event, from the folded state and what was admitted.
//! Inputs: method, the members that were said, the entity. Outputs: params without positions.
//! It never judges; see the sibling `legal`. Rules: DSL-3, DSL-4.

use serde_json::{Map, Value, json};

use super::super::fold::{is_open, text};
use super::super::ids::rfc3339;
use super::super::subjects::first_unresolved;
use super::super::{AskHandle, Host, Kind, Session, TurnRef};
use super::fill_asked::{approval_id, approval_updated, complete_stages, prompt_id};
use super::{EntityRef, kinds};
use crate::profiles::trim;

impl Host {
    /// A script may start a turn before it answers `turn/start` (HOST-17): admit it now.
    pub(super) fn admit_unanswered(&mut self, session: &str) {
        if self.sessions.get(session).is_none_or(|target| !target.waiting.is_empty()) {
            return;
        }
        let open = self.asks.iter().find(|(_, ask)| {
            ask.method == "turn/start"
                && ask.prepared.is_none()
                && ask.params.get("sessionId").and_then(Value::as_str) == Some(session)
        });
        if let Some((handle, _)) = open {
            let handle = AskHandle(*handle);
            // A refusal leaves nothing admitted; the legality check then says so.
            let _ = self.prepare(handle);
        }
    }

    pub(super) fn fill(
        &mut self,
        session: &str,
        method: &str,
        said: &Value,
        of: Option<&EntityRef>,
    ) -> Value {
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let view = target.log.view();
        let turn = match of {
            Some(EntityRef::Turn { id, .. }) => Some(id.clone()),
            _ => view.active.as_ref().map(|turn| turn.turn_id.clone()),
        };
        match method {
            "turn/started" => match target.waiting.front() {
                Some(admitted) => admitted.turn.to_value(),
                None => json!({}),
            },
            "turn/completed" => turn_completed(turn.as_deref(), said),
            "turn/unqueued" | "turn/retracted" => {
                let waiting = target.waiting.back().map(|admitted| &admitted.turn);
                let queued = target.taken_back.first().or(waiting).map(TurnRef::to_value);
                let active = view.active.as_ref().map(TurnRef::to_value);
                let queued = if method == "turn/unqueued" { queued } else { active };
                queued.unwrap_or_else(|| json!({}))
            }
            "turn/retryScheduled" => json!({
                "turnId": turn, "attempt": 1, "nextAttempt": 2, "maxAttempts": 3,
                "retryDelayMs": 500, "reason": "the provider is busy",
            }),
            "turn/modelRetryScheduled" => json!({
                "turnId": turn, "attempt": 1, "nextAttempt": 2, "maxAttempts": 3,
                "retryDelayMs": 500,
            }),
            "turn/foregroundCompleted" => json!({ "turnId": turn, "blockingAgents": [] }),
            "item/started" | "item/updated" | "item/completed" => {
                let item = self.fill_item(session, method, said, of);
                json!({ "item": item })
            }
            "item/delta" => delta(session, target, said, of),
            "approval/requested" | "approval/reviewing" => self.fill_approval(session, said, of),
            "approval/request" => {
                let id = approval_id(target, said, of);
                view.approvals.get(&id).map_or(json!({}), |known| json!(known.params))
            }
            "approval/updated" => approval_updated(target, said, of),
            "approval/resolved" => self.fill_resolution(session, said, of),
            "userInput/requested" => self.fill_prompt(session, said, of),
            "userInput/request" => {
                let id = prompt_id(target, said, of);
                view.prompts.get(&id).map_or(json!({}), |known| json!(known.params))
            }
            "userInput/settled" => self.fill_settlement(session, said, of),
            "session/started" | "session/listChanged" => {
                json!({ "session": self.session_object(target) })
            }
            "session/statusChanged" => {
                let status = if view.active.is_some() { "running" } else { "idle" };
                json!({ "sessionId": session, "status": status, "viewCursor": target.log.head() })
            }
            "session/closed" => json!({
                "sessionId": session, "reason": "hostShutdown", "viewCursor": target.log.head(),
            }),
            "view/gap" => gap(target),
            "session/leaveCompleted" => json!({
                "sessionId": session, "commandId": target.leaving.first(), "outcome": "released",
                "viewCursor": target.log.head(),
            }),
            _ => self.fill_notice(session, method, turn.as_deref()),
        }
    }

    /// What depends on the members that were said: stage objects and the requirement.
    pub(super) fn finish_fill(&mut self, method: &str, said: &Value, params: &mut Value) {
        if !method.starts_with("approval/") || !params["subject"].is_object() {
            return;
        }
        let approval_id = text(params, "approvalId").unwrap_or_default();
        if let Some(stages) = params["subject"].get_mut("stages").and_then(Value::as_array_mut) {
            complete_stages(&approval_id, stages);
        }
        if said["currentRequirementId"].is_null() {
            let index = first_unresolved(&params["subject"]);
            params["currentRequirementId"] =
                json!({ "approvalId": approval_id, "sourceIndex": index });
        }
    }

    fn fill_item(
        &mut self,
        session: &str,
        method: &str,
        said: &Value,
        of: Option<&EntityRef>,
    ) -> Value {
        let said_id = text(&said["item"], "itemId");
        let of_id = match of {
            Some(EntityRef::Item { id, .. }) => Some(id.clone()),
            _ => None,
        };
        let id = said_id.or(of_id);
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let known = id.as_ref().and_then(|id| target.log.view().items.get(id)).cloned();
        let status = if method == "item/completed" { "completed" } else { "inProgress" };
        if let Some(mut item) = known {
            item["revision"] = (item["revision"].as_u64().unwrap_or(0) + 1).into();
            item["status"] = status.into();
            item["recordedAt"] = rfc3339(self.now).into();
            let streamed = id.as_ref().and_then(|id| target.streamed.get(id));
            for (field, more) in streamed.into_iter().flatten() {
                add_streamed(&mut item, field, more);
            }
            if method == "item/completed" {
                kinds::at_the_end(&mut item);
            }
            return item;
        }
        let turn = target.log.view().active.clone();
        let request = target.request.clone();
        let kind = text(&said["item"], "kind").unwrap_or_else(|| "agentMessage".into());
        if let ("userMessage", Some(turn), Some(request)) = (kind.as_str(), &turn, &request) {
            let mut item = self.user_message_item(turn, request, false);
            if let Some(id) = id {
                item["itemId"] = id.into();
            }
            return item;
        }
        let mut item = Map::new();
        let mut put = |name: &str, value: Value| item.insert(name.to_owned(), value);
        put("itemId", id.unwrap_or_else(|| self.ids.next(Kind::Item)).into());
        put("kind", kind.as_str().into());
        // A shell of the user belongs to no turn (ITM-6).
        put("turnId", json!(turn.filter(|_| kind != "userShell").map(|turn| turn.turn_id)));
        put("revision", 1.into());
        put("status", status.into());
        put("recordedAt", rfc3339(self.now).into());
        item.extend(kinds::members(&mut self.ids, self.now, &kind, method == "item/completed"));
        trim(self.profile, "Item", &mut item);
        Value::Object(item)
    }
}

/// The hole that the lost events since the last gap frame make (CUR-9).
fn gap(target: &Session) -> Value {
    let mut params = json!({ "sessionId": target.log.session_id });
    if let Some((first, last)) = target.missed {
        params["after"] = target.log.cursor(first - 1).into();
        let later = target.log.entries().iter().rev().take_while(|entry| entry.position > last);
        let next = later.filter(|entry| !entry.hidden).last();
        params["next"] =
            next.map_or_else(|| target.log.head(), |e| target.log.cursor(e.position)).into();
    }
    params
}

fn turn_completed(turn: Option<&str>, said: &Value) -> Value {
    let mut params = json!({ "turnId": turn, "terminal": "completed" });
    if said["terminal"] == "failed" {
        let error = json!({
            "kind": "modelError", "message": "the model call failed", "retryable": false,
        });
        params["error"] = error;
    }
    params
}

fn delta(session: &str, target: &Session, said: &Value, of: Option<&EntityRef>) -> Value {
    let items = &target.log.view().items;
    let named = text(said, "itemId").or_else(|| match of {
        Some(EntityRef::Item { id, .. }) => Some(id.clone()),
        _ => None,
    });
    let last_open = || items.iter().rev().find(|(_, item)| is_open(item)).map(|(id, _)| id.clone());
    let id = named.or_else(last_open).unwrap_or_default();
    let field = match items.get(&id).and_then(|item| item["kind"].as_str()) {
        Some("reasoning") => "summary.0",
        Some("toolCall" | "userShell") => "output",
        _ => "text",
    };
    json!({ "sessionId": session, "itemId": id, "field": field, "delta": "" })
}

/// Appends streamed text to the member that a delta field names (section 9.2).
fn add_streamed(item: &mut Value, field: &str, more: &str) {
    let slot = match field.split_once('.') {
        Some(("summary", index)) => {
            let index: usize = index.parse().unwrap_or(0);
            if !item["summary"].is_array() {
                item["summary"] = json!([]);
            }
            let Some(parts) = item["summary"].as_array_mut() else { return };
            while parts.len() <= index {
                parts.push("".into());
            }
            &mut parts[index]
        }
        _ if field == "output" => &mut item["visibleOutput"],
        _ => &mut item[field],
    };
    *slot = format!("{}{more}", slot.as_str().unwrap_or_default()).into();
}
