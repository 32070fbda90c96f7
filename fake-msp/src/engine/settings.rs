//! Standing settings of a session, and the model catalog.
//!
//! Rules: SES-2, APR-18, STA-1, section 13.8.

use serde_json::{Map, Value, json};

use super::sessions::str_of;
use super::{After, Host, Refusal, Reply};
use crate::profiles::trim;

/// The provider of this host.
pub(super) const PROVIDER: &str = "fake";
/// Its default model.
pub(super) const MODEL: &str = "fake-model";

impl Host {
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
        let profile = self.profile;
        let session = self.loaded(params)?;
        let name = str_of(params, "name").unwrap_or_default().trim();
        if name.is_empty() {
            return Err(Refusal::invalid_params("name is empty"));
        }
        let mut changed = Map::new();
        changed.insert("name".into(), name.into());
        changed.insert("nameOrigin".into(), "custom".into());
        trim(profile, "SessionNameChangedParams", &mut changed);
        after.push(After::Event {
            session: session.log.session_id.clone(),
            method: "session/nameChanged",
            params: Value::Object(changed),
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
}
