//! Lines of a session's log in a store.
//!
//! Purpose: write and read the envelopes of Muse's session logs, one JSON object a line. The outer
//! members are Muse's; the payloads of its own kinds are not published, so events are kept as the view
//! shows them, under a payload type of our own. Invariants: an unknown payload type is no error; the
//! reader never guesses what a broken line said. Rules: LB-60, LB-71, section 8.3 of the disk formats.

use serde_json::{Map, Value, json};

use super::ids::EPOCH_MS;
use super::{Refusal, Reply};

const METADATA: &str = "runtime.session.metadata";
const INTENT: &str = "runtime.user_intent.accepted";
const ACCEPTED: &str = "runtime.command.accepted";
const SETTLED: &str = "runtime.command.settled";
const RESUMED: &str = "runtime.session.resumed";
const ENDED: &str = "runtime.session.ended";
const EVENT: &str = "view.event";

/// The envelope version that is written and read.
const SCHEMA_VERSION: u64 = 1;

/// One record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    /// What a list row needs; the first one is the session's birth.
    Metadata(Value),
    /// An entry of the view's log.
    Event { position: u64, method: String, params: Value, hidden: bool },
    /// The text of an admitted prompt, for readers that look for a title.
    Intent(String),
    /// A command was taken in.
    Accepted { command_id: String, method: String, params: Map<String, Value> },
    /// A command was answered.
    Settled { command_id: String, reply: Reply },
    /// A host loaded the session.
    Resumed,
    /// A host closed the session in order.
    Ended,
    /// A payload type that this host does not know, or a later envelope.
    Unknown,
}

/// A record with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) session: String,
    pub(crate) sequence: u64,
    pub(crate) recorded_ms: u64,
    pub(crate) record: Record,
}

impl Line {
    /// The line, line end included.
    pub(crate) fn write(&self) -> String {
        let (payload_type, payload) = self.record.parts();
        let envelope = json!({
            "schema_version": SCHEMA_VERSION,
            "id": format!("{}:{}", self.session, self.sequence),
            "stream": { "kind": "session", "id": self.session },
            "sequence": self.sequence,
            "recorded_at": (EPOCH_MS + self.recorded_ms) * 1000,
            "record_type": "event",
            "durability": "durable",
            "payload_type": payload_type,
            "payload_schema_version": 1,
            "payload": payload,
        });
        format!("{envelope}\n")
    }

    /// Reads a line; `None` when it is no envelope.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut envelope: Value = serde_json::from_slice(bytes).ok()?;
        let recorded_us = envelope["recorded_at"].as_u64()?;
        let payload = envelope["payload"].take();
        let known = envelope["schema_version"].as_u64()? <= SCHEMA_VERSION;
        let payload_type = envelope["payload_type"].as_str()?;
        Some(Self {
            session: envelope["stream"]["id"].as_str()?.to_owned(),
            sequence: envelope["sequence"].as_u64()?,
            recorded_ms: (recorded_us / 1000).saturating_sub(EPOCH_MS),
            record: match known {
                true => Record::read(payload_type, payload)?,
                false => Record::Unknown,
            },
        })
    }
}

impl Record {
    fn parts(&self) -> (&'static str, Value) {
        match self {
            Self::Metadata(record) => {
                (METADATA, json!({ "kind": "session_metadata", "record": record }))
            }
            Self::Event { position, method, params, hidden } => {
                let payload = json!({
                    "kind": "view_event", "position": position, "method": method,
                    "params": params, "hidden": hidden,
                });
                (EVENT, payload)
            }
            Self::Intent(text) => {
                let blocks = json!([{ "type": "text", "text": text }]);
                (INTENT, json!({ "kind": "user_intent_accepted", "refill_blocks": blocks }))
            }
            Self::Accepted { command_id, method, params } => {
                let payload = json!({
                    "kind": "command_accepted", "command_id": command_id, "command_kind": method,
                    "params": params,
                });
                (ACCEPTED, payload)
            }
            Self::Settled { command_id, reply } => {
                let mut payload = json!({ "kind": "command_settled", "command_id": command_id });
                match reply {
                    Ok(result) => payload["result"] = result.clone(),
                    Err(refusal) => payload["error"] = refusal.to_value(),
                }
                (SETTLED, payload)
            }
            Self::Resumed => (RESUMED, json!({ "kind": "session_resumed" })),
            Self::Ended => (ENDED, json!({ "kind": "session_ended" })),
            Self::Unknown => ("unknown", Value::Null),
        }
    }

