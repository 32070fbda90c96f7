//! Pending approvals of one host and the questions they become (adapter-turns.md §10).
//!
//! In: the host's approval events in both styles (refreshed by an update, re-issued by a request).
//! Out: at most one question per (approvalId, sourceIndex) of a host, and the decision that an answer
//! stands for. Invariants: routing only moves forward (msp APR-12); one open question per approval
//! (APR-4); nothing is granted that the host does not offer now (APR-9, APR-20, PO-9); a resolved
//! approval is never asked again. It sends nothing itself.

use super::choices::{Automation, denial, kind, option};
use super::permission::{Asking, request};
use super::stall::{Stage, Waiting};
use crate::acp::schema as acp;
use crate::msp::approval::{ApprovalUpdate, Resolved};
use crate::msp::{Approval, ApprovalId, Choice, Requirement, ViewCursor};
use indexmap::IndexMap;

/// Approvals of one host that are kept, open or settled. Above it the turn fails: no person answers
/// this many.
pub const APPROVALS_MAX: usize = 4096;

const REQUESTED: &str = "approval/requested";

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Approvals {
    entries: IndexMap<ApprovalId, Entry>,
    /// How approvals of the turn ended; the first word wins (msp APR-14).
    results: IndexMap<ApprovalId, Resolved>,
}

#[derive(Clone, Debug)]
struct Entry {
    view: Approval,
    /// Highest stage that was asked.
    asked: Option<u64>,
    /// Stage of the question that is open at the editor.
    dialog: Option<u64>,
    resolved: bool,
    /// The host's last frame about it, for the evidence of a stall (STL-6).
    frame: &'static str,
}

/// The key of a question: an approval and its stage (PO-12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Which approval.
    pub approval: ApprovalId,
    /// Which stage.
    pub source_index: u64,
}

/// What the editor answered to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This option.
    Selected(String),
    /// None: the dialog was dismissed.
    Dismissed,
}

/// One `session/request_permission` to send.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which approval.
    pub approval: ApprovalId,
    /// Which stage; with the approval, the key of the question (PO-12).
    pub source_index: u64,
    /// The request's params.
    pub request: acp::RequestPermissionRequest,
}

/// What to do with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send `approval/decide`.
    Send(Requirement, Choice),
    /// The approval moved on or is settled: drop the answer (APR-22).
    Obsolete,
    /// The chosen option is not offered now (APR-20, PO-9).
    NotOffered,
    /// The dialog was dismissed and the host offers nothing that denies (APR-21).
    NoDenial,
}

/// A decision without a question.
pub type Pick = (Asked, Requirement, Choice);

/// There is no room for another approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyApprovals;

impl Approvals {
    /// `approval/requested` or `approval/request`: the same facts by two ways, in any order.
    ///
    /// # Errors
    /// [`TooManyApprovals`] at [`APPROVALS_MAX`].
    pub fn requested(&mut self, view: Approval) -> Result<(), TooManyApprovals> {
        if let Some(entry) = self.entries.get_mut(&view.approval_id) {
            let newer = view.current_requirement_id.source_index
                > entry.view.current_requirement_id.source_index;
            if newer && !entry.resolved {
                entry.view = view;
                entry.frame = REQUESTED;
            }
            return Ok(());
        }
        if self.results.contains_key(&view.approval_id) {
            return Ok(()); // Settled before it was seen.
        }
        if self.entries.len() >= APPROVALS_MAX {
            return Err(TooManyApprovals);
        }
        let entry = Entry { asked: None, dialog: None, resolved: false, frame: REQUESTED, view };
        self.entries.insert(entry.view.approval_id.clone(), entry);
        Ok(())
    }

