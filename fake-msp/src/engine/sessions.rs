//! Session life: start, resume, read.
//!
//! Purpose: create, load and attach to sessions. Outputs: results built from the fold; effects as
//! [`After`]. Invariants: `session/started` precedes the answer of `session/start` (SES-12);
//! a resume re-issues what is pending after its answer (HOST-9); whoever loads a session holds its
//! lease. Rules: SES-1..8, SES-11, SES-13.

use serde_json::{Map, Value, json};

use super::fold::Birth;
use super::settings::{MODEL, PROVIDER};
use super::{After, Host, Kind, Log, Refusal, Reply, Session};
use crate::profiles::trim;

/// The permission profile that some host generations cannot load any more (SES-13).
const LEGACY_PROFILE: &str = ":auto-review";

/// Longest id that a client may choose: three bytes on disk for each, and 255 fit into a file name.
const ID_BYTES_MAX: usize = 80;

/// A string member of params.
pub(crate) fn str_of<'a>(params: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    params.get(name).and_then(Value::as_str)
}

pub(super) fn no_such_session(id: &str) -> Refusal {
    Refusal::new(-32020, "no such session").with("sessionId", id)
}

impl Host {
    /// The session that params name, loaded (CMD-10).
    pub(crate) fn loaded(&mut self, params: &Map<String, Value>) -> Result<&mut Session, Refusal> {
        let id = str_of(params, "sessionId").unwrap_or_default();
        let Some(session) = self.sessions.get_mut(id) else { return Err(no_such_session(id)) };
        if !session.loaded {
            return Err(Refusal::new(-32024, "session is not loaded").with("sessionId", id));
        }
        Ok(session)
    }

    /// The session that params name, loaded or not.
    pub(crate) fn stored(&self, params: &Map<String, Value>) -> Result<&Session, Refusal> {
        let id = str_of(params, "sessionId").unwrap_or_default();
        self.sessions.get(id).ok_or_else(|| no_such_session(id))
    }

    pub(super) fn session_start(&mut self, params: &Map<String, Value>) -> Reply {
        self.check_config(params)?;
        let root = workspace_root(params)?;
        let command_id = str_of(params, "commandId").unwrap_or_default();
        let id = match str_of(params, "sessionId") {
            Some(taken) if self.sessions.contains_key(taken) => {
                return Err(Refusal::rejected(command_id, "session_id_conflict"));
            }
            Some(chosen) if chosen.is_empty() || chosen.len() > ID_BYTES_MAX => {
                return Err(Refusal::invalid_params("sessionId: 1 to 80 bytes"));
            }
            Some(chosen) => chosen.to_owned(),
            None => self.ids.next(Kind::Session),
        };
        let birth = Birth {
            workspace_root: root,
            provider_id: str_of(params, "providerId").unwrap_or(PROVIDER).to_owned(),
            model_id: str_of(params, "modelId").unwrap_or(MODEL).to_owned(),
            mode: str_of(params, "approvalMode").unwrap_or(self.profile.default_mode).to_owned(),
            permission_profile: str_of(params, "permissionProfile").map(str::to_owned),
            created_ms: self.now,
            ..Birth::default()
        };
        let session = self.bear(Log::new(id.clone(), birth));
        if self.profile.notification("session/started").is_some() {
            self.notify("session/started", &json!({ "session": session }));
        }
        self.list_changed(&id);
        Ok(json!({ "session": session, "viewCursor": self.sessions[&id].log.head() }))
    }

    /// Takes a session that did not exist before into the host, loaded and subscribed. Returns its
    /// object.
    pub(super) fn bear(&mut self, log: Log) -> Value {
        let id = log.session_id.clone();
        let mut session = Session::new(log, self.now);
        (session.loaded, session.subscribed) = (true, true);
        session.disk.path = self.path_of(&id, session.log.birth().created_ms);
        self.sessions.insert(id.clone(), session);
        self.listing.touch(&id);
        self.record_head(&id);
        self.current = Some(id.clone());
        self.session_object(&self.sessions[&id])
    }

