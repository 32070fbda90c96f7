//! Checks of the ids that steering commands name: tasks, subagents, workflow runs, outputs, turns.
//!
//! Invariants as in [`super::model`]: read-only, and what crossing frames can explain is marked.
//! Rules: ENV-7, ITM-4, ITM-5, section 13.

use serde_json::{Map, Value};

use super::Finding;
use super::model::finding;
use crate::engine::Session;

/// Findings for one well-shaped command.
pub(super) fn judge(
    session: &Session,
    method: &str,
    params: &Map<String, Value>,
) -> Option<Finding> {
    match method {
        "task/background" | "task/stop" => {
            item(session, params, "taskId", |item, id| item["itemId"] == id)
        }
        "item/readOutput" => output(session, params),
        "session/compact" => {
            let turn = params.get("turnId").and_then(Value::as_str)?;
            let view = session.log.view();
            let active = view.active.as_ref().is_some_and(|active| active.turn_id == turn);
            let known = active || view.ended.contains(turn);
            (!known).then(|| finding("turnId", "ENV-7", "turn was never issued"))
        }
        "workflow/childControl" => child(session, params),
        _ if method.starts_with("subagent/") => {
            let reopens = matches!(method, "subagent/reopen" | "subagent/readResult");
            let found = item(session, params, "subagentId", |item, id| item["subagentId"] == id);
            found.filter(|finding| !(reopens && finding.race))
        }
        _ if method.starts_with("workflow/") => {
            item(session, params, "workflowRunId", |item, id| item["workflowRunId"] == id)
        }
        _ => None,
    }
}

/// The newest item that `is_it` picks must exist; that it has ended can be a crossing.
fn item(
    session: &Session,
    params: &Map<String, Value>,
    name: &str,
    is_it: impl Fn(&Value, &str) -> bool,
) -> Option<Finding> {
    let id = params.get(name).and_then(Value::as_str)?;
    let mut items = session.log.view().items.values().rev();
    match items.find(|item| is_it(item, id)) {
        None => Some(finding(name, "ENV-7", "id was never issued")),
        Some(item) if item["status"] != "inProgress" => {
            Some(finding(name, "ITM-4", "its item has ended").race())
        }
        Some(_) => None,
    }
}

fn output(session: &Session, params: &Map<String, Value>) -> Option<Finding> {
    let id = params.get("itemId").and_then(Value::as_str)?;
    let Some(item) = session.log.view().items.get(id) else {
        return Some(finding("itemId", "ENV-7", "item was never issued"));
    };
    let wanted = params.get("outputRef");
    let known = ["outputRef", "patchRef"].iter().any(|name| item[*name].get("id") == wanted);
    (!known).then(|| finding("outputRef", "ENV-7", "the item has no such output"))
}

fn child(session: &Session, params: &Map<String, Value>) -> Option<Finding> {
    let run = params.get("workflowRunId");
    let mut items = session.log.view().items.values().rev();
    let Some(item) = items.find(|item| item.get("workflowRunId") == run) else {
        return Some(finding("workflowRunId", "ENV-7", "id was never issued"));
    };
    let children = item["children"].as_array().into_iter().flatten();
    let mine = children.filter(|child| child.get("childId") == params.get("childId"));
    let newest = mine.max_by_key(|child| child["attempt"].as_u64());
    match newest {
        None => Some(finding("childId", "ENV-7", "child was never issued")),
        Some(child) if child.get("attempt") != params.get("attempt") => {
            Some(finding("attempt", "ENV-7", "attempt is not the newest").race())
        }
        Some(_) => None,
    }
}
