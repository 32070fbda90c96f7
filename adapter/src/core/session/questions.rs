//! Questions of the host to the person, as forms of the editor (adapter-turns.md §12).

use super::viewing::Deferred;
use super::{Cx, Session, Slot};
use crate::acp::method;
use crate::core::failure::{Failure, Phase};
use crate::core::features::{Feature, has};
use crate::core::io::Output;
use crate::core::questions::{Next, Reply};
use crate::core::turn::{EditorCall, HostCall};
use crate::msp::command::{UserInputAnswer, UserInputCancel, UserInputEngaged};
use crate::msp::{UserInput, UserInputId, code};
use crate::wire::envelope;
use crate::wire::peer::Outcome;

impl Session {
    pub(super) fn on_user_input(&mut self, cx: &mut Cx<'_>, input: UserInput) {
        let Slot::Live(host) = &mut self.slot else { return };
        if host.questions.requested(input).is_err() {
            let what = "Muse asked more questions than the adapter keeps";
            return self.fail_turn(cx, Failure::protocol(Phase::Running, what));
        }
        self.inquire(cx);
    }

    /// UIN-4: whoever settled it, the form is closed and nothing is sent for it.
    pub(super) fn on_user_input_settled(&mut self, cx: &mut Cx<'_>, settled: &UserInputId) {
        let Slot::Live(host) = &mut self.slot else { return };
        if host.questions.settled(settled) {
            self.withdraw_questions(cx);
        }
        self.inquire(cx);
        self.watch(cx);
    }

    /// Shows what is due. Without a running turn nothing is shown; a cancelled turn gets the host's
    /// prompts cancelled (ELI-9).
    pub(super) fn inquire(&mut self, cx: &mut Cx<'_>) {
        loop {
            let Some(turn) = self.turn.as_ref().filter(|turn| !turn.catching_up) else { return };
            let (Some(running), generation) = (turn.running(), turn.generation) else { return };
            let Slot::Live(host) = &mut self.slot else { return };
            if turn.cancelled {
                let Some(input) = host.questions.give_up(running) else { return };
                self.send_cancel(cx, &input, "the turn was cancelled", HostCall::Forgotten);
                continue;
            }
            if !host.view.is_current() {
                return; // GAP-2
            }
            match host.questions.next(self.id.as_str(), running, cx.client.forms) {
                None => return,
                Some(Next::Unsupported(input)) => {
                    let failure = Failure::user_input_unsupported(cx.client.forms);
                    return self.refuse(cx, &input, "this client cannot show it", failure);
                }
                Some(Next::Show(input, request)) => {
                    let session = self.id.clone();
                    let call = EditorCall::Question { session, generation, input: input.clone() };
                    let Some((_, line)) =
                        cx.editor.request(method::ELICITATION_CREATE, &request, call)
                    else {
                        let failure = Failure::user_input_invalid();
                        return self.refuse(cx, &input, "the client answers nothing", failure);
                    };
                    cx.out.push_back(Output::Editor(line));
                    self.engage(cx, &input);
                }
            }
        }
    }

    /// PO-16: once per form, so that the host's countdown does not run against a person who reads.
    fn engage(&self, cx: &mut Cx<'_>, input: &UserInputId) {
        let Slot::Live(host) = &self.slot else { return };
        if has(host.version.as_deref(), Feature::Engaged) {
            let params = UserInputEngaged { session_id: &self.id, user_input_id: input };
            let line = envelope::notification("userInput/engaged", Some(&params));
            cx.out.push_back(Output::Host(host.id, line));
        }
    }

    /// The editor's answer to a form; a late one is dropped (ELI-8, CAN-8).
    pub fn on_form(
        &mut self,
        cx: &mut Cx<'_>,
        generation: u64,
        input: &UserInputId,
        outcome: &Outcome<'_>,
    ) {
        let Some(turn) = &self.turn else { return };
        if turn.generation != generation || turn.cancelled || turn.running().is_none() {
            return;
        }
        let Slot::Live(host) = &mut self.slot else { return };
        let response = match outcome {
            Outcome::Ok(raw) => Some(raw.get()),
            Outcome::Err(_) | Outcome::Impossible => None,
        };
        if !host.view.is_current() {
            let response = response.map(str::to_owned);
            return host.answers.push(Deferred::Form(input.clone(), response));
        }
        self.reply(cx, input, response);
    }