    fn read(payload_type: &str, mut payload: Value) -> Option<Self> {
        let text = |payload: &Value, name: &str| payload[name].as_str().map(str::to_owned);
        Some(match payload_type {
            METADATA => Self::Metadata(payload["record"].take()),
            EVENT => Self::Event {
                position: payload["position"].as_u64()?,
                method: text(&payload, "method")?,
                hidden: payload["hidden"].as_bool()?,
                params: Some(payload["params"].take()).filter(Value::is_object)?,
            },
            INTENT => {
                let blocks = payload["refill_blocks"].as_array()?;
                let texts: Vec<&str> =
                    blocks.iter().filter_map(|block| block["text"].as_str()).collect();
                Self::Intent(texts.join("\n"))
            }
            ACCEPTED => Self::Accepted {
                command_id: text(&payload, "command_id")?,
                method: text(&payload, "command_kind")?,
                params: payload["params"].as_object()?.clone(),
            },
            SETTLED => Self::Settled {
                command_id: text(&payload, "command_id")?,
                reply: match payload.get("error") {
                    None => Ok(payload["result"].take()),
                    Some(error) => Err(Refusal {
                        code: error["code"].as_i64()?,
                        message: text(error, "message")?,
                        data: error["data"].as_object()?.clone(),
                    }),
                },
            },
            RESUMED => Self::Resumed,
            ENDED => Self::Ended,
            _ => Self::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let refusal = Refusal::rejected("c", "missing_goal");
        let records = [
            Record::Metadata(json!({ "workspace_root": "/w" })),
            Record::Event {
                position: 7,
                method: "turn/started".into(),
                params: json!({ "turnId": "t" }),
                hidden: false,
            },
            Record::Intent("hello".into()),
            Record::Accepted { command_id: "c".into(), method: "m".into(), params: Map::new() },
            Record::Settled { command_id: "c".into(), reply: Ok(json!({ "status": "accepted" })) },
            Record::Settled { command_id: "c".into(), reply: Err(refusal) },
            Record::Resumed,
            Record::Ended,
            Record::Unknown,
        ];
        for record in records {
            let line = Line { session: "s".into(), sequence: 3, recorded_ms: 12, record };
            let text = line.write();
            assert_eq!(text.matches('\n').count(), 1);
            assert_eq!(Line::read(text.trim_end().as_bytes()), Some(line));
        }
    }

    #[test]
    fn what_is_no_envelope_is_not_read_and_what_is_new_is_unknown() {
        for broken in ["", "{", "[]", "{}", r#"{"schema_version":1}"#] {
            assert_eq!(Line::read(broken.as_bytes()), None, "{broken}");
        }
        let event =
            Record::Event { position: 1, method: "m".into(), params: json!({}), hidden: false };
        let line = Line { session: "s".into(), sequence: 1, recorded_ms: 0, record: event }.write();
        let later = line.replacen("\"schema_version\":1", "\"schema_version\":2", 1);
        assert_ne!(line, later);
        assert_eq!(Line::read(later.as_bytes()).map(|line| line.record), Some(Record::Unknown));
        let other = line.replace("view.event", "run.lifecycle.started");
        assert_eq!(Line::read(other.as_bytes()).map(|line| line.record), Some(Record::Unknown));
        let odd = line.replace("\"position\":1", "\"position\":\"1\"");
        assert_eq!(Line::read(odd.as_bytes()), None, "a known kind that lacks a member is damage");
    }
}
