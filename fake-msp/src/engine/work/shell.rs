//! `session/userShell`: a command that the user runs, not the model.
//!
//! Nothing is executed. Rules: HSK-5, ITM-6.

use serde_json::{Map, Value, json};

use super::super::plan::object;
use super::super::sessions::str_of;
use super::super::{After, Host, Refusal, Reply};
use super::{Change, Effect, accepted, queue};

impl Host {
    pub(super) fn session_user_shell(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        self.need("userShell", "session/userShell")?;
        let session = self.loaded(params)?;
        let text = str_of(params, "commandText").unwrap_or_default().to_owned();
        if text.trim().is_empty() {
            return Err(Refusal::invalid_params("commandText is empty"));
        }
        let command_id = str_of(params, "commandId").unwrap_or_default().to_owned();
        let effect = Effect::Shell { command_id, text, turn: None };
        after.push(After::Work { session: session.log.session_id.clone(), effect });
        Ok(accepted(params))
    }

    /// Refuses what needs a capability that was not granted (HSK-5).
    pub(in super::super) fn need(&self, capability: &str, what: &str) -> Result<(), Refusal> {
        if self.connection.granted.contains(&capability) {
            return Ok(());
        }
        let text = format!("{what} requires the {capability} capability");
        Err(Refusal::new(-32010, text).with("capability", capability))
    }

    pub(in super::super) fn begin_shell(
        &mut self,
        session: &str,
        command_id: &str,
        text: &str,
        turn: Option<&str>,
    ) -> String {
        let item = object(json!({
            "kind": "userShell", "commandText": text, "commandId": command_id,
        }));
        let life = [
            Change::Output("(fake host) nothing was executed\n".into()),
            Change::End { status: "completed", set: json!({ "exitCode": 0, "durationMs": 24 }) },
        ];
        self.begin_item(session, turn, item, queue(life))
    }
}
