//! Session commands and the `Session` object.
//!
//! Purpose: start, resume, read, list, settings. Outputs: results built from the fold; effects as
//! [`After`]. Invariants: `session/started` precedes the answer of `session/start` (SES-12);
//! a resume re-issues what is pending after its answer (HOST-9). Rules: SES-*, APR-18.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use super::fold::Birth;
use super::ids::rfc3339;
use super::{After, Host, Kind, Log, Refusal, Reply, Session, work};
use crate::profiles::trim;

const PROVIDER: &str = "fake";
const MODEL: &str = "fake-model";
const LIST_LIMIT_DEFAULT: u64 = 50;
const LIST_LIMIT_MAX: u64 = 200;

/// A string member of params.
pub(crate) fn str_of<'a>(params: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    params.get(name).and_then(Value::as_str)
}

impl Host {
    /// The session that params name, loaded (CMD-10).
    pub(crate) fn loaded(&mut self, params: &Map<String, Value>) -> Result<&mut Session, Refusal> {
        let id = str_of(params, "sessionId").unwrap_or_default();
        let Some(session) = self.sessions.get_mut(id) else {
            return Err(Refusal::new(-32020, "no such session").with("sessionId", id));
        };
        if !session.loaded {
            return Err(Refusal::new(-32024, "session is not loaded").with("sessionId", id));
        }
        Ok(session)
    }

    /// The session that params name, loaded or not.
    pub(crate) fn stored(&self, params: &Map<String, Value>) -> Result<&Session, Refusal> {
        let id = str_of(params, "sessionId").unwrap_or_default();
        self.sessions
            .get(id)
            .ok_or_else(|| Refusal::new(-32020, "no such session").with("sessionId", id))
    }

    pub(super) fn session_start(&mut self, params: &Map<String, Value>) -> Reply {
        self.check_config(params)?;
        let command_id = str_of(params, "commandId").unwrap_or_default();
        let id = match str_of(params, "sessionId") {
            Some(taken) if self.sessions.contains_key(taken) => {
                return Err(Refusal::rejected(command_id, "session_id_conflict"));
            }
            Some(chosen) => chosen.to_owned(),
            None => self.ids.next(Kind::Session),
        };
        let first_root = params.get("workspaceRoots").and_then(|roots| roots[0].as_str());
        let root = str_of(params, "workspaceRoot").or(first_root);
        let birth = Birth {
            workspace_root: root.map(str::to_owned),
            provider_id: str_of(params, "providerId").unwrap_or(PROVIDER).to_owned(),
            model_id: str_of(params, "modelId").unwrap_or(MODEL).to_owned(),
            mode: str_of(params, "approvalMode").unwrap_or(self.profile.default_mode).to_owned(),
            created_ms: self.now,
        };
        let session = Session {
            log: Log::new(id.clone(), birth),
            subscribed: true,
            loaded: true,
            resumed: false,
            updated_ms: self.now,
            waiting: VecDeque::new(),
            plan: None,
            allowed: BTreeSet::new(),
            decisions: BTreeMap::new(),
            settlements: BTreeMap::new(),
            work: work::Work::default(),
            request: None,
            streamed: BTreeMap::new(),
        };
        self.current = Some(id.clone());
        self.sessions.insert(id.clone(), session);
        let object = self.session_object(&self.sessions[&id]);
        if self.profile.notification("session/started").is_some() {
            self.notify("session/started", &json!({ "session": object }));
        }
        Ok(json!({ "session": object, "viewCursor": self.sessions[&id].log.head() }))
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
        let (history, replay) = self.history(session, preference, excluded, cursor)?;
        if let Some(session) = self.sessions.get_mut(&id) {
            session.loaded = true;
            session.subscribed = true;
            session.resumed = true;
        }
        self.current = Some(id.clone());
        if let Some(position) = replay {
            after.push(After::Replay { session: id.clone(), position });
        }
        after.push(After::Reissue { session: id.clone() });
        Ok(self.attached(&self.sessions[&id], history))
    }

    pub(super) fn session_read(&mut self, params: &Map<String, Value>) -> Reply {
        let session = self.stored(params)?;
        // Unlike resume, reading leaves the items out unless told otherwise.
        let excluded = params.get("excludeItems") != Some(&Value::Bool(false));
        let (history, _) = self.history(session, "auto", excluded, None)?;
        Ok(self.attached(session, history))
    }

