//! What one order may not do, beyond what holds in every run (`run::watch`): nothing is decided, asked or
//! cancelled twice (APR-4, PO-12, CAN-11).

use std::collections::BTreeSet;

use crate::run::transcript::Entry;
use crate::run::watch::Finding;

/// Judges the record of one order.
pub(super) fn judge(record: &[Entry]) -> Option<Finding> {
    let (mut seen, mut turns) = (BTreeSet::new(), 0);
    for (index, entry) in record.iter().enumerate().filter(|(_, entry)| entry.from_adapter) {
        let params = &entry.frame["params"];
        // Another host, and with it another turn, may use the same ids again.
        turns += usize::from(entry.method() == Some("turn/start"));
        let (about, text) = match entry.method() {
            Some("session/request_permission") => {
                (params["_meta"]["museRequirementId"].to_string(), "one stage was asked twice")
            }
            Some("approval/decide") => {
                (params["requirementId"].to_string(), "one stage was decided twice")
            }
            Some("userInput/answer" | "userInput/cancel") => {
                (params["userInputId"].to_string(), "one question was answered twice")
            }
            Some("turn/cancel") => (params["turnId"].to_string(), "one turn was cancelled twice"),
            _ => continue,
        };
        if !seen.insert((turns, text, about)) {
            return Some(Finding { invariant: "X1", frame: Some(index), text: text.to_owned() });
        }
    }
    None
}
