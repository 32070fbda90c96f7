//! Notifications of the host, classified (adapter-turns.md §24).
//!
//! Texts of deltas borrow from the frame: they are the hot path.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::approval::{Approval, ApprovalUpdate, Resolved};
use super::id::{TurnId, UserInputId};
use super::item::Item;
use super::lenient;
use super::user_input::UserInput;

/// One notification, decoded as far as the adapter consumes it.
#[derive(Debug)]
pub enum Event<'a> {
    /// `item/started`, `item/updated`, `item/completed`: the whole item.
    Item(Box<Item>),
    /// `item/delta`.
    Delta(Delta<'a>),
    /// `turn/started`.
    TurnStarted(TurnId),
    /// `turn/completed` or `turn/unqueued`.
    TurnEnded(TurnId, Terminal),
    /// `approval/requested`.
    Approval(Box<Approval>),
    /// `approval/updated`.
    ApprovalUpdated(Box<ApprovalUpdate>),
    /// `approval/resolved`.
    ApprovalResolved(Box<Resolved>),
    /// `userInput/requested`.
    UserInput(Box<UserInput>),
    /// `userInput/settled`.
    UserInputSettled(UserInputId),
    /// `session/closed`: the host unloaded the session.
    SessionClosed,
    /// Known or not, without a consumer: counts as activity (TOL-6).
    Ignored,
    /// A consumed method whose params could not be read (TOL-18).
    Undecodable,
}

/// `item/delta`: text appended to one field of an open item.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delta<'a> {
    /// The session; here because deltas are too many to be read twice.
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
    /// The item.
    #[serde(borrow)]
    pub item_id: Cow<'a, str>,
    /// Its position as it was written; two deltas never share one (CUR-1).
    #[serde(borrow, default)]
    pub view_cursor: Option<&'a RawValue>,
    /// Absent means `text`.
    #[serde(borrow, default)]
    pub field: Option<Cow<'a, str>>,
    /// What to append.
    #[serde(borrow)]
    pub delta: Cow<'a, str>,
}

/// Where a delta goes (msp.md §9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaField {
    /// `text` or absent.
    Text,
    /// `summary.N`.
    Summary(usize),
    /// `output`: appends to `visibleOutput`.
    Output,
    /// A field without a consumer.
    Other,
}

impl Delta<'_> {
    /// Reads the field path.
    #[must_use]
    pub fn target(&self) -> DeltaField {
        match self.field.as_deref() {
            None | Some("text") => DeltaField::Text,
            Some("output") => DeltaField::Output,
            Some(path) => path
                .strip_prefix("summary.")
                .filter(|part| part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|part| part.parse().ok())
                .map_or(DeltaField::Other, DeltaField::Summary),
        }
    }
}

/// How a turn ended (TRN-7, TRN-8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// `completed`.
    Completed,
    /// `cancelled`.
    Cancelled,
    /// `failed` or an unknown word.
    Failed(TurnError),
    /// `turn/unqueued`: it never ran.
    Unqueued,
}

/// Why a turn failed, in the host's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnError {
    /// `error.kind`, else the terminal's word.
    pub kind: String,
    /// `error.message`, else `reason`, else the terminal's word. Redact before showing (FAIL-20).
    pub message: String,
    /// Only when the host said so.
    pub retryable: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemParams {
    item: Item,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnParams {
    turn_id: TurnId,
    #[serde(default, deserialize_with = "lenient::text")]
    terminal: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    reason: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    error: Option<ErrorParams>,
}

#[derive(Deserialize)]
struct ErrorParams {
    #[serde(default, deserialize_with = "lenient::text")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "lenient::text")]
    message: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    retryable: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserInputParams {
    user_input_id: UserInputId,
}

/// Decodes one notification.
#[must_use]
pub fn decode<'a>(method: &str, params: Option<&'a RawValue>) -> Event<'a> {
    let Some(raw) = params.map(RawValue::get) else { return Event::Ignored };
    let event =
        match method {
            "item/delta" => serde_json::from_str(raw).map(Event::Delta),
            "item/started" | "item/updated" | "item/completed" => serde_json::from_str(raw)
                .map(|params: ItemParams| Event::Item(Box::new(params.item))),
            "turn/started" => serde_json::from_str(raw)
                .map(|params: TurnParams| Event::TurnStarted(params.turn_id)),
            "turn/completed" => serde_json::from_str(raw).map(completed),
            "turn/unqueued" => serde_json::from_str(raw)
                .map(|params: TurnParams| Event::TurnEnded(params.turn_id, Terminal::Unqueued)),
            "approval/requested" => serde_json::from_str(raw).map(Event::Approval),
            "approval/updated" => serde_json::from_str(raw).map(Event::ApprovalUpdated),
            "approval/resolved" => serde_json::from_str(raw).map(Event::ApprovalResolved),
            "userInput/requested" => serde_json::from_str(raw).map(Event::UserInput),
            "userInput/settled" => serde_json::from_str(raw)
                .map(|params: UserInputParams| Event::UserInputSettled(params.user_input_id)),
            "session/closed" => Ok(Event::SessionClosed),
            _ => Ok(Event::Ignored),
        };
    event.unwrap_or(Event::Undecodable)
}

