//! Head lines, member lines, header rows and table rows.
//!
//! Invariant: pieces keep their order and text; only what is between them changes.

use super::text::{bytes, quoted};
use super::value::written;
use crate::lang::syntax::{Entry, Line, Piece, PieceKind, Statement};
use crate::lang::tables::{HEADER_KEYS, LANES};

/// Lanes and words that stand where a lane stands are as wide as `editor`.
const LANE_WIDTH: usize = 6;

/// A line in column one.
pub(super) fn head(line: &Line) -> String {
    let first = line.pieces.first().and_then(Piece::word).unwrap_or_default();
    let is_lane = LANES.contains(&first) || first.starts_with("host");
    let padded = (is_lane || matches!(first, "given" | "after")) && line.pieces.len() > 1;
    let text = if padded {
        format!("{first:LANE_WIDTH$} {}", pieces(&line.pieces[1..], 0))
    } else {
        pieces(&line.pieces, 0)
    };
    with_comment(text, line)
}

/// How the lines below one head are laid out.
pub(super) enum Layout {
    /// `key  value`, padded to the longest key there is.
    Header,
    /// `0  unresolved  echo one`, with the widths of index and resolution.
    Rows(usize, usize),
    /// `path = VALUE`, with the width of the path.
    Members(usize),
}

impl Layout {
    pub(super) fn of(statement: &Statement) -> Self {
        let members = || {
            statement.body.iter().filter_map(|entry| match entry {
                Entry::Member(line) => Some(line),
                Entry::Blank | Entry::Comment(_) => None,
            })
        };
        let width =
            |line: &Line, at: usize| line.pieces.get(at).map_or(0, |one| columns(&piece(one, 0)));
        match statement.head.pieces.first().and_then(Piece::word) {
            Some("scenario") => Self::Header,
            Some("stages") => Self::Rows(
                members().map(|line| width(line, 0)).max().unwrap_or(0),
                members().map(|line| width(line, 1)).max().unwrap_or(0),
            ),
            _ => {
                let set = |line: &&Line| line.pieces.get(1).is_some_and(|piece| piece.is_word("="));
                Self::Members(members().filter(set).map(|line| width(line, 0)).max().unwrap_or(0))
            }
        }
    }

    pub(super) fn member(&self, line: &Line) -> String {
        let rest = |from: usize| pieces(line.pieces.get(from..).unwrap_or_default(), 2);
        let first = line.pieces.first().map(|one| piece(one, 2)).unwrap_or_default();
        let text = match self {
            Self::Header => {
                let width = HEADER_KEYS.iter().map(|key| key.len()).max().unwrap_or(0);
                format!("  {first:width$} {}", rest(1))
            }
            Self::Rows(index, resolution) => {
                let kind = line.pieces.get(1).map(|one| piece(one, 2)).unwrap_or_default();
                let pad = resolution.saturating_sub(columns(&kind));
                format!("  {first:index$}  {kind}{:pad$}  {}", "", rest(2))
            }
            Self::Members(width) if line.pieces.get(1).is_some_and(|piece| piece.is_word("=")) => {
                let pad = width.saturating_sub(columns(&first));
                format!("  {first}{:pad$} {}", "", rest(1))
            }
            Self::Members(_) => format!("  {}", rest(0)),
        };
        with_comment(text.trim_end().to_owned(), line)
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

fn with_comment(text: String, line: &Line) -> String {
    match &line.comment {
        Some(comment) => format!("{text} {}", comment.text),
        None => text,
    }
}

/// Pieces with one blank between them, none before a comma.
fn pieces(all: &[Piece], indent: usize) -> String {
    let mut text = String::new();
    for one in all {
        if !text.is_empty() && one.kind != PieceKind::Comma {
            text.push(' ');
        }
        text.push_str(&piece(one, indent));
    }
    text
}

fn piece(piece: &Piece, indent: usize) -> String {
    match &piece.kind {
        PieceKind::Word(word) => word.clone(),
        PieceKind::Comma => ",".to_owned(),
        PieceKind::Value(value) => match &value.kind {
            crate::lang::syntax::ValueKind::Text(text) => quoted(text),
            _ => written(value, indent),
        },
        PieceKind::Bytes(all) => bytes(all),
    }
}
