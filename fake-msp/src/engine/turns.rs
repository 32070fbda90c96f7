//! Turns: admission, launch, cancel.
//!
//! ```text
//! turn/start ─► waiting ─► active ─► ended      (turn/started at ─►active, turn/completed at ─►ended)
//!                  └──────────────► ended       (turn/unqueued)
//! ```
//! Invariants: one active turn a session; one terminal a launched turn, after all its items
//! (HOST-11, TRN-12). Rules: TRN-1..12, CMD-11.

use serde_json::{Map, Value, json};

use super::fold::text;
use super::ids::rfc3339;
use super::sessions::str_of;
use super::{After, Host, Kind, Mode, Refusal, Reply, TurnRef};
use crate::profiles::trim;

/// A turn that was admitted and has not started.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    pub(crate) turn: TurnRef,
    /// The params of its `turn/start`.
    pub(crate) request: Value,
}

impl Host {
    pub(super) fn turn_start(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let granted = self.connection.granted.contains(&"userShell");
        let session = self.loaded(params)?;
        check_input(params)?;
        if params.get("userShell").is_some() && !granted {
            let refusal = Refusal::new(-32010, "userShell needs the userShell capability");
            return Err(refusal.with("capability", "userShell"));
        }
        let id = session.log.session_id.clone();
        let command_id = str_of(params, "commandId").unwrap_or_default().to_owned();
        let active = session.log.view().active.clone();
        let busy = active.is_some() || !session.waiting.is_empty();
        let policy = str_of(params, "ifBusy").unwrap_or("queue");
        let ack = |turn_id: &str, started: bool, disposition: &str| {
            json!({
                "commandId": command_id, "status": "accepted", "turnId": turn_id,
                "startedNewTurn": started, "disposition": disposition,
            })
        };
        if let (true, "steer", Some(turn)) = (busy, policy, &active) {
            let input = Value::Object(params.clone());
            after.push(After::Steered { session: id, turn: turn.clone(), input });
            return Ok(ack(&turn.turn_id, false, "steered"));
        }
        // For a fresh turn the turn id is the command id (CMD-11).
        let turn = TurnRef { turn_id: command_id.clone(), command_id: command_id.clone() };
        let admitted = Admitted { turn, request: Value::Object(params.clone()) };
        match (busy, policy, active) {
            (true, "replace", Some(active)) => {
                session.waiting.push_front(admitted);
                let (turn, reason) = (active.turn_id, "replaced by another turn");
                after.push(After::Cancel { session: id, turn, reason });
                Ok(ack(&command_id, false, "queued"))
            }
            (true, _, _) => {
                session.waiting.push_back(admitted);
                Ok(ack(&command_id, false, "queued"))
            }
            (false, _, _) => {
                session.waiting.push_back(admitted);
                after.push(After::Launch { session: id });
                Ok(ack(&command_id, true, "started"))
            }
        }
    }

    pub(super) fn turn_steer(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        check_input(params)?;
        let expected = str_of(params, "expectedTurnId").unwrap_or_default();
        let command_id = str_of(params, "commandId").unwrap_or_default();
        let turn = session.log.view().active.clone().filter(|turn| turn.turn_id == expected);
        let Some(turn) = turn else {
            return Err(Refusal::rejected(command_id, "turn_not_running"));
        };
        let ack = json!({ "commandId": command_id, "status": "accepted", "turnId": turn.turn_id });
        after.push(After::Steered {
            session: session.log.session_id.clone(),
            turn,
            input: Value::Object(params.clone()),
        });
        Ok(ack)
    }

    /// `turn/cancel` and `turn/interrupt`: the ack says admitted, the view says stopped (TRN-5).
    pub(super) fn turn_cancel(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let command_id = str_of(params, "commandId").unwrap_or_default();
        let wanted = str_of(params, "turnId");
        let active = session.log.view().active.clone();
        let target = active.filter(|turn| wanted.is_none_or(|wanted| wanted == turn.turn_id));
        let Some(turn) = target else {
            // The word is not published; a client reads it as "already ended".
            return Err(Refusal::rejected(command_id, "turn_not_running"));
        };
        after.push(After::Cancel {
            session: session.log.session_id.clone(),
            turn: turn.turn_id.clone(),
            reason: "cancelled by the client",
        });
        Ok(json!({ "commandId": command_id, "status": "accepted", "turnId": turn.turn_id }))
    }

    pub(super) fn turn_unqueue(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let command_id = str_of(params, "commandId").unwrap_or_default();
        let turn_id = str_of(params, "turnId").unwrap_or_default();
        let index = session.waiting.iter().position(|admitted| admitted.turn.turn_id == turn_id);
        let Some(admitted) = index.and_then(|index| session.waiting.remove(index)) else {
            return Err(Refusal::rejected(command_id, "turn_not_queued"));
        };
        after.push(After::Event {
            session: session.log.session_id.clone(),
            method: "turn/unqueued",
            params: admitted.turn.to_value(),
        });
        Ok(json!({ "commandId": command_id, "status": "accepted", "turnId": turn_id }))
    }

