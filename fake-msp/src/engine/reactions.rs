//! How a plan goes on after an answer, a rejection or a stop.
//!
//! Rules: APR-10, UIN-4, UIN-6.

use serde_json::{Value, json};

use super::Host;
use super::fold::text;
use super::plan::Step;
use super::repertoire::{done, pretended_run, rejection, speech};

impl Host {
    /// The last stage was allowed: pretend to run.
    pub(super) fn plan_approved(&mut self, session: &str, for_session: bool) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let Some(plan) = &mut target.plan else { return };
        if for_session {
            let args = plan.open.as_ref().and_then(|open| open.item["args"].as_str());
            let args = args.and_then(|args| serde_json::from_str::<Value>(args).ok());
            let command = args.and_then(|args| args["command"].as_str().map(str::to_owned));
            target.allowed.extend(command);
        }
        if matches!(plan.steps.front(), Some(Step::Again { .. })) {
            plan.steps.push_front(done());
        } else {
            plan.steps = pretended_run().into();
        }
        plan.due = Some(self.now);
    }

    /// A stage was rejected: the item ends rejected and the turn goes on (APR-10).
    pub(super) fn plan_rejected(&mut self, session: &str, feedback: Option<&str>) {
        let heard = if feedback.is_some() { " I read your feedback." } else { "" };
        let said = format!("You rejected the command, so nothing happened.{heard}");
        self.go_on(session, rejection("rejected by the user", &said));
    }

    /// The open tool was stopped by command: it ends cancelled and the turn goes on.
    pub(super) fn plan_stopped(&mut self, session: &str) {
        let set = json!({ "failureReason": "stopped by the client" });
        let mut steps = vec![Step::Close { status: "cancelled", set }];
        steps.extend(speech("The task was stopped, so I went on without it."));
        self.go_on(session, steps);
    }

    /// The question was settled (UIN-6).
    pub(super) fn plan_settled(&mut self, session: &str, outcome: &str, details: &Value) {
        let reason = details["reason"].as_str().unwrap_or("declined");
        let (status, output, failure) = match outcome {
            "answered" => ("completed", answer_text(details), None),
            "clarified" => {
                ("completed", text(&details["clarification"], "content").unwrap_or_default(), None)
            }
            "timedOut" => ("timedOut", String::new(), Some("nobody answered in time".to_owned())),
            _ => ("cancelled", format!("declined: {reason}"), Some(reason.to_owned())),
        };
        let mut set = json!({});
        if let Some(failure) = failure {
            set["failureReason"] = failure.into();
        }
        let mut steps = Vec::new();
        if !output.is_empty() {
            steps.push(Step::Delta { part: 0, text: format!("{output}\n") });
        }
        steps.push(Step::Close { status, set });
        steps.extend(speech(&format!("The question was {outcome}. Thank you.")));
        self.go_on(session, steps);
    }

    /// The plan goes on with these steps at once.
    pub(super) fn go_on(&mut self, session: &str, steps: Vec<Step>) {
        let now = self.now;
        let plan = self.sessions.get_mut(session).and_then(|target| target.plan.as_mut());
        let Some(plan) = plan else { return };
        plan.steps = steps.into();
        plan.due = Some(now);
    }
}

/// Answers for a tool card, one line each.
pub(super) fn answer_text(details: &Value) -> String {
    let answers = details["answers"].as_array().into_iter().flatten();
    let lines: Vec<String> = answers
        .map(|answer| match (&answer["selectedLabel"], &answer["selectedLabels"]) {
            (Value::String(label), _) => label.clone(),
            (_, Value::Array(labels)) => {
                labels.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            _ => text(answer, "freeText").unwrap_or_default(),
        })
        .collect();
    lines.join("\n")
}
