//! An ACP client as a plain state machine over frames: ids, pending calls, what a frame means.
//!
//! Inputs: lines from the agent, calls to make. Outputs: frames to send ([`Client::poll_frame`])
//! and one [`Event`] per line. Invariants: ids are integers counted from 1 and never reused; every
//! request of the agent is answered exactly once, by us or by the caller of [`Client::respond`];
//! a line that is no frame is an error that names its number, never a panic.
//! It does not know sessions, terminals, time, or what an update looks like on a screen.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use serde_json::{Value, json};

use super::permission::Question;
use super::update::Update;

/// Client state for one connection.
#[derive(Debug, Default)]
pub struct Client {
    calls_made: u64,
    pending: BTreeMap<u64, Call>,
    outgoing: VecDeque<String>,
    lines: u64,
}

/// The requests this client makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `initialize`
    Initialize,
    /// `session/new`
    NewSession,
    /// `session/prompt`
    Prompt,
    /// `session/close`
    CloseSession,
}

impl Call {
    /// The method on the wire.
    #[must_use]
    pub fn method(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::NewSession => "session/new",
            Self::Prompt => "session/prompt",
            Self::CloseSession => "session/close",
        }
    }
}

/// What one line from the agent means.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// Nothing: an empty line.
    Blank,
    /// One of our calls was answered.
    Answered(Call, Result<Value, RpcError>),
    /// `session/update`.
    Update {
        /// The session it is about.
        session: String,
        /// What changed.
        update: Update,
    },
    /// `session/request_permission`: must be answered with [`Client::respond`].
    Permission {
        /// Id to answer with, as it was written.
        id: Value,
        /// The session that asks.
        session: String,
        /// What is asked, or why it cannot be shown; a question like that is refused.
        question: Result<Question, String>,
    },
    /// Left out on purpose; the sentence is for those who want to know.
    Note(String),
}

/// An error answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// JSON-RPC code.
    pub code: i64,
    /// Text for people.
    pub message: String,
    /// Facts for programs; null when absent.
    pub data: Value,
}

/// The agent sent something that is no frame of this protocol. The connection is of no more use.
#[derive(Debug, PartialEq, Eq)]
pub struct ProtocolError {
    /// Number of the line from the agent, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} from the agent: {}", self.line, self.problem)
    }
}

impl std::error::Error for ProtocolError {}

impl Client {
    /// Queues a request.
    pub fn call(&mut self, call: Call, params: &Value) {
        self.calls_made += 1;
        let id = self.calls_made;
        self.pending.insert(id, call);
        let method = call.method();
        self.push(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// Queues a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        self.push(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Queues the answer to a request of the agent.
    pub fn respond(&mut self, id: &Value, result: &Value) {
        self.push(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// The next frame to send, without its newline. Call until `None` after every other method.
    #[must_use]
    pub fn poll_frame(&mut self) -> Option<String> {
        self.outgoing.pop_front()
    }

    /// Takes one line from the agent, without its newline.
    ///
    /// # Errors
    /// The line is not a JSON-RPC object, or it answers something that was not asked.
    pub fn on_line(&mut self, line: &[u8]) -> Result<Event, ProtocolError> {
        self.lines += 1;
        if line.trim_ascii().is_empty() {
            return Ok(Event::Blank); // WIRE-2
        }
        let frame: Value = serde_json::from_slice(line)
            .map_err(|error| self.problem(format!("not JSON ({error}): {}", excerpt(line))))?;
        if frame.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(self.problem(format!("not a JSON-RPC 2.0 object: {}", excerpt(line))));
        }
        let params = frame.get("params").unwrap_or(&Value::Null);
        match (frame.get("method").map(Value::as_str), frame.get("id")) {
            (Some(None), _) => Err(self.problem("the method is not a string".into())),
            (Some(Some(method)), Some(id)) => self.on_request(method, id, params),
            (Some(Some("session/update")), None) => self.on_update(params),
            (Some(Some(method)), None) => Ok(Event::Note(format!("ignored notification {method}"))),
            (None, Some(id)) => self.on_answer(id, &frame),
            (None, None) => Err(self.problem("neither a method nor an id".into())),
        }
    }

    /// The error for a line that could not even be read to its end, being too long or cut short.
    pub fn unreadable(&mut self, problem: impl Into<String>) -> ProtocolError {
        self.lines += 1;
        self.problem(problem.into())
    }

    fn on_request(
        &mut self,
        method: &str,
        id: &Value,
        params: &Value,
    ) -> Result<Event, ProtocolError> {
        if !(id.is_string() || id.is_number()) {
            return Err(self.problem(format!("the id of {method} is no string or number")));
        }
        if method == "session/request_permission" {
            let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
            let question = Question::from_params(params);
            return Ok(Event::Permission { id: id.clone(), session, question });
        }
        let message = format!("this client does not support {method}");
        let error = json!({"code": METHOD_NOT_FOUND, "message": message});
        self.push(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        Ok(Event::Note(format!("refused request {method}")))
    }

    fn on_update(&self, params: &Value) -> Result<Event, ProtocolError> {
        let session = params["sessionId"]
            .as_str()
            .ok_or_else(|| self.problem("session/update without sessionId".into()))?;
        let update = Update::from_value(&params["update"])
            .map_err(|missing| self.problem(format!("session/update: {missing}")))?;
        Ok(Event::Update { session: session.to_owned(), update })
    }

    fn on_answer(&mut self, id: &Value, frame: &Value) -> Result<Event, ProtocolError> {
        let error = frame.get("error").filter(|error| !error.is_null());
        let known = id.as_u64().and_then(|id| self.pending.remove(&id));
        let Some(call) = known else {
            // With id null it is a complaint about a frame of ours: say what the agent said.
            let what = error.map_or_else(String::new, |error| {
                format!(": {}", error["message"].as_str().unwrap_or_default())
            });
            return Err(self.problem(format!("an answer to id {id}, which was not asked{what}")));
        };
        if let Some(error) = error {
            return Ok(Event::Answered(call, Err(RpcError::from_value(error))));
        }
        match frame.get("result") {
            Some(result) => Ok(Event::Answered(call, Ok(result.clone()))),
            None => {
                let method = call.method();
                Err(self.problem(format!("the answer to {method} has no result and no error")))
            }
        }
    }

    fn problem(&self, problem: String) -> ProtocolError {
        ProtocolError { line: self.lines, problem }
    }

    fn push(&mut self, frame: &Value) {
        self.outgoing.push_back(frame.to_string());
    }
}

impl RpcError {
    /// Reads an error object; whatever is missing becomes an empty value, since the fact that
    /// matters, the call failed, is known already.
    fn from_value(error: &Value) -> Self {
        Self {
            code: error["code"].as_i64().unwrap_or_default(),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error["data"].clone(),
        }
    }
}

const METHOD_NOT_FOUND: i64 = -32601;

/// Characters of a bad line that are quoted: enough to recognise it, less than a screen line.
const EXCERPT_MAX: usize = 60;

fn excerpt(line: &[u8]) -> String {
    // Cut the bytes first: the line may be 32 MiB.
    let head = String::from_utf8_lossy(&line[..line.len().min(EXCERPT_MAX * 4)]);
    let mut text: String = head.chars().take(EXCERPT_MAX).collect();
    if text.len() < line.len() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
