//! Pending user inputs of one host and the forms they become (adapter-turns.md §12).
//!
//! In: the host's prompts and settlements, by whatever way and however often. Out: each prompt once, as a
//! form, as a refusal, or not at all; and what an answer of the editor stands for. Invariants: a prompt is
//! handled once (ELI-1); one form is open at a time (CON-3); nothing is answered that the person did not
//! give within the host's bounds (ELI-5); a settled prompt is over, whoever settled it (UIN-4). It sends
//! nothing itself.

use indexmap::IndexMap;

use super::form::Form;
use super::stall::Waiting;
use crate::acp::schema as acp;
use crate::msp::user_input::{Answer, UserInput};
use crate::msp::{TurnId, UserInputId};

/// Prompts of one host that are kept, open or settled. Above it the turn fails: no person answers this
/// many.
pub const QUESTIONS_MAX: usize = 4096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Questions {
    entries: IndexMap<UserInputId, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    turn: Option<TurnId>,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Nobody was asked yet.
    Due(Box<UserInput>),
    /// The form is at the editor.
    Open(Form),
    /// Answered, cancelled or refused by us; the host has not settled it yet.
    Handled,
    /// The host is done with it.
    Settled,
}

/// What to do with a prompt that is due.
#[derive(Clone, Debug)]
pub enum Next {
    /// Send `elicitation/create`.
    Show(UserInputId, Box<acp::CreateElicitationRequest>),
    /// It cannot be put into a form (ELI-2, PO-38).
    Unsupported(UserInputId),
}

/// What an answer of the editor stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Send `userInput/answer`.
    Answer(Vec<Answer>),
    /// Send `userInput/cancel`; the turn goes on (ELI-6).
    Cancel,
    /// Fail the turn, then cancel (ELI-5).
    Invalid,
    /// The prompt is not open any more: drop the answer.
    Obsolete,
}

/// There is no room for another prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyQuestions;

impl Questions {
    /// `userInput/requested` or `userInput/request`.
    ///
    /// # Errors
    /// [`TooManyQuestions`] at [`QUESTIONS_MAX`].
    pub fn requested(&mut self, input: UserInput) -> Result<(), TooManyQuestions> {
        if self.entries.contains_key(&input.user_input_id) {
            return Ok(());
        }
        if self.entries.len() >= QUESTIONS_MAX {
            return Err(TooManyQuestions);
        }
        let (id, turn) = (input.user_input_id.clone(), input.turn_id.clone());
        self.entries.insert(id, Entry { turn, state: State::Due(Box::new(input)) });
        Ok(())
    }

    /// `userInput/settled`, also for a prompt that was never seen. True: its form is open.
    pub fn settled(&mut self, id: &UserInputId) -> bool {
        match self.entries.get_mut(id) {
            Some(entry) => {
                matches!(std::mem::replace(&mut entry.state, State::Settled), State::Open(_))
            }
            None => {
                if self.entries.len() < QUESTIONS_MAX {
                    self.entries.insert(id.clone(), Entry { turn: None, state: State::Settled });
                }
                false
            }
        }
    }

    /// Whether the host has settled it.
    #[must_use]
    pub fn is_settled(&self, id: &UserInputId) -> bool {
        self.entries.get(id).is_some_and(|entry| matches!(entry.state, State::Settled))
    }

