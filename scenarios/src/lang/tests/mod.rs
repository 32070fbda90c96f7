//! Tests of the language as a whole; what concerns one module stands in it.

mod codes;
pub(crate) mod expect;
mod form;
mod generate;
mod grammar;
mod messages;
mod openings;
mod story;
