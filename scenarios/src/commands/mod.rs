//! The verbs of the `scenario` tool that work on files.

pub mod run;
