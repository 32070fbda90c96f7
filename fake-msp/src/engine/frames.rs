//! The envelope: one line in, one line out.
//!
//! Purpose: classify a client line ([`read`]) and build host lines. Inputs: bytes without the line
//! end. Invariants: whatever the bytes are, the result is a value and the connection goes on; host
//! frames have sorted members and no line feed. It knows no method. Rules: FRM-2..8, ENV-1..6.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::errors::Refusal;

/// Largest line content that is accepted, in bytes (FRM-6).
pub const FRAME_BYTES_MAX: usize = 10 * 1024 * 1024;

/// How much of an oversized line the caller should hand over for the search of its id, in bytes.
/// Clients put the id before the params, so the first few KiB are enough.
pub const PREFIX_BYTES: usize = 64 * 1024;

/// A classified client line.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// Nothing on the line (FRM-4).
    Blank,
    /// A request: id as the client wrote it.
    Request { id: Value, method: String, params: Option<Value>, notes: Vec<Note> },
    /// A notification.
    Notification { method: String, params: Option<Value>, notes: Vec<Note> },
    /// An answer to one of the host's requests.
    Response { id: Value, result: Option<Value>, error: Option<Value> },
    /// Not a frame: answer this error under this id.
    Bad { id: Value, refusal: Refusal, note: Note },
}

/// Something odd about an envelope, for the oracle: (path, rule, text).
pub(crate) type Note = (&'static str, &'static str, &'static str);

/// Classifies one line, without its line end.
pub(crate) fn read(line: &[u8]) -> Incoming {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Incoming::Blank;
    }
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        let refusal = Refusal::new(-32700, "not a JSON text");
        return bad(Value::Null, refusal, ("", "FRM-8", "line is not JSON"));
    };
    let Value::Object(mut frame) = value else {
        let refusal = Refusal::new(-32600, "a frame is one JSON object; batches do not exist");
        return bad(Value::Null, refusal, ("", "FRM-2", "line is JSON but not an object"));
    };
    classify(&mut frame)
}

fn classify(frame: &mut Map<String, Value>) -> Incoming {
    let id = frame.remove("id");
    let usable = id.as_ref().filter(|id| is_request_id(id)).cloned();
    let reply_to = usable.clone().unwrap_or(Value::Null);
    if frame.get("jsonrpc") != Some(&Value::from("2.0")) {
        let refusal = Refusal::new(-32600, "jsonrpc must be \"2.0\"");
        return bad(reply_to, refusal, ("jsonrpc", "FRM-5", "missing or not 2.0"));
    }
    match frame.remove("method") {
        Some(Value::String(method)) => {
            let mut notes = Vec::new();
            if frame.contains_key("result") || frame.contains_key("error") {
                notes.push(("method", "ENV-1", "a frame is a request or a response, not both"));
            }
            if frame.keys().any(|name| !matches!(name.as_str(), "jsonrpc" | "params" | "trace")) {
                notes.push(("", "CMD-13", "unknown member beside params"));
            }
            let params = frame.remove("params");
            match (id, usable) {
                (None, _) => Incoming::Notification { method, params, notes },
                (Some(_), Some(id)) => Incoming::Request { id, method, params, notes },
                (Some(_), None) => bad(
                    Value::Null,
                    Refusal::new(-32600, "a request id is an integer or a string"),
                    ("id", "ENV-2", "neither an integer nor a string"),
                ),
            }
        }
        Some(_) => bad(
            reply_to,
            Refusal::new(-32600, "method must be a string"),
            ("method", "ENV-2", "not a string"),
        ),
        None => {
            let (result, error) = (frame.remove("result"), frame.remove("error"));
            match (usable, result.is_some() || error.is_some()) {
                (Some(id), true) => Incoming::Response { id, result, error },
                (None, true) => {
                    // Nobody waits for it and an error answer would be answered again: drop it.
                    Incoming::Response { id: id.unwrap_or(Value::Null), result, error }
                }
                (_, false) => bad(
                    reply_to,
                    Refusal::new(-32600, "neither method, result nor error"),
                    ("", "ENV-1", "neither a request nor a response"),
                ),
            }
        }
    }
}

