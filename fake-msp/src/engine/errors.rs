//! Typed errors of the wire.
//!
//! Purpose: the registry of codes and the [`Refusal`] value a command handler answers with.
//! Invariants: every refusal has a `data.kind`; `retryable` comes from the registry. Rules: ERR-*.

use serde_json::{Map, Value, json};

/// (code, primary kind, retry flag: `None` where the outcome is on the view).
pub(crate) const REGISTRY: &[(i64, &str, Option<bool>)] = &[
    (-32700, "parseError", Some(false)),
    (-32600, "invalidRequest", Some(false)),
    (-32601, "methodNotFound", Some(false)),
    (-32602, "invalidParams", Some(false)),
    (-32603, "internal", Some(false)),
    (-32001, "overloaded", Some(true)),
    (-32002, "inputTooLarge", Some(false)),
    (-32010, "capabilityRequired", Some(false)),
    (-32011, "notFound", Some(false)),
    (-32013, "interrupted", None),
    (-32014, "cancelled", None),
    (-32020, "sessionNotFound", Some(false)),
    (-32021, "sessionInUse", Some(false)),
    (-32022, "sessionAmbiguous", Some(false)),
    (-32023, "forkBoundaryInvalid", Some(false)),
    (-32024, "sessionNotLoaded", Some(false)),
    (-32025, "sessionStreamMismatch", Some(false)),
    (-32028, "limitsAboveMax", Some(false)),
    (-32029, "workspaceNotTrusted", Some(false)),
    (-32030, "commandRejected", Some(false)),
    (-32031, "backpressured", Some(true)),
    (-32032, "skillNotFound", Some(false)),
    (-32033, "computerUseUnavailable", Some(false)),
    (-32034, "marketplaceNotFound", Some(false)),
    (-32035, "pluginNotFound", Some(false)),
    (-32036, "marketplaceAlreadyExists", Some(false)),
    (-32037, "pluginMutationsDisabled", Some(false)),
    (-32038, "uploadNotFound", Some(false)),
    (-32039, "daemonDraining", Some(true)),
    (-32040, "viewTruncated", Some(false)),
    (-32041, "outputUnavailable", Some(false)),
    (-32042, "boundaryPruned", Some(false)),
    (-32050, "approvalNotFound", Some(false)),
    (-32051, "approvalAlreadyResolved", Some(false)),
    (-32052, "approvalChoiceInvalid", Some(false)),
    (-32053, "approvalRequirementStale", Some(false)),
    (-32054, "approvalReviewerUnavailable", Some(false)),
    (-32055, "userInputNotFound", Some(false)),
    (-32056, "userInputAlreadySettled", Some(false)),
    (-32057, "userInputAnswerInvalid", Some(false)),
    (-32080, "usageRefreshRateLimited", Some(true)),
    (-32081, "usageRefreshUnavailable", Some(false)),
    (-32082, "usageRefreshFailed", Some(false)),
];

/// An error answer: code, text and `data`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Map<String, Value>,
}

impl Refusal {
    /// An error with the primary kind of its code; unknown codes say `internal`.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        let (kind, retry) = REGISTRY
            .iter()
            .find(|(known, _, _)| *known == code)
            .map_or(("internal", None), |(_, kind, retry)| (*kind, *retry));
        let mut data = Map::new();
        data.insert("kind".into(), kind.into());
        if let Some(retryable) = retry {
            data.insert("retryable".into(), retryable.into());
        }
        Self { code, message: message.into(), data }
    }

    /// Adds a detail member, or replaces one.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.data.insert(name.into(), value.into());
        self
    }

    /// Replaces the kind by another one of the same code.
    pub(crate) fn kind(self, kind: &str) -> Self {
        self.with("kind", kind)
    }

    /// `-32030` with its reason word.
    pub(crate) fn rejected(command_id: &str, reason: &str) -> Self {
        Self::new(-32030, format!("command rejected: {reason}"))
            .with("commandId", command_id)
            .with("reason", reason)
    }

    /// `-32602`.
    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    /// Whether the rejection is durable, so that a replay answers it again (CMD-4).
    pub(crate) fn is_durable(&self) -> bool {
        self.code == -32030 || (-32057..=-32050).contains(&self.code)
    }

    /// The `error` member.
    pub(crate) fn to_value(&self) -> Value {
        json!({ "code": self.code, "message": self.message, "data": self.data })
    }
}
