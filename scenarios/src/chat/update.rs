//! `session/update` payloads, reduced to what a terminal can show.
//!
//! Input: the `update` member. Output: an [`Update`]. Invariants: a missing or odd optional member
//! never fails; a kind that is not known is kept by name; "absent" and "given" stay two things
//! wherever a `tool_call_update` may leave a member unchanged.
//! It does not know how anything is drawn.

use serde_json::Value;

/// One `session/update`.
#[derive(Debug, PartialEq)]
pub enum Update {
    /// A piece of the answer.
    Message(String),
    /// A piece of the reasoning.
    Thought(String),
    /// A new card or a change of one.
    Tool(ToolChange),
    /// The whole plan, replacing an earlier one.
    Plan(Vec<PlanEntry>),
    /// How full the context window is.
    Usage(Usage),
    /// A kind that is not shown, by its name on the wire.
    Other(String),
}

/// Members of a tool card that were given; the others stay as they were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolChange {
    /// Names the card within the session.
    pub id: String,
    /// One line for people.
    pub title: Option<String>,
    /// `read`, `edit`, `execute`, …
    pub kind: Option<String>,
    /// `pending`, `in_progress`, `completed`, `failed`, …
    pub status: Option<String>,
    /// Everything to show, replacing what was there.
    pub content: Option<Vec<Content>>,
    /// Files, as `path` or `path:line`.
    pub locations: Option<Vec<String>>,
    /// What the tool was called with; null when not given.
    pub raw_input: Value,
}

/// A part of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Output or prose.
    Text(String),
    /// A file before and after; `None` before means that it is new.
    Diff {
        /// The file.
        path: String,
        /// Its text before.
        old: Option<String>,
        /// Its text after.
        new: String,
    },
}

/// One line of a plan.
#[derive(Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// The step.
    pub text: String,
    /// `pending`, `in_progress`, `completed`, …
    pub status: String,
}

/// How full the context window is.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Tokens in use.
    pub used: u64,
    /// Size of the window in tokens.
    pub size: u64,
    /// Amount and currency so far, when told.
    pub cost: Option<(f64, String)>,
}

impl Update {
    /// Reads an `update` member.
    ///
    /// # Errors
    /// It does not say which kind it is, or lacks what this kind cannot do without.
    pub fn from_value(update: &Value) -> Result<Self, String> {
        let kind = update["sessionUpdate"].as_str().ok_or("`sessionUpdate` is missing")?;
        Ok(match kind {
            "agent_message_chunk" => Self::Message(block_text(&update["content"])),
            "agent_thought_chunk" => Self::Thought(block_text(&update["content"])),
            "tool_call" | "tool_call_update" => Self::Tool(
                ToolChange::from_value(update).ok_or(format!("{kind} without toolCallId"))?,
            ),
            "plan" => Self::Plan(array(&update["entries"]).map(plan_entry).collect()),
            "usage_update" => match usage(update) {
                Some(usage) => Self::Usage(usage),
                None => Self::Other("usage_update without numbers".into()),
            },
            other => Self::Other(other.to_owned()),
        })
    }
}

impl ToolChange {
    /// Reads a card, also the one inside a permission request. `None` without `toolCallId`.
    #[must_use]
    pub fn from_value(card: &Value) -> Option<Self> {
        let text = |name: &str| card[name].as_str().map(str::to_owned);
        Some(Self {
            id: text("toolCallId")?,
            title: text("title"),
            kind: text("kind"),
            status: text("status"),
            content: card["content"].as_array().map(|parts| parts.iter().map(content).collect()),
            locations: card["locations"].as_array().map(|l| l.iter().map(location).collect()),
            raw_input: card["rawInput"].clone(),
        })
    }
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter()
}

fn plan_entry(entry: &Value) -> PlanEntry {
    let text = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    PlanEntry { text: text("content"), status: text("status") }
}

