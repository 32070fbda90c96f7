//! Frames of the adapter that no line has consumed yet, lane by lane (DSL-6, DSL-7).
//!
//! Requests and responses stand in one queue per lane, in order; notifications to the editor in another,
//! because most stories do not compare them; agent text is one growing string per kind, because chunking
//! is nobody's promise (DSL-8). Receipts of the host's requests are the model's matter and never queue.

use std::collections::VecDeque;

use serde_json::Value;

/// A frame that waits for its line.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// The frame.
    pub(super) frame: Value,
    /// Which host it went to; `None` for the editor.
    pub(super) host: Option<usize>,
    /// Its place in the transcript.
    pub(super) entry: usize,
}

impl Waiting {
    /// `method` of a request or notification.
    #[must_use]
    pub(super) fn method(&self) -> Option<&str> {
        self.frame.get("method")?.as_str()
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Requests and responses to the editor.
    pub(super) editor: VecDeque<Waiting>,
    /// Notifications to the editor, text and thoughts not among them.
    pub(super) notifications: VecDeque<Waiting>,
    /// Agent text that was not consumed.
    pub(super) text: String,
    /// Agent thoughts that were not consumed.
    pub(super) thought: String,
    /// Frames to hosts.
    pub(super) hosts: VecDeque<Waiting>,
}

impl Lanes {
    /// Sorts a frame to the editor, the `entry`-th of the transcript, into its place.
    pub(super) fn take_editor(&mut self, frame: Value, entry: usize) {
        let update = &frame["params"]["update"];
        let chunk = update["content"]["text"].as_str();
        match (frame["method"].as_str(), update["sessionUpdate"].as_str(), chunk) {
            (Some("session/update"), Some("agent_message_chunk"), Some(text)) => {
                self.text.push_str(text);
            }
            (Some("session/update"), Some("agent_thought_chunk"), Some(text)) => {
                self.thought.push_str(text);
            }
            (Some(_), _, _) if frame.get("id").is_none() => {
                self.notifications.push_back(Waiting { frame, host: None, entry });
            }
            _ => self.editor.push_back(Waiting { frame, host: None, entry }),
        }
    }

    /// The first frame to hosts that this lane sees.
    pub(super) fn next_host(&self, only: Option<usize>) -> Option<usize> {
        self.hosts.iter().position(|waiting| only.is_none_or(|host| waiting.host == Some(host)))
    }

    /// What is left, for the end and for `quiet`. `watch` says which notifications count.
    #[must_use]
    pub(super) fn left(&self, text: bool, thought: bool, watched: &[&str]) -> Option<String> {
        let frames = self.editor.iter().chain(&self.hosts);
        let notifications = self.notifications.iter().filter(|waiting| {
            let update = waiting.frame["params"]["update"]["sessionUpdate"].as_str();
            let kind = update.or(waiting.method()).unwrap_or_default();
            watched.contains(&kind)
        });
        if let Some(waiting) = frames.chain(notifications).next() {
            return Some(waiting.frame.to_string());
        }
        if text && !self.text.is_empty() {
            return Some(format!("agent text {}", Value::from(self.text.as_str())));
        }
        if thought && !self.thought.is_empty() {
            return Some(format!("agent thought {}", Value::from(self.thought.as_str())));
        }
        None
    }
}
