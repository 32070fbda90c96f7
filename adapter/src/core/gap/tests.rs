//! A walk, told by the letters of events: `a` is the event at cursor `a`.

use serde_json::{Value, json};

use super::*;

fn at(seconds: u64) -> Tick {
    Tick(Duration::from_secs(seconds))
}

fn params(letter: char) -> Box<RawValue> {
    let text = json!({ "sessionId": "s", "viewCursor": letter.to_string() }).to_string();
    RawValue::from_string(text).expect("json")
}

fn page(letters: &str, next: Value) -> Page {
    let events: Vec<Value> = letters
        .chars()
        .map(|letter| {
            let params: Value = serde_json::from_str(params(letter).get()).expect("json");
            json!({ "method": "item/completed", "params": params })
        })
        .collect();
    serde_json::from_str(&json!({ "events": events, "nextCursor": next }).to_string())
        .expect("page")
}

fn letters(events: &[Event]) -> String {
    let cursors = events.iter().map(|(_, params)| place(params).and_then(|p| p.view_cursor));
    cursors.map(|cursor| cursor.expect("cursor").into_owned()).collect()
}

/// A view and what it made of the letters so far.
struct Walk {
    view: View,
    applied: String,
}

impl Walk {
    fn new() -> Self {
        Self { view: View::default(), applied: String::new() }
    }

    fn live(&mut self, told: &str) -> &mut Self {
        for letter in told.chars() {
            let cursor = letter.to_string();
            let arrival = self.view.arrive("item/completed", &params(letter), Some(&cursor));
            if arrival.expect("room") == Arrival::Apply {
                self.applied.push(letter);
            }
        }
        self
    }

    fn gap(&mut self, after: &str, next: &str) -> Option<String> {
        let gap = Gap { after: ViewCursor::from(after), next: ViewCursor::from(next) };
        self.view.gap(gap, at(0)).map(|cursor| cursor.as_str().to_owned())
    }

    fn page(&mut self, letters_of: &str, next: Value) -> Result<Option<String>, Trouble> {
        match self.view.page(self.view.walk(), "s", page(letters_of, next), at(1))? {
            Step::Late => Ok(Some("late".into())),
            Step::Ask(cursor) => Ok(Some(cursor.as_str().to_owned())),
            Step::Splice { paged, live } => {
                self.applied.push_str(&letters(&paged));
                self.applied.push_str(&letters(&live));
                self.view.settle();
                Ok(None)
            }
        }
    }
}

/// GAP-1, GAP-3: pages first, then what came live meanwhile, each once.
#[test]
fn a_hole_is_filled_in_the_order_of_the_host() {
    let mut walk = Walk::new();
    walk.live("a");
    assert_eq!(walk.gap("a", "d").as_deref(), Some("a"));
    walk.live("def");
    assert_eq!(walk.applied, "a", "GAP-2");
    assert_eq!(walk.page("bc", json!("c")), Ok(Some("c".into())));
    assert_eq!(walk.page("de", json!("e")), Ok(None), "the page that holds `next` is the last");
    walk.live("g");
    assert_eq!(walk.applied, "abcdefg");
}

/// CUR-9: the marker came after the event that it names.
#[test]
fn what_came_before_the_marker_is_not_applied_again() {
    let mut walk = Walk::new();
    walk.live("ac");
    walk.gap("a", "c");
    assert_eq!(walk.page("bc", json!("c")), Ok(None));
    assert_eq!(walk.applied, "acb");
}

/// GAP-04 of the catalogue: refused once, and only once.
#[test]
fn a_copy_that_comes_after_the_fill_is_refused_once() {
    let mut walk = Walk::new();
    walk.live("a");
    walk.gap("a", "c");
    assert_eq!(walk.page("bcd", json!("d")), Ok(None));
    walk.live("cd");
    assert_eq!(walk.applied, "abcd");
    walk.live("c");
    assert_eq!(walk.applied, "abcdc");
}

