//! Everything that ends a turn or a host: terminals, failures, cancellation, deadlines, host ends
//! (adapter-turns.md §13, §22; adapter-sessions.md §13-16).

use serde_json::json;

use super::{Closing, Cx, Host, IDLE_EXPIRY, ROTATE_AFTER, Session, Slot};
use crate::acp::update;
use crate::core::agent::log_name;
use crate::core::failure::{Failure, Phase};
use crate::core::gap::Trouble;
use crate::core::io::{HostEnd, HostId, Output};
use crate::core::turn::{CANCEL_GRACE, EXIT_GRACE, HostCall, Stage, TITLE_BUDGET, Turn};
use crate::msp::command::{SessionRead, SessionResult, TurnCancel};
use crate::msp::event::Terminal;
use crate::wire::peer::Outcome;

/// Unknown methods of one host that are logged by name: a later host has some, an endless list is none.
const UNKNOWN_MAX: usize = 32;

impl Host {
    /// Whether it waits for a person.
    pub(super) fn has_pending(&self) -> bool {
        self.approvals.has_pending() || self.questions.has_pending()
    }

    /// One log line per kind of oddity and host.
    pub(super) fn log_once(&mut self, what: &'static str) {
        if !self.logged.contains(&what) {
            self.logged.push(what);
            tracing::warn!(code = "odd-line", host = self.id.0, what, "skipped");
        }
    }

    /// VEV-3: one log line per method, as far as a host has a handful of them.
    pub(super) fn log_unknown(&mut self, method: &str) {
        let method = log_name(method);
        if self.unknown.len() < UNKNOWN_MAX && !self.unknown.iter().any(|known| **known == *method)
        {
            self.unknown.push(method.into());
            tracing::warn!(code = "unknown-notification", host = self.id.0, method, "ignored");
        }
    }
}

impl Session {
    /// The host's terminal of our turn (§22).
    pub(super) fn on_terminal(&mut self, cx: &mut Cx<'_>, terminal: Terminal) {
        self.end_corrections(cx);
        if self.turn.as_ref().is_some_and(|turn| turn.cancelled) {
            return self.finish_cancelled(cx); // CAN-4, STOP-4
        }
        self.publish(cx, |fold, workspace, out| fold.flush(workspace, out));
        self.report_approvals(cx);
        match terminal {
            Terminal::Completed => self.read_title(cx),
            Terminal::Cancelled => self.finish_stopped(cx, "cancelled"),
            Terminal::Failed(error) if error.kind == "stepLimit" => {
                self.finish_stopped(cx, "max_turn_requests"); // STOP-3
            }
            Terminal::Failed(error) => {
                self.fail_turn(cx, Failure::terminal(&error, &cx.config.redactor));
            }
            Terminal::Unqueued => self.fail_turn(cx, Failure::unqueued()),
        }
    }

    /// TRN-10: one bounded read; whatever it gives, the turn has ended well.
    fn read_title(&mut self, cx: &mut Cx<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let Stage::Running { turn: native } = &turn.stage else { return };
        if let Slot::Live(host) = &mut self.slot {
            host.ended_turn = Some(native.clone());
        }
        turn.stage = Stage::Titling { turn: native.clone(), read: false };
        turn.deadline = Some(cx.now.after(TITLE_BUDGET));
        let (id, generation) = (self.id.clone(), turn.generation);
        if self.is_deaf() {
            return self.finish_titling(cx);
        }
        let params = SessionRead { session_id: &id, exclude_items: true };
        self.call(cx, "session/read", &params, HostCall::Title(generation));
        self.watch(cx);
    }

    pub(super) fn on_title(&mut self, cx: &mut Cx<'_>, outcome: Outcome<'_>) {
        if !matches!(self.turn.as_ref().map(|turn| &turn.stage), Some(Stage::Titling { .. })) {
            return;
        }
        if let Outcome::Ok(raw) = outcome
            && let Ok(result) = serde_json::from_str::<SessionResult>(raw.get())
            && let Some(title) = result.session.title.filter(|title| !title.trim().is_empty())
        {
            let title = crate::core::redact::cut(title.trim(), 512);
            cx.update(&self.id, update::session_info(title, result.session.updated_at));
        }
        if !self.waits_for_view() {
            self.finish_well(cx, true);
        }
    }

