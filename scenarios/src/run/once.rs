//! E6: nothing is asked, decided or cancelled twice in a turn (APR-3, PO-12, ELI-1, CAN-11).

use std::collections::BTreeSet;

use super::transcript::{Entry, Lane};

/// The first frame that repeats what the adapter has said already, and what that is.
pub(super) fn repeated(entries: &[Entry]) -> Option<(usize, &'static str)> {
    let (mut seen, mut turns) = (BTreeSet::new(), 0_u32);
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.from_adapter) {
        let params = &entry.frame["params"];
        // Another host, and with it another turn, may use the same ids again.
        turns += u32::from(entry.method() == Some("turn/start"));
        let meta = &params["_meta"];
        let (about, text) = match entry.method() {
            Some("session/request_permission") => (
                format!("{}{}", meta["museApprovalId"], meta["museRequirementId"]),
                "one stage was asked twice",
            ),
            Some("approval/decide") => (
                format!("{}{}", params["approvalId"], params["requirementId"]),
                "one stage was decided twice",
            ),
            Some("userInput/answer" | "userInput/cancel") => {
                (params["userInputId"].to_string(), "one question was answered twice")
            }
            Some("turn/cancel") => (params["turnId"].to_string(), "one turn was cancelled twice"),
            _ => continue,
        };
        let whose = match entry.lane {
            Lane::Editor => params["sessionId"].to_string(),
            Lane::Host(host) => host.to_string(),
        };
        if !seen.insert((turns, whose, text, about)) {
            return Some((index, text));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(lane: Lane, method: &str, params: &Value) -> Entry {
        let frame = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        Entry {
            at: std::time::Duration::ZERO,
            lane,
            from_adapter: true,
            frame,
            lie: false,
            line: None,
        }
    }

    #[test]
    fn the_second_time_is_found_and_another_turn_is_another_time() {
        let cancel = || said(Lane::Host(0), "turn/cancel", &json!({ "turnId": "t" }));
        let start = || said(Lane::Host(0), "turn/start", &json!({}));
        let other = said(Lane::Host(1), "turn/cancel", &json!({ "turnId": "t" }));
        assert_eq!(repeated(&[start(), cancel(), other.clone(), start(), cancel()]), None);
        let twice = repeated(&[start(), cancel(), other, cancel()]);
        assert_eq!(twice, Some((3, "one turn was cancelled twice")));
    }

    #[test]
    fn two_stages_of_one_approval_are_two_questions() {
        let ask = |stage: u32| {
            let meta =
                json!({ "museApprovalId": "a", "museRequirementId": { "sourceIndex": stage } });
            let params = json!({ "sessionId": "s", "_meta": meta });
            said(Lane::Editor, "session/request_permission", &params)
        };
        assert_eq!(repeated(&[ask(0), ask(1)]), None);
        assert_eq!(repeated(&[ask(0), ask(1), ask(0)]), Some((2, "one stage was asked twice")));
    }
}
