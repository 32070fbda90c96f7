use serde_json::{Value, json};

use super::{Options, Talk, outline};

fn cursors(events: &Value) -> Vec<String> {
    let events = events.as_array().unwrap();
    events.iter().map(|e| e["params"]["viewCursor"].as_str().unwrap().to_owned()).collect()
}

/// A session with one finished turn, and the cursors of its durable events in order.
fn told() -> (Talk, String, Vec<String>) {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "hello");
    talk.settle();
    let page = talk.request("view/page", json!({ "sessionId": session, "limit": 1000 }));
    let all = cursors(&page["result"]["events"]);
    (talk, session, all)
}

#[test]
fn a_page_holds_the_durable_events_in_order_and_no_deltas() {
    let (mut talk, session, all) = told();
    let live: Vec<String> = talk
        .frames
        .iter()
        .filter(|f| f["params"]["sourceRange"].is_object())
        .map(|f| f["params"]["viewCursor"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(all, live);

    let page = talk.request("view/page", json!({ "sessionId": session, "limit": 1000 }));
    assert_eq!(page["result"]["nextCursor"], Value::Null);
    for event in page["result"]["events"].as_array().unwrap() {
        assert_eq!(event.as_object().unwrap().len(), 2, "only method and params");
        assert_ne!(event["method"], "item/delta");
    }
}

#[test]
fn paging_is_exclusive_and_complete_in_both_directions() {
    let (mut talk, session, all) = told();
    for direction in ["forward", "backward"] {
        let mut collected: Vec<String> = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let mut params = json!({ "sessionId": session, "limit": 3, "direction": direction });
            if cursor.is_string() {
                params["cursor"] = cursor.clone();
            }
            let page = talk.request("view/page", params);
            let got = cursors(&page["result"]["events"]);
            collected = match direction {
                "forward" => [collected, got].concat(),
                _ => [got, collected].concat(),
            };
            cursor = page["result"]["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(collected, all, "{direction}");
    }
}

#[test]
fn page_params_are_checked() {
    let (mut talk, session, all) = told();
    let mut code = |extra: Value| {
        let mut params = json!({ "sessionId": session, "limit": 10 });
        for (name, value) in extra.as_object().unwrap() {
            params[name] = value.clone();
        }
        talk.request("view/page", params)["error"]["code"].clone()
    };
    assert_eq!(code(json!({ "limit": 0 })), -32602);
    assert_eq!(code(json!({ "limit": 1001 })), -32602);
    assert_eq!(code(json!({ "maxBytes": 0 })), -32602);
    assert_eq!(code(json!({ "anchor": "latestCompaction", "cursor": all[0] })), -32602);
    assert_eq!(code(json!({ "anchor": "latestCompaction" })), -32042);
    assert_eq!(code(json!({ "cursor": "v:other:1" })), -32011);
    assert_eq!(code(json!({ "cursor": format!("v:{session}:999999") })), -32011);
    assert_eq!(code(json!({ "cursor": format!("v:{session}:01") })), -32011);
    assert_eq!(code(json!({ "cursor": all[0], "maxBytes": 1 })), Value::Null);
    assert_eq!(talk.rules(), ["CUR-7"; 3]);
}

#[test]
fn resume_serves_the_folded_items_and_reissues_what_is_pending() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "run ls");
    talk.settle();
    let first = talk.last("approval/request");
    let before = talk.frames.len();

    let answer = talk.act("session/resume", json!({ "sessionId": session }));

    let frames = talk.frames[before..].to_vec();
    assert_eq!(outline(&frames), ["result", "approval/request"], "HOST-9");
    assert_eq!(frames[1]["params"], first["params"]);
    assert_eq!(frames[1]["id"], 2);
    let result = &answer["result"];
    assert_eq!(result["history"]["mode"], "inline");
    assert_eq!(result["history"]["items"].as_array().unwrap().len(), 3);
    assert_eq!(result["pendingRequests"][0]["kind"], "approval");
    assert_eq!(result["session"]["status"], "running");
    assert_eq!(result["session"]["approvalMode"]["source"], "replay");
}

#[test]
fn resume_after_a_cursor_pushes_the_later_events() {
    let (mut talk, session, all) = told();
    let before = talk.frames.len();

    let params = json!({ "sessionId": session, "cursor": all[2] });
    let answer = talk.act("session/resume", params);

    assert_eq!(answer["result"]["history"]["noneReason"], "cursorSuffix");
    let pushed: Vec<String> = talk.frames[before + 1..]
        .iter()
        .map(|f| f["params"]["viewCursor"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(pushed, all[3..]);

    let params = json!({ "sessionId": session, "cursor": "v:x:1" });
    let answer = talk.act("session/resume", params);
    assert_eq!(answer["error"]["data"]["reason"], "missingAnchor");
    assert_eq!(answer["error"]["data"]["anchor"], "v:x:1");

    let start = json!({ "sessionId": session, "cursor": format!("v:{session}:0") });
    let answer = talk.act("session/resume", start);
    assert_eq!(answer["result"]["history"]["mode"], "inline", "as if there were no cursor");
}

#[test]
fn a_snapshot_is_the_state_at_the_head() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "wait");
    talk.prompt(&session, "next");

    let params = json!({ "sessionId": session, "history": "snapshot" });
    let answer = talk.act("session/resume", params);

    let snapshot = &answer["result"]["history"]["snapshot"];
    assert_eq!(snapshot["viewCursor"], answer["result"]["viewCursor"]);
    assert_eq!(snapshot["state"]["items"].as_array().unwrap().len(), 1);
    assert_eq!(snapshot["state"]["queuedTurns"].as_array().unwrap().len(), 1);
    assert!(snapshot["state"]["activeTurn"]["turnId"].is_string());
}

#[test]
fn an_unsubscribed_client_gets_nothing_until_it_resumes() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.request("view/unsubscribe", json!({ "sessionId": session }));
    let before = talk.frames.len();

    talk.prompt(&session, "hello");
    talk.settle();
    let seen = outline(&talk.frames[before..]);
    let broadcasts = ["result", "session/statusChanged", "session/statusChanged"];
    assert_eq!(seen, broadcasts, "broadcasts do not ask who is subscribed (SES-12)");

    talk.act("session/resume", json!({ "sessionId": session }));
    talk.prompt(&session, "again");
    assert_eq!(talk.of("turn/started").len(), 1);
}

#[test]
fn unknown_sessions_are_named_as_such() {
    let mut talk = Talk::ready();
    for method in ["session/resume", "turn/start", "session/setModel"] {
        let params = json!({ "sessionId": "nope", "input": [{ "type": "text", "text": "x" }],
            "model": { "modelId": "m" } });
        let answer = talk.act(method, params);
        assert_eq!(answer["error"]["code"], -32020, "{method}");
    }
}

#[test]
fn the_list_pages_newest_first() {
    let mut talk = Talk::ready_with("1.4.14", Options::default());
    let mut made = Vec::new();
    for _ in 0..3 {
        talk.now += 10;
        made.push(talk.session());
    }
    let first = talk.request("session/list", json!({ "limit": 2 }));
    let next = first["result"]["nextCursor"].clone();
    let second = talk.request("session/list", json!({ "limit": 2, "cursor": next }));
    let ids: Vec<Value> = [&first, &second]
        .iter()
        .flat_map(|page| page["result"]["sessions"].as_array().unwrap().clone())
        .map(|row| row["sessionId"].clone())
        .collect();
    made.reverse();
    assert_eq!(ids, made.iter().map(|id| json!(id)).collect::<Vec<_>>());
    assert_eq!(second["result"]["nextCursor"], Value::Null);
}
