//! What a scripted event changes beside the folded state.

use serde_json::{Map, Value};

use super::super::Host;
use super::super::fold::text;

impl Host {
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
