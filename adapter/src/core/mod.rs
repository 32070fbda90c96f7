//! What the adapter decides. Pure: no I/O, no clock, no async, no environment, no randomness.
//!
//! In: frames of both neighbours, the end of a host, timers, results of effects ([`Input`]), with the
//! time and a source of fresh ids. Out: effects in order ([`Output`]) and the next deadline. The same
//! code runs under tokio, under virtual time and under a fuzzer.
//!
//! Start with [`agent`] (one editor connection), then [`session`] (one session and its host),
//! [`turn`] (one prompt) and [`fold`] (what the editor has been shown). [`failure`] is the error
//! type of everything that can go wrong on the way.

pub mod agent;
pub mod approvals;
pub mod card;
pub mod choices;
pub mod client;
pub mod config;
pub mod content;
pub mod failure;
pub mod features;
pub mod fold;
pub mod form;
pub mod gap;
pub mod io;
pub mod mode;
pub mod permission;
pub mod persistence;
pub mod present;
pub mod questions;
pub mod redact;
pub mod session;
pub mod stall;
pub mod steering;
pub mod text;
pub mod turn;

pub use agent::Agent;
pub use io::{Config, Effect, EffectResult, HostEnd, HostId, IdSource, Input, Output, Tick};

#[cfg(test)]
mod stories;
