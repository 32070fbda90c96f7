//! Streams, processes, timers and files. The only async code of the crate; it decides nothing.
//!
//! [`driver`] runs one [`crate::core::Agent`] over an editor stream and a [`world::World`]; [`os`] is
//! the world of a real machine. A test brings its own world and its own streams and gets the same
//! driver, also under a paused clock.

pub mod driver;
mod host;
pub mod os;
mod outbox;
mod probe;
pub mod signals;
pub mod world;

pub use driver::Driver;
pub use world::{HostControl, HostExit, HostProcess, World};
