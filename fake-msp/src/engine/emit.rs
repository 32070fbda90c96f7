//! Writing to the client.
//!
//! Purpose: the only place where frames enter the output queue. Invariants: nothing unsolicited
//! before `initialized` (HOST-2); opt-outs are honoured except for the protected set (HSK-6); view
//! events go to subscribers only; request ids count 1, 2, 3 (HOST-6); after stdout is closed
//! nothing is written. It does not decide what to say.

use serde_json::{Map, Value, json};

use super::ids::EPOCH_MS;
use super::{Fault, Host, Mode, Output, Phase, Reply, frames};
use crate::profiles::PROTECTED;

impl Host {
    pub(super) fn write(&mut self, frame: &Value) {
        if self.stdout_open && !self.ended {
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
            match self.drops(method) {
                true => self.miss(session, method),
                false => {
                    self.notify(method, &params);
                    self.tell_gap(session, params["viewCursor"].as_str());
                }
            }
        }
        self.broadcast_after(session, method);
        params
    }

    /// A view event, if the host generation has one of this name.
    pub(crate) fn event_if_known(&mut self, session: &str, method: &str, params: Value) {
        if self.profile.notification(method).is_some() {
            self.event(session, method, params);
        }
    }

    /// Whether a lever drops this event for the client; never the protected set (HOST-10).
    fn drops(&self, method: &str) -> bool {
        let named = |fault: &Fault| matches!(fault, Fault::Gap(name) if name == method);
        self.options.faults.iter().any(named) && !PROTECTED.contains(&method)
    }

    /// Notes that the newest event was not delivered.
    pub(crate) fn miss(&mut self, session: &str, method: &str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let position = target.log.next_position() - 1;
        let first = target.missed.map_or(position, |(first, _)| first);
        target.missed = Some((first, position));
        if self.options.mode == Mode::Obliging && method == "turn/completed" {
            // Nothing may come after it that the gap frame could wait for.
            let next = target.log.ephemeral();
            self.tell_gap(session, Some(&next));
        }
    }

    /// The gap frame comes with the next accepted delivery, behind it as recorded (CUR-9).
    fn tell_gap(&mut self, session: &str, next: Option<&str>) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        if self.options.mode == Mode::Scripted {
            return; // The script says its gaps itself.
        }
        if let (Some((first, _)), Some(next)) = (target.missed.take(), next) {
            let after = target.log.cursor(first - 1);
            let gap = json!({ "sessionId": session, "after": after, "next": next });
            self.notify("view/gap", &gap);
        }
    }

    /// Stores a view event without delivering it.
    pub(crate) fn store(&mut self, session: &str, method: &str, params: Value) -> Value {
        let params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        let now = self.now;
        let Some(target) = self.sessions.get_mut(session) else { return Value::Null };
        target.updated_ms = now;
        let params = target.log.append(&mut self.ids, method, params);
        self.listing.touch(session);
        self.record_event(session, method, &params);
        self.retain(session);
        params
    }

    /// Stores a fact that is folded but is no view event.
    pub(crate) fn store_hidden(&mut self, session: &str, method: &str, params: Map<String, Value>) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let params = Value::Object(params);
        target.log.put_hidden(method, &params);
        self.record_event(session, method, &params);
    }

    /// Stops serving what is older than the host keeps readable.
    pub(crate) fn retain(&mut self, session: &str) {
        if let (Some(events), Some(target)) =
            (self.options.retain_events, self.sessions.get_mut(session))
        {
            target.log.retain(events);
        }
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
