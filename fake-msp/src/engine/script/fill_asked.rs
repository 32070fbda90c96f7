//! What the model says about approvals and user inputs when the script does not. Rules: APR-1..16, UIN-1..6.

use serde_json::{Map, Value, json};

use super::super::approvals::Opening;
use super::super::fold::{is_open, text};
use super::super::subjects::{approval_params, shell_subject, stage, stage_update};
use super::super::{Host, Kind, Session};
use super::EntityRef;

impl Host {
    pub(super) fn fill_approval(
        &mut self,
        session: &str,
        said: &Value,
        of: Option<&EntityRef>,
    ) -> Value {
        let approval_id = text(said, "approvalId").unwrap_or_else(|| self.ids.next(Kind::Approval));
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let item = tool_item(target, said, of);
        let member = |name: &str| text(&item, name).unwrap_or_default();
        let args = member("args");
        let command = text(&said["subject"], "command").or_else(|| {
            let args: Value = serde_json::from_str(&args).ok()?;
            text(&args, "command")
        });
        let tool = member("tool");
        let root = target.log.birth().workspace_root.as_deref();
        let stages = said["subject"]["stages"].as_array();
        let subject = match (text(&said["subject"], "kind").as_deref(), command) {
            (None | Some("shell"), Some(command)) => {
                let mut subject = shell_subject(&approval_id, &command, root);
                if let Some(stages) = stages {
                    subject["stages"] = stages.clone().into();
                }
                subject
            }
            (Some(kind), _) => json!({ "kind": kind }),
            (None, None) => json!({ "kind": "tool", "toolName": tool }),
        };
        let mut params = approval_params(&Opening {
            approval_id: &approval_id,
            turn_id: &member("turnId"),
            item_id: &member("itemId"),
            call_id: &member("callId"),
            tool: &tool,
            args: &args,
            subject,
        });
        if let Some(item_id) = text(said, "itemId") {
            params["taskId"] = item_id.into();
        }
        params
    }

    pub(super) fn fill_resolution(
        &mut self,
        session: &str,
        said: &Value,
        of: Option<&EntityRef>,
    ) -> Value {
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let id = approval_id(target, said, of);
        let known = target.log.view().approvals.get(&id).map(|known| known.params.clone());
        let decision = target.decisions.get(&id);
        let word = text(said, "decision")
            .or_else(|| decision.and_then(|decision| text(&decision.choice, "decision")))
            .unwrap_or_else(|| "approved".into());
        let by = if decision.is_some() { "user" } else { "policy" };
        let command = decision.map(|decision| decision.command_id.as_str());
        let opened = known.unwrap_or_else(|| {
            let item = tool_item(target, said, of);
            let mut opened = Map::new();
            opened.insert("itemId".into(), item["itemId"].clone());
            opened.insert("turnId".into(), item["turnId"].clone());
            opened
        });
        self.resolution_params(&id, &opened, &word, by, command)
    }

    pub(super) fn fill_prompt(
        &mut self,
        session: &str,
        said: &Value,
        of: Option<&EntityRef>,
    ) -> Value {
        let id = text(said, "userInputId").unwrap_or_else(|| self.ids.next(Kind::Input));
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let item = tool_item(target, said, of);
        json!({
            "userInputId": id,
            "turnId": item["turnId"],
            "itemId": item["itemId"],
            "toolCallId": item["callId"],
            "toolName": "request_user_input",
            "questions": [{
                "id": "q1", "header": "Choice", "question": "Which one?",
                "selection": { "mode": "single" },
                "options": [{ "label": "A" }, { "label": "B" }],
            }],
        })
    }

    pub(super) fn fill_settlement(
        &mut self,
        session: &str,
        said: &Value,
        of: Option<&EntityRef>,
    ) -> Value {
        let Some(target) = self.sessions.get(session) else { return json!({}) };
        let id = prompt_id(target, said, of);
        let settlement = target.settlements.get(&id);
        let known = settlement.map_or("answered", |settlement| settlement.outcome);
        let outcome = text(said, "outcome").unwrap_or_else(|| known.to_owned());
        let details = settlement.map_or(json!({}), |settlement| settlement.details.clone());
        let command = settlement.map(|settlement| settlement.command_id.as_str());
        self.settlement_params(&id, &outcome, &details, command)
    }
}

