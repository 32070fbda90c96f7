//! Corrections of the running turn, as the editor asks for them and the host answers (adapter-turns.md
//! §15). The prompt alone answers for the turn (STE-4): here nothing starts, ends or repeats one, except
//! that an acknowledgement that never comes ends it (STE-11).

use serde_json::json;

use super::{Cx, Session, Slot};
use crate::acp::{self, steering::Steer, update};
use crate::core::content;
use crate::core::failure::Failure;
use crate::core::steering::{ACK_BUDGET, Correction, Form};
use crate::core::turn::{HostCall, Stage, Turn};
use crate::msp::command::{TurnSteer, TurnSteerResult};
use crate::msp::{SessionId, TurnId};
use crate::wire::peer::Outcome;
use crate::wire::{Id, RpcError};

impl Session {
    /// `_muse/steer` or `_session/steering`, which the editor has negotiated.
    ///
    /// # Errors
    /// `-32600` if the named turn does not run, a decision is pending (SCN-APR-42) or too many wait;
    /// `-32602` for its content.
    pub fn steer(
        &mut self,
        cx: &mut Cx<'_>,
        request: Id,
        form: Form,
        asked: &Steer<'_>,
    ) -> Result<(), RpcError> {
        let turn = self.turn.as_ref().filter(|turn| !turn.cancelled);
        let turn = turn.filter(|_| !self.is_deaf()); // nobody takes it
        let running = turn.and_then(|turn| Some((turn.generation, turn.running()?.clone())));
        let Some((generation, turn)) = running else {
            return Err(acp::invalid_request("no turn of this session can be corrected now"));
        };
        if asked.expected_turn_id.as_deref().is_some_and(|expected| expected != turn.as_str()) {
            return Err(not_running());
        }
        if let Some(refusal) = self.pending_decision() {
            return Err(refusal);
        }
        let full = |_| acp::busy("too many corrections of this turn are waiting");
        self.steering.room().map_err(full)?;
        let parts = content::convert(&asked.prompt)?;
        let correction = Correction { request, form, generation, turn, parts };
        self.steering.admit(correction).map_err(full)?;
        self.send_correction(cx);
        Ok(())
    }

    /// SCN-APR-42: what is to be decided comes first; its id says what the person is asked.
    pub(super) fn pending_decision(&self) -> Option<RpcError> {
        let Slot::Live(host) = &self.slot else { return None };
        let approval = host.approvals.pending()?;
        let refusal = acp::invalid_request("an approval of this session waits for a decision");
        let data = json!({ "availability": "busy", "approvalId": approval.as_str() });
        Some(refusal.with_data(data))
    }

    /// STE-5, STE-7: the next one goes to the turn that it was meant for, or nowhere.
    fn send_correction(&mut self, cx: &mut Cx<'_>) {
        while let Some(mut correction) = self.steering.take_next() {
            if !self.takes(correction.generation, &correction.turn) {
                cx.fail(&correction.request, &not_running());
                continue;
            }
            let (id, command) = (self.id.clone(), cx.ids.uuid());
            let (turn, parts) = (correction.turn.clone(), std::mem::take(&mut correction.parts));
            let number = self.steering.send(correction, cx.now);
            let params = TurnSteer {
                command_id: &command,
                session_id: &id,
                expected_turn_id: &turn,
                input: &parts,
                reasoning_effort: self.effort,
            };
            return self.call(cx, "turn/steer", &params, HostCall::Steer(number));
        }
    }

    fn takes(&self, generation: u64, native: &TurnId) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            turn.generation == generation && !turn.cancelled && turn.running() == Some(native)
        })
    }

    /// The host's answer to one send. A late one finds nobody.
    pub(super) fn on_steered(&mut self, cx: &mut Cx<'_>, number: u64, outcome: Outcome<'_>) {
        let Some(correction) = self.steering.answered(number) else { return };
        let result = match outcome {
            Outcome::Ok(raw) => match serde_json::from_str::<TurnSteerResult>(raw.get()) {
                Ok(ack) if ack.status == "accepted" && ack.turn_id == correction.turn => Ok(()),
                _ => Err(Failure::steering_unusable()), // STE-12
            },
            Outcome::Err(error) => Err(Failure::steering_refused(&error, &cx.config.redactor)),
            Outcome::Impossible => Err(Failure::steering_unusable()),
        };
        match result {
            Ok(()) if correction.form == Form::Muse => {
                let result = json!({ "status": "accepted", "turnId": correction.turn.as_str() });
                cx.succeed(&correction.request, &result);
            }
            Ok(()) => cx.succeed(&correction.request, &json!({ "outcome": "injected" })),
            Err(failure) => {
                tracing::info!(code = "steering-failed", session = %self.id, kind = failure.kind());
                cx.fail(&correction.request, &failure.to_acp()); // STE-10
            }
        }
        self.send_correction(cx);
    }

    /// STE-11. True: the prompt has failed. A turn that has ended keeps its end (END-5).
    pub(super) fn on_steering_deadline(&mut self, cx: &mut Cx<'_>) -> bool {
        if cx.editor_stalled {
            return false; // the host is not read (PO-19)
        }
        let Some(correction) = self.steering.overdue(cx.now) else { return false };
        cx.fail(&correction.request, &Failure::steering_unknown().to_acp());
        if self.turn.as_ref().is_none_or(|turn| turn.running().is_none()) {
            return false;
        }
        self.fail_turn(cx, Failure::steering_unacknowledged(ACK_BUDGET));
        true
    }

    /// The turn takes no more corrections (STE-9, CAN-11): those that wait are refused, in order.
    pub(super) fn refuse_corrections(&mut self, cx: &mut Cx<'_>) {
        for correction in self.steering.drain() {
            cx.fail(&correction.request, &not_running());
        }
    }

    /// The host's terminal came: nothing waits any more, and a debt of the host is remembered (STE-13).
    pub(super) fn end_corrections(&mut self, cx: &mut Cx<'_>) {
        self.refuse_corrections(cx);
        self.steering.turn_ended();
    }

    /// The host is told to end: nobody will know what it made of the correction that it had.
    pub(super) fn lose_corrections(&mut self, cx: &mut Cx<'_>) {
        if let Some(correction) = self.steering.host_gone() {
            cx.fail(&correction.request, &Failure::steering_unknown().to_acp());
        }
        self.refuse_corrections(cx);
    }

    /// STE-3: the turn that can be named, as soon as it can.
    pub(super) fn tell_active_turn(&self, cx: &mut Cx<'_>) {
        let running = self.turn.as_ref().and_then(|turn| turn.running());
        tell(cx, &self.id, running);
    }

    /// STE-3, TRN-11: the turn is over; told before its answer, for every turn that was attempted.
    pub(super) fn tell_no_turn(&self, cx: &mut Cx<'_>, ended: &Turn) {
        let attempted = match &ended.stage {
            Stage::Running { .. } | Stage::Titling { .. } | Stage::Submitted { .. } => true,
            Stage::AwaitingExit { failure } => failure.phase().may_have_submitted(),
            _ => false,
        };
        if attempted {
            tell(cx, &self.id, None);
        }
    }
}

fn tell(cx: &mut Cx<'_>, session: &SessionId, turn: Option<&TurnId>) {
    if cx.client.steers() {
        cx.update(session, update::active_turn(turn.map(TurnId::as_str)));
    }
}

/// STE-2, STE-7, STE-9.
fn not_running() -> RpcError {
    acp::invalid_request("the turn that was to be corrected does not run any more")
}
