//! What passes between the editor and the adapter: I1, I3, E1, E2, E5.

use muse_code_acp::acp::schema;
use serde_json::{Value, json};

use super::Watch;
use crate::run::transcript::Entry;

impl Watch {
    pub(super) fn editor_sent(&mut self, _: usize, entry: &Entry) {
        let (Some(method), Some(id)) = (entry.method(), entry.frame.get("id")) else {
            if entry.is_response() {
                self.state.asked.remove(&entry.frame["id"].to_string());
            }
            return;
        };
        let session = entry.frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
        self.state.known.insert(session.clone());
        if matches!(method, "_muse/steer" | "_session/steering") {
            *self.state.corrections.entry(session.clone()).or_default() += 1;
        }
        self.state.open.insert(id.to_string(), (method.to_owned(), session));
    }

    pub(super) fn editor_got(&mut self, index: usize, entry: &Entry) {
        if entry.frame.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return self.find("I4", Some(index), "a line on stdout is no JSON-RPC 2.0 object");
        }
        match entry.method() {
            None => self.response(index, entry),
            Some("session/update") => self.update(index, entry),
            Some("session/request_permission") => {
                if entry.frame["params"]["options"].as_array().is_none_or(Vec::is_empty) {
                    self.find("E1", Some(index), "a question without options");
                }
                let params = entry.frame["params"].clone();
                let fits =
                    serde_json::from_value::<schema::RequestPermissionRequest>(params).is_ok();
                self.question(index, entry, fits);
            }
            Some("elicitation/create") => {
                let params = entry.frame["params"].clone();
                let fits =
                    serde_json::from_value::<schema::CreateElicitationRequest>(params).is_ok();
                self.question(index, entry, fits);
            }
            Some("$/cancel_request") => self.withdrawal(index, entry),
            Some(method) => {
                let text = format!("{method} is not among the methods that the adapter sends");
                self.find("E1", Some(index), text);
            }
        }
    }

    pub(super) fn response(&mut self, index: usize, entry: &Entry) {
        let id = entry.frame["id"].to_string();
        if entry.frame.get("result").is_some() == entry.frame.get("error").is_some() {
            self.find("E1", Some(index), "a response has either a result or an error");
        }
        let Some((method, session)) = self.state.open.remove(&id) else {
            // Input without a usable id is answered with null as often as it comes (WIRE-3, WIRE-4).
            if id != "null" {
                let again =
                    if self.state.answered.contains(&id) { "a second time" } else { "unasked" };
                self.find("I1", Some(index), format!("request {id} was answered {again}"));
            }
            return;
        };
        self.state.answered.insert(id);
        if let Some(result) = entry.frame.get("result")
            && let Err(text) = self.state.views.answered(&method, &session, result)
        {
            self.find("E5", Some(index), text);
        }
        match method.as_str() {
            "session/prompt" => {
                self.state.ended_badly |= entry.frame["result"]["stopReason"] != "end_turn";
                // A refused second prompt does not end the first.
                if self.state.prompting.get(&session) == Some(&entry.frame["id"].to_string()) {
                    self.state.prompting.remove(&session);
                }
            }
            "session/new" => {
                let made = entry.frame["result"]["sessionId"].as_str();
                self.state.known.extend(made.map(str::to_owned));
            }
            "_muse/steer" | "_session/steering" => self.corrected(index, &method, entry),
            "session/close" if entry.frame.get("result").is_some() => {
                self.state.closed.insert(session);
            }
            _ => {}
        }
    }

    /// The result of a correction has one shape a method (STE-1, STE-14).
    pub(super) fn corrected(&mut self, index: usize, method: &str, entry: &Entry) {
        let Some(result) = entry.frame.get("result") else { return };
        let fits = match method {
            "_muse/steer" => {
                result["turnId"].as_str().is_some_and(|turn| !turn.is_empty())
                    && *result == json!({ "status": "accepted", "turnId": result["turnId"] })
            }
            _ => *result == json!({ "outcome": "injected" }),
        };
        if !fits {
            self.find("E1", Some(index), format!("the result of {method} does not have its shape"));
        }
    }

    pub(super) fn update(&mut self, index: usize, entry: &Entry) {
        let params = &entry.frame["params"];
        if serde_json::from_value::<schema::SessionNotification>(params.clone()).is_err() {
            return self.find("E1", Some(index), "session/update does not have its schema");
        }
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if !self.state.known.contains(&session) {
            self.find("I3", Some(index), "an update of a session that nobody knows yet");
        }
        if self.state.closed.contains(&session) {
            self.find("I3", Some(index), "an update of a session that is closed");
        }
        let prompting = self.has_prompt(&session);
        if !prompting
            && !matches!(
                kind,
                "tool_call_update"
                    | "session_info_update"
                    | "config_option_update"
                    | "current_mode_update"
            )
        {
            self.find("I3", Some(index), format!("{kind} outside a prompt of its session"));
        }
        if let Err(text) = self.state.views.updated(&session, update) {
            self.find("E5", Some(index), text);
        }
        if let Some(turn) = update["_meta"].get("muse/activeTurnId")
            && (!(turn.is_null() || turn.is_string()) || !prompting)
        {
            self.find(
                "E1",
                Some(index),
                "muse/activeTurnId outside a prompt, or no turn and not null",
            );
        }
        let card =
            || (session.clone(), update["toolCallId"].as_str().unwrap_or_default().to_owned());
        match kind {
            "tool_call" if !self.state.cards.insert(card()) => {
                self.find("E2", Some(index), "a card was opened twice");
            }
            "tool_call_update" if !self.state.cards.contains(&card()) => {
                self.find("E2", Some(index), "an update of a card that was never opened");
            }
            "agent_message_chunk" => {
                if let Some(id) = update["messageId"].as_str() {
                    let text = update["content"]["text"].as_str().unwrap_or_default();
                    self.state.shown.entry(id.to_owned()).or_default().push_str(text);
                }
            }
            _ => {}
        }
    }

    /// A request that the person answers.
    pub(super) fn question(&mut self, index: usize, entry: &Entry, fits: bool) {
        let params = &entry.frame["params"];
        if !fits {
            let text = format!("{} does not have its schema", entry.method().unwrap_or_default());
            return self.find("E1", Some(index), text);
        }
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        if !self.has_prompt(&session) {
            self.find("I3", Some(index), "a question outside a prompt of its session");
        }
        let id = entry.frame["id"].to_string();
        if !self.state.asked.insert(id.clone()) || self.state.taken_back.insert(id, false).is_some()
        {
            self.find("E1", Some(index), "a request id of the adapter was used twice");
        }
    }

    /// The adapter takes a question back. The answer may be under way.
    pub(super) fn withdrawal(&mut self, index: usize, entry: &Entry) {
        let id = entry.frame["params"]["requestId"].to_string();
        if self.state.taken_back.insert(id, true) != Some(false) {
            self.find(
                "E1",
                Some(index),
                "what is taken back was not asked, or was taken back before",
            );
        }
    }
}
