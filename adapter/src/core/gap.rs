//! Whether the view of a host is complete, and how a hole in it is filled (adapter-turns.md §14).
//!
//! In: live events with their cursors, `view/gap`, pages. Out: what to ask next, and at the end one
//! sequence in the host's order: what the pages held, then what came live meanwhile. Invariants: an
//! event is applied once, by whatever way it came first (CUR-13); nothing is applied while a hole is
//! open (GAP-2); cursors are opaque and compared for equality only (GAP-6); a walk ends. It sends
//! nothing and knows nothing of what events mean.

use std::time::Duration;

use indexmap::IndexSet;
use serde_json::value::RawValue;

use super::io::Tick;
use crate::msp::ViewCursor;
use crate::msp::view::{Gap, Page, place};

/// Bytes of pages and of live events that wait for them. Above it the view is lost: GAP-5.
pub const FILL_BYTES_MAX: usize = 64 * 1024 * 1024;
/// And how many events.
pub const FILL_EVENTS_MAX: usize = 65_536;
/// Pages of one walk. A host that needs more does not come to an end.
pub const FILL_PAGES_MAX: usize = 1024;
/// From the request for a page to its answer. A page is read from the host's memory or disk; one that
/// takes longer is a stall (GAP-5).
pub const PAGE_BUDGET: Duration = Duration::from_secs(30);
/// Cursors that are remembered to know an event that comes a second time. Older ones are forgotten; what
/// comes again then is told by its entity and revision (CUR-13).
pub const SEEN_MAX: usize = 4096;

/// One event: method and params.
pub type Event = (String, Box<RawValue>);

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct View {
    state: State,
    /// Counts walks: an answer to a page of an older one is late.
    walk: u64,
    /// Applied live, newest last.
    seen: Recent,
    /// Applied from a page; their live copies may still come.
    paged: Recent,
    /// Position of the newest delta. No page holds deltas (CUR-2), so a copy stands beside its original.
    delta: String,
}

#[derive(Clone, Debug, Default)]
enum State {
    #[default]
    Current,
    Filling(Box<Fill>),
    /// The hole is filled and its events are being applied.
    Splicing,
}

#[derive(Clone, Debug)]
struct Fill {
    /// Where the walk has asked from, the newest last (GAP-13).
    asked: IndexSet<ViewCursor>,
    /// The walk ends where this event is found (CUR-10), or at the end of the view.
    target: ViewCursor,
    walked: Vec<Event>,
    places: IndexSet<ViewCursor>,
    held: Vec<(Event, Option<ViewCursor>)>,
    bytes: usize,
    since: Tick,
}

/// What to do with a live event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is its turn.
    Apply,
    /// It waits for the hole before it.
    Held,
    /// A page had it already.
    Twin,
}

/// How a walk goes on.
#[derive(Clone, Debug)]
pub enum Step {
    /// The answer belongs to an older walk.
    Late,
    /// Ask for the page behind this cursor.
    Ask(ViewCursor),
    /// The hole is filled. Apply both, then call [`View::settle`].
    Splice {
        /// What the pages held and nobody had seen.
        paged: Vec<Event>,
        /// What came live meanwhile and no page held. Deltas of items that were open across the hole
        /// cannot be placed (GAP-3).
        live: Vec<Event>,
    },
}

/// Why a hole cannot be filled (GAP-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The marker does not say where the hole is.
    Marker,
    /// The host said that it cannot serve the view.
    Unavailable,
    /// The host refused a page, with its code.
    Refused(i64),
    /// The answer is no page.
    Unusable,
    /// A page held an event of another session.
    Foreign,
    /// A page led nowhere: empty with more to come, or back to where the walk has been (GAP-6).
    Stalled,
    /// [`PAGE_BUDGET`] passed.
    Slow,
    /// A bound of the fill was reached.
    TooMuch,
    /// The host ended before the hole was filled.
    NoConnection,
}

impl View {
    /// Nothing is missing.
    #[must_use]
    pub fn is_current(&self) -> bool {
        matches!(self.state, State::Current)
    }

    /// Events are held.
    #[must_use]
    pub fn is_filling(&self) -> bool {
        matches!(self.state, State::Filling(_))
    }

    /// Whether a delta at this position is the one that was applied last (CUR-1, CUR-13).
    pub fn repeats(&mut self, cursor: &str) -> bool {
        let same = self.delta == cursor;
        if !same {
            self.delta.clear();
            self.delta.push_str(cursor);
        }
        same
    }

    /// A live event of the session.
    ///
    /// # Errors
    /// [`Trouble::TooMuch`].
    pub fn arrive(
        &mut self,
        method: &str,
        params: &RawValue,
        cursor: Option<&str>,
    ) -> Result<Arrival, Trouble> {
        let cursor = cursor.filter(|_| method != "item/delta").map(ViewCursor::from);
        let State::Filling(fill) = &mut self.state else {
            let Some(cursor) = cursor else { return Ok(Arrival::Apply) };
            if self.paged.take(&cursor) {
                return Ok(Arrival::Twin);
            }
            self.seen.add(cursor);
            return Ok(Arrival::Apply);
        };
        fill.weigh(method, params)?;
        fill.held.push(((method.to_owned(), params.to_owned()), cursor));
        Ok(Arrival::Held)
    }

