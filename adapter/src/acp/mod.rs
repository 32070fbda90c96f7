//! The editor's messages: method names, error codes, and builders for what we send.
//!
//! Types come from the schema crate (docs/decisions/0003-acp-types.md). Parsing goes by method name
//! into the concrete struct (ACP-6); no text of an input reaches an error (WIRE-9).

pub mod steering;
pub mod update;

pub use agent_client_protocol_schema::v1 as schema;

use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use crate::wire::RpcError;

/// Methods of this version. Everything else is `-32601` (WIRE-8).
pub mod method {
    /// Client → agent.
    pub const INITIALIZE: &str = "initialize";
    /// Client → agent.
    pub const AUTHENTICATE: &str = "authenticate";
    /// Client → agent.
    pub const SESSION_NEW: &str = "session/new";
    /// Client → agent.
    pub const SESSION_PROMPT: &str = "session/prompt";
    /// Client → agent.
    pub const SESSION_CLOSE: &str = "session/close";
    /// Client → agent.
    pub const SESSION_SET_MODE: &str = "session/set_mode";
    /// Client → agent.
    pub const SESSION_SET_CONFIG_OPTION: &str = "session/set_config_option";
    /// Client → agent, negotiated (STE-1).
    pub const MUSE_STEER: &str = "_muse/steer";
    /// Client → agent, negotiated (STE-14).
    pub const SESSION_STEERING: &str = "_session/steering";
    /// Client → agent, notification.
    pub const SESSION_CANCEL: &str = "session/cancel";
    /// Both directions, notification.
    pub const CANCEL_REQUEST: &str = "$/cancel_request";
    /// Agent → client, notification.
    pub const SESSION_UPDATE: &str = "session/update";
    /// Agent → client.
    pub const REQUEST_PERMISSION: &str = "session/request_permission";
    /// Agent → client.
    pub const ELICITATION_CREATE: &str = "elicitation/create";
}

/// `-32700`: the line is not JSON in UTF-8. No `data` (WIRE-3).
#[must_use]
pub fn parse_error() -> RpcError {
    RpcError::new(-32700, "Parse error")
}

/// `-32600`: no envelope, or not now.
#[must_use]
pub fn invalid_request(why: &str) -> RpcError {
    RpcError::new(-32600, format!("Invalid request: {why}"))
}

/// `-32600` because something else of this session is under way (PO-32).
#[must_use]
pub fn busy(why: &str) -> RpcError {
    invalid_request(why).with_data(json!({ "availability": "busy" }))
}

/// `-32601`: unknown or not offered.
#[must_use]
pub fn method_not_found() -> RpcError {
    RpcError::new(-32601, "Method not found")
}

/// `-32602`: `why` is ours and quotes nothing of the input (WIRE-9).
#[must_use]
pub fn invalid_params(why: &str) -> RpcError {
    RpcError::new(-32602, format!("Invalid params: {why}"))
}

/// `-32602` for something that this agent does not offer.
#[must_use]
pub fn unsupported(why: &str) -> RpcError {
    unavailable("unsupported", why)
}

/// `-32602` for a choice that cannot be made now; `availability` is the reason in one word (MODE-3).
#[must_use]
pub fn unavailable(availability: &str, why: &str) -> RpcError {
    invalid_params(why).with_data(json!({ "availability": availability }))
}

/// `-32603`: our own fault.
#[must_use]
pub fn internal_error(why: &str) -> RpcError {
    RpcError::new(-32603, format!("Internal error: {why}"))
}

/// `-32000`: no credential.
#[must_use]
pub fn auth_required(why: &str) -> RpcError {
    RpcError::new(-32000, format!("Authentication required: {why}"))
}

/// `-32002` with the id that was asked for (PO-5).
#[must_use]
pub fn session_not_found(id: &str) -> RpcError {
    RpcError::new(-32002, "Session not found: create one with session/new")
        .with_data(json!({ "sessionId": id }))
}

/// Reads params into their type. Positional and missing params are refused (PIT-8, acp.md §5.1).
///
/// # Errors
/// `-32602` that names `method` and nothing of the input.
pub fn params<T: DeserializeOwned>(method: &str, raw: Option<&RawValue>) -> Result<T, RpcError> {
    let text = raw.map_or("{}", RawValue::get);
    if !text.starts_with('{') {
        return Err(invalid_params("params must be an object"));
    }
    serde_json::from_str(text).map_err(|_| {
        invalid_params(&format!("a required member of {method} is missing or has the wrong type"))
    })
}
