//! User input: opening a prompt and settling it.
//!
//! Invariants: the first settlement wins (HOST-12); a wrong answer leaves the prompt open (UIN-2).
//! Rules: UIN-1..7.

use serde_json::{Map, Value, json};

use super::fold::Prompt;
use super::ids::rfc3339;
use super::reactions::answer_text;
use super::sessions::str_of;
use super::{After, Host, Refusal, Reply};
use crate::profiles::trim;

/// Longest free text, note and clarification, in characters (UIN-1).
const TEXT_CHARS_MAX: usize = 500;

/// An admitted `userInput/answer`, `cancel`, `clarify` or `interrupt`.
#[derive(Clone, Debug)]
pub(crate) struct Settlement {
    pub(crate) input_id: String,
    pub(crate) command_id: String,
    pub(crate) outcome: &'static str,
    /// `answers`, `clarification` and `reason` as the client gave them.
    pub(crate) details: Value,
}

impl Host {
    pub(super) fn user_input_settle(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let id = str_of(params, "userInputId").unwrap_or_default();
        let Some(prompt) = session.log.view().prompts.get(id) else {
            return Err(Refusal::new(-32055, "no such prompt").with("userInputId", id));
        };
        if let Some(settlement) = &prompt.settlement {
            let summary = json!({
                "outcome": settlement["outcome"], "viewCursor": settlement["viewCursor"],
            });
            let refusal = Refusal::new(-32056, "prompt is settled").with("userInputId", id);
            return Err(refusal.with("settlement", summary));
        }
        let outcome = match method {
            "userInput/answer" => {
                check_answers(prompt, &params["answers"])
                    .map_err(|text| Refusal::new(-32057, text).with("userInputId", id))?;
                "answered"
            }
            "userInput/clarify" => {
                check_clarification(&params["clarification"])
                    .map_err(|text| Refusal::new(-32057, text).with("userInputId", id))?;
                "clarified"
            }
            "userInput/interrupt" => {
                // Confirmed answers are kept; which of them is up to the client.
                check_partial(prompt, &params.get("answers").cloned().unwrap_or(json!([])))
                    .map_err(|text| Refusal::new(-32057, text).with("userInputId", id))?;
                "interrupted"
            }
            _ => "cancelled",
        };
        let command_id = str_of(params, "commandId").unwrap_or_default().to_owned();
        let settlement = Settlement {
            input_id: id.to_owned(),
            command_id: command_id.clone(),
            outcome,
            details: Value::Object(params.clone()),
        };
        session.settlements.insert(id.to_owned(), settlement.clone());
        let ack = json!({ "commandId": command_id, "status": "accepted", "userInputId": id });
        after.push(After::Settled { session: session.log.session_id.clone(), settlement });
        Ok(ack)
    }

    /// Opens a prompt: view event, then the request.
    pub(super) fn open_prompt(&mut self, session: &str, params: Value) -> Value {
        let params = self.event(session, "userInput/requested", params);
        self.ask_client("userInput/request", &params);
        self.start_countdown(session, &params);
        params
    }

    /// Somebody looks at the prompt (UIN-3).
    pub(super) fn on_engaged(&mut self, params: &Map<String, Value>) {
        let session = str_of(params, "sessionId").unwrap_or_default();
        self.stop_countdown(session, str_of(params, "userInputId").unwrap_or_default());
    }

    pub(super) fn on_settled(&mut self, session: &str, settlement: &Settlement) {
        let id = settlement.input_id.as_str();
        let turn = self.pending_prompt(session, id).and_then(|prompt| {
            prompt.params.get("turnId").and_then(Value::as_str).map(str::to_owned)
        });
        let command = Some(settlement.command_id.as_str());
        self.settle_prompt(session, id, settlement.outcome, &settlement.details, command);
        match (settlement.outcome, turn) {
            ("interrupted", Some(turn)) => {
                let plan = self.sessions.get_mut(session).and_then(|target| target.plan.as_mut());
                if let Some(open) = plan.and_then(|plan| plan.open.as_mut()) {
                    open.collect(0, &answer_text(&settlement.details));
                }
                self.cancel_turn(session, &turn, "interrupted by the client");
            }
            _ => self.plan_settled(session, settlement.outcome, &settlement.details),
        }
    }

    fn pending_prompt(&self, session: &str, id: &str) -> Option<Prompt> {
        let view = self.sessions.get(session)?.log.view();
        view.prompts.get(id).filter(|prompt| prompt.settlement.is_none()).cloned()
    }

