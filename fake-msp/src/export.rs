//! `export`: the complete history of a session as one document.
//!
//! Purpose: documents for clients that load sessions, sound and unsound ones. Inputs: [`Export`].
//! Outputs: text. The conversation is a fixed one: a prompt, encrypted reasoning, a tool that ran, a
//! tool that failed, an answer. No I/O. Rules: EXP-2..5; the document of the loopback notes, 8.2.

use serde_json::{Value, json};

/// One call of `export`.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The session, as the client named it.
    pub session: String,
    /// `export_schema_version`; 1 unless set.
    pub schema: Option<u64>,
    /// Least size of the document in bytes; the answer is filled up to it.
    pub bytes: Option<u64>,
    /// Cut the document in the middle, so that it is no JSON.
    pub bad: bool,
}

/// The document.
#[must_use]
pub fn document(export: &Export) -> String {
    let mut answer = format!("This is session {}.", export.session);
    let bare = text(export, &answer).len();
    if let Some(more) = export.bytes.and_then(|bytes| usize::try_from(bytes).ok()) {
        answer.extend(std::iter::repeat_n('x', more.saturating_sub(bare)));
    }
    let mut document = text(export, &answer);
    if export.bad {
        // The text is ASCII as long as the session's name is; half of it is no JSON either way.
        let middle = (document.len() / 2..).find(|at| document.is_char_boundary(*at));
        document.truncate(middle.unwrap_or(0));
    }
    document
}

fn text(export: &Export, answer: &str) -> String {
    let intent = |call: &str, tool: &str| {
        json!({ "kind": "side_effect_intent", "operation": format!("tool:{tool}"),
            "idempotency_key": format!("tool:{call}") })
    };
    let failed = json!({ "kind": "failed", "operation": "tool:write_file",
        "idempotency_key": "tool:call_b" });
    let events = [
        run(json!({ "kind": "started", "prompt": "hello" })),
        run(json!({ "kind": "reasoning_committed", "encrypted": "…" })),
        task("t1", intent("call_a", "bash")),
        task("t1", json!({ "kind": "completed" })),
        task("t2", failed),
        run(json!({ "kind": "assistant_message_committed", "text": answer })),
    ];
    let version = export.schema.unwrap_or(1);
    json!({ "export_schema_version": version, "events": events }).to_string()
}

fn run(event: Value) -> Value {
    json!({ "envelope": { "payload": { "kind": "run", "event": event } } })
}

fn task(id: &str, event: Value) -> Value {
    json!({ "envelope": { "payload": { "kind": "task", "task_id": id, "event": event } } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_sound_unless_a_lever_says_otherwise() {
        let sound: Value = serde_json::from_str(&document(&Export::default())).unwrap();
        assert_eq!(sound["export_schema_version"], 1);
        assert_eq!(sound["events"].as_array().unwrap().len(), 6);
        let odd = document(&Export { schema: Some(2), ..Export::default() });
        assert_eq!(serde_json::from_str::<Value>(&odd).unwrap()["export_schema_version"], 2);
        let bad = document(&Export { bad: true, session: "ä".repeat(400), ..Export::default() });
        assert!(serde_json::from_str::<Value>(&bad).is_err());
        let large = document(&Export { bytes: Some(100_000), ..Export::default() });
        assert_eq!(large.len(), 100_000);
    }
}
