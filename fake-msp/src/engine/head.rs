//! What is known of a session without reading it: a list row, and the record that rows are read from.
//!
//! Purpose: [`Head`] is derived from a log, written into a store beside the events and read back
//! without folding them. Invariants: a head read from a store says what the log folded to when it was
//! written; the `Session` object is always built here. Rules: SES-6..8, LB-60.

use serde_json::{Map, Value, json};

use super::fold::Birth;
use super::ids::rfc3339;
use super::{Host, Session};
use crate::profiles::trim;

/// Longest prompt that a head carries, in characters.
const PROMPT_CHARS_MAX: usize = 200;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Head {
    pub(crate) session_id: String,
    pub(crate) path: String,
    pub(crate) birth: Birth,
    pub(crate) updated_ms: u64,
    pub(crate) provider_id: Option<String>,
    pub(crate) model_id: Option<String>,
    pub(crate) turn_count: u64,
    pub(crate) name: Option<String>,
    pub(crate) first_prompt: Option<String>,
    pub(crate) branch: Option<String>,
}

impl Head {
    pub(crate) fn of(session: &Session) -> Self {
        let view = session.log.view();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Self {
            session_id: session.log.session_id.clone(),
            path: session.disk.path.clone(),
            birth: session.log.birth().clone(),
            updated_ms: session.updated_ms,
            provider_id: text(&view.model["providerId"]),
            model_id: text(&view.model["modelId"]),
            turn_count: view.turn_count,
            name: view.name.clone(),
            first_prompt: view
                .first_prompt
                .as_ref()
                .map(|prompt| prompt.chars().take(PROMPT_CHARS_MAX).collect()),
            branch: text(&view.branch["branch"]),
        }
    }

    /// The `record` member of a metadata record.
    pub(crate) fn to_record(&self) -> Value {
        json!({
            "workspace_root": self.birth.workspace_root,
            "created_at_ms": self.birth.created_ms,
            "updated_at_ms": self.updated_ms,
            "birth_provider_id": self.birth.provider_id,
            "birth_model_id": self.birth.model_id,
            "approval_mode": self.birth.mode,
            "permission_profile": self.birth.permission_profile,
            "forked_from": self.birth.forked_from,
            "side_from": self.birth.side_from,
            "provider_id": self.provider_id,
            "model_id": self.model_id,
            "turn_count": self.turn_count,
            "name": self.name,
            "first_user_prompt": self.first_prompt,
            "branch": self.branch,
        })
    }

    /// Reads a metadata record; `None` when what no session can be without is missing.
    pub(crate) fn from_record(session_id: &str, record: &Value) -> Option<Self> {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        let whole = |name: &str| Some(record[name].clone()).filter(|value| !value.is_null());
        Some(Self {
            session_id: session_id.to_owned(),
            path: String::new(),
            birth: Birth {
                workspace_root: text("workspace_root"),
                provider_id: text("birth_provider_id")?,
                model_id: text("birth_model_id")?,
                mode: text("approval_mode")?,
                permission_profile: text("permission_profile"),
                created_ms: record["created_at_ms"].as_u64()?,
                forked_from: whole("forked_from"),
                side_from: whole("side_from"),
            },
            updated_ms: record["updated_at_ms"].as_u64()?,
            provider_id: text("provider_id"),
            model_id: text("model_id"),
            turn_count: record["turn_count"].as_u64()?,
            name: text("name"),
            first_prompt: text("first_user_prompt"),
            branch: text("branch"),
        })
    }

    /// Display title: the first line of the first prompt (SES-8).
    pub(crate) fn title(&self) -> Option<String> {
        self.first_prompt.as_deref().map(super::words::first_line)
    }
}

impl Host {
    /// The `Session` object of a session that this host knows (SES-7).
    pub(crate) fn session_object(&self, session: &Session) -> Value {
        let view = session.log.view();
        let mut object = self.row(&Head::of(session));
        let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
        let active = view.active.as_ref().filter(|_| session.loaded).map(|turn| &turn.turn_id);
        put("status", status(session).into());
        put("activeTurnId", json!(active));
        put("approvalMode", Self::shown_mode(session));
        if let Some(prompt) = &view.first_prompt {
            put("firstUserPrompt", prompt.as_str().into());
        }
        let attention = attention(session);
        if !attention.is_empty() {
            put("attention", attention.into());
        }
        trim(self.profile, "Session", &mut object);
        Value::Object(object)
    }

    /// The `Session` object of a session that only the store knows.
    pub(super) fn stored_object(&self, head: &Head) -> Value {
        Value::Object(self.row(head))
    }

    fn row(&self, head: &Head) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
        put("sessionId", head.session_id.as_str().into());
        put("path", head.path.as_str().into());
        put("status", "notLoaded".into());
        put("activeTurnId", Value::Null);
        put("createdAt", rfc3339(head.birth.created_ms).into());
        put("updatedAt", rfc3339(head.updated_ms).into());
        put("workspaceRoot", json!(head.birth.workspace_root));
        put("providerId", json!(head.provider_id));
        put("modelId", json!(head.model_id));
        put("turnCount", head.turn_count.into());
        put("forkedFrom", json!(head.birth.forked_from));
        put("sideFrom", json!(head.birth.side_from));
        if let Some(prompt) = &head.first_prompt {
            put("firstUserPrompt", prompt.as_str().into());
        }
        if let Some(title) = head.title() {
            put("title", title.into());
        }
        if let Some(name) = &head.name {
            put("name", name.as_str().into());
        }
        if let Some(branch) = &head.branch {
            put("branch", branch.as_str().into());
        }
        trim(self.profile, "Session", &mut object);
        object
    }

    /// The approval mode as it is shown: after a resume it comes from the log (`replay`).
    pub(super) fn shown_mode(session: &Session) -> Value {
        let mut mode = session.log.view().mode.clone();
        if session.resumed && mode["source"] == "startup" {
            mode["source"] = "replay".into();
        }
        mode
    }
}

/// This host's load state of a session (SES-7).
pub(super) fn status(session: &Session) -> &'static str {
    match (session.loaded, &session.log.view().active) {
        (false, _) => "notLoaded",
        (true, Some(_)) => "running",
        (true, None) => "idle",
    }
}

/// What a person should look at.
pub(super) fn attention(session: &Session) -> Vec<&'static str> {
    let view = session.log.view();
    let mut flags = Vec::new();
    if view.pending_approvals().next().is_some() {
        flags.push("approvalPending");
    }
    if view.pending_prompts().next().is_some() {
        flags.push("inputPending");
    }
    flags
}
