//! Params of every stable client request, as const data.
//!
//! Purpose: what the oracle and the host's `-32602` check compare with. Members of the experimental
//! tier are marked: without the opt-in they are refused (HSK-7). Rules: appendix A and C,
//! CMD-12 for the members that tolerate null.

use super::shape::{Shape, Ty, nonnull, nullable, opt, req};
use crate::profiles::Era;

const EFFORT: Ty = Ty::Word(
    &["none", "minimal", "low", "medium", "high", "xhigh", "ultra"],
    &[("max", Era::V1_3)],
);

/// Discriminated by `type`; the reserved `mention` is unknown here, as on the wire (section 8.1).
const TURN_INPUT_PART: Ty = Ty::Tagged(
    "type",
    &[
        ("text", &Shape(&[req("text", Ty::Str)]), Era::First),
        (
            "image",
            &Shape(&[
                req("mediaType", Ty::Str),
                req("base64Data", Ty::Str),
                opt("width", Ty::Int),
                opt("height", Ty::Int),
            ]),
            Era::First,
        ),
        (
            "skill",
            &Shape(&[
                req("selector", Ty::Str),
                opt("arguments", Ty::Str),
                opt("source", Ty::Word(&["bundled", "user", "project", "plugin"], &[]))
                    .since(Era::V1_4),
            ]),
            Era::V1_3,
        ),
        ("video", &Shape(&[req("uploadId", Ty::Str)]), Era::V1_4),
    ],
);

const MCP_SERVER: Ty = Ty::Tagged(
    "transport",
    &[
        (
            "stdio",
            &Shape(&[
                req("command", Ty::Str),
                opt("args", Ty::Arr(&Ty::Str)),
                opt("env", Ty::Map(&Ty::Str)),
                opt("framing", Ty::Word(&["auto", "contentLength", "lineDelimitedJson"], &[])),
                opt("mode", Ty::Word(&["required", "optional"], &[])),
            ]),
            Era::V1_3,
        ),
        (
            "streamableHttp",
            &Shape(&[
                req("url", Ty::Str),
                opt("headers", Ty::Map(&Ty::Str)),
                opt("mode", Ty::Word(&["required", "optional"], &[])),
            ]),
            Era::V1_3,
        ),
    ],
);

const APPROVAL_REQUIREMENT_REF: Shape =
    Shape(&[req("approvalId", Ty::Str), req("sourceIndex", Ty::Int)]);

const APPROVAL_DECIDE_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("approvalId", Ty::Str),
    req("requirementId", Ty::Obj(&APPROVAL_REQUIREMENT_REF)),
    req("choiceId", Ty::Str),
    nullable("feedback", Ty::Str),
]);

const APPROVAL_LIST_PENDING_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str)]);

const COMPUTER_USE_SETTINGS_READ_PARAMS: Shape =
    Shape(&[opt("showBuiltIns", Ty::Bool), opt("installed", Ty::Bool)]);

const COMPUTER_USE_APP_PATCH: Shape = Shape(&[req("bundleId", Ty::Str), req("choice", Ty::Str)]);

const COMPUTER_USE_SETTINGS_UPDATE_PARAMS: Shape = Shape(&[
    opt("computerControl", Ty::Str),
    opt("screenshots", Ty::Str),
    opt("blockApps", Ty::Arr(&Ty::Str)),
    opt("unblockApps", Ty::Arr(&Ty::Str)),
    opt("apps", Ty::Arr(&Ty::Obj(&COMPUTER_USE_APP_PATCH))),
]);

const COMPUTER_USE_SETUP_READ_PARAMS: Shape = Shape(&[opt("sessionId", Ty::Str)]);

const COMPUTER_USE_SETUP_START_PARAMS: Shape =
    Shape(&[opt("sessionId", Ty::Str), req("commandId", Ty::Uuid)]);

