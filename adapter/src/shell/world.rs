//! What the driver needs of the machine it runs on.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::core::io::{Facts, SpawnSpec};
use crate::core::{Effect, EffectResult, IdSource};

/// A future on the driver's own thread.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T>>>;

/// A machine, real or made up.
pub trait World {
    /// Starts `muse serve`.
    ///
    /// # Errors
    /// When the process cannot be started; the reason is for the log.
    fn spawn(&mut self, spec: &SpawnSpec) -> std::io::Result<HostProcess>;

    /// Does an effect. Several may be under way at once; each ends on its own.
    fn perform(&mut self, effect: Effect) -> BoxFuture<EffectResult>;

    /// What is true of this machine now. Asked before every line of the editor, so it must not wait.
    fn facts(&self) -> Facts;

    /// Where fresh ids come from.
    fn ids(&mut self) -> &mut dyn IdSource;
}

/// A running host: three streams and a process that end independently of each other, in any order.
pub struct HostProcess {
    /// Towards the host.
    pub stdin: Pin<Box<dyn AsyncWrite>>,
    /// Frames.
    pub stdout: Pin<Box<dyn AsyncRead>>,
    /// Text for people.
    pub stderr: Pin<Box<dyn AsyncRead>>,
    /// The process itself.
    pub control: Box<dyn HostControl>,
}

/// The process behind the streams.
pub trait HostControl {
    /// Ready once the process has exited. Not polled again after that.
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<HostExit>;

    /// Asks the process to end (SIGTERM to its group).
    fn terminate(&mut self);

    /// Ends the process and everything that it started (SIGKILL to its group). Also called after the
    /// exit, for what the process left behind.
    fn kill(&mut self);
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostExit {
    /// Exit code.
    pub code: Option<i32>,
    /// Signal.
    pub signal: Option<i32>,
}
