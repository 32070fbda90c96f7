//! What passes between the adapter and its hosts: I2, and what the host said (E3).

use serde_json::Value;

use super::Watch;
use crate::run::transcript::Entry;

impl Watch {
    pub(super) fn host_got(&mut self, index: usize, _: usize, entry: &Entry) {
        if entry.method() == Some("turn/start") {
            let session =
                entry.frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
            if !self.has_prompt(&session) {
                self.find("I2", Some(index), "turn/start without an open prompt");
            }
            *self.state.submissions.entry(session).or_default() += 1;
        }
        if entry.method() == Some("turn/steer") {
            let session =
                entry.frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
            let left = self.state.corrections.entry(session).or_default();
            *left -= 1;
            if *left < 0 {
                self.find("I2", Some(index), "turn/steer without a correction of the editor");
            }
        }
    }

    pub(super) fn host_sent(&mut self, entry: &Entry) {
        // A page tells what was not delivered (GAP-1): it is said too.
        for event in entry.frame["result"]["events"].as_array().into_iter().flatten() {
            self.said(event);
        }
        self.said(&entry.frame);
    }

    /// A notification, or an event as a page holds it.
    pub(super) fn said(&mut self, frame: &Value) {
        let params = &frame["params"];
        let item = &params["item"];
        if let (Some(id), Some(text), "agentMessage") = (
            item["itemId"].as_str(),
            item["text"].as_str(),
            item["kind"].as_str().unwrap_or_default(),
        ) {
            let texts = self.state.said.entry(id.to_owned()).or_default();
            match texts.last_mut() {
                Some(last) if text.starts_with(last.as_str()) => text.clone_into(last),
                // Shorter, and the beginning of what was said: nothing new.
                Some(last) if last.starts_with(text) => {}
                _ => texts.push(text.to_owned()),
            }
            if item["status"] == "completed" && item["truncated"] != true {
                self.state.whole.insert(id.to_owned());
            }
        }
        let field = params.get("field").and_then(Value::as_str).unwrap_or("text");
        if let (Some("item/delta"), "text", Some(id), Some(delta)) =
            (frame["method"].as_str(), field, params["itemId"].as_str(), params["delta"].as_str())
            && !self.state.whole.contains(id)
        {
            let texts = self.state.said.entry(id.to_owned()).or_default();
            match texts.last_mut() {
                Some(last) => last.push_str(delta),
                None => texts.push(delta.to_owned()),
            }
        }
    }
}
