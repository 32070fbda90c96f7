use serde_json::{Value, json};

use super::Talk;

#[test]
fn the_word_gap_leaves_messages_out_and_a_page_from_the_notice_has_them() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "gap 3");
    talk.settle();

    let gap = talk.last("view/gap")["params"].clone();
    let seen: Vec<Value> =
        talk.frames.iter().map(|frame| frame["params"]["viewCursor"].clone()).collect();
    // Both ends were delivered, the far one before the notice (CUR-9).
    let at = |cursor: &Value| seen.iter().position(|other| other == cursor).unwrap();
    assert_eq!(at(&gap["next"]), at(&gap["after"]) + 1);
    let lost = |frame: &Value| frame["params"]["item"]["text"].to_string().contains("left out");
    assert!(
        !talk.of("item/completed").iter().any(|frame| {
            lost(frame) && frame["params"]["item"]["messagePhase"] == "commentary"
        })
    );

    let page = talk.request(
        "view/page",
        json!({ "sessionId": session, "cursor": gap["after"], "limit": 1000 }),
    );
    let events = page["result"]["events"].as_array().unwrap().clone();
    let found = events.iter().position(|event| event["params"]["viewCursor"] == gap["next"]);
    assert_eq!(found, Some(3), "three events, then the far end");
    assert!(events[..3].iter().all(lost));
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
    assert!(talk.rules().is_empty(), "{:?}", talk.rules());
}
