//! Permission questions: what may be answered, and which answer a policy or a person means.
//!
//! Invariants: only an offered option is ever selected; a policy never selects one that holds for
//! longer than this question; whatever cannot be understood ends as `cancelled`, which grants
//! nothing. It does not know how the question is drawn or who is asked.

use serde_json::{Value, json};

use super::update::ToolChange;
use crate::cli::Approve;

/// A `session/request_permission`.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What the permission is for.
    pub tool: ToolChange,
    /// The offered answers, at least one, in the agent's order.
    pub options: Vec<Choice>,
}

/// One offered answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Sent back when selected.
    pub id: String,
    /// For people.
    pub name: String,
    /// Null-like [`Kind::Unknown`] when missing or not in the protocol.
    pub kind: Kind,
}

/// What an option does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Allows this once.
    AllowOnce,
    /// Allows this and the like of it.
    AllowAlways,
    /// Rejects this once.
    RejectOnce,
    /// Rejects this and the like of it.
    RejectAlways,
    /// Something this client does not know. A person may select it, a policy never does.
    Unknown,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The option with this id.
    Selected(String),
    /// No decision.
    Cancelled,
}

impl Outcome {
    /// The result on the wire.
    #[must_use]
    pub fn to_result(&self) -> Value {
        match self {
            Self::Selected(id) => json!({"outcome": {"outcome": "selected", "optionId": id}}),
            Self::Cancelled => json!({"outcome": {"outcome": "cancelled"}}),
        }
    }
}

impl Question {
    /// Reads the params of the request.
    ///
    /// # Errors
    /// What is missing. Such a question cannot be shown honestly and must not be granted.
    pub fn from_params(params: &Value) -> Result<Self, String> {
        let tool = ToolChange::from_value(&params["toolCall"]).ok_or("no toolCall.toolCallId")?;
        let offered = params["options"].as_array().map_or(&[][..], Vec::as_slice);
        let options = offered.iter().map(Choice::from_value).collect::<Option<Vec<_>>>();
        let options = options.ok_or("an option without optionId")?;
        if options.is_empty() {
            return Err("no options".into());
        }
        Ok(Self { tool, options })
    }

    /// What a policy answers; `None` for [`Approve::Ask`], where only a person can know.
    #[must_use]
    pub fn by_policy(&self, approve: Approve) -> Option<Outcome> {
        let wanted = match approve {
            Approve::Ask => return None,
            Approve::Allow => Kind::AllowOnce,
            Approve::Deny => Kind::RejectOnce,
        };
        let found = self.options.iter().find(|option| option.kind == wanted);
        Some(found.map_or(Outcome::Cancelled, |option| Outcome::Selected(option.id.clone())))
    }

    /// What a typed line answers; `None` when it names no option. Numbers count from 1. `y` and
    /// `n` count only when [`Question::takes_yes_and_no`].
    #[must_use]
    pub fn by_line(&self, line: &str) -> Option<Outcome> {
        let word = line.trim().to_ascii_lowercase();
        let wanted = match word.as_str() {
            "y" | "yes" => Some(Kind::AllowOnce),
            "n" | "no" => Some(Kind::RejectOnce),
            _ => None,
        };
        let found = match wanted {
            Some(kind) if self.takes_yes_and_no() => self.options.iter().find(|o| o.kind == kind),
            Some(_) => None,
            None => word.parse::<usize>().ok()?.checked_sub(1).and_then(|at| self.options.get(at)),
        };
        found.map(|option| Outcome::Selected(option.id.clone()))
    }

    /// Whether yes and no have exactly one meaning here: one option that allows once, one kind of
    /// rejection, and that once too.
    #[must_use]
    pub fn takes_yes_and_no(&self) -> bool {
        let count = |kind| self.options.iter().filter(|option| option.kind == kind).count();
        let rejecting = count(Kind::RejectOnce) + count(Kind::RejectAlways);
        count(Kind::AllowOnce) == 1 && count(Kind::RejectOnce) == 1 && rejecting == 1
    }
}

