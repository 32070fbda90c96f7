//! What goes into a host and what comes out of it.
//!
//! Purpose: the values of [`Host`](super::Host)'s interface. No behaviour.

use serde_json::Value;

use super::Fault;
use crate::profiles::Staged;

/// Who answers turns, approvals and prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The host itself, as a small obliging host.
    Obliging,
    /// A script: `turn/*`, `approval/*`, `userInput/*` and `view/page` come out as
    /// [`Output::Asked`]; everything else the host answers itself.
    Scripted,
}

/// What can be chosen when a host is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Colours the ids. Any value; the same seed gives the same ids.
    pub seed: u64,
    /// Who answers turns.
    pub mode: Mode,
    /// Misbehaviour by method, first match wins.
    pub faults: Vec<Fault>,
    /// Overrides the profile's presentation of later approval stages (HOST-14).
    pub staged: Option<Staged>,
    /// Methods that a script answers besides those of [`Mode::Scripted`] (DSL-7: a line overrides
    /// the model). Without meaning in obliging mode.
    pub asked: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, mode: Mode::Obliging, faults: Vec::new(), staged: None, asked: Vec::new() }
    }
}

/// One thing that happens to the host.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A line from the client, without its `\n`.
    Line(&'a [u8]),
    /// A line longer than [`FRAME_BYTES_MAX`](super::FRAME_BYTES_MAX): its first [`PREFIX_BYTES`](super::PREFIX_BYTES) bytes.
    TooLong {
        /// Beginning of the line.
        prefix: &'a [u8],
    },
    /// What stood before the end of stdin without a `\n`: a complete object is a line (PO-34),
    /// anything else a truncated frame (FRM-12).
    Tail(&'a [u8]),
    /// The client closed stdin (PRC-4).
    Eof,
    /// Time passed; nothing else happened.
    Timer,
}

/// Names a client request that waits for the script's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AskHandle(pub(crate) u64);

/// One effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A frame for stdout, without its `\n`.
    Line(Vec<u8>),
    /// Bytes for stdout as they are: a lie of the script.
    Raw(Vec<u8>),
    /// A line for stderr, without its `\n`.
    Stderr(String),
    /// Close stdout; the process stays.
    CloseStdout,
    /// Stop (true) or go on (false) reading stdin.
    StallRead(bool),
    /// Close stdin without ending.
    CloseStdin,
    /// End the process with this code, after everything before it was written.
    Exit {
        /// Exit code.
        code: i32,
    },
    /// End the process by a signal, without flushing anything more.
    Kill,
    /// A client request that the script must answer (scripted mode only).
    Asked {
        /// For `answer_ok` and `answer_error`.
        handle: AskHandle,
        /// Request id as the client wrote it.
        id: Value,
        /// Wire method.
        method: String,
        /// Its params.
        params: Value,
    },
}