    /// Whether the host waits for somebody.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.entries.values().any(|entry| !matches!(entry.state, State::Settled))
    }

    /// What was answered and the host has not settled (STL-9). One that waits behind an open form is not
    /// the host's fault.
    pub fn waiting(&self) -> impl Iterator<Item = Waiting> {
        let handled = self.entries.iter().filter(|(_, one)| matches!(one.state, State::Handled));
        handled.map(|(id, _)| Waiting {
            id: id.as_str().to_owned(),
            frame: "userInput/requested",
            stage: None,
        })
    }

    /// What this turn has to show now. Call until `None`; another form follows when this one is closed.
    /// `forms`: the editor can show forms.
    pub fn next(&mut self, session: &str, turn: &TurnId, forms: bool) -> Option<Next> {
        if self.entries.values().any(|entry| matches!(entry.state, State::Open(_))) {
            return None;
        }
        let id = self.take_due(turn)?;
        let entry = self.entries.get_mut(&id)?;
        let State::Due(input) = std::mem::replace(&mut entry.state, State::Handled) else {
            return None;
        };
        let Some(form) = Form::new(&input.questions).filter(|_| forms) else {
            return Some(Next::Unsupported(id));
        };
        let request = form.request(session, turn, &input);
        entry.state = State::Open(form);
        Some(Next::Show(id, Box::new(request)))
    }

    /// A prompt of this turn that nobody was asked yet, and now nobody will be (ELI-9).
    pub fn give_up(&mut self, turn: &TurnId) -> Option<UserInputId> {
        let id = self.take_due(turn)?;
        self.entries.get_mut(&id)?.state = State::Handled;
        Some(id)
    }

    /// ELI-1: prompts of the acknowledged turn. One that names no turn can only be its.
    fn take_due(&self, turn: &TurnId) -> Option<UserInputId> {
        let due = |entry: &Entry| {
            let ours = entry.turn.as_ref().is_none_or(|named| named == turn);
            ours && matches!(entry.state, State::Due(_))
        };
        self.entries.iter().find(|(_, entry)| due(entry)).map(|(id, _)| id.clone())
    }

    /// The editor answered the form with this JSON; `None`: not at all, or with an error.
    pub fn answered(&mut self, id: &UserInputId, response: Option<&str>) -> Reply {
        let Some(entry) = self.entries.get_mut(id) else { return Reply::Obsolete };
        if !matches!(entry.state, State::Open(_)) {
            return Reply::Obsolete;
        }
        match std::mem::replace(&mut entry.state, State::Handled) {
            State::Open(form) => response.map_or(Reply::Invalid, |response| form.read(response)),
            _ => Reply::Obsolete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(id: &str, turn: &str) -> UserInput {
        let text = format!(
            r#"{{"userInputId":"{id}","turnId":"{turn}","questions":[
                {{"id":"q","question":"Which?","selection":{{"mode":"single"}},
                  "options":[{{"label":"A"}},{{"label":"B"}}]}}]}}"#
        );
        serde_json::from_str(&text).expect("decodes")
    }

    const ACCEPTED: &str = r#"{"action":"accept","content":{"q":"B"}}"#;

    #[test]
    fn a_prompt_is_shown_once_and_one_at_a_time() {
        let (turn, mut questions) = (TurnId::from("t"), Questions::default());
        for id in ["u", "u", "v"] {
            questions.requested(input(id, "t")).expect("room");
        }
        let Some(Next::Show(first, _)) = questions.next("s", &turn, true) else { panic!("a form") };
        assert!(questions.next("s", &turn, true).is_none(), "one form is open");
        assert!(matches!(questions.answered(&first, Some(ACCEPTED)), Reply::Answer(_)));
        assert_eq!(questions.answered(&first, Some(ACCEPTED)), Reply::Obsolete);
        questions.requested(input("u", "t")).expect("room");
        assert!(matches!(questions.next("s", &turn, true), Some(Next::Show(id, _)) if id != first));
    }

    #[test]
    fn what_the_host_settled_is_over() {
        let (turn, mut questions) = (TurnId::from("t"), Questions::default());
        let (seen, unseen) = (UserInputId::from("u"), UserInputId::from("v"));
        questions.requested(input("u", "t")).expect("room");
        assert!(matches!(questions.next("s", &turn, true), Some(Next::Show(..))));
        assert!(questions.settled(&seen), "its form is to be taken back");
        assert!(!questions.settled(&seen));
        assert_eq!(questions.answered(&seen, Some(ACCEPTED)), Reply::Obsolete);
        assert!(!questions.settled(&unseen));
        questions.requested(input("v", "t")).expect("room");
        assert!(questions.next("s", &turn, true).is_none());
        assert!(!questions.has_pending());
    }

    #[test]
    fn a_prompt_of_another_turn_is_not_shown() {
        let (turn, mut questions) = (TurnId::from("t"), Questions::default());
        questions.requested(input("u", "other")).expect("room");
        assert!(questions.next("s", &turn, true).is_none());
        assert!(questions.give_up(&turn).is_none());
        assert!(questions.has_pending());
    }

    #[test]
    fn without_forms_it_is_refused_once() {
        let (turn, mut questions) = (TurnId::from("t"), Questions::default());
        questions.requested(input("u", "t")).expect("room");
        assert!(matches!(questions.next("s", &turn, false), Some(Next::Unsupported(_))));
        assert!(questions.next("s", &turn, false).is_none());
    }

    #[test]
    fn there_is_a_bound() {
        let mut questions = Questions::default();
        for index in 0..QUESTIONS_MAX {
            questions.requested(input(&format!("u{index}"), "t")).expect("room");
        }
        assert_eq!(questions.requested(input("one more", "t")), Err(TooManyQuestions));
    }
}
