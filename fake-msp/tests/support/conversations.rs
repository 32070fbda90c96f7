//! Conversations that make the fake host say everything that it can say.

use fake_msp::profiles::{ITEM_KINDS, NOTIFICATIONS, Profile};
use serde_json::json;

use super::Talk;

/// Prompts, each played to its end with every question answered.
const PROMPTS: &[&str] = &[
    "hello",
    "run ls -la",
    "run make a; pwd; make b",
    "ask",
    "tool 3",
    "gap 3",
    "burst 5 10",
    "burst 20 100000",
    "fail stepLimit",
];

/// Conversations that touch every frame the host can make by itself.
pub(crate) fn obliging(version: &str) -> Talk {
    let mut talk = Talk::ready(version);
    let session = talk.session();
    for (index, prompt) in PROMPTS.iter().enumerate() {
        talk.prompt(&session, prompt);
        talk.settle(if index == 2 { "allow_session" } else { "allow_once" });
    }
    talk.prompt(&session, "run rejected");
    talk.settle("abort");
    talk.act("session/setModel", json!({ "sessionId": session, "model": { "modelId": "m" } }));
    talk.act("session/setApprovalMode", json!({ "sessionId": session, "mode": "onRequest" }));
    let effort = json!({ "sessionId": session, "reasoningEffort": "low" });
    talk.act("session/setReasoningEffort", effort);
    talk.act("session/rename", json!({ "sessionId": session, "name": "n" }));
    talk.request("model/list", json!({}));
    talk.request("session/list", json!({}));
    let input = json!([{ "type": "image", "mediaType": "image/png", "base64Data": "" }]);
    talk.act("turn/start", json!({ "sessionId": session, "input": input, "displayText": "d" }));
    talk.settle("abort");
    let turn = talk.prompt(&session, "run pending");
    talk.run_timers();
    let steer = json!({ "sessionId": session, "expectedTurnId": turn,
        "input": [{ "type": "text", "text": "more" }] });
    talk.act("turn/steer", steer);
    let queued = talk.prompt(&session, "queued");
    for history in ["auto", "inline", "snapshot", "anchored"] {
        talk.act("session/resume", json!({ "sessionId": session, "history": history }));
    }
    talk.act("session/resume", json!({ "sessionId": session, "excludeItems": true }));
    talk.request("session/read", json!({ "sessionId": session, "excludeItems": false }));
    talk.request("approval/listPending", json!({ "sessionId": session }));
    talk.request("view/page", json!({ "sessionId": session, "limit": 1000 }));
    talk.request("view/page", json!({ "sessionId": session, "limit": 3, "direction": "backward" }));
    talk.act("turn/unqueue", json!({ "sessionId": session, "turnId": queued }));
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": turn }));
    refusals(&mut talk, &session);
    sessions(&mut talk, &session);
    super::work::conversations(&mut talk);
    talk
}

/// What moves whole sessions.
fn sessions(talk: &mut Talk, session: &str) {
    let fork = talk.act("session/fork", json!({ "sessionId": session }));
    let fork = fork["session"]["sessionId"].as_str().expect("a fork").to_owned();
    talk.act(
        "session/fork",
        json!({ "sessionId": session, "excludeItems": true,
        "cutPoint": { "lastTurnId": "nope" } }),
    );
    talk.act("session/sideChat", json!({ "sessionId": session }));
    talk.request("session/list", json!({ "limit": 1 }));
    let text = json!({ "text": { "fields": ["title"], "anyOf": ["hello"] } });
    talk.request("session/list", json!({ "filter": text, "workspaceRoot": "/w" }));
    talk.request("session/list", json!({ "limit": 0 }));
    talk.act("session/resume", json!({ "sessionId": fork, "history": "snapshot" }));
    talk.request("view/page", json!({ "sessionId": fork, "limit": 1000 }));
    talk.request("view/unsubscribe", json!({ "sessionId": session }));
    talk.request(
        "view/subscribe",
        json!({ "sessionId": session, "after": format!("v:{session}:1") }),
    );
    talk.act("session/leave", json!({ "sessionId": fork, "stop": true }));
    talk.request("session/read", json!({ "sessionId": fork, "excludeItems": false }));
    talk.act("session/setModel", json!({ "sessionId": fork, "model": { "modelId": "m" } }));
    talk.request("view/unsubscribe", json!({ "sessionId": session }));
}

/// One refusal of each kind that the model has.
fn refusals(talk: &mut Talk, session: &str) {
    let approval = talk.last_param("approval/requested", "approvalId");
    let requirement = json!({ "approvalId": approval, "sourceIndex": 0 });
    for (id, choice) in [(approval.clone(), "allow_once"), (json!("x"), "allow_once")] {
        talk.act(
            "approval/decide",
            json!({ "sessionId": session, "approvalId": id, "requirementId": requirement,
                "choiceId": choice }),
        );
    }
    let input = talk.last_param("userInput/requested", "userInputId");
    for id in [input, json!("x")] {
        talk.act("userInput/cancel", json!({ "sessionId": session, "userInputId": id }));
    }
    talk.act("turn/cancel", json!({ "sessionId": session }));
    talk.act("session/resume", json!({ "sessionId": session, "cursor": "v:1" }));
    talk.act("session/resume", json!({ "sessionId": "x" }));
    let anchor = json!({ "sessionId": session, "limit": 1, "anchor": "latestCompaction" });
    talk.request("view/page", anchor);
    talk.request("no/such", json!({}));
    talk.request("model/list", json!({ "sessionId": 1 }));
    talk.line(b"{");
    talk.line(b"[]");
}

/// Frames of the client, the gap, which names cursors that only a story knows, and the outcome of a
/// leave, which needs one that was admitted.
const NOT_GUESSED: &[&str] =
    &["view/gap", "initialized", "userInput/engaged", "session/leaveCompleted"];

/// Every event that the model can fill for a script which says nothing but its name.
pub(crate) fn scripted(profile: &str) -> Talk {
    let mut talk = Talk::scripted(profile);
    let session = talk.session();
    talk.prompt_scripted(&session);
    talk.emit("turn/started", &[]);
    for kind in ["userMessage", "agentMessage", "reasoning", "toolCall"] {
        let method = if kind == "toolCall" { "item/started" } else { "item/completed" };
        talk.emit(method, &[("item.kind", json!(kind))]);
    }
    for row in ITEM_KINDS {
        let there =
            row.since <= Profile::find(profile).expect("a known profile").era && !row.experimental;
        if there && row.name != "userMessage" {
            talk.emit("item/completed", &[("item.kind", json!(row.name))]);
        }
    }
    let guessed = NOTIFICATIONS.iter().filter(|row| {
        Profile::find(profile).expect("a known profile").notification(row.name).is_some()
            && !row.experimental
            && !NOT_GUESSED.contains(&row.name)
            && !row.name.starts_with("item/")
            && !matches!(row.name, "turn/started" | "turn/completed" | "turn/unqueued")
    });
    // Nothing of a session follows its end.
    let order = |name: &str| match name {
        "session/closed" => 2,
        name => u8::from(name.ends_with("resolved") || name.ends_with("settled")),
    };
    let mut names: Vec<&str> = guessed.map(|row| row.name).collect();
    // What is requested is updated, then resolved.
    names.sort_by_key(|name| (order(name), name.ends_with("updated"), *name));
    assert!(names.len() >= 20, "{names:?}");
    for name in names {
        talk.emit(name, &[]);
    }
    talk
}
