//! Approvals: what the host asks, and the choices it offers (msp.md §11).

use serde::{Deserialize, Serialize};

use super::id::{ApprovalId, ChoiceId, ItemId, SessionId, TurnId, ViewCursor};
use super::lenient;

/// Which stage of which approval. Echoed whole, never built (APR-8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The approval it belongs to.
    pub approval_id: ApprovalId,
    /// Position in the parsed command; 0 for subjects without stages.
    pub source_index: u64,
}

/// One offered answer (APR-4). Ids and labels are the host's vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// What is sent back.
    pub choice_id: ChoiceId,
    /// What the person reads.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub label: String,
    /// Open enum: `approved`, `abort`, … (APR-9 maps it).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub decision: String,
    /// Open enum: `once`, `session`, `localPersistent`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub scope: String,
}

/// One stage of a shell command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stage {
    /// Its identity.
    pub requirement_id: Requirement,
    /// 1-based position.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub position: Option<u64>,
    /// How many stages the command has.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub total_stages: Option<u64>,
    /// Words of the stage; redirections may be missing (APR-2).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub argv: Option<Vec<String>>,
    /// What is known about it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub resolution: Resolution,
}

/// Whether a stage needs a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Resolution {
    /// Open enum: `unresolved`, `knownSafe`, `allowOnce`, …
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub kind: String,
}

impl Resolution {
    /// Both spellings are in use (PO-28).
    #[must_use]
    pub fn is_known_safe(&self) -> bool {
        matches!(self.kind.as_str(), "knownSafe" | "known_safe")
    }
}

/// What an approval is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Subject {
    /// Open enum.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub kind: String,
    /// Stages of a shell command, else empty.
    #[serde(default, deserialize_with = "lenient::elements")]
    pub stages: Vec<Stage>,
    /// The file of a `fileAccess`.
    #[serde(default, deserialize_with = "lenient::text")]
    pub path: Option<String>,
}

/// `approval/requested`, `approval/request` and rows of `approval/listPending`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The session whose view it is in.
    pub session_id: SessionId,
    /// Identity.
    pub approval_id: ApprovalId,
    /// The first stage that is open.
    pub current_requirement_id: Requirement,
    /// Answers that are valid for it, and no others.
    #[serde(default, deserialize_with = "lenient::elements")]
    pub available_choices: Vec<Choice>,
    /// What it is about.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub subject: Option<Subject>,
    /// The turn that waits for it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub turn_id: Option<TurnId>,
    /// The item that waits for it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub item_id: Option<ItemId>,
    /// The background task, when it has one.
    #[serde(default, deserialize_with = "lenient::text")]
    pub task_id: Option<String>,
    /// The model's id of the call.
    #[serde(default, deserialize_with = "lenient::text")]
    pub tool_call_id: Option<String>,
    /// The tool.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub tool_name: String,
    /// The call's arguments as the model wrote them.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub raw_args: String,
    /// Its opening in the view.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub view_cursor: Option<ViewCursor>,
    /// An automated reviewer handed it to a person (APR-7).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub judge_escalated: Option<bool>,
    /// The choices are limited and a live reviewer is needed (APR-6).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub protected_write: Option<bool>,
    /// A subagent asks through this session (APR-17). Who it is does not matter, only that it is one.
    #[serde(default, deserialize_with = "lenient::is_object")]
    pub subagent_origin: bool,
}

/// `approval/resolved`: how it ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    /// Which approval.
    pub approval_id: ApprovalId,
    /// The turn that waited for it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub turn_id: Option<TurnId>,
    /// Open enum, as of a choice.
    #[serde(default, deserialize_with = "lenient::text")]
    pub decision: Option<String>,
    /// Open enum: `user`, `policy`, `llmJudge`.
    #[serde(default, deserialize_with = "lenient::text")]
    pub resolved_by: Option<String>,
    /// What became of each stage.
    #[serde(default, deserialize_with = "lenient::elements")]
    pub stage_evidence: Vec<Stage>,
}

/// The answer to `approval/listPending` (msp APR-22).
#[derive(Clone, Debug, Deserialize)]
pub struct Pending {
    /// What is open, complete.
    #[serde(deserialize_with = "lenient::elements")]
    pub approvals: Vec<Approval>,
}

/// `approval/updated`: what is open now.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalUpdate {
    /// Which approval.
    pub approval_id: ApprovalId,
    /// The stage that is open now.
    pub current_requirement_id: Requirement,
    /// Its choices.
    #[serde(default, deserialize_with = "lenient::elements")]
    pub available_choices: Vec<Choice>,
    /// Its subject, when the host repeats it.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub subject: Option<Subject>,
    /// Why it is told.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub change: Option<Change>,
}

/// Why an update is told, as far as it matters.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Change {
    /// Open enum: `stageResolved`, `policyPersistence`, …
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub kind: String,
    /// Of `policyPersistence`; open enum: `succeeded`, `failed` (APR-13).
    #[serde(default, deserialize_with = "lenient::text")]
    pub status: Option<String>,
}
