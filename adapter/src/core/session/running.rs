//! From the acknowledgement to the host's terminal: the fold, approvals, decisions (adapter-turns.md
//! §3-6, §10, §13).

use serde_json::json;
use serde_json::value::RawValue;

use super::viewing::{Deferred, Way};
use super::{Cx, Session, Slot};
use crate::acp::{self, schema, update};
use crate::core::approvals::{Answer, Asked, Decision, Pick};
use crate::core::choices::Automation;
use crate::core::failure::{Failure, Phase};
use crate::core::io::Output;
use crate::core::permission::{self, Asking};
use crate::core::turn::{EditorCall, HeldEvent, HostCall, Stage, Turn};
use crate::msp::command::{ApprovalDecide, TurnStartResult};
use crate::msp::event::{self, Event};
use crate::msp::{Approval, ApprovalId, TurnId, code};
use crate::wire::peer::Outcome;
use crate::wire::{Id, Incoming, Line, RpcError, envelope};

impl Session {
    /// A line of this session's host. Lines of a host that is being closed are not looked at.
    pub fn on_host_line(&mut self, cx: &mut Cx<'_>, line: &Line<'_>) {
        let Slot::Live(host) = &mut self.slot else { return };
        match host.peer.receive(line) {
            Incoming::Notification { method, params } => {
                self.on_notification(cx, &method, params, Way::Told);
            }
            Incoming::Response { token, outcome } => self.on_answer(cx, token, outcome),
            Incoming::Request { id, method, params } => self.on_request(cx, &id, &method, params),
            Incoming::Unmatched => host.log_once("a response to no request of ours"),
            // PO-36: counted, logged once per kind, skipped.
            Incoming::Invalid(_) => host.log_once("a line that is no frame"),
        }
    }

    fn on_answer(&mut self, cx: &mut Cx<'_>, call: HostCall, outcome: Outcome<'_>) {
        let current =
            |generation: u64| self.turn.as_ref().is_some_and(|turn| turn.generation == generation);
        // FAIL-10: what comes of a decision after the end of its turn does not change that end.
        let decides = |generation: u64| {
            current(generation) && self.turn.as_ref().is_some_and(|turn| turn.running().is_some())
        };
        match call {
            HostCall::TurnStart(generation) if current(generation) => {
                self.on_acknowledged(cx, outcome);
            }
            HostCall::TurnCancel(generation) if current(generation) => {
                if !matches!(outcome, Outcome::Ok(_)) {
                    self.finish_cancelled(cx); // CAN-3
                }
            }
            HostCall::Decide { generation, asked } if decides(generation) => {
                self.on_decided(cx, asked, outcome);
            }
            HostCall::Pending { generation, asked } if decides(generation) => {
                self.on_pending(cx, &asked, outcome);
            }
            HostCall::Page(walk) => self.on_page(cx, walk, outcome),
            HostCall::Reply(generation, input) if decides(generation) => {
                self.on_replied(cx, &input, &outcome);
            }
            HostCall::Title(generation) if current(generation) => self.on_title(cx, outcome),
            HostCall::Steer(number) => self.on_steered(cx, number, outcome),
            HostCall::Rules => self.on_rules_page(cx, &outcome),
            HostCall::TurnStart(_)
            | HostCall::TurnCancel(_)
            | HostCall::Decide { .. }
            | HostCall::Pending { .. }
            | HostCall::Reply(..)
            | HostCall::Title(_)
            | HostCall::Forgotten => {}
            opening => self.on_opening_answer(cx, &opening, outcome),
        }
    }

    /// ENV-10: a receipt at once, before any thought; it decides nothing.
    fn on_request(&mut self, cx: &mut Cx<'_>, id: &Id, method: &str, params: Option<&RawValue>) {
        let Slot::Live(host) = &mut self.slot else { return };
        if id.as_ours().is_none_or(|id| id == 0) {
            return host.log_once("a request with an unusable id"); // ENV-6
        }
        let view_event = match method {
            "approval/request" => "approval/requested",
            "userInput/request" => "userInput/requested",
            _ => {
                let error = RpcError::new(code::METHOD_NOT_FOUND, "method not found")
                    .with_data(json!({ "kind": "methodNotFound" }));
                cx.out.push_back(Output::Host(host.id, envelope::failure(id, &error)));
                return;
            }
        };
        cx.out.push_back(Output::Host(host.id, envelope::success(id, &json!({}))));
        self.on_notification(cx, view_event, params, Way::Asked);
    }

