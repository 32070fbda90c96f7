//! The world of a real machine: processes, files, the environment, UUIDs.
//!
//! It finds Muse (BIN-1), probes it, reads the user's defaults (CFG-2), digests what makes two hosts
//! interchangeable (HOST-9) and starts processes in a group of their own (CHD-2). It keeps no content
//! of files: settings are reduced to three words, everything else to a digest.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use super::probe::Probe;
use super::world::{BoxFuture, HostControl, HostExit, HostProcess, World};
use crate::core::io::{Facts, ResolveError, Resolved, Settings, SpawnSpec, WorkspaceError};
use crate::core::{Effect, EffectResult, IdSource};

/// CFG-2, MODEL-8.
const DEFAULT_MODEL: &str = "muse-spark-1.2";
const DEFAULT_PROVIDER: &str = "meta";
const DEFAULT_EFFORT: &str = "high";
/// From the start of the process to the probe (PO-30: at its start).
const WARM_UP_DELAY: Duration = Duration::from_millis(20);
/// Settings above this size are not read: they are no settings.
const SETTINGS_MAX: u64 = 4 * 1024 * 1024;

/// See the module.
pub struct Os {
    environment: Rc<Environment>,
    probe: Rc<Probe>,
    ids: Uuids,
}

/// The process's environment, read once.
struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Os {
    /// The world of this process. Starts to probe Muse at once (PO-30); nobody waits for it yet.
    #[must_use]
    pub fn new() -> Self {
        let environment = Rc::new(Environment { variables: std::env::vars_os().collect() });
        Self { environment, probe: Rc::default(), ids: Uuids }
    }

    /// Probes Muse ahead of the first prompt.
    pub fn warm_up(&self) -> impl Future<Output = ()> + 'static {
        let (environment, probe) = (Rc::clone(&self.environment), Rc::clone(&self.probe));
        async move {
            // Two children compete with the handshake for the processor, and the handshake does not
            // need them: they start a moment later, long before a person has typed a prompt.
            tokio::time::sleep(WARM_UP_DELAY).await;
            if let Ok(binary) = environment.binary() {
                probe.facts(&binary).await;
            }
        }
    }
}

impl Default for Os {
    fn default() -> Self {
        Self::new()
    }
}

impl World for Os {
    fn spawn(&mut self, spec: &SpawnSpec) -> std::io::Result<HostProcess> {
        let mut command = Command::new(&spec.binary);
        command.arg("serve").args(spec.flags).current_dir(&spec.workspace).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("a pipe is missing");
        Ok(HostProcess {
            stdin: Box::pin(child.stdin.take().ok_or_else(missing)?),
            stdout: Box::pin(child.stdout.take().ok_or_else(missing)?),
            stderr: Box::pin(child.stderr.take().ok_or_else(missing)?),
            control: Box::new(Process::new(child)),
        })
    }

    fn perform(&mut self, effect: Effect) -> BoxFuture<EffectResult> {
        let (environment, probe) = (Rc::clone(&self.environment), Rc::clone(&self.probe));
        Box::pin(async move {
            match effect {
                Effect::Workspace(path) => EffectResult::Workspace(workspace(&path)),
                Effect::Credentials => EffectResult::Credentials(environment.has_credentials()),
                Effect::Resolve => {
                    EffectResult::Resolve(Box::new(resolve(&environment, &probe).await))
                }
            }
        })
    }

    fn facts(&self) -> Facts {
        Facts { root: is_root(), flags: self.probe.known_flags() }
    }

    fn ids(&mut self) -> &mut dyn IdSource {
        &mut self.ids
    }
}

/// PO-25. Where there are no user ids, nobody is root.
fn is_root() -> bool {
    #[cfg(unix)]
    let root = rustix::process::getuid().is_root() || rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    let root = false;
    root
}

/// The Muse binary of this process's environment, for `--cli`.
///
/// # Errors
/// A text for the person that says what to do (BIN-2).
pub fn find_muse() -> Result<PathBuf, String> {
    let environment = Environment { variables: std::env::vars_os().collect() };
    environment.binary().map_err(|error| {
        let redactor = crate::core::redact::Redactor::default();
        crate::core::failure::Failure::unavailable(&error, &redactor).to_acp().message
    })
}

async fn resolve(environment: &Environment, probe: &Probe) -> Result<Resolved, ResolveError> {
    let path = environment.binary()?;
    let facts = probe.facts(&path).await;
    let binary = path.to_string_lossy().into_owned();
    if !facts.has_serve {
        return Err(ResolveError::NoServe { binary, version: facts.version });
    }
    Ok(Resolved {
        identity: environment.identity(&path),
        settings: environment.settings(),
        version: facts.version,
        flags: facts.flags,
        binary,
    })
}

