//! Optional members of host frames by generation.
//!
//! Purpose: builders write the newest shape; [`trim`] removes what an older host would not send.
//! It knows names only. Rules: HOST-18, appendix C tags, section 17.

use serde_json::{Map, Value};

use super::{Era, Profile};

/// (owner type, member, first generation that writes it).
const TAGGED: &[(&str, &str, Era)] = &[
    ("InitializeResult", "sandboxAvailability", Era::V1_4),
    ("Session", "sideFrom", Era::V1_4),
    ("Session", "title", Era::V1_3),
    ("Session", "firstUserPrompt", Era::V1_3),
    ("Session", "name", Era::V1_3),
    ("Session", "nameOrigin", Era::V1_4),
    ("Session", "branch", Era::V1_3),
    ("Session", "lastActivityAt", Era::V1_3),
    ("Session", "attention", Era::V1_3),
    ("Session", "kind", Era::V1_4),
    ("Session", "createdByClient", Era::V1_4),
    ("Session", "itemCount", Era::V1_4_14),
    ("SessionHistory", "checkpointBoundary", Era::V1_4),
    ("SessionNameChangedParams", "nameOrigin", Era::V1_4),
    ("SnapshotState", "name", Era::V1_3),
    ("SnapshotState", "reasoningEffort", Era::V1_3),
    ("Attached", "lastTurn", Era::V1_4),
    ("ApprovalRequestParams", "subagentOrigin", Era::V1_3),
    ("ApprovalRequestParams", "cuaCardFacts", Era::V1_4),
    ("ApprovalRequestParams", "reviewerReason", Era::V1_4_14),
    ("ApprovalUpdatedParams", "subagentOrigin", Era::V1_3),
    ("ApprovalResolvedParams", "subagentOrigin", Era::V1_3),
    ("ApprovalResolvedParams", "decidedAt", Era::V1_4),
    ("UserInputSettledParams", "decidedAt", Era::V1_4),
    ("Item", "messagePhase", Era::V1_4),
    ("Item", "wakeSourceDescriptions", Era::V1_4_14),
    ("Item", "cutOff", Era::V1_4),
    ("Item", "toolReceipt", Era::V1_4),
    ("Item", "patchSummary", Era::V1_3),
    ("Item", "patchRef", Era::V1_3),
    ("Item", "held", Era::V1_4_14),
    ("Item", "heldFor", Era::V1_4_14),
    ("Item", "backgroundStatus", Era::V1_4),
    ("Item", "statusLine", Era::V1_4),
    ("Item", "statusPhase", Era::V1_4),
    ("Item", "statusProgress", Era::V1_4),
    ("Item", "statusStep", Era::V1_4),
    ("Item", "statusAttempt", Era::V1_4),
    ("Item", "statusHealth", Era::V1_4),
    ("Item", "statusChildren", Era::V1_4),
    ("Item", "displayLabel", Era::V1_4),
    ("Item", "workId", Era::V1_4),
    ("Item", "historyUnreadable", Era::V1_4_14),
    ("Item", "paused", Era::V1_4),
    ("Item", "tokenBudget", Era::V1_4),
    ("Item", "declaredPhase", Era::V1_4),
    ("Item", "finalSummary", Era::V1_4),
    ("Item", "stopAvailable", Era::V1_4),
    ("Item", "childPromptRefs", Era::V1_4),
    ("Item", "blocking", Era::V1_4),
    ("Item", "sideSessionId", Era::V1_4),
    ("Item", "selector", Era::V1_4),
    ("Item", "source", Era::V1_4),
    ("Item", "hookKey", Era::V1_4),
    ("Item", "event", Era::V1_4),
    ("Item", "runStatus", Era::V1_4),
    ("Item", "label", Era::V1_4),
    ("Item", "action", Era::V1_4),
    ("Item", "query", Era::V1_4),
    ("Item", "url", Era::V1_4),
    ("Item", "pattern", Era::V1_4),
    ("Item", "providerStatus", Era::V1_4),
    ("Item", "results", Era::V1_4),
    ("Item", "rawItem", Era::V1_4),
    ("Item", "monitorId", Era::V1_4),
    ("Item", "monitorDescription", Era::V1_4),
    ("Item", "damagedRange", Era::V1_4),
    ("Item", "backgroundTerminalCompletion", Era::V1_4),
    ("Item", "earlierHistory", Era::V1_4_14),
    ("Item", "jobId", Era::V1_4),
    ("Item", "scheduledFireAtMs", Era::V1_4),
    ("Item", "deliveryNumber", Era::V1_4),
    ("Item", "nextFireAtMs", Era::V1_4),
    ("Item", "terminalRowAfterItemId", Era::V1_4),
    ("Item", "replayHint", Era::V1_4),
    ("WorkflowChild", "failureKind", Era::V1_4),
    ("WorkflowChild", "failureReason", Era::V1_4),
    ("Goal", "createdAtMs", Era::V1_4),
    ("Goal", "updatedAtMs", Era::V1_4),
    ("SkillCatalogEntry", "title", Era::V1_4),
    ("TurnStartParams", "userShell", Era::V1_4),
    ("TurnRetractedParams", "outcome", Era::V1_4),
    ("SessionNameChangedParams", "nameOrigin", Era::V1_4),
    ("SessionNameChangedParams", "generatedName", Era::V1_4),
    ("TurnRetryScheduledParams", "system", Era::V1_4),
    ("TurnRetryScheduledParams", "errorKind", Era::V1_4),
    ("TurnRetryScheduledParams", "httpStatus", Era::V1_4),
    ("ModelCatalogEntry", "variants", Era::V1_3),
];

impl Profile {
    /// Whether this generation knows a member that came after the oldest schema.
    pub(crate) fn has(&self, owner: &str, member: &str) -> bool {
        let mut rows = TAGGED.iter();
        rows.all(|(name, known, since)| (*name, *known) != (owner, member) || *since <= self.era)
    }
}

/// (owner type, member, first generation that writes null where there is no value); older ones leave
/// the member out.
const NULL_SINCE: &[(&str, &str, Era)] = &[("SnapshotState", "name", Era::V1_4)];

/// Removes the members of `owner` that are newer than the profile.
pub(crate) fn trim(profile: &Profile, owner: &str, object: &mut Map<String, Value>) {
    for (_, member, _) in
        TAGGED.iter().filter(|(name, _, since)| *name == owner && *since > profile.era)
    {
        object.remove(*member);
    }
    for (_, member, _) in
        NULL_SINCE.iter().filter(|(name, _, since)| *name == owner && *since > profile.era)
    {
        if object.get(*member).is_some_and(Value::is_null) {
            object.remove(*member);
        }
    }
}
