//! E5: what the editor is shown of a session's options is one state (MODE-2, CFG-1, CFG-10).
//!
//! In: results and updates as they come. Out: what is wrong with one, without its content. It knows no value of
//! an option, only that each is among those that are offered, and that `modes` and the option `mode` agree
//! whenever a request has been answered.

use std::collections::BTreeMap;

use muse_code_acp::acp::schema;
use serde_json::{Value, from_value};

/// See the module.
#[derive(Default)]
pub(super) struct Views {
    sessions: BTreeMap<String, View>,
}

#[derive(Default)]
struct View {
    mode: Option<Value>,
    option: Option<Value>,
}

impl Views {
    /// A good answer to `method`.
    pub(super) fn answered(
        &mut self,
        method: &str,
        session: &str,
        result: &Value,
    ) -> Result<(), &'static str> {
        let session = match method {
            "session/new" => {
                fits(from_value::<schema::NewSessionResponse>(result.clone()))?;
                result["sessionId"].as_str().unwrap_or_default()
            }
            "session/set_config_option" => {
                fits(from_value::<schema::SetSessionConfigOptionResponse>(result.clone()))?;
                session
            }
            "session/set_mode" => {
                fits(from_value::<schema::SetSessionModeResponse>(result.clone()))?;
                session
            }
            _ => return Ok(()),
        };
        let view = self.sessions.entry(session.to_owned()).or_default();
        if let Some(modes) = result.get("modes") {
            let current = &modes["currentModeId"];
            let offered = modes["availableModes"].as_array();
            if !offered.is_some_and(|rows| rows.iter().any(|row| row["id"] == *current)) {
                return Err("the current mode is not among those that are offered");
            }
            view.mode = Some(current.clone());
        }
        if result.get("configOptions").is_some() {
            view.options(&result["configOptions"])?;
        }
        if view.mode == view.option { Ok(()) } else { Err("modes and the option mode differ") }
    }

    /// One `session/update`.
    pub(super) fn updated(&mut self, session: &str, update: &Value) -> Result<(), &'static str> {
        let view = self.sessions.entry(session.to_owned()).or_default();
        match update["sessionUpdate"].as_str() {
            Some("current_mode_update") => view.mode = Some(update["currentModeId"].clone()),
            Some("config_option_update") => view.options(&update["configOptions"])?,
            _ => {}
        }
        Ok(())
    }
}

impl View {
    fn options(&mut self, options: &Value) -> Result<(), &'static str> {
        let mut ids: Vec<&Value> = Vec::new();
        for option in options.as_array().into_iter().flatten() {
            // The schema's list skips what does not fit it; here nothing is skipped.
            fits(from_value::<schema::SessionConfigOption>(option.clone()))?;
            let current = &option["currentValue"];
            let offered = option["options"].as_array();
            if !offered.is_some_and(|rows| rows.iter().any(|row| row["value"] == *current)) {
                return Err("the value of an option is not among those that are offered");
            }
            if ids.contains(&&option["id"]) {
                return Err("an option is there twice");
            }
            ids.push(&option["id"]);
            if option["id"] == "mode" {
                self.option = Some(current.clone());
            }
        }
        Ok(())
    }
}

fn fits<T>(read: serde_json::Result<T>) -> Result<(), &'static str> {
    match read {
        Ok(_) => Ok(()),
        Err(_) => Err("a part of the session's options does not have its schema"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn option(current: &str, offered: &[&str]) -> Value {
        let rows: Vec<Value> =
            offered.iter().map(|id| json!({ "value": id, "name": id })).collect();
        json!([{ "id": "mode", "name": "Mode", "type": "select", "currentValue": current,
                 "options": rows }])
    }

    fn opened(mode: &str) -> (Views, Result<(), &'static str>) {
        let mut views = Views::default();
        let modes =
            json!({ "currentModeId": mode, "availableModes": [{ "id": "a", "name": "A" }] });
        let result = json!({ "sessionId": "s", "modes": modes,
                             "configOptions": option("a", &["a", "b"]) });
        let judged = views.answered("session/new", "", &result);
        (views, judged)
    }

    #[test]
    fn both_views_move_together() {
        let (mut views, judged) = opened("a");
        assert_eq!(judged, Ok(()));
        let mode = json!({ "sessionUpdate": "current_mode_update", "currentModeId": "b" });
        assert_eq!(views.updated("s", &mode), Ok(()));
        assert!(views.answered("session/set_mode", "s", &json!({})).is_err(), "one is behind");
        let options = json!({ "sessionUpdate": "config_option_update",
                              "configOptions": option("b", &["a", "b"]) });
        assert_eq!(views.updated("s", &options), Ok(()));
        assert_eq!(views.answered("session/set_mode", "s", &json!({})), Ok(()));
        let reply = json!({ "configOptions": option("b", &["b"]) });
        assert_eq!(views.answered("session/set_config_option", "s", &reply), Ok(()));
    }

    #[test]
    fn what_no_editor_can_show_is_found() {
        assert!(opened("z").1.is_err(), "a mode that is not offered");
        let (mut views, _) = opened("a");
        let one = option("a", &["a"])[0].clone();
        let double = vec![one.clone(), one];
        for options in [option("c", &["a"]), json!([{ "id": "mode" }]), json!(double)] {
            let reply = json!({ "configOptions": options });
            assert!(views.answered("session/set_config_option", "s", &reply).is_err(), "{reply}");
        }
    }
}
