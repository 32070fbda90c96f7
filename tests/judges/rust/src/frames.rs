//! Frames of a host through the SDK's own wire types.
//!
//! A line of the file is `{"method": …, "frame": …}`: the method says what the params or the result
//! are, and is null for an error without a known request.

use muse_code_sdk::msp::*;
use serde_json::{Value, json};

use crate::host::Error;

/// Reads a value as the type of a method; `None` for a method that the SDK does not have.
macro_rules! typed {
    ($method:expr, $value:expr; $($name:literal => $kind:ty,)*) => {
        match $method {
            $($name => Some(serde_json::from_value::<$kind>($value.clone()).map(drop)),)*
            _ => None,
        }
    };
}

fn notification(method: &str, params: &Value) -> Option<serde_json::Result<()>> {
    typed! { method, params;
        "approval/requested" => ApprovalRequestParams,
        "approval/resolved" => ApprovalResolvedParams,
        "approval/reviewing" => ApprovalRequestParams,
        "approval/updated" => ApprovalUpdatedParams,
        "computerUseSetup/changed" => ComputerUseSetupChanged,
        "item/completed" => ItemCompletedParams,
        "item/delta" => ItemDeltaParams,
        "item/started" => ItemStartedParams,
        "item/updated" => ItemUpdatedParams,
        "monitor/inboxItemAdmitted" => MonitorInboxItemAdmittedParams,
        "monitor/inboxItemDrained" => MonitorInboxItemDrainedParams,
        "monitor/inboxItemVoided" => MonitorInboxItemVoidedParams,
        "plugin/changed" => PluginChangedParams,
        "plugin/marketplaceChanged" => PluginMarketplaceChangedParams,
        "recap/completed" => RecapCompletedParams,
        "session/approvalModeChanged" => SessionApprovalModeChangedParams,
        "session/branchChanged" => SessionBranchChangedParams,
        "session/closed" => SessionClosedParams,
        "session/contextUsage" => SessionContextUsageParams,
        "session/goalChanged" => SessionGoalChangedParams,
        "session/leaveCompleted" => SessionLeaveCompletedParams,
        "session/listChanged" => SessionListChangedParams,
        "session/modelChanged" => SessionModelChangedParams,
        "session/modelRouteUnserved" => SessionModelRouteUnservedParams,
        "session/nameChanged" => SessionNameChangedParams,
        "session/reasoningEffortChanged" => SessionReasoningEffortChangedParams,
        "session/started" => SessionStartedParams,
        "session/statusChanged" => SessionStatusChangedParams,
        "session/todoListChanged" => SessionTodoListChangedParams,
        "session/tokenUsage" => SessionTokenUsageParams,
        "session/viewHealthChanged" => SessionViewHealthChangedParams,
        "skill/changed" => SkillChangedParams,
        "turn/completed" => TurnCompletedParams,
        "turn/foregroundCompleted" => TurnForegroundCompletedParams,
        "turn/modelRetryScheduled" => TurnModelRetryScheduledParams,
        "turn/retracted" => TurnRetractedParams,
        "turn/retryScheduled" => TurnRetryScheduledParams,
        "turn/started" => TurnStartedParams,
        "turn/unqueued" => TurnUnqueuedParams,
        "usage/changed" => SubscriptionUsage,
        "userInput/requested" => UserInputRequestParams,
        "userInput/settled" => UserInputSettledParams,
        "view/gap" => ViewGapParams,
    }
}

fn request(method: &str, params: &Value) -> Option<serde_json::Result<()>> {
    typed! { method, params;
        "approval/request" => ApprovalRequestParams,
        "userInput/request" => UserInputRequestParams,
    }
}