    /// One view event of this session in its turn, by whatever way it came.
    pub(super) fn on_view_event(&mut self, cx: &mut Cx<'_>, method: &str, params: &RawValue) {
        if let Some(turn) = &mut self.turn
            && let Stage::Submitted { held, .. } = &mut turn.stage
        {
            if !held.keep(method, params) {
                self.too_much_held(cx);
            }
            return;
        }
        let event = event::decode(method, Some(params));
        if let Event::Delta(delta) = &event {
            if delta.session_id == self.id.as_str()
                && self.is_shown()
                && !self.is_copy(delta.view_cursor.map(RawValue::get))
            {
                let now = cx.now;
                self.publish(cx, |fold, workspace, out| fold.delta(delta, now, workspace, out));
            }
            return;
        }
        self.on_event(cx, method, params, event);
    }

    /// GAP-3: deltas of items that are open here cannot be placed. What is held is told when it is shown.
    pub(super) fn on_hole(&mut self, cx: &mut Cx<'_>) {
        match self.turn.as_mut().map(|turn| &mut turn.stage) {
            Some(Stage::Submitted { held, .. }) => {
                if !held.keep_hole() {
                    self.too_much_held(cx);
                }
            }
            _ => self.fold.lost_all(),
        }
    }

    fn too_much_held(&mut self, cx: &mut Cx<'_>) {
        let what = "Muse sent too much before it acknowledged the turn";
        self.fail_turn(cx, Failure::protocol(Phase::Submitting, what));
    }

    fn on_event(&mut self, cx: &mut Cx<'_>, method: &str, params: &RawValue, event: Event<'_>) {
        match event {
            Event::Item(item) => self.on_item(cx, *item),
            Event::TurnStarted(turn) => self.on_turn_started(turn),
            Event::TurnEnded(turn, terminal) => {
                if self.is_foreground(&turn) {
                    self.on_terminal(cx, terminal);
                } else if let Slot::Live(host) = &mut self.slot
                    && host.native_turn.as_ref() == Some(&turn)
                {
                    host.native_turn = None;
                }
            }
            Event::Approval(approval) => self.on_approval(cx, *approval),
            Event::ApprovalUpdated(update) => {
                self.on_rule_change(cx, &update);
                if let Slot::Live(host) = &mut self.slot {
                    host.approvals.updated(*update);
                }
                self.ask(cx);
            }
            Event::ApprovalResolved(result) => {
                if let Slot::Live(host) = &mut self.slot {
                    host.approvals.concluded(*result);
                }
                self.ask(cx);
            }
            Event::UserInput(input) => self.on_user_input(cx, *input),
            Event::UserInputSettled(input) => self.on_user_input_settled(cx, &input),
            Event::SessionClosed => self.on_unloaded(cx),
            Event::Undecodable => self.on_undecodable(cx, method, params),
            Event::Delta(_) | Event::Ignored => {}
        }
        #[cfg(test)]
        assert!(method != "item/started" || self.workspace != "/panic", "made to fail by a test");
    }

    /// TRN-4: record, introduce the host, then everything that came before.
    fn on_acknowledged(&mut self, cx: &mut Cx<'_>, outcome: Outcome<'_>) {
        let Some(ack) = self.read::<TurnStartResult>(cx, "turn/start", outcome) else { return };
        let Some(turn) = &mut self.turn else { return };
        let Stage::Submitted { command, held } = &mut turn.stage else { return };
        let echoed = ack.command_id.as_deref().is_none_or(|echo| echo == command);
        let steered = match ack.disposition.as_deref() {
            Some("started" | "queued") => false,
            Some("steered") => true,
            _ => ack.started_new_turn == Some(false), // TOL-13
        };
        let accepted = ack.status.as_deref().is_none_or(|status| status == "accepted");
        if !echoed || steered || !accepted {
            let what = "Muse acknowledged something else than the turn that was submitted"; // PO-11
            return self.fail_turn(cx, Failure::protocol(Phase::Submitting, what));
        }
        let held = std::mem::take(held);
        turn.stage = Stage::Running { turn: ack.turn_id };
        turn.deadline = None;
        let elapsed_ms = cx.now.since(turn.since).as_millis();
        turn.since = cx.now;
        tracing::info!(code = "phase", session = %self.id, phase = "running", elapsed_ms);
        self.tell_active_turn(cx);
        if let Slot::Live(host) = &mut self.slot
            && !std::mem::replace(&mut host.introduced, true)
        {
            let version = host.resolved.version.as_deref();
            let facts = update::host_compatibility(version, host.fingerprint.as_deref());
            cx.update(&self.id, facts);
        }
        if let Some(turn) = &mut self.turn {
            turn.catching_up = true;
        }
        for event in held.into_events() {
            match event {
                HeldEvent::View(method, params) => self.on_view_event(cx, &method, &params),
                HeldEvent::Hole => self.fold.lost_all(),
            }
        }
        if let Some(turn) = &mut self.turn {
            turn.catching_up = false;
        }
        self.ask(cx);
        self.inquire(cx);
    }

