//! A hole in what one connection was sent.
//!
//! Purpose: the word `gap N`. Invariants: what is left out is in the log and a page has it; the hole
//! lies between two cursors of which the client has seen both (CUR-9), the second one before the
//! notice. Rules: CUR-9, HOST-10.

use serde_json::json;

use super::ids::rfc3339;
use super::{Host, Kind, TurnRef};
use crate::profiles::trim;

impl Host {
    /// Stores whole messages that nobody is told of. Returns the cursor before the first.
    pub(super) fn lose_messages(&mut self, session: &str, turn: &TurnRef, count: u64) -> String {
        let after = self.head(session);
        for number in 1..=count {
            let mut item = json!({
                "itemId": self.ids.next(Kind::Item),
                "turnId": turn.turn_id,
                "kind": "agentMessage",
                "messagePhase": "commentary",
                "revision": 1,
                "status": "completed",
                "recordedAt": rfc3339(self.now),
                "text": format!("Message {number} of {count} was left out."),
            });
            if let Some(members) = item.as_object_mut() {
                trim(self.profile, "Item", members);
            }
            self.store(session, "item/completed", json!({ "item": item }));
        }
        after
    }

    /// Says that everything between `after` and the newest event was left out.
    pub(super) fn name_gap(&mut self, session: &str, after: &str) {
        let next = self.head(session);
        self.notify("view/gap", &json!({ "sessionId": session, "after": after, "next": next }));
    }

    fn head(&self, session: &str) -> String {
        self.sessions.get(session).map(|target| target.log.head()).unwrap_or_default()
    }
}