/// CUR-11.
#[test]
fn a_second_hole_makes_the_walk_longer_unless_the_walk_has_been_there() {
    let mut walk = Walk::new();
    walk.live("a");
    walk.gap("a", "c");
    walk.live("c");
    assert_eq!(walk.gap("c", "e"), None, "one walk");
    walk.live("e");
    assert_eq!(walk.page("bc", json!("c")), Ok(Some("c".into())));
    assert_eq!(walk.page("de", json!(null)), Ok(None));
    assert_eq!(walk.applied, "abcde");

    let mut walk = Walk::new();
    walk.live("a");
    walk.gap("a", "c");
    assert_eq!(walk.page("bcdef", json!("f")), Ok(None));
    assert_eq!(walk.gap("d", "f"), None, "a page had it");
    assert!(walk.view.is_current());
    assert_eq!(walk.gap("f", "h").as_deref(), Some("f"), "and this one it had not");
}

/// GAP-07 of the catalogue: the end of the view ends the walk.
#[test]
fn a_next_that_no_page_can_hold_does_not_keep_the_walk_going() {
    let mut walk = Walk::new();
    walk.live("a");
    walk.gap("a", "x");
    assert_eq!(walk.page("b", json!(null)), Ok(None));
    assert_eq!(walk.applied, "ab");
}

/// GAP-6, CUR-8.
#[test]
fn pages_that_lead_nowhere_are_trouble() {
    let begin = || {
        let mut walk = Walk::new();
        walk.live("a");
        walk.gap("a", "z");
        walk
    };
    assert_eq!(begin().page("", json!("b")), Err(Trouble::Stalled), "empty with more to come");
    assert_eq!(begin().page("b", json!("a")), Err(Trouble::Stalled), "back to the beginning");
    let mut circle = begin();
    assert_eq!(circle.page("bc", json!("c")), Ok(Some("c".into())));
    assert_eq!(circle.page("b", json!("b")), Err(Trouble::Stalled), "the same event again");
    let bare: Page = serde_json::from_str(r#"{"events":[]}"#).expect("page");
    let mut walk = begin();
    assert_eq!(walk.view.page(1, "s", bare, at(1)).err(), Some(Trouble::Unusable));
    let mut walk = begin();
    assert_eq!(
        walk.view.page(1, "other", page("b", json!(null)), at(1)).err(),
        Some(Trouble::Foreign)
    );
}

#[test]
fn a_page_of_an_older_walk_changes_nothing() {
    let mut walk = Walk::new();
    walk.live("a");
    walk.gap("a", "c");
    let step = walk.view.page(0, "s", page("b", json!(null)), at(1)).expect("late");
    assert!(matches!(step, Step::Late) && walk.view.is_filling());
}

#[test]
fn the_budget_of_a_page_begins_with_its_request() {
    let mut walk = Walk::new();
    walk.live("a");
    walk.gap("a", "z");
    assert_eq!(walk.view.deadline(), Some(at(0).after(PAGE_BUDGET)));
    assert_eq!(walk.page("b", json!("b")), Ok(Some("b".into())));
    assert_eq!(walk.view.deadline(), Some(at(1).after(PAGE_BUDGET)));
    assert_eq!(walk.page("c", json!(null)), Ok(None));
    assert_eq!(walk.view.deadline(), None);
}

/// What waits is bounded, and the bound is told.
#[test]
fn more_events_than_the_bound_lose_the_view() {
    let mut view = View::default();
    let gap = Gap { after: ViewCursor::from("a"), next: ViewCursor::from("z") };
    view.gap(gap, at(0));
    let params = params('b');
    for _ in 0..FILL_EVENTS_MAX {
        assert_eq!(view.arrive("item/delta", &params, None), Ok(Arrival::Held));
    }
    assert_eq!(view.arrive("item/delta", &params, None), Err(Trouble::TooMuch));
    assert_eq!(view.give_up().len(), FILL_EVENTS_MAX);
    assert!(view.is_current());
}

/// Bytes are counted for pages and for what waits, together.
#[test]
fn more_bytes_than_the_bound_lose_the_view() {
    let mut view = View::default();
    let gap = Gap { after: ViewCursor::from("a"), next: ViewCursor::from("z") };
    view.gap(gap, at(0));
    let big = json!({ "sessionId": "s", "delta": "x".repeat(FILL_BYTES_MAX / 4) }).to_string();
    let big = RawValue::from_string(big).expect("json");
    for _ in 0..3 {
        assert_eq!(view.arrive("item/delta", &big, None), Ok(Arrival::Held));
    }
    assert_eq!(view.arrive("item/delta", &big, None), Err(Trouble::TooMuch));
}