const FEEDBACK_SUBMIT_PARAMS: Shape = Shape(&[
    req("classification", Ty::Word(&["bug", "badResult", "goodResult", "other"], &[])),
    req("note", Ty::Str),
    req("withFiles", Ty::Bool),
    opt("attachSessionRecord", Ty::Bool),
    opt("sessionId", Ty::Str),
    opt("clientArtifactsPath", Ty::Str),
]);

const GOAL_CLEAR_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid)]);

const GOAL_EDIT_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("objective", Ty::Str)]);

const GOAL_PAUSE_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid)]);

const GOAL_RESUME_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid)]);

const GOAL_SET_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("objective", Ty::Str)]);

const HOOK_LIST_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str)]);

const CLIENT_INFO: Shape =
    Shape(&[req("name", Ty::Str), req("version", Ty::Str), opt("title", Ty::Str)]);

const CLIENT_CAPABILITIES: Shape = Shape(&[
    opt("experimentalApi", Ty::Bool),
    opt("optOutNotificationMethods", Ty::Arr(&Ty::Str)),
    opt("requestedCapabilities", Ty::Arr(&Ty::Str)),
    opt("userInputDialogs", Ty::Bool).since(Era::V1_3),
]);

const INITIALIZE_PARAMS: Shape = Shape(&[
    req("clientInfo", Ty::Obj(&CLIENT_INFO)),
    opt("capabilities", Ty::Obj(&CLIENT_CAPABILITIES)),
]);

const ITEM_READ_OUTPUT_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("itemId", Ty::Str),
    req("outputRef", Ty::Str),
    opt("offsetBytes", Ty::Int),
    opt("lengthBytes", Ty::Int),
]);

const MEDIA_UPLOAD_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("uploadId", Ty::Str),
    req("mediaType", Ty::Str),
    req("totalBytes", Ty::Int),
    req("chunkIndex", Ty::Int),
    req("chunkCount", Ty::Int),
    req("chunkBase64", Ty::Str),
]);

const MODEL_LIST_PARAMS: Shape = Shape(&[opt("sessionId", Ty::Str)]);

const PLUGIN_INSTALL_MARKETPLACE_TARGET: Shape =
    Shape(&[req("marketplace", Ty::Str), req("name", Ty::Str)]);

const PLUGIN_INSTALL_LOCAL_PATH_TARGET: Shape =
    Shape(&[req("path", Ty::Str), opt("scope", Ty::Word(&["default", "user", "project"], &[]))]);

const PLUGIN_INSTALL_TARGET: Shape = Shape(&[
    opt("marketplace", Ty::Obj(&PLUGIN_INSTALL_MARKETPLACE_TARGET)),
    opt("localPath", Ty::Obj(&PLUGIN_INSTALL_LOCAL_PATH_TARGET)),
]);

const PLUGIN_INSTALL_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("target", Ty::Obj(&PLUGIN_INSTALL_TARGET)),
]);

const PLUGIN_LIST_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str)]);

const PLUGIN_MARKETPLACE_ADD_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("name", Ty::Str),
    req("source", Ty::Str),
]);

const PLUGIN_MARKETPLACE_REMOVE_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("name", Ty::Str)]);

const PLUGIN_MARKETPLACE_UPDATE_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("name", Ty::Str)]);

const RECAP_CANCEL_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid)]);

const RECAP_REQUEST_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid)]);

const SESSION_COMPACT_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), opt("turnId", Ty::Str)]);

const FORK_CUT_POINT: Shape = Shape(&[req("lastTurnId", Ty::Str)]);

const SESSION_FORK_PARAMS: Shape = Shape(&[
    req("commandId", Ty::Uuid),
    req("sessionId", Ty::Str),
    opt("cutPoint", Ty::Obj(&FORK_CUT_POINT)),
    opt("excludeItems", Ty::Bool),
]);

const SESSION_LEAVE_PARAMS: Shape =
    Shape(&[req("commandId", Ty::Uuid), req("sessionId", Ty::Str), opt("stop", Ty::Bool)]);