fn completed(params: TurnParams) -> Event<'static> {
    let word = params.terminal.unwrap_or_else(|| "unknown".into());
    let terminal = match (word.as_str(), params.error) {
        ("completed", None) => Terminal::Completed,
        ("cancelled", _) => Terminal::Cancelled,
        (_, error) => {
            let (kind, message, retryable) =
                error.map_or((None, None, None), |e| (e.kind, e.message, e.retryable));
            Terminal::Failed(TurnError {
                kind: kind.unwrap_or_else(|| word.clone()),
                message: message.or(params.reason).unwrap_or(word),
                retryable,
            })
        }
    };
    Event::TurnEnded(params.turn_id, terminal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(raw: &str) -> Terminal {
        let raw: &RawValue = serde_json::from_str(raw).expect("json");
        match decode("turn/completed", Some(raw)) {
            Event::TurnEnded(_, terminal) => terminal,
            other => panic!("a terminal, not {other:?}"),
        }
    }

    #[test]
    fn every_terminal_ends_the_turn_and_unknown_words_are_failures() {
        assert_eq!(terminal(r#"{"turnId":"t","terminal":"completed"}"#), Terminal::Completed);
        assert_eq!(terminal(r#"{"turnId":"t","terminal":"cancelled"}"#), Terminal::Cancelled);
        let Terminal::Failed(error) = terminal(r#"{"turnId":"t","terminal":"exploded"}"#) else {
            panic!("a failure")
        };
        assert_eq!((error.kind.as_str(), error.message.as_str()), ("exploded", "exploded"));
        let Terminal::Failed(error) = terminal(
            r#"{"turnId":"t","terminal":"failed","reason":"r",
                "error":{"kind":"modelError","message":"m","retryable":true}}"#,
        ) else {
            panic!("a failure")
        };
        assert_eq!(error.kind, "modelError");
        assert_eq!(error.retryable, Some(true));
        let Terminal::Failed(error) = terminal(r#"{"turnId":"t"}"#) else { panic!("a failure") };
        assert_eq!(error.kind, "unknown");
    }

    #[test]
    fn a_delta_names_its_field() {
        let field = |path: &str| {
            let raw = format!(r#"{{"sessionId":"s","itemId":"i","field":"{path}","delta":"x"}}"#);
            let raw: &RawValue = serde_json::from_str(&raw).expect("json");
            match decode("item/delta", Some(raw)) {
                Event::Delta(delta) => delta.target(),
                other => panic!("a delta, not {other:?}"),
            }
        };
        assert_eq!(field("text"), DeltaField::Text);
        assert_eq!(field("output"), DeltaField::Output);
        assert_eq!(field("summary.12"), DeltaField::Summary(12));
        assert_eq!(field("summary.-1"), DeltaField::Other);
        assert_eq!(field("summary.99999999999999999999"), DeltaField::Other);
        assert_eq!(field("patch"), DeltaField::Other);
    }

    #[test]
    fn one_ill_typed_member_does_not_lose_the_frame() {
        let raw: &RawValue = serde_json::from_str(
            r#"{"sessionId":"s","item":{"itemId":"i","kind":"hologram","turnId":7,
                "revision":"two","status":null,"summary":[1,"a"],"truncated":"no"}}"#,
        )
        .expect("json");
        let Event::Item(item) = decode("item/updated", Some(raw)) else { panic!("an item") };
        assert_eq!(item.kind.as_str(), "hologram");
        assert_eq!((item.turn_id.clone(), item.revision), (None, 0));
        assert_eq!(item.summary, ["a"]);
    }

    #[test]
    fn a_consumed_event_that_cannot_be_read_is_told_from_an_ignored_one() {
        let raw: &RawValue = serde_json::from_str(r#"{"sessionId":"s"}"#).expect("json");
        assert!(matches!(decode("item/started", Some(raw)), Event::Undecodable));
        assert!(matches!(decode("future/thing", Some(raw)), Event::Ignored));
    }
}
