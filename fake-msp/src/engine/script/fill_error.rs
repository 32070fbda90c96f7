//! The data of a refusal that the script did not say.

use serde_json::{Map, Value, json};

use super::super::frames::FRAME_BYTES_MAX;
use super::super::subjects::stage_update;
use super::super::{Host, Refusal};

impl Host {
    /// `data` of an error by its code (section 14).
    pub(super) fn fill_error(&self, params: &Map<String, Value>, code: i64) -> Refusal {
        let member = |name: &str| params.get(name).cloned().unwrap_or_default();
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let view = self.sessions.get(session).map(|target| target.log.view());
        let approval = view
            .and_then(|view| view.approvals.get(params.get("approvalId").and_then(Value::as_str)?));
        let prompt = view
            .and_then(|view| view.prompts.get(params.get("userInputId").and_then(Value::as_str)?));
        let refusal = Refusal::new(code, "refused by the script");
        let head = self.sessions.get(session).map(|target| target.log.head());
        match code {
            -32020 | -32021 | -32024 => refusal.with("sessionId", session),
            -32030 => {
                refusal.with("commandId", member("commandId")).with("reason", "scripted_rejection")
            }
            -32001 => refusal,
            -32002 => refusal.with("limitBytes", FRAME_BYTES_MAX),
            -32010 => refusal.with("capability", "userShell"),
            -32011 if params.contains_key("outputRef") => {
                refusal.with("itemId", member("itemId")).with("outputRef", member("outputRef"))
            }
            -32011 => refusal.with("reason", "missingAnchor").with("anchor", member("cursor")),
            -32022 => refusal.with("paths", json!([])),
            -32023 => refusal.with("lastTurnId", member("cutPoint")["lastTurnId"].clone()),
            -32031 => refusal.with("capacity", 64),
            -32032 => refusal.with("selector", member("selector")),
            -32036..=-32034 => refusal.with("name", member("name")),
            -32038 => refusal.with("uploadId", member("uploadId")),
            -32041 => refusal
                .with("availability", "missing")
                .with("itemId", member("itemId"))
                .with("outputRef", member("outputRef")),
            -32042 => refusal.with("anchor", Value::Null).with("latestBoundaryCursor", Value::Null),
            -32040 => refusal.with("earliestCursor", Value::Null),
            -32050 | -32054 => refusal.with("approvalId", member("approvalId")),
            -32051 => {
                let resolution = approval.and_then(|approval| approval.resolution.as_ref());
                let summary = match resolution {
                    Some(known) => json!({
                        "decision": known["decision"], "resolvedBy": known["resolvedBy"],
                        "viewCursor": known["viewCursor"],
                    }),
                    None => json!({
                        "decision": "approved", "resolvedBy": "user", "viewCursor": head,
                    }),
                };
                refusal.with("approvalId", member("approvalId")).with("resolution", summary)
            }
            -32052 => refusal.with("choiceId", member("choiceId")),
            -32053 => {
                // If the client named the current stage, somebody else has just satisfied it.
                let sent = member("requirementId");
                let current = approval.map(|approval| {
                    let current = approval.get("currentRequirementId").clone();
                    let next = stage_update(&approval.params, &sent);
                    if current == sent { next["currentRequirementId"].clone() } else { current }
                });
                refusal
                    .with("approvalId", member("approvalId"))
                    .with("currentRequirementId", current.unwrap_or(sent))
            }
            -32056 => {
                let settlement = prompt.and_then(|prompt| prompt.settlement.as_ref());
                let outcome =
                    settlement.map_or(json!("answered"), |known| known["outcome"].clone());
                let cursor = settlement.map_or(json!(head), |known| known["viewCursor"].clone());
                let summary = json!({ "outcome": outcome, "viewCursor": cursor });
                refusal.with("userInputId", member("userInputId")).with("settlement", summary)
            }
            -32055 | -32057 => refusal.with("userInputId", member("userInputId")),
            _ => refusal,
        }
    }
}
