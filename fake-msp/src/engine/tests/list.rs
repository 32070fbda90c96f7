use serde_json::{Value, json};

use super::super::Options;
use super::Talk;

/// `count` sessions, ten milliseconds apart, oldest first.
fn many(count: usize) -> (Talk, Vec<String>) {
    let mut talk = Talk::ready();
    let mut made = Vec::new();
    for index in 0..count {
        talk.now += 10;
        let root = format!("/w{}", index % 2);
        let answer = talk.act("session/start", json!({ "workspaceRoot": root }));
        made.push(answer["result"]["session"]["sessionId"].as_str().unwrap().to_owned());
    }
    (talk, made)
}

fn ids(page: &Value) -> Vec<String> {
    let rows = page["result"]["sessions"].as_array().unwrap().iter();
    rows.map(|row| row["sessionId"].as_str().unwrap().to_owned()).collect()
}

/// All pages of a listing.
fn walk(talk: &mut Talk, listing: &Value) -> (Vec<String>, usize) {
    let (mut all, mut pages) = (Vec::new(), 0);
    let mut params = listing.clone();
    loop {
        let page = talk.request("session/list", params.clone());
        assert!(page["error"].is_null(), "{page}");
        all.extend(ids(&page));
        pages += 1;
        match &page["result"]["nextCursor"] {
            Value::Null => return (all, pages),
            cursor => params["cursor"] = cursor.clone(),
        }
    }
}

#[test]
fn every_session_is_on_one_page_newest_first() {
    let (mut talk, mut made) = many(130);
    made.reverse();
    assert_eq!(walk(&mut talk, &json!({})), (made.clone(), 3), "SES-6: fifty to a page");
    assert_eq!(walk(&mut talk, &json!({ "limit": 200 })), (made.clone(), 1));
    assert_eq!(walk(&mut talk, &json!({ "limit": 13, "cursor": null })), (made, 10));
}

#[test]
fn what_is_used_while_somebody_pages_shifts_nobody_out() {
    let (mut talk, mut made) = many(6);
    let first = talk.request("session/list", json!({ "limit": 2 }));
    talk.now += 10;
    talk.prompt(&made[0], "hello");
    talk.settle();
    let next = first["result"]["nextCursor"].clone();
    let second = talk.request("session/list", json!({ "limit": 4, "cursor": next }));
    made.reverse();
    assert_eq!([ids(&first), ids(&second)].concat(), made[..5], "the oldest moved to the front");
    let again = talk.request("session/list", json!({ "limit": 1 }));
    assert_eq!(ids(&again), made[5..]);
}

#[test]
fn bounds_and_foreign_cursors_are_refused() {
    let (mut talk, _) = many(5);
    let page = talk.request("session/list", json!({ "limit": 2, "workspaceRoot": "/w0" }));
    let cursor = page["result"]["nextCursor"].clone();
    for bad in [
        json!({ "limit": 0 }),
        json!({ "limit": 201 }),
        json!({ "limit": -1 }),
        json!({ "cursor": "" }),
        json!({ "cursor": "v:x:1" }),
        json!({ "cursor": cursor }),
        json!({ "cursor": cursor, "workspaceRoot": "/w1" }),
        json!({ "updatedAfter": "yesterday" }),
    ] {
        assert_eq!(talk.request("session/list", bad.clone())["error"]["code"], -32602, "{bad}");
    }
    let same = json!({ "limit": 1, "cursor": cursor, "workspaceRoot": "/w0" });
    assert!(talk.request("session/list", same)["result"].is_object());
}

#[test]
fn filters_select_and_are_echoed_where_they_exist() {
    let (mut talk, made) = many(6);
    talk.act("session/rename", json!({ "sessionId": made[1], "name": "Repair the Shed" }));
    talk.prompt(&made[2], "paint the shed");
    talk.settle();
    let mut list = |params: Value| {
        let page = talk.request("session/list", params);
        (ids(&page), page["result"]["appliedFilter"].clone())
    };
    assert_eq!(list(json!({ "workspaceRoot": "/w0" })).0, [&*made[2], &made[4], &made[0]]);
    assert_eq!(list(json!({ "workspaceRoot": "/w0/" })).0, Vec::<String>::new(), "exact match");
    assert_eq!(list(json!({ "updatedAfter": "2026-01-01T00:00:00.050Z" })).0.len(), 3);
    let by_id = json!({ "sessionId": { "anyOf": [made[3], "other"] } });
    assert_eq!(list(json!({ "filter": by_id })), (vec![made[3].clone()], by_id));
    let text = json!({ "text": { "fields": ["name", "title"], "allOf": ["SHED"] } });
    assert_eq!(list(json!({ "filter": text })).0, [&*made[2], &made[1]]);
    let text = json!({ "text": { "fields": ["title"], "anyOf": ["repair", "paint"] } });
    assert_eq!(list(json!({ "filter": text })).0, [&*made[2]]);
    let branch = json!({ "branch": { "anyOf": [null] } });
    assert_eq!(list(json!({ "filter": branch })).0.len(), 6, "none has a branch");
    assert_eq!(list(json!({})).1, Value::Null);

    let mut old = Talk::ready_with("1.3.0", Options::default());
    old.session();
    let filtered =
        old.request("session/list", json!({ "filter": { "sessionId": { "anyOf": [] } } }));
    assert_eq!(ids(&filtered).len(), 1, "an older host ignores the member");
    assert_eq!(filtered["result"]["appliedFilter"], Value::Null);
    assert_eq!(old.rules(), ["CMD-13"], "and the oracle says so");
}

#[test]
fn rows_name_what_their_generation_knows() {
    for (version, titled) in [("1.1.1", false), ("1.3.0", true)] {
        let mut talk = Talk::ready_with(version, Options::default());
        let session = talk.session();
        talk.prompt(&session, "hello there");
        talk.settle();
        let row = talk.request("session/list", json!({}))["result"]["sessions"][0].clone();
        assert_eq!(row.get("title").is_some(), titled, "{version}: SES-8");
        assert_eq!(row["turnCount"], 1);
        assert!(row["path"].as_str().unwrap().contains("/sessions/2026/01/01/"));
    }
}

#[test]
fn list_changes_are_told_to_those_who_were_granted_them() {
    let mut talk = Talk::with("1.4.14", Options::default());
    talk.initialize(json!({ "requestedCapabilities": ["sessionListStream"] }));
    talk.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
    let session = talk.session();
    talk.prompt(&session, "hello");
    talk.settle();
    talk.act("session/rename", json!({ "sessionId": session, "name": "n" }));
    let rows = talk.of("session/listChanged");
    let status: Vec<&Value> = rows.iter().map(|row| &row["params"]["session"]["status"]).collect();
    assert_eq!(status, ["idle", "running", "idle", "idle"]);
    assert_eq!(rows[3]["params"]["session"]["name"], "n");

    let (mut other, made) = many(1);
    other.prompt(&made[0], "hello");
    assert!(other.of("session/listChanged").is_empty(), "HSK-5");
}
