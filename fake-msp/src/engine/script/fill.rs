//! What the model says when the script does not.
//!
//! Purpose: complete params of every event, from the folded state and what was admitted.
//! Inputs: method, the members that were said, the entity. Outputs: params without positions.
//! It never judges; see the sibling `legal`. Rules: DSL-3, DSL-4.

use serde_json::{Map, Value, json};

use super::super::approvals::Opening;
use super::super::fold::{is_open, text};
use super::super::frames::FRAME_BYTES_MAX;
use super::super::ids::rfc3339;
use super::super::subjects::{
    approval_params, first_unresolved, shell_subject, stage, stage_update,
};
use super::super::{AskHandle, Host, Kind, Refusal, Session, TurnRef};
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

    fn fill_approval(&mut self, session: &str, said: &Value, of: Option<&EntityRef>) -> Value {
        let approval_id = text(said, "approvalId").unwrap_or_else(|| self.ids.next(Kind::Approval));
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let item = tool_item(target, said, of);
        let member = |name: &str| text(&item, name).unwrap_or_default();
        let args = member("args");
        let command = text(&said["subject"], "command").or_else(|| {
            let args: Value = serde_json::from_str(&args).ok()?;
            text(&args, "command")
        });
        let tool = member("tool");
        let root = target.log.birth().workspace_root.as_deref();
        let stages = said["subject"]["stages"].as_array();
        let subject = match (text(&said["subject"], "kind").as_deref(), command) {
            (None | Some("shell"), Some(command)) => {
                let mut subject = shell_subject(&approval_id, &command, root);
                if let Some(stages) = stages {
                    subject["stages"] = stages.clone().into();
                }
                subject
            }
            (Some(kind), _) => json!({ "kind": kind }),
            (None, None) => json!({ "kind": "tool", "toolName": tool }),
        };
        let mut params = approval_params(&Opening {
            approval_id: &approval_id,
            turn_id: &member("turnId"),
            item_id: &member("itemId"),
            call_id: &member("callId"),
            tool: &tool,
            args: &args,
            subject,
        });
        if let Some(item_id) = text(said, "itemId") {
            params["taskId"] = item_id.into();
        }
        params
    }

    fn fill_resolution(&mut self, session: &str, said: &Value, of: Option<&EntityRef>) -> Value {
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let id = approval_id(target, said, of);
        let known = target.log.view().approvals.get(&id).map(|known| known.params.clone());
        let decision = target.decisions.get(&id);
        let word = text(said, "decision")
            .or_else(|| decision.and_then(|decision| text(&decision.choice, "decision")))
            .unwrap_or_else(|| "approved".into());
        let by = if decision.is_some() { "user" } else { "policy" };
        let command = decision.map(|decision| decision.command_id.as_str());
        let opened = known.unwrap_or_else(|| {
            let item = tool_item(target, said, of);
            let mut opened = Map::new();
            opened.insert("itemId".into(), item["itemId"].clone());
            opened.insert("turnId".into(), item["turnId"].clone());
            opened
        });
        self.resolution_params(&id, &opened, &word, by, command)
    }

    fn fill_prompt(&mut self, session: &str, said: &Value, of: Option<&EntityRef>) -> Value {
        let id = text(said, "userInputId").unwrap_or_else(|| self.ids.next(Kind::Input));
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let item = tool_item(target, said, of);
        json!({
            "userInputId": id,
            "turnId": item["turnId"],
            "itemId": item["itemId"],
            "toolCallId": item["callId"],
            "toolName": "request_user_input",
            "questions": [{
                "id": "q1", "header": "Choice", "question": "Which one?",
                "selection": { "mode": "single" },
                "options": [{ "label": "A" }, { "label": "B" }],
            }],
        })
    }

    fn fill_settlement(&mut self, session: &str, said: &Value, of: Option<&EntityRef>) -> Value {
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let id = prompt_id(target, said, of);
        let settlement = target.settlements.get(&id);
        let known = settlement.map_or("answered", |settlement| settlement.outcome);
        let outcome = text(said, "outcome").unwrap_or_else(|| known.to_owned());
        let details = settlement.map_or(json!({}), |settlement| settlement.details.clone());
        let command = settlement.map(|settlement| settlement.command_id.as_str());
        self.settlement_params(&id, &outcome, &details, command)
    }

    /// `data` of an error by its code (section 14).
    pub(super) fn fill_error(&self, params: &Map<String, Value>, code: i64) -> Refusal {
        let member = |name: &str| params.get(name).cloned().unwrap_or_default();
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let view = self.sessions.get(session).map(|target| target.log.view());
        let approval = view
            .and_then(|view| view.approvals.get(params.get("approvalId").and_then(Value::as_str)?));
        let prompt = view
            .and_then(|view| view.prompts.get(params.get("userInputId").and_then(Value::as_str)?));
        let refusal = Refusal::new(code, "refused by the script");
        let head = self.sessions.get(session).map(|target| target.log.head());
        match code {
            -32020 | -32021 | -32024 => refusal.with("sessionId", session),
            -32030 => {
                refusal.with("commandId", member("commandId")).with("reason", "scripted_rejection")
            }
            -32001 => refusal,
            -32002 => refusal.with("limitBytes", FRAME_BYTES_MAX),
            -32010 => refusal.with("capability", "userShell"),
            -32011 if params.contains_key("outputRef") => {
                refusal.with("itemId", member("itemId")).with("outputRef", member("outputRef"))
            }
            -32011 => refusal.with("reason", "missingAnchor").with("anchor", member("cursor")),
            -32022 => refusal.with("paths", json!([])),
            -32023 => refusal.with("lastTurnId", member("cutPoint")["lastTurnId"].clone()),
            -32031 => refusal.with("capacity", 64),
            -32032 => refusal.with("selector", member("selector")),
            -32036..=-32034 => refusal.with("name", member("name")),
            -32038 => refusal.with("uploadId", member("uploadId")),
            -32041 => refusal
                .with("availability", "missing")
                .with("itemId", member("itemId"))
                .with("outputRef", member("outputRef")),
            -32042 => refusal.with("anchor", Value::Null).with("latestBoundaryCursor", Value::Null),
            -32040 => refusal.with("earliestCursor", Value::Null),
            -32050 | -32054 => refusal.with("approvalId", member("approvalId")),
            -32051 => {
                let resolution = approval.and_then(|approval| approval.resolution.as_ref());
                let summary = match resolution {
                    Some(known) => json!({
                        "decision": known["decision"], "resolvedBy": known["resolvedBy"],
                        "viewCursor": known["viewCursor"],
                    }),
                    None => json!({
                        "decision": "approved", "resolvedBy": "user", "viewCursor": head,
                    }),
                };
                refusal.with("approvalId", member("approvalId")).with("resolution", summary)
            }
            -32052 => refusal.with("choiceId", member("choiceId")),
            -32053 => {
                // If the client named the current stage, somebody else has just satisfied it.
                let sent = member("requirementId");
                let current = approval.map(|approval| {
                    let current = approval.get("currentRequirementId").clone();
                    let next = stage_update(&approval.params, &sent);
                    if current == sent { next["currentRequirementId"].clone() } else { current }
                });
                refusal
                    .with("approvalId", member("approvalId"))
                    .with("currentRequirementId", current.unwrap_or(sent))
            }
            -32056 => {
                let settlement = prompt.and_then(|prompt| prompt.settlement.as_ref());
                let outcome =
                    settlement.map_or(json!("answered"), |known| known["outcome"].clone());
                let cursor = settlement.map_or(json!(head), |known| known["viewCursor"].clone());
                let summary = json!({ "outcome": outcome, "viewCursor": cursor });
                refusal.with("userInputId", member("userInputId")).with("settlement", summary)
            }
            -32055 | -32057 => refusal.with("userInputId", member("userInputId")),
            _ => refusal,
        }
    }

    /// What the model must remember of an event beside the log.
    pub(super) fn note_effects(&mut self, session: &str, method: &str, params: &Value) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let turn_id = text(params, "turnId");
        match method {
            "turn/started" | "turn/completed" | "turn/unqueued" => {
                target.taken_back.retain(|taken| Some(&taken.turn_id) != turn_id.as_ref());
                let index = target
                    .waiting
                    .iter()
                    .position(|admitted| Some(&admitted.turn.turn_id) == turn_id.as_ref());
                match index.and_then(|index| target.waiting.remove(index)) {
                    Some(admitted) if method == "turn/started" => {
                        target.request = Some(admitted.request);
                    }
                    // It never started: its command is refused from now on (TRN-9).
                    Some(admitted) if method == "turn/completed" => {
                        self.ledger.fail_launch(&admitted.turn.command_id);
                    }
                    _ => {}
                }
            }
            "item/delta" => {
                let (Some(item), Some(field)) = (text(params, "itemId"), text(params, "field"))
                else {
                    return;
                };
                let streamed = target.streamed.entry(item).or_default().entry(field).or_default();
                streamed.push_str(params["delta"].as_str().unwrap_or_default());
            }
            "view/gap" => target.missed = None,
            "session/viewHealthChanged" => {
                target.healthy = params["health"] != "unavailable";
            }
            "session/leaveCompleted" => {
                let command = text(params, "commandId");
                target.leaving.retain(|leaving| Some(leaving) != command.as_ref());
            }
            "session/closed" => (target.loaded, target.subscribed) = (false, false),
            "item/updated" | "item/completed" => {
                if let Some(id) = text(&params["item"], "itemId") {
                    target.streamed.remove(&id);
                }
            }
            "approval/request" => {
                // A re-issue may move the stage; the log must know (APR-12).
                let mut update = Map::new();
                for name in ["approvalId", "subject", "currentRequirementId", "availableChoices"] {
                    if let Some(value) = params.get(name) {
                        update.insert(name.to_owned(), value.clone());
                    }
                }
                self.store_hidden(session, "approval/updated", update);
            }
            _ => {}
        }
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

