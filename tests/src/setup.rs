//! Where an adapter runs: a scratch home, an environment with nothing in it by chance, a host.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::agent::BOUND;

/// Variables that a process needs in order to run at all; nothing else is inherited.
const INHERITED: [&str; 5] = ["PATH", "SystemRoot", "TEMP", "TMP", "LLVM_PROFILE_FILE"];

/// The description of a run. One setup can start several adapters; they then share home and host log.
#[derive(Debug)]
pub struct Setup {
    adapter: PathBuf,
    args: Vec<OsString>,
    variables: BTreeMap<OsString, OsString>,
    faults: Vec<String>,
    scratch: TempDir,
}

impl Setup {
    /// An adapter that uses this host.
    ///
    /// # Panics
    /// When there is no room for a scratch folder.
    #[must_use]
    pub fn new(adapter: impl Into<PathBuf>, host: impl AsRef<OsStr>) -> Self {
        let scratch = TempDir::new().expect("a scratch folder");
        for folder in ["home", "work"] {
            std::fs::create_dir(scratch.path().join(folder))
                .expect("a folder in the scratch folder");
        }
        let setup = Self {
            adapter: adapter.into(),
            args: Vec::new(),
            variables: BTreeMap::new(),
            faults: Vec::new(),
            scratch,
        };
        let log = setup.frame_log_path();
        let home = setup.home();
        setup
            .var("HOME", &home)
            .var("USERPROFILE", home)
            .var("MUSE_CODE_EXECUTABLE", host)
            .var("FAKE_MSP_FRAME_LOG", log)
            // What the host says on stderr, above all what its oracle objects to.
            .var("RUST_LOG", "warn,muse_stderr=debug")
    }

    /// Sets a variable of the adapter; its host inherits it.
    #[must_use]
    pub fn var(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Takes a variable away again.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Self {
        self.variables.remove(name.as_ref());
        self
    }

    /// Adds a lever of the fake host, for example `ignore:turn/start`.
    #[must_use]
    pub fn fault(mut self, fault: impl Into<String>) -> Self {
        self.faults.push(fault.into());
        self
    }

    /// Adds an argument for the adapter.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.args.push(argument.into());
        self
    }

    /// The workspace that sessions are opened in.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.scratch.path().join("work")
    }

    /// A folder that is thrown away with the setup.
    #[must_use]
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The home folder of the adapter, its host and any client.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    fn frame_log_path(&self) -> PathBuf {
        self.scratch.path().join("host-frames.ndjson")
    }

    /// The frames that the last host read, in order; empty when no host ran.
    ///
    /// # Panics
    /// When the log is not what the fake host writes.
    #[must_use]
    pub fn host_received(&self) -> Vec<Value> {
        self.host_frames("client")
    }

    /// How many requests or notifications of this method the last host read.
    #[must_use]
    pub fn host_received_count(&self, method: &str) -> usize {
        self.host_received().iter().filter(|frame| frame["method"] == method).count()
    }

    /// Waits until the host has read or written a frame of this method.
    ///
    /// The log is another process's file, so there is nothing to wait on but the next look at it; the
    /// caller's other tasks run in between.
    ///
    /// # Panics
    /// When the bound passes before such a frame.
    pub async fn host_frame(&self, method: &str) {
        let fits = |frame: &Value| frame["method"] == method;
        let look = async {
            while !["client", "server"].iter().any(|dir| self.host_frames(dir).iter().any(fits)) {
                tokio::task::yield_now().await;
            }
        };
        let seen = tokio::time::timeout(BOUND, look).await;
        assert!(seen.is_ok(), "the host never saw {method}; its log: {}", self.host_log());
    }

    /// Frames of one direction. The last line may still be in the making.
    fn host_frames(&self, dir: &str) -> Vec<Value> {
        let log = self.host_log();
        let lines = log.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        lines
            .map(|line| serde_json::from_str::<Value>(line).expect("a line of the frame log"))
            .filter(|entry| entry["dir"] == dir)
            .map(|entry| {
                let raw = entry["raw"].as_str().expect("the raw frame");
                serde_json::from_str(raw).unwrap_or(Value::Null)
            })
            .collect()
    }

    fn host_log(&self) -> String {
        std::fs::read_to_string(self.frame_log_path()).unwrap_or_default()
    }

    /// The adapter's command, for a run without a dialogue.
    #[must_use]
    pub fn command(&self) -> Command {
        self.dress(Command::new(&self.adapter))
    }

    /// Gives any program the same arguments and environment, so that an outside client runs in it too.
    #[must_use]
    pub fn dress(&self, mut command: Command) -> Command {
        command.args(&self.args).current_dir(self.workspace()).env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        if !self.faults.is_empty() {
            command.env("FAKE_MSP_FAULT", self.faults.join(","));
        }
        command.envs(&self.variables);
        command
    }

    /// The adapter's binary.
    #[must_use]
    pub fn adapter(&self) -> &Path {
        &self.adapter
    }
}

#[cfg(test)]
mod tests {
    use super::Setup;

    #[test]
    fn only_what_was_set_reaches_the_adapter() {
        let setup =
            Setup::new("adapter", "host").fault("a").fault("b:1").var("X", "1").without("X");

        let command = setup.command();

        let get = |wanted: &str| {
            command.get_envs().find(|(name, _)| *name == wanted).and_then(|(_, value)| value)
        };
        assert_eq!(get("FAKE_MSP_FAULT"), Some("a,b:1".as_ref()));
        assert_eq!(get("MUSE_CODE_EXECUTABLE"), Some("host".as_ref()));
        assert_eq!(get("X"), None);
        assert_eq!(get("HOME"), Some(setup.home().as_os_str()));
        assert_eq!(get("CARGO_MANIFEST_DIR"), None);
    }
}
