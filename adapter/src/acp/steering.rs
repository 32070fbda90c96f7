//! Params of `_muse/steer` and `_session/steering` (STE-1, STE-14).

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::invalid_params;
use crate::wire::RpcError;

/// What the editor asks for, in either form.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Steer<'a> {
    /// The session.
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
    /// The turn that is to be corrected. Null is no id: an editor that knows of no turn must not hit
    /// the one that runs.
    #[serde(default, borrow, deserialize_with = "text")]
    pub expected_turn_id: Option<Cow<'a, str>>,
    /// Content, as raw as that of a prompt (PRM-20).
    #[serde(borrow)]
    pub prompt: Vec<&'a RawValue>,
}

fn text<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    Cow::deserialize(from).map(Some)
}

/// Reads the params. `named`: the turn must be named.
///
/// # Errors
/// `-32602` that quotes nothing of the input.
pub fn read(params: Option<&RawValue>, named: bool) -> Result<Steer<'_>, RpcError> {
    let text = params.map_or("{}", RawValue::get);
    serde_json::from_str::<Steer<'_>>(text)
        .ok()
        .filter(|steer| text.starts_with('{') && (steer.expected_turn_id.is_some() || !named))
        .ok_or_else(|| {
            invalid_params("sessionId, expectedTurnId or prompt is missing or ill-typed")
        })
}