    /// Settles a prompt, unless it is settled already.
    pub(super) fn settle_prompt(
        &mut self,
        session: &str,
        id: &str,
        outcome: &str,
        details: &Value,
        command_id: Option<&str>,
    ) {
        if self.pending_prompt(session, id).is_none() {
            return;
        }
        let params = self.settlement_params(id, outcome, details, command_id);
        self.event(session, "userInput/settled", params);
        self.stop_countdown(session, id);
    }

    /// Params of `userInput/settled` (UIN-4).
    pub(crate) fn settlement_params(
        &self,
        id: &str,
        outcome: &str,
        details: &Value,
        command_id: Option<&str>,
    ) -> Value {
        let answers = details.get("answers").filter(|answers| answers.is_array());
        let mut params = Map::new();
        let mut put = |name: &str, value: Value| params.insert(name.to_owned(), value);
        put("userInputId", id.into());
        put("outcome", outcome.into());
        put("answers", answers.cloned().unwrap_or_else(|| json!([])));
        put("clarification", details["clarification"].clone());
        put("reason", details["reason"].clone());
        put("decidedByCommandId", json!(command_id));
        put("decidedAt", rfc3339(self.now).into());
        trim(self.profile, "UserInputSettledParams", &mut params);
        Value::Object(params)
    }
}

/// Compares answers with the questions (UIN-1).
pub(crate) fn check_answers(prompt: &Prompt, answers: &Value) -> Result<(), String> {
    let questions = prompt.get("questions").as_array().map(Vec::as_slice).unwrap_or_default();
    let answers = answers.as_array().map(Vec::as_slice).unwrap_or_default();
    if answers.len() != questions.len() {
        return Err("one answer for each question".into());
    }
    for question in questions {
        let mut mine = answers.iter().filter(|answer| answer["questionId"] == question["id"]);
        let (Some(answer), None) = (mine.next(), mine.next()) else {
            return Err("one answer for each question".into());
        };
        check_answer(question, answer)?;
    }
    Ok(())
}

/// Any of the questions, each at most once.
fn check_partial(prompt: &Prompt, answers: &Value) -> Result<(), String> {
    let questions = prompt.get("questions").as_array().map(Vec::as_slice).unwrap_or_default();
    let answers = answers.as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, answer) in answers.iter().enumerate() {
        let again = answers[..index].iter().any(|old| old["questionId"] == answer["questionId"]);
        let question = questions.iter().find(|question| question["id"] == answer["questionId"]);
        match question {
            Some(question) if !again => check_answer(question, answer)?,
            _ => return Err("one answer for each question".into()),
        }
    }
    Ok(())
}

fn check_clarification(clarification: &Value) -> Result<(), String> {
    let text = clarification["content"].as_str().unwrap_or_default();
    if clarification["format"] != "text" || text.chars().count() > TEXT_CHARS_MAX {
        return Err("a clarification is a text of at most 500 characters".into());
    }
    Ok(())
}

fn check_answer(question: &Value, answer: &Value) -> Result<(), String> {
    let too_long = |name: &str| {
        answer[name].as_str().is_some_and(|text| text.chars().count() > TEXT_CHARS_MAX)
    };
    if too_long("freeText") || too_long("note") {
        return Err("free text and notes have at most 500 characters".into());
    }
    if answer.get("attachments").is_some() {
        return Err("attachments are reserved".into());
    }
    let options = question["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let offered = |label: &Value| options.iter().any(|option| option["label"] == *label);
    let multiple = question["selection"]["mode"] == "multiple";
    match (&answer["selectedLabel"], &answer["selectedLabels"], &answer["freeText"]) {
        (Value::Null, Value::Null, Value::String(_)) => Ok(()),
        (label @ Value::String(_), Value::Null, Value::Null) if !multiple => {
            offered(label).then_some(()).ok_or_else(|| "label is not offered".into())
        }
        (Value::Null, Value::Array(labels), Value::Null) if multiple => {
            let bound = |name: &str, default: usize| {
                question["selection"][name]
                    .as_u64()
                    .map_or(default, |bound| usize::try_from(bound).unwrap_or(usize::MAX))
            };
            let (low, high) = (bound("minSelections", 1), bound("maxSelections", options.len()));
            let distinct = labels.iter().enumerate().all(|(i, label)| !labels[..i].contains(label));
            if labels.len() < low || labels.len() > high || !distinct {
                return Err("number of labels is out of bounds or a label is repeated".into());
            }
            labels.iter().all(offered).then_some(()).ok_or_else(|| "label is not offered".into())
        }
        _ => Err("exactly one of selectedLabel, selectedLabels and freeText, by mode".into()),
    }
}
