//! E4: nothing is granted or answered that the person did not say (APR-20, PO-9, PO-46).
//!
//! In: the transcript. Out: the frames to a host that no answer of the editor stands behind, by index. Each
//! answer stands behind one frame. A choice that the person did not make must be a denial by the words of
//! the host; a question that was taken back has no answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::transcript::{Lane, Transcript};

/// Decisions of a host that let nothing happen.
const DENIALS: [&str; 3] = ["denied", "abort", "deniedPolicyAmendment"];

#[derive(Default)]
struct Grants {
    /// Open questions of the adapter by JSON-RPC id: what they are about.
    asked: BTreeMap<String, String>,
    /// What the editor answered and nobody has passed on, by what it is about.
    answered: BTreeMap<String, Vec<Value>>,
    /// Choices that a host called a denial, by approval.
    denials: BTreeSet<(String, String)>,
}

/// See the module.
pub(super) fn unasked(transcript: &Transcript) -> Vec<usize> {
    let mut grants = Grants::default();
    let mut found = Vec::new();
    for (index, entry) in transcript.entries.iter().enumerate() {
        match (entry.lane, entry.from_adapter) {
            (Lane::Editor, true) => grants.question(&entry.frame),
            (Lane::Editor, false) => grants.answer(&entry.frame),
            (Lane::Host(_), false) => grants.offers(&entry.frame),
            (Lane::Host(_), true) if !grants.stands_behind(&entry.frame) => found.push(index),
            (Lane::Host(_), true) => {}
        }
    }
    found
}

impl Grants {
    fn question(&mut self, frame: &Value) {
        let params = &frame["params"];
        let key = match frame["method"].as_str() {
            Some("session/request_permission") => &params["_meta"]["museApprovalId"],
            Some("elicitation/create") => &params["_meta"]["museUserInputId"],
            Some("$/cancel_request") => {
                self.asked.remove(&params["requestId"].to_string());
                return;
            }
            _ => return,
        };
        self.asked.insert(frame["id"].to_string(), key.to_string());
    }

    fn answer(&mut self, frame: &Value) {
        if frame.get("method").is_some() {
            return;
        }
        if let Some(about) = self.asked.remove(&frame["id"].to_string()) {
            self.answered.entry(about).or_default().push(frame["result"].clone());
        }
    }

    /// Every list of choices, wherever the host tells of it: an event, a request, a page, a list.
    fn offers(&mut self, frame: &Value) {
        match frame {
            Value::Array(list) => list.iter().for_each(|value| self.offers(value)),
            Value::Object(members) => {
                let about = members.get("approvalId").map(Value::to_string).unwrap_or_default();
                let choices = members.get("availableChoices").and_then(Value::as_array);
                for choice in choices.into_iter().flatten() {
                    if choice["decision"].as_str().is_some_and(|word| DENIALS.contains(&word)) {
                        self.denials.insert((about.clone(), choice["choiceId"].to_string()));
                    }
                }
                members.values().for_each(|value| self.offers(value));
            }
            _ => {}
        }
    }

    fn stands_behind(&mut self, frame: &Value) -> bool {
        let params = &frame["params"];
        let (about, choice) = match frame["method"].as_str() {
            Some("approval/decide") => (params["approvalId"].to_string(), &params["choiceId"]),
            Some("userInput/answer") => (params["userInputId"].to_string(), &Value::Null),
            _ => return true,
        };
        let answers = self.answered.entry(about.clone()).or_default();
        let fits = |answer: &Value| match choice {
            Value::Null => answer["action"] == "accept",
            choice => answer["outcome"]["optionId"] == *choice,
        };
        // The oldest that fits; else a denial takes the oldest there is.
        let at = answers.iter().position(fits).or_else(|| {
            let denial = self.denials.contains(&(about, choice.to_string()));
            (denial && !answers.is_empty()).then_some(0)
        });
        at.map(|at| answers.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::transcript::Entry;
    use serde_json::json;
    use std::time::Duration;

    /// `>` to the adapter, `<` from it; `e` editor, `h` host.
    fn found(lines: &[(&str, Value)]) -> usize {
        let entries = lines.iter().map(|(mark, frame)| Entry {
            at: Duration::ZERO,
            lane: if mark.starts_with('e') { Lane::Editor } else { Lane::Host(0) },
            from_adapter: mark.ends_with('<'),
            frame: frame.clone(),
            lie: false,
            line: None,
        });
        unasked(&Transcript { entries: entries.collect(), marks: Vec::new() }).len()
    }

    fn offer() -> (&'static str, Value) {
        let choices = json!([{ "choiceId": "yes", "decision": "approved" },
                             { "choiceId": "no", "decision": "denied" }]);
        (
            "h>",
            json!({ "method": "approval/requested",
                       "params": { "approvalId": "a", "availableChoices": choices } }),
        )
    }

    fn ask() -> (&'static str, Value) {
        (
            "e<",
            json!({ "id": 1, "method": "session/request_permission",
                       "params": { "_meta": { "museApprovalId": "a" } } }),
        )
    }

    fn say(outcome: Value) -> (&'static str, Value) {
        ("e>", json!({ "id": 1, "result": { "outcome": outcome } }))
    }

    fn decide(choice: &str) -> (&'static str, Value) {
        (
            "h<",
            json!({ "id": 9, "method": "approval/decide",
                       "params": { "approvalId": "a", "choiceId": choice } }),
        )
    }

    #[test]
    fn what_the_person_chose_and_a_denial_for_no_choice_are_right() {
        let yes = || say(json!({ "outcome": "selected", "optionId": "yes" }));
        assert_eq!(found(&[offer(), ask(), yes(), decide("yes")]), 0);
        let dismissed = say(json!({ "outcome": "cancelled" }));
        assert_eq!(found(&[offer(), ask(), dismissed, decide("no")]), 0);
    }

    #[test]
    fn what_nobody_chose_is_found() {
        let no = || say(json!({ "outcome": "selected", "optionId": "no" }));
        let dismissed = || say(json!({ "outcome": "cancelled" }));
        let back = ("e<", json!({ "method": "$/cancel_request", "params": { "requestId": 1 } }));
        let cases: [&[_]; 6] = [
            &[offer(), decide("yes")],
            &[offer(), decide("no")],
            &[offer(), ask(), decide("yes")],
            &[offer(), ask(), dismissed(), decide("yes")],
            &[offer(), ask(), no(), decide("no"), decide("no")],
            &[offer(), ask(), back, no(), decide("no")],
        ];
        for lines in cases {
            assert_eq!(found(lines), 1, "{lines:?}");
        }
        let answer = json!({ "id": 2, "method": "userInput/answer",
                             "params": { "userInputId": "u", "answers": [] } });
        assert_eq!(found(&[("h<", answer)]), 1);
    }
}
