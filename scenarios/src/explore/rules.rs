//! X1: a cancelled prompt says nothing more (CAN-4). Beside what holds in every run (`run::watch`), because only here
//! the order of the record is the order in which the adapter heard: on a stage a text may be under way when
//! the cancel is written.

use std::collections::HashMap;

use serde_json::Value;

use crate::run::transcript::{Entry, Lane};
use crate::run::watch::Finding;

/// Judges the record of one order.
pub(super) fn judge(record: &[Entry]) -> Option<Finding> {
    // The open prompt of each session, by its request's id, and whether it was cancelled.
    let mut open: HashMap<&str, (&Value, bool)> = HashMap::new();
    for (index, entry) in record.iter().enumerate().filter(|(_, entry)| entry.lane == Lane::Editor)
    {
        let (frame, session) = (&entry.frame, entry.frame["params"]["sessionId"].as_str());
        match (entry.method(), session) {
            (Some("session/prompt"), Some(session)) => {
                // A second one is refused and changes nothing.
                open.entry(session).or_insert((&frame["id"], false));
            }
            (Some("session/cancel"), Some(session)) => {
                if let Some((_, cancelled)) = open.get_mut(session) {
                    *cancelled = true;
                }
            }
            (Some("session/update"), Some(session)) => {
                let kind = frame["params"]["update"]["sessionUpdate"].as_str();
                let speaks = matches!(kind, Some("agent_message_chunk" | "agent_thought_chunk"));
                if speaks && open.get(session).is_some_and(|(_, cancelled)| *cancelled) {
                    let text = "something was said after the cancel".to_owned();
                    return Some(Finding { invariant: "X1", frame: Some(index), text });
                }
            }
            (None, _) if entry.from_adapter => open.retain(|_, (id, _)| **id != frame["id"]),
            _ => {}
        }
    }
    None
}