/// The tool item that an approval or a prompt is about.
fn tool_item(target: &Session, said: &Value, of: Option<&EntityRef>) -> Value {
    let items = &target.log.view().items;
    let named = text(said, "itemId").or_else(|| match of {
        Some(EntityRef::Item { id, .. }) => Some(id.clone()),
        _ => None,
    });
    match named {
        Some(id) => items.get(&id).cloned().unwrap_or_else(|| json!({ "itemId": id })),
        None => items
            .values()
            .rev()
            .find(|item| is_open(item) && item["kind"] == "toolCall")
            .cloned()
            .unwrap_or_default(),
    }
}

fn approval_id(target: &Session, said: &Value, of: Option<&EntityRef>) -> String {
    text(said, "approvalId").unwrap_or_else(|| match of {
        Some(EntityRef::Approval { id, .. }) => id.clone(),
        _ => target
            .log
            .view()
            .pending_approvals()
            .last()
            .map(|(id, _)| id.clone())
            .unwrap_or_default(),
    })
}

fn prompt_id(target: &Session, said: &Value, of: Option<&EntityRef>) -> String {
    text(said, "userInputId").unwrap_or_else(|| match of {
        Some(EntityRef::UserInput { id, .. }) => id.clone(),
        _ => {
            target.log.view().pending_prompts().last().map(|(id, _)| id.clone()).unwrap_or_default()
        }
    })
}

