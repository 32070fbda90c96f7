use serde_json::{Value, json};

use super::super::{Fault, Options};
use super::{Talk, scripted};

/// A scripted session: two messages, a compaction, one message.
fn compacted(options: Options) -> (Talk, String, String) {
    let mut talk = Talk::ready_with("1.4.14", Options { mode: scripted().mode, ..options });
    let session = talk.session();
    let message = |talk: &mut Talk, text: &str| {
        let sets = [("item.kind", json!("agentMessage")), ("item.text", json!(text))];
        talk.host.emit_lie("item/completed", &sets, None).unwrap();
    };
    message(&mut talk, "one");
    message(&mut talk, "two");
    let compaction = [
        ("item.kind", json!("compaction")),
        ("item.outcome", json!("compacted")),
        ("item.trigger", json!("manual")),
        ("item.strategyId", json!("summary")),
        ("item.summarizedThrough", json!("run:r:seq:9")),
    ];
    let installed = talk.host.emit("item/completed", &compaction, None).unwrap();
    message(&mut talk, "three");
    (talk, session, installed.view_cursor.unwrap())
}

fn resume(talk: &mut Talk, session: &str, more: Value) -> Value {
    let mut params = more;
    params["sessionId"] = session.into();
    talk.act("session/resume", params)["result"]["history"].clone()
}

#[test]
fn a_compaction_anchors_the_snapshot() {
    let (mut talk, session, boundary) = compacted(Options::default());
    for preference in ["auto", "anchored"] {
        let history = resume(&mut talk, &session, json!({ "history": preference }));
        assert_eq!(history["mode"], "anchoredSnapshot", "{preference}: CUR-5");
        assert_eq!(history["items"], Value::Null);
        let anchor = &history["snapshot"]["anchor"];
        assert_eq!(anchor["boundaryCursor"], boundary);
        assert_eq!(anchor["summarizedThrough"], "run:r:seq:9");
        let items = history["snapshot"]["state"]["items"].as_array().unwrap();
        let kinds: Vec<&Value> = items.iter().map(|item| &item["kind"]).collect();
        assert_eq!(kinds, ["compaction", "agentMessage"]);
        assert!(history["checkpointBoundary"]["throughItemId"].is_string());
    }
    let inline = resume(&mut talk, &session, json!({ "history": "inline" }));
    assert_eq!(inline["items"].as_array().unwrap().len(), 4);
    let snapshot = resume(&mut talk, &session, json!({ "history": "snapshot" }));
    assert_eq!(snapshot["mode"], "snapshot");
    assert!(snapshot["snapshot"].get("anchor").is_none());
}

#[test]
fn an_anchored_page_begins_behind_the_boundary() {
    let options = Options { retain_events: Some(1), ..Options::default() };
    let page = |talk: &mut Talk, session: &str, direction: &str| {
        let params = json!({ "sessionId": session, "limit": 10, "direction": direction,
            "anchor": "latestCompaction" });
        let id = talk.host.asked;
        talk.request("view/page", params);
        let ask = super::super::AskHandle(id + 1);
        talk.host.answer_ok(ask, &[]).map_err(|illegal| illegal.text)
    };
    let (mut talk, session, boundary) = compacted(Options::default());
    let forward = page(&mut talk, &session, "forward").unwrap();
    assert_eq!(forward["resolvedAnchor"]["boundaryCursor"], boundary);
    assert_eq!(forward["events"].as_array().unwrap().len(), 1);
    let backward = page(&mut talk, &session, "backward").unwrap();
    assert_eq!(backward["events"].as_array().unwrap().len(), 2, "older history");

    let (mut talk, session, _) = compacted(options);
    let more = [("item.kind", json!("agentMessage"))];
    talk.host.emit_lie("item/completed", &more, None).unwrap();
    assert!(page(&mut talk, &session, "forward").unwrap_err().contains("-32042"));
}

#[test]
fn a_history_that_does_not_fit_comes_down_its_chain() {
    let tell = |bytes: usize, length: usize| {
        let options = Options { history_bytes: bytes, ..Options::default() };
        let mut talk = Talk::ready_with("1.4.14", options);
        let session = talk.session();
        let long = "x".repeat(length);
        talk.prompt(&session, &long);
        talk.settle();
        (talk, session)
    };
    let (mut talk, session) = tell(1_000_000, 20_000);
    assert_eq!(resume(&mut talk, &session, json!({}))["mode"], "inline");
    let (mut talk, session) = tell(8_000, 20_000);
    let elided = resume(&mut talk, &session, json!({}));
    assert_eq!(elided["mode"], "snapshot", "CUR-5: large members are cut");
    let items = elided["snapshot"]["state"]["items"].as_array().unwrap();
    assert_eq!(items[0]["truncated"], true);
    assert!(items[0]["text"].as_str().unwrap().len() < 1000);
    let (mut talk, session) = tell(100, 20);
    assert_eq!(resume(&mut talk, &session, json!({}))["noneReason"], "historyBudget");
    let excluded = resume(&mut talk, &session, json!({ "excludeItems": true }));
    assert_eq!(excluded["noneReason"], "excluded");
}

