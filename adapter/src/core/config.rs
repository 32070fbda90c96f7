//! What the editor can set in a session: one row per option (adapter-sessions.md §10.1).
//!
//! In: `configId` and value as they were sent. Out: a [`Change`], the options as the editor sees them.
//! Invariant: `modes` and the option `mode` are two views of one value (MODE-2). Another option is a row in
//! [`Change::read`] and [`Selection::options`]; nothing else knows how many there are.

use serde_json::Value;

use super::io::Facts;
use super::mode::Mode;
use crate::acp::{self, schema};
use crate::wire::RpcError;

/// What is chosen in a session (CFG-3: requested, not observed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The mode of the next prompt (MODE-8).
    pub mode: Mode,
}

/// One option and its new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// `mode`.
    Mode(Mode),
}

impl Change {
    /// What `session/set_config_option` asks for.
    ///
    /// # Errors
    /// CFG-4: `-32602` for an option that does not exist and a value that is no text, else as
    /// [`Mode::read`].
    pub fn read(id: &str, value: Option<&Value>, facts: &Facts) -> Result<Self, RpcError> {
        let word = value.and_then(Value::as_str);
        match (id, word) {
            ("mode", Some(word)) => Ok(Self::Mode(Mode::read(word, facts)?)),
            ("mode", None) => {
                Err(acp::invalid_params("value must be the id of one of the options"))
            }
            _ => {
                let why = "unknown configId: the options are in configOptions of session/new";
                Err(acp::unavailable("unknown", why))
            }
        }
    }

    /// Whether it may be made now (CFG-8, CFG-10).
    ///
    /// # Errors
    /// As [`Mode::available`].
    pub fn available(self, facts: &Facts) -> Result<(), RpcError> {
        let Self::Mode(mode) = self;
        mode.available(facts)
    }

    /// Whether a host that was started before it is of no use any more (the second table of §10.1).
    #[must_use]
    pub fn closes_host(self) -> bool {
        let Self::Mode(_) = self;
        true
    }
}

impl Selection {
    /// Whether the change would alter nothing (CFG-6).
    #[must_use]
    pub fn has(self, change: Change) -> bool {
        let Change::Mode(mode) = change;
        self.mode == mode
    }

    /// Makes the change.
    pub fn apply(&mut self, change: Change) {
        let Change::Mode(mode) = change;
        self.mode = mode;
    }

    /// `configOptions` (CFG-1).
    #[must_use]
    pub fn options(self, facts: &Facts) -> Vec<schema::SessionConfigOption> {
        let row = |mode: Mode| {
            schema::SessionConfigSelectOption::new(mode.id(), mode.name())
                .description(mode.description().to_owned())
        };
        let rows: Vec<_> = Mode::menu(Some(self.mode), facts).map(row).collect();
        let mode = schema::SessionConfigOption::select("mode", "Mode", self.mode.id(), rows);
        vec![mode.category(schema::SessionConfigOptionCategory::Mode).description(
            "Who decides when Muse needs an approval, from the next prompt on".to_owned(),
        )]
    }

    /// `modes` (MODE-9).
    #[must_use]
    pub fn modes(self, facts: &Facts) -> schema::SessionModeState {
        let row = |mode: Mode| {
            schema::SessionMode::new(mode.id(), mode.name())
                .description(mode.description().to_owned())
        };
        let rows = Mode::menu(Some(self.mode), facts).map(row).collect();
        schema::SessionModeState::new(self.mode.id(), rows)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts() -> Facts {
        Facts { root: false, flags: None }
    }

    /// CFG-1, MODE-9.
    #[test]
    fn both_views_show_the_same() {
        for mode in Mode::ALL {
            let selection = Selection { mode };
            let options = serde_json::to_value(selection.options(&facts())).expect("json");
            let modes = serde_json::to_value(selection.modes(&facts())).expect("json");
            let [option] = options.as_array().expect("a list").as_slice() else {
                panic!("one option")
            };
            assert_eq!(
                [&option["id"], &option["type"], &option["category"]],
                ["mode", "select", "mode"]
            );
            assert_eq!(option["currentValue"], modes["currentModeId"]);
            let rows = option["options"].as_array().expect("rows").iter();
            let twins = modes["availableModes"].as_array().expect("rows");
            assert_eq!(twins.len(), 4);
            for (row, twin) in rows.zip(twins) {
                assert_eq!(row["value"], twin["id"]);
                assert_eq!(
                    [&row["name"], &row["description"]],
                    [&twin["name"], &twin["description"]]
                );
            }
        }
    }

    /// CFG-4.
    #[test]
    fn an_unknown_option_and_a_value_that_is_no_text_are_refused() {
        let read = |id: &str, value: Option<Value>| Change::read(id, value.as_ref(), &facts());
        let good = read("mode", Some(json!("readOnly")));
        assert!(matches!(good, Ok(Change::Mode(Mode::ReadOnly))));
        for (id, value) in [
            ("mode", None),
            ("mode", Some(json!(true))),
            ("mode", Some(json!(null))),
            ("mode", Some(json!(["readOnly"]))),
            ("mode", Some(json!("ReadOnly"))),
            ("model", Some(json!("readOnly"))),
            ("", Some(json!("default"))),
        ] {
            let code = read(id, value.clone()).err().map(|error| error.code);
            assert_eq!(code, Some(-32602), "{id} {value:?}");
        }
    }
}