const SESSION_LIST_SESSION_ID_FILTER: Shape = Shape(&[req("anyOf", Ty::Arr(&Ty::Str))]);

const SESSION_LIST_BRANCH_FILTER: Shape = Shape(&[req("anyOf", Ty::Arr(&Ty::StrOrNull))]);

const SESSION_LIST_TEXT_FILTER: Shape = Shape(&[
    req("fields", Ty::Arr(&Ty::Word(&["name", "title"], &[]))),
    opt("allOf", Ty::Arr(&Ty::Str)),
    opt("anyOf", Ty::Arr(&Ty::Str)),
]);

const SESSION_LIST_FILTER: Shape = Shape(&[
    opt("sessionId", Ty::Obj(&SESSION_LIST_SESSION_ID_FILTER)),
    opt("branch", Ty::Obj(&SESSION_LIST_BRANCH_FILTER)),
    opt("text", Ty::Obj(&SESSION_LIST_TEXT_FILTER)),
]);

const SESSION_LIST_PARAMS: Shape = Shape(&[
    nullable("cursor", Ty::Str),
    opt("limit", Ty::Int),
    opt("workspaceRoot", Ty::Str),
    opt("updatedAfter", Ty::Str),
    opt("filter", Ty::Obj(&SESSION_LIST_FILTER)).since(Era::V1_4),
]);

const SESSION_READ_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), opt("excludeItems", Ty::Bool)]);

const SESSION_RENAME_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("name", Ty::Str)]);

const SESSION_CONFIG: Shape = Shape(&[opt("mcpServers", Ty::Map(&MCP_SERVER)).since(Era::V1_3)]);

const SESSION_RESUME_PARAMS: Shape = Shape(&[
    req("commandId", Ty::Uuid),
    nonnull("recoveryMode", Ty::Word(&["on", "off"], &[])).since(Era::V1_4),
    req("sessionId", Ty::Str),
    nullable("cursor", Ty::Str),
    opt("excludeItems", Ty::Bool),
    opt("history", Ty::Word(&["auto", "inline", "snapshot", "anchored"], &[])),
    nonnull("permissionProfile", Ty::Str).since(Era::V1_4),
    nonnull("modelId", Ty::Str).since(Era::V1_4_14),
    nonnull("config", Ty::Obj(&SESSION_CONFIG)).since(Era::V1_3),
]);

const SESSION_SET_APPROVAL_MODE_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("mode", Ty::Word(&["allowAll", "promptUnmatched", "onRequest", "denyUnmatched"], &[])),
]);

const MODEL_SELECTION: Shape = Shape(&[
    req("modelId", Ty::Str),
    opt("providerId", Ty::Str),
    nullable("profileId", Ty::Str),
    opt("displayLabel", Ty::Str),
]);

const SESSION_SET_MODEL_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("model", Ty::Obj(&MODEL_SELECTION)),
]);

const SESSION_SET_REASONING_EFFORT_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("reasoningEffort", EFFORT)]);

const SESSION_SIDE_CHAT_PARAMS: Shape =
    Shape(&[req("commandId", Ty::Uuid), req("sessionId", Ty::Str)]);

const SESSION_SPAWNED_BY: Shape =
    Shape(&[req("parentSessionId", Ty::Str), opt("project", Ty::Str), opt("thread", Ty::Str)]);

const WORKTREE: Ty = Ty::Tagged(
    "mode",
    &[
        ("create", &Shape(&[opt("baseRef", Ty::Str)]), Era::V1_4),
        ("existing", &Shape(&[req("path", Ty::Str)]), Era::V1_4),
    ],
);

const SESSION_LIMITS_CHOICE: Shape = Shape(&[
    opt("sandboxEnabled", Ty::Bool),
    opt("sandboxNetwork", Ty::Word(&["restricted", "enabled", "proxy-only"], &[])),
    opt("writesEnabled", Ty::Bool),
    opt("shellEnabled", Ty::Bool),
    opt("workspaceTrusted", Ty::Bool),
]);

