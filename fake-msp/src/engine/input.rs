//! What a client hands to a turn.
//!
//! Purpose: the rules of an input that a member table cannot say, and the `userMessage` item that
//! shows it. Rules: section 8.1, ITM-3, TRN-1.

use serde_json::{Map, Value, json};

use super::fold::text;
use super::ids::rfc3339;
use super::{Host, Kind, Refusal, TurnRef};
use crate::profiles::trim;

impl Host {
    /// Refuses an input before anything is admitted. A steer takes no skill.
    pub(super) fn check_input(
        &self,
        params: &Map<String, Value>,
        starts: bool,
    ) -> Result<(), Refusal> {
        let parts = params["input"].as_array().map(Vec::as_slice).unwrap_or_default();
        if parts.is_empty() {
            return Err(Refusal::invalid_params("input is empty"));
        }
        let skills = parts.iter().filter(|part| part["type"] == "skill").count();
        let texts =
            parts.iter().any(|part| !matches!(part["type"].as_str(), Some("skill" | "image")));
        if skills > 0 && (skills > 1 || texts || !starts) {
            let text = "a skill starts a turn, stands alone, and goes with images only";
            return Err(Refusal::invalid_params(format!("input: {text}")));
        }
        for (index, part) in parts.iter().enumerate() {
            if part["width"].is_null() != part["height"].is_null() {
                let text = format!("input[{index}]: width and height come together");
                return Err(Refusal::invalid_params(text));
            }
            match part["type"].as_str() {
                Some("skill") => self.check_skill(part)?,
                Some("video") => self.check_upload(part)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The `userMessage` item of a `turn/start` or a steer: completed at once (ITM-3).
    pub(crate) fn user_message(
        &mut self,
        session: &str,
        turn: &TurnRef,
        request: &Value,
        steered: bool,
    ) -> Value {
        let item = self.user_message_item(turn, request, steered);
        self.event(session, "item/completed", json!({ "item": item }))
    }

    /// The item alone, for scripts that send it themselves.
    pub(crate) fn user_message_item(
        &mut self,
        turn: &TurnRef,
        request: &Value,
        steered: bool,
    ) -> Value {
        let mut item = Map::new();
        let mut put = |name: &str, value: Value| item.insert(name.to_owned(), value);
        put("itemId", self.ids.next(Kind::Item).into());
        put("kind", "userMessage".into());
        put("turnId", turn.turn_id.as_str().into());
        put("revision", 1.into());
        put("status", "completed".into());
        put("recordedAt", rfc3339(self.now).into());
        put("text", input_text(request).into());
        put("commandId", request["commandId"].clone());
        if let Some(display) = text(request, "displayText") {
            put("displayText", display.into());
        }
        if steered {
            put("steered", true.into());
        }
        let attachments: Vec<Value> = request["input"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|part| part["type"] == "image")
            .map(|part| {
                let mut shown = Map::new();
                for name in ["type", "mediaType", "width", "height"] {
                    if let Some(value) = part.get(name).filter(|value| !value.is_null()) {
                        shown.insert(name.to_owned(), value.clone());
                    }
                }
                Value::Object(shown)
            })
            .collect();
        if !attachments.is_empty() {
            put("attachments", attachments.into());
        }
        trim(self.profile, "Item", &mut item);
        Value::Object(item)
    }
}

/// The text parts of an input, one line each; a skill reads as its slash command.
pub(super) fn input_text(request: &Value) -> String {
    let parts = request["input"].as_array().into_iter().flatten();
    let texts: Vec<String> = parts
        .filter_map(|part| match part["type"].as_str() {
            Some("text") => text(part, "text"),
            Some("skill") => {
                let arguments = part["arguments"].as_str().unwrap_or_default();
                let line = format!("/{} {arguments}", part["selector"].as_str()?);
                Some(line.trim_end().to_owned())
            }
            _ => None,
        })
        .collect();
    texts.join("\n")
}
