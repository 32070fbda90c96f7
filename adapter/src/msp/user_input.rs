//! User input: what the host asks the person beside approvals (msp.md §12).

use serde::{Deserialize, Serialize};

use super::id::{TurnId, UserInputId};
use super::lenient;

/// `userInput/requested` and `userInput/request`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserInput {
    /// Identity.
    pub user_input_id: UserInputId,
    /// The turn that waits for it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub turn_id: Option<TurnId>,
    /// The model's id of the call.
    #[serde(default, deserialize_with = "lenient::text")]
    pub tool_call_id: Option<String>,
    /// The tool.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub tool_name: String,
    /// All of them or none: an answer without one of them would be wrong.
    #[serde(default)]
    pub questions: Vec<Question>,
}

/// One question of a prompt.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// Identity within the prompt.
    pub id: String,
    /// A short heading.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub header: String,
    /// The text.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub question: String,
    /// How many options may be chosen.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub selection: Option<Selection>,
    /// None: a free text.
    #[serde(default)]
    pub options: Option<Vec<Choosable>>,
}

/// How many options may be chosen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Selection {
    /// Open enum: `single`, `multiple`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub mode: String,
    /// Absent means 1.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub min_selections: Option<u64>,
    /// Absent means all.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub max_selections: Option<u64>,
}

/// One option of a question.
#[derive(Clone, Debug, Deserialize)]
pub struct Choosable {
    /// Echoed byte for byte (UIN-1).
    pub label: String,
}

/// One answer; exactly one of the three forms (UIN-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Which question.
    pub question_id: String,
    /// What was chosen or written.
    #[serde(flatten)]
    pub value: AnswerValue,
}

/// The forms of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AnswerValue {
    /// Of a single selection.
    SelectedLabel(String),
    /// Of a multiple selection.
    SelectedLabels(Vec<String>),
    /// Of a question without options.
    FreeText(String),
}
