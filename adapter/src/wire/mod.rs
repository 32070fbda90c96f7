//! Bytes to messages and back, the same for both neighbours.
//!
//! [`framing`] cuts a byte stream into lines with a limit, [`envelope`] reads and writes JSON-RPC,
//! [`peer`] pairs requests with responses. Everything here is pure: bytes in, values out. It knows
//! nothing of ACP, MSP, clocks or streams. Rules: FRM-1..13, ENV-1..9, ACP WIRE-1..10, PO-33, PO-34.

pub mod envelope;
pub mod framing;
pub mod peer;

pub use envelope::{Id, RpcError};
pub use framing::{Framer, Line};
pub use peer::{Incoming, Invalid, Peer};
