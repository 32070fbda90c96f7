//! `muse-code-acp`: an ACP agent on stdio that drives the user's Muse Code.
//!
//! The map, outside in. Dependencies point one way: `shell → core → {acp, msp} → wire`.
//!
//! - [`cli`]: arguments, logging, exit codes.
//! - [`shell`]: stdio, child processes, timers, files. The only async code; it decides nothing.
//! - [`core`]: what the adapter decides, as a pure function of inputs. Start here.
//! - [`acp`], [`msp`]: the typed messages of the two protocols, without behaviour.
//! - [`wire`]: bytes to JSON-RPC messages and back.
//!
//! Invariants, glossary and the way of one prompt through the crate: `docs/architecture.md`.
#![deny(clippy::print_stdout)]

pub mod acp;
pub mod cli;
pub mod core;
#[cfg(feature = "fuzz-support")]
pub mod fuzz_support;
mod logging;
pub mod msp;
pub mod shell;
pub mod wire;

/// The schema that [`msp`] was written from; a host that serves another is told once (HSK-4).
pub const PINNED_FINGERPRINT: &str =
    "sha256:7fddaf646dbc317e5fcac0785e135eb04df14fbb0db1863089dfd6da21730e5b";
/// The oldest host that is driven (BIN-4).
pub const MINIMUM_HOST_VERSION: &str = "1.1.1";
/// Hosts that this adapter was exercised with end to end. None yet: only the fake host was.
pub const VERIFIED_HOSTS: [&str; 0] = [];
