//! The `history` envelope of resume, read and fork, read from the log.
//!
//! Purpose: choose the form of a history by preference and size. Invariants: a form that does not fit
//! the budget gives way to the next one of its chain, never to an earlier one; nothing is served that
//! the log does not fold to. Rules: CUR-4..7.

use serde_json::{Map, Value, json};

use super::fold::View;
use super::log::Boundary;
use super::{Host, Refusal, Session};
use crate::profiles::trim;

/// Members that may be large; an elided snapshot cuts them (CUR-5).
const PAYLOADS: &[&str] = &["text", "displayText", "visibleOutput", "args", "fallbackText"];
/// What is left of such a member, in characters.
const ELIDED_CHARS: usize = 256;

/// A way to serve a history, most wanted first in each chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Anchored,
    Inline,
    Snapshot,
    Elided,
}

/// The chain that a preference starts (CUR-5): a forced value only comes down.
fn chain(preference: &str) -> &'static [Form] {
    const CHAIN: &[Form] = &[Form::Anchored, Form::Inline, Form::Snapshot, Form::Elided];
    match preference {
        "inline" => &CHAIN[1..],
        "snapshot" => &CHAIN[2..],
        _ => CHAIN,
    }
}

impl Host {
    /// The `history` envelope and, for a suffix, the position after which events must follow.
    pub(super) fn history(
        &self,
        session: &Session,
        preference: &str,
        excluded: bool,
        cursor: Option<&str>,
    ) -> Result<(Value, Option<u64>), Refusal> {
        if let Some(cursor) = cursor {
            // The start of the view: as if there were no cursor (CUR-7).
            let position = served_position(session, cursor)?;
            if position != 0 {
                return Ok((none("cursorSuffix"), Some(position)));
            }
        }
        if excluded {
            return Ok((none("excluded"), None));
        }
        if !session.healthy {
            return Ok((none("projectionUnavailable"), None));
        }
        for form in chain(preference) {
            let history = self.served(session, *form);
            if let Some(history) = history
                && history.to_string().len() <= self.options.history_bytes
            {
                return Ok((history, None));
            }
        }
        Ok((none("historyBudget"), None))
    }

    fn served(&self, session: &Session, form: Form) -> Option<Value> {
        let view = session.log.view();
        let boundary = session.log.boundary().filter(|b| b.position >= session.log.earliest());
        let mut history = match form {
            Form::Anchored => {
                let snapshot = self.snapshot(session, Some(boundary?), false);
                json!({ "mode": "anchoredSnapshot", "items": null, "snapshot": snapshot })
            }
            Form::Inline => {
                let items: Vec<&Value> = view.items.values().collect();
                json!({ "mode": "inline", "items": items, "snapshot": null })
            }
            Form::Snapshot | Form::Elided => {
                let snapshot = self.snapshot(session, None, form == Form::Elided);
                json!({ "mode": "snapshot", "items": null, "snapshot": snapshot })
            }
        };
        if let (Form::Anchored, Some(history)) = (form, history.as_object_mut()) {
            let last = boundary.and_then(|b| view.items.get_index(b.first_item.checked_sub(1)?));
            if let Some((id, _)) = last {
                history.insert("checkpointBoundary".into(), json!({ "throughItemId": id }));
            }
            trim(self.profile, "SessionHistory", history);
        }
        Some(history)
    }

    fn snapshot(&self, session: &Session, anchor: Option<&Boundary>, elide: bool) -> Value {
        let view = session.log.view();
        let first = anchor.map_or(0, |boundary| boundary.first_item);
        let mut items: Vec<Value> = view
            .items
            .get_range(first..)
            .into_iter()
            .flat_map(|part| part.values())
            .cloned()
            .collect();
        if elide {
            items.iter_mut().for_each(cut_payloads);
        }
        let mut state = self.state(session, view);
        state.insert("items".into(), items.into());
        let mut snapshot = json!({
            "schemaVersion": 1, "viewCursor": session.log.head(), "state": state,
        });
        if let Some(boundary) = anchor {
            snapshot["anchor"] = json!({
                "boundaryCursor": session.log.cursor(boundary.position),
                "summarizedThrough": boundary.summarized_through,
            });
        }
        snapshot
    }

    /// A snapshot's state without its items.
    fn state(&self, session: &Session, view: &View) -> Map<String, Value> {
        let pointer = |id_name: &str, id: &str, params: &Map<String, Value>| json!({ id_name: id, "itemId": params.get("itemId"), "viewCursor": params.get("viewCursor") });
        let queued: Vec<Value> =
            session.waiting.iter().map(|admitted| admitted.turn.to_value()).collect();
        let approvals: Vec<Value> = view
            .pending_approvals()
            .map(|(id, approval)| pointer("approvalId", id, &approval.params))
            .collect();
        let prompts: Vec<Value> = view
            .pending_prompts()
            .map(|(id, prompt)| pointer("userInputId", id, &prompt.params))
            .collect();
        let mut state = Map::new();
        let mut put = |name: &str, value: Value| state.insert(name.to_owned(), value);
        put("activeTurn", json!(view.active.as_ref().map(|turn| turn.to_value())));
        put("queuedTurns", queued.into());
        put("pendingApprovals", approvals.into());
        put("pendingUserInputs", prompts.into());
        put("approvalMode", Self::shown_mode(session));
        put("effectiveModel", view.model.clone());
        put("goal", view.goal.clone());
        put("todoList", view.todo_list.clone());
        put("branch", view.branch.clone());
        put("name", json!(view.name));
        put("tokenUsage", view.tokens.clone());
        put("turnCount", view.turn_count.into());
        if let Some(effort) = &view.effort {
            put("reasoningEffort", effort.clone());
        }
        if let Some(context) = &view.context {
            put("contextUsage", context.clone());
        }
        trim(self.profile, "SnapshotState", &mut state);
        state
    }
}

fn none(reason: &str) -> Value {
    json!({ "mode": "none", "items": null, "snapshot": null, "noneReason": reason })
}

/// Cuts the large members of an item and says so (ITM-7).
fn cut_payloads(item: &mut Value) {
    let Some(item) = item.as_object_mut() else { return };
    let mut cut = false;
    for name in PAYLOADS {
        if let Some(Value::String(text)) = item.get_mut(*name)
            && let Some((end, _)) = text.char_indices().nth(ELIDED_CHARS)
        {
            text.truncate(end);
            cut = true;
        }
    }
    if cut {
        item.insert("truncated".into(), true.into());
    }
}

/// The position of a cursor after which everything is still served.
pub(super) fn served_position(session: &Session, cursor: &str) -> Result<u64, Refusal> {
    let id = session.log.session_id.as_str();
    let Some(position) = session.log.position(cursor) else {
        let refusal = Refusal::new(-32011, "unknown cursor").with("reason", "missingAnchor");
        return Err(refusal.with("anchor", cursor).with("sessionId", id));
    };
    let earliest = session.log.earliest();
    // Position 0 is no event: whoever names it asks for all there is.
    if position != 0 && position < earliest {
        let refusal = Refusal::new(-32040, "the view does not go back that far");
        let refusal = refusal.with("earliestCursor", session.log.cursor(earliest));
        return Err(refusal.with("sessionId", id));
    }
    Ok(position)
}
