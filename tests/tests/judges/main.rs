//! Outside judges of the fake host and of the adapter (`docs/decisions/0011-outside-judges.md`).
//!
//! | Module | Who judges |
//! |---|---|
//! | `sdk` | the official Python and Rust packages, driving the real fake host |
//!
//! The names of all tests begin with `judges::`, so that one command runs them.

mod expect;
mod sdk;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(sdk::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
