//! The tool for people who talk to the adapter, and later write and run stories about it.
//!
//! - [`multicall`]: one executable, three programs, chosen by the name it was called by. Start here.
//! - [`cli`]: command line of `scenario`: verbs, options, help texts. Pure.
//! - [`chat`]: `scenario chat`, a small editor for the terminal.
//! - [`lang`]: the scenario language: bytes in, story and diagnostics out.
//! - [`commands`]: the verbs of the tool that work on files.
//! - [`stage`]: where a story is played: the adapter between an editor and hosts in memory.
//! - [`explore`]: every legal order of a story on the pure core.
//! - [`run`]: the record of a run and what must hold in every run.
//!
//! This package is the only one that knows both the adapter and the fake host.

pub mod chat;
pub mod cli;
pub mod commands;
pub mod explore;
pub mod fuzz_support;
pub mod lang;
pub mod multicall;
pub mod run;
pub mod stage;