    /// No title will come: only a hole is still waited for.
    fn finish_titling(&mut self, cx: &mut Cx<'_>) {
        if !self.waits_for_view() {
            self.finish_well(cx, false);
        }
    }

    /// DEC-6: what came before the end but fell into a hole is shown before the answer. The fill has
    /// its own bound; the title's no longer counts.
    fn waits_for_view(&mut self) -> bool {
        let (Slot::Live(host), Some(turn)) = (&self.slot, &mut self.turn) else { return false };
        let Stage::Titling { read, .. } = &mut turn.stage else { return false };
        let waits = !host.view.is_current();
        if waits {
            *read = true;
            turn.deadline = None;
        }
        waits
    }

    /// The terminal was seen and nothing before it is missing: whatever the host does now, the turn has
    /// ended well (FAIL-10, END-5).
    pub(super) fn ended_well(&self) -> bool {
        let titling = |turn: &Turn| matches!(turn.stage, Stage::Titling { .. });
        self.turn.as_ref().is_some_and(titling)
            && matches!(&self.slot, Slot::Live(host) if host.view.is_current())
    }

    /// The turn is over: questions that the editor has not answered are dead (CON-7), and an editor
    /// that never answers them must not fill the table of open requests.
    pub(super) fn take_turn(&mut self, cx: &mut Cx<'_>) -> Option<Turn> {
        self.refuse_corrections(cx);
        let id = &self.id;
        cx.withdraw(|call| call.session() == id);
        self.turn.take()
    }

    /// STOP-1. The host is kept when nothing speaks against it (HOST-11).
    pub(super) fn finish_well(&mut self, cx: &mut Cx<'_>, reusable: bool) {
        let Some(turn) = self.take_turn(cx) else { return };
        self.publish(cx, |fold, workspace, out| fold.end_turn(workspace, out));
        if let Slot::Live(host) = &mut self.slot {
            host.good_turns += 1;
            host.idle_until = Some(cx.now.after(IDLE_EXPIRY));
            let reusable = reusable && !self.steering.is_unsettled(); // STE-13
            // END-8: a turn of the host's own is waited for only when the person sees its work.
            let native = host.native_turn.is_some() && !self.fold.has_open_work();
            let rotates = host.good_turns >= ROTATE_AFTER;
            if !reusable || rotates || native || host.deaf || host.has_pending() {
                self.close_host(cx);
            }
        }
        self.tell_no_turn(cx, &turn);
        cx.succeed(&turn.request, &json!({ "stopReason": "end_turn" }));
        self.go_on_closing(cx);
    }

    /// An ending that is neither good nor an error: answered, and the host is not used again.
    fn finish_stopped(&mut self, cx: &mut Cx<'_>, reason: &str) {
        let Some(turn) = self.take_turn(cx) else { return };
        self.close_host(cx);
        self.tell_no_turn(cx, &turn);
        cx.succeed(&turn.request, &json!({ "stopReason": reason }));
        self.go_on_closing(cx);
    }

    /// CAN-4, CAN-9.
    pub(super) fn finish_cancelled(&mut self, cx: &mut Cx<'_>) {
        self.finish_stopped(cx, "cancelled");
    }

    /// Ends the turn with its first cause (FAIL-10). Cancellation that came before wins (FAIL-12).
    pub(super) fn fail_turn(&mut self, cx: &mut Cx<'_>, failure: Failure) {
        let Some(turn) = self.take_turn(cx) else { return };
        self.close_host(cx);
        self.tell_no_turn(cx, &turn);
        if turn.cancelled {
            cx.succeed(&turn.request, &json!({ "stopReason": "cancelled" }));
        } else {
            tracing::warn!(
                code = "turn-failed",
                session = %self.id,
                kind = failure.kind(),
                phase = failure.phase().as_str(),
            );
            cx.fail(&turn.request, &failure.to_acp());
        }
        self.go_on_closing(cx);
    }

