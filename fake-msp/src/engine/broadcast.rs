//! Broadcasts that follow from events: status and list changes.
//!
//! Purpose: tell every connection that listens how sessions move, whether or not it looks at them.
//! Invariants: derived from the state after the event; `session/listChanged` needs its grant; a script
//! says its own broadcasts, so a scripted host adds no status changes. Rules: SES-12, HSK-5.

use serde_json::{Map, Value, json};

use super::head::{attention, status};
use super::{Host, Mode};

impl Host {
    /// What an event that was just stored moves in lists of sessions.
    pub(super) fn broadcast_after(&mut self, session: &str, method: &str) {
        match method {
            "turn/started"
            | "turn/completed"
            | "approval/requested"
            | "approval/resolved"
            | "userInput/requested"
            | "userInput/settled" => {
                self.moved.insert(session.to_owned());
                self.list_changed(session);
            }
            "session/nameChanged" | "session/modelChanged" | "session/branchChanged" => {
                self.list_changed(session);
            }
            _ => {}
        }
    }

    /// Status changes of everything that happened at once, so that they stand between no cause and its
    /// effect.
    pub(super) fn tell_status(&mut self) {
        for session in std::mem::take(&mut self.moved) {
            self.status_changed(&session);
        }
    }

    fn status_changed(&mut self, session: &str) {
        let exists = self.profile.notification("session/statusChanged").is_some();
        let Some(target) = self.sessions.get(session).filter(|_| exists) else { return };
        if self.options.mode == Mode::Scripted || !target.loaded {
            return;
        }
        let now = (status(target), attention(target));
        if target.told_status == now {
            return;
        }
        let mut params = Map::new();
        params.insert("sessionId".into(), session.into());
        params.insert("status".into(), now.0.into());
        params.insert("viewCursor".into(), target.log.head().into());
        if !now.1.is_empty() {
            params.insert("attention".into(), now.1.clone().into());
        }
        if let Some(target) = self.sessions.get_mut(session) {
            target.told_status = now;
        }
        self.notify("session/statusChanged", &Value::Object(params));
    }

    /// A row of the list is new or looks different now.
    pub(super) fn list_changed(&mut self, session: &str) {
        let granted = self.connection.granted.contains(&"sessionListStream");
        let Some(target) = self.sessions.get(session).filter(|_| granted) else { return };
        let row = json!({ "session": self.session_object(target) });
        self.notify("session/listChanged", &row);
    }
}
