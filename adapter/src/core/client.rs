//! What the editor said of itself in `initialize`, as far as a prompt depends on it.
//!
//! Invariant: a vendor key counts only with the exact number 1 (MTA-1), and only what counts is
//! acknowledged (MTA-2).

use serde_json::{Map, Value, json};

use crate::acp::{method, schema as acp};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// It shows forms (ELI-2).
    pub forms: bool,
    /// `muse/approval` (APR-16, APR-17).
    pub approval: bool,
    /// `muse/sessionState`; of its families this version reports `policyPersistence` (OBS-1, OBS-6).
    pub session_state: bool,
    /// `muse/steering` (STE-1).
    pub steering: bool,
    /// `steering` (STE-14); it also gives what `muse/steering` gives.
    pub compatible_steering: bool,
}

impl Client {
    /// Reads the capabilities of the editor.
    #[must_use]
    pub fn new(capabilities: &acp::ClientCapabilities) -> Self {
        let meta = capabilities.meta.as_ref();
        let negotiated = |key: &str| meta.and_then(|meta| meta.get(key)) == Some(&json!(1));
        Self {
            forms: capabilities.elicitation.as_ref().is_some_and(|kinds| kinds.supports_form()),
            approval: negotiated("muse/approval"),
            session_state: negotiated("muse/sessionState"),
            steering: negotiated("muse/steering"),
            compatible_steering: meta.and_then(|meta| meta.get("steering")).is_some_and(|value| {
                *value == json!(true) || value.get("supported") == Some(&json!(true))
            }),
        }
    }

    /// It corrects running turns: `_muse/steer` works and `muse/activeTurnId` is told (STE-3, STE-14).
    #[must_use]
    pub fn steers(self) -> bool {
        self.steering || self.compatible_steering
    }

    /// `_meta` of the answer to `initialize`: one entry per key that counts.
    #[must_use]
    pub fn acknowledgements(self) -> Option<Value> {
        let mut meta = Map::new();
        if self.approval {
            meta.insert("muse/approval".to_owned(), json!({ "version": 1 }));
        }
        if self.session_state {
            let acknowledgement = json!({ "version": 1, "reportingOnly": true });
            meta.insert("muse/sessionState".to_owned(), acknowledgement);
        }
        if self.steers() {
            let acknowledgement = json!({ "version": 1, "method": method::MUSE_STEER });
            meta.insert("muse/steering".to_owned(), acknowledgement);
        }
        if self.compatible_steering {
            let acknowledgement = json!({ "supported": true, "idle": "reject",
                                          "targeting": "active-at-admission" });
            meta.insert("steering".to_owned(), acknowledgement);
        }
        (!meta.is_empty()).then_some(Value::Object(meta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(capabilities: Value) -> Client {
        Client::new(&serde_json::from_value(capabilities).expect("decodes"))
    }

    #[test]
    fn a_key_counts_with_the_number_one_only() {
        assert!(client(json!({ "_meta": { "muse/approval": 1 } })).approval);
        for wrong in [json!(true), json!("1"), json!(2), json!(1.5), json!(null), json!({})] {
            let client = client(json!({ "_meta": { "muse/approval": wrong } }));
            assert!(!client.approval);
            assert_eq!(client.acknowledgements(), None);
        }
    }

    /// STE-14: the compatible key gives both; the other way round it does not.
    #[test]
    fn the_compatible_key_of_steering_gives_both_forms() {
        for value in [json!(true), json!({ "supported": true })] {
            let client = client(json!({ "_meta": { "steering": value } }));
            assert!(client.steers() && client.compatible_steering);
            let meta = client.acknowledgements().expect("acknowledged");
            assert_eq!(meta["muse/steering"]["method"], "_muse/steer");
            assert_eq!(meta["steering"]["idle"], "reject");
        }
        let muse = client(json!({ "_meta": { "muse/steering": 1 } }));
        assert!(muse.steers() && !muse.compatible_steering);
        assert_eq!(muse.acknowledgements().expect("acknowledged").get("steering"), None);
        for wrong in [json!(1), json!("true"), json!(false), json!({}), json!({ "supported": 1 })] {
            assert!(!client(json!({ "_meta": { "steering": wrong } })).steers());
        }
    }

    /// ELI-2, SCN-UIN-08.
    #[test]
    fn forms_are_what_the_editor_says_it_can_show() {
        assert!(client(json!({ "elicitation": { "form": {} } })).forms);
        for without in [
            json!({}),
            json!({ "elicitation": null }),
            json!({ "elicitation": {} }),
            json!({ "elicitation": { "form": null } }),
            json!({ "elicitation": { "form": false } }),
            json!({ "elicitation": { "url": {} } }),
        ] {
            assert!(!client(without.clone()).forms, "{without}");
        }
    }
}