const SESSION_START_PARAMS: Shape = Shape(&[
    req("commandId", Ty::Uuid),
    nonnull("recoveryMode", Ty::Word(&["on", "off"], &[])).since(Era::V1_4),
    opt("sessionId", Ty::Str),
    opt("workspaceRoot", Ty::Str),
    nonnull("workspaceRoots", Ty::Arr(&Ty::Str)).since(Era::V1_4),
    opt("modelId", Ty::Str),
    nullable("providerId", Ty::Str),
    nullable(
        "approvalMode",
        Ty::Word(&["allowAll", "promptUnmatched", "onRequest", "denyUnmatched"], &[]),
    ),
    nonnull("permissionProfile", Ty::Str).since(Era::V1_4),
    nonnull("config", Ty::Obj(&SESSION_CONFIG)),
    opt("spawnedBy", Ty::Obj(&SESSION_SPAWNED_BY)).since(Era::V1_4_14),
    nonnull("previousSessionId", Ty::Str).since(Era::V1_4_14),
    opt("worktree", WORKTREE).since(Era::V1_4).trial(),
    opt("limits", Ty::Obj(&SESSION_LIMITS_CHOICE)).since(Era::V1_4).trial(),
]);

const SESSION_USER_SHELL_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("commandText", Ty::Str)]);

const SKILL_IMPORT_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("source", Ty::Word(&["claude", "codex"], &[])),
    opt("dryRun", Ty::Bool),
    opt("force", Ty::Bool),
]);

const SKILL_LIST_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str)]);

const SKILL_SET_ACTIVATION_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("selector", Ty::Str),
    req("scope", Ty::Word(&["user", "project", "bundled", "plugin"], &[])),
    req("activation", Ty::Word(&["on", "userInvocableOnly", "off"], &[])),
]);

const SUBAGENT_OWNER_REASON_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("subagentId", Ty::Str),
    opt("reason", Ty::Str),
]);

const SUBAGENT_INPUT_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("subagentId", Ty::Str),
    req("body", Ty::Str),
]);

const SUBAGENT_TARGET_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("subagentId", Ty::Str)]);

const TASK_BACKGROUND_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("taskId", Ty::Str)]);

const TASK_LIST_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str)]);

const TASK_STOP_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("taskId", Ty::Str)]);

const TASK_STOP_ALL_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid)]);

const TURN_CANCEL_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), opt("turnId", Ty::Str)]);

const TURN_INTERRUPT_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    opt("turnId", Ty::Str),
    opt("retract", Ty::Bool),
]);

const TURN_USER_SHELL: Shape = Shape(&[req("commandText", Ty::Str)]);

const TURN_START_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("input", Ty::Arr(&TURN_INPUT_PART)),
    opt("ifBusy", Ty::Word(&["queue", "steer", "replace"], &[])),
    opt("displayText", Ty::Str),
    opt("reasoningEffort", EFFORT),
    nonnull("workspaceRoots", Ty::Arr(&Ty::Str)).since(Era::V1_4),
    nonnull("userShell", Ty::Obj(&TURN_USER_SHELL)).since(Era::V1_4),
    nonnull("tokenBudget", Ty::Int).since(Era::V1_4).trial(),
]);

const TURN_STEER_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("expectedTurnId", Ty::Str),
    req("input", Ty::Arr(&TURN_INPUT_PART)),
    opt("reasoningEffort", EFFORT),
    nonnull("tokenBudget", Ty::Int).since(Era::V1_4).trial(),
]);

const TURN_UNQUEUE_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("turnId", Ty::Str)]);

