//! Checks of client commands against the model.
//!
//! Purpose: what only somebody who knows the session can see: ids that were never issued, choices
//! that are not offered, a second turn. Invariants: read-only; a finding that frames crossing on
//! the wire can explain is marked `race`. Rules: APR-4, APR-8, TRN-5, CUR-7, ENV-7.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{Finding, targets};
use crate::engine::{Session, TurnRef, check_answers};
use crate::profiles::Profile;

/// Findings for one well-shaped command.
pub(crate) fn judge(
    sessions: &IndexMap<String, Session>,
    method: &str,
    params: &Map<String, Value>,
) -> Vec<Finding> {
    let text = |name: &str| params.get(name).and_then(Value::as_str);
    let Some(session_id) = text("sessionId").filter(|_| method != "session/start") else {
        return Vec::new();
    };
    let Some(session) = sessions.get(session_id) else {
        // Asking whether a session exists is no mistake: a client may know the id from elsewhere, and
        // the answer is -32020 (SES-2).
        if matches!(method, "session/resume" | "session/read" | "session/fork") {
            return Vec::new();
        }
        return vec![finding("sessionId", "ENV-7", "session was never issued here")];
    };
    let mut out = Vec::new();
    if !session.loaded && needs_loaded(method) {
        // The host may have unloaded it by itself while the command was on its way (SES-9).
        out.push(finding("sessionId", "CMD-10", "session is not loaded").race());
        return out;
    }
    match method {
        "turn/start" => {
            let busy = session.log.view().active.is_some() || !session.waiting.is_empty();
            if busy && text("ifBusy").is_none() {
                out.push(finding("", "TRN-3", "second turn/start while a turn runs"));
            }
        }
        "turn/steer" => out.extend(turn_known(session, "expectedTurnId", text("expectedTurnId"))),
        "turn/cancel" | "turn/interrupt" | "turn/unqueue" => {
            out.extend(turn_known(session, "turnId", text("turnId")));
        }
        "approval/decide" => out.extend(decision(session, params)),
        "view/page" | "session/resume" => out.extend(cursor(session, "cursor", text("cursor"))),
        "view/subscribe" => out.extend(cursor(session, "after", text("after"))),
        _ if method.starts_with("userInput/") => {
            out.extend(prompt(session, method, params));
        }
        _ => out.extend(targets::judge(session, method, params)),
    }
    out
}

/// Reads, and what loads or only copies, work on stored sessions; everything else on loaded ones.
fn needs_loaded(method: &str) -> bool {
    const STORED: &[&str] = &[
        "session/resume",
        "session/read",
        "session/fork",
        "session/list",
        "model/list",
        "approval/listPending",
        "item/readOutput",
        "view/page",
        "view/unsubscribe",
    ];
    !STORED.contains(&method)
}

pub(super) fn finding(path: &str, rule: &'static str, text: &str) -> Finding {
    Finding::noted(path.to_owned(), rule, text)
}

fn cursor(session: &Session, name: &str, cursor: Option<&str>) -> Option<Finding> {
    let known = cursor.is_none_or(|cursor| session.log.position(cursor).is_some());
    (!known).then(|| finding(name, "CUR-7", "cursor was never issued"))
}

fn turn_known(session: &Session, name: &str, turn_id: Option<&str>) -> Option<Finding> {
    let turn_id = turn_id?;
    let is_it = |turn: &TurnRef| turn.turn_id == turn_id;
    let view = session.log.view();
    if view.active.as_ref().is_some_and(is_it)
        || session.waiting.iter().any(|admitted| is_it(&admitted.turn))
    {
        return None;
    }
    if view.ended.contains(turn_id) {
        return Some(finding(name, "TRN-5", "turn has ended").race());
    }
    Some(finding(name, "ENV-7", "turn was never issued"))
}

fn decision(session: &Session, params: &Map<String, Value>) -> Option<Finding> {
    let id = params["approvalId"].as_str().unwrap_or_default();
    let Some(approval) = session.log.view().approvals.get(id) else {
        return Some(finding("approvalId", "ENV-7", "approval was never issued"));
    };
    if approval.resolution.is_some() {
        return Some(finding("approvalId", "HOST-12", "approval is resolved").race());
    }
    if params["requirementId"]["approvalId"] != id {
        return Some(finding("requirementId", "APR-8", "requirement of another approval"));
    }
    if params["requirementId"] != *approval.get("currentRequirementId") {
        return Some(finding("requirementId", "APR-8", "requirement is not current").race());
    }
    let mut choices = approval.get("availableChoices").as_array().into_iter().flatten();
    match choices.find(|choice| choice["choiceId"] == params["choiceId"]) {
        None => Some(finding("choiceId", "APR-4", "choice is not offered")),
        Some(choice) => {
            let feedback = params.get("feedback").is_some_and(|feedback| !feedback.is_null());
            (feedback && choice["acceptsFeedback"] != true)
                .then(|| finding("feedback", "APR-8", "the choice takes no feedback"))
        }
    }
}

fn prompt(session: &Session, method: &str, params: &Map<String, Value>) -> Option<Finding> {
    let id = params.get("userInputId").and_then(Value::as_str).unwrap_or_default();
    let Some(prompt) = session.log.view().prompts.get(id) else {
        return Some(finding("userInputId", "ENV-7", "prompt was never issued"));
    };
    if prompt.settlement.is_some() {
        return Some(finding("userInputId", "HOST-12", "prompt is settled").race());
    }
    let wrong = (method == "userInput/answer").then(|| check_answers(prompt, &params["answers"]));
    wrong?.err().map(|text| finding("answers", "UIN-1", &text))
}

/// Commands that need a capability which the handshake did not grant (HSK-5). Members that the host
/// generation does not know are the business of the tables.
pub(crate) fn ungranted(
    profile: &Profile,
    granted: &[&str],
    method: &str,
    params: &Map<String, Value>,
) -> Option<Finding> {
    let (capability, path) = match method {
        "session/userShell" => ("userShell", ""),
        "turn/start" if profile.has("TurnStartParams", "userShell") => {
            params.get("userShell")?;
            ("userShell", "userShell")
        }
        "feedback/submit" => ("feedback", ""),
        _ if method.starts_with("computerUseSetup/") => ("computerUseSetup", ""),
        "session/start" | "session/resume" if profile.grantable.contains(&"sessionMcp") => {
            params.get("config").filter(|config| config.get("mcpServers").is_some())?;
            ("sessionMcp", "config.mcpServers")
        }
        _ => return None,
    };
    let text = format!("needs the {capability} capability, which was not granted");
    (!granted.contains(&capability)).then(|| finding(path, "HSK-5", &text))
}
