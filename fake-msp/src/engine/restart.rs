//! A new process over the same durable state.
//!
//! Purpose: what a client meets that spawns Muse again after the host's death: the logs and the
//! ledger are there, nothing is loaded, and an interrupted turn was closed by inference.
//! Rules: CMD-6, CMD-10, SES-11, TRN-13, APR-23, PRC-9.

use serde_json::json;

use super::{Connection, Host};

/// What the new process makes of a turn that the old one left running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// The turn ends `failed` with reason `crash_inferred` and without `error` (SES-11); its
    /// pending approvals and prompts are closed. Open items stay open: a dead host completes
    /// nothing (ITM-4).
    Infer,
    /// The turn and what is pending stay as they are; a resume issues the requests again (APR-23).
    Keep,
}

impl Host {
    /// The next process of this host. Ids go on counting; the connection, the request ids and the
    /// oracle's findings start anew.
    #[must_use]
    pub fn restart(mut self, recovery: Recovery) -> Self {
        self.out.clear();
        self.connection = Connection::new();
        self.asks.clear();
        self.ledger.restart();
        self.violations.clear();
        self.current = None;
        self.forget_stored();
        self.stdout_open = true;
        self.ended = false;
        for session in self.sessions.values_mut() {
            session.loaded = false;
            session.subscribed = false;
            session.plan = None;
            session.work.clear();
            session.leaving.clear();
            session.missed = None;
            session.told_status = ("idle", Vec::new());
            session.waiting.clear();
            session.streamed.clear();
        }
        if recovery == Recovery::Infer {
            for id in self.sessions.keys().cloned().collect::<Vec<_>>() {
                self.infer_end(&id);
            }
        }
        self
    }

    /// Nobody is subscribed yet, so these events are only stored.
    pub(super) fn infer_end(&mut self, session: &str) {
        let Some(target) = self.sessions.get(session) else { return };
        let view = target.log.view();
        let Some(turn) = view.active.clone() else { return };
        let approvals: Vec<String> = view.pending_approvals().map(|(id, _)| id.clone()).collect();
        let prompts: Vec<String> = view.pending_prompts().map(|(id, _)| id.clone()).collect();
        for id in approvals {
            self.resolve_approval(session, &id, "abort", "policy", None);
        }
        for id in prompts {
            self.settle_prompt(session, &id, "aborted", &json!({}), None);
        }
        let end = json!({
            "turnId": turn.turn_id, "terminal": "failed", "reason": "crash_inferred",
        });
        self.event(session, "turn/completed", end);
    }
}
