use super::*;
use serde_json::{Value, json};

/// Feeds events and renders the updates as short text.
struct Story {
    fold: Fold,
    out: Vec<acp::SessionUpdate>,
    now: Tick,
}

impl Story {
    fn new() -> Self {
        Self { fold: Fold::default(), out: Vec::new(), now: Tick::default() }
    }

    fn item(&mut self, item: Value) -> &mut Self {
        let mut full = json!({ "turnId": "t", "revision": 1, "status": "inProgress" });
        for (name, value) in item.as_object().expect("object") {
            full[name] = value.clone();
        }
        let item: Item = serde_json::from_str(&full.to_string()).expect("item");
        let turn = TurnId::from("t");
        self.fold.item(item, Some(&turn), "/w", &mut self.out).expect("room");
        self
    }

    fn delta(&mut self, item: &str, field: &str, text: &str) -> &mut Self {
        let delta = Delta {
            session_id: "s".into(),
            item_id: item.into(),
            view_cursor: None,
            field: Some(field.into()),
            delta: text.into(),
        };
        self.fold.delta(&delta, self.now, "/w", &mut self.out);
        self
    }

    fn texts(&self) -> String {
        self.out
            .iter()
            .map(|update| {
                let value = serde_json::to_value(update).expect("json");
                value["content"]["text"].as_str().unwrap_or_default().to_owned()
            })
            .collect()
    }

    fn cards(&self) -> Vec<Value> {
        self.out.iter().map(|update| serde_json::to_value(update).expect("json")).collect()
    }
}

#[test]
fn a_text_is_shown_once_across_deltas_snapshots_and_completion() {
    let mut story = Story::new();
    story
        .item(json!({ "itemId": "m", "kind": "agentMessage", "text": "" }))
        .delta("m", "text", "hel")
        .item(json!({ "itemId": "m", "kind": "agentMessage", "text": "hello", "revision": 2 }))
        .delta("m", "text", " wor")
        .item(json!({ "itemId": "m", "kind": "agentMessage", "text": "hello world",
                      "revision": 3, "status": "completed" }))
        .delta("m", "text", "late");
    assert_eq!(story.texts(), "hello world");
}

#[test]
fn an_old_or_equal_revision_is_ignored() {
    let mut story = Story::new();
    story
        .item(json!({ "itemId": "m", "kind": "agentMessage", "text": "ab", "revision": 5 }))
        .item(json!({ "itemId": "m", "kind": "agentMessage", "text": "abcd", "revision": 4 }))
        .item(json!({ "itemId": "m", "kind": "agentMessage", "text": "abcd", "revision": 5 }));
    assert_eq!(story.texts(), "ab");
}

#[test]
fn a_diverging_snapshot_adds_nothing_because_chunks_only_append() {
    let mut story = Story::new();
    story.item(json!({ "itemId": "m", "kind": "agentMessage", "text": "one" })).item(
        json!({ "itemId": "m", "kind": "agentMessage", "text": "two and more", "revision": 2 }),
    );
    assert_eq!(story.texts(), "one");
}

#[test]
fn after_a_lost_delta_the_rest_comes_with_the_next_snapshot() {
    let mut story = Story::new();
    story.item(json!({ "itemId": "m", "kind": "agentMessage", "text": "" }));
    story.delta("m", "text", "a");
    story.fold.lost("m");
    story.delta("m", "text", "c");
    assert_eq!(story.texts(), "a");
    story.item(json!({ "itemId": "m", "kind": "agentMessage", "text": "abc", "revision": 2 }));
    assert_eq!(story.texts(), "abc");
}

#[test]
fn summary_parts_are_separated_and_private_text_is_never_shown() {
    let mut story = Story::new();
    story
        .item(json!({ "itemId": "r", "kind": "reasoning", "text": "private" }))
        .delta("r", "summary.0", "Look")
        .delta("r", "text", "private")
        .delta("r", "summary.1", "Think")
        .item(json!({ "itemId": "r", "kind": "reasoning", "text": "private", "revision": 2,
                      "summary": ["Look closely", "Think"], "status": "completed" }));
    assert_eq!(story.texts(), "Look\nThink closely");
}

#[test]
fn items_of_another_turn_and_deltas_of_unknown_items_are_not_shown() {
    let mut story = Story::new();
    story
        .item(json!({ "itemId": "x", "kind": "agentMessage", "text": "no", "turnId": "old" }))
        .item(json!({ "itemId": "y", "kind": "agentMessage", "text": "no", "turnId": null }))
        .delta("x", "text", "no")
        .item(json!({ "itemId": "u", "kind": "userMessage", "text": "no" }));
    assert_eq!(story.texts(), "");
}