fn approval_updated(target: &Session, said: &Value, of: Option<&EntityRef>) -> Value {
    let id = approval_id(target, said, of);
    let Some(known) = target.log.view().approvals.get(&id) else {
        return json!({ "approvalId": id });
    };
    let kind = text(&said["change"], "kind").unwrap_or_else(|| "stageResolved".into());
    let current = known.get("currentRequirementId");
    let decided = target.decisions.get(&id).filter(|decision| decision.requirement == *current);
    let choice = |name: &str, default: &str| {
        decided.map_or(json!(default), |decision| decision.choice[name].clone())
    };
    let mut update = match kind.as_str() {
        "stageResolved" => stage_update(&known.params, current),
        _ => json!({
            "subject": known.get("subject"),
            "currentRequirementId": current,
            "availableChoices": known.get("availableChoices"),
        }),
    };
    update["change"] = match kind.as_str() {
        "stageResolved" => json!({
            "kind": kind, "requirementId": current,
            "choiceId": choice("choiceId", "allow_once"), "decision": choice("decision", "approved"),
        }),
        "policyPersistence" => json!({ "kind": kind, "status": "succeeded" }),
        "restartRecovered" => json!({ "kind": kind, "reparsed": false, "executable": true }),
        _ => json!({ "kind": kind }),
    };
    update["approvalId"] = id.into();
    update
}

/// Completes stage objects of which a script said a resolution word and an argv.
fn complete_stages(approval_id: &str, stages: &mut [Value]) {
    let total = stages.len();
    for (index, slot) in stages.iter_mut().enumerate() {
        let argv: Vec<&str> =
            slot["argv"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let word = slot["resolution"].as_str().unwrap_or("unresolved");
        let mut whole = stage(approval_id, index, total, &argv, word);
        if let (Some(whole), Some(said)) = (whole.as_object_mut(), slot.as_object()) {
            for (name, value) in said.iter().filter(|(name, _)| *name != "resolution") {
                whole.insert(name.clone(), value.clone());
            }
            if let Some(resolution) = said.get("resolution").filter(|value| value.is_object()) {
                whole.insert("resolution".into(), resolution.clone());
            }
        }
        *slot = whole;
    }
}
