//! Support for tests that drive the real binaries.
//!
//! | Module | What it gives |
//! |---|---|
//! | [`mod@setup`] | where an adapter runs: its scratch home, its environment, its host |
//! | [`agent`] | the adapter as a child process with an NDJSON client in front of it |
//! | [`purity`] | what stdout may contain |
//! | [`family`] | the processes that a run left behind |
//! | [`judge`] | the official MSP packages, which judge the fake host, and the material about the wire |
//! | [`outside`] | Node and the ACP clients of other authors, or the reason why they are absent |
//!
//! A test begins with [`setup!`] and ends with [`Agent::finish`], which checks what must hold in every
//! run. Nothing here knows the adapter's code: it sees bytes, exit codes and processes.

pub mod agent;
pub mod family;
pub mod judge;
pub mod outside;
mod pipe;
pub mod purity;
pub mod setup;

pub use agent::{Agent, Record};
pub use setup::Setup;

/// A [`Setup`] for the binaries of this package. Only a test target knows where they are.
#[macro_export]
macro_rules! setup {
    () => {
        $crate::Setup::new(
            env!("CARGO_BIN_EXE_adapter-under-test"),
            env!("CARGO_BIN_EXE_fake-msp-under-test"),
        )
    };
}
