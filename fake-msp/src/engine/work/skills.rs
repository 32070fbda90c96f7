//! Skills, hooks and plugins: catalogues that the host has by itself.
//!
//! Purpose: `skill/*`, `hook/list`, `plugin/*`. Two skills, one hook, no plugin; plugins cannot be
//! changed. Invariant: what a client changes is told by a broadcast. Rules: section 13.7.

use serde_json::{Map, Value, json};

use super::super::sessions::str_of;
use super::super::{After, Host, Refusal, Reply};
use super::{accepted, rejected};
use crate::profiles::trim;

/// (selector, name, description, argument hint).
const SKILLS: &[(&str, &str, &str, &str)] = &[
    ("fake-hello", "Hello", "Says hello without a model", "[name]"),
    ("fake-review", "Review", "Pretends to review the workspace", ""),
];

impl Host {
    pub(super) fn skill_list(&mut self, params: &Map<String, Value>) -> Reply {
        self.loaded(params)?;
        let rows: Vec<Value> = SKILLS
            .iter()
            .map(|(selector, name, description, hint)| {
                let mut row = Map::new();
                let mut put = |name: &str, value: &str| row.insert(name.to_owned(), value.into());
                put("selector", selector);
                put("displayName", name);
                put("title", name);
                put("description", description);
                put("source", "bundled");
                if !hint.is_empty() {
                    put("argumentHint", hint);
                }
                trim(self.profile, "SkillCatalogEntry", &mut row);
                Value::Object(row)
            })
            .collect();
        Ok(json!({ "skills": rows }))
    }

    /// A `skill` part of an input names a skill of the list.
    pub(in super::super) fn check_skill(&self, part: &Value) -> Result<(), Refusal> {
        let selector = part["selector"].as_str().unwrap_or_default();
        let on = self.skill_states.get(selector).is_none_or(|state| state != "off");
        if SKILLS.iter().any(|(known, ..)| *known == selector) && on {
            return Ok(());
        }
        Err(Refusal::new(-32032, "no such skill").with("selector", selector))
    }

    pub(super) fn skill_set_activation(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let id = self.loaded(params)?.log.session_id.clone();
        let selector = str_of(params, "selector").unwrap_or_default().to_owned();
        if !SKILLS.iter().any(|(known, ..)| *known == selector) {
            return Err(Refusal::new(-32032, "no such skill").with("selector", selector));
        }
        if str_of(params, "scope") != Some("bundled") {
            return Err(rejected(params, "scope_mismatch"));
        }
        let state = str_of(params, "activation").unwrap_or("on").to_owned();
        let previous = self.skill_states.insert(selector.clone(), state.clone());
        let previous = previous.unwrap_or_else(|| "on".into());
        if previous != state {
            after.push(After::Broadcast {
                method: "skill/changed",
                params: json!({ "sessionId": id }),
            });
        }
        let mut ack = accepted(params);
        ack["selector"] = selector.into();
        ack["scope"] = "bundled".into();
        ack["activation"] = state.into();
        ack["previous"] = previous.into();
        Ok(ack)
    }

    /// The fake has no folders to import from: nothing is found.
    pub(super) fn skill_import(&mut self, params: &Map<String, Value>) -> Reply {
        self.loaded(params)?;
        let mut ack = accepted(params);
        ack["source"] = params.get("source").cloned().unwrap_or_default();
        ack["dryRun"] = (params.get("dryRun") == Some(&Value::Bool(true))).into();
        for list in ["installed", "quarantined", "skipped", "failed"] {
            ack[list] = json!([]);
            ack["counts"][list] = 0.into();
        }
        Ok(ack)
    }

    pub(super) fn hook_list(&mut self, params: &Map<String, Value>) -> Reply {
        self.loaded(params)?;
        let hook = json!({
            "key": "fake-hook", "event": "preToolUse", "handlerKind": "user", "enabled": true,
        });
        Ok(json!({ "hooks": [hook] }))
    }

    pub(super) fn plugin_command(&mut self, method: &str, params: &Map<String, Value>) -> Reply {
        self.loaded(params)?;
        let market = |name: &str| {
            Refusal::new(-32034, "no such marketplace").with("marketplace", name).with("name", name)
        };
        let name = str_of(params, "name").unwrap_or_default();
        let target = params.get("target").cloned().unwrap_or_default();
        match method {
            "plugin/list" => Ok(json!({ "plugins": [] })),
            "plugin/marketplaceRemove" | "plugin/marketplaceUpdate" => Err(market(name)),
            "plugin/install"
                if target["marketplace"].is_object() == target["localPath"].is_object() =>
            {
                Err(Refusal::invalid_params("target: exactly one of marketplace and localPath"))
            }
            "plugin/install" if target["marketplace"].is_object() => {
                Err(market(target["marketplace"]["marketplace"].as_str().unwrap_or_default()))
            }
            _ => Err(Refusal::new(-32037, "the fake host's plugins cannot be changed")),
        }
    }
}
