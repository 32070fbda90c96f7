//! `export`: the complete history of a session as one document.
//!
//! Purpose: documents for clients that load sessions, sound and unsound ones. Inputs: [`Export`].
//! Outputs: text. The conversation is that of a session's log, or a fixed one: a prompt, encrypted
//! reasoning, a tool that ran, a tool that failed, an answer. No I/O. Rules: EXP-2..5; the document of
//! the loopback notes, 8.2.

use serde_json::{Value, json};

/// One call of `export`.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// The session, as the client named it.
    pub session: String,
    /// Its events, as [`history`] reads them; the fixed conversation without them.
    pub events: Option<Vec<Value>>,
    /// `export_schema_version`; 1 unless set.
    pub schema: Option<u64>,
    /// Least size of the document in bytes; a last answer is filled up to it.
    pub bytes: Option<u64>,
    /// Cut the document in the middle, so that it is no JSON.
    pub bad: bool,
}

/// The document.
#[must_use]
pub fn document(export: &Export) -> String {
    let mut document = text(export, 0);
    if let Some(bytes) = export.bytes.and_then(|bytes| usize::try_from(bytes).ok())
        && document.len() < bytes
    {
        let more = bytes - text(export, 1).len().min(bytes);
        document = text(export, more + 1);
    }
    if export.bad {
        // The text is ASCII as long as the session's name is; half of it is no JSON either way.
        let middle = (document.len() / 2..).find(|at| document.is_char_boundary(*at));
        document.truncate(middle.unwrap_or(0));
    }
    document
}

/// The document, with a last answer of so many characters to fill it up.
fn text(export: &Export, filling: usize) -> String {
    let mut events = match &export.events {
        Some(events) => events.clone(),
        None => conversation(&export.session),
    };
    if filling > 0 {
        events.push(answer(&"x".repeat(filling)));
    }
    let version = export.schema.unwrap_or(1);
    json!({ "export_schema_version": version, "events": events }).to_string()
}

fn conversation(session: &str) -> Vec<Value> {
    let failed = json!({ "kind": "failed", "operation": "tool:write_file",
        "idempotency_key": "tool:call_b" });
    vec![
        run(json!({ "kind": "started", "prompt": "hello" })),
        run(json!({ "kind": "reasoning_committed", "encrypted": "…" })),
        task("t1", intent("call_a", "bash")),
        task("t1", json!({ "kind": "completed" })),
        task("t2", failed),
        answer(&format!("This is session {session}.")),
    ]
}

/// The events of a session's log, given as its lines. Lines that are no envelopes and events that a
/// history does not have are passed over.
pub fn history<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Vec<Value> {
    let mut events = Vec::new();
    for line in lines {
        let Ok(envelope) = serde_json::from_slice::<Value>(line) else { continue };
        let payload = &envelope["payload"];
        if payload["method"] == "item/completed" {
            item(&payload["params"]["item"], &mut events);
        }
    }
    events
}

fn item(item: &Value, events: &mut Vec<Value>) {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    match text("kind") {
        "userMessage" => events.push(run(json!({ "kind": "started", "prompt": text("text") }))),
        "agentMessage" => events.push(answer(text("text"))),
        "reasoning" => {
            events.push(run(json!({ "kind": "reasoning_committed", "encrypted": "…" })));
        }
        "toolCall" => {
            let kind = if text("status") == "completed" { "completed" } else { "failed" };
            events.push(task(text("itemId"), intent(text("callId"), text("tool"))));
            events.push(task(text("itemId"), json!({ "kind": kind })));
        }
        _ => {}
    }
}

fn answer(text: &str) -> Value {
    run(json!({ "kind": "assistant_message_committed", "text": text }))
}

fn intent(call: &str, tool: &str) -> Value {
    json!({ "kind": "side_effect_intent", "operation": format!("tool:{tool}"),
        "idempotency_key": format!("tool:{call}") })
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

    #[test]
    fn a_log_becomes_a_history() {
        let line = |method: &str, item: Value| {
            json!({ "payload": { "method": method, "params": { "item": item } } }).to_string()
        };
        let tool = |status: &str| {
            json!({ "kind": "toolCall", "itemId": "i", "callId": "c", "tool": "bash",
                "status": status })
        };
        let lines = [
            line("item/completed", json!({ "kind": "userMessage", "text": "hi" })),
            line("item/started", tool("inProgress")),
            "no JSON".into(),
            line("item/completed", tool("completed")),
            line("item/completed", tool("rejected")),
            line("item/completed", json!({ "kind": "hologram" })),
            line("item/completed", json!({ "kind": "agentMessage", "text": "ho" })),
        ];
        let events = history(lines.iter().map(String::as_bytes));
        let event = |at: usize| events[at]["envelope"]["payload"]["event"].clone();
        assert_eq!(event(0), json!({ "kind": "started", "prompt": "hi" }));
        assert_eq!(event(1)["idempotency_key"], "tool:c");
        assert_eq!((&event(2)["kind"], &event(4)["kind"]), (&json!("completed"), &json!("failed")));
        assert_eq!(event(5)["text"], "ho");
        assert_eq!(events.len(), 6);
        let filled = Export { events: Some(events), bytes: Some(5000), ..Export::default() };
        assert_eq!(document(&filled).len(), 5000);
    }
}