impl Environment {
    /// An empty variable counts as unset (PROC-9).
    fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(Path::new(name).as_os_str()).filter(|value| !value.is_empty())
    }

    /// BIN-1.
    fn binary(&self) -> Result<PathBuf, ResolveError> {
        if let Some(path) = self.get("MUSE_CODE_EXECUTABLE") {
            return executable(Path::new(path))
                .ok_or_else(|| ResolveError::Override(path.to_string_lossy().into_owned()));
        }
        let names: &[&str] =
            if cfg!(windows) { &["muse.exe", "muse.cmd", "muse.bat"] } else { &["muse"] };
        self.get("PATH")
            .into_iter()
            .flat_map(std::env::split_paths)
            .filter(|folder| !folder.as_os_str().is_empty())
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
            .find_map(|path| executable(&path))
            .ok_or(ResolveError::NotOnPath)
    }

    fn config_home(&self) -> Option<PathBuf> {
        self.get("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| self.get("HOME").map(|home| Path::new(home).join(".config")))
    }

    fn muse_file(&self, name: &str) -> Option<PathBuf> {
        Some(self.config_home()?.join("muse").join(name))
    }

    /// AUTH-3: existence and size only.
    fn has_credentials(&self) -> bool {
        let stored = self
            .muse_file("auth.json")
            .and_then(|path| std::fs::metadata(path).ok())
            .is_some_and(|file| file.len() > 2);
        self.get("META_API_KEY").is_some() || stored
    }

    /// CFG-2: a missing or malformed file is logged and ignored.
    fn settings(&self) -> Settings {
        let read = || -> Option<serde_json::Value> {
            let path = self.muse_file("settings.json")?;
            if std::fs::metadata(&path).ok()?.len() > SETTINGS_MAX {
                return None;
            }
            let parsed = serde_json::from_slice(&std::fs::read(&path).ok()?);
            if parsed.is_err() {
                tracing::warn!(code = "settings", "Muse's settings.json is not JSON; ignored");
            }
            parsed.ok()
        };
        let settings = read().unwrap_or_default();
        let word = |name: &str, otherwise: &str| {
            let text = settings.get(name).and_then(serde_json::Value::as_str);
            text.filter(|text| !text.trim().is_empty()).unwrap_or(otherwise).to_owned()
        };
        Settings {
            model: word("model", DEFAULT_MODEL),
            provider: word("provider", DEFAULT_PROVIDER),
            effort: word("reasoning_effort", DEFAULT_EFFORT),
        }
    }

    /// HOST-9. Length-prefixed, so that no two sets of parts have the same bytes.
    fn identity(&self, binary: &Path) -> [u8; 32] {
        let mut digest = Sha256::new();
        let mut add = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        let real = std::fs::canonicalize(binary).unwrap_or_else(|_| binary.to_owned());
        add(real.as_os_str().as_encoded_bytes());
        if let Ok(file) = std::fs::metadata(&real) {
            add(&file.len().to_le_bytes());
            add(format!("{:?}", file.modified().ok()).as_bytes());
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt;
                add(&file.ctime().to_le_bytes());
                add(&file.ctime_nsec().to_le_bytes());
            }
        }
        for (name, value) in &self.variables {
            add(name.as_encoded_bytes());
            add(value.as_encoded_bytes());
        }
        for name in ["settings.json", "auth.json"] {
            let path = self.muse_file(name).unwrap_or_default();
            add(path.as_os_str().as_encoded_bytes());
            add(&std::fs::read(&path).map(Sha256::digest).unwrap_or_default());
        }
        digest.finalize().into()
    }
}

/// WS-2, WS-3.
fn workspace(path: &str) -> Result<String, WorkspaceError> {
    let real = std::fs::canonicalize(path).map_err(|_| WorkspaceError::Missing)?;
    if !real.is_dir() {
        return Err(WorkspaceError::NotADirectory);
    }
    real.into_os_string().into_string().map_err(|_| WorkspaceError::NotUtf8)
}

/// The absolute path, if it is an executable regular file; links are followed but kept.
fn executable(path: &Path) -> Option<PathBuf> {
    let file = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    (file.is_file() && may_run).then(|| std::path::absolute(path).ok()).flatten()
}

struct Uuids;

impl IdSource for Uuids {
    fn uuid(&mut self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// A child in its own process group.
struct Process {
    id: Option<u32>,
    kill: Option<oneshot::Sender<()>>,
    wait: BoxFuture<HostExit>,
}

impl Process {
    fn new(mut child: Child) -> Self {
        let (kill, killed) = oneshot::channel();
        let id = child.id();
        let wait = async move {
            // The order does not matter for the result, only for being the same every time.
            let status = tokio::select! {
                biased;
                status = child.wait() => status,
                Ok(()) = killed => {
                    // Where there are no groups, this is all that can be ended.
                    let _ = child.start_kill();
                    child.wait().await
                }
            };
            status.map_or_else(|_| HostExit::default(), exit)
        };
        Self { id, kill: Some(kill), wait: Box::pin(wait) }
    }
}

fn exit(status: std::process::ExitStatus) -> HostExit {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    HostExit { code: status.code(), signal }
}

impl HostControl for Process {
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<HostExit> {
        self.wait.as_mut().poll(cx)
    }

    fn terminate(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            signal_group(id, rustix::process::Signal::TERM);
        }
        #[cfg(not(unix))]
        self.kill();
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            signal_group(id, rustix::process::Signal::KILL);
        }
        if let Some(kill) = self.kill.take() {
            let _ = kill.send(());
        }
    }
}

/// Signals every process of the group that `leader` leads. A group that is gone is no error.
#[cfg(unix)]
pub(super) fn signal_group(leader: u32, signal: rustix::process::Signal) {
    if let Some(pid) = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, signal);
    }
}
