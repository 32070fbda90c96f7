//! Things that happen by themselves at a time: a prompt that nobody answers, news about a rule.
//!
//! Rules: UIN-3, APR-13, HOST-14.

use serde_json::{Value, json};

use super::super::Host;
use super::super::plan::PACE_MS;

/// What happens when a clock runs out.
#[derive(Debug, PartialEq, Eq)]
enum Ring {
    /// The prompt settles itself.
    Prompt(String),
    /// The outcome of writing a rule is told.
    Rule(String),
}

#[derive(Debug)]
pub(super) struct Clock {
    /// `None` until something starts it.
    pub(super) due: Option<u64>,
    ring: Ring,
}

impl Host {
    /// Plays what is due at `due` beside the plan.
    pub(in super::super) fn step_work(&mut self, session: &str, due: u64) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let clocks = &mut target.work.clocks;
        let Some(index) = clocks.iter().position(|clock| clock.due == Some(due)) else {
            return self.step_track(session);
        };
        match clocks.remove(index).ring {
            Ring::Prompt(id) => {
                self.settle_prompt(session, &id, "timedOut", &json!({}), None);
                self.plan_settled(session, "timedOut", &json!({}));
            }
            Ring::Rule(id) => self.tell_rule(session, &id),
        }
    }

    /// A prompt with a countdown was opened: one share for each question.
    pub(in super::super) fn start_countdown(&mut self, session: &str, prompt: &Value) {
        let (Some(id), Some(ms)) =
            (prompt["userInputId"].as_str(), prompt["autoResolutionMs"].as_u64())
        else {
            return;
        };
        let questions = prompt["questions"].as_array().map_or(1, Vec::len).max(1) as u64;
        let due = Some(self.now.saturating_add(ms.saturating_mul(questions)));
        let ring = Ring::Prompt(id.to_owned());
        if let Some(target) = self.sessions.get_mut(session) {
            target.work.clocks.push(Clock { due, ring });
        }
    }

    /// Somebody looks at the prompt, or it is settled: no countdown any more.
    pub(in super::super) fn stop_countdown(&mut self, session: &str, prompt: &str) {
        if let Some(target) = self.sessions.get_mut(session) {
            let mine = |clock: &Clock| matches!(&clock.ring, Ring::Prompt(id) if id == prompt);
            target.work.clocks.retain(|clock| !mine(clock));
        }
    }

    /// An approval was opened whose rule is told of only after the turn.
    pub(in super::super) fn tell_late(&mut self, session: &str, approval: &str) {
        if let Some(target) = self.sessions.get_mut(session) {
            target.work.late_rules.insert(approval.to_owned());
        }
    }

    /// A choice that writes a rule was taken.
    pub(in super::super) fn rule_chosen(&mut self, session: &str, approval: &str) {
        let soon = self.now + PACE_MS;
        let Some(target) = self.sessions.get_mut(session) else { return };
        let late = target.work.late_rules.contains(approval);
        let clock = Clock { due: (!late).then_some(soon), ring: Ring::Rule(approval.to_owned()) };
        target.work.clocks.push(clock);
    }

    /// The turn ended: what was kept for later is due.
    pub(in super::super) fn tell_rules(&mut self, session: &str) {
        let soon = self.now + PACE_MS;
        let Some(target) = self.sessions.get_mut(session) else { return };
        for clock in target.work.clocks.iter_mut().filter(|clock| clock.due.is_none()) {
            clock.due = Some(soon);
        }
    }

    fn tell_rule(&mut self, session: &str, id: &str) {
        let Some(target) = self.sessions.get(session) else { return };
        let Some(approval) = target.log.view().approvals.get(id) else { return };
        let params = json!({
            "approvalId": id,
            "currentRequirementId": approval.get("currentRequirementId"),
            "subject": approval.get("subject"),
            "availableChoices": [],
            "change": { "kind": "policyPersistence", "status": "succeeded" },
        });
        self.event(session, "approval/updated", params);
    }
}
