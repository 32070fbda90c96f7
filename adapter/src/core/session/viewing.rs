//! The session's view of its host: holes and how long the host has waited (adapter-turns.md §11, §14).
//!
//! In: notifications as they come, pages, the clock. Out: events in the host's order to `running`, or
//! the failure that names what happened. What an event means is not known here.

use serde_json::json;
use serde_json::value::RawValue;

use super::{Cx, Session, Slot};
use crate::core::approvals::{Answer, Asked};
use crate::core::failure::Failure;
use crate::core::gap::{Arrival, Event, Step, Trouble};
use crate::core::turn::{HostCall, Stage};
use crate::msp::classes::{self, Class};
use crate::msp::command::TurnCancel;
use crate::msp::view::{Gap, PAGE_LIMIT, Page, ViewHealth, ViewPage, place};
use crate::msp::{UserInputId, ViewCursor};
use crate::wire::peer::Outcome;

/// How an event came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As a notification.
    Told,
    /// As a request of the host: known by its entity alone, since it may repeat the cursor of an older
    /// event and say more than that one did (APR-2).
    Asked,
}

/// An answer of the editor that waits for the view (APR-22): what it means depends on what is open then.
#[derive(Clone, Debug)]
pub(super) enum Deferred {
    /// To a permission question.
    Permission(Asked, Answer),
    /// To a form; `None` when there is no usable answer.
    Form(UserInputId, Option<String>),
}

impl Session {
    /// A notification: is it its turn (GAP-1)?
    pub(super) fn on_notification(
        &mut self,
        cx: &mut Cx<'_>,
        method: &str,
        params: Option<&RawValue>,
        way: Way,
    ) {
        let Slot::Live(host) = &mut self.slot else { return };
        let Some(raw) = params else { return };
        // The hot path: a delta is placed only while a hole is open.
        if method == "item/delta" && host.view.is_current() {
            return self.on_view_event(cx, method, raw);
        }
        match classes::notification(method) {
            Some(Class::Consumed(_)) => {}
            Some(Class::Ignored(_) | Class::Later(_)) => return, // TOL-6
            None => return host.log_unknown(method),
        }
        let notice = matches!(method, "view/gap" | "session/viewHealthChanged");
        let Some(place) = place(raw) else {
            // Whose it is cannot be read, and a host process has one session of ours (TOL-18).
            return if notice {
                self.on_view_notice(cx, method, raw);
            } else {
                self.on_undecodable(cx, method, raw);
            };
        };
        if place.session_id != self.id.as_str() {
            return; // TOL-20
        }
        if notice {
            return self.on_view_notice(cx, method, raw);
        }
        // The end of the session is no part of the view; nothing after it is worth a fill.
        if method != "session/closed" {
            let cursor = place.view_cursor.as_deref().filter(|_| way == Way::Told);
            match host.view.arrive(method, raw, cursor) {
                Ok(Arrival::Apply) => {}
                Ok(Arrival::Held | Arrival::Twin) => return,
                Err(trouble) => return self.on_lost_view(cx, &trouble),
            }
        }
        self.on_view_event(cx, method, raw);
    }

    fn on_view_notice(&mut self, cx: &mut Cx<'_>, method: &str, raw: &RawValue) {
        if self.turn.as_ref().is_some_and(|turn| turn.cancelled) {
            return; // GAP-5
        }
        if method == "session/viewHealthChanged" {
            let health = serde_json::from_str::<ViewHealth>(raw.get()).ok();
            if health.is_none_or(|view| view.health != "unavailable") {
                return;
            }
            return if self.ended_well() {
                self.finish_well(cx, false);
            } else {
                self.on_lost_view(cx, &Trouble::Unavailable);
            };
        }
        let Ok(gap) = serde_json::from_str::<Gap>(raw.get()) else {
            return self.on_lost_view(cx, &Trouble::Marker);
        };
        let Slot::Live(host) = &mut self.slot else { return };
        tracing::info!(code = "view-gap", session = %self.id, host = host.id.0);
        if let Some(cursor) = host.view.gap(gap, cx.now) {
            self.on_hole(cx); // whose deltas fell into it is not known
            self.watch(cx); // STL-5
            self.ask_page(cx, &cursor);
        }
    }

    fn ask_page(&mut self, cx: &mut Cx<'_>, cursor: &ViewCursor) {
        let Slot::Live(host) = &self.slot else { return };
        let (walk, id) = (host.view.walk(), self.id.clone());
        let params = ViewPage { session_id: &id, cursor, direction: "forward", limit: PAGE_LIMIT };
        self.call(cx, "view/page", &params, HostCall::Page(walk));
    }

    pub(super) fn on_page(&mut self, cx: &mut Cx<'_>, walk: u64, outcome: Outcome<'_>) {
        let Slot::Live(host) = &mut self.slot else { return };
        if walk != host.view.walk() || !host.view.is_filling() {
            return;
        }
        let page = match outcome {
            Outcome::Ok(raw) => serde_json::from_str::<Page>(raw.get()).ok(),
            Outcome::Err(error) => return self.on_lost_view(cx, &Trouble::Refused(error.code)),
            Outcome::Impossible => None,
        };
        let step = match page {
            Some(page) => host.view.page(walk, self.id.as_str(), page, cx.now),
            None => Err(Trouble::Unusable),
        };
        match step {
            Ok(Step::Late) => {}
            Ok(Step::Ask(cursor)) => self.ask_page(cx, &cursor),
            Ok(Step::Splice { paged, live }) => {
                self.apply(cx, paged);
                self.on_hole(cx); // deltas in `live` may be part of what a page has shown
                self.apply(cx, live);
                self.on_current(cx);
            }
            Err(trouble) => self.on_lost_view(cx, &trouble),
        }
    }

