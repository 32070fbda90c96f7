//! Playing a story and judging the run.

pub mod transcript;
pub mod watch;
