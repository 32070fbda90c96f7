//! What the editor has been shown of one session: items and deltas in, updates out.
//!
//! Invariants: an item is published only under the turn it was first seen in (TRN-6); each text is
//! sent exactly once, in the host's order (STR-5, TRN-9); a revision is applied once (STR-3); a delta
//! without an open item is dropped (STR-2); the result is the same however a text was split. Bounds:
//! [`ITEMS_MAX`] items a turn; texts are not kept (PO-43). It does not know the wire of the host, the
//! clock's source, or why a turn ends.

use std::time::Duration;

use indexmap::IndexMap;

use super::card::Card;
use super::io::Tick;
use super::text::{Shown, prefix};
use crate::acp::{schema as acp, update};
use crate::msp::event::{Delta, DeltaField};
use crate::msp::{Item, ItemId, Kind, TurnId};

/// Items of one turn, and cards that outlived theirs. Above it the turn fails: a host that opens more
/// is out of control.
pub const ITEMS_MAX: usize = 100_000;
/// Parts of one reasoning summary (STR-6).
const SUMMARY_PARTS_MAX: usize = 500;
/// A grown tool output is shown at the latest after this long; BKG-1 has the same figure.
pub const FLUSH_AFTER: Duration = Duration::from_millis(100);

/// Longest chunk of text in bytes.
const CHUNK_MAX: usize = 256 * 1024;

const HOST_CUT: &str = "\n[truncated by Muse]";

/// More items than [`ITEMS_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyItems;

/// See the module.
#[derive(Debug, Default)]
pub struct Fold {
    items: IndexMap<ItemId, Entry>,
    /// Cards with output that was not sent yet, and when it must be.
    unsent: Option<Tick>,
}

#[derive(Debug)]
struct Entry {
    revision: u64,
    open: bool,
    /// False once a delta was lost: what is shown must stay a prefix (PO-42).
    streaming: bool,
    noticed_cut: bool,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Message(Shown),
    Reasoning(Vec<Shown>),
    Card(Box<Card>),
    /// A card that ended: only its revision is still needed.
    EndedCard,
    /// Not for the editor (TRN-7, PO-14).
    Silent,
}

impl Fold {
    /// Applies a whole item. `turn` is the foreground turn; without one only cards that are already
    /// known go on (PO-20).
    ///
    /// # Errors
    /// [`TooManyItems`] when the item is new and there is no room.
    pub fn item(
        &mut self,
        item: Item,
        turn: Option<&TurnId>,
        workspace: &str,
        out: &mut Vec<acp::SessionUpdate>,
    ) -> Result<(), TooManyItems> {
        if let Some(entry) = self.items.get_mut(&item.item_id) {
            if item.revision > entry.revision {
                entry.revise(item, workspace, out);
            }
            return Ok(());
        }
        let foreground = turn.is_some() && item.turn_id.as_ref() == turn;
        if !foreground {
            return Ok(());
        }
        if self.items.len() >= ITEMS_MAX {
            return Err(TooManyItems);
        }
        let id = item.item_id.clone();
        self.items.insert(id, Entry::new(item, workspace, out));
        Ok(())
    }

    /// Applies a delta.
    pub fn delta(
        &mut self,
        delta: &Delta<'_>,
        now: Tick,
        workspace: &str,
        out: &mut Vec<acp::SessionUpdate>,
    ) {
        let Some(entry) = self.items.get_mut(&*delta.item_id) else { return };
        if !entry.open || !entry.streaming || delta.delta.is_empty() {
            return;
        }
        let id = &*delta.item_id;
        match (&mut entry.body, delta.target()) {
            (Body::Message(shown), DeltaField::Text) => {
                shown.append(&delta.delta);
                push_pieces(&delta.delta, |piece| out.push(update::message(id, piece)));
            }
            (Body::Reasoning(parts), DeltaField::Summary(part)) => {
                extend_part(parts, part, &delta.delta, id, out);
            }
            (Body::Card(card), DeltaField::Output) => {
                if !card.append(&delta.delta) {
                    return;
                }
                if card.wants_update() {
                    out.push(card.update(workspace, false));
                } else {
                    self.unsent.get_or_insert(now.after(FLUSH_AFTER));
                }
            }
            _ => {}
        }
    }

    /// An event of this item was lost: its deltas stop, the next snapshot brings the rest (PO-42).
    pub fn lost(&mut self, item: &str) {
        if let Some(entry) = self.items.get_mut(item) {
            entry.streaming = false;
        }
    }

    /// Events of open items may have been lost (GAP-3).
    pub fn lost_all(&mut self) {
        for entry in self.items.values_mut().filter(|entry| entry.open) {
            entry.streaming = false;
        }
    }

    /// When [`Fold::flush`] is due.
    #[must_use]
    pub fn flush_at(&self) -> Option<Tick> {
        self.unsent
    }

    /// Sends the cards whose output has grown since they were sent.
    pub fn flush(&mut self, workspace: &str, out: &mut Vec<acp::SessionUpdate>) {
        self.unsent = None;
        for entry in self.items.values_mut() {
            if let Body::Card(card) = &mut entry.body
                && card.has_unsent()
            {
                out.push(card.update(workspace, false));
            }
        }
    }

