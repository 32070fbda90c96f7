//! Values of the client's own making.
//!
//! Purpose: let a live client choose its request ids, command ids and client information, and speak
//! to it with the values it chose. Invariants: one recorded value stands for one sent value and the
//! other way round; a command id keeps its meaning through the whole recording, a request id until
//! its answer; whatever a client learns from the wire must come back exactly. Rules: HOST-19, ENV-2,
//! ENV-3, ENV-7.

use serde_json::Value;

use super::compare::{self, Difference};
use super::read::Line;

/// What has been unified so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Bindings {
    commands: Vec<Command>,
    requests: Vec<Request>,
}

#[derive(Clone, Debug)]
struct Command {
    recorded: String,
    sent: String,
    line: usize,
}

#[derive(Clone, Debug)]
struct Request {
    recorded: Value,
    sent: Value,
    line: usize,
    answered: bool,
}

impl Bindings {
    /// Compares a client frame with a recorded one; on success its own values are remembered.
    pub(super) fn meet(&mut self, line: &Line, sent: &Value) -> Result<(), Vec<Difference>> {
        let mut recorded = line.frame.clone();
        let mut sent = sent.clone();
        let mut out = Vec::new();
        let request = line.frame.get("method").is_some() && line.frame.get("id").is_some();
        let id = request.then(|| self.meet_id(&mut recorded, &mut sent, &mut out)).flatten();
        let command = self.meet_command(&mut recorded, &mut sent, &mut out);
        meet_client_info(&mut recorded, &mut sent);
        self.substitute(&mut recorded);
        compare::compare(&recorded, &sent, "", &mut out);
        if !out.is_empty() {
            return Err(out);
        }
        let number = line.number;
        if let Some((recorded, sent)) = id {
            self.requests.push(Request { recorded, sent, line: number, answered: false });
        }
        if let Some((recorded, sent)) = command {
            self.commands.push(Command { recorded, sent, line: number });
        }
        Ok(())
    }

    /// A recorded server line as this client must see it.
    pub(super) fn speak(&mut self, line: &Line) -> Vec<u8> {
        let mut frame = line.frame.clone();
        let mut changed = self.substitute(&mut frame);
        if frame.get("method").is_none()
            && let Some(id) = frame.get_mut("id")
            && let Some(request) = self.requests.iter_mut().rev().find(|r| r.recorded == *id)
        {
            request.answered = true;
            changed |= *id != request.sent;
            *id = request.sent.clone();
        }
        // What is not touched goes out as it was recorded, byte for byte.
        if changed { frame.to_string().into_bytes() } else { line.raw.clone().into_bytes() }
    }

    /// Takes the ids out of both frames once they are found to be of one kind.
    fn meet_id(
        &self,
        recorded: &mut Value,
        sent: &mut Value,
        out: &mut Vec<Difference>,
    ) -> Option<(Value, Value)> {
        // Absent on one side: the comparison says so.
        let found = sent.get("id")?.clone();
        let own = take(recorded, "id")?;
        take(sent, "id");
        let is_id = found.is_string() || found.is_i64() || found.is_u64();
        if !is_id {
            let text = format!("must be an integer or a string, sent {}", compare::kind(&found));
            compare::push(out, "id".into(), text);
        }
        if let Some(open) = self.requests.iter().find(|r| !r.answered && r.sent == found) {
            let text = format!("is still in use by the request of line {}", open.line);
            compare::push(out, "id".into(), text);
        }
        Some((own, found))
    }

    fn meet_command(
        &self,
        recorded: &mut Value,
        sent: &mut Value,
        out: &mut Vec<Difference>,
    ) -> Option<(String, String)> {
        let own = recorded.get("params")?.get("commandId")?.as_str()?.to_owned();
        let found = sent.get("params")?.get("commandId")?.as_str()?.to_owned();
        // What is no string on either side stays in place for the comparison.
        take(recorded.get_mut("params")?, "commandId");
        take(sent.get_mut("params")?, "commandId");
        let path = || "params.commandId".to_owned();
        if let Some(known) = self.commands.iter().find(|c| c.recorded == own) {
            if known.sent != found {
                let text = format!("must be the one of line {} once more", known.line);
                compare::push(out, path(), text);
            }
            return None;
        }
        if let Some(other) = self.commands.iter().find(|c| c.sent == found) {
            let text = format!("must be a new one, is that of line {}", other.line);
            compare::push(out, path(), text);
        }
        Some((own, found))
    }

    /// Puts the client's command ids into the place of the recorded ones. A turn has the id of its
    /// command, so such an id can stand anywhere.
    fn substitute(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let known = self.commands.iter().find(|c| c.recorded == *text && c.sent != *text);
                if let Some(command) = known {
                    text.clone_from(&command.sent);
                }
                known.is_some()
            }
            Value::Array(list) => {
                list.iter_mut().fold(false, |changed, value| self.substitute(value) | changed)
            }
            Value::Object(map) => {
                map.values_mut().fold(false, |changed, value| self.substitute(value) | changed)
            }
            _ => false,
        }
    }
}

/// Any client may introduce itself as what it is.
fn meet_client_info(recorded: &mut Value, sent: &mut Value) {
    let is_object = |frame: &Value| frame["params"]["clientInfo"].is_object();
    if recorded["method"] == "initialize" && is_object(recorded) && is_object(sent) {
        for frame in [recorded, sent] {
            frame.get_mut("params").and_then(|params| take(params, "clientInfo"));
        }
    }
}

fn take(value: &mut Value, name: &str) -> Option<Value> {
    value.as_object_mut()?.remove(name)
}
