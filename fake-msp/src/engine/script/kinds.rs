//! What the model says of an item of which a script says little more than its kind.
//!
//! Purpose: the members that a real item of the kind has (section 9.3). It never judges.

use serde_json::{Map, Value, json};

use super::super::ids::{EPOCH_MS, rfc3339};
use super::super::plan::object;
use super::super::{Ids, Kind};

/// Members beside the common ones; `ended` is whether it comes with its terminal.
pub(super) fn members(ids: &mut Ids, now: u64, kind: &str, ended: bool) -> Map<String, Value> {
    let mut id = |kind: Kind| ids.next(kind);
    let value = match kind {
        "agentMessage" | "userMessage" => json!({ "text": "" }),
        "reasoning" => json!({ "summary": [] }),
        "toolCall" => json!({ "tool": "bash", "callId": id(Kind::Call), "args": "{}" }),
        "userShell" => {
            let mut shell = json!({ "commandText": "ls", "commandId": id(Kind::Call) });
            if ended {
                shell["exitCode"] = 0.into();
            }
            shell
        }
        "subagent" => json!({
            "subagentId": id(Kind::Agent), "agentPath": "worker", "depth": 1, "role": "worker",
            "objective": "work", "controlStatus": if ended { "closed" } else { "accepted" },
        }),
        "workflow" => json!({
            "workflowRunId": id(Kind::Agent), "entryId": "batch", "scriptId": "batch",
            "triggerSource": "modelProposal", "children": [],
        }),
        "reminderChild" => json!({
            "reminderAgentId": id(Kind::Agent), "generationId": 1, "taskId": id(Kind::Agent),
        }),
        "compaction" => {
            let mut item = json!({ "trigger": "manual" });
            if ended {
                item["outcome"] = "compacted".into();
                item["strategyId"] = "fake-summary".into();
                item["summarizedThrough"] = "start".into();
            }
            item
        }
        "hookRun" => json!({
            "hookKey": "hook", "event": "preToolUse", "runStatus": "completed", "label": "Hook",
        }),
        "sideChat" => json!({ "sideSessionId": id(Kind::Session) }),
        "monitorFeed" => json!({ "monitorId": id(Kind::Agent), "monitorDescription": "logs" }),
        "damagedRange" => json!({ "damagedRange": {
            "unreadableLines": 1, "missingRecords": 0, "readableAfterAt": rfc3339(now),
        } }),
        "scheduledFire" => json!({
            "jobId": id(Kind::Agent), "scheduledFireAtMs": EPOCH_MS + now, "deliveryNumber": 1,
        }),
        "backgroundTerminalCompletion" => json!({ "backgroundTerminalCompletion": {
            "toolCallId": id(Kind::Call), "command": "sleep", "terminalStatus": "completed",
            "output": "", "outputTruncated": false,
        } }),
        "earlierHistory" => json!({ "earlierHistory": { "messages": [] } }),
        _ => json!({}),
    };
    object(value)
}

/// Members that a known item gets with its terminal, if nobody has said them.
pub(super) fn at_the_end(item: &mut Value) {
    let missing = |item: &Value, name: &str| item.get(name).is_none_or(Value::is_null);
    match item["kind"].as_str() {
        Some("compaction") if missing(item, "outcome") => {
            item["outcome"] = "compacted".into();
            item["strategyId"] = "fake-summary".into();
            item["summarizedThrough"] = "start".into();
        }
        Some("userShell") if missing(item, "exitCode") && missing(item, "exitSignal") => {
            item["exitCode"] = 0.into();
        }
        Some("subagent") => item["controlStatus"] = "closed".into(),
        _ => {}
    }
}
