//! The adapter as a process, in front of the fake host: what an editor sees, one story per test.
//!
//! Only what needs a real process is here: pipes, exit codes, signals, environment, leftovers. A
//! conversation alone is a scenario file.

mod cancel;
mod deadlines;
mod handshake;
mod host_death;
mod input;
mod lifetime;
mod modes;
mod permission;
mod prompt;
mod secrets;
mod start;
mod stdout;