    /// `view/gap`. Returns where the first page is to be asked from, if a walk begins.
    pub fn gap(&mut self, gap: Gap, now: Tick) -> Option<ViewCursor> {
        match &mut self.state {
            // CUR-11: the same walk goes further, unless it has been there.
            State::Filling(fill) => {
                if !(fill.places.contains(&gap.after) && fill.places.contains(&gap.next)) {
                    fill.target = gap.next;
                }
                None
            }
            State::Current | State::Splicing => {
                if self.paged.has(&gap.after) && self.paged.has(&gap.next) {
                    return None; // a page has been there
                }
                self.walk += 1;
                self.state = State::Filling(Box::new(Fill {
                    asked: IndexSet::from([gap.after.clone()]),
                    target: gap.next,
                    walked: Vec::new(),
                    places: IndexSet::new(),
                    held: Vec::new(),
                    bytes: 0,
                    since: now,
                }));
                Some(gap.after)
            }
        }
    }

    /// The number of the walk, to be given back with its pages.
    #[must_use]
    pub fn walk(&self) -> u64 {
        self.walk
    }

    /// A page of this walk.
    ///
    /// # Errors
    /// Why the hole cannot be filled; the walk is over.
    pub fn page(
        &mut self,
        walk: u64,
        session: &str,
        page: Page,
        now: Tick,
    ) -> Result<Step, Trouble> {
        if walk != self.walk {
            return Ok(Step::Late);
        }
        let State::Filling(fill) = &mut self.state else { return Ok(Step::Late) };
        let next = page.next_cursor.ok_or(Trouble::Unusable)?; // CUR-8: never omitted
        let empty = page.events.is_empty();
        for event in page.events {
            let place = place(&event.params).ok_or(Trouble::Unusable)?;
            if place.session_id != session {
                return Err(Trouble::Foreign);
            }
            let cursor = place.view_cursor.as_deref().map(ViewCursor::from);
            fill.weigh(&event.method, &event.params)?;
            if let Some(cursor) = cursor {
                if !fill.places.insert(cursor.clone()) {
                    return Err(Trouble::Stalled); // the pages go in a circle
                }
                if self.seen.has(&cursor) {
                    continue; // CUR-9: it came before the marker
                }
            }
            fill.walked.push((event.method, event.params));
        }
        if let Some(next) = next
            && !fill.places.contains(&fill.target)
        {
            if empty || fill.asked.len() >= FILL_PAGES_MAX || !fill.asked.insert(next.clone()) {
                return Err(Trouble::Stalled);
            }
            fill.since = now;
            return Ok(Step::Ask(next));
        }
        Ok(self.splice())
    }

    fn splice(&mut self) -> Step {
        let State::Filling(fill) = std::mem::replace(&mut self.state, State::Splicing) else {
            return Step::Late;
        };
        let Fill { walked, places, held, .. } = *fill;
        let mut live = Vec::new();
        let mut twins = IndexSet::new();
        for (event, cursor) in held {
            match cursor {
                Some(cursor) if places.contains(&cursor) => {
                    twins.insert(cursor);
                }
                Some(cursor) => {
                    self.seen.add(cursor);
                    live.push(event);
                }
                None => live.push(event),
            }
        }
        for cursor in places {
            if !twins.contains(&cursor) && !self.seen.has(&cursor) {
                self.paged.add(cursor);
            }
        }
        Step::Splice { paged: walked, live }
    }

    /// What [`Step::Splice`] gave has been applied.
    pub fn settle(&mut self) {
        if matches!(self.state, State::Splicing) {
            self.state = State::Current;
        }
    }

    /// The hole does not matter any more. Returns what was held, in order.
    pub fn give_up(&mut self) -> Vec<Event> {
        match std::mem::take(&mut self.state) {
            State::Filling(fill) => fill.held.into_iter().map(|(event, _)| event).collect(),
            State::Current | State::Splicing => Vec::new(),
        }
    }

    /// When the page that was asked for is late.
    #[must_use]
    pub fn deadline(&self) -> Option<Tick> {
        match &self.state {
            State::Filling(fill) => Some(fill.since.after(PAGE_BUDGET)),
            _ => None,
        }
    }

    /// The host was not read for a while; its answer may have been there.
    pub fn restart_budget(&mut self, now: Tick) {
        if let State::Filling(fill) = &mut self.state {
            fill.since = now;
        }
    }
}

impl Fill {
    fn weigh(&mut self, method: &str, params: &RawValue) -> Result<(), Trouble> {
        self.bytes += method.len() + params.get().len();
        let events = self.walked.len() + self.held.len() + 1;
        let fits = self.bytes <= FILL_BYTES_MAX && events <= FILL_EVENTS_MAX;
        fits.then_some(()).ok_or(Trouble::TooMuch)
    }
}

/// The newest [`SEEN_MAX`] cursors.
#[derive(Clone, Debug, Default)]
struct Recent(IndexSet<ViewCursor>);

impl Recent {
    fn add(&mut self, cursor: ViewCursor) {
        self.0.insert(cursor);
        if self.0.len() >= 2 * SEEN_MAX {
            self.0.drain(..SEEN_MAX); // in halves, so that no event pays for all
        }
    }

    fn has(&self, cursor: &ViewCursor) -> bool {
        self.0.contains(cursor)
    }

    fn take(&mut self, cursor: &ViewCursor) -> bool {
        self.0.shift_remove(cursor)
    }
}

#[cfg(test)]
mod tests;