#[test]
fn what_is_not_retained_is_truncated_and_what_never_was_is_missing() {
    let options = Options { retain_events: Some(3), ..Options::default() };
    let mut talk = Talk::ready_with("1.4.14", options);
    let session = talk.session();
    talk.prompt(&session, "hello");
    talk.settle();
    let all = talk.request("view/page", json!({ "sessionId": session, "limit": 1000 }));
    let events = all["result"]["events"].as_array().unwrap();
    assert_eq!(events.len(), 3);
    let old = talk.of("turn/started")[0]["params"]["viewCursor"].clone();
    for (method, name) in
        [("view/page", "cursor"), ("view/subscribe", "after"), ("session/resume", "cursor")]
    {
        let mut params = json!({ "sessionId": session, name: old, "limit": 10 });
        if method != "view/page" {
            params.as_object_mut().unwrap().remove("limit");
        }
        let answer = match method {
            "session/resume" => talk.act(method, params),
            _ => talk.request(method, params),
        };
        assert_eq!(answer["error"]["code"], -32040, "{method}: CUR-7");
        let earliest = answer["error"]["data"]["earliestCursor"].clone();
        let page = json!({ "sessionId": session, "limit": 10, "cursor": earliest });
        assert_eq!(talk.request("view/page", page)["result"]["events"], all["result"]["events"]);
    }
    let back = json!({ "sessionId": session, "limit": 10, "direction": "backward" });
    let back = talk.request("view/page", back);
    assert_eq!(back["result"]["events"].as_array().unwrap().len(), 3);
    assert_eq!(back["result"]["nextCursor"], Value::Null);
    assert_eq!(resume(&mut talk, &session, json!({}))["mode"], "inline", "the fold knows all");
}

#[test]
fn an_event_larger_than_a_frame_is_named_and_can_be_skipped() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let large = "x".repeat(12 * 1024 * 1024);
    let params = json!({ "item": { "itemId": "i", "revision": 1, "status": "completed",
        "kind": "agentMessage", "turnId": null, "text": large } });
    talk.host.store(&session, "item/completed", params);
    let page = talk.request("view/page", json!({ "sessionId": session, "limit": 1 }));
    assert_eq!(page["error"]["data"]["kind"], "pageEventTooLarge", "CUR-8");
    let cursor = page["error"]["data"]["viewCursor"].clone();
    let params = json!({ "sessionId": session, "limit": 1, "cursor": cursor });
    let page = talk.request("view/page", params);
    assert_eq!(page["result"]["events"], json!([]));
    assert_eq!(resume(&mut talk, &session, json!({}))["mode"], "snapshot", "elided");
}

#[test]
fn an_unhealthy_view_serves_nothing() {
    let (mut talk, session, _) = compacted(Options::default());
    talk.host.emit("session/viewHealthChanged", &[], None).unwrap();
    let history = resume(&mut talk, &session, json!({}));
    assert_eq!(history["noneReason"], "projectionUnavailable", "CUR-15");
}

#[test]
fn a_gap_lever_drops_events_that_a_page_still_has() {
    let faults = vec![Fault::Gap("item/started".into()), Fault::Gap("turn/completed".into())];
    let mut talk = Talk::ready_with("1.4.14", Options { faults, ..Options::default() });
    let session = talk.session();
    talk.prompt(&session, "hello");
    talk.settle();
    assert!(talk.of("item/started").is_empty() && talk.of("turn/completed").is_empty());
    let gaps = talk.of("view/gap");
    assert_eq!(gaps.len(), 3, "two items and the end of the turn");
    let mut filled = Vec::new();
    for gap in &gaps {
        let params = json!({ "sessionId": session, "limit": 1, "cursor": gap["params"]["after"] });
        let page = talk.request("view/page", params);
        filled.push(page["result"]["events"][0]["method"].clone());
    }
    assert_eq!(filled, ["item/started", "item/started", "turn/completed"], "HOST-10");
}

#[test]
fn a_script_need_not_say_the_ends_of_a_hole() {
    let (mut talk, _, _) = compacted(Options::default());
    let text = |text: &str| [("item.kind", json!("compaction")), ("item.reason", json!(text))];
    let before = talk.host.emit("item/completed", &text("a"), None).unwrap();
    talk.host.lose("item/completed", &text("b"), None).unwrap();
    talk.host.lose("item/completed", &text("c"), None).unwrap();
    let behind = talk.host.emit("item/completed", &text("d"), None).unwrap();
    talk.host.emit("item/completed", &text("e"), None).unwrap();
    let gap = talk.host.emit("view/gap", &[], None).unwrap().params;
    assert_eq!(gap["after"], before.view_cursor.unwrap(), "CUR-9");
    assert_eq!(gap["next"], behind.view_cursor.unwrap());
    let stale = talk.host.emit("view/gap", &[], None).unwrap_err();
    assert_eq!(stale.rule, "CUR-9", "nothing was lost since");
}
