//! Outside judges of the fake host and of the adapter (`docs/decisions/0011-outside-judges.md`).
//!
//! | Module | Who judges |
//! |---|---|
//! | `sdk` | the official Python and Rust packages, driving the real fake host |
//! | `frames` | the types of the Rust package, reading everything that the fake host can say |
//! | `classes` | the published names of events and item kinds, over the tables of the adapter |
//! | `corpus` | the published structure of the wire types, over every story |
//! | `transcripts`, `replay` | the published transcripts, through the adapter and the fake host |
//!
//! The names of all tests begin with `judges::`, so that one command runs them.

mod classes;
mod corpus;
mod expect;
mod frames;
mod replay;
mod sdk;
#[path = "../../../fake-msp/tests/support/mod.rs"]
mod support;
mod transcripts;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(sdk::trials());
    trials.extend(frames::trials());
    trials.extend(classes::trials());
    trials.extend(corpus::trials());
    trials.extend(transcripts::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
