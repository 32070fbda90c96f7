//! Conversations about goals, tasks, subagents, workflows and the rest of section 13.

use serde_json::{Value, json};

use super::Talk;

/// Prompts whose turns end by themselves.
const PROMPTS: &[&str] = &[
    "remember make all",
    "remember late make one",
    "write notes.txt",
    "fetch example.org",
    "ask soon 50",
    "task 3",
    "output 200",
    "output binary",
    "output lost",
    "patch",
    "shell ls",
    "subagent 3",
    "workflow",
    "goal less noise",
    "todo",
    "compact",
    "retry",
    "retry model",
];

pub(crate) fn conversations(talk: &mut Talk) {
    let session = talk.session();
    let id = |params: Value| {
        let mut params = params;
        params["sessionId"] = session.as_str().into();
        params
    };
    talk.act("session/compact", id(json!({})));
    for prompt in PROMPTS {
        talk.prompt(&session, prompt);
        talk.settle("allow_once");
        if *prompt == "make one" || prompt.starts_with("output") || *prompt == "patch" {
            read_outputs(talk, &session);
        }
    }
    talk.prompt(&session, "remember make two");
    talk.settle("allow_always");
    talk.prompt(&session, "remember late make three");
    talk.settle("allow_always");
    talk.act("session/compact", id(json!({})));
    talk.run_timers();
    talk.act("session/compact", id(json!({})));
    talk.act("session/userShell", id(json!({ "commandText": "git status" })));
    talk.run_timers();
    goals(talk, &session);
    for verb in ["sendMessage", "followupTask", "interrupt", "resume", "stop"] {
        talk.prompt(&session, "subagent wait");
        talk.run_timers();
        let agent = last_item(talk, "subagent")["subagentId"].clone();
        for verb in [verb, "readResult", "close", "stop", "reopen"] {
            let params = json!({ "subagentId": agent, "body": "b", "reason": "r" });
            let mut params = id(params);
            if !matches!(verb, "sendMessage" | "followupTask") {
                params.as_object_mut().expect("an object").remove("body");
            }
            talk.act(&format!("subagent/{verb}"), params);
            talk.run_timers();
        }
    }
    for verb in ["skip", "retry", "pause", "cancel"] {
        talk.prompt(&session, "workflow wait");
        talk.run_timers();
        let run = last_item(talk, "workflow")["workflowRunId"].clone();
        let control = |action: &str| {
            id(json!({ "workflowRunId": run, "childId": "c1", "attempt": 1, "action": action }))
        };
        if verb == "skip" || verb == "retry" {
            talk.act("workflow/childControl", control("skip"));
            talk.act("workflow/childControl", control(verb));
        } else {
            talk.act(&format!("workflow/{verb}"), id(json!({ "workflowRunId": run })));
        }
        talk.act("workflow/resume", id(json!({ "workflowRunId": run })));
        talk.act("workflow/cancel", id(json!({ "workflowRunId": run })));
        talk.run_timers();
        talk.act("workflow/cancel", id(json!({ "workflowRunId": run })));
    }
    tasks(talk, &session);
    catalogues(talk, &session);
    talk.request("session/read", id(json!({ "excludeItems": false })));
    talk.request("view/page", id(json!({ "limit": 1000 })));
}

fn last_item(talk: &Talk, kind: &str) -> Value {
    let mut items = talk.frames.iter().rev().map(|frame| &frame["params"]["item"]);
    items.find(|item| item["kind"] == kind).cloned().unwrap_or_default()
}

fn read_outputs(talk: &mut Talk, session: &str) {
    let item = last_item(talk, "toolCall");
    for name in ["outputRef", "patchRef"] {
        let reference = item[name]["id"].clone();
        for (reference, offset) in [(reference, 0), (json!("x"), 0)] {
            let params = json!({ "sessionId": session, "itemId": item["itemId"],
                "outputRef": reference, "offsetBytes": offset, "lengthBytes": 100 });
            talk.request("item/readOutput", params);
        }
    }
}

fn goals(talk: &mut Talk, session: &str) {
    let objective = json!({ "sessionId": session, "objective": "o" });
    let plain = json!({ "sessionId": session });
    talk.act("goal/clear", plain.clone());
    talk.act("goal/pause", plain.clone());
    talk.act("goal/set", objective.clone());
    talk.run_timers();
    talk.act("goal/pause", plain.clone());
    talk.act("goal/edit", objective);
    talk.act("goal/resume", plain);
    talk.run_timers();
    talk.act("goal/set", json!({ "sessionId": session, "objective": "wait" }));
    let turn = talk.last_param("turn/started", "turnId");
    let interrupt = json!({ "sessionId": session, "turnId": turn, "retract": true });
    talk.act("turn/interrupt", interrupt);
}

fn tasks(talk: &mut Talk, session: &str) {
    for verb in ["background", "stop", "stopAll"] {
        talk.prompt(session, "tool 4");
        let task = last_item(talk, "toolCall")["itemId"].clone();
        talk.request("task/list", json!({ "sessionId": session }));
        for task in [task, json!("x")] {
            let mut params = json!({ "sessionId": session, "taskId": task });
            if verb == "stopAll" {
                params = json!({ "sessionId": session });
            }
            talk.act(&format!("task/{verb}"), params);
        }
        talk.run_timers();
    }
}

fn catalogues(talk: &mut Talk, session: &str) {
    let plain = json!({ "sessionId": session });
    for query in ["skill/list", "hook/list", "plugin/list", "usage/read"] {
        let params = if query == "usage/read" { json!({}) } else { plain.clone() };
        talk.request(query, params);
    }
    let skill = |selector: &str| {
        json!({ "sessionId": session, "selector": selector, "scope": "bundled",
            "activation": "off" })
    };
    talk.act("skill/setActivation", skill("fake-hello"));
    talk.act("skill/setActivation", skill("x"));
    talk.act("skill/import", json!({ "sessionId": session, "source": "claude" }));
    let target = json!({ "marketplace": { "marketplace": "m", "name": "n" } });
    talk.act("plugin/install", json!({ "sessionId": session, "target": target }));
    let market = json!({ "sessionId": session, "name": "m", "source": "s" });
    talk.act("plugin/marketplaceAdd", market);
    talk.act("plugin/marketplaceRemove", json!({ "sessionId": session, "name": "m" }));
    talk.act("plugin/marketplaceUpdate", json!({ "sessionId": session, "name": "m" }));
    let chunk = json!({ "sessionId": session, "uploadId": "u", "mediaType": "video/mp4",
        "totalBytes": 1, "chunkIndex": 0, "chunkCount": 1, "chunkBase64": "AA==" });
    talk.act("media/upload", chunk);
    talk.act("recap/request", plain.clone());
    talk.act("recap/cancel", plain);
    let note = json!({ "classification": "bug", "note": "n", "withFiles": false });
    talk.request("feedback/submit", note);
    talk.request("computerUseSettings/read", json!({}));
    talk.act("computerUseSetup/start", json!({}));
    for part in [
        json!({ "type": "skill", "selector": "fake-review" }),
        json!({ "type": "video", "uploadId": "u" }),
    ] {
        talk.act("turn/start", json!({ "sessionId": session, "input": [part] }));
        talk.settle("allow_once");
    }
}