const USER_INPUT_ANSWER: Shape = Shape(&[
    req("questionId", Ty::Str),
    opt("selectedLabel", Ty::Str),
    opt("selectedLabels", Ty::Arr(&Ty::Str)),
    opt("freeText", Ty::Str),
    opt("note", Ty::Str),
]);

const USER_INPUT_ANSWER_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("userInputId", Ty::Str),
    req("answers", Ty::Arr(&Ty::Obj(&USER_INPUT_ANSWER))),
]);

const USER_INPUT_CANCEL_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("userInputId", Ty::Str),
    opt("reason", Ty::Str),
]);

const USER_INPUT_CLARIFICATION: Shape = Shape(&[req("format", Ty::Str), req("content", Ty::Str)]);

const USER_INPUT_CLARIFY_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("userInputId", Ty::Str),
    req("clarification", Ty::Obj(&USER_INPUT_CLARIFICATION)),
]);

const USER_INPUT_INTERRUPT_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("userInputId", Ty::Str),
    opt("answers", Ty::Arr(&Ty::Obj(&USER_INPUT_ANSWER))),
]);

const VIEW_PAGE_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    opt("cursor", Ty::Str),
    opt("anchor", Ty::Str),
    opt("direction", Ty::Word(&["forward", "backward"], &[])),
    req("limit", Ty::Int),
    opt("maxBytes", Ty::Int).since(Era::V1_4_14),
]);

const VIEW_SUBSCRIBE_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str), opt("after", Ty::Str)]);

const VIEW_UNSUBSCRIBE_PARAMS: Shape = Shape(&[req("sessionId", Ty::Str)]);

const WORKFLOW_CANCEL_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("workflowRunId", Ty::Str)]);

const WORKFLOW_CHILD_CONTROL_PARAMS: Shape = Shape(&[
    req("sessionId", Ty::Str),
    req("commandId", Ty::Uuid),
    req("workflowRunId", Ty::Str),
    req("childId", Ty::Str),
    req("attempt", Ty::Int),
    req("action", Ty::Word(&["skip", "retry"], &[])),
]);

const WORKFLOW_PAUSE_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("workflowRunId", Ty::Str)]);

const WORKFLOW_RESUME_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("commandId", Ty::Uuid), req("workflowRunId", Ty::Str)]);

const USER_INPUT_ENGAGED_PARAMS: Shape =
    Shape(&[req("sessionId", Ty::Str), req("userInputId", Ty::Str)]);

/// Methods that take no params.
const NONE: Shape = Shape(&[]);

