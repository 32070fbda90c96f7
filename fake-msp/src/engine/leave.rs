//! Unloading: leave, idle, shutdown.
//!
//! ```text
//! loaded ─leave─► leaving ──no work left──► closed(leave), leaveCompleted
//!    ├────────idle window, nobody looks───► closed(idle)
//!    └────────end of stdin────────────────► closed(hostShutdown)
//! ```
//! Invariants: a session with work or a question is never unloaded by idleness; the ack of a leave is
//! admission, its outcome is pushed once per command and again for a replay; a crash says nothing.
//! Rules: SES-9, SES-10, PRC-4.

use serde_json::{Map, Value, json};

use super::head::attention;
use super::sessions::str_of;
use super::{After, Host, Reply, Session};

impl Host {
    pub(super) fn session_leave(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let id = session.log.session_id.clone();
        let command_id = str_of(params, "commandId").unwrap_or_default().to_owned();
        let stop = params.get("stop") == Some(&Value::Bool(true));
        after.push(After::Leave { session: id, command_id: command_id.clone(), stop });
        Ok(json!({ "commandId": command_id, "status": "accepted" }))
    }

    pub(super) fn on_leave(&mut self, session: &str, command_id: String, stop: bool) {
        if stop {
            self.stop_work(session, "the client left the session");
        }
        if let Some(target) = self.sessions.get_mut(session) {
            target.leaving.push(command_id);
        }
    }

    /// Cancels what runs and takes back what waits.
    fn stop_work(&mut self, session: &str, reason: &'static str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let waiting = std::mem::take(&mut target.waiting);
        let active = target.log.view().active.clone();
        for admitted in waiting {
            self.event(session, "turn/unqueued", admitted.turn.to_value());
        }
        if let Some(turn) = active {
            self.cancel_turn(session, &turn.turn_id, reason);
        }
        self.end_work(session);
    }

    /// The outcome of a leave once more, for its replay (SES-10).
    pub(super) fn repeat_leave(&mut self, command_id: &str) {
        if let Some(outcome) = self.left.get(command_id).cloned() {
            self.notify("session/leaveCompleted", &outcome);
        }
    }

    /// Completes leaves whose session has no work left, and unloads what nobody looks at.
    pub(super) fn unload_quiet(&mut self) {
        // A story that answers the leave says its outcome too (DSL-7).
        let told = self.is_asked("session/leave");
        let leaving =
            |session: &Session| !told && !session.leaving.is_empty() && !has_work(session);
        let due = |session: &Session| self.idle_deadline(session).is_some_and(|at| at <= self.now);
        let ready: Vec<String> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.loaded && (leaving(session) || due(session)))
            .map(|(id, _)| id.clone())
            .collect();
        for id in ready {
            let commands = match self.sessions.get_mut(&id) {
                Some(target) => std::mem::take(&mut target.leaving),
                None => continue,
            };
            let head = self.sessions[&id].log.head();
            self.unload(&id, if commands.is_empty() { "idle" } else { "leave" });
            for command_id in commands {
                let outcome = json!({
                    "sessionId": id, "commandId": command_id, "outcome": "released",
                    "viewCursor": head,
                });
                self.notify("session/leaveCompleted", &outcome);
                self.left.insert(command_id, outcome);
            }
        }
    }

    /// When a session unloads by itself (SES-9).
    pub(super) fn idle_deadline(&self, session: &Session) -> Option<u64> {
        let window = self.options.idle_unload_ms?;
        let busy = session.subscribed || has_work(session) || !attention(session).is_empty();
        (session.loaded && !busy).then(|| session.quiet_since.max(session.updated_ms) + window)
    }

    fn unload(&mut self, session: &str, reason: &str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        target.loaded = false;
        target.subscribed = false;
        target.plan = None;
        let head = target.log.head();
        self.give_back(session);
        if self.profile.notification("session/closed").is_some() {
            let closed = json!({ "sessionId": session, "reason": reason, "viewCursor": head });
            self.notify("session/closed", &closed);
        }
        if self.current.as_deref() == Some(session) && !self.sessions.contains_key(session) {
            self.current = None;
        }
    }

    /// The orderly end of every loaded session (PRC-4).
    pub(super) fn close_sessions(&mut self) {
        let loaded = self.sessions.iter().filter(|(_, session)| session.loaded);
        for id in loaded.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.stop_work(&id, "the host is closing");
            self.unload(&id, "hostShutdown");
        }
    }
}

fn has_work(session: &Session) -> bool {
    session.log.view().active.is_some()
        || !session.waiting.is_empty()
        || session.work.due().is_some()
}
