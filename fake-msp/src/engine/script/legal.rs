//! What an honest host could send now.
//!
//! Purpose: refuse script acts that would teach a client something false by accident. Inputs: the
//! complete params and the folded state. Invariants: read-only. Rules: HOST-7, HOST-10..12,
//! HOST-18, HSK-5, HSK-7, TRN-3, TRN-11, ITM-2, ITM-10, APR-12, CUR-9, SES-9, SES-10; turns and items
//! go on in the sibling `legal_turns`.

use serde_json::Value;

use super::super::fold::{is_open, text};
use super::super::{Host, Session};
use super::{Illegal, legal_turns};
use crate::profiles::PROTECTED;

/// The rule behind a refusal of the model.
pub(super) fn rule_of(method: &str, code: i64) -> &'static str {
    match code {
        -32053 | -32052 | -32050 | -32055 | -32057 => "HOST-13",
        -32051 | -32056 => "HOST-12",
        -32020 | -32024 => "CMD-10",
        -32011 | -32040 | -32042 => "CUR-7",
        -32010 => "HSK-5",
        -32030 if method.starts_with("turn/") => "TRN-5",
        -32041 => "ITM-13",
        -32601 => "HOST-18",
        -32602 => "HOST-5",
        _ => "ERR-1",
    }
}

impl Host {
    pub(super) fn check_legal(
        &self,
        session: &str,
        method: &str,
        said: &Value,
        params: &Value,
    ) -> Result<(), Illegal> {
        let request = matches!(method, "approval/request" | "userInput/request");
        let row = self.profile.notification(method);
        if !request && row.is_none() {
            let text = format!("`{method}` does not exist on host {}", self.profile.version);
            return Err(Illegal::new("HOST-18", text));
        }
        if row.is_some_and(|row| row.experimental) && !self.connection.experimental {
            let text = format!("`{method}` needs the experimental opt-in");
            return Err(Illegal::new("HSK-7", text));
        }
        let target = self
            .sessions
            .get(session)
            .ok_or_else(|| Illegal::new("ENV-7", "the session was never started"))?;
        for name in ["viewCursor", "sourceRange"] {
            if !said[name].is_null() {
                return Err(Illegal::new("HOST-7", format!("`{name}` is the model's to mint")));
            }
        }
        legal_turns::members_of_the_era(self.profile, method, said)?;
        match method {
            "turn/started" => turn_started(target, params),
            "turn/completed" => turn_completed(target, params),
            "turn/unqueued" => legal_turns::unqueued(target, params),
            "turn/retracted" => legal_turns::retracted(target, params),
            "turn/retryScheduled" | "turn/modelRetryScheduled" | "turn/foregroundCompleted" => {
                legal_turns::progress(target, params)
            }
            "session/tokenUsage" => legal_turns::token_usage(target, params),
            "item/started" | "item/updated" | "item/completed" => {
                legal_turns::item_of_the_era(self.profile, self.connection.experimental, said)?;
                item(target, method, params)
            }
            "item/delta" => delta(target, params),
            "approval/requested" | "userInput/requested" => {
                if method == "userInput/requested" {
                    legal_turns::questions(params)?;
                }
                let known = params["itemId"].is_string() && params["turnId"].is_string();
                known.then_some(()).ok_or_else(|| {
                    Illegal::new("APR-1", "there is no open tool item that it could be about")
                })
            }
            "approval/request" => pending_approval(target, params).map(|_| ()),
            "approval/updated" => approval_updated(target, params),
            "approval/resolved" => match approval(target, params) {
                Some(known) if known.resolution.is_some() => {
                    Err(Illegal::new("HOST-12", "the approval is resolved already"))
                }
                _ => Ok(()),
            },
            "userInput/settled" => {
                let id = text(params, "userInputId").unwrap_or_default();
                let prompt = target.log.view().prompts.get(&id);
                match prompt.is_some_and(|prompt| prompt.settlement.is_some()) {
                    true => Err(Illegal::new("HOST-12", "the prompt is settled already")),
                    false => Ok(()),
                }
            }
            "view/gap" => gap(target, params),
            "session/closed" => closed(target, params),
            "session/leaveCompleted" => {
                let command = text(params, "commandId");
                match target.leaving.iter().any(|leaving| Some(leaving) == command.as_ref()) {
                    true => Ok(()),
                    false => Err(Illegal::new("SES-10", "no such leave was admitted")),
                }
            }
            "session/listChanged" if !self.connection.granted.contains(&"sessionListStream") => {
                Err(Illegal::new("HSK-5", "the client was not granted `sessionListStream`"))
            }
            "session/nameChanged" | "session/modelChanged" => {
                let member = if method == "session/nameChanged" { "name" } else { "modelId" };
                match text(params, member).is_some_and(|text| !text.trim().is_empty()) {
                    true => Ok(()),
                    false => Err(Illegal::new("STA-1", format!("`{member}` is a text"))),
                }
            }
            _ => Ok(()),
        }
    }

    pub(super) fn check_losable(&self, method: &str) -> Result<(), Illegal> {
        match PROTECTED.contains(&method) || method.ends_with("/request") {
            true => Err(Illegal::new("HOST-10", format!("`{method}` is never dropped"))),
            false => Ok(()),
        }
    }
}

