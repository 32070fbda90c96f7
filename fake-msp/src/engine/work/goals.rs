//! `goal/*`: what the session works towards.
//!
//! ```text
//! (none) ─set─► active ◄─resume─┐
//!                 │  └───pause──►paused       edit keeps the status, clear ends at (none)
//!                 └──turn/interrupt of the goal's turn──► paused
//! ```
//! A command on an idle session wakes a turn unless the goal is paused; the turn has an id of its
//! own and names the goal command. Invariant: the goal is what the log folds to. Rules: section
//! 13.1, STA-1.

use serde_json::{Map, Value, json};

use super::super::ids::EPOCH_MS;
use super::super::sessions::str_of;
use super::super::turns::{Admitted, Origin};
use super::super::{After, Host, Kind, Refusal, Reply, TurnRef};
use super::{Effect, accepted, rejected};
use crate::profiles::trim;

impl Host {
    pub(super) fn goal_command(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let objective = str_of(params, "objective").map(str::trim);
        if objective.is_some_and(str::is_empty) {
            return Err(Refusal::invalid_params("objective is empty"));
        }
        let (now, profile) = (EPOCH_MS + self.now, self.profile);
        let session = self.loaded(params)?;
        let id = session.log.session_id.clone();
        let old = session.log.view().goal.clone();
        if old.is_null() && method != "goal/set" {
            return Err(rejected(params, "missing_goal"));
        }
        if method == "goal/clear" {
            after.push(After::Goal { session: id, goal: Value::Null });
            return Ok(accepted(params));
        }
        let mut goal = match method {
            "goal/set" => json!({ "percentComplete": 0, "createdAtMs": now, "status": "active" }),
            _ => old,
        };
        goal["updatedAtMs"] = now.into();
        if let Some(objective) = objective {
            goal["objective"] = objective.into();
        }
        match method {
            "goal/pause" => goal["status"] = "paused".into(),
            "goal/resume" => goal["status"] = "active".into(),
            _ => {}
        }
        if let Value::Object(goal) = &mut goal {
            trim(profile, "Goal", goal);
        }
        let wakes = method != "goal/pause" && goal["status"] == "active";
        after.push(After::Goal { session: id.clone(), goal });
        let mut ack = accepted(params);
        if method == "goal/pause" {
            return Ok(ack);
        }
        if let Some(turn) = session.log.view().active.clone() {
            ack["turnId"] = turn.turn_id.into();
        } else if wakes && session.waiting.is_empty() {
            ack["turnId"] = self.admit_native(&id, params, Origin::Goal).into();
            after.push(After::Work { session: id, effect: Effect::Wake });
        }
        Ok(ack)
    }

    /// Admits a turn that no `turn/start` asked for. Its id is minted, not the command's, as in the
    /// recorded goal sessions.
    pub(super) fn admit_native(
        &mut self,
        session: &str,
        params: &Map<String, Value>,
        origin: Origin,
    ) -> String {
        let turn_id = self.ids.next(Kind::Turn);
        let command_id = str_of(params, "commandId").unwrap_or_default().to_owned();
        let turn = TurnRef { turn_id: turn_id.clone(), command_id };
        if let Some(target) = self.sessions.get_mut(session) {
            if origin == Origin::Goal {
                target.work.goal_turn = Some(turn_id.clone());
            }
            let request = Value::Object(params.clone());
            target.waiting.push_back(Admitted { turn, request, origin, queued: false });
        }
        turn_id
    }

    /// The goal is another one. Older hosts clear it without an event.
    pub(in super::super) fn set_goal(&mut self, session: &str, goal: Value) {
        let silent = goal.is_null() && !self.profile.goal_clear_event;
        let params = json!({ "goal": goal });
        match (silent, params) {
            (true, Value::Object(params)) => {
                self.store_hidden(session, "session/goalChanged", params);
            }
            (_, params) => {
                self.event(session, "session/goalChanged", params);
            }
        }
    }

    /// An interrupt of the goal's turn pauses the goal before the turn ends.
    pub(in super::super) fn pause_goal_of(&mut self, session: &str, turn: &str) {
        let Some(target) = self.sessions.get(session) else { return };
        let mut goal = target.log.view().goal.clone();
        if target.work.goal_turn.as_deref() != Some(turn) || goal["status"] != "active" {
            return;
        }
        goal["status"] = "paused".into();
        if goal["updatedAtMs"].is_u64() {
            goal["updatedAtMs"] = (EPOCH_MS + self.now).into();
        }
        self.set_goal(session, goal);
    }
}