impl Choice {
    fn from_value(option: &Value) -> Option<Self> {
        let id = option["optionId"].as_str()?;
        let kind = match option["kind"].as_str() {
            Some("allow_once") => Kind::AllowOnce,
            Some("allow_always") => Kind::AllowAlways,
            Some("reject_once") => Kind::RejectOnce,
            Some("reject_always") => Kind::RejectAlways,
            _ => Kind::Unknown,
        };
        let name = option["name"].as_str().unwrap_or(id);
        Some(Self { id: id.to_owned(), name: name.to_owned(), kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question whose options have these kinds, with ids `o1`, `o2`, …
    fn question(kinds: &[&str]) -> Question {
        let option = |(at, kind): (usize, &&str)| json!({"optionId": format!("o{}", at + 1), "name": kind, "kind": kind});
        let options: Vec<Value> = kinds.iter().enumerate().map(option).collect();
        Question::from_params(&json!({"toolCall": {"toolCallId": "t"}, "options": options}))
            .expect("a question")
    }

    fn selected(id: &str) -> Option<Outcome> {
        Some(Outcome::Selected(id.into()))
    }

    #[test]
    fn a_policy_never_selects_what_holds_for_longer() {
        let all = question(&["allow_always", "reject_always", "allow_once", "reject_once"]);
        assert_eq!(all.by_policy(Approve::Allow), selected("o3"));
        assert_eq!(all.by_policy(Approve::Deny), selected("o4"));
        assert_eq!(all.by_policy(Approve::Ask), None);
    }

    #[test]
    fn a_policy_without_its_option_cancels() {
        let long = question(&["allow_always", "reject_always", "maybe"]);
        assert_eq!(long.by_policy(Approve::Allow), Some(Outcome::Cancelled));
        assert_eq!(long.by_policy(Approve::Deny), Some(Outcome::Cancelled));
    }

    #[test]
    fn a_person_answers_with_the_number() {
        let three = question(&["allow_once", "allow_always", "reject_once"]);
        assert_eq!(three.by_line(" 2 "), selected("o2"));
        for line in ["0", "4", "-1", "", "allow", "99999999999999999999"] {
            assert_eq!(three.by_line(line), None, "{line:?}");
        }
    }

    #[test]
    fn yes_and_no_count_only_when_they_have_one_meaning() {
        let clear = question(&["allow_always", "allow_once", "reject_once"]);
        assert_eq!(clear.by_line("y"), selected("o2"));
        assert_eq!(clear.by_line("No"), selected("o3"));
        for unclear in [
            question(&["allow_once", "reject_once", "reject_once"]),
            question(&["allow_once", "reject_once", "reject_always"]),
            question(&["allow_once", "allow_once", "reject_once"]),
            question(&["allow_once"]),
        ] {
            assert_eq!(unclear.by_line("y"), None, "{unclear:?}");
            assert_eq!(unclear.by_line("n"), None, "{unclear:?}");
        }
    }

    #[test]
    fn a_question_that_cannot_be_shown_is_an_error() {
        let read = |params: Value| Question::from_params(&params);
        assert!(read(json!({"options": []})).is_err());
        assert!(read(json!({"toolCall": {"toolCallId": "t"}, "options": []})).is_err());
        assert!(
            read(json!({"toolCall": {"toolCallId": "t"}, "options": [{"name": "x"}]})).is_err()
        );
    }

    #[test]
    fn the_result_has_the_shape_of_the_protocol() {
        assert_eq!(Outcome::Cancelled.to_result(), json!({"outcome": {"outcome": "cancelled"}}));
        let yes = Outcome::Selected("o1".into()).to_result();
        assert_eq!(yes, json!({"outcome": {"outcome": "selected", "optionId": "o1"}}));
    }
}
