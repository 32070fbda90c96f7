//! Items of a session's view (msp.md §9): one flat object for all kinds.

use serde::Deserialize;

use super::id::{ItemId, TurnId};
use super::lenient;

/// Kinds that the adapter treats apart; every other word is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What the person or a client sent.
    UserMessage,
    /// Text for the person.
    AgentMessage,
    /// Summaries of reasoning; its `text` is private (GEN-3).
    Reasoning,
    /// A call of a tool.
    ToolCall,
    /// A command that the person ran through the host.
    UserShell,
    /// Any other kind, known to the tables or not.
    Other(String),
}

impl Kind {
    /// The host's word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::UserMessage => "userMessage",
            Self::AgentMessage => "agentMessage",
            Self::Reasoning => "reasoning",
            Self::ToolCall => "toolCall",
            Self::UserShell => "userShell",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for Kind {
    fn from(word: String) -> Self {
        match word.as_str() {
            "userMessage" => Self::UserMessage,
            "agentMessage" => Self::AgentMessage,
            "reasoning" => Self::Reasoning,
            "toolCall" => Self::ToolCall,
            "userShell" => Self::UserShell,
            _ => Self::Other(word),
        }
    }
}

/// Whether an item may still change. Every word but `inProgress` is terminal (ITM-4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Open.
    InProgress,
    /// Ended well.
    Completed,
    /// Ended otherwise: `failed`, `cancelled`, `rejected`, `timedOut` or an unknown word.
    Ended(String),
}

impl Status {
    /// The host's word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::InProgress => "inProgress",
            Self::Completed => "completed",
            Self::Ended(word) => word,
        }
    }

    /// Open or not.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        *self != Self::InProgress
    }
}

impl From<String> for Status {
    fn from(word: String) -> Self {
        match word.as_str() {
            "inProgress" => Self::InProgress,
            "completed" => Self::Completed,
            _ => Self::Ended(word),
        }
    }
}

/// The members of an item that the adapter reads. Only `itemId` and `kind` are indispensable; a
/// missing status reads as open, a missing revision as 0.
///
/// ```
/// use muse_code_acp::msp::{Item, Kind, Status};
/// let item: Item = serde_json::from_str(
///     r#"{"itemId":"i1","kind":"toolCall","turnId":"t1","revision":2,"status":"timedOut",
///         "tool":"bash","callId":"c1","args":"{\"command\":\"ls\"}","visibleOutput":7}"#,
/// ).unwrap();
/// assert_eq!(item.kind, Kind::ToolCall);
/// assert_eq!(item.status, Status::Ended("timedOut".into()));
/// assert_eq!(item.visible_output, None, "a member of the wrong type counts as absent");
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Identity.
    pub item_id: ItemId,
    /// What it is.
    #[serde(deserialize_with = "kind")]
    pub kind: Kind,
    /// The turn it belongs to, if any.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub turn_id: Option<TurnId>,
    /// Grows with each whole-item event (ITM-2).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub revision: u64,
    /// Open or ended.
    #[serde(default = "open", deserialize_with = "status")]
    pub status: Status,
    /// Text of messages; private on reasoning items.
    #[serde(default, deserialize_with = "lenient::text")]
    pub text: Option<String>,
    /// Parts of a reasoning summary.
    #[serde(default, deserialize_with = "lenient::elements")]
    pub summary: Vec<String>,
    /// The tool's name.
    #[serde(default, deserialize_with = "lenient::text")]
    pub tool: Option<String>,
    /// The model's id of the call.
    #[serde(default, deserialize_with = "lenient::text")]
    pub call_id: Option<String>,
    /// The call's arguments as the model wrote them: JSON text, possibly malformed.
    #[serde(default, deserialize_with = "lenient::text")]
    pub args: Option<String>,
    /// Output for people.
    #[serde(default, deserialize_with = "lenient::text")]
    pub visible_output: Option<String>,
    /// Why it failed, in the host's words.
    #[serde(default, deserialize_with = "lenient::text")]
    pub failure_reason: Option<String>,
    /// Text of kinds that a client does not know.
    #[serde(default, deserialize_with = "lenient::text")]
    pub fallback_text: Option<String>,
    /// The command of a `userShell`.
    #[serde(default, deserialize_with = "lenient::text")]
    pub command_text: Option<String>,
    /// The query of a `webSearch`.
    #[serde(default, deserialize_with = "lenient::text")]
    pub query: Option<String>,
    /// The host cut a text of this item.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub truncated: bool,
}

fn open() -> Status {
    Status::InProgress
}

fn kind<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Kind, D::Error> {
    String::deserialize(input).map(Kind::from)
}

fn status<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Status, D::Error> {
    Ok(lenient::text(input)?.map_or(Status::InProgress, Status::from))
}