    /// `approval/updated`: stage, choices and subject come from it, identity stays (APR-2).
    pub fn updated(&mut self, update: ApprovalUpdate) {
        let Some(entry) = self.entries.get_mut(&update.approval_id) else { return };
        let behind = update.current_requirement_id.source_index
            < entry.view.current_requirement_id.source_index;
        if entry.resolved || behind {
            return;
        }
        entry.frame = "approval/updated";
        entry.view.current_requirement_id = update.current_requirement_id;
        entry.view.available_choices = update.available_choices;
        if let Some(subject) = update.subject {
            entry.view.subject = Some(subject);
        }
    }

    /// `approval/resolved` with how it ended, also for an approval that was never seen.
    pub fn concluded(&mut self, result: Resolved) {
        self.resolved(&result.approval_id);
        if self.results.len() < APPROVALS_MAX {
            self.results.entry(result.approval_id.clone()).or_insert(result);
        }
    }

    /// How approvals ended since the last time, in the order of the host.
    pub fn take_results(&mut self) -> impl Iterator<Item = Resolved> + use<> {
        std::mem::take(&mut self.results).into_values()
    }

    /// Questions that are open at the editor although their stage is not open at the host.
    pub fn take_outdated(&mut self) -> Vec<(ApprovalId, u64)> {
        let outdated = self.entries.values_mut().filter_map(|entry| {
            let current = entry.view.current_requirement_id.source_index;
            let stage = entry.dialog.filter(|stage| entry.resolved || *stage != current)?;
            entry.dialog = None;
            Some((entry.view.approval_id.clone(), stage))
        });
        outdated.collect()
    }

    /// The first resolution wins, later facts change nothing.
    pub fn resolved(&mut self, approval: &ApprovalId) {
        if let Some(entry) = self.entries.get_mut(approval) {
            entry.resolved = true;
            // Only its identity is still needed: a late duplicate must find it settled.
            entry.view.raw_args = String::new();
            entry.view.subject = None;
            entry.view.available_choices = Vec::new();
        }
    }

    /// Where the view tells of it (OBS-7).
    #[must_use]
    pub fn opened_at(&self, approval: &ApprovalId) -> Option<ViewCursor> {
        self.entries.get(approval)?.view.view_cursor.clone()
    }

