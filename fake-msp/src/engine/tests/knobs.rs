//! Each knob of HOST-16 and HOST-17 is one sentence of a script.

use serde_json::{Value, json};

use super::super::script::EmittedRef;
use super::{FRAME_BYTES_MAX, Output, Talk, scripted};

fn bytes(talk: &Talk) -> Vec<&[u8]> {
    let raw = talk.effects.iter().filter_map(|effect| match effect {
        Output::Raw(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    raw.collect()
}

#[test]
fn odd_bytes() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    let long = vec![b'x'; FRAME_BYTES_MAX + 1];
    let odd: [&[u8]; 5] =
        [b"{\"jsonrpc\":\"2.0\"}\r\n", b"\n \n", b"{half\n", b"\xff\xfe\n", &long];
    for line in odd {
        talk.host.bytes(line);
    }
    talk.drain();
    assert_eq!(bytes(&talk), odd);
}

#[test]
fn odd_members_kinds_and_notifications() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    let sets = [
        ("item.kind", json!("hologram")),
        ("item.futureMember", json!({ "a": [1] })),
        ("item.fallbackText", Value::Null),
        ("futureMember", json!(true)),
    ];
    let item = talk.emit("item/completed", &sets, None);
    assert_eq!(item.params["item"]["futureMember"], json!({ "a": [1] }));
    assert_eq!(item.params["item"]["fallbackText"], Value::Null);
    assert_eq!(item.params["futureMember"], true);
    assert_eq!(talk.forbidden("session/auraChanged", &[], None), "HOST-18");
    let lie = talk.host.emit_lie("session/auraChanged", &[("aura", json!("red"))], None).unwrap();
    talk.drain();
    assert_eq!(talk.last("session/auraChanged")["params"], lie.params);
}

#[test]
fn odd_answers() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    let input = json!([{ "type": "text", "text": "go" }]);
    talk.act("turn/start", json!({ "sessionId": session, "input": input }));
    let (id, ask) = talk
        .effects
        .iter()
        .find_map(|effect| match effect {
            Output::Asked { id, handle, .. } => Some((id.clone(), *handle)),
            _ => None,
        })
        .unwrap();
    let answer = |id: Value| json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    talk.host.raw(&answer(json!(id.to_string())));
    talk.host.raw(&answer(json!(999_999)));
    // The client's deadline passes; then the answer comes, and comes again.
    talk.now += 10_000_000;
    talk.host.handle(talk.now, super::Input::Timer);
    talk.host.answer_ok(ask, &[]).unwrap();
    let real = talk.drain().pop().unwrap();
    talk.host.raw(&real);
    talk.drain();
    let ids: Vec<&Value> = talk.frames[talk.frames.len() - 4..].iter().map(|f| &f["id"]).collect();
    assert_eq!(ids, [&json!(id.to_string()), &json!(999_999), &id, &id]);
}

#[test]
fn odd_order() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    let item = talk.emit("item/started", &[], None);
    let done = talk.emit("item/completed", &[], Some(&item));
    let entity = item.entity.as_ref();
    let said = |name: &'static str, value: &Value| (name, value.clone());

    // A delta after the completion, a completion with the same revision, the same event twice.
    let late = [("delta", json!("late"))];
    assert_eq!(talk.forbidden("item/delta", &late, Some(&item)), "ITM-10");
    talk.host.emit_lie("item/delta", &late, entity).unwrap();
    let same = [said("item.revision", &done.params["item"]["revision"])];
    let equal = talk.host.emit_lie("item/completed", &same, entity).unwrap();
    assert_eq!(equal.params["item"]["revision"], done.params["item"]["revision"]);
    let twice = [
        same[0].clone(),
        said("viewCursor", &done.params["viewCursor"]),
        said("sourceRange", &done.params["sourceRange"]),
    ];
    let again = talk.host.emit_lie("item/completed", &twice, entity).unwrap();
    assert_eq!(again.params["viewCursor"], done.params["viewCursor"]);
    talk.drain();
    assert_eq!(talk.of("item/delta").len(), 1);
}

#[test]
fn gaps_late_and_twice() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    let text = |text: &str| [("item.text", json!(text))];
    let one = talk.emit("item/completed", &text("one"), None);
    talk.host.lose("item/completed", &text("two"), None).unwrap();
    let three = talk.emit("item/completed", &text("three"), None);
    talk.host.lose("item/completed", &text("four"), None).unwrap();
    let five = talk.emit("item/completed", &text("five"), None);
    let gap = |after: &EmittedRef, next: &EmittedRef| {
        [("after", json!(after.view_cursor)), ("next", json!(next.view_cursor))]
    };
    // Both name an end that was delivered before the notice (CUR-9).
    talk.emit("view/gap", &gap(&one, &three), None);
    talk.emit("view/gap", &gap(&three, &five), None);
    assert_eq!(talk.of("view/gap").len(), 2);
}
