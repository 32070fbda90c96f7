//! Turns: admission, launch, cancel.
//!
//! ```text
//! turn/start ─► waiting ─► active ─► ended      (turn/started at ─►active, turn/completed at ─►ended)
//!                  └──────────────► ended       (turn/unqueued)
//! ```
//! Invariants: one active turn a session; one terminal a launched turn, after all its items
//! (HOST-11, TRN-12). Rules: TRN-1..12, CMD-11.

use serde_json::{Map, Value, json};

use super::input::input_text;
use super::sessions::str_of;
use super::words::{self, Word};
use super::{After, Host, Mode, Refusal, Reply, TurnRef};

/// Most turns that may wait in a session; more are backpressured, and nothing is admitted (CMD-9).
const WAITING_MAX: usize = 256;

/// Where a turn comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `turn/start`.
    Prompt,
    /// A goal command on an idle session.
    Goal,
    /// `workflow/resume` on an idle session.
    Workflow,
}

/// A turn that was admitted and has not started.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    pub(crate) turn: TurnRef,
    /// The params of the command that asked for it.
    pub(crate) request: Value,
    pub(crate) origin: Origin,
    /// It had to wait for another turn.
    pub(crate) queued: bool,
}

/// How a turn is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// `turn/cancel`.
    Cancel,
    /// `turn/interrupt`, and whether the user message is to be taken back.
    Interrupt { retract: bool },
    /// `ifBusy: replace`.
    Replace,
}