#[test]
fn a_huge_text_is_sent_in_chunks_that_every_client_takes() {
    let mut story = Story::new();
    let text = "ä".repeat(1024 * 1024);
    story.item(json!({ "itemId": "m", "kind": "agentMessage", "text": text }));
    assert_eq!(story.texts(), text);
    assert_eq!(story.out.len(), 8);
}

#[test]
fn a_card_is_opened_once_and_its_content_is_replaced() {
    let mut story = Story::new();
    story
        .item(json!({ "itemId": "i", "kind": "toolCall", "tool": "bash", "callId": "c",
                      "args": "{\"command\":\"make\"}" }))
        .delta("i", "output", "one\n")
        .delta("i", "output", "two\n")
        .item(json!({ "itemId": "i", "kind": "toolCall", "tool": "bash", "revision": 2,
                      "status": "failed", "failureReason": "exit 1" }));
    let cards = story.cards();
    assert_eq!(cards[0]["sessionUpdate"], "tool_call");
    assert_eq!((&cards[0]["title"], &cards[0]["kind"]), (&json!("make"), &json!("execute")));
    assert_eq!(cards[0]["rawInput"], json!({ "command": "make" }));
    let last = cards.last().expect("a card");
    assert_eq!(last["sessionUpdate"], "tool_call_update");
    assert_eq!(last["toolCallId"], "c");
    assert_eq!(last["status"], "failed");
    assert_eq!(last["content"][0]["content"]["text"], "one\ntwo\nexit 1");
    assert_eq!(cards.iter().filter(|card| card["sessionUpdate"] == "tool_call").count(), 1);
}

#[test]
fn the_bytes_sent_for_a_growing_output_are_linear() {
    let sent = |deltas: usize| {
        let mut story = Story::new();
        story.item(json!({ "itemId": "i", "kind": "toolCall", "tool": "bash" }));
        for _ in 0..deltas {
            story.delta("i", "output", "0123456789abcde\n");
        }
        story.cards().iter().map(|card| card.to_string().len()).sum::<usize>()
    };
    // Within the bound: a constant factor of the output. Beyond it: nothing more is sent.
    assert!(sent(4_000) < 16 * 4_000 * 16, "{}", sent(4_000));
    assert_eq!(sent(8_000), sent(800_000));
}

#[test]
fn output_that_was_held_back_is_sent_at_the_flush() {
    let mut story = Story::new();
    story.item(json!({ "itemId": "i", "kind": "toolCall", "tool": "bash" }));
    story.delta("i", "output", &"x".repeat(4096)).delta("i", "output", "tail");
    assert_eq!(story.fold.flush_at(), Some(Tick::default().after(FLUSH_AFTER)));
    story.fold.flush("/w", &mut story.out);
    let text = story.cards().pop().expect("a card")["content"][0]["content"]["text"].clone();
    assert!(text.as_str().expect("text").ends_with("tail"));
    assert_eq!(story.fold.flush_at(), None);
}

#[test]
fn a_card_that_outlives_its_turn_goes_on_and_a_new_one_does_not_start() {
    let mut story = Story::new();
    story.item(json!({ "itemId": "i", "kind": "toolCall", "tool": "bash" }));
    story.fold.end_turn("/w", &mut story.out);
    story.out.clear();
    for id in ["i", "new"] {
        let item = json!({ "itemId": id, "kind": "toolCall", "tool": "bash", "turnId": "t",
                           "revision": 2, "status": "completed", "visibleOutput": "done" });
        let item: Item = serde_json::from_str(&item.to_string()).expect("item");
        story.fold.item(item, None, "/w", &mut story.out).expect("room");
    }
    assert_eq!(story.out.len(), 1);
    assert_eq!(story.cards()[0]["sessionUpdate"], "tool_call_update");
    assert!(!story.fold.has_open_work());
}

#[test]
fn an_unknown_kind_is_shown_only_with_text_of_its_own() {
    let mut story = Story::new();
    story.item(json!({ "itemId": "a", "kind": "hologram", "fallbackText": "look" }));
    story.item(json!({ "itemId": "b", "kind": "hologram" }));
    let cards = story.cards();
    assert_eq!(cards.len(), 1);
    assert_eq!(cards[0]["title"], "hologram: inProgress");
    assert_eq!(cards[0]["content"][0]["content"]["text"], "look");
}