    /// Whether the host waits for a decision.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.entries.values().any(|entry| !entry.resolved)
    }

    /// The first approval that is not settled.
    #[must_use]
    pub fn pending(&self) -> Option<&ApprovalId> {
        self.entries.iter().find(|(_, entry)| !entry.resolved).map(|(id, _)| id)
    }

    /// Whether this stage is still the one that is open.
    #[must_use]
    pub fn is_open(&self, asked: &Asked) -> bool {
        self.entries.get(&asked.approval).is_some_and(|entry| {
            let current = &entry.view.current_requirement_id;
            !entry.resolved && current.source_index == asked.source_index
        })
    }

    /// The host's list of what is open, asked for because `asked` was refused as stale (PO-10). Stages
    /// only move forward here too; `asked` is settled when the list does not have it.
    ///
    /// # Errors
    /// As [`Approvals::requested`].
    pub fn reread(&mut self, asked: &Asked, open: Vec<Approval>) -> Result<(), TooManyApprovals> {
        if !open.iter().any(|approval| approval.approval_id == asked.approval) {
            self.resolved(&asked.approval);
        }
        open.into_iter().try_for_each(|approval| self.requested(approval))
    }

    /// What waits for a decision and is not in front of the person (STL-1).
    #[must_use]
    pub fn waiting(&self) -> Vec<Waiting> {
        let idle = |entry: &&Entry| !entry.resolved && entry.dialog.is_none();
        self.entries.values().filter(idle).map(Entry::waiting).collect()
    }

    /// The next question of this turn, marked as asked. Call until `None`.
    ///
    /// # Errors
    /// The approval for which the host offers no choice that can be shown (APR-9).
    pub fn next_question(&mut self, asking: Asking<'_>) -> Option<Result<Question, ApprovalId>> {
        let entry = self.entries.values_mut().find(|entry| entry.is_due())?;
        let source_index = entry.view.current_requirement_id.source_index;
        entry.asked = Some(source_index);
        let options: Vec<acp::PermissionOption> =
            entry.view.available_choices.iter().filter_map(option).collect();
        if options.is_empty() {
            return Some(Err(entry.view.approval_id.clone()));
        }
        entry.dialog = Some(source_index);
        Some(Ok(Question {
            approval: entry.view.approval_id.clone(),
            source_index,
            request: request(asking, &entry.view, options),
        }))
    }

    /// What an automatic mode decides next, marked as asked: each stage once, as a person would be
    /// (PO-12). Call until `None`.
    ///
    /// # Errors
    /// The approval for which the host offers no choice that the mode may take (APR-32).
    pub fn next_pick(&mut self, automation: Automation) -> Option<Result<Pick, ApprovalId>> {
        let entry = self.entries.values_mut().find(|entry| entry.is_due())?;
        let requirement = entry.view.current_requirement_id.clone();
        entry.asked = Some(requirement.source_index);
        let approval = entry.view.approval_id.clone();
        Some(match automation.pick(&entry.view.available_choices) {
            None => Err(approval),
            Some(choice) => {
                let asked = Asked { approval, source_index: requirement.source_index };
                Ok((asked, requirement, choice.clone()))
            }
        })
    }

    /// The decision that an answer stands for.
    pub fn answer(&mut self, asked: &Asked, answer: &Answer) -> Decision {
        match answer {
            Answer::Selected(option) => self.selected(&asked.approval, asked.source_index, option),
            Answer::Dismissed => self.dismissed(&asked.approval, asked.source_index),
        }
    }

    /// The editor chose an option.
    fn selected(&mut self, approval: &ApprovalId, source_index: u64, option: &str) -> Decision {
        self.answered(approval, source_index, |choices| {
            let offered = choices.iter().find(|choice| choice.choice_id.as_str() == option);
            // A choice that was not shown because its word is unknown cannot be chosen either.
            offered.filter(|choice| kind(choice).is_some()).cloned().ok_or(Decision::NotOffered)
        })
    }

    /// The editor dismissed the dialog: the host's own way to say no (APR-21).
    fn dismissed(&mut self, approval: &ApprovalId, source_index: u64) -> Decision {
        self.answered(approval, source_index, |choices| denial(choices).ok_or(Decision::NoDenial))
    }

    fn answered(
        &mut self,
        approval: &ApprovalId,
        source_index: u64,
        choose: impl FnOnce(&[Choice]) -> Result<Choice, Decision>,
    ) -> Decision {
        let Some(entry) = self.entries.get_mut(approval) else { return Decision::Obsolete };
        if entry.dialog == Some(source_index) {
            entry.dialog = None;
        }
        let current = &entry.view.current_requirement_id;
        if entry.resolved || current.source_index != source_index {
            return Decision::Obsolete;
        }
        match choose(&entry.view.available_choices) {
            Ok(choice) => Decision::Send(current.clone(), choice),
            Err(refusal) => refusal,
        }
    }
}

impl Entry {
    fn waiting(&self) -> Waiting {
        let view = &self.view;
        let stages = view.subject.as_ref().map_or(&[][..], |subject| &subject.stages);
        let current = stages.iter().find(|s| s.requirement_id == view.current_requirement_id);
        let stage = Stage {
            source_index: view.current_requirement_id.source_index,
            choices: view.available_choices.iter().map(|c| c.choice_id.as_str().into()).collect(),
            resolutions: stages.iter().map(|stage| stage.resolution.kind.clone()).collect(),
            position: current.and_then(|stage| Some((stage.position?, stage.total_stages?))),
        };
        let id = view.approval_id.as_str().to_owned();
        Waiting { id, frame: self.frame, stage: Some(stage) }
    }

    fn is_due(&self) -> bool {
        let current = self.view.current_requirement_id.source_index;
        !self.resolved && self.dialog.is_none() && self.asked.is_none_or(|asked| current > asked)
    }
}

#[cfg(test)]
mod tests;
