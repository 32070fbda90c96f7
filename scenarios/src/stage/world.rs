//! The machine of the virtual stages: made-up paths, counted ids, hosts from a profile.
//!
//! `Machine` is what every stage shares: which engine the next host process gets, and what an effect
//! gives. `MadeUp` is the world of `pipe`, where a process is three pipes and nothing else.

use std::cell::RefCell;
use std::rc::Rc;

use fake_msp::engine::{Host, Mode, Options, Recovery};
use fake_msp::profiles::Profile;
use muse_code_acp::core::io::{Facts, ResolveError, Resolved, Settings, SpawnSpec};
use muse_code_acp::core::mode::FLAGS;
use muse_code_acp::core::{Effect, EffectResult, IdSource};
use muse_code_acp::shell::world::BoxFuture;
use muse_code_acp::shell::{HostProcess, World};

use super::host::HostProc;
use super::memory::pipe;
use super::tamper::Tampering;

/// What a story says about the machine.
#[derive(Clone)]
pub struct Setting {
    /// The host's generation.
    pub profile: &'static Profile,
    /// Who answers turns.
    pub mode: Mode,
    /// Later approval stages: the profile's way, or the file's `dialect`.
    pub staged: Option<fake_msp::profiles::Staged>,
    /// Methods that the story answers besides turns and approvals.
    pub asked: Vec<String>,
    /// Seed of the hosts' ids.
    pub seed: u64,
    /// Bytes that a pipe holds (DUP-3).
    pub pipe: usize,
    /// Why no Muse can be found, if so.
    pub missing: Option<ResolveError>,
}

/// The host processes of a stage in the order in which they were started.
pub(crate) type Hosts = Rc<RefCell<Vec<HostProc>>>;

/// See the module.
pub(crate) struct Machine {
    pub(crate) setting: Setting,
    pub(crate) hosts: Hosts,
}

/// See the module.
pub(super) struct MadeUp {
    pub(super) machine: Machine,
    pub(super) start: tokio::time::Instant,
    pub(super) ids: Counted,
    pub(super) tampering: Option<Tampering>,
}

/// Bytes that the pipe of stderr holds.
pub(super) const STDERR_PIPE: usize = 64 * 1024;

/// Ids in the form of a UUIDv7 that count.
pub(super) struct Counted(pub(super) u64);

impl IdSource for Counted {
    fn uuid(&mut self) -> String {
        self.0 += 1;
        format!("01900000-0000-7000-8000-{:012x}", self.0)
    }
}

impl Machine {
    /// The engine of the next process.
    pub(super) fn engine(&self) -> Host {
        let options = Options {
            seed: self.setting.seed + self.hosts.borrow().len() as u64,
            mode: self.setting.mode,
            staged: self.setting.staged,
            asked: self.setting.asked.clone(),
            ..Options::default()
        };
        self.restarted().unwrap_or_else(|| Host::new(self.setting.profile, options))
    }

    /// The newest host that has ended, started again over its durable log: what it stored is there for
    /// the next process, as on a disk.
    fn restarted(&self) -> Option<Host> {
        let hosts = self.hosts.borrow();
        let ended = hosts.iter().rev().find(|host| host.is_gone() && host.with(|p| !p.taken))?;
        Some(ended.with(|process| {
            process.taken = true;
            process.violations = process.findings();
            let fresh = Host::new(self.setting.profile, Options::default());
            std::mem::replace(&mut process.engine, fresh).restart(Recovery::Infer)
        }))
    }

    /// Nobody is root here, and Muse was asked for its flags long ago.
    pub(crate) fn facts(&self) -> Facts {
        Facts { root: false, flags: Some(self.flags()) }
    }

    /// The flags of the adapter that this generation of Muse has.
    fn flags(&self) -> Vec<&'static str> {
        let known = self.setting.profile.serve_flags;
        let has = |flag: &str| known.iter().any(|(line, _)| line.split(' ').next() == Some(flag));
        FLAGS.iter().copied().filter(|flag| has(flag)).collect()
    }

    /// A process with an argument that it does not know ends at once.
    pub(super) fn check(&self, spec: &SpawnSpec) -> std::io::Result<()> {
        let flags = self.flags();
        match spec.flags.iter().all(|flag| flags.contains(flag)) {
            true => Ok(()),
            false => Err(std::io::Error::other("an unknown argument")),
        }
    }

    /// What an effect gives on a machine where everything is as it should be.
    pub(crate) fn perform(&self, effect: Effect) -> EffectResult {
        match effect {
            Effect::Workspace(path) => EffectResult::Workspace(Ok(path)),
            Effect::Credentials => EffectResult::Credentials(true),
            Effect::Resolve => {
                EffectResult::Resolve(Box::new(match self.setting.missing.clone() {
                    Some(error) => Err(error),
                    None => Ok(Resolved {
                        binary: "/opt/muse/bin/muse".into(),
                        version: Some(self.setting.profile.version.to_owned()),
                        identity: [0; 32],
                        flags: self.flags(),
                        settings: Settings {
                            model: "muse-spark-1.2".into(),
                            provider: "meta".into(),
                            effort: "high".into(),
                        },
                    }),
                }))
            }
        }
    }
}

impl World for MadeUp {
    fn spawn(&mut self, spec: &SpawnSpec) -> std::io::Result<HostProcess> {
        self.machine.check(spec)?;
        let size = self.machine.setting.pipe;
        let (stdin, host_in) = pipe(size);
        let (host_out, stdout) = pipe(size);
        let (host_err, stderr) = pipe(STDERR_PIPE);
        let engine = self.machine.engine();
        let host = HostProc::new(engine, self.start.elapsed(), host_in, host_out, host_err);
        host.with(|process| process.tampering.clone_from(&self.tampering));
        self.machine.hosts.borrow_mut().push(host.clone());
        Ok(HostProcess {
            stdin: Box::pin(stdin),
            stdout: Box::pin(stdout),
            stderr: Box::pin(stderr),
            control: host.control(),
        })
    }

    fn perform(&mut self, effect: Effect) -> BoxFuture<EffectResult> {
        Box::pin(std::future::ready(self.machine.perform(effect)))
    }

    fn facts(&self) -> Facts {
        self.machine.facts()
    }

    fn ids(&mut self) -> &mut dyn IdSource {
        &mut self.ids
    }
}