fn result(method: &str, result: &Value) -> Option<serde_json::Result<()>> {
    typed! { method, result;
        "approval/decide" => ApprovalDecideResult,
        "approval/listPending" => ApprovalListPendingResult,
        "computerUseSettings/read" => ComputerUseSettings,
        "computerUseSettings/update" => ComputerUseSettings,
        "computerUseSetup/check" => ComputerUseSetupState,
        "computerUseSetup/read" => ComputerUseSetupState,
        "computerUseSetup/start" => ComputerUseSetupState,
        "feedback/submit" => FeedbackSubmitResult,
        "goal/clear" => GoalCommandResult,
        "goal/edit" => GoalCommandResult,
        "goal/pause" => GoalCommandResult,
        "goal/resume" => GoalCommandResult,
        "goal/set" => GoalCommandResult,
        "hook/list" => HookListResult,
        "initialize" => InitializeResult,
        "item/readOutput" => ItemReadOutputResult,
        "media/upload" => MediaUploadResult,
        "model/list" => ModelListResult,
        "plugin/install" => PluginInstallResult,
        "plugin/list" => PluginListResult,
        "plugin/marketplaceAdd" => PluginMarketplaceRecordResult,
        "plugin/marketplaceRemove" => PluginMarketplaceRemoveResult,
        "plugin/marketplaceUpdate" => PluginMarketplaceRecordResult,
        "recap/cancel" => RecapCancelResult,
        "recap/request" => RecapRequestResult,
        "session/compact" => SessionCompactResult,
        "session/fork" => SessionForkResult,
        "session/leave" => SessionLeaveResult,
        "session/list" => SessionListResult,
        "session/read" => SessionReadResult,
        "session/rename" => SessionRenameResult,
        "session/resume" => SessionResumeResult,
        "session/setApprovalMode" => SessionSetApprovalModeResult,
        "session/setModel" => SessionSetModelResult,
        "session/setReasoningEffort" => SessionSetReasoningEffortResult,
        "session/sideChat" => SessionSideChatResult,
        "session/start" => SessionStartResult,
        "session/userShell" => SessionUserShellResult,
        "skill/import" => SkillImportResult,
        "skill/list" => SkillListResult,
        "skill/setActivation" => SkillSetActivationResult,
        "subagent/close" => CommandAcceptedResult,
        "subagent/followupTask" => CommandAcceptedResult,
        "subagent/interrupt" => CommandAcceptedResult,
        "subagent/readResult" => CommandAcceptedResult,
        "subagent/reopen" => CommandAcceptedResult,
        "subagent/resume" => CommandAcceptedResult,
        "subagent/sendMessage" => CommandAcceptedResult,
        "subagent/stop" => CommandAcceptedResult,
        "task/background" => TaskCommandResult,
        "task/list" => TaskListResult,
        "task/stop" => TaskCommandResult,
        "task/stopAll" => TaskStopAllResult,
        "turn/cancel" => TurnCancelResult,
        "turn/interrupt" => TurnInterruptResult,
        "turn/start" => TurnStartResult,
        "turn/steer" => TurnSteerResult,
        "turn/unqueue" => TurnUnqueueResult,
        "usage/read" => UsageReadResult,
        "userInput/answer" => UserInputAnswerResult,
        "userInput/cancel" => UserInputCancelResult,
        "userInput/clarify" => UserInputClarifyResult,
        "userInput/interrupt" => UserInputInterruptResult,
        "view/page" => ViewPageResult,
        "view/subscribe" => ViewSubscribeResult,
        "view/unsubscribe" => ViewUnsubscribeResult,
        "workflow/cancel" => WorkflowControlResult,
        "workflow/childControl" => WorkflowControlResult,
        "workflow/pause" => WorkflowControlResult,
        "workflow/resume" => WorkflowResumeResult,
    }
}

/// Counts what decoded, by method; names what did not.
pub(crate) fn decode_all(file: &str) -> Result<Value, Error> {
    let mut decoded = std::collections::BTreeMap::<String, u64>::new();
    let (mut problems, mut unknown) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(file)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let (method, frame) = (line["method"].as_str().unwrap_or_default(), &line["frame"]);
        match decode(method, frame) {
            None => unknown.push(method.to_owned()),
            Some(Ok(())) => *decoded.entry(method.to_owned()).or_default() += 1,
            Some(Err(error)) => problems.push(format!("{method}: {error}")),
        }
    }
    unknown.sort();
    unknown.dedup();
    Ok(json!({ "decoded": decoded, "problems": problems, "unknown": unknown }))
}

fn decode(method: &str, frame: &Value) -> Option<serde_json::Result<()>> {
    let envelope = match (frame.get("method"), frame.get("id"), frame.get("error")) {
        (Some(_), None, _) => serde_json::from_value::<Notification>(frame.clone()).map(drop),
        (Some(_), Some(_), _) => serde_json::from_value::<Request>(frame.clone()).map(drop),
        (None, _, Some(_)) => {
            return Some(serde_json::from_value::<ErrorResponse>(frame.clone()).map(drop));
        }
        (None, ..) => serde_json::from_value::<SuccessResponse>(frame.clone()).map(drop),
    };
    if let Err(error) = envelope {
        return Some(Err(error));
    }
    match (frame.get("method"), frame.get("id")) {
        (Some(_), None) => notification(method, &frame["params"]),
        (Some(_), Some(_)) => request(method, &frame["params"]),
        (None, _) => result(method, &frame["result"]),
    }
}