impl Host {
    pub(super) fn turn_start(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        self.loaded(params)?;
        if params.get("userShell").is_some() && self.profile.has("TurnStartParams", "userShell") {
            self.need("userShell", "turn/start.userShell")?;
        }
        self.check_input(params, true)?;
        let session = self.loaded(params)?;
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
        if session.waiting.len() >= WAITING_MAX {
            let refusal = Refusal::new(-32031, "too many turns wait");
            return Err(refusal.with("capacity", WAITING_MAX));
        }
        if let (true, "steer", Some(turn)) = (busy, policy, &active) {
            let input = Value::Object(params.clone());
            after.push(After::Steered { session: id, turn: turn.clone(), input });
            return Ok(ack(&turn.turn_id, false, "steered"));
        }
        // For a fresh turn the turn id is the command id (CMD-11).
        let turn = TurnRef { turn_id: command_id.clone(), command_id: command_id.clone() };
        let request = Value::Object(params.clone());
        let admitted = Admitted { turn, request, origin: Origin::Prompt, queued: busy };
        match (busy, policy, active) {
            (true, "replace", Some(active)) => {
                session.waiting.push_front(admitted);
                after.push(After::Stop { session: id, turn: active.turn_id, how: Stop::Replace });
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
        self.loaded(params)?;
        self.check_input(params, false)?;
        let session = self.loaded(params)?;
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
        method: &str,
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
        let retract = params.get("retract") == Some(&Value::Bool(true));
        after.push(After::Stop {
            session: session.log.session_id.clone(),
            turn: turn.turn_id.clone(),
            how: match method {
                "turn/interrupt" => Stop::Interrupt { retract },
                _ => Stop::Cancel,
            },
        });
        Ok(json!({ "commandId": command_id, "status": "accepted", "turnId": turn.turn_id }))
    }

    pub(super) fn turn_unqueue(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let scripted = self.options.mode == Mode::Scripted;
        let session = self.loaded(params)?;
        let command_id = str_of(params, "commandId").unwrap_or_default();
        let turn_id = str_of(params, "turnId").unwrap_or_default();
        let index = session.waiting.iter().position(|admitted| admitted.turn.turn_id == turn_id);
        let Some(admitted) = index.and_then(|index| session.waiting.remove(index)) else {
            return Err(Refusal::rejected(command_id, "turn_not_queued"));
        };
        if scripted {
            session.taken_back.push(admitted.turn.clone());
        }
        after.push(After::Event {
            session: session.log.session_id.clone(),
            method: "turn/unqueued",
            params: admitted.turn.to_value(),
        });
        Ok(json!({ "commandId": command_id, "status": "accepted", "turnId": turn_id }))
    }

    /// Starts the next waiting turn of an idle session.
    pub(super) fn launch(&mut self, session: &str) {
        let admitted = loop {
            let Some(target) = self.sessions.get_mut(session) else { return };
            if target.log.view().active.is_some() {
                return;
            }
            let Some(admitted) = target.waiting.pop_front() else { return };
            if !(admitted.queued && self.cannot_launch(&admitted)) {
                break admitted;
            }
            self.fail_launch(session, &admitted);
        };
        self.event(session, "turn/started", admitted.turn.to_value());
        if admitted.origin == Origin::Prompt {
            self.user_message(session, &admitted.turn, &admitted.request, false);
        }
        if self.options.mode == Mode::Obliging {
            self.plan_turn(session, &admitted);
        }
    }

    /// The prompt of a queued turn may ask for a failed launch.
    fn cannot_launch(&self, admitted: &Admitted) -> bool {
        let word = words::read(&input_text(&admitted.request));
        self.options.mode == Mode::Obliging && word == Word::Fail { kind: "launchError".into() }
    }

    /// A terminal without a start; the command that was accepted is refused from now on (TRN-9).
    fn fail_launch(&mut self, session: &str, admitted: &Admitted) {
        let text = "queued turn launch failed: the prompt asked for it";
        let end = json!({
            "turnId": admitted.turn.turn_id, "terminal": "failed", "reason": text,
            "error": { "kind": "launchError", "message": text, "retryable": true },
        });
        self.ledger.fail_launch(&admitted.turn.command_id);
        self.event(session, "turn/completed", end);
    }

    /// Plays an admitted stop. The first terminal wins: a turn that ended meanwhile stays as it is.
    pub(super) fn stop_turn(&mut self, session: &str, turn_id: &str, how: Stop) {
        let active = self.sessions.get(session).and_then(|target| target.log.view().active.clone());
        let Some(turn) = active.filter(|turn| turn.turn_id == turn_id) else { return };
        let reason = match how {
            Stop::Cancel => "cancelled by the client",
            Stop::Interrupt { .. } => "interrupted by the client",
            Stop::Replace => "replaced by another turn",
        };
        if matches!(how, Stop::Interrupt { .. }) {
            self.pause_goal_of(session, turn_id);
        }
        if how == (Stop::Interrupt { retract: true }) {
            self.retract(session, &turn);
        }
        self.cancel_turn(session, turn_id, reason);
    }

    /// Takes the user message back while the model has not said anything yet. A host that cannot say
    /// `declined` says nothing then: a client reads an absent outcome as accepted.
    fn retract(&mut self, session: &str, turn: &TurnRef) {
        let Some(target) = self.sessions.get(session) else { return };
        let mut items = target.log.view().items.values();
        let answered =
            items.any(|item| item["turnId"] == turn.turn_id && item["kind"] != "userMessage");
        let mut params = turn.to_value();
        match (self.profile.has("TurnRetractedParams", "outcome"), answered) {
            (false, true) => return,
            (false, false) => {}
            (true, answered) => {
                params["outcome"] = if answered { "declined" } else { "accepted" }.into();
            }
        }
        self.event(session, "turn/retracted", params);
    }

    /// Closes what is open in a turn and ends it as cancelled. Background tools go on: they have
    /// commands of their own (TRN-12).
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
            let set = plan.closing_members(reason);
            self.close(session, &mut plan, "cancelled", &set);
        }
        let view = self.sessions.get(session).map(|target| target.log.view());
        for item in view.map(|view| view.open_items(turn_id)).unwrap_or_default() {
            if item["background"] != true {
                self.cancel_item(session, &item);
            }
        }
        let end = json!({ "turnId": turn_id, "terminal": "cancelled", "reason": reason });
        self.event(session, "turn/completed", end);
        self.tell_rules(session);
        self.launch(session);
    }
}