    /// Events in order, as long as the host that told them is in use.
    fn apply(&mut self, cx: &mut Cx<'_>, events: Vec<Event>) {
        let host = self.host();
        for (method, params) in events {
            if !matches!(&self.slot, Slot::Live(live) if Some(live.id) == host) {
                return;
            }
            self.on_view_event(cx, &method, &params);
        }
    }

    /// GAP-3: the view is whole again; what waited for that goes on.
    fn on_current(&mut self, cx: &mut Cx<'_>) {
        let Slot::Live(host) = &mut self.slot else { return };
        host.view.settle();
        tracing::info!(code = "view-filled", session = %self.id, host = host.id.0);
        for answer in std::mem::take(&mut host.answers) {
            match answer {
                Deferred::Permission(asked, answer) => self.decide(cx, &asked, answer),
                Deferred::Form(input, response) => self.reply(cx, &input, response.as_deref()),
            }
        }
        self.ask(cx);
        self.inquire(cx);
        if matches!(&self.turn, Some(turn) if matches!(turn.stage, Stage::Titling { read: true, .. }))
        {
            self.finish_well(cx, true);
        }
    }

    /// The hole does not matter any more: the turn was cancelled, only its end is awaited.
    pub(super) fn forget_gap(&mut self, cx: &mut Cx<'_>) {
        let Slot::Live(host) = &mut self.slot else { return };
        let held = host.view.give_up();
        self.apply(cx, held);
    }

    /// GAP-5, GAP-7: the prompt fails with the reason. Without one, or before anything was submitted,
    /// the host is only not used again.
    pub(super) fn on_lost_view(&mut self, cx: &mut Cx<'_>, trouble: &Trouble) {
        if let Slot::Live(host) = &mut self.slot {
            host.view.give_up();
        }
        let Some(turn) = &self.turn else { return self.close_host(cx) };
        let phase = turn.phase();
        if turn.cancelled {
            return;
        }
        if !self.replace_lost_kept_host(cx) {
            self.fail_turn(cx, Failure::gap(phase, trouble));
        }
    }

    /// STL: what waits now. Called after everything that may change it.
    pub(super) fn watch(&mut self, cx: &mut Cx<'_>) {
        let runs = self.turn.as_ref().is_some_and(|t| t.running().is_some() && !t.cancelled);
        let Slot::Live(host) = &mut self.slot else { return };
        let measured = runs && !cx.editor_stalled && host.view.is_current();
        let mut waiting = Vec::new();
        if measured {
            waiting = host.approvals.waiting();
            waiting.extend(host.questions.waiting());
        }
        host.stall.observe(waiting, cx.now);
    }

    /// Whether the host is read has changed (PO-19): nothing that it could have said meanwhile is late.
    pub fn on_editor_stalled(&mut self, cx: &mut Cx<'_>) {
        if let Slot::Live(host) = &mut self.slot {
            host.view.restart_budget(cx.now);
        }
        self.steering.restart_budget(cx.now);
        self.watch(cx);
    }

    /// The bounds of this file. True: one of them ended the turn or the host.
    pub(super) fn on_view_deadline(&mut self, cx: &mut Cx<'_>) -> bool {
        let Slot::Live(host) = &mut self.slot else { return false };
        if cx.editor_stalled {
            return false;
        }
        if host.view.deadline().is_some_and(|at| at <= cx.now) {
            self.on_lost_view(cx, &Trouble::Slow);
            return true;
        }
        let Some((waiting, waited)) = host.stall.due(cx.config.stall, cx.now) else { return false };
        let failure = Failure::stalled(waiting, waited, &cx.config.redactor);
        // STL-7: the failure is the first cause; the host is asked to stop, whatever it makes of it.
        if let Some(native) = self.turn.as_ref().and_then(|turn| turn.running()).cloned() {
            let (id, command) = (self.id.clone(), cx.ids.uuid());
            let params = TurnCancel { command_id: &command, session_id: &id, turn_id: &native };
            self.call(cx, "turn/cancel", &params, HostCall::Forgotten);
        }
        self.fail_turn(cx, failure);
        true
    }

    /// PO-10: what is open, from the host itself, once after a refusal as stale.
    pub(super) fn reread_approvals(&mut self, cx: &mut Cx<'_>, asked: Asked, generation: u64) {
        let id = self.id.clone();
        let call = HostCall::Pending { generation, asked };
        self.call(cx, "approval/listPending", &json!({ "sessionId": id }), call);
    }

    /// A host that cannot say leaves it to its events and to the stall bound.
    pub(super) fn on_pending(&mut self, cx: &mut Cx<'_>, asked: &Asked, outcome: Outcome<'_>) {
        let Slot::Live(host) = &mut self.slot else { return };
        let Outcome::Ok(raw) = outcome else { return };
        let Ok(list) = serde_json::from_str::<crate::msp::approval::Pending>(raw.get()) else {
            return host.log_once("an unusable list of open approvals");
        };
        if host.approvals.reread(asked, list.approvals).is_err() {
            return self.too_many_approvals(cx);
        }
        self.ask(cx);
    }
}
