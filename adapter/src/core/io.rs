//! The values that cross the border of the core.

use std::sync::Arc;
use std::time::Duration;

use crate::msp::SessionId;
use crate::wire::Line;

/// Time since the adapter started. The shell's clock; virtual in most tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(pub Duration);

impl Tick {
    /// The instant `delay` later.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self(self.0 + delay)
    }

    /// Time passed since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// One host process, counted from 1. An event that names a host which is gone is late and ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(pub u64);

/// Where fresh ids come from. The real one gives UUIDv7; a test one counts.
pub trait IdSource {
    /// A new UUIDv7 in text form: session ids (BIND-7) and command ids (CMD-1).
    fn uuid(&mut self) -> String;
}

/// One thing that happened.
#[derive(Debug)]
pub enum Input<'a> {
    /// A line from the editor.
    Editor(Line<'a>),
    /// The editor's stream ended or its pipe broke (PROC-7, WIRE-14).
    EditorClosed,
    /// SIGTERM, SIGINT or SIGHUP (PROC-7, PO-41).
    Signal,
    /// A line from a host.
    Host(HostId, Line<'a>),
    /// A host's output ended; its exit may follow.
    HostEof(HostId),
    /// A host does not take its input any more; its output is still read (PRC-8).
    HostDeaf(HostId),
    /// A host process has exited and its output was read to the end or given up.
    HostGone(HostId, HostEnd),
    /// A host could not be started at all.
    SpawnFailed(HostId),
    /// An effect ended.
    Effect(EffectId, EffectResult),
    /// [`crate::core::Agent::deadline`] has passed.
    Timer,
    /// More waits for the editor than it takes, so hosts are not read (true), or they are read again.
    EditorStalled(bool),
    /// What the machine is like now. Before a line of the editor, when it has changed since the last time.
    Facts(Facts),
}

/// What a guard rests on. It is told before every line of the editor that it could decide about, so that a
/// guard is evaluated with what is true at that moment (MODE-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The real or the effective user is root (PO-25). True until the shell says otherwise.
    pub root: bool,
    /// Of [`super::mode::FLAGS`], those that this Muse has; `None` until Muse was asked (PO-47).
    pub flags: Option<Vec<&'static str>>,
}

impl Default for Facts {
    /// Nobody has looked yet: guards are closed.
    fn default() -> Self {
        Self { root: true, flags: None }
    }
}

/// How a host process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostEnd {
    /// Exit code, if it exited.
    pub code: Option<i32>,
    /// Signal, if one ended it.
    pub signal: Option<i32>,
    /// The host said on stderr that its SDK tier is switched off (BIN-5).
    pub sdk_disabled: bool,
}

/// Something to do, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// A line for the editor, newline not included.
    Editor(Vec<u8>),
    /// Start `muse serve`. Failure comes back as [`Input::SpawnFailed`].
    Spawn(HostId, SpawnSpec),
    /// A line for a host.
    Host(HostId, Vec<u8>),
    /// End a host: close its input, then the ladder of signals. [`Input::HostGone`] follows.
    CloseHost(HostId),
    /// From here on nothing of this host is shown, so it may be read however slow the editor is.
    Unthrottle(HostId),
    /// Do something outside; [`Input::Effect`] follows.
    Effect(EffectId, Effect),
    /// Drain what is queued and exit.
    Exit,
}

/// Pairs an effect with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectId(pub u64);

/// Work outside the core that gives a value back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Resolve a workspace to its real path (WS-2, WS-3).
    Workspace(String),
    /// Find Muse, probe it, read the user's settings (BIN-1, BIN-3, CFG-2, HOST-9).
    Resolve,
    /// Is there a provider credential? Existence and size only (AUTH-3).
    Credentials,
}

/// What an effect found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectResult {
    /// The real path, or why there is none.
    Workspace(Result<String, WorkspaceError>),
    /// Everything that is needed to start a host.
    Resolve(Box<Result<Resolved, ResolveError>>),
    /// Evidence of a credential.
    Credentials(bool),
}

/// Why a workspace was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceError {
    /// Nothing is there, or it cannot be read.
    Missing,
    /// It is no directory.
    NotADirectory,
    /// Its real path is not UTF-8, which neither protocol can carry.
    NotUtf8,
}

/// What a host is started from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Absolute path of the Muse binary.
    pub binary: String,
    /// First `x.y.z` of `--version`, if any.
    pub version: Option<String>,
    /// Digest of everything that makes two hosts interchangeable (HOST-9).
    pub identity: [u8; 32],
    /// Of [`super::mode::FLAGS`], those that `serve --help` lists (SAFE-8).
    pub flags: Vec<&'static str>,
    /// Defaults of the user.
    pub settings: Settings,
}

/// Defaults from the user's Muse settings (CFG-2, MODEL-8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Model id.
    pub model: String,
    /// Provider id.
    pub provider: String,
    /// Reasoning tier, one of EFF-1.
    pub effort: String,
}

/// Why no host can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// `MUSE_CODE_EXECUTABLE` names no executable file (BIN-2).
    Override(String),
    /// No `muse` on `PATH` (BIN-2).
    NotOnPath,
    /// `serve --help` failed (BIN-4).
    NoServe {
        /// The binary.
        binary: String,
        /// What `--version` said.
        version: Option<String>,
    },
}

/// How to start a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpawnSpec {
    /// Absolute path of the Muse binary.
    pub binary: String,
    /// Canonical workspace, the working directory.
    pub workspace: String,
    /// Arguments behind `serve`.
    pub flags: &'static [&'static str],
    /// The session it is for, for the log.
    pub session: SessionId,
}

/// Constants of one run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Budget of initializing and of preparing, each (DL-1, DL-2).
    pub startup: Duration,
    /// Budget of the acknowledgement (DL-3).
    pub submit: Duration,
    /// How long the host may wait for a decision without moving (STL-1).
    pub stall: Duration,
    /// A timeout variable holds no valid value: no host is started (PROC-10).
    pub invalid_timeout: Option<&'static str>,
    /// Removes secrets from texts (FAIL-20).
    pub redactor: Arc<super::redact::Redactor>,
    /// The adapter's own executable, for the terminal login method (AUTH-2).
    pub executable: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            startup: Duration::from_millis(120_000),
            submit: Duration::from_millis(30_000),
            stall: Duration::from_millis(10_000),
            invalid_timeout: None,
            redactor: Arc::default(),
            executable: None,
        }
    }
}