    /// What an answer to a form means now.
    pub(super) fn reply(&mut self, cx: &mut Cx<'_>, input: &UserInputId, response: Option<&str>) {
        let Some(turn) = self.turn.as_ref().filter(|turn| !turn.cancelled) else { return };
        let (Some(_), generation) = (turn.running(), turn.generation) else { return };
        let Slot::Live(host) = &mut self.slot else { return };
        match host.questions.answered(input, response) {
            Reply::Obsolete => {}
            Reply::Answer(answers) => {
                let (id, command) = (self.id.clone(), cx.ids.uuid());
                let params = UserInputAnswer {
                    command_id: &command,
                    session_id: &id,
                    user_input_id: input,
                    answers: &answers,
                };
                let call = HostCall::Reply(generation, input.clone());
                self.call(cx, "userInput/answer", &params, call);
            }
            Reply::Cancel => {
                let call = HostCall::Reply(generation, input.clone());
                self.send_cancel(cx, input, "the person declined to answer", call);
            }
            Reply::Invalid => {
                let failure = Failure::user_input_invalid();
                return self.refuse(cx, input, "the client gave no valid answer", failure);
            }
        }
        self.inquire(cx);
        self.watch(cx); // STL-3: the form is closed
    }

    /// ELI-10. The settlement itself comes with the view.
    pub(super) fn on_replied(
        &mut self,
        cx: &mut Cx<'_>,
        input: &UserInputId,
        outcome: &Outcome<'_>,
    ) {
        let Slot::Live(host) = &self.slot else { return };
        match outcome {
            Outcome::Ok(_) => {}
            Outcome::Err(error)
                if matches!(error.code, code::INPUT_NOT_FOUND | code::INPUT_ALREADY_SETTLED)
                    && (host.questions.is_settled(input) || !host.view.is_current()) =>
            {
                tracing::info!(code = "answer-overtaken", session = %self.id, msp_code = error.code);
            }
            Outcome::Err(error) => self.fail_turn(cx, Failure::user_input_rejected(error.code)),
            Outcome::Impossible => {
                let what = "Muse's answer to the reply to a question is unusable";
                self.fail_turn(cx, Failure::protocol(Phase::Running, what));
            }
        }
    }

    /// The turn was cancelled: its forms are closed, what is due is cancelled (ELI-8, ELI-9).
    pub(super) fn abandon_questions(&mut self, cx: &mut Cx<'_>) {
        self.withdraw_questions(cx);
        self.inquire(cx);
    }

    fn withdraw_questions(&self, cx: &mut Cx<'_>) {
        cx.withdraw(
            |call| matches!(call, EditorCall::Question { session, .. } if *session == self.id),
        );
    }

    /// The turn fails for this reason, and the host is told once that nobody answers (ELI-2, ELI-5). It
    /// is told first because a failed turn closes its host; whatever it says then is not looked at, so
    /// the failure stays the first cause.
    fn refuse(&mut self, cx: &mut Cx<'_>, input: &UserInputId, why: &'static str, cause: Failure) {
        if let Slot::Live(host) = &mut self.slot {
            let command = cx.ids.uuid();
            let params = UserInputCancel {
                command_id: &command,
                session_id: &self.id,
                user_input_id: input,
                reason: why,
            };
            // No room for another request means that the host answers nothing anyway.
            if let Some((_, line)) =
                host.peer.request("userInput/cancel", &params, HostCall::Forgotten)
            {
                cx.out.push_back(Output::Host(host.id, line));
            }
        }
        self.fail_turn(cx, cause);
    }

    fn send_cancel(
        &mut self,
        cx: &mut Cx<'_>,
        input: &UserInputId,
        reason: &'static str,
        call: HostCall,
    ) {
        let (id, command) = (self.id.clone(), cx.ids.uuid());
        let params =
            UserInputCancel { command_id: &command, session_id: &id, user_input_id: input, reason };
        self.call(cx, "userInput/cancel", &params, call);
    }
}
