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
    ("Session", "lastActivityAt", Era::V1_3),
    ("Session", "attention", Era::V1_3),
    ("Session", "kind", Era::V1_4),
    ("Session", "createdByClient", Era::V1_4),
    ("Session", "itemCount", Era::V1_4_14),
    ("SnapshotState", "name", Era::V1_3),
    ("SnapshotState", "reasoningEffort", Era::V1_3),
    ("Attached", "lastTurn", Era::V1_4),
    ("ApprovalResolvedParams", "decidedAt", Era::V1_4),
    ("UserInputSettledParams", "decidedAt", Era::V1_4),
    ("Item", "messagePhase", Era::V1_4),
    ("Item", "patchSummary", Era::V1_3),
    ("Item", "patchRef", Era::V1_3),
    ("Item", "paused", Era::V1_4),
    ("Item", "stopAvailable", Era::V1_4),
    ("WorkflowChild", "failureKind", Era::V1_4),
    ("Goal", "createdAtMs", Era::V1_4),
    ("Goal", "updatedAtMs", Era::V1_4),
    ("SkillCatalogEntry", "title", Era::V1_4),
    ("TurnStartParams", "userShell", Era::V1_4),
    ("TurnRetractedParams", "outcome", Era::V1_4),
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

/// Removes the members of `owner` that are newer than the profile.
pub(crate) fn trim(profile: &Profile, owner: &str, object: &mut Map<String, Value>) {
    for (_, member, _) in
        TAGGED.iter().filter(|(name, _, since)| *name == owner && *since > profile.era)
    {
        object.remove(*member);
    }
}
