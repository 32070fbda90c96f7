//! `msp_fold`: whatever items and deltas a host sends, the editor sees a prefix of its words, once.

use std::collections::{BTreeMap, BTreeSet};

use arbitrary::Arbitrary;
use serde_json::json;

use crate::acp::schema::{ContentBlock, SessionUpdate};
use crate::core::Tick;
use crate::core::fold::Fold;
use crate::msp::event::Delta;
use crate::msp::{Item, TurnId};

/// One thing that a host may send.
#[derive(Arbitrary, Clone, Debug)]
pub enum FoldOp {
    /// A whole item.
    Item {
        /// Which of four.
        item: u8,
        /// Its kind.
        kind: u8,
        /// Grows, or not.
        revision: u8,
        /// Open or ended.
        ended: bool,
        /// Foreign items belong to another turn.
        foreign: bool,
        /// Text, output and summary.
        text: String,
    },
    /// A delta.
    Delta {
        /// Which of four.
        item: u8,
        /// Which field.
        field: u8,
        /// Appended.
        text: String,
    },
    /// A delta that was lost on the way.
    Lost {
        /// Which of four.
        item: u8,
    },
    /// Time for held output.
    Flush,
}

const KINDS: [&str; 6] = ["agentMessage", "reasoning", "toolCall", "userMessage", "userShell", "x"];
const FIELDS: [&str; 5] = ["text", "summary.0", "summary.1", "output", "other"];

/// Feeds the operations whole and with every delta cut into characters.
///
/// # Panics
/// When the two differ in text, a card is updated before it was opened, or a text is sent that the
/// host never said.
pub fn msp_fold(ops: &[FoldOp]) {
    let whole = play(ops, false);
    let cut = play(ops, true);
    assert_eq!(whole.texts, cut.texts, "the same text however it was cut");
    assert_eq!(whole.last_cards, cut.last_cards, "the same cards however output was cut");
}

#[derive(Default)]
struct Seen {
    texts: BTreeMap<String, String>,
    opened: BTreeSet<String>,
    last_cards: BTreeMap<String, String>,
}

fn play(ops: &[FoldOp], cut: bool) -> Seen {
    let turn = TurnId::from("t");
    let (mut fold, mut seen) = (Fold::default(), Seen::default());
    for op in ops {
        let mut out = Vec::new();
        match op {
            FoldOp::Item { item, kind, revision, ended, foreign, text } => {
                let value = json!({
                    "itemId": format!("i{}", item % 4), "kind": KINDS[usize::from(*kind) % KINDS.len()],
                    "turnId": if *foreign { "other" } else { "t" }, "revision": revision,
                    "status": if *ended { "completed" } else { "inProgress" },
                    "text": text, "summary": [text, text], "tool": "bash", "visibleOutput": text,
                });
                let item: Item = serde_json::from_str(&value.to_string()).expect("an item");
                fold.item(item, Some(&turn), "/w", &mut out).expect("room for four");
            }
            FoldOp::Delta { item, field, text } => {
                let id = format!("i{}", item % 4);
                let field = FIELDS[usize::from(*field) % FIELDS.len()];
                let mut push = |piece: &str| {
                    let delta = Delta {
                        session_id: "s".into(),
                        item_id: id.as_str().into(),
                        view_cursor: None,
                        field: Some(field.into()),
                        delta: piece.into(),
                    };
                    fold.delta(&delta, Tick::default(), "/w", &mut out);
                };
                if cut {
                    text.chars().for_each(|c| push(c.encode_utf8(&mut [0; 4])));
                } else {
                    push(text);
                }
            }
            FoldOp::Lost { item } => fold.lost(&format!("i{}", item % 4)),
            FoldOp::Flush => {}
        }
        // Held output is compared once it was sent, so both plays send it here.
        fold.flush("/w", &mut out);
        seen.take(out);
    }
    let mut out = Vec::new();
    fold.end_turn("/w", &mut out);
    seen.take(out);
    seen
}

impl Seen {
    fn take(&mut self, updates: Vec<SessionUpdate>) {
        for update in updates {
            match update {
                SessionUpdate::AgentMessageChunk(chunk)
                | SessionUpdate::AgentThoughtChunk(chunk) => {
                    let ContentBlock::Text(text) = chunk.content else { panic!("text only") };
                    assert!(!text.text.is_empty(), "empty text emits nothing (STR-1)");
                    let id = chunk.message_id.expect("an id (TRN-14)").0.to_string();
                    self.texts.entry(id).or_default().push_str(&text.text);
                }
                SessionUpdate::ToolCall(call) => {
                    let id = call.tool_call_id.0.to_string();
                    assert!(self.opened.insert(id.clone()), "a card is opened once (TOL-2)");
                    self.last_cards.insert(id, format!("{:?} {:?}", call.status, call.content));
                }
                SessionUpdate::ToolCallUpdate(call) => {
                    let id = call.tool_call_id.0.to_string();
                    assert!(self.opened.contains(&id), "opened before it is updated (TOL-2)");
                    let fields = call.fields;
                    let status = fields.status.expect("a status");
                    let content = fields.content.expect("content");
                    self.last_cards.insert(id, format!("{status:?} {content:?}"));
                }
                other => panic!("not an update of the fold: {other:?}"),
            }
        }
    }
}
