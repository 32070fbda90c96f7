//! JSON-RPC 2.0 envelopes: reading with raw ids and parameters, writing as one line.
//!
//! Invariants: an id is echoed byte for byte as it was written (PO-33); `"id": null` and a missing
//! id are told apart; parameters and results stay raw until the method is known (ACP-6); no text of
//! the input reaches an error value. Rules: ENV-1..9, ACP WIRE-3, WIRE-4, PO-33.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// A request id in its wire form: an integer of any size, a string, or `null`.
///
/// ```
/// use muse_code_acp::wire::Id;
/// assert_eq!(Id::from_raw("12345678901234567890123").unwrap().as_raw(), "12345678901234567890123");
/// assert_eq!(Id::from_raw(r#""a\u0062""#).unwrap().as_raw(), r#""a\u0062""#);
/// assert!(Id::from_raw("1.0").is_none() && Id::from_raw("1e3").is_none());
/// assert!(Id::from_raw("true").is_none() && Id::from_raw("[1]").is_none());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Box<str>);

impl Id {
    /// Reads a JSON value that may serve as an id; `None` for fractions, exponents, booleans,
    /// arrays and objects (PO-33).
    #[must_use]
    pub fn from_raw(raw: &str) -> Option<Self> {
        let digits = raw.strip_prefix('-').unwrap_or(raw);
        let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        (raw.starts_with('"') || integer || raw == "null").then(|| Self(raw.into()))
    }

    /// The id that answers input whose own id could not be recovered (ENV-4).
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The id as JSON text.
    #[must_use]
    pub fn as_raw(&self) -> &str {
        &self.0
    }

    /// The value of an id that one of our own requests may carry.
    #[must_use]
    pub fn as_ours(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A string id is the peer's text: its length is enough for a log.
        if self.0.starts_with('"') {
            write!(f, "Id(string of {} bytes)", self.0.len())
        } else {
            write!(f, "Id({:.24})", self.0)
        }
    }
}

/// An error object. `data` is JSON that we built ourselves, or what a peer sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RpcError {
    /// JSON-RPC or protocol error code.
    pub code: i64,
    /// One line for people.
    #[serde(default)]
    pub message: String,
    /// Structured detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

impl RpcError {
    /// An error without `data`.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds `data`.
    #[must_use]
    pub fn with_data(mut self, data: serde_json::Value) -> Self {
        self.data = Some(data);
        self
    }
}

/// What one line says.
#[derive(Debug)]
#[allow(missing_docs)] // the members say what they are
pub enum Message<'a> {
    /// Wants an answer.
    Request { id: Id, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Wants none.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Answers a request of ours. `None`: neither or both of result and error (ENV-1).
    Response { id: Id, outcome: Option<Result<&'a RawValue, RpcError>> },
}

/// Why a line is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Not JSON or not UTF-8.
    Syntax,
    /// JSON, but no envelope. The id is known when only the rest was wrong.
    Shape(Option<Id>),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps an explicit `null` apart from absence.
fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(input).map(Some)
}

/// Reads one line.
///
/// # Errors
/// [`Malformed::Syntax`] for what is not JSON text in UTF-8, [`Malformed::Shape`] for JSON that is no
/// JSON-RPC 2.0 object.
pub fn read(line: &[u8]) -> Result<Message<'_>, Malformed> {
    let text = std::str::from_utf8(line).map_err(|_| Malformed::Syntax)?;
    if !text.trim_start().starts_with('{') {
        // A derived struct would also read itself from an array, member by member.
        let json = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        return Err(if json { Malformed::Shape(None) } else { Malformed::Syntax });
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_syntax() || error.is_eof() { Malformed::Syntax } else { Malformed::Shape(None) }
    })?;
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(Malformed::Shape(None));
    }
    let id = match envelope.id {
        None => None,
        Some(raw) => Some(Id::from_raw(raw.get()).ok_or(Malformed::Shape(None))?),
    };
    let params = envelope.params.filter(|raw| raw.get() != "null");
    match (envelope.method, id) {
        (Some(method), Some(id)) => Ok(Message::Request { id, method, params }),
        (Some(method), None) => Ok(Message::Notification { method, params }),
        (None, Some(id)) => match (envelope.result, envelope.error) {
            (Some(result), None) => Ok(Message::Response { id, outcome: Some(Ok(result)) }),
            (None, Some(error)) => {
                let error = serde_json::from_str(error.get()).ok().map(Err);
                Ok(Message::Response { id, outcome: error })
            }
            (Some(_), Some(_)) => Ok(Message::Response { id, outcome: None }),
            (None, None) => Err(Malformed::Shape(Some(id))),
        },
        (None, None) => Err(Malformed::Shape(None)),
    }
}

