//! The scenario language: from a file to a story that can be run, or to messages that teach.
//!
//! | Module | What it is |
//! |---|---|
//! | [`parse()`], [`read()`] | start here: bytes in, story and diagnostics out |
//! | [`ast`] | what a story says; what a runner walks |
//! | [`point`] | the runs that `vary` and `race` span |
//! | [`openings`] | what `given` stands for |
//! | [`diagnostic`] | messages for people and programs |
//! | [`codes`] | every code, with a wrong and a right example |
//! | [`fmt`] | the canonical form |
//! | [`catalogue`] | which file proves which row |
//! | [`syntax`], [`tables`], [`limits`] | form, words, bounds |
//!
//! Invariants: reading is a pure function of path and bytes; it never stops at the first problem, never
//! panics on input and gives the same messages in the same order every time. Nothing here runs a story or
//! knows what a host would refuse. The language itself: decision 0010.

pub mod ast;
pub mod catalogue;
pub mod codes;
pub mod diagnostic;
pub mod fmt;
pub mod limits;
pub mod openings;
pub mod point;
pub mod source;
pub mod syntax;
pub mod tables;

mod parse;
mod suggest;
#[cfg(test)]
pub(crate) mod tests;

pub use parse::{Reading, parse, read};