    /// `session/cancel` (CAN-1..6). A second one changes nothing (CAN-11).
    pub fn cancel(&mut self, cx: &mut Cx<'_>) {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.cancelled) else { return };
        match &turn.stage {
            Stage::AwaitingExit { .. } => {} // CAN-5: a failure was observed before
            Stage::Running { .. } if matches!(&self.slot, Slot::Live(host) if host.deaf) => {
                turn.cancelled = true;
                self.finish_cancelled(cx); // CAN-3: nobody takes the cancel
            }
            Stage::Running { turn: native } => {
                let (native, generation) = (native.clone(), turn.generation);
                turn.cancelled = true;
                turn.deadline = Some(cx.now.after(CANCEL_GRACE));
                if let Slot::Live(host) = &self.slot {
                    cx.out.push_back(Output::Unthrottle(host.id));
                }
                self.watch(cx);
                self.refuse_corrections(cx); // CAN-11
                let (id, command) = (self.id.clone(), cx.ids.uuid());
                let params = TurnCancel { command_id: &command, session_id: &id, turn_id: &native };
                self.call(cx, "turn/cancel", &params, HostCall::TurnCancel(generation));
                self.abandon_questions(cx);
                self.forget_gap(cx);
            }
            _ => {
                turn.cancelled = true;
                self.finish_cancelled(cx); // CAN-6
            }
        }
    }

    /// Shutdown: the turn ends now.
    pub(super) fn abandon(&mut self, cx: &mut Cx<'_>) {
        let Some(turn) = &mut self.turn else { return };
        if let Stage::AwaitingExit { failure } = &turn.stage {
            let failure = failure.as_ref().clone();
            return self.fail_turn(cx, failure);
        }
        turn.cancelled = true;
        self.finish_cancelled(cx);
    }

    pub(super) fn on_turn_deadline(&mut self, cx: &mut Cx<'_>) {
        let Some(turn) = &self.turn else { return };
        match (&turn.stage, turn.phase()) {
            (Stage::AwaitingExit { failure }, _) => {
                let failure = failure.as_ref().clone();
                self.fail_turn(cx, failure);
            }
            (Stage::Running { .. }, _) => self.finish_cancelled(cx), // CAN-3: the grace is over
            (Stage::Titling { .. }, _) => self.finish_titling(cx),
            (Stage::Opening { .. }, phase) if self.is_deaf() => {
                self.fail_turn(cx, Failure::host_lost(phase));
            }
            (_, phase) => {
                let budget = match phase {
                    Phase::Submitting => cx.config.submit,
                    _ => cx.config.startup,
                };
                self.fail_turn(cx, Failure::deadline(phase, budget));
            }
        }
    }

    /// The host's output ended while it was in use. Its exit may say why, so the answer waits for it
    /// within a bound (PRC-6); the cause is fixed now.
    pub fn on_host_eof(&mut self, cx: &mut Cx<'_>, id: HostId) {
        if !matches!(&self.slot, Slot::Live(host) if host.id == id) {
            return;
        }
        if self.replace_lost_kept_host(cx) {
            return;
        }
        if self.ended_well() {
            return self.finish_well(cx, false);
        }
        let awaits = match &mut self.turn {
            None => false,
            Some(turn) if turn.cancelled => false,
            Some(Turn { stage: Stage::Titling { .. }, .. }) => {
                return self.on_lost_view(cx, &Trouble::NoConnection);
            }
            Some(turn) => {
                let failure = Box::new(Failure::host_lost(turn.phase()));
                turn.stage = Stage::AwaitingExit { failure };
                turn.deadline = Some(cx.now.after(EXIT_GRACE));
                true
            }
        };
        if awaits {
            self.close_host(cx);
        } else if self.turn.is_some() {
            self.finish_cancelled(cx);
        } else {
            self.close_host(cx);
        }
    }

    /// The host does not take its input any more (PRC-8, decision 0017). Until the submission nothing
    /// can come of that: its output and its exit get a grace to say why. From the submission on the
    /// output may still bring the end of the turn, and every wait for an answer has a bound of its own.
    pub fn on_host_deaf(&mut self, cx: &mut Cx<'_>, id: HostId) {
        let Slot::Live(host) = &mut self.slot else { return };
        if host.id != id {
            return;
        }
        host.deaf = true;
        tracing::warn!(code = "host-deaf", host = id.0, "the host closed its input");
        if self.replace_lost_kept_host(cx) {
            return;
        }
        match &mut self.turn {
            None => self.close_host(cx),
            Some(turn) if turn.cancelled => self.finish_cancelled(cx), // CAN-3
            Some(turn) if matches!(turn.stage, Stage::Opening { .. }) => {
                let grace = cx.now.after(EXIT_GRACE);
                turn.deadline = Some(turn.deadline.map_or(grace, |at| at.min(grace)));
            }
            Some(turn) if matches!(turn.stage, Stage::Titling { .. }) => self.finish_titling(cx),
            Some(_) => {}
        }
    }

