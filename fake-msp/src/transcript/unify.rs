//! Values of the client's own making.
//!
//! Purpose: let a live client choose its request ids, command ids, client information and the id of a
//! session that the host has not named before it; and speak to it with the values it chose. Invariants: one recorded value stands for one sent value and the other way round; a
//! command or session id keeps its meaning through the whole recording, a request id until its answer;
//! whatever a client learns from the wire must come back exactly. Rules: HOST-19, ENV-2, ENV-3, ENV-7.

use serde_json::Value;

use super::compare::{self, Difference};
use super::read::{Dir, Line};

/// A session id this long is also replaced inside texts, such as cursors and paths; a shorter one could
/// stand there by chance. A UUID has 36 characters.
const SESSION_INSIDE_MIN: usize = 16;

/// What has been unified so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Bindings {
    commands: Vec<Minted>,
    sessions: Vec<Minted>,
    requests: Vec<Request>,
}

#[derive(Clone, Debug)]
struct Minted {
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
    /// `earlier` are the lines before it.
    pub(super) fn meet(
        &mut self,
        earlier: &[Line],
        line: &Line,
        sent: &Value,
    ) -> Result<(), Vec<Difference>> {
        let mut recorded = line.frame.clone();
        let mut sent = sent.clone();
        let mut out = Vec::new();
        let request = line.frame.get("method").is_some() && line.frame.get("id").is_some();
        let id = request.then(|| self.meet_id(&mut recorded, &mut sent, &mut out)).flatten();
        let command = meet(&self.commands, "commandId", &mut recorded, &mut sent, &mut out);
        let session = (!is_learned(earlier, &recorded["params"]["sessionId"]))
            .then(|| meet(&self.sessions, "sessionId", &mut recorded, &mut sent, &mut out))
            .flatten();
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
            self.commands.push(Minted { recorded, sent, line: number });
        }
        if let Some((recorded, sent)) = session {
            self.sessions.push(Minted { recorded, sent, line: number });
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

    /// A text with the client's ids in it; `None` if it has none.
    fn replaced(&self, text: &str) -> Option<String> {
        let mut whole = self.commands.iter().chain(&self.sessions);
        if let Some(pair) = whole.find(|pair| pair.recorded == text) {
            return (pair.sent != text).then(|| pair.sent.clone());
        }
        let inside = self.sessions.iter().find(|pair| {
            pair.recorded.len() >= SESSION_INSIDE_MIN
                && pair.recorded != pair.sent
                && text.contains(&pair.recorded)
        })?;
        Some(text.replace(&inside.recorded, &inside.sent))
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

    /// Puts the client's ids into the place of the recorded ones. A turn has the id of its command, and
    /// a cursor that of its session, so such an id can stand anywhere.
    fn substitute(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let replaced = self.replaced(text);
                let changed = replaced.is_some();
                if let Some(replaced) = replaced {
                    *text = replaced;
                }
                changed
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

/// Whether the host has named a session: then the client knows it from the wire.
fn is_learned(earlier: &[Line], session: &Value) -> bool {
    let Some(session) = session.as_str() else { return false };
    earlier.iter().any(|line| line.dir == Dir::Server && line.raw.contains(session))
}

/// Takes an id of the client's making out of both frames. A pair is new, or the one that is known.
fn meet(
    known: &[Minted],
    name: &str,
    recorded: &mut Value,
    sent: &mut Value,
    out: &mut Vec<Difference>,
) -> Option<(String, String)> {
    let own = recorded.get("params")?.get(name)?.as_str()?.to_owned();
    let found = sent.get("params")?.get(name)?.as_str()?.to_owned();
    // What is no string on either side stays in place for the comparison.
    take(recorded.get_mut("params")?, name);
    take(sent.get_mut("params")?, name);
    let path = || format!("params.{name}");
    if let Some(pair) = known.iter().find(|pair| pair.recorded == own) {
        if pair.sent != found {
            let text = format!("must be the one of line {} once more", pair.line);
            compare::push(out, path(), text);
        }
        return None;
    }
    if let Some(other) = known.iter().find(|pair| pair.sent == found) {
        let text = format!("must be a new one, is that of line {}", other.line);
        compare::push(out, path(), text);
    }
    Some((own, found))
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
