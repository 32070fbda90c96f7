//! `initialize`, `initialized`, and what may come when.
//!
//! Rules: HSK-1..8, HOST-2, HOST-3.

use serde_json::{Map, Value, json};

use super::{Host, Phase, Refusal, Reply};
use crate::oracle;
use crate::profiles::trim;

impl Host {
    /// Refuses what comes too early or twice. `initialize` itself is answered by [`Self::initialize`].
    pub(super) fn check_phase(&mut self, method: &str) -> Result<(), Refusal> {
        let refusal = |text: &str, kind: &str| Refusal::new(-32600, text).kind(kind);
        match (self.connection.phase, method) {
            (Phase::New, "initialize") => Ok(()),
            (_, "initialize") => {
                self.note(method, ("", "HSK-1", "initialize was sent before"));
                Err(refusal("already initialized", "alreadyInitialized"))
            }
            (Phase::New, _) => {
                self.note(method, ("", "HSK-1", "request before initialize"));
                Err(refusal("initialize comes first", "notInitialized"))
            }
            (Phase::Answered, _) => {
                self.note(method, ("", "HSK-1", "request before the initialized notification"));
                Err(refusal("the initialized notification is missing", "notInitialized"))
            }
            (Phase::Ready, _) => Ok(()),
        }
    }

    pub(super) fn on_initialized(&mut self, params: Option<&Value>) {
        match self.connection.phase {
            Phase::New => self.note("initialized", ("", "HSK-1", "sent before initialize")),
            Phase::Answered => self.connection.phase = Phase::Ready,
            Phase::Ready => self.note("initialized", ("", "HSK-1", "sent twice")),
        }
        if params.is_some() {
            // Both official clients leave them out; the schema declares none.
            self.note("initialized", ("params", "CMD-13", "this notification has no params"));
        }
    }

    pub(super) fn initialize(&mut self, params: &Map<String, Value>) -> Reply {
        let name = params["clientInfo"]["name"].as_str().unwrap_or_default();
        let well_named = !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if !well_named {
            let finding = oracle::Finding::noted("clientInfo.name".into(), "HOST-3", NAME_RULE);
            self.find("initialize", vec![finding]);
            return Err(Refusal::invalid_params(format!("clientInfo.name: {NAME_RULE}")));
        }
        let capabilities = params.get("capabilities").cloned().unwrap_or_else(|| json!({}));
        let words = |member: &str| -> Vec<String> {
            let list = capabilities[member].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let wanted = words("requestedCapabilities");
        self.connection.client_name = name.to_owned();
        self.connection.opted_out = words("optOutNotificationMethods").into_iter().collect();
        self.connection.experimental = capabilities["experimentalApi"] == true;
        self.connection.dialogs = capabilities["userInputDialogs"] != false;
        self.connection.granted = self
            .profile
            .grantable
            .iter()
            .copied()
            .filter(|name| wanted.iter().any(|wanted| wanted == name))
            .collect();
        self.connection.phase = Phase::Answered;

        let version = self.profile.version;
        let mut result = Map::new();
        let mut put = |name: &str, value: Value| result.insert(name.to_owned(), value);
        put("serverInfo", json!({ "name": "muse-session-server", "version": version }));
        put("userAgent", format!("muse-session-server/{version} (fake-msp)").into());
        put("museHome", self.options.muse_home.as_str().into());
        put("platformFamily", "unix".into());
        put("platformOs", "linux".into());
        put("schema", json!({ "version": 1, "fingerprint": self.profile.fingerprint }));
        put("grantedCapabilities", json!(self.connection.granted));
        put("experimentalApi", self.connection.experimental.into());
        put("sessionDurability", "durable".into());
        put("sandboxAvailability", "available".into());
        trim(self.profile, "InitializeResult", &mut result);
        Ok(Value::Object(result))
    }
}

const NAME_RULE: &str = "must be lower-case letters, digits and underscores";
