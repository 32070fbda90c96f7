//! Approvals: opening, deciding, stages.
//!
//! ```text
//! open(stage 0) ─decide approved─► open(next unresolved stage) ─…─► resolved allow
//!       └──────decide abort at any stage───────────────────────────► resolved deny
//! ```
//! Invariants: the state is what the log folds to; the first resolution wins (HOST-12); choices and
//! requirement are checked against the current ones (HOST-13); receipts change nothing (HOST-9).
//! Rules: APR-1..14, staged styles by profile (HOST-14).

use serde_json::{Map, Value, json};

use super::fold::{Approval, View};
use super::ids::rfc3339;
use super::plan::{Offer, Plan};
use super::sessions::str_of;
use super::subjects::{approval_params, evidence, persistent_choice, stage_update, stages};
use super::{After, Host, Refusal, Reply};
use crate::profiles::{Staged, trim};

/// An admitted `approval/decide`.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) approval_id: String,
    pub(crate) command_id: String,
    /// The choice object that was picked.
    pub(crate) choice: Value,
    pub(crate) requirement: Value,
    pub(crate) feedback: Option<String>,
    pub(crate) terminal: bool,
}

/// What an approval is about.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) approval_id: &'a str,
    pub(crate) turn_id: &'a str,
    pub(crate) item_id: &'a str,
    pub(crate) call_id: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) args: &'a str,
    pub(crate) subject: Value,
}

impl Host {
    pub(super) fn approval_decide(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let decision = judge_decision(session.log.view(), params)?;
        let approval = session.log.view().approvals.get(&decision.approval_id);
        if approval.is_some_and(|known| *known.get("protectedWrite") == true) && !session.subscribed
        {
            // A protected write needs somebody who watches the session (APR-6).
            let refusal = Refusal::new(-32054, "no reviewer is subscribed to the session");
            return Err(refusal.with("approvalId", decision.approval_id));
        }
        let ack = json!({
            "commandId": decision.command_id, "status": "accepted",
            "approvalId": decision.approval_id, "terminal": decision.terminal,
        });
        session.decisions.insert(decision.approval_id.clone(), decision.clone());
        after.push(After::Decided { session: session.log.session_id.clone(), decision });
        Ok(ack)
    }

    pub(super) fn approval_list_pending(&mut self, params: &Map<String, Value>) -> Reply {
        let view = self.stored(params)?.log.view();
        let approvals: Vec<&Map<String, Value>> =
            view.pending_approvals().map(|(_, approval)| &approval.params).collect();
        let prompts: Vec<&Map<String, Value>> =
            view.pending_prompts().map(|(_, prompt)| &prompt.params).collect();
        Ok(json!({ "approvals": approvals, "userInputs": prompts }))
    }

    /// Opens an approval: the view event, then the request with the same params (ENV-11).
    pub(super) fn open_approval(&mut self, session: &str, opening: &Opening<'_>, offer: Offer) {
        let mut params = approval_params(opening);
        match (offer, params["availableChoices"].as_array_mut()) {
            (Offer::Rule { late }, Some(choices)) => {
                let rule = choices.iter().find_map(|choice| choice.get("rulePreview")).cloned();
                choices.insert(2, persistent_choice(rule.unwrap_or_default()));
                if late {
                    self.tell_late(session, opening.approval_id);
                }
            }
            (Offer::Protected, Some(choices)) => {
                choices.retain(|choice| choice["scope"] == "once");
                params["protectedWrite"] = true.into();
            }
            _ => {}
        }
        let params = self.event(session, "approval/requested", params);
        self.ask_client("approval/request", &params);
    }

    /// The policy answers for the open tool call, asked or not (APR-14, APR-19).
    pub(super) fn decide_by_policy(
        &mut self,
        session: &str,
        plan: &mut Plan,
        decision: &'static str,
    ) {
        let Some(open) = &plan.open else { return };
        let id = open.item["approvalId"].as_str().unwrap_or_default().to_owned();
        if self.pending_approval(session, &id).is_some() {
            return self.resolve_approval(session, &id, decision, "policy", None);
        }
        // The client never saw a request: the resolution is all it gets.
        let mut opened = Map::new();
        opened.insert("itemId".into(), open.id().into());
        opened.insert("turnId".into(), plan.turn.turn_id.as_str().into());
        let params = self.resolution_params(&id, &opened, decision, "policy", None);
        self.event(session, "approval/resolved", params);
    }

    pub(super) fn on_decided(&mut self, session: &str, decision: &Decision) {
        let id = decision.approval_id.as_str();
        if self.pending_approval(session, id).is_none() {
            return; // Resolved meanwhile: the first resolution wins.
        }
        let word = decision.choice["decision"].as_str().unwrap_or("abort").to_owned();
        let command = Some(decision.command_id.as_str());
        if !word.starts_with("approved") {
            self.resolve_approval(session, id, &word, "user", command);
            self.plan_rejected(session, decision.feedback.as_deref());
        } else if decision.terminal {
            self.resolve_approval(session, id, &word, "user", command);
            if word == "approvedPolicyAmendment" {
                self.rule_chosen(session, id);
            }
            self.plan_approved(session, word != "approved");
        } else {
            self.next_stage(session, decision);
        }
    }

