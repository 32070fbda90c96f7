//! Writing to the client.
//!
//! Purpose: the only place where frames enter the output queue. Invariants: nothing unsolicited
//! before `initialized` (HOST-2); opt-outs are honoured except for the protected set (HSK-6); view
//! events go to subscribers only; request ids count 1, 2, 3 (HOST-6); after stdout is closed
//! nothing is written. It does not decide what to say.

use serde_json::{Map, Value};

use super::ids::EPOCH_MS;
use super::{Host, Output, Phase, Reply, frames};
use crate::profiles::PROTECTED;

impl Host {
    pub(super) fn write(&mut self, frame: &Value) {
        if self.stdout_open {
            self.out.push_back(Output::Line(frames::bytes(frame)));
        }
    }

    /// Answers a request.
    pub(crate) fn respond(&mut self, id: &Value, reply: &Reply) {
        let frame = match reply {
            Ok(result) => frames::response(id, result),
            Err(refusal) => frames::error(id, refusal),
        };
        self.write(&frame);
    }

    /// Closes stdout; later frames are dropped.
    pub(crate) fn close_stdout(&mut self) {
        self.out.push_back(Output::CloseStdout);
        self.stdout_open = false;
    }

    fn may_notify(&self, method: &str) -> bool {
        let opted_out = self.connection.opted_out.contains(method) && !PROTECTED.contains(&method);
        self.connection.phase == Phase::Ready && !opted_out
    }

    /// A notification, if the client may get it.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        if self.may_notify(method) {
            let frame = frames::notification(method, params, EPOCH_MS + self.now);
            self.write(&frame);
        }
    }

    /// Stores a view event and delivers it. Returns its complete params.
    pub(crate) fn event(&mut self, session: &str, method: &str, params: Value) -> Value {
        let params = self.store(session, method, params);
        if self.sessions.get(session).is_some_and(|session| session.subscribed) {
            self.notify(method, &params);
        }
        params
    }

    /// A view event, if the host generation has one of this name.
    pub(crate) fn event_if_known(&mut self, session: &str, method: &str, params: Value) {
        if self.profile.notification(method).is_some() {
            self.event(session, method, params);
        }
    }

    /// Stores a view event without delivering it.
    pub(crate) fn store(&mut self, session: &str, method: &str, params: Value) -> Value {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        let now = self.now;
        let Some(session) = self.sessions.get_mut(session) else { return Value::Null };
        session.updated_ms = now;
        session.log.append(&mut self.ids, method, params).params.clone()
    }

    /// A delta: it takes a cursor and is not stored (CUR-2). Returns the cursor.
    pub(crate) fn delta(&mut self, session: &str, item: &str, field: &str, delta: &str) -> String {
        let may_notify = self.may_notify("item/delta") && self.stdout_open;
        let emitted_at_ms = EPOCH_MS + self.now;
        let Some(target) = self.sessions.get_mut(session) else { return String::new() };
        let view_cursor = target.log.ephemeral();
        if target.subscribed && may_notify {
            let frame = frames::DeltaFrame {
                emitted_at_ms,
                jsonrpc: "2.0",
                method: "item/delta",
                params: frames::DeltaParams {
                    delta,
                    field,
                    item_id: item,
                    session_id: session,
                    view_cursor: &view_cursor,
                },
            };
            // Strings and an integer: this cannot fail.
            self.out.push_back(Output::Line(serde_json::to_vec(&frame).unwrap_or_default()));
        }
        view_cursor
    }

    /// A request to the client, if it is there to get it (ENV-3, protected).
    pub(crate) fn ask_client(&mut self, method: &'static str, params: &Value) {
        let withheld = method == "userInput/request" && !self.connection.dialogs;
        if self.connection.phase != Phase::Ready || withheld {
            return;
        }
        self.connection.requests += 1;
        let id = self.connection.requests;
        self.connection.unreceipted.insert(id, method);
        self.write(&frames::request(id, method, params));
    }
}