    /// The foreground turn is over: everything but open cards is forgotten. A late event of a
    /// forgotten item names an old turn and is not shown (TRN-6).
    pub fn end_turn(&mut self, workspace: &str, out: &mut Vec<acp::SessionUpdate>) {
        self.flush(workspace, out);
        self.items.retain(|_, entry| matches!(entry.body, Body::Card(_)));
    }

    /// The host is gone: open cards get their last word (BKG-3).
    pub fn host_lost(&mut self, out: &mut Vec<acp::SessionUpdate>) {
        for entry in self.items.values() {
            if let Body::Card(card) = &entry.body {
                out.push(card.lost());
            }
        }
        *self = Self::default();
    }

    /// Whether a card is still open: such a host is kept (HOST-11).
    #[must_use]
    pub fn has_open_cards(&self) -> bool {
        self.items.values().any(|entry| matches!(entry.body, Body::Card(_)))
    }
}

impl Entry {
    fn new(item: Item, workspace: &str, out: &mut Vec<acp::SessionUpdate>) -> Self {
        let body = match item.kind {
            Kind::AgentMessage => Body::Message(Shown::default()),
            Kind::Reasoning => Body::Reasoning(Vec::new()),
            _ if Card::is_displayable(&item) => {
                let mut card = Card::new(item.clone());
                out.push(card.open(workspace));
                if card.is_open() { Body::Card(Box::new(card)) } else { Body::EndedCard }
            }
            _ => Body::Silent,
        };
        let open = !item.status.is_terminal();
        let mut entry =
            Self { revision: item.revision, open, streaming: true, noticed_cut: false, body };
        entry.catch_up(&item, out);
        entry
    }

    fn revise(&mut self, item: Item, workspace: &str, out: &mut Vec<acp::SessionUpdate>) {
        self.revision = item.revision;
        self.open = !item.status.is_terminal();
        self.catch_up(&item, out);
        match &mut self.body {
            Body::Card(card) => {
                card.revise(item);
                out.push(card.update(workspace, true));
                if !card.is_open() {
                    self.body = Body::EndedCard;
                }
            }
            // An unknown kind that had nothing to show may have something now (PO-14).
            Body::Silent if Card::is_displayable(&item) => {
                let mut card = Card::new(item);
                out.push(card.open(workspace));
                self.body =
                    if card.is_open() { Body::Card(Box::new(card)) } else { Body::EndedCard };
            }
            _ => {}
        }
    }

    /// Sends what a snapshot says beyond what was shown (STR-4, STR-6, STR-8).
    fn catch_up(&mut self, item: &Item, out: &mut Vec<acp::SessionUpdate>) {
        let id = item.item_id.as_str();
        match &mut self.body {
            Body::Message(shown) => {
                let text = item.text.as_deref().unwrap_or_default();
                match shown.rest(text) {
                    Some("") => {}
                    Some(rest) => {
                        push_pieces(rest, |piece| out.push(update::message(id, piece)));
                        shown.append(rest);
                    }
                    // A cut text is shorter than its deltas were (ITM-9); an absent one says nothing.
                    None if text.is_empty() || item.truncated => {}
                    None => diverged(id),
                }
                if item.truncated && !self.noticed_cut {
                    self.noticed_cut = true;
                    out.push(update::message(id, HOST_CUT.to_owned()));
                }
            }
            Body::Reasoning(parts) => {
                for (part, text) in item.summary.iter().enumerate().take(SUMMARY_PARTS_MAX) {
                    let shown = parts.get(part).cloned().unwrap_or_default();
                    match shown.rest(text) {
                        Some(rest) if !rest.is_empty() => {
                            let rest = rest.to_owned();
                            extend_part(parts, part, &rest, id, out);
                        }
                        Some(_) => {}
                        None => diverged(id),
                    }
                }
                if item.truncated && !self.noticed_cut {
                    self.noticed_cut = true;
                    out.push(update::thought(id, HOST_CUT.to_owned()));
                }
            }
            Body::Card(_) | Body::EndedCard | Body::Silent => {}
        }
    }
}

/// STR-4: chunks only append, so what does not continue the shown text cannot be shown.
fn diverged(item: &str) {
    tracing::warn!(code = "text-diverged", item, "a snapshot does not continue what was shown");
}

/// A text in chunks that stay far below the longest line of any client (WIRE-6).
fn push_pieces(mut text: &str, mut push: impl FnMut(String)) {
    while !text.is_empty() {
        let piece = prefix(text, CHUNK_MAX);
        push(piece.to_owned());
        text = &text[piece.len()..];
    }
}

/// STR-6: a newline stands before the first text of every part but the first.
fn extend_part(
    parts: &mut Vec<Shown>,
    part: usize,
    text: &str,
    id: &str,
    out: &mut Vec<acp::SessionUpdate>,
) {
    if part >= SUMMARY_PARTS_MAX {
        return;
    }
    if parts.len() <= part {
        parts.resize_with(part + 1, Shown::default);
    }
    let shown = &mut parts[part];
    let separator = if part > 0 && shown.is_empty() { "\n" } else { "" };
    shown.append(text);
    push_pieces(&format!("{separator}{text}"), |piece| out.push(update::thought(id, piece)));
}

#[cfg(test)]
mod tests {
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
        assert!(!story.fold.has_open_cards());
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
}
