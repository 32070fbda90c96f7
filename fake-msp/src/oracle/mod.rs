//! The client oracle: checks every frame that a client sends.
//!
//! Purpose: find what a tolerant host would let pass. Inputs: a client frame, the profile, the
//! model's sessions. Outputs: [`Violation`]s. Invariants: texts carry paths, members and rule ids,
//! never content; a finding that an unlucky order of two honest frames can explain is marked
//! `race`. It never changes the model and never writes to the wire. Rules: CMD-*, ENV-*, HOST-5.

pub(crate) mod model;
pub(crate) mod shape;
mod tables;
mod targets;

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value};

use crate::profiles::Profile;

/// Something a client did that the protocol does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which member of which frame, for example `turn/start.input[0].text`.
    pub path: String,
    /// Rule of the wire reference, for example `CMD-5`.
    pub rule: &'static str,
    /// What is wrong. Never contains values that the client sent.
    pub text: String,
    /// Frames that crossed on the wire can explain it: a scenario decides whether it matters.
    pub race: bool,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let race = if self.race { " (a crossing on the wire can explain it)" } else { "" };
        write!(f, "{}: {}: {}{race}", self.rule, self.path, self.text)
    }
}

/// A finding inside params, before the method's name is put in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) rule: &'static str,
    pub(crate) text: String,
    /// The host answers invalid params because of it.
    pub(crate) refused: bool,
    pub(crate) race: bool,
    /// It is refused because the client did not opt into the experimental tier (HSK-7).
    pub(crate) experimental: bool,
}

impl Finding {
    pub(crate) fn refused(path: String, rule: &'static str, text: impl Into<String>) -> Self {
        Self { path, rule, text: text.into(), refused: true, race: false, experimental: false }
    }

    pub(crate) fn noted(path: String, rule: &'static str, text: impl Into<String>) -> Self {
        Self { path, rule, text: text.into(), refused: false, race: false, experimental: false }
    }

    pub(crate) fn experimental(path: String) -> Self {
        let text = "experimental member without the opt-in";
        Self { experimental: true, ..Self::refused(path, "HSK-7", text) }
    }

    /// The same finding, explainable by frames that crossed.
    pub(crate) fn race(mut self) -> Self {
        self.race = true;
        self
    }

    /// Puts the method in front of the path.
    pub(crate) fn of(self, method: &str) -> Violation {
        let path = if self.path.is_empty() {
            method.to_owned()
        } else {
            format!("{method}.{}", self.path)
        };
        Violation { path, rule: self.rule, text: self.text, race: self.race }
    }
}

/// Takes the members away that this host generation does not know: it ignores them (CMD-13).
pub(crate) fn drop_newer(profile: &Profile, method: &str, params: &mut Map<String, Value>) {
    let newer = |name: &str| {
        let members = tables::params_of(method).map_or(&[][..], |shape| shape.0);
        members.iter().any(|member| member.name == name && member.since > profile.era)
    };
    params.retain(|name, _| !newer(name));
}

/// Checks the params of a known method against its table.
pub(crate) fn check_params(
    profile: &Profile,
    experimental: bool,
    method: &str,
    params: &Map<String, Value>,
) -> Vec<Finding> {
    let mut out = Vec::new();
    if let Some(shape) = tables::params_of(method) {
        let reader = shape::Reader { era: profile.era, experimental };
        shape::check(shape, params, reader, "", &mut out);
    }
    out
}
