//! What an approval is about: params, choices, subjects and stages, as pure values.
//!
//! Rules: APR-2..6, APR-12, APR-14.

use serde_json::{Map, Value, json};

use super::approvals::Opening;

/// Params shared by `approval/requested` and `approval/request`, without positions.
pub(crate) fn approval_params(opening: &Opening<'_>) -> Value {
    let what = match opening.subject["command"].as_str() {
        Some(command) => format!("{} {command}", opening.tool),
        None => opening.tool.to_owned(),
    };
    json!({
        "approvalId": opening.approval_id,
        "turnId": opening.turn_id,
        "taskId": opening.item_id,
        "itemId": opening.item_id,
        "toolCallId": opening.call_id,
        "toolName": opening.tool,
        "rawArgs": opening.args,
        "subject": opening.subject,
        "currentRequirementId": {
            "approvalId": opening.approval_id, "sourceIndex": first_unresolved(&opening.subject),
        },
        "availableChoices": usual_choices(&what),
        "protectedWrite": false,
        "judgeEscalated": false,
    })
}

/// The three choices that recorded hosts offer (APR-4).
pub(crate) fn usual_choices(rule: &str) -> Value {
    json!([
        {
            "choiceId": "allow_once", "label": "Allow once", "decision": "approved",
            "scope": "once",
        },
        {
            "choiceId": "allow_session", "label": "Allow for this session",
            "decision": "approvedForSession", "scope": "session", "rulePreview": rule,
        },
        {
            "choiceId": "abort", "label": "Reject", "decision": "abort", "scope": "once",
            "acceptsFeedback": true,
        },
    ])
}

/// A choice that writes a rule which stays (APR-5).
pub(crate) fn persistent_choice(rule: Value) -> Value {
    json!({
        "choiceId": "allow_always", "label": "Always allow", "decision": "approvedPolicyAmendment",
        "scope": "localPersistent", "rulePreview": rule,
    })
}

/// The stages of a command.
fn parts(command: &str) -> impl Iterator<Item = &str> {
    command.split([';', '|', '&']).map(str::trim).filter(|part| !part.is_empty())
}

/// Whether every stage is one that the pretended parser knows to be harmless.
pub(crate) fn is_known_safe(command: &str) -> bool {
    parts(command).all(|part| matches!(part, "pwd" | "true"))
}

/// A shell subject; `;`, `&&` and `|` separate stages. With more than one stage, `pwd` and `true`
/// are known to be safe, so that indexes can skip (APR-3).
pub(crate) fn shell_subject(approval_id: &str, command: &str, root: Option<&str>) -> Value {
    let mut parts: Vec<&str> = parts(command).collect();
    if parts.is_empty() {
        parts.push(command);
    }
    let total = parts.len();
    let stages: Vec<Value> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| {
            let argv: Vec<&str> = part.split_whitespace().collect();
            let safe = total > 1 && matches!(argv.as_slice(), ["pwd" | "true"]);
            let safe = safe && index + 1 < total;
            stage(approval_id, index, total, &argv, if safe { "knownSafe" } else { "unresolved" })
        })
        .collect();
    let mut subject = json!({ "kind": "shell", "command": command, "stages": stages });
    if let Some(root) = root {
        subject["workspaceRoot"] = root.into();
    }
    subject
}

/// One stage object.
pub(crate) fn stage(
    approval_id: &str,
    index: usize,
    total: usize,
    argv: &[&str],
    resolution: &str,
) -> Value {
    json!({
        "requirementId": { "approvalId": approval_id, "sourceIndex": index },
        "position": index + 1,
        "totalStages": total,
        "argv": argv,
        "argvComplete": !argv.iter().any(|word| word.contains(['>', '<'])),
        "resolution": { "kind": resolution },
    })
}

pub(super) fn stages(subject: &Value) -> impl Iterator<Item = &Value> {
    subject["stages"].as_array().into_iter().flatten()
}

/// `sourceIndex` of the first stage that needs a person; 0 for subjects without stages.
pub(crate) fn first_unresolved(subject: &Value) -> u64 {
    stages(subject)
        .find(|stage| stage["resolution"]["kind"] == "unresolved")
        .and_then(|stage| stage["requirementId"]["sourceIndex"].as_u64())
        .unwrap_or(0)
}

/// Subject, requirement and choices after `requirement` was satisfied.
pub(crate) fn stage_update(opened: &Map<String, Value>, requirement: &Value) -> Value {
    let mut subject = opened.get("subject").cloned().unwrap_or_default();
    if let Some(list) = subject.get_mut("stages").and_then(Value::as_array_mut) {
        for stage in list.iter_mut().filter(|stage| stage["requirementId"] == *requirement) {
            stage["resolution"] = json!({ "kind": "allowOnce" });
        }
    }
    let index = first_unresolved(&subject);
    json!({
        "subject": subject,
        "currentRequirementId": { "approvalId": opened.get("approvalId"), "sourceIndex": index },
        "availableChoices": opened.get("availableChoices"),
    })
}

/// Stage evidence: the stages without what only a question needs.
pub(super) fn evidence(opened: &Map<String, Value>, allowed: bool) -> Vec<Value> {
    let Some(subject) = opened.get("subject") else { return Vec::new() };
    stages(subject)
        .map(|stage| {
            let mut stage = stage.clone();
            if allowed && stage["resolution"]["kind"] == "unresolved" {
                stage["resolution"] = json!({ "kind": "allowOnce" });
            }
            if let Some(object) = stage.as_object_mut() {
                object.remove("argvComplete");
                object.remove("suggestedPrefix");
            }
            stage
        })
        .collect()
}
