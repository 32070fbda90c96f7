//! The envelope around each event.

use serde_json::{Map, Value, json};

use super::Run;
use crate::engine::{EPOCH_MS, Ids, Kind};

/// A run's output, line by line. Every method answers `None` once nobody reads any more.
pub(super) struct Stream<'a> {
    sink: &'a mut dyn FnMut(&str) -> bool,
    ids: Ids,
    session: String,
    run: String,
    command: String,
    task: String,
    sequence: u64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(run: &Run, sink: &'a mut dyn FnMut(&str) -> bool) -> Self {
        let mut ids = Ids::new(run.seed);
        let (command, of_run) = (ids.next(Kind::Record), ids.next(Kind::Record));
        let task = ids.next(Kind::Record);
        let session = run.session.clone();
        Self { sink, ids, session, run: of_run, command, task, sequence: 0 }
    }

    /// What precedes the model: acceptance, links, the model's name, the prompt.
    pub(super) fn begin(&mut self, run: &Run) -> Option<()> {
        let link = json!({ "kind": "run", "id": self.run });
        let command = self.command.clone();
        self.durable(
            "runtime.command.accepted",
            json!({ "kind": "command_accepted", "command_id": command,
                "command_kind": "turn.submit" }),
        )?;
        self.durable(
            "session.run.linked",
            json!({ "kind": "session_run_linked", "run_stream": link }),
        )?;
        let provider = run.provider.as_deref().unwrap_or("meta");
        let model = run.model.as_deref().unwrap_or("fake-model");
        self.durable(
            "run.model.configured",
            json!({ "kind": "run_model_configured", "provider_id": provider, "model_id": model,
                "display_label": model, "source": "fake" }),
        )?;
        self.ephemeral(
            "turn.input.user",
            json!({ "kind": "turn_input_user", "text": run.prompt }),
        )?;
        self.durable(
            "run.lifecycle.started",
            json!({ "kind": "run_started", "command_id": command, "run_stream": link,
                "prompt": run.prompt }),
        )
    }

    pub(super) fn delta(&mut self, text: &str) -> Option<()> {
        self.ephemeral("run.output.delta", json!({ "kind": "run_output_delta", "text": text }))
    }

    /// A step in the life of the run's one task.
    pub(super) fn task(&mut self, kind: &str, detail: Value) -> Option<()> {
        let mut event = Map::new();
        event.insert("kind".into(), kind.into());
        if let Value::Object(detail) = detail {
            event.extend(detail);
        }
        let payload = json!({ "kind": "task_lifecycle", "task_id": self.task, "event": event });
        self.durable(&format!("task.lifecycle.{kind}"), payload)
    }

    pub(super) fn tool_result(&mut self, call: &str, text: &str, outcome: &str) -> Option<()> {
        let facts = json!({ "tool_name": "bash", "outcome": outcome });
        self.durable(
            "tool.result",
            json!({ "kind": "tool_result", "call_id": call, "text": text,
                "correlation_facts": facts }),
        )
    }

    /// The host waits for an answer that this face cannot give.
    pub(super) fn approval_wait(&mut self, call: &str) -> Option<()> {
        let record = json!({ "pending_action_id": self.ids.next(Kind::Approval),
            "task_id": self.task, "tool_call_id": call, "tool_name": "bash" });
        self.durable(
            "approval_wait.effect.started",
            json!({ "kind": "approval_wait_effect", "run_id": self.run, "record": record }),
        )
    }

    pub(super) fn completed(&mut self, text: &str) -> Option<()> {
        self.durable(
            "run.terminal.completed",
            json!({ "kind": "run_terminal", "terminal": "completed", "text": text }),
        )
    }

    pub(super) fn failed(&mut self, reason: &str) -> Option<()> {
        self.durable(
            "run.terminal.failed",
            json!({ "kind": "run_terminal", "terminal": "failed", "reason": reason }),
        )
    }

    /// What a reader must step over: text, a blank line, JSON that is no envelope, an event of an
    /// unknown type, an event of another schema.
    pub(super) fn noise(&mut self) -> Option<()> {
        for line in ["warning: this line is no JSON", "", "[1, 2]", "{\"hello\":\"world\"}"] {
            self.say(line)?;
        }
        self.durable("run.weather.changed", json!({ "kind": "weather", "sky": "clear" }))?;
        let mut odd = self.envelope(
            "run.output.delta",
            "ephemeral",
            json!({ "kind": "run_output_delta", "text": "" }),
        );
        odd["schema_version"] = 2.into();
        self.say(&odd.to_string())
    }

    fn durable(&mut self, payload_type: &str, payload: Value) -> Option<()> {
        let envelope = self.envelope(payload_type, "durable", payload);
        self.say(&envelope.to_string())
    }

    fn ephemeral(&mut self, payload_type: &str, payload: Value) -> Option<()> {
        let envelope = self.envelope(payload_type, "ephemeral", payload);
        self.say(&envelope.to_string())
    }

    fn envelope(&mut self, payload_type: &str, durability: &str, payload: Value) -> Value {
        self.sequence += 1;
        let record_type = match payload_type {
            "runtime.command.accepted" => "reconciliation",
            _ => "event",
        };
        json!({ "schema_version": 1, "id": self.ids.next(Kind::Record),
            "stream": { "kind": "session", "id": self.session }, "sequence": self.sequence,
            "recorded_at": EPOCH_MS * 1000 + self.sequence, "record_type": record_type,
            "durability": durability, "causation_id": self.run, "payload_type": payload_type,
            "payload_schema_version": 1, "payload": payload })
    }

    fn say(&mut self, line: &str) -> Option<()> {
        (self.sink)(line).then_some(())
    }
}