    /// Starts the next waiting turn of an idle session.
    pub(super) fn launch(&mut self, session: &str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        if target.log.view().active.is_some() {
            return;
        }
        let Some(admitted) = target.waiting.pop_front() else { return };
        self.event(session, "turn/started", admitted.turn.to_value());
        self.user_message(session, &admitted.turn, &admitted.request, false);
        if self.options.mode == Mode::Obliging {
            self.plan_turn(session, &admitted);
        }
    }

    /// The `userMessage` item of a `turn/start` or a steer: completed at once (ITM-3).
    pub(crate) fn user_message(
        &mut self,
        session: &str,
        turn: &TurnRef,
        request: &Value,
        steered: bool,
    ) -> Value {
        let item = self.user_message_item(turn, request, steered);
        self.event(session, "item/completed", json!({ "item": item }))
    }

    /// The item alone, for scripts that send it themselves.
    pub(crate) fn user_message_item(
        &mut self,
        turn: &TurnRef,
        request: &Value,
        steered: bool,
    ) -> Value {
        let mut item = Map::new();
        let mut put = |name: &str, value: Value| item.insert(name.to_owned(), value);
        put("itemId", self.ids.next(Kind::Item).into());
        put("kind", "userMessage".into());
        put("turnId", turn.turn_id.as_str().into());
        put("revision", 1.into());
        put("status", "completed".into());
        put("recordedAt", rfc3339(self.now).into());
        put("text", input_text(request).into());
        put("commandId", request["commandId"].clone());
        if let Some(display) = text(request, "displayText") {
            put("displayText", display.into());
        }
        if steered {
            put("steered", true.into());
        }
        let attachments: Vec<Value> = request["input"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|part| part["type"] == "image")
            .map(|part| {
                let mut shown = Map::new();
                for name in ["type", "mediaType", "width", "height"] {
                    if let Some(value) = part.get(name).filter(|value| !value.is_null()) {
                        shown.insert(name.to_owned(), value.clone());
                    }
                }
                Value::Object(shown)
            })
            .collect();
        if !attachments.is_empty() {
            put("attachments", attachments.into());
        }
        trim(self.profile, "Item", &mut item);
        Value::Object(item)
    }

    /// Closes everything that is open in a turn and ends it as cancelled.
    pub(super) fn cancel_turn(&mut self, session: &str, turn_id: &str, reason: &'static str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let view = target.log.view();
        if view.active.as_ref().is_none_or(|active| active.turn_id != turn_id) {
            return; // It ended by itself meanwhile: the first terminal wins.
        }
        let belongs = |params: &Map<String, Value>| params["turnId"] == turn_id;
        let approvals: Vec<String> = view
            .pending_approvals()
            .filter(|(_, approval)| belongs(&approval.params))
            .map(|(id, _)| id.clone())
            .collect();
        let prompts: Vec<String> = view
            .pending_prompts()
            .filter(|(_, prompt)| belongs(&prompt.params))
            .map(|(id, _)| id.clone())
            .collect();
        let plan = target.plan.take();
        for id in approvals {
            self.resolve_approval(session, &id, "abort", "policy", None);
        }
        for id in prompts {
            self.settle_prompt(session, &id, "aborted", &json!({}), None);
        }
        // The plan knows the text that was streamed; what it did not open comes from the view.
        if let Some(mut plan) = plan {
            self.close(session, &mut plan, "cancelled", None);
        }
        let view = self.sessions.get(session).map(|target| target.log.view());
        for item in view.map(|view| view.open_items(turn_id)).unwrap_or_default() {
            self.close_item(session, &item, "cancelled");
        }
        let end = json!({ "turnId": turn_id, "terminal": "cancelled", "reason": reason });
        self.event(session, "turn/completed", end);
        self.launch(session);
    }

    /// Completes an open item as it stands.
    pub(super) fn close_item(&mut self, session: &str, item: &Value, status: &str) {
        let mut item = item.clone();
        item["revision"] = (item["revision"].as_u64().unwrap_or(0) + 1).into();
        item["status"] = status.into();
        item["recordedAt"] = rfc3339(self.now).into();
        self.event(session, "item/completed", json!({ "item": item }));
    }
}

/// The text parts of an input, one line each.
pub(super) fn input_text(request: &Value) -> String {
    let parts = request["input"].as_array().into_iter().flatten();
    let texts: Vec<&str> = parts
        .filter(|part| part["type"] == "text")
        .filter_map(|part| part["text"].as_str())
        .collect();
    texts.join("\n")
}

/// Rules of an input that a member table cannot say (section 8.1).
fn check_input(params: &Map<String, Value>) -> Result<(), Refusal> {
    let parts = params["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    if parts.is_empty() {
        return Err(Refusal::invalid_params("input is empty"));
    }
    for (index, part) in parts.iter().enumerate() {
        if part["width"].is_null() != part["height"].is_null() {
            let text = format!("input[{index}]: width and height come together");
            return Err(Refusal::invalid_params(text));
        }
        match part["type"].as_str() {
            Some("skill") => {
                let refusal = Refusal::new(-32032, "the fake host has no skills");
                return Err(refusal.with("selector", part["selector"].clone()));
            }
            Some("video") => {
                let refusal = Refusal::new(-32038, "the fake host takes no uploads");
                return Err(refusal.with("uploadId", part["uploadId"].clone()));
            }
            _ => {}
        }
    }
    Ok(())
}
