//! What the editor has been shown of one session: items and deltas in, updates out.
//!
//! Invariants: an item is published only under the turn it was first seen in (TRN-6); each text is
//! sent exactly once, in the host's order (STR-5, TRN-9); a revision is applied once (STR-3, ITM-2); a delta
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
#[derive(Clone, Debug, Default)]
pub struct Fold {
    items: IndexMap<ItemId, Entry>,
    /// Cards with output that was not sent yet, and when it must be.
    unsent: Option<Tick>,
}

#[derive(Clone, Debug)]
struct Entry {
    revision: u64,
    open: bool,
    /// False once a delta was lost: what is shown must stay a prefix (PO-42).
    streaming: bool,
    noticed_cut: bool,
    body: Body,
}

#[derive(Clone, Debug)]
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
            // ITM-2: an end counts even under the revision that it was open with.
            let ends = item.revision == entry.revision && entry.open && item.status.is_terminal();
            if item.revision > entry.revision || ends {
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

    /// The turn was cancelled: only cards that the editor knows still change (CAN-12).
    pub fn settle(&mut self, item: Item, workspace: &str, out: &mut Vec<acp::SessionUpdate>) {
        if let Some(entry) = self.items.get_mut(&item.item_id)
            && matches!(entry.body, Body::Card(_))
            && item.revision > entry.revision
        {
            entry.revise(item, workspace, out);
        }
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

    /// Whether work goes on that the editor has a card of: such a host is kept (HOST-11).
    #[must_use]
    pub fn has_open_work(&self) -> bool {
        self.items.values().any(|entry| match &entry.body {
            Body::Card(card) => card.is_work(),
            _ => false,
        })
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
                    None => diverged(),
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
                        None => diverged(),
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
fn diverged() {
    tracing::warn!(code = "text-diverged", "a snapshot does not continue what was shown");
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
mod tests;
