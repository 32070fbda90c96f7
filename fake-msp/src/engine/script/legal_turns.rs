//! What an honest host could say of its turns and new items now.
//!
//! Invariants as in the sibling `legal`. Rules: TRN-6, TRN-12, STA-2, UIN-1, ITM-6, HOST-18.

use serde_json::Value;

use super::super::Session;
use super::super::fold::text;
use super::Illegal;
use crate::profiles::{ITEM_KINDS, Profile};

/// Kinds that may come after the turn that they name (TRN-12).
const LATE_KINDS: &[&str] = &["subagent", "workflow", "reminderChild", "compaction"];

type Verdict = Result<(), Illegal>;

pub(super) fn unqueued(target: &Session, params: &Value) -> Verdict {
    let turn = text(params, "turnId");
    let waits = target.waiting.iter().any(|waiting| Some(&waiting.turn.turn_id) == turn.as_ref());
    // The answer to `turn/unqueue` comes before the event.
    let owed = target.taken_back.iter().any(|taken| Some(&taken.turn_id) == turn.as_ref());
    match waits || owed {
        true => Ok(()),
        false => Err(Illegal::new("TRN-6", "only a turn that waits can be taken back")),
    }
}

pub(super) fn retracted(target: &Session, params: &Value) -> Verdict {
    let view = target.log.view();
    let turn = text(params, "turnId").unwrap_or_default();
    let active = view.active.as_ref().is_some_and(|active| active.turn_id == turn);
    match active || view.ended.contains(&turn) {
        true => Ok(()),
        false => Err(Illegal::new("ENV-7", "the turn was never started")),
    }
}

/// A progress notice belongs to the running turn.
pub(super) fn progress(target: &Session, params: &Value) -> Verdict {
    let active = target.log.view().active.as_ref().map(|turn| turn.turn_id.as_str());
    match params["turnId"].as_str() == active && active.is_some() {
        true => Ok(()),
        false => Err(Illegal::new("TRN-12", "the turn is not running")),
    }
}

/// Cumulative counts never go backwards.
pub(super) fn token_usage(target: &Session, params: &Value) -> Verdict {
    let known = &target.log.view().tokens;
    let fell = ["promptTokens", "outputTokens", "totalTokens"].iter().any(|name| {
        params["cumulative"][name].as_u64().unwrap_or(u64::MAX) < known[name].as_u64().unwrap_or(0)
    });
    match fell {
        true => Err(Illegal::new("STA-2", "cumulative counts never go backwards")),
        false => Ok(()),
    }
}

/// Members of an event that the emulated generation has; as for items, unknown names pass.
pub(super) fn members_of_the_era(profile: &Profile, method: &str, said: &Value) -> Verdict {
    let owner = match method {
        "approval/requested" | "approval/request" | "approval/reviewing" => "ApprovalRequestParams",
        "approval/updated" => "ApprovalUpdatedParams",
        "approval/resolved" => "ApprovalResolvedParams",
        "userInput/settled" => "UserInputSettledParams",
        "session/nameChanged" => "SessionNameChangedParams",
        "turn/retracted" => "TurnRetractedParams",
        "turn/retryScheduled" => "TurnRetryScheduledParams",
        _ => return Ok(()),
    };
    let mut names = said.as_object().into_iter().flatten().map(|(name, _)| name);
    match names.find(|name| !profile.has(owner, name)) {
        Some(name) => {
            let text = format!("`{method}` has no `{name}` on host {}", profile.version);
            Err(Illegal::new("HOST-18", text))
        }
        None => Ok(()),
    }
}

/// Kinds and members that the emulated generation has. Words outside of the tables belong to a later
/// host and are let through: clients must live with them (TOL-1, TOL-8).
pub(super) fn item_of_the_era(profile: &Profile, experimental: bool, said: &Value) -> Verdict {
    let item = &said["item"];
    let kind = ITEM_KINDS.iter().find(|row| item["kind"] == row.name);
    if let Some(row) = kind.filter(|row| row.since > profile.era) {
        let text = format!("items of kind `{}` do not exist on host {}", row.name, profile.version);
        return Err(Illegal::new("HOST-18", text));
    }
    if kind.is_some_and(|row| row.experimental && !experimental) {
        return Err(Illegal::new("HSK-7", "the kind needs the experimental opt-in"));
    }
    let mut names = item.as_object().into_iter().flatten().map(|(name, _)| name);
    match names.find(|name| !profile.has("Item", name)) {
        Some(name) => {
            let text = format!("items have no `{name}` on host {}", profile.version);
            Err(Illegal::new("HOST-18", text))
        }
        None => Ok(()),
    }
}

/// An item that nobody has seen yet.
pub(super) fn new_item(target: &Session, item: &Value) -> Verdict {
    let kind = item["kind"].as_str().unwrap_or_default();
    let row = ITEM_KINDS.iter().find(|row| row.name == kind);
    let Some(turn) = item["turnId"].as_str() else {
        return match row.is_some_and(|row| !row.turnless) {
            true => Err(Illegal::new("TRN-12", "no turn is running that it could belong to")),
            false => Ok(()),
        };
    };
    let over = target.log.view().ended.contains(turn);
    let late = LATE_KINDS.contains(&kind) || item["background"] == true || row.is_none();
    match over && !late {
        true => Err(Illegal::new("TRN-12", "its turn has ended, and it is no background work")),
        false => Ok(()),
    }
}

/// The bounds of a prompt (section 12).
pub(super) fn questions(params: &Value) -> Verdict {
    let bad = |text: &str| Err(Illegal::new("UIN-1", text));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let long =
        |value: &Value, max: usize| value.as_str().is_some_and(|text| text.chars().count() > max);
    let questions = list(&params["questions"]);
    if !(1..=3).contains(&questions.len()) {
        return bad("a prompt has one to three questions");
    }
    for (index, question) in questions.iter().enumerate() {
        if long(&question["id"], 64) || long(&question["header"], 12) {
            return bad("an id has at most 64 characters, a header 12");
        }
        if questions[..index].iter().any(|other| other["id"] == question["id"]) {
            return bad("question ids are unique in a prompt");
        }
        let options = list(&question["options"]);
        if !(2..=3).contains(&options.len()) {
            return bad("a question has two or three options");
        }
        for (index, option) in options.iter().enumerate() {
            if options[..index].iter().any(|other| other["label"] == option["label"]) {
                return bad("labels are unique in a question");
            }
            let preview = &option["preview"];
            if long(&option["label"], 80)
                || long(&option["description"], 240)
                || long(&preview["content"], 2000)
            {
                return bad("a label has at most 80 characters, a description 240, a preview 2000");
            }
            if preview.is_object() && question["selection"]["mode"] == "multiple" {
                return bad("previews belong to questions with one answer");
            }
        }
    }
    Ok(())
}