    pub(super) fn session_list(&mut self, params: &Map<String, Value>) -> Reply {
        let limit = params.get("limit").and_then(Value::as_u64).unwrap_or(LIST_LIMIT_DEFAULT);
        if limit == 0 || limit > LIST_LIMIT_MAX {
            return Err(Refusal::invalid_params("limit: 1 to 200"));
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let start = match str_of(params, "cursor") {
            None => 0,
            Some(cursor) => cursor
                .strip_prefix("l:")
                .and_then(|offset| offset.parse::<usize>().ok())
                .ok_or_else(|| Refusal::new(-32011, "unknown list cursor"))?,
        };
        let root = str_of(params, "workspaceRoot");
        let mut rows: Vec<&Session> = self
            .sessions
            .values()
            .filter(|session| {
                root.is_none() || session.log.birth().workspace_root.as_deref() == root
            })
            .collect();
        rows.sort_by_key(|session| std::cmp::Reverse(session.updated_ms));
        let end = rows.len().min(start.saturating_add(limit));
        let page: Vec<Value> =
            rows[start.min(end)..end].iter().map(|session| self.session_object(session)).collect();
        let next = (end < rows.len()).then(|| format!("l:{end}"));
        Ok(json!({ "sessions": page, "nextCursor": next }))
    }

    pub(super) fn session_set_model(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let model = &params["model"];
        let provider = match model.get("providerId") {
            Some(provider) if provider.is_string() => provider.clone(),
            _ => session.log.view().model["providerId"].clone(),
        };
        after.push(After::Event {
            session: session.log.session_id.clone(),
            method: "session/modelChanged",
            params: json!({
                "modelId": model["modelId"], "providerId": provider, "source": "user",
            }),
        });
        Ok(json!({ "commandId": params["commandId"], "status": "accepted" }))
    }

    pub(super) fn session_set_approval_mode(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let client_name = self.connection.client_name.clone();
        let session = self.loaded(params)?;
        let (mode, command_id) = (&params["mode"], &params["commandId"]);
        let current = session.log.view().mode.clone();
        let changed = current["mode"] != *mode;
        let effective = if changed {
            after.push(After::Event {
                session: session.log.session_id.clone(),
                method: "session/approvalModeChanged",
                params: json!({
                    "mode": mode, "source": "approvalReconfigure", "commandId": command_id,
                    "clientName": client_name,
                }),
            });
            json!({ "mode": mode, "source": "approvalReconfigure", "lastCommandId": command_id })
        } else {
            current
        };
        Ok(json!({
            "commandId": command_id,
            "status": "accepted",
            "applyOutcome": if changed { "completed" } else { "noop" },
            "effectiveMode": effective,
        }))
    }

    pub(super) fn session_set_reasoning_effort(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        after.push(After::Event {
            session: session.log.session_id.clone(),
            method: "session/reasoningEffortChanged",
            params: json!({ "reasoningEffort": params["reasoningEffort"], "source": "user" }),
        });
        Ok(json!({ "commandId": params["commandId"], "status": "accepted" }))
    }

    pub(super) fn session_rename(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let name = str_of(params, "name").unwrap_or_default().trim();
        if name.is_empty() {
            return Err(Refusal::invalid_params("name is empty"));
        }
        after.push(After::Event {
            session: session.log.session_id.clone(),
            method: "session/nameChanged",
            params: json!({ "name": name }),
        });
        Ok(json!({ "commandId": params["commandId"], "status": "accepted", "name": name }))
    }

    pub(super) fn model_list(&mut self, params: &Map<String, Value>) -> Reply {
        let active = match params.contains_key("sessionId") {
            true => self.stored(params)?.log.view().model["modelId"].clone(),
            false => MODEL.into(),
        };
        let models: Vec<Value> = [(MODEL, "Fake Model"), ("fake-model-mini", "Fake Model Mini")]
            .iter()
            .map(|(id, label)| {
                let mut row = Map::new();
                let mut put = |name: &str, value: Value| row.insert(name.to_owned(), value);
                put("modelId", (*id).into());
                put("displayLabel", (*label).into());
                put("providerId", PROVIDER.into());
                put("profileId", Value::Null);
                put("releaseDate", Value::Null);
                put("description", "answers without a model".into());
                put("contextLimit", 200_000.into());
                put("outputLimit", Value::Null);
                put("cost", Value::Null);
                put("variants", json!(["low", "medium", "high"]));
                put("isActive", (active == *id).into());
                put("isDefault", (*id == MODEL).into());
                trim(self.profile, "ModelCatalogEntry", &mut row);
                Value::Object(row)
            })
            .collect();
        Ok(json!({
            "providerId": PROVIDER, "profileId": null, "source": self.profile.model_source,
            "models": models,
        }))
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

    /// Result of resume and read.
    fn attached(&self, session: &Session, history: Value) -> Value {
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
        if let Some(last_turn) = &view.last_turn {
            result.insert("lastTurn".into(), last_turn.clone());
        }
        trim(self.profile, "Attached", &mut result);
        Value::Object(result)
    }

    /// The approval mode as it is shown: after a resume it comes from the log (`replay`).
    pub(super) fn shown_mode(session: &Session) -> Value {
        let mut mode = session.log.view().mode.clone();
        if session.resumed && mode["source"] == "startup" {
            mode["source"] = "replay".into();
        }
        mode
    }

    /// The `Session` object (SES-7).
    pub(super) fn session_object(&self, session: &Session) -> Value {
        let (view, birth) = (session.log.view(), session.log.birth());
        let id = &session.log.session_id;
        let status = match (session.loaded, &view.active) {
            (false, _) => "notLoaded",
            (true, Some(_)) => "running",
            (true, None) => "idle",
        };
        let active = view.active.as_ref().filter(|_| session.loaded).map(|turn| &turn.turn_id);
        let mut object = Map::new();
        let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
        put("sessionId", id.as_str().into());
        put("path", format!("/home/fake/.muse/sessions/{id}/session.jsonl").into());
        put("status", status.into());
        put("activeTurnId", json!(active));
        put("createdAt", rfc3339(birth.created_ms).into());
        put("updatedAt", rfc3339(session.updated_ms).into());
        put("workspaceRoot", json!(birth.workspace_root));
        put("providerId", view.model["providerId"].clone());
        put("modelId", view.model["modelId"].clone());
        put("approvalMode", Self::shown_mode(session));
        put("turnCount", view.turn_count.into());
        put("forkedFrom", Value::Null);
        put("sideFrom", Value::Null);
        if let Some(prompt) = &view.first_prompt {
            put("firstUserPrompt", prompt.as_str().into());
            put("title", super::words::first_line(prompt).into());
        }
        if let Some(name) = &view.name {
            put("name", name.as_str().into());
        }
        trim(self.profile, "Session", &mut object);
        Value::Object(object)
    }
}
