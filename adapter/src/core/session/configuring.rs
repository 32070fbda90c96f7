//! Changes of what is chosen in a session (CFG-5..8, MODE-2): `session/set_mode` and
//! `session/set_config_option`, one way for both.
//!
//! A change that a host cannot take over ends that host first, so that nothing of the old choice is left when
//! the editor hears that it is made. Until then the old choice is in force and the session is busy.

use serde_json::json;

use super::{Cx, Session};
use crate::acp::{self, update};
use crate::core::config::{Change, Selection};
use crate::core::io::Facts;
use crate::wire::{Id, RpcError};

/// How a change was asked for, which is how it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By `session/set_mode`.
    Mode,
    /// By `session/set_config_option`.
    Option,
}

/// A change that waits for the end of the host.
#[derive(Clone, Debug)]
pub(super) struct Changing {
    request: Id,
    way: Way,
    change: Change,
}

impl Session {
    /// Makes a change, or begins to.
    ///
    /// # Errors
    /// `-32600` while the session is not idle (CFG-5); `-32602` when a guard refuses it (CFG-8).
    pub fn configure(
        &mut self,
        cx: &mut Cx<'_>,
        request: Id,
        way: Way,
        change: Change,
    ) -> Result<(), RpcError> {
        self.admit()?;
        if self.selection.has(change) {
            self.answer_change(cx, &request, way); // CFG-6
            return Ok(());
        }
        change.available(cx.facts)?;
        self.changing = Some(Changing { request, way, change });
        if change.closes_host() {
            self.close_host(cx);
        }
        self.go_on_configuring(cx);
        Ok(())
    }

    /// CFG-7: both views, then the answer, once no host of the old choice is left.
    pub(super) fn go_on_configuring(&mut self, cx: &mut Cx<'_>) {
        let gone = self.host().is_none();
        let ready = |changing: &mut Changing| gone || !changing.change.closes_host();
        let Some(Changing { request, way, change }) = self.changing.take_if(ready) else { return };
        self.selection.apply(change);
        tracing::info!(code = "config", session = %self.id, mode = self.selection.mode.id());
        if matches!(change, Change::Mode(_)) {
            cx.update(&self.id, update::current_mode(self.selection.mode.id()));
        }
        cx.update(&self.id, update::config_options(self.selection.options(cx.facts)));
        self.answer_change(cx, &request, way);
    }

    /// The session ends before the change is made: it is not.
    pub(super) fn give_up_change(&mut self, cx: &mut Cx<'_>, error: &RpcError) {
        if let Some(changing) = self.changing.take() {
            cx.fail(&changing.request, error);
        }
    }

    fn answer_change(&self, cx: &mut Cx<'_>, request: &Id, way: Way) {
        match way {
            Way::Mode => cx.succeed(request, &json!({})),
            Way::Option => {
                let options = self.selection.options(cx.facts);
                cx.succeed(request, &json!({ "configOptions": options }));
            }
        }
    }

    /// CFG-10: a menu that the machine has outdated is told again.
    pub fn on_facts(&mut self, cx: &mut Cx<'_>, before: &Facts) {
        let options = self.selection.options(cx.facts);
        if options != self.selection.options(before) && self.closing.is_none() {
            cx.update(&self.id, update::config_options(options));
        }
    }

    /// What `session/new` tells of a session that has been asked nothing yet (NEW-3).
    #[must_use]
    pub fn opened(id: &str, facts: &Facts) -> serde_json::Value {
        let selection = Selection::default();
        json!({ "sessionId": id, "modes": selection.modes(facts),
                "configOptions": selection.options(facts) })
    }

    #[cfg(test)]
    pub(in crate::core) fn select(&mut self, selection: Selection) {
        self.selection = selection;
    }

    /// MODE-5: the guard once more, with what is true when the prompt comes.
    pub(super) fn check_mode(&self, facts: &Facts) -> Result<(), RpcError> {
        self.selection.mode.available(facts)
    }

    /// SAFE-8, PO-47: the prompt is refused before its turn; no host was started for it.
    pub(super) fn refuse_turn(&mut self, cx: &mut Cx<'_>, error: &RpcError) {
        let Some(turn) = self.take_turn(cx) else { return };
        tracing::warn!(code = "turn-refused", session = %self.id, mode = turn.mode.id());
        cx.fail(&turn.request, error);
        self.go_on_closing(cx);
    }
}

/// Why a change that waited is not made.
pub(super) fn closed() -> RpcError {
    acp::busy("the session was closed before the change was made; nothing was changed")
}
