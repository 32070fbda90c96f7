//! From a method to its handler, and from an effect to what it does.
//!
//! Every arm is one call: rules live in the modules that are called.

use serde_json::{Map, Value};

use super::{Host, Reply, TurnRef, approvals, prompts, turns, work};

/// Effects that follow an answer, in order.
#[derive(Clone, Debug)]
pub(crate) enum After {
    /// Start the next admitted turn if none runs.
    Launch { session: String },
    /// Stop a turn, then launch the next one.
    Stop { session: String, turn: String, how: turns::Stop },
    /// Push the stored events after a position (CUR-7).
    Replay { session: String, position: u64 },
    /// Issue every pending request again (HOST-9).
    Reissue { session: String },
    /// A view event.
    Event { session: String, method: &'static str, params: Value },
    /// An approval was decided.
    Decided { session: String, decision: approvals::Decision },
    /// A prompt was settled.
    Settled { session: String, settlement: prompts::Settlement },
    /// A session is left when its work is done (SES-10).
    Leave { session: String, command_id: String, stop: bool },
    /// A running turn got more input.
    Steered { session: String, turn: TurnRef, input: Value },
    /// The goal of the session is another one.
    Goal { session: String, goal: Value },
    /// Items beside the turn.
    Work { session: String, effect: work::Effect },
    /// A notification that is no view event.
    Broadcast { method: &'static str, params: Value },
}

impl Host {
    /// The model's own answer to a command. Effects that follow the answer go to `after`.
    pub(crate) fn execute(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        match method {
            "initialize" => self.initialize(params),
            "session/start" => self.session_start(params),
            "session/resume" => self.session_resume(params, after),
            "session/read" => self.session_read(params),
            "session/list" => self.session_list(params),
            "session/fork" => self.session_fork(params),
            "session/sideChat" => self.session_side_chat(params),
            "session/leave" => self.session_leave(params, after),
            "session/setModel" => self.session_set_model(params, after),
            "session/setApprovalMode" => self.session_set_approval_mode(params, after),
            "session/setReasoningEffort" => self.session_set_reasoning_effort(params, after),
            "session/rename" => self.session_rename(params, after),
            "model/list" => self.model_list(params),
            "turn/start" => self.turn_start(params, after),
            "turn/steer" => self.turn_steer(params, after),
            "turn/cancel" | "turn/interrupt" => self.turn_cancel(method, params, after),
            "turn/unqueue" => self.turn_unqueue(params, after),
            "approval/decide" => self.approval_decide(params, after),
            "approval/listPending" => self.approval_list_pending(params),
            "userInput/answer"
            | "userInput/cancel"
            | "userInput/clarify"
            | "userInput/interrupt" => self.user_input_settle(method, params, after),
            "view/page" => self.view_page(params),
            "view/subscribe" => self.view_subscribe(params, after),
            "view/unsubscribe" => self.view_unsubscribe(params),
            _ => self.execute_work(method, params, after),
        }
    }

    pub(super) fn run_after(&mut self, effect: After) {
        match effect {
            After::Launch { session } => self.launch(&session),
            After::Stop { session, turn, how } => self.stop_turn(&session, &turn, how),
            After::Replay { session, position } => self.replay(&session, position),
            After::Reissue { session } => self.reissue(&session),
            After::Event { session, method, params } => {
                self.event(&session, method, params);
            }
            After::Decided { session, decision } => self.on_decided(&session, &decision),
            After::Settled { session, settlement } => self.on_settled(&session, &settlement),
            After::Leave { session, command_id, stop } => {
                self.on_leave(&session, command_id, stop);
            }
            After::Steered { session, turn, input } => {
                self.user_message(&session, &turn, &input, true);
            }
            After::Goal { session, goal } => self.set_goal(&session, goal),
            After::Work { session, effect } => self.run_effect(&session, effect),
            After::Broadcast { method, params } => self.notify(method, &params),
        }
    }
}
