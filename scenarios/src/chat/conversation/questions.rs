//! Permission questions within a conversation: who answers, in which order, and when it is too late.
//!
//! Invariants: one question at a time is shown, the others wait; every request is answered exactly
//! once; outside of a running turn of our session nothing is granted.
//! It does not know which option an answer means: that is [`Question`].

use serde_json::Value;

use super::{Conversation, Phase};
use crate::chat::permission::{Outcome, Question};
use crate::cli::Approve;

impl Conversation {
    pub(super) fn on_permission(
        &mut self,
        id: Value,
        session: &str,
        question: Result<Question, String>,
    ) {
        let mine = self.session.as_deref() == Some(session);
        let question = match (&mut self.phase, question) {
            (Phase::Turn { cancelling: false, .. }, Ok(question)) if mine => question,
            (_, question) => {
                let why = question.err().unwrap_or_else(|| "no turn of this session runs".into());
                self.note(&format!("refused a permission request: {why}"));
                return self.client.respond(&id, &Outcome::Cancelled.to_result());
            }
        };
        let policy = question.by_policy(self.settings.approve);
        if let Some(outcome) = policy {
            return self.answer_by(&id, &question, &outcome, policy_name(self.settings.approve));
        }
        if self.typed_ended {
            return self.answer_by(&id, &question, &Outcome::Cancelled, "end of input");
        }
        if let Phase::Turn { questions, .. } = &mut self.phase {
            questions.push_back((id, question));
            if questions.len() == 1 {
                self.ask();
            }
        }
    }

    pub(super) fn on_answer(&mut self, line: &str) {
        let Phase::Turn { questions, .. } = &mut self.phase else { return };
        let Some((_, question)) = questions.front() else { return };
        match question.by_line(line) {
            Some(outcome) => {
                if let Some((id, _)) = questions.pop_front() {
                    self.client.respond(&id, &outcome.to_result());
                }
                self.ask();
            }
            None => self.show_prompt(),
        }
    }

    pub(super) fn cancel_questions(&mut self) {
        let Phase::Turn { questions, .. } = &mut self.phase else { return };
        for (id, _) in std::mem::take(questions) {
            self.client.respond(&id, &Outcome::Cancelled.to_result());
        }
    }

    fn answer_by(&mut self, id: &Value, question: &Question, outcome: &Outcome, by: &str) {
        let text = self.renderer.answered(question, outcome, by);
        self.print(text);
        self.client.respond(id, &outcome.to_result());
    }

    pub(super) fn ask(&mut self) {
        let Phase::Turn { questions, .. } = &self.phase else { return };
        let Some((_, question)) = questions.front() else { return };
        let text = self.renderer.question(question);
        self.questions_asked += 1;
        self.print(text);
        self.show_prompt();
    }
}

/// What a typed line would be while `question` is open.
pub(super) fn answer_prompt(question: &Question) -> String {
    let numbers = match question.options.len() {
        1 => "1".to_owned(),
        count => format!("1-{count}"),
    };
    let words = if question.takes_yes_and_no() { ", y or n" } else { "" };
    format!("answer with {numbers}{words}: ")
}

fn policy_name(approve: Approve) -> &'static str {
    match approve {
        Approve::Ask => "--approve ask",
        Approve::Allow => "--approve allow",
        Approve::Deny => "--approve deny",
    }
}