/// The tool item that an approval or a prompt is about.
fn tool_item(target: &Session, said: &Value, of: Option<&EntityRef>) -> Value {
    let items = &target.log.view().items;
    let named = text(said, "itemId").or_else(|| match of {
        Some(EntityRef::Item { id, .. }) => Some(id.clone()),
        _ => None,
    });
    match named {
        Some(id) => items.get(&id).cloned().unwrap_or_else(|| json!({ "itemId": id })),
        None => items
            .values()
            .rev()
            .find(|item| is_open(item) && item["kind"] == "toolCall")
            .cloned()
            .unwrap_or_default(),
    }
}

pub(super) fn approval_id(target: &Session, said: &Value, of: Option<&EntityRef>) -> String {
    text(said, "approvalId").unwrap_or_else(|| match of {
        Some(EntityRef::Approval { id, .. }) => id.clone(),
        _ => target
            .log
            .view()
            .pending_approvals()
            .last()
            .map(|(id, _)| id.clone())
            .unwrap_or_default(),
    })
}

pub(super) fn prompt_id(target: &Session, said: &Value, of: Option<&EntityRef>) -> String {
    text(said, "userInputId").unwrap_or_else(|| match of {
        Some(EntityRef::UserInput { id, .. }) => id.clone(),
        _ => {
            target.log.view().pending_prompts().last().map(|(id, _)| id.clone()).unwrap_or_default()
        }
    })
}

pub(super) fn approval_updated(target: &Session, said: &Value, of: Option<&EntityRef>) -> Value {
    let id = approval_id(target, said, of);
    let Some(known) = target.log.view().approvals.get(&id) else {
        return json!({ "approvalId": id });
    };
    let kind = text(&said["change"], "kind").unwrap_or_else(|| "stageResolved".into());
    let current = known.get("currentRequirementId");
    let decided = target.decisions.get(&id).filter(|decision| decision.requirement == *current);
    let choice = |name: &str, default: &str| {
        decided.map_or(json!(default), |decision| decision.choice[name].clone())
    };
    let mut update = match kind.as_str() {
        "stageResolved" => stage_update(&known.params, current),
        _ => json!({
            "subject": known.get("subject"),
            "currentRequirementId": current,
            "availableChoices": known.get("availableChoices"),
        }),
    };
    update["change"] = match kind.as_str() {
        "stageResolved" => json!({
            "kind": kind, "requirementId": current,
            "choiceId": choice("choiceId", "allow_once"), "decision": choice("decision", "approved"),
        }),
        "policyPersistence" => json!({ "kind": kind, "status": "succeeded" }),
        "restartRecovered" => json!({ "kind": kind, "reparsed": false, "executable": true }),
        _ => json!({ "kind": kind }),
    };
    update["approvalId"] = id.into();
    update
}

/// Completes stage objects of which a script said a resolution word and an argv.
pub(super) fn complete_stages(approval_id: &str, stages: &mut [Value]) {
    let total = stages.len();
    for (index, slot) in stages.iter_mut().enumerate() {
        let argv: Vec<&str> =
            slot["argv"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let word = slot["resolution"].as_str().unwrap_or("unresolved");
        let mut whole = stage(approval_id, index, total, &argv, word);
        if let (Some(whole), Some(said)) = (whole.as_object_mut(), slot.as_object()) {
            for (name, value) in said.iter().filter(|(name, _)| *name != "resolution") {
                whole.insert(name.clone(), value.clone());
            }
            if let Some(resolution) = said.get("resolution").filter(|value| value.is_object()) {
                whole.insert("resolution".into(), resolution.clone());
            }
        }
        *slot = whole;
    }
}