    fn on_item(&mut self, cx: &mut Cx<'_>, item: crate::msp::Item) {
        if !self.is_shown() {
            // CAN-12: what became of a card that the editor knows is told before the answer.
            return self.publish(cx, |fold, workspace, out| fold.settle(item, workspace, out));
        }
        // DEC-6: an item that fell into a hole before the end of its turn is still shown.
        let filling = matches!(&self.slot, Slot::Live(host) if !host.view.is_current());
        let shown = |turn: &Turn| if filling { turn.shown() } else { turn.running() }.cloned();
        let turn = self.turn.as_ref().and_then(shown);
        let mut full = false;
        self.publish(cx, |fold, workspace, out| {
            full = fold.item(item, turn.as_ref(), workspace, out).is_err();
        });
        if full {
            let what = "Muse opened more items in one turn than the adapter keeps";
            self.fail_turn(cx, Failure::protocol(Phase::Running, what));
        }
    }

    /// STR-5: the same delta twice would be its text twice.
    fn is_copy(&mut self, cursor: Option<&str>) -> bool {
        let Slot::Live(host) = &mut self.slot else { return false };
        cursor.is_some_and(|cursor| host.view.repeats(cursor))
    }

    /// No text and nothing new is shown once the editor asked to cancel.
    fn is_shown(&self) -> bool {
        self.turn.as_ref().is_none_or(|turn| !turn.cancelled)
    }

    fn is_foreground(&self, turn: &TurnId) -> bool {
        self.turn.as_ref().and_then(|turn| turn.running()) == Some(turn)
    }

    /// A turn that no prompt of ours became: the host works by itself (PRM-4).
    fn on_turn_started(&mut self, turn: TurnId) {
        if !self.is_foreground(&turn)
            && let Slot::Live(host) = &mut self.slot
            && host.ended_turn.as_ref() != Some(&turn)
        {
            host.native_turn = Some(turn);
        }
    }

    fn on_approval(&mut self, cx: &mut Cx<'_>, approval: Approval) {
        let Slot::Live(host) = &mut self.slot else { return };
        if host.approvals.requested(approval).is_err() {
            return self.too_many_approvals(cx);
        }
        self.ask(cx);
    }

    /// TRN-10, APR-17: how the turn's approvals ended, to an editor that wants to know.
    pub(super) fn report_approvals(&mut self, cx: &mut Cx<'_>) {
        let Slot::Live(host) = &mut self.slot else { return };
        let Some(running) = self.turn.as_ref().and_then(|turn| turn.running()) else { return };
        for result in host.approvals.take_results() {
            if cx.client.approval && result.turn_id.as_ref() == Some(running) {
                let update = update::approval_result(
                    result.approval_id.as_str(),
                    result.turn_id.as_ref().map(TurnId::as_str),
                    result.decision.as_deref(),
                    result.resolved_by.as_deref(),
                    permission::stages(&result.stage_evidence),
                );
                cx.update(&self.id, update);
            }
        }
    }

    /// Dialogs whose stage is not open any more are taken back, so that the one that is can be asked
    /// (APR-4, msp APR-16).
    fn withdraw_outdated(&mut self, cx: &mut Cx<'_>) {
        let Slot::Live(host) = &mut self.slot else { return };
        if !host.view.is_current() {
            return; // GAP-2
        }
        for (outdated, stage) in host.approvals.take_outdated() {
            cx.withdraw(|call| match call {
                EditorCall::Permission { session, approval, source_index, .. } => {
                    *session == self.id && *approval == outdated && *source_index == stage
                }
                EditorCall::Question { .. } => false,
            });
        }
    }

    pub(super) fn too_many_approvals(&mut self, cx: &mut Cx<'_>) {
        let what = "Muse opened more approvals than the adapter keeps";
        self.fail_turn(cx, Failure::protocol(Phase::Running, what));
    }

