//! Requests that the adapter sends to the host, and the parts of their results that it reads.
//!
//! Outgoing shapes are exact: no member beyond those the contract names (CMD-13, PRM-25).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::approval::Requirement;
use super::id::{ApprovalId, ChoiceId, SessionId, TurnId, UserInputId};
use super::lenient;
use super::user_input::Answer;

/// `initialize` (HSK, HOST-2): no capability is requested.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Initialize {
    /// Who we are.
    pub client_info: ClientInfo,
}

/// Names the adapter to the host.
#[derive(Debug, Serialize)]
pub struct ClientInfo {
    /// `^[a-z0-9_]+$`.
    pub name: &'static str,
    /// Our version.
    pub version: &'static str,
}

/// What the handshake answers, as far as it is used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// Name and version of the host.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub server_info: Option<ServerInfo>,
    /// Version and fingerprint of the wire schema.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub schema: Option<Schema>,
    /// Whether sessions survive the process (HSK-8).
    #[serde(default, deserialize_with = "lenient::text")]
    pub session_durability: Option<String>,
}

/// See [`InitializeResult`].
#[derive(Debug, Deserialize)]
pub struct ServerInfo {
    /// Version of the host, without promises about its form.
    #[serde(default, deserialize_with = "lenient::text")]
    pub version: Option<String>,
}

/// See [`InitializeResult`].
#[derive(Debug, Deserialize)]
pub struct Schema {
    /// Version of the envelope; 1 is the only one there is.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub version: Option<u64>,
    /// `sha256:` and 64 hexadecimal digits.
    #[serde(default, deserialize_with = "lenient::text")]
    pub fingerprint: Option<String>,
}

/// `session/resume` (HOST-3).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionResume<'a> {
    /// One per gesture (CMD-1).
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// Always true: history is not needed to prompt.
    pub exclude_items: bool,
}

/// `session/start` (HOST-3).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStart<'a> {
    /// One per gesture.
    pub command_id: &'a str,
    /// Chosen by us (BIND-7).
    pub session_id: &'a SessionId,
    /// Canonical workspace.
    pub workspace_root: &'a str,
    /// The model of the session.
    pub model_id: &'a str,
    /// Its provider, when one was configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<&'a str>,
    /// Explicit, because the host's default asks for everything (HOST-6).
    pub approval_mode: &'a str,
}

/// `session/setApprovalMode` (HOST-5).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetApprovalMode<'a> {
    /// One per gesture.
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// The mode.
    pub mode: &'a str,
}

/// `session/setModel` (HOST-5).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetModel<'a> {
    /// One per gesture.
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// Model and provider.
    pub model: ModelSelection<'a>,
}

/// A model on a provider.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelSelection<'a> {
    /// Model.
    pub model_id: &'a str,
    /// Provider.
    pub provider_id: &'a str,
}

/// `session/read`, always without items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRead<'a> {
    /// The session.
    pub session_id: &'a SessionId,
    /// Always true.
    pub exclude_items: bool,
}

/// The result of start, resume and read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionResult {
    /// The session's row.
    pub session: SessionRow,
    /// Pointers to open approvals and questions.
    #[serde(default, deserialize_with = "lenient::elements")]
    pub pending_requests: Vec<Box<RawValue>>,
}

/// What the host says of a session.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// Identity.
    pub session_id: SessionId,
    /// Null exactly when idle.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub active_turn_id: Option<TurnId>,
    /// Its workspace.
    #[serde(default, deserialize_with = "lenient::text")]
    pub workspace_root: Option<String>,
    /// Its model.
    #[serde(default, deserialize_with = "lenient::text")]
    pub model_id: Option<String>,
    /// Its provider.
    #[serde(default, deserialize_with = "lenient::text")]
    pub provider_id: Option<String>,
    /// Given by the host; older hosts have none (SES-8).
    #[serde(default, deserialize_with = "lenient::text")]
    pub title: Option<String>,
    /// RFC 3339.
    #[serde(default, deserialize_with = "lenient::text")]
    pub updated_at: Option<String>,
}

/// `turn/start` (PRM-25).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStart<'a> {
    /// One per prompt, never sent again (PRM-26).
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// The prompt's parts in order.
    pub input: &'a [InputPart],
    /// The requested tier (EFF-2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<&'a str>,
}

/// One part of a prompt (PC-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum InputPart {
    /// Text that the model sees.
    Text {
        /// The text.
        text: String,
    },
}

/// The acknowledgement of `turn/start`. It proves admission, nothing else (CMD-2).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStartResult {
    /// The turn that this prompt became.
    pub turn_id: TurnId,
    /// `accepted`; any other word means that it was not admitted.
    #[serde(default, deserialize_with = "lenient::text")]
    pub status: Option<String>,
    /// Echoed; verified when present (CMD-3).
    #[serde(default, deserialize_with = "lenient::text")]
    pub command_id: Option<String>,
    /// Open enum: `started`, `queued`, `steered` (TRN-2).
    #[serde(default, deserialize_with = "lenient::text")]
    pub disposition: Option<String>,
    /// Decides when the disposition is absent or unknown (TOL-13).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub started_new_turn: Option<bool>,
}

/// `turn/steer` (STE-8).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnSteer<'a> {
    /// One per correction, never sent again.
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// The turn that ran when the correction came (STE-5).
    pub expected_turn_id: &'a TurnId,
    /// The correction's parts in order.
    pub input: &'a [InputPart],
    /// The tier of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<&'a str>,
}

/// The acknowledgement of `turn/steer`: admitted, which promises no further call of the model (STE-15).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnSteerResult {
    /// `accepted`; any other word means that it was not admitted (STE-12).
    pub status: String,
    /// The turn that was corrected.
    pub turn_id: TurnId,
}

/// `turn/cancel` (CAN-2).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnCancel<'a> {
    /// One per gesture.
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// Always explicit (TRN-5).
    pub turn_id: &'a TurnId,
}

/// `approval/decide` (APR-23).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDecide<'a> {
    /// One per gesture.
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// The approval.
    pub approval_id: &'a ApprovalId,
    /// The stage that was asked, echoed whole.
    pub requirement_id: &'a Requirement,
    /// An offered choice.
    pub choice_id: &'a ChoiceId,
}

/// `userInput/answer` (ELI-7).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserInputAnswer<'a> {
    /// One per gesture.
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// The prompt.
    pub user_input_id: &'a UserInputId,
    /// One per question, in the order of the questions.
    pub answers: &'a [Answer],
}

/// `userInput/engaged`: somebody looks at it (PO-16).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserInputEngaged<'a> {
    /// The session.
    pub session_id: &'a SessionId,
    /// The prompt.
    pub user_input_id: &'a UserInputId,
}

/// `userInput/cancel` (ELI-2, ELI-6, ELI-9).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserInputCancel<'a> {
    /// One per gesture.
    pub command_id: &'a str,
    /// The session.
    pub session_id: &'a SessionId,
    /// The question.
    pub user_input_id: &'a UserInputId,
    /// A fixed text of ours.
    pub reason: &'static str,
}