/// Work and open questions keep a session from going idle (SES-9).
fn closed(target: &Session, params: &Value) -> Result<(), Illegal> {
    let view = target.log.view();
    let parked =
        view.pending_approvals().next().is_some() || view.pending_prompts().next().is_some();
    let busy = view.active.is_some() || !target.waiting.is_empty() || parked;
    match (target.loaded, params["reason"] == "idle" && busy) {
        (false, _) => Err(Illegal::new("SES-9", "the session is not loaded")),
        (true, true) => Err(Illegal::new("SES-9", "a session with work is not idle")),
        (true, false) => Ok(()),
    }
}

fn turn_started(target: &Session, params: &Value) -> Result<(), Illegal> {
    if target.log.view().active.is_some() {
        return Err(Illegal::new("TRN-3", "a turn is running"));
    }
    let turn_id = text(params, "turnId");
    let admitted =
        target.waiting.iter().any(|waiting| Some(&waiting.turn.turn_id) == turn_id.as_ref());
    match admitted {
        true => Ok(()),
        false => Err(Illegal::new("TRN-11", "no turn was admitted that could start")),
    }
}

fn turn_completed(target: &Session, params: &Value) -> Result<(), Illegal> {
    let view = target.log.view();
    let Some(turn_id) = text(params, "turnId") else {
        return Err(Illegal::new("HOST-11", "no turn is running"));
    };
    if view.ended.contains(&turn_id) {
        return Err(Illegal::new("HOST-11", "the turn has its terminal already"));
    }
    let waiting = target.waiting.iter().any(|waiting| waiting.turn.turn_id == turn_id);
    let active = view.active.as_ref().is_some_and(|active| active.turn_id == turn_id);
    if waiting && params["error"]["kind"] != "launchError" {
        return Err(Illegal::new("TRN-9", "a turn that never started ends with launchError"));
    }
    if !waiting && !active {
        return Err(Illegal::new("HOST-11", "the turn was never launched"));
    }
    let open = view.open_items(&turn_id);
    match open.iter().find(|item| item["background"] != true) {
        Some(item) => {
            let text = format!("a {} item is still open", item["kind"]);
            Err(Illegal::new("HOST-11", text))
        }
        None => Ok(()),
    }
}

fn item(target: &Session, method: &str, params: &Value) -> Result<(), Illegal> {
    let item = &params["item"];
    let known = item["itemId"].as_str().and_then(|id| target.log.view().items.get(id));
    if method == "item/updated" && !is_open(item) {
        return Err(Illegal::new("ITM-4", "a terminal status comes with item/completed"));
    }
    if method == "item/completed" && is_open(item) {
        return Err(Illegal::new("ITM-4", "a completed item is not inProgress"));
    }
    let Some(known) = known else {
        return legal_turns::new_item(target, item);
    };
    if method == "item/started" {
        return Err(Illegal::new("HOST-11", "the item was started before"));
    }
    if !is_open(known) {
        return Err(Illegal::new("HOST-11", "the item has its terminal already"));
    }
    match item["revision"].as_u64() > known["revision"].as_u64() {
        true => Ok(()),
        false => Err(Illegal::new("ITM-2", "revisions grow strictly")),
    }
}

fn delta(target: &Session, params: &Value) -> Result<(), Illegal> {
    let known = params["itemId"].as_str().and_then(|id| target.log.view().items.get(id));
    match known {
        None => Err(Illegal::new("ITM-10", "no such item is open")),
        Some(item) if !is_open(item) => {
            Err(Illegal::new("ITM-10", "the item has its terminal already"))
        }
        Some(_) => Ok(()),
    }
}

fn approval<'t>(target: &'t Session, params: &Value) -> Option<&'t super::super::fold::Approval> {
    target.log.view().approvals.get(params["approvalId"].as_str()?)
}

fn pending_approval<'t>(
    target: &'t Session,
    params: &Value,
) -> Result<&'t super::super::fold::Approval, Illegal> {
    match approval(target, params) {
        None => Err(Illegal::new("APR-1", "the approval was never requested")),
        Some(known) if known.resolution.is_some() => {
            Err(Illegal::new("HOST-12", "the approval is resolved already"))
        }
        Some(known) => Ok(known),
    }
}

fn approval_updated(target: &Session, params: &Value) -> Result<(), Illegal> {
    // Only the outcome of writing a rule may come after the resolution (APR-13).
    if params["change"]["kind"] == "policyPersistence" {
        return match approval(target, params) {
            Some(_) => Ok(()),
            None => Err(Illegal::new("APR-1", "the approval was never requested")),
        };
    }
    let known = pending_approval(target, params)?;
    let index = |value: &Value| value["sourceIndex"].as_u64();
    let (old, new) =
        (index(known.get("currentRequirementId")), index(&params["currentRequirementId"]));
    let restart = params["change"]["kind"] == "restartRecovered";
    match new < old && !restart {
        true => Err(Illegal::new("APR-12", "the current stage only moves forward")),
        false => Ok(()),
    }
}

fn gap(target: &Session, params: &Value) -> Result<(), Illegal> {
    let position = |name: &str| params[name].as_str().and_then(|text| target.log.position(text));
    let (Some(after), Some(next)) = (position("after"), position("next")) else {
        return Err(Illegal::new("CUR-9", "`after` and `next` are cursors that were issued"));
    };
    if after >= next {
        return Err(Illegal::new("CUR-9", "`after` comes before `next`"));
    }
    let dropped = target.log.between(after, next);
    match dropped.into_iter().find(|method| PROTECTED.contains(method)) {
        Some(method) => Err(Illegal::new("HOST-10", format!("`{method}` is never dropped"))),
        None => Ok(()),
    }
}