    /// Asks what is to be asked, or decides it in an automatic mode (APR-30, APR-31); what is left waits for
    /// the host (STL-1).
    pub(super) fn ask(&mut self, cx: &mut Cx<'_>) {
        self.withdraw_outdated(cx);
        self.ask_all(cx);
        self.watch(cx);
    }

    /// APR-5: only while a turn runs, was not cancelled, and nothing of the view is missing.
    fn ask_all(&mut self, cx: &mut Cx<'_>) {
        loop {
            let turn = self.turn.as_ref().filter(|turn| !turn.cancelled && !turn.catching_up);
            let Some(turn) = turn else { return };
            let (Some(running), generation) = (turn.running(), turn.generation) else { return };
            let Slot::Live(host) = &mut self.slot else { return };
            if !host.view.is_current() {
                return; // GAP-2
            }
            let automation = turn.mode.automation();
            if automation != Automation::Ask {
                match host.approvals.next_pick(automation) {
                    None => return,
                    Some(Ok(pick)) => self.send_decision(cx, generation, pick),
                    Some(Err(_)) => {
                        let failure = Failure::no_once_choice(turn.mode.id());
                        return self.fail_turn(cx, failure);
                    }
                }
                continue;
            }
            let asking = Asking {
                session: self.id.as_str(),
                workspace: &self.workspace,
                turn: running,
                detailed: cx.client.approval,
            };
            let question = match host.approvals.next_question(asking) {
                None => return,
                Some(Ok(question)) => question,
                Some(Err(_)) => {
                    let what = "Muse asks for an approval but offers no choice that can be shown";
                    return self.fail_turn(cx, Failure::approval_unavailable(what));
                }
            };
            let call = EditorCall::Permission {
                session: self.id.clone(),
                generation,
                approval: question.approval,
                source_index: question.source_index,
            };
            match cx.editor.request(acp::method::REQUEST_PERMISSION, &question.request, call) {
                Some((_, line)) => cx.out.push_back(Output::Editor(line)),
                None => {
                    let what = "the editor answers none of its permission questions";
                    return self.fail_turn(cx, Failure::permission_invalid(what));
                }
            }
        }
    }

    /// The editor's answer to a permission question; a late one is dropped (APR-22, CAN-7).
    pub fn on_permission(
        &mut self,
        cx: &mut Cx<'_>,
        generation: u64,
        approval: &ApprovalId,
        source_index: u64,
        outcome: Outcome<'_>,
    ) {
        let Some(turn) = &self.turn else { return };
        if turn.generation != generation || turn.cancelled || turn.running().is_none() {
            return;
        }
        // PIT-5, PO-46: anything but a well-formed answer grants nothing.
        let answer: Option<schema::RequestPermissionResponse> = match outcome {
            Outcome::Ok(raw) => serde_json::from_str(raw.get()).ok(),
            Outcome::Err(_) | Outcome::Impossible => None,
        };
        let answer = match answer.map(|answer| answer.outcome) {
            Some(schema::RequestPermissionOutcome::Selected(selected)) => {
                Answer::Selected(selected.option_id.0.to_string())
            }
            Some(schema::RequestPermissionOutcome::Cancelled) => Answer::Dismissed,
            _ => {
                let what = "the editor's answer to a permission question cannot be read";
                return self.fail_turn(cx, Failure::permission_invalid(what));
            }
        };
        let asked = Asked { approval: approval.clone(), source_index };
        let Slot::Live(host) = &mut self.slot else { return };
        if !host.view.is_current() {
            return host.answers.push(Deferred::Permission(asked, answer)); // APR-22: decided by what is open then
        }
        self.decide(cx, &asked, answer);
    }

    /// What an answer means now (APR-22).
    pub(super) fn decide(&mut self, cx: &mut Cx<'_>, asked: &Asked, answer: Answer) {
        let Some(turn) = self.turn.as_ref().filter(|turn| !turn.cancelled) else { return };
        let (Some(_), generation) = (turn.running(), turn.generation) else { return };
        let Slot::Live(host) = &mut self.slot else { return };
        let decision = host.approvals.answer(asked, &answer);
        match decision {
            Decision::Obsolete => {}
            Decision::NotOffered => {
                let what = "the editor chose something that Muse does not offer";
                self.fail_turn(cx, Failure::permission_invalid(what));
            }
            Decision::NoDenial => {
                let what = "the question was dismissed and Muse offers no way to deny it";
                self.fail_turn(cx, Failure::approval_unavailable(what));
            }
            Decision::Send(requirement, choice) => {
                self.send_decision(cx, generation, (asked.clone(), requirement, choice));
            }
        }
        self.watch(cx); // STL-3: the dialog is closed
    }