fn usage(update: &Value) -> Option<Usage> {
    let cost = update["cost"]["amount"].as_f64();
    Some(Usage {
        used: update["used"].as_u64()?,
        size: update["size"].as_u64()?,
        cost: cost.map(|c| (c, update["cost"]["currency"].as_str().unwrap_or("").to_owned())),
    })
}

fn content(part: &Value) -> Content {
    let text = |name: &str| part[name].as_str().map(str::to_owned);
    match part["type"].as_str() {
        Some("content") => Content::Text(block_text(&part["content"])),
        Some("diff") => Content::Diff {
            path: text("path").unwrap_or_default(),
            old: text("oldText"),
            new: text("newText").unwrap_or_default(),
        },
        other => Content::Text(format!("[{}]", other.unwrap_or("unknown content"))),
    }
}

fn location(location: &Value) -> String {
    let path = location["path"].as_str().unwrap_or_default();
    location["line"].as_u64().map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"))
}

/// A content block as text: what is no text is named in brackets.
fn block_text(block: &Value) -> String {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match text("type") {
        "text" => text("text").to_owned(),
        "resource_link" => format!("[{}]", text("uri")),
        "resource" => block["resource"]["text"].as_str().map_or_else(
            || format!("[{}]", block["resource"]["uri"].as_str().unwrap_or("resource")),
            str::to_owned,
        ),
        kind @ ("image" | "audio") => format!("[{kind}, {}]", text("mimeType")),
        "" => String::new(),
        other => format!("[{other}]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(update: &Value) -> Update {
        Update::from_value(update).expect("an update")
    }

    #[test]
    fn text_and_thought_chunks_keep_their_text_as_it_is() {
        let chunk = |kind: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": " a\n"}});
        assert_eq!(read(&chunk("agent_message_chunk")), Update::Message(" a\n".into()));
        assert_eq!(read(&chunk("agent_thought_chunk")), Update::Thought(" a\n".into()));
    }

    #[test]
    fn blocks_that_are_no_text_are_named() {
        let shown = |block: Value| block_text(&block);
        assert_eq!(
            shown(json!({"type": "image", "mimeType": "image/png", "data": "AA"})),
            "[image, image/png]"
        );
        assert_eq!(shown(json!({"type": "resource_link", "uri": "file:///a"})), "[file:///a]");
        assert_eq!(shown(json!({"type": "resource", "resource": {"uri": "u", "text": "t"}})), "t");
        assert_eq!(shown(json!({"type": "hologram"})), "[hologram]");
        assert_eq!(shown(Value::Null), "");
    }

    #[test]
    fn a_card_change_tells_absent_from_empty() {
        let Update::Tool(change) = read(&json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed",
            "content": [], "locations": [{"path": "/a", "line": 3}, {"path": "/b"}]}))
        else {
            panic!("a card");
        };
        assert_eq!(change.title, None);
        assert_eq!(change.content, Some(vec![]));
        assert_eq!(change.locations, Some(vec!["/a:3".into(), "/b".into()]));
    }

    #[test]
    fn an_unknown_kind_is_kept_by_name_and_a_missing_one_is_an_error() {
        assert_eq!(
            read(&json!({"sessionUpdate": "weather_update"})),
            Update::Other("weather_update".into())
        );
        assert!(Update::from_value(&json!({})).is_err());
        assert!(Update::from_value(&json!({"sessionUpdate": "tool_call"})).is_err());
    }

    #[test]
    fn usage_needs_both_numbers() {
        let full = json!({"sessionUpdate": "usage_update", "used": 5, "size": 10, "cost": {"amount": 0.5, "currency": "USD"}});
        let expected = Usage { used: 5, size: 10, cost: Some((0.5, "USD".into())) };
        assert_eq!(read(&full), Update::Usage(expected));
        let partial = json!({"sessionUpdate": "usage_update", "used": 5});
        assert!(matches!(read(&partial), Update::Other(_)));
    }
}