    /// Makes the next unresolved stage current, in the style of the host generation (APR-12).
    fn next_stage(&mut self, session: &str, decision: &Decision) {
        let Some(approval) = self.pending_approval(session, &decision.approval_id) else { return };
        let mut update = stage_update(&approval.params, &decision.requirement);
        update["approvalId"] = decision.approval_id.as_str().into();
        update["change"] = json!({
            "kind": "stageResolved", "requirementId": decision.requirement,
            "choiceId": decision.choice["choiceId"], "decision": decision.choice["decision"],
        });
        let style = self.options.staged.unwrap_or(self.profile.staged);
        match (style, update) {
            // The log must know the stage although no view event tells of it.
            (Staged::Reissued, Value::Object(update)) => {
                self.store_hidden(session, "approval/updated", update);
            }
            (_, update) => {
                self.event(session, "approval/updated", update);
            }
        }
        if style != Staged::Refreshed
            && let Some(approval) = self.pending_approval(session, &decision.approval_id)
        {
            self.ask_client("approval/request", &Value::Object(approval.params));
        }
    }

    fn pending_approval(&self, session: &str, approval_id: &str) -> Option<Approval> {
        let view = self.sessions.get(session)?.log.view();
        view.approvals.get(approval_id).filter(|known| known.resolution.is_none()).cloned()
    }

    /// Resolves an approval, unless it is resolved already.
    pub(super) fn resolve_approval(
        &mut self,
        session: &str,
        approval_id: &str,
        decision: &str,
        by: &str,
        command_id: Option<&str>,
    ) {
        let Some(approval) = self.pending_approval(session, approval_id) else { return };
        let params =
            self.resolution_params(approval_id, &approval.params, decision, by, command_id);
        self.event(session, "approval/resolved", params);
    }

    /// Params of `approval/resolved` (APR-14).
    pub(crate) fn resolution_params(
        &self,
        approval_id: &str,
        opened: &Map<String, Value>,
        decision: &str,
        by: &str,
        command_id: Option<&str>,
    ) -> Value {
        let allowed = decision.starts_with("approved");
        let mut params = Map::new();
        let mut put = |name: &str, value: Value| params.insert(name.to_owned(), value);
        put("approvalId", approval_id.into());
        for name in ["itemId", "turnId"] {
            put(name, opened.get(name).cloned().unwrap_or_default());
        }
        put("decision", decision.into());
        put("policyResult", if allowed { "allow" } else { "deny" }.into());
        put("resolvedBy", by.into());
        put("stageEvidence", evidence(opened, allowed).into());
        put("decidedAt", rfc3339(self.now).into());
        if let Some(command_id) = command_id {
            put("decidedByCommandId", command_id.into());
        }
        let durability = match decision {
            "approvedForSession" => Some("session"),
            "approvedPolicyAmendment" | "deniedPolicyAmendment" => Some("localPersistent"),
            _ => None,
        };
        if let Some(durability) = durability {
            let preview = opened
                .get("availableChoices")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .find_map(|choice| choice["rulePreview"].as_str())
                .unwrap_or("the same action");
            put("amendment", json!({ "durability": durability, "rulePreview": preview }));
        }
        trim(self.profile, "ApprovalResolvedParams", &mut params);
        Value::Object(params)
    }
}

/// Checks a decision against the folded state (section 11.4).
pub(crate) fn judge_decision(
    view: &View,
    params: &Map<String, Value>,
) -> Result<Decision, Refusal> {
    let approval_id = str_of(params, "approvalId").unwrap_or_default();
    let Some(approval) = view.approvals.get(approval_id) else {
        return Err(Refusal::new(-32050, "no such approval").with("approvalId", approval_id));
    };
    if let Some(resolution) = &approval.resolution {
        let summary = json!({
            "decision": resolution["decision"], "resolvedBy": resolution["resolvedBy"],
            "viewCursor": resolution["viewCursor"],
        });
        let refusal = Refusal::new(-32051, "approval is resolved").with("approvalId", approval_id);
        return Err(refusal.with("resolution", summary));
    }
    let current = approval.get("currentRequirementId");
    if params["requirementId"] != *current {
        let refusal = Refusal::new(-32053, "another stage is current");
        let refusal = refusal.with("approvalId", approval_id);
        return Err(refusal.with("currentRequirementId", current.clone()));
    }
    let choice_id = str_of(params, "choiceId").unwrap_or_default();
    let invalid = |text: &str| Refusal::new(-32052, text).with("choiceId", choice_id);
    let mut choices = approval.get("availableChoices").as_array().into_iter().flatten();
    let Some(choice) = choices.find(|choice| choice["choiceId"] == choice_id) else {
        return Err(invalid("choice is not offered"));
    };
    let feedback = str_of(params, "feedback");
    if feedback.is_some() && choice["acceptsFeedback"] != true {
        return Err(invalid("choice takes no feedback"));
    }
    let approves = choice["decision"].as_str().is_some_and(|word| word.starts_with("approved"));
    let open_stages = stages(approval.get("subject"))
        .filter(|stage| stage["resolution"]["kind"] == "unresolved")
        .count();
    Ok(Decision {
        approval_id: approval_id.to_owned(),
        command_id: str_of(params, "commandId").unwrap_or_default().to_owned(),
        choice: choice.clone(),
        requirement: current.clone(),
        feedback: feedback.map(str::to_owned),
        terminal: !approves || open_stages <= 1,
    })
}
