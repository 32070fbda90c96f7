//! What a line of the client is, and who takes it: requests go to `admission`. A bad line is answered as
//! the rules of framing say and changes nothing. Rules: FRM-3, FRM-6, FRM-12, ENV-1, ENV-5, ENV-10, HOST-9.

use serde_json::{Map, Value};

use super::Host;
use super::frames::{self, FRAME_BYTES_MAX, Incoming, PREFIX_BYTES};
use crate::oracle;

impl Host {
    pub(super) fn on_line(&mut self, line: &[u8]) {
        // The limit is one of content: a `\r` before the line end does not count (FRM-3, FRM-6).
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > FRAME_BYTES_MAX {
            return self.on_too_long(&line[..PREFIX_BYTES]);
        }
        match frames::read(line) {
            Incoming::Blank => {}
            Incoming::Bad { id, refusal, note } => {
                self.note("frame", note);
                self.respond(&id, &Err(refusal));
            }
            Incoming::Request { id, method, params, notes } => {
                for note in notes {
                    self.note(&method, note);
                }
                self.on_request(&id, &method, params);
            }
            Incoming::Notification { method, params, notes } => {
                for note in notes {
                    self.note(&method, note);
                }
                self.on_notification(&method, params.as_ref());
            }
            Incoming::Response { id, result, error } => {
                self.on_response(&id, result.as_ref(), error.as_ref());
            }
        }
    }

    pub(super) fn on_tail(&mut self, tail: &[u8]) {
        if serde_json::from_slice::<Map<String, Value>>(tail).is_ok() {
            self.on_line(tail);
        } else if !tail.iter().all(u8::is_ascii_whitespace) {
            self.note("frame", ("", "FRM-12", "stdin ended inside a frame"));
        }
    }

    pub(super) fn on_too_long(&mut self, prefix: &[u8]) {
        self.note("frame", ("", "FRM-6", "line is longer than the frame limit"));
        let (id, refusal) = frames::too_long(prefix);
        self.respond(&id, &Err(refusal));
    }

    pub(super) fn on_notification(&mut self, method: &str, params: Option<&Value>) {
        match method {
            "initialized" => self.on_initialized(params),
            "userInput/engaged" if self.profile.notification(method).is_some() => {
                let params = params.and_then(Value::as_object).cloned().unwrap_or_default();
                let mut findings = oracle::check_params(
                    self.profile,
                    self.connection.experimental,
                    method,
                    &params,
                );
                findings.extend(oracle::model::judge(&self.sessions, method, &params));
                self.find(method, findings);
                self.on_engaged(&params);
            }
            _ => self.note("notification", ("method", "TOL-6", "unknown notification")),
        }
    }

    /// A receipt: it changes no state (ENV-10, HOST-9).
    pub(super) fn on_response(
        &mut self,
        id: &Value,
        result: Option<&Value>,
        error: Option<&Value>,
    ) {
        let known = id.as_u64().and_then(|id| self.connection.unreceipted.remove(&id));
        if known.is_none() {
            self.note("response", ("id", "ENV-5", "answers no open request of the host"));
            return;
        }
        match (result, error) {
            (Some(_), Some(_)) => {
                self.note("response", ("", "ENV-1", "both result and error"));
            }
            (Some(Value::Object(receipt)), None) if receipt.is_empty() => {}
            (Some(_), None) => {
                self.note("response", ("result", "ENV-10", "a receipt is the empty object"));
            }
            (None, Some(error)) => {
                let formed = error["code"].is_i64() && error["message"].is_string();
                if !formed {
                    let text = "an error has an integer code and a message";
                    self.note("response", ("error", "ENV-1", text));
                }
            }
            (None, None) => {}
        }
    }
}