#[derive(Serialize)]
struct Call<'a, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a P>,
}

/// One request of ours as a line without its newline.
#[must_use]
pub fn request<P: Serialize>(id: u64, method: &str, params: Option<&P>) -> Vec<u8> {
    to_line(&Call { jsonrpc: "2.0", id: Some(id), method, params })
}

/// One notification as a line without its newline.
#[must_use]
pub fn notification<P: Serialize>(method: &str, params: Option<&P>) -> Vec<u8> {
    to_line(&Call { jsonrpc: "2.0", id: None, method, params })
}

/// A success response as a line without its newline.
#[must_use]
pub fn success<R: Serialize>(id: &Id, result: &R) -> Vec<u8> {
    respond(id, "result", result)
}

/// An error response as a line without its newline.
#[must_use]
pub fn failure(id: &Id, error: &RpcError) -> Vec<u8> {
    respond(id, "error", error)
}

/// Written by hand because the id goes out as it came in, which no JSON number type can promise.
fn respond<T: Serialize>(id: &Id, member: &str, value: &T) -> Vec<u8> {
    let mut line = Vec::with_capacity(128);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    line.extend_from_slice(id.as_raw().as_bytes());
    line.extend_from_slice(b",\"");
    line.extend_from_slice(member.as_bytes());
    line.extend_from_slice(b"\":");
    line.append(&mut to_line(value));
    line.push(b'}');
    line
}

fn to_line<T: Serialize>(value: &T) -> Vec<u8> {
    // Our own types have string keys and no failing serializers, so this cannot fail.
    serde_json::to_vec(value).expect("own message types always serialize")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> String {
        match read(line.as_bytes()) {
            Ok(Message::Request { id, method, params }) => {
                format!("request {} {method} {:?}", id.as_raw(), params.map(RawValue::get))
            }
            Ok(Message::Notification { method, .. }) => format!("notification {method}"),
            Ok(Message::Response { id, outcome: Some(Ok(result)) }) => {
                format!("ok {} {result}", id.as_raw())
            }
            Ok(Message::Response { id, outcome: Some(Err(error)) }) => {
                format!("error {} {}", id.as_raw(), error.code)
            }
            Ok(Message::Response { id, outcome: None }) => format!("impossible {}", id.as_raw()),
            Err(Malformed::Syntax) => "syntax".into(),
            Err(Malformed::Shape(id)) => format!("shape {:?}", id.map(|id| id.as_raw().to_owned())),
        }
    }

    #[test]
    fn every_kind_of_line_is_told_apart() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, "request 1 a None"),
            (r#"{"jsonrpc":"2.0","id":"x","method":"a","params":null}"#, "request \"x\" a None"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "request null a None"),
            (r#"{"jsonrpc":"2.0","method":"a"}"#, "notification a"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "ok 1 null"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-3,"message":"m"}}"#, "error 1 -3"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-3}}"#, "error 1 -3"),
            (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "impossible 1"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}"#, "impossible 1"),
            (r#"{"jsonrpc":"2.0","id":7}"#, "shape Some(\"7\")"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, "shape None"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"a"}"#, "shape None"),
            (r#"{"jsonrpc":"2.0"}"#, "shape None"),
            (r#"{"id":1,"method":"a"}"#, "shape None"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "shape None"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, "shape None"),
            (r#"["2.0",1,"initialize",{}]"#, "shape None"),
            ("7", "shape None"),
            ("[[[[", "syntax"),
            ("{\"jsonrpc\"", "syntax"),
            ("\u{feff}{}", "syntax"),
            ("nonsense", "syntax"),
        ] {
            assert_eq!(shape(line), expected, "{line}");
        }
        assert_eq!(read(b"\xff\xfe").unwrap_err(), Malformed::Syntax);
    }

    #[test]
    fn an_id_goes_out_as_it_came_in() {
        let raw = r#"{"jsonrpc":"2.0","id":  90071992547409931234 ,"method":"a"}"#;
        let Ok(Message::Request { id, .. }) = read(raw.as_bytes()) else { panic!("a request") };
        assert_eq!(
            success(&id, &serde_json::json!({})),
            br#"{"jsonrpc":"2.0","id":90071992547409931234,"result":{}}"#
        );
    }

    #[test]
    fn a_deep_value_passes_the_envelope_without_recursion() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(matches!(read(deep.as_bytes()), Ok(Message::Request { .. })));
    }
}