fn bad(id: Value, refusal: Refusal, note: Note) -> Incoming {
    Incoming::Bad { id, refusal, note }
}

/// Integers and strings; `1.0` is a number but not an integer in this protocol.
fn is_request_id(value: &Value) -> bool {
    value.is_string() || value.is_i64() || value.is_u64()
}

/// Answer to a line that was too long (FRM-7): the id if the prefix shows it.
pub(crate) fn too_long(prefix: &[u8]) -> (Value, Refusal) {
    match id_in_prefix(prefix) {
        Some(id) => {
            (id, Refusal::new(-32002, "frame is too large").with("limitBytes", FRAME_BYTES_MAX))
        }
        None => (Value::Null, Refusal::new(-32700, "frame is too large and has no visible id")),
    }
}

/// Finds the value of a top-level `"id"` in a cut JSON object.
fn id_in_prefix(prefix: &[u8]) -> Option<Value> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < prefix.len() {
        match prefix[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = string_end(prefix, at)?;
                let rest = prefix.get(end..)?.trim_ascii_start();
                if depth == 1 && &prefix[at..end] == b"\"id\"" && rest.first() == Some(&b':') {
                    return id_value(rest.get(1..)?.trim_ascii_start());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// One past the closing quote of the string that opens at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn id_value(bytes: &[u8]) -> Option<Value> {
    let end = if bytes.first() == Some(&b'"') {
        string_end(bytes, 0)?
    } else {
        // Without the delimiter the number may have been cut.
        bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b' '))?
    };
    serde_json::from_slice(bytes.get(..end)?).ok().filter(is_request_id)
}

/// A success response.
pub(crate) fn response(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// An error response.
pub(crate) fn error(id: &Value, refusal: &Refusal) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": refusal.to_value() })
}

/// A host request; it carries no `emittedAtMs` (HOST-6).
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification.
pub(crate) fn notification(method: &str, params: &Value, emitted_at_ms: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params, "emittedAtMs": emitted_at_ms })
}

/// The bytes of a frame, members sorted, no line end.
pub(crate) fn bytes(frame: &Value) -> Vec<u8> {
    // `Value` has string keys only, so writing it cannot fail.
    frame.to_string().into_bytes()
}

/// `item/delta`, the one frame that is written a hundred thousand times: no tree is built for it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeltaFrame<'a> {
    pub(crate) emitted_at_ms: u64,
    pub(crate) jsonrpc: &'static str,
    pub(crate) method: &'static str,
    pub(crate) params: DeltaParams<'a>,
}

/// Params of `item/delta`: exactly these members (ITM-1).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeltaParams<'a> {
    pub(crate) delta: &'a str,
    pub(crate) field: &'a str,
    pub(crate) item_id: &'a str,
    pub(crate) session_id: &'a str,
    pub(crate) view_cursor: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_cut_frame_is_found_only_at_the_top_level() {
        let cases: &[(&str, Option<Value>)] = &[
            (
                r#"{"jsonrpc":"2.0","id":17,"method":"turn/start","params":{"x":"aaaa"#,
                Some(17.into()),
            ),
            (r#"{"id" : "a\"b" ,"method":"#, Some("a\"b".into())),
            (r#"{"params":{"id":3,"x":[1,{"id":4}]},"id":5,"#, Some(5.into())),
            (r#"{"params":{"id":3,"text":"aaaaaaa"#, None),
            (r#"{"note":"\"id\":9","method":"x","#, None),
            (r#"{"id":12"#, None),
            (r#"{"id":null,"#, None),
            (r#"{"id":1.5,"#, None),
            ("not json", None),
            ("}}}", None),
        ];
        for (prefix, expected) in cases {
            assert_eq!(&id_in_prefix(prefix.as_bytes()), expected, "{prefix}");
        }
    }
}