    pub(super) fn session_resume(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        self.check_config(params)?;
        let session = self.stored(params)?;
        let id = session.log.session_id.clone();
        let excluded = params.get("excludeItems") == Some(&Value::Bool(true));
        let preference = str_of(params, "history").unwrap_or("auto");
        let cursor = str_of(params, "cursor");
        // A cursor that is refused must not cost a lease.
        self.history(session, preference, true, cursor)?;
        if !session.loaded {
            self.check_legacy(session)?;
            self.load(&id)?;
            if let Some(model) = str_of(params, "modelId") {
                let provider = self.sessions[&id].log.view().model["providerId"].clone();
                let model = json!({ "modelId": model, "providerId": provider, "source": "user" });
                self.event(&id, "session/modelChanged", model);
            }
        }
        let (history, replay) = self.history(&self.sessions[&id], preference, excluded, cursor)?;
        if let Some(session) = self.sessions.get_mut(&id) {
            session.subscribed = true;
            session.resumed = true;
        }
        self.current = Some(id.clone());
        if let Some(position) = replay {
            after.push(After::Replay { session: id.clone(), position });
        }
        after.push(After::Reissue { session: id.clone() });
        let mut result = self.attached(&self.sessions[&id], history);
        if let Some(last_turn) = &self.sessions[&id].log.view().last_turn {
            result.insert("lastTurn".into(), last_turn.clone());
        }
        trim(self.profile, "Attached", &mut result);
        Ok(Value::Object(result))
    }

    pub(super) fn session_read(&mut self, params: &Map<String, Value>) -> Reply {
        let session = self.stored(params)?;
        self.check_legacy(session)?;
        // Unlike resume, reading leaves the items out unless told otherwise.
        let excluded = params.get("excludeItems") != Some(&Value::Bool(false));
        let (history, _) = self.history(session, "auto", excluded, None)?;
        let mut result = self.attached(session, history);
        if let Some(last_turn) = &session.log.view().last_turn {
            result.insert("lastTurn".into(), last_turn.clone());
        }
        trim(self.profile, "Attached", &mut result);
        Ok(Value::Object(result))
    }

    /// `config.mcpServers` needs its grant (section 6.2); an older host ignores the member.
    fn check_config(&self, params: &Map<String, Value>) -> Result<(), Refusal> {
        let asked = params.get("config").is_some_and(|config| config.get("mcpServers").is_some());
        let exists = self.profile.grantable.contains(&"sessionMcp");
        if asked && exists && !self.connection.granted.contains(&"sessionMcp") {
            let refusal = Refusal::new(-32010, "config.mcpServers needs the sessionMcp capability");
            return Err(refusal.with("capability", "sessionMcp"));
        }
        Ok(())
    }

    /// A saved reviewer that this generation does not have any more (SES-13).
    fn check_legacy(&self, session: &Session) -> Result<(), Refusal> {
        let saved = session.log.birth().permission_profile.as_deref();
        if saved != Some(LEGACY_PROFILE) || self.profile.resumes_auto_review {
            return Ok(());
        }
        let text = "permission profile :auto-review: its reviewer is unavailable";
        let id = session.log.session_id.as_str();
        Err(Refusal::new(-32603, text).with("sessionId", id))
    }

    /// What resume, read and fork have in common.
    pub(super) fn attached(&self, session: &Session, history: Value) -> Map<String, Value> {
        let view = session.log.view();
        let approvals = view.pending_approvals().map(|(id, approval)| {
            json!({
                "kind": "approval", "approvalId": id, "viewCursor": approval.get("viewCursor"),
            })
        });
        let prompts = view.pending_prompts().map(|(id, prompt)| {
            json!({
                "kind": "userInput", "userInputId": id, "viewCursor": prompt.get("viewCursor"),
            })
        });
        let pending: Vec<Value> = approvals.chain(prompts).collect();
        let mut result = Map::new();
        result.insert("session".into(), self.session_object(session));
        result.insert("viewCursor".into(), session.log.head().into());
        result.insert("history".into(), history);
        result.insert("pendingRequests".into(), pending.into());
        result
    }
}

/// The primary root (SES-1): absolute, and the first of the roots if both are given.
fn workspace_root(params: &Map<String, Value>) -> Result<Option<String>, Refusal> {
    let roots = params.get("workspaceRoots").and_then(Value::as_array);
    let roots: Option<Vec<&str>> =
        roots.map(|roots| roots.iter().filter_map(Value::as_str).collect());
    let first = roots.as_ref().and_then(|roots| roots.first().copied());
    let root = str_of(params, "workspaceRoot");
    let mut all = roots.iter().flatten().copied().chain(root);
    if all.any(|root| !root.starts_with('/') && !root.contains(":\\")) {
        return Err(Refusal::invalid_params("a workspace root is not absolute"));
    }
    if roots.is_some() && first.is_none() {
        return Err(Refusal::invalid_params("workspaceRoots is empty"));
    }
    match (root, first) {
        (Some(root), Some(first)) if root != first => {
            Err(Refusal::invalid_params("workspaceRoot is not the first of workspaceRoots"))
        }
        _ => Ok(root.or(first).map(str::to_owned)),
    }
}
