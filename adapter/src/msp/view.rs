//! Positions, gaps and pages of a session's view (msp.md §7).

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::id::{SessionId, ViewCursor};
use super::lenient;

/// Events of one page (CUR-12).
pub const PAGE_LIMIT: u32 = 200;

/// `view/page`, forward from a cursor, which is not part of the page (CUR-8).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewPage<'a> {
    /// The session.
    pub session_id: &'a SessionId,
    /// Where the hole, or the rest of it, begins.
    pub cursor: &'a ViewCursor,
    /// Always `forward`.
    pub direction: &'static str,
    /// [`PAGE_LIMIT`].
    pub limit: u32,
}

/// The answer to [`ViewPage`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// In the order of the view.
    pub events: Vec<PageEvent>,
    /// `None` when the member is missing, which it never may be; `Some(None)` at the end of the view.
    #[serde(default, deserialize_with = "present")]
    pub next_cursor: Option<Option<ViewCursor>>,
}

/// A stored event as a page holds it.
#[derive(Debug, Deserialize)]
pub struct PageEvent {
    /// The notification's method.
    pub method: String,
    /// Its params.
    pub params: Box<RawValue>,
}

/// `view/gap`: what lies strictly between the two was not delivered (CUR-9).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gap {
    /// The last event before the hole.
    pub after: ViewCursor,
    /// The first one after it; it may be an ephemeral one, which no page holds.
    pub next: ViewCursor,
}

/// `session/viewHealthChanged` (CUR-15).
#[derive(Debug, Deserialize)]
pub struct ViewHealth {
    /// Open enum: `unavailable`.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub health: String,
}

/// Whose event it is, and where it stands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place<'a> {
    /// The session.
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
    /// Its position; older hosts and ephemeral events may have none.
    #[serde(borrow, default, deserialize_with = "text")]
    pub view_cursor: Option<Cow<'a, str>>,
}

/// Reads the place of an event; `None` when it names no session.
#[must_use]
pub fn place(params: &RawValue) -> Option<Place<'_>> {
    serde_json::from_str(params.get()).ok()
}

fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Option<ViewCursor>>, D::Error> {
    Option::deserialize(input).map(Some)
}

fn text<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    let raw = <&RawValue>::deserialize(input)?;
    Ok(serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned))
}
