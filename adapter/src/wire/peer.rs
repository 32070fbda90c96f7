//! One side of a JSON-RPC connection: pairs our requests with the other side's responses.
//!
//! In: lines. Out: classified messages, and lines to send. `T` is what the caller wants to have back
//! with the response. Invariants: own ids count from 1 (WIRE-10); every request is answered, failed
//! or drained exactly once; a response to an id that is not pending changes nothing (ENV-5). It has
//! no queue and no clock: queueing is the shell's matter, deadlines are the caller's.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::envelope::{self, Id, Malformed, Message, RpcError};
use super::framing::Line;

/// Most requests of ours that may be open at once. The core opens a handful per session; reaching
/// this bound means that a neighbour answers nothing, and the caller fails its operation.
pub const PENDING_MAX: usize = 4096;

/// A line of input, classified.
#[derive(Debug)]
#[allow(missing_docs)] // the members say what they are
pub enum Incoming<'a, T> {
    /// Must be answered with a success or an error of [`envelope`].
    Request { id: Id, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Needs no answer.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Answers the request that carried `token`.
    Response { token: T, outcome: Outcome<'a> },
    /// A response that no open request of ours waits for: late, twice, or never asked.
    Unmatched,
    /// No message at all.
    Invalid(Invalid),
}

/// How a request of ours ended.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// `result`.
    Ok(&'a RawValue),
    /// `error`.
    Err(RpcError),
    /// Neither, both, or an error object without a code (PO-36).
    Impossible,
}

/// Why a line is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Not JSON in UTF-8.
    Syntax,
    /// JSON, but no envelope.
    Shape(Option<Id>),
    /// Above the line limit.
    TooLong,
    /// The stream ended inside a frame.
    Truncated,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Peer<T> {
    next_id: u64,
    pending: BTreeMap<u64, T>,
}

impl<T> Default for Peer<T> {
    fn default() -> Self {
        Self { next_id: 1, pending: BTreeMap::new() }
    }
}

impl<T> Peer<T> {
    /// Classifies one line and takes the pending request that it answers, if any.
    pub fn receive<'a>(&mut self, line: &Line<'a>) -> Incoming<'a, T> {
        let (bytes, tail) = match *line {
            Line::Complete(bytes) => (bytes, false),
            Line::Unterminated(bytes) => (bytes, true),
            Line::TooLong { .. } => return Incoming::Invalid(Invalid::TooLong),
        };
        match envelope::read(bytes) {
            Ok(Message::Request { id, method, params }) => Incoming::Request { id, method, params },
            Ok(Message::Notification { method, params }) => {
                Incoming::Notification { method, params }
            }
            Ok(Message::Response { id, outcome }) => match self.take(&id) {
                None => Incoming::Unmatched,
                Some(token) => {
                    let outcome = match outcome {
                        Some(Ok(result)) => Outcome::Ok(result),
                        Some(Err(error)) => Outcome::Err(error),
                        None => Outcome::Impossible,
                    };
                    Incoming::Response { token, outcome }
                }
            },
            Err(Malformed::Syntax) if tail => Incoming::Invalid(Invalid::Truncated),
            Err(Malformed::Syntax) => Incoming::Invalid(Invalid::Syntax),
            Err(Malformed::Shape(id)) => Incoming::Invalid(Invalid::Shape(id)),
        }
    }

    /// Opens a request. `None` when [`PENDING_MAX`] are open: the caller's operation fails.
    pub fn request<P: Serialize>(
        &mut self,
        method: &str,
        params: &P,
        token: T,
    ) -> Option<(u64, Vec<u8>)> {
        if self.pending.len() >= PENDING_MAX {
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.pending.insert(id, token);
        Some((id, envelope::request(id, method, Some(params))))
    }

    /// Forgets every open request for which `gone` holds: a late response finds nothing, and one that
    /// never comes takes no room. Gives their ids, so that the other side can be told.
    pub fn forget_where(&mut self, gone: impl Fn(&T) -> bool) -> Vec<u64> {
        self.pending.extract_if(.., |_, token| gone(token)).map(|(id, _)| id).collect()
    }

    /// Takes every open request, oldest first: the connection has ended.
    pub fn drain(&mut self) -> Vec<T> {
        std::mem::take(&mut self.pending).into_values().collect()
    }

    /// How many requests are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.pending.len()
    }

    fn take(&mut self, id: &Id) -> Option<T> {
        self.pending.remove(&id.as_ours()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive<'a>(peer: &mut Peer<&'static str>, line: &'a str) -> Incoming<'a, &'static str> {
        peer.receive(&Line::Complete(line.as_bytes()))
    }

    #[test]
    fn a_response_is_delivered_once_and_a_second_one_changes_nothing() {
        let mut peer = Peer::default();
        let (id, line) = peer.request("m", &serde_json::json!({}), "mine").expect("room");
        assert_eq!(line, br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#);
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        let first = receive(&mut peer, &answer);
        assert!(matches!(first, Incoming::Response { token: "mine", outcome: Outcome::Ok(_) }));
        assert!(matches!(receive(&mut peer, &answer), Incoming::Unmatched));
    }

    #[test]
    fn an_integer_and_a_string_id_are_different() {
        let mut peer = Peer::default();
        peer.request("m", &serde_json::json!({}), "mine").expect("room");
        let answer = r#"{"jsonrpc":"2.0","id":"1","result":{}}"#;
        assert!(matches!(receive(&mut peer, answer), Incoming::Unmatched));
        assert_eq!(peer.open(), 1);
    }

    #[test]
    fn requests_of_both_directions_with_one_id_do_not_meet() {
        let mut peer = Peer::default();
        peer.request("m", &serde_json::json!({}), "mine").expect("room");
        let theirs = r#"{"jsonrpc":"2.0","id":1,"method":"approval/request"}"#;
        assert!(matches!(receive(&mut peer, theirs), Incoming::Request { .. }));
        assert_eq!(peer.open(), 1);
    }

    #[test]
    fn a_last_line_without_newline_counts_when_it_is_whole() {
        let mut peer = Peer::<()>::default();
        let whole = br#"{"jsonrpc":"2.0","method":"m"}"#;
        let part = br#"{"jsonrpc":"2.0","met"#;
        assert!(matches!(peer.receive(&Line::Unterminated(whole)), Incoming::Notification { .. }));
        assert!(matches!(
            peer.receive(&Line::Unterminated(part)),
            Incoming::Invalid(Invalid::Truncated)
        ));
    }

    #[test]
    fn a_neighbour_that_answers_nothing_meets_a_bound() {
        let mut peer = Peer::default();
        for _ in 0..PENDING_MAX {
            assert!(peer.request("m", &serde_json::json!({}), ()).is_some());
        }
        assert!(peer.request("m", &serde_json::json!({}), ()).is_none());
        assert_eq!(peer.drain().len(), PENDING_MAX);
    }
}
