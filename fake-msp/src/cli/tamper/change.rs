//! What happens to answers.

use serde_json::{Value, json};

use super::Tamper;
use crate::engine::FRAME_BYTES_MAX;

/// What happens to an answer on its way out.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Late(u64),
    Lost,
    Twice,
    Noise,
    Huge,
    Cut,
    Set(&'static [&'static str], String),
}

impl Tamper {
    /// What this lever does to the answer of a method.
    pub(super) fn change(&self, method: &str) -> Option<Change> {
        match self {
            Self::Late(name, ms) if name == method => Some(Change::Late(*ms)),
            Self::Lost(name) if name == method => Some(Change::Lost),
            Self::Twice(name) if name == method => Some(Change::Twice),
            Self::Noise(name) if name == method => Some(Change::Noise),
            Self::Huge(name) if name == method => Some(Change::Huge),
            Self::Cut(name) if name == method => Some(Change::Cut),
            Self::Fingerprint(text) if method == "initialize" => {
                Some(Change::Set(&["result", "schema", "fingerprint"], text.clone()))
            }
            Self::Model(id) if method == "session/read" => {
                Some(Change::Set(&["result", "session", "modelId"], id.clone()))
            }
            _ => None,
        }
    }
}

/// Lines that are wrong or unknown and end nothing: a blank one, no JSON, no frame, a notification of
/// another generation, answers to nobody, one with both outcomes.
pub(super) const NOISE: &str = "\
\n{\"jsonrpc\":\"2.0\",\"method\":\n[1]\n\
{\"jsonrpc\":\"2.0\",\"method\":\"session/auraChanged\",\"params\":{\"aura\":\"blue\"}}\n\
{\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n\
{\"jsonrpc\":\"2.0\",\"id\":999998,\"result\":{},\"error\":{\"code\":-32603,\"message\":\"\"}}\n";

/// A notification above the frame limit: what a sound host never sends.
pub(super) fn huge() -> impl Iterator<Item = u8> {
    let head = br#"{"jsonrpc":"2.0","method":"session/auraChanged","params":{"aura":""#;
    let body = std::iter::repeat_n(b'a', FRAME_BYTES_MAX);
    head.iter().copied().chain(body).chain(*b"\"}}\n")
}

/// Replaces a text that is there; a frame without it is left alone.
pub(super) fn set(line: Vec<u8>, path: &[&str], text: &str) -> Vec<u8> {
    let Ok(mut frame) = serde_json::from_slice::<Value>(&line) else { return line };
    let found = path.iter().try_fold(&mut frame, |value, name| value.get_mut(*name));
    match found {
        Some(value) => *value = text.into(),
        None => return line,
    }
    frame.to_string().into_bytes()
}

/// How hosts refuse a session that was saved with the reviewer's profile.
pub(super) fn legacy(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": {
        "code": -32603,
        "message": "permission profile ':auto-review' cannot be used: the automated reviewer is \
                    unavailable on this host",
        "data": { "kind": "internal", "retryable": false, "reason": "resume_refused_class_c" } } })
}