/// The params shape of a client request or notification; `None` for names outside the tables.
pub(crate) fn params_of(method: &str) -> Option<&'static Shape> {
    let shape = match method {
        "approval/decide" => &APPROVAL_DECIDE_PARAMS,
        "approval/listPending" => &APPROVAL_LIST_PENDING_PARAMS,
        "computerUseSettings/read" => &COMPUTER_USE_SETTINGS_READ_PARAMS,
        "computerUseSettings/update" => &COMPUTER_USE_SETTINGS_UPDATE_PARAMS,
        "computerUseSetup/check" | "usage/read" | "initialized" => &NONE,
        "computerUseSetup/read" => &COMPUTER_USE_SETUP_READ_PARAMS,
        "computerUseSetup/start" => &COMPUTER_USE_SETUP_START_PARAMS,
        "feedback/submit" => &FEEDBACK_SUBMIT_PARAMS,
        "goal/clear" => &GOAL_CLEAR_PARAMS,
        "goal/edit" => &GOAL_EDIT_PARAMS,
        "goal/pause" => &GOAL_PAUSE_PARAMS,
        "goal/resume" => &GOAL_RESUME_PARAMS,
        "goal/set" => &GOAL_SET_PARAMS,
        "hook/list" => &HOOK_LIST_PARAMS,
        "initialize" => &INITIALIZE_PARAMS,
        "item/readOutput" => &ITEM_READ_OUTPUT_PARAMS,
        "media/upload" => &MEDIA_UPLOAD_PARAMS,
        "model/list" => &MODEL_LIST_PARAMS,
        "plugin/install" => &PLUGIN_INSTALL_PARAMS,
        "plugin/list" => &PLUGIN_LIST_PARAMS,
        "plugin/marketplaceAdd" => &PLUGIN_MARKETPLACE_ADD_PARAMS,
        "plugin/marketplaceRemove" => &PLUGIN_MARKETPLACE_REMOVE_PARAMS,
        "plugin/marketplaceUpdate" => &PLUGIN_MARKETPLACE_UPDATE_PARAMS,
        "recap/cancel" => &RECAP_CANCEL_PARAMS,
        "recap/request" => &RECAP_REQUEST_PARAMS,
        "session/compact" => &SESSION_COMPACT_PARAMS,
        "session/fork" => &SESSION_FORK_PARAMS,
        "session/leave" => &SESSION_LEAVE_PARAMS,
        "session/list" => &SESSION_LIST_PARAMS,
        "session/read" => &SESSION_READ_PARAMS,
        "session/rename" => &SESSION_RENAME_PARAMS,
        "session/resume" => &SESSION_RESUME_PARAMS,
        "session/setApprovalMode" => &SESSION_SET_APPROVAL_MODE_PARAMS,
        "session/setModel" => &SESSION_SET_MODEL_PARAMS,
        "session/setReasoningEffort" => &SESSION_SET_REASONING_EFFORT_PARAMS,
        "session/sideChat" => &SESSION_SIDE_CHAT_PARAMS,
        "session/start" => &SESSION_START_PARAMS,
        "session/userShell" => &SESSION_USER_SHELL_PARAMS,
        "skill/import" => &SKILL_IMPORT_PARAMS,
        "skill/list" => &SKILL_LIST_PARAMS,
        "skill/setActivation" => &SKILL_SET_ACTIVATION_PARAMS,
        "subagent/close" | "subagent/interrupt" | "subagent/stop" => &SUBAGENT_OWNER_REASON_PARAMS,
        "subagent/followupTask" | "subagent/sendMessage" => &SUBAGENT_INPUT_PARAMS,
        "subagent/readResult" | "subagent/reopen" | "subagent/resume" => &SUBAGENT_TARGET_PARAMS,
        "task/background" => &TASK_BACKGROUND_PARAMS,
        "task/list" => &TASK_LIST_PARAMS,
        "task/stop" => &TASK_STOP_PARAMS,
        "task/stopAll" => &TASK_STOP_ALL_PARAMS,
        "turn/cancel" => &TURN_CANCEL_PARAMS,
        "turn/interrupt" => &TURN_INTERRUPT_PARAMS,
        "turn/start" => &TURN_START_PARAMS,
        "turn/steer" => &TURN_STEER_PARAMS,
        "turn/unqueue" => &TURN_UNQUEUE_PARAMS,
        "userInput/answer" => &USER_INPUT_ANSWER_PARAMS,
        "userInput/cancel" => &USER_INPUT_CANCEL_PARAMS,
        "userInput/clarify" => &USER_INPUT_CLARIFY_PARAMS,
        "userInput/engaged" => &USER_INPUT_ENGAGED_PARAMS,
        "userInput/interrupt" => &USER_INPUT_INTERRUPT_PARAMS,
        "view/page" => &VIEW_PAGE_PARAMS,
        "view/subscribe" => &VIEW_SUBSCRIBE_PARAMS,
        "view/unsubscribe" => &VIEW_UNSUBSCRIBE_PARAMS,
        "workflow/cancel" => &WORKFLOW_CANCEL_PARAMS,
        "workflow/childControl" => &WORKFLOW_CHILD_CONTROL_PARAMS,
        "workflow/pause" => &WORKFLOW_PAUSE_PARAMS,
        "workflow/resume" => &WORKFLOW_RESUME_PARAMS,
        _ => return None,
    };
    Some(shape)
}