    pub(super) fn is_deaf(&self) -> bool {
        matches!(&self.slot, Slot::Live(host) if host.deaf)
    }

    /// A kept host whose end is seen only when the next prompt has begun to use it was "not reusable"
    /// (HOST-8): the same prompt goes on with a new host. Nothing was submitted, and the new host, which
    /// has served no turn, is not replaced again.
    pub(super) fn replace_lost_kept_host(&mut self, cx: &mut Cx<'_>) -> bool {
        let (Slot::Live(host), Some(turn)) = (&self.slot, &mut self.turn) else { return false };
        if matches!(turn.stage, Stage::Resolving { .. }) {
            self.close_host(cx);
            return true;
        }
        let Stage::Opening { parts, effort, .. } = &mut turn.stage else { return false };
        if host.good_turns == 0 {
            return false;
        }
        tracing::info!(code = "host-replaced", host = host.id.0, "a kept host was gone");
        let mut resolved = Box::new(host.resolved.clone());
        // Effort is no part of the identity: this prompt's own is the newer one.
        resolved.settings.effort = std::mem::take(effort);
        let parts = std::mem::take(parts);
        turn.stage = Stage::WaitingForOldHost { parts, resolved };
        self.close_host(cx);
        true
    }

    /// The host has exited.
    pub fn on_host_gone(&mut self, cx: &mut Cx<'_>, id: HostId, end: &HostEnd) {
        tracing::info!(code = "host-gone", host = id.0, exit = ?end.code, signal = ?end.signal);
        if matches!(&self.slot, Slot::Live(host) if host.id == id) {
            self.on_host_eof(cx, id);
        }
        if !matches!(self.slot, Slot::Closing(closing) if closing == id) {
            return;
        }
        self.slot = Slot::Empty;
        match self.turn.as_ref().map(|turn| &turn.stage) {
            Some(Stage::AwaitingExit { failure }) => {
                let failure = failure.as_ref().clone().with_end(end);
                self.fail_turn(cx, failure);
            }
            Some(Stage::WaitingForOldHost { .. }) => self.spawn(cx),
            _ => {}
        }
        self.go_on_configuring(cx);
        self.go_on_closing(cx);
    }

    /// The host process could not be started.
    pub fn on_spawn_failed(&mut self, cx: &mut Cx<'_>, id: HostId) {
        match &self.slot {
            Slot::Live(host) if host.id == id => {
                let failure = Failure::spawn(&host.resolved.binary, &cx.config.redactor);
                self.slot = Slot::Empty;
                self.fail_turn(cx, failure);
            }
            // It was given up before that was known; there is no exit to wait for.
            Slot::Closing(closing) if *closing == id => {
                self.on_host_gone(cx, id, &HostEnd::default());
            }
            _ => {}
        }
    }

    /// Ends the live host, if there is one: open cards get their last word first (BKG-3).
    pub(super) fn close_host(&mut self, cx: &mut Cx<'_>) {
        self.publish(cx, |fold, _, out| fold.host_lost(out));
        self.lose_corrections(cx);
        if let Slot::Live(host) = &self.slot {
            let id = host.id;
            cx.out.push_back(Output::CloseHost(id));
            self.slot = Slot::Closing(id);
        }
    }

    /// Goes on with `session/close` or the shutdown as far as it can now.
    pub(super) fn go_on_closing(&mut self, cx: &mut Cx<'_>) {
        if self.closing.is_none() || self.turn.is_some() {
            return;
        }
        self.close_host(cx);
        if self.is_closed()
            && let Some(Closing::Request(id)) = self.closing.replace(Closing::Shutdown)
        {
            cx.succeed(&id, &json!({}));
        }
    }
}
