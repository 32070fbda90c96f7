//! E4: nothing is granted or answered that the person did not say (APR-20, PO-9, PO-46), or that the mode of
//! the turn does not say for them (APR-30..34).
//!
//! In: the transcript. Out: the frames to a host that no answer of the editor stands behind, by index. Each
//! answer stands behind one frame. A choice that the person did not make must be a denial by the words of
//! the host; a question that was taken back has no answer. In a turn of an automatic mode every decision is
//! once per stage and is for that request alone by the words of the host; questions stay the person's. The mode
//! is the last one that the editor had asked for and got. Lanes are told one after the other, so the answer
//! itself may stand behind the turn in a transcript.

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
    /// Requests of the editor with a good answer.
    good: BTreeSet<String>,
    /// The mode that was asked for last and given, by session.
    chosen: BTreeMap<String, String>,
    /// The mode of the turn that was submitted last, by session.
    turns: BTreeMap<String, String>,
    /// Choices for one request alone, by mode, approval and choice.
    once: BTreeSet<(&'static str, String, String)>,
    /// Stages that a mode has decided, by host.
    decided: BTreeSet<(usize, String)>,
}

/// Modes that decide, and which words of a host they may take.
const MODES: [(&str, &[&str]); 2] =
    [("bypassApprovals", &["approved"]), ("rejectApprovals", &["denied", "abort"])];

/// See the module.
pub(super) fn unasked(transcript: &Transcript) -> Vec<usize> {
    let answers = transcript.entries.iter().filter(|entry| entry.frame.get("result").is_some());
    let answers = answers.filter(|entry| entry.lane == Lane::Editor && entry.from_adapter);
    let good = answers.map(|entry| entry.frame["id"].to_string()).collect();
    let mut grants = Grants { good, ..Grants::default() };
    let mut found = Vec::new();
    for (index, entry) in transcript.entries.iter().enumerate() {
        match (entry.lane, entry.from_adapter) {
            (Lane::Editor, true) => grants.question(&entry.frame),
            (Lane::Editor, false) => grants.answer(&entry.frame),
            (Lane::Host(_), false) => grants.offers(&entry.frame),
            (Lane::Host(host), true) => {
                if !grants.stands_behind(host, &entry.frame) {
                    found.push(index);
                }
            }
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
        let params = &frame["params"];
        let mode = match frame["method"].as_str() {
            Some("session/set_mode") => &params["modeId"],
            Some("session/set_config_option") if params["configId"] == "mode" => &params["value"],
            Some(_) => return,
            None => &Value::Null,
        };
        if let (Some(mode), true) = (mode.as_str(), self.good.contains(&frame["id"].to_string())) {
            self.chosen.insert(params["sessionId"].to_string(), mode.to_owned());
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
                    for (mode, words) in MODES {
                        let fits =
                            choice["decision"].as_str().is_some_and(|it| words.contains(&it));
                        if fits && choice["scope"] == "once" {
                            let id = choice["choiceId"].to_string();
                            self.once.insert((mode, about.clone(), id));
                        }
                    }
                }
                members.values().for_each(|value| self.offers(value));
            }
            _ => {}
        }
    }

    fn stands_behind(&mut self, host: usize, frame: &Value) -> bool {
        let params = &frame["params"];
        let session = params["sessionId"].to_string();
        if frame["method"] == "turn/start" {
            let mode = self.chosen.get(&session).cloned().unwrap_or_default();
            self.turns.insert(session, mode);
            return true;
        }
        let mode = self.turns.get(&session).map_or("", String::as_str);
        if frame["method"] == "approval/decide"
            && let Some((mode, _)) = MODES.into_iter().find(|(name, _)| *name == mode)
        {
            let choice = params["choiceId"].to_string();
            let once = self.once.contains(&(mode, params["approvalId"].to_string(), choice));
            return once && self.decided.insert((host, params["requirementId"].to_string()));
        }
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

    /// A turn, and a mode that was asked for before or while it runs, or was not given.
    fn turn(mode: &str, late: bool, given: bool) -> Vec<(&'static str, Value)> {
        let set = json!({ "id": 4, "method": "session/set_mode",
                          "params": { "sessionId": "s", "modeId": mode } });
        let start =
            ("h<", json!({ "id": 5, "method": "turn/start", "params": { "sessionId": "s" } }));
        let answer =
            if given { json!({ "id": 4, "result": {} }) } else { json!({ "id": 4, "error": {} }) };
        let (set, answer) = (("e>", set), ("e<", answer));
        if late { vec![start, set, answer] } else { vec![set, start, answer] }
    }

    fn automatic(choice: &str, stage: u32) -> (&'static str, Value) {
        let requirement = json!({ "approvalId": "a", "sourceIndex": stage });
        (
            "h<",
            json!({ "id": 9, "method": "approval/decide",
                       "params": { "sessionId": "s", "approvalId": "a", "choiceId": choice,
                                   "requirementId": requirement } }),
        )
    }

    #[test]
    fn a_mode_decides_once_and_for_one_request_alone() {
        let choice = |id: &str, word: &str, scope: &str| json!({ "choiceId": id, "decision": word, "scope": scope });
        let choices = [
            choice("yes", "approved", "once"),
            choice("always", "approved", "session"),
            choice("no", "denied", "once"),
        ];
        let offer = (
            "h>",
            json!({ "method": "approval/requested",
            "params": { "approvalId": "a", "availableChoices": choices } }),
        );
        for (mode, late, given, decisions, expected) in [
            ("bypassApprovals", false, true, &[("yes", 0), ("yes", 2)][..], 0),
            ("bypassApprovals", false, false, &[("yes", 0)], 1),
            ("bypassApprovals", false, true, &[("yes", 0), ("yes", 0)], 1),
            ("bypassApprovals", false, true, &[("always", 0)], 1),
            ("bypassApprovals", false, true, &[("no", 0)], 1),
            ("bypassApprovals", true, true, &[("yes", 0)], 1),
            ("rejectApprovals", false, true, &[("no", 0)], 0),
            ("rejectApprovals", false, true, &[("yes", 0)], 1),
            ("readOnly", false, true, &[("yes", 0)], 1),
        ] {
            let mut lines = turn(mode, late, given);
            lines.push(offer.clone());
            lines.extend(decisions.iter().map(|(choice, stage)| automatic(choice, *stage)));
            assert_eq!(found(&lines), expected, "{mode} {late} {decisions:?}");
        }
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
