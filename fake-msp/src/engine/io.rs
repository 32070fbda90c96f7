//! What goes into a host and what comes out of it.
//!
//! Purpose: the values of [`Host`](super::Host)'s interface. No behaviour.

use serde_json::Value;

use super::Fault;
use super::frames::FRAME_BYTES_MAX;
use super::paging::ENVELOPE_BYTES;
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
    /// How many hosts ran over the same store before: it colours the ids, so that hosts with one seed
    /// do not mint the same ids twice, and sets the clock, because sessions are listed by their times
    /// and what a later host does must come later.
    pub boot: u64,
    /// `museHome` of the handshake; sessions lie in its `sessions` folder.
    pub muse_home: String,
    /// Largest history that an answer carries, in bytes; a larger one comes down its chain (CUR-5).
    pub history_bytes: usize,
    /// How many events of a session stay readable (CUR-7); all of them if absent.
    pub retain_events: Option<usize>,
    /// After how long without a look a quiet session unloads (SES-9); never if absent. The real
    /// window is not published.
    pub idle_unload_ms: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            mode: Mode::Obliging,
            faults: Vec::new(),
            staged: None,
            asked: Vec::new(),
            boot: 0,
            muse_home: "/home/fake/.muse".into(),
            history_bytes: FRAME_BYTES_MAX - ENVELOPE_BYTES,
            retain_events: None,
            idle_unload_ms: None,
        }
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