    /// APR-23: once, whoever decided.
    fn send_decision(&mut self, cx: &mut Cx<'_>, generation: u64, pick: Pick) {
        let (ref asked, requirement, choice) = pick;
        let (id, command) = (self.id.clone(), cx.ids.uuid());
        let params = ApprovalDecide {
            command_id: &command,
            session_id: &id,
            approval_id: &asked.approval,
            requirement_id: &requirement,
            choice_id: &choice.choice_id,
        };
        let call = HostCall::Decide { generation, asked: asked.clone() };
        self.call(cx, "approval/decide", &params, call);
        self.on_chosen(cx, &asked.approval, &choice);
    }

    /// APR-24, APR-25.
    fn on_decided(&mut self, cx: &mut Cx<'_>, asked: Asked, outcome: Outcome<'_>) {
        match outcome {
            Outcome::Ok(_) => {}
            Outcome::Err(error) if is_overtaken(&error) => {
                tracing::info!(code = "decision-overtaken", session = %self.id, msp_code = error.code);
                let Slot::Live(host) = &self.slot else { return };
                let cancelled = self.turn.as_ref().is_none_or(|turn| turn.cancelled);
                if error.code == code::APPROVAL_STALE
                    && host.approvals.is_open(&asked)
                    && !cancelled
                {
                    let generation = self.generation;
                    self.reread_approvals(cx, asked, generation); // PO-10
                }
                self.ask(cx);
            }
            Outcome::Err(error) => self.fail_turn(cx, Failure::approval_rejected(error.code)),
            Outcome::Impossible => {
                let what = "Muse's answer to approval/decide is unusable";
                self.fail_turn(cx, Failure::protocol(Phase::Running, what));
            }
        }
    }

    /// VEV: the host unloaded the session. Without a turn it is only not used again.
    fn on_unloaded(&mut self, cx: &mut Cx<'_>) {
        match &self.turn {
            Some(turn) if turn.cancelled => {}
            Some(_) if self.ended_well() => self.finish_well(cx, false),
            Some(turn) => {
                let failure = Failure::session_unloaded(turn.phase());
                if !self.replace_lost_kept_host(cx) {
                    self.fail_turn(cx, failure);
                }
            }
            None => self.close_host(cx),
        }
    }

    /// TOL-18, PO-42: an item goes on with its next snapshot; without a terminal or an approval the
    /// turn could only hang, so it fails instead.
    pub(super) fn on_undecodable(&mut self, cx: &mut Cx<'_>, method: &str, params: &RawValue) {
        if let Slot::Live(host) = &mut self.slot {
            host.log_once("a view event that cannot be decoded");
        }
        let item = serde_json::from_str::<serde_json::Value>(params.get())
            .ok()
            .and_then(|params| params["itemId"].as_str().map(str::to_owned));
        let submitted =
            |turn: &Turn| matches!(turn.stage, Stage::Submitted { .. } | Stage::Running { .. });
        let phase = self.turn.as_ref().filter(|turn| submitted(turn)).map(Turn::phase);
        match (method, item, phase) {
            ("item/delta", Some(item), _) => self.fold.lost(&item),
            (
                "turn/completed"
                | "turn/unqueued"
                | "approval/requested"
                | "approval/updated"
                | "userInput/requested",
                _,
                Some(phase),
            ) => {
                let what = "Muse sent an event of the turn that cannot be read";
                self.fail_turn(cx, Failure::protocol(phase, what));
            }
            _ => {}
        }
    }
}

/// APR-24: stale by code or kind; already resolved by its kind, and by its code when no kind says
/// otherwise.
fn is_overtaken(error: &RpcError) -> bool {
    let kind = error.data.as_ref().and_then(|data| data.get("kind")).and_then(|kind| kind.as_str());
    match (error.code, kind) {
        (_, Some("approvalRequirementStale" | "approvalAlreadyResolved")) => true,
        (code::APPROVAL_STALE, _) => true,
        (code::APPROVAL_ALREADY_RESOLVED, kind) => kind.is_none(),
        _ => false,
    }
}
