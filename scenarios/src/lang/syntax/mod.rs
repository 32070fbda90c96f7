//! The form of a file: statements, member lines, comments and blank lines, with nothing lost but the
//! layout that the formatter decides.
//!
//! Inputs: a [`Source`]. Outputs: a [`Tree`] and problems of form. Invariants: one statement begins in
//! column one and ends before the next such line, whatever is wrong inside it, so that it is the point
//! where reading goes on; every comment is in the tree exactly once, in its place.
//! It knows values and words, and just enough of the keywords to tell how a line is cut into pieces;
//! it does not know what a statement means. Rules: DSL-1, DSL-4, GRM-1.

mod lex;
mod string;
mod tree;
mod value;

pub use tree::{Comment, Entry, Item, Line, Piece, PieceKind, Statement, Tree};
pub use value::{Element, Key, List, Trivia, Value, ValueKind};

pub(crate) use tree::read;
pub(crate) use value::is_number;

#[cfg(doc)]
use super::source::Source;
