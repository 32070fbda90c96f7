//! A deterministic, scriptable fake Muse host (server of MSP: NDJSON JSON-RPC on stdio).
//!
//! | Module | What it is |
//! |---|---|
//! | [`engine`] | the host as a pure function; start at [`engine::Host`] |
//! | [`engine::script`] | what a scenario may make the host do, lies included |
//! | [`exec`], [`export`] | what `exec --json` prints and `export` writes |
//! | [`profiles`] | host generations as data |
//! | [`transcript`] | plays a recorded conversation to a live client |
//! | [`oracle`] | what a client did wrong: [`oracle::Violation`] |
//! | [`cli`] | the `fake-msp` program: the only part with threads, pipes and a clock |
//!
//! It shares no code with the adapter, so that a mistake there cannot cancel out here.

#![deny(clippy::print_stdout)]

pub mod cli;
pub mod engine;
pub mod exec;
pub mod export;
pub mod oracle;
pub mod profiles;
pub mod transcript;
