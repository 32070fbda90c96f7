//! Playing a story and judging the run.
//!
//! [`run_point`] plays one point of a file on a stage: the timeline (`play`, `expect`), the
//! outcome (`outcome`), then the end of the editor, and last the invariants that hold in every run
//! ([`watch`]). The record is [`transcript`]; what went wrong first is [`report::Failure`].

pub mod astray;
mod expect;
mod grants;
mod lanes;
pub mod names;
mod once;
mod outcome;
pub mod page;
pub mod pattern;
mod play;
pub mod render;
pub mod report;
mod root;
mod solo;
mod trail;
pub mod transcript;
mod views;
pub mod watch;

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use fake_msp::engine::Mode;
use fake_msp::profiles::{Profile, Staged};
use muse_code_acp::core::Config;
use muse_code_acp::core::redact::Redactor;

use crate::lang::ast::{
    Act, ActKind, ApprovalStyle, BudgetKey, DialectRule, ExpectKind, Fault, File, HostKind,
    HostRule, Step, Version, Wait,
};
use crate::lang::point::{self, Axis, Choice, Point};
use crate::stage::pipe::Pipe;
use crate::stage::sim::Sim;
use crate::stage::world::{Hosts, Machine, Setting};
use crate::stage::{HostProc, Stage};
use play::Play;
use report::{Code, Failure};
use transcript::Transcript;

/// A value that no run may show (I5).
pub const SECRET: &str = "planted-secret-5b1f2c";
/// Longer than anything takes after the editor has gone.
const AFTERMATH: Duration = Duration::from_secs(30);

/// How ids begin where they count.
const COUNTED: &[u8] = b"01900000-0000-7000-8000-";

/// Longest that a story may wait in all where time is real.
pub const PROC_WAITS_MAX: Duration = Duration::from_secs(2);

/// Points of one file that are played; beyond it the rest is left to seeds (DEC-5).
pub const POINTS_MAX: u64 = 4096;

/// One run of one point.
#[derive(Debug)]
pub struct Run {
    /// What was said.
    pub transcript: Transcript,
    /// The first thing that went wrong.
    pub failure: Option<Failure>,
}

/// How to play.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where.
    pub stage: StageKind,
    /// Seed of the hosts' ids, and on `sim` of the latencies: 0 has none.
    pub seed: u64,
    /// Bytes that a pipe holds (DUP-3).
    pub pipe: usize,
    /// The generation of the host; otherwise the newest that the file allows.
    pub profile: Option<&'static Profile>,
    /// For `proc`: the executable that is all programs by name (`scenario` itself).
    pub program: Option<&'static Path>,
}

impl Default for Options {
    fn default() -> Self {
        Self { stage: StageKind::Pipe, seed: 0, pipe: 64 * 1024, profile: None, program: None }
    }
}

/// Where a story can be played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StageKind {
    /// In memory, on a clock that moves only when the story says so.
    #[default]
    Pipe,
    /// On a simulated network.
    Sim,
    /// The real binaries.
    Proc,
}

impl StageKind {
    /// All, in the order of `--help`.
    pub const ALL: [Self; 3] = [Self::Pipe, Self::Sim, Self::Proc];

    /// As on the command line and in names of tests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Sim => "sim",
            Self::Proc => "proc",
        }
    }

    /// The cheapest stage that can play the file.
    #[must_use]
    pub fn fitting(file: &File) -> Self {
        Self::ALL.into_iter().find(|stage| stage.refuses(file).is_none()).unwrap_or_default()
    }

    /// Why the stage cannot realise a line of the file, if so. A skipped file is never a passed one.
    #[must_use]
    pub fn refuses(self, file: &File) -> Option<String> {
        let network = acts(file)
            .find(|act| matches!(&act.kind, ActKind::Fault(fault) if fault.is_of_a_network()));
        if let (Self::Pipe | Self::Proc, Some(act)) = (self, network) {
            return Some(format!("line {} needs a network, which `sim` has", act.at.line));
        }
        let closed = acts(file).find(|act| matches!(&act.kind, ActKind::Fault(Fault::CloseStdin)));
        if let (Self::Sim, Some(act)) = (self, closed) {
            // A network takes what nobody reads any more; a pipe breaks.
            return Some(format!(
                "line {} needs a pipe, which `pipe` and `proc` have",
                act.at.line
            ));
        }
        if self != Self::Proc {
            return None;
        }
        if !cfg!(target_os = "linux") {
            return Some("that programs are at rest can be seen on Linux only".into());
        }
        if let Some(reason) = root::refuses(file) {
            return Some(reason);
        }
        let counted = acts(file).find(|act| match &act.kind {
            ActKind::Bytes(bytes) => bytes.windows(COUNTED.len()).any(|part| part == COUNTED),
            _ => false,
        });
        if let Some(act) = counted {
            let line = act.at.line;
            return Some(format!("line {line} names an id, and real ids are not known before"));
        }
        let waits = waits(file);
        (waits > PROC_WAITS_MAX).then(|| {
            format!("it waits {} s, and real time cannot be moved", waits.as_secs_f64().ceil())
        })
    }
}

/// The newest generation of the fake host that a file allows.
///
/// # Errors
/// Why the file cannot be played on the in-memory stages: a skipped file is counted as skipped, with
/// the reason.
pub fn profile_for(file: &File) -> Result<&'static Profile, String> {
    if !file.header.hosts.is_empty() && fake_rules(file).next().is_none() {
        return Err("`hosts` does not name the fake host".into());
    }
    let newest = profiles_for(file).pop();
    newest.ok_or_else(|| "no generation of the fake host fits `hosts`".into())
}

/// Every generation of the fake host that a file allows, oldest first.
#[must_use]
pub fn profiles_for(file: &File) -> Vec<&'static Profile> {
    let fits = |profile: &&Profile| {
        let mut numbers = profile.version.split('.').map_while(|part| part.parse().ok());
        let mut next = || numbers.next().unwrap_or(0);
        let version = Version(next(), next(), next());
        file.header.hosts.is_empty()
            || fake_rules(file).any(|rule| {
                rule.bound.is_none_or(|(comparison, bound)| comparison.holds(version, bound))
            })
    };
    fake_msp::profiles::PROFILES.iter().filter(fits).collect()
}

fn fake_rules(file: &File) -> impl Iterator<Item = &HostRule> {
    file.header.hosts.iter().filter(|rule| rule.kind == HostKind::Fake)
}

/// Plays one point.
///
/// # Errors
/// When the file cannot be played on that stage; the text says why.
pub fn run_point(
    file: &File,
    axes: &[Axis<'_>],
    point: &Point,
    options: Options,
) -> Result<Run, String> {
    let setting = setting(file, options)?;
    if let Some(reason) = options.stage.refuses(file) {
        return Err(reason);
    }
    let mut stage: Box<dyn Stage> = match options.stage {
        StageKind::Pipe => Box::new(
            Pipe::new(setting, config(file))
                .map_err(|error| format!("no runtime: {}", error.kind()))?,
        ),
        StageKind::Sim => Box::new(Sim::new(setting, config(file), options.seed, waits_long(file))),
        StageKind::Proc => real(setting, &config(file), options.program)?,
    };
    let mut play = Play::new(file, axes, point, stage.as_mut());
    let played = play.timeline().and_then(|()| play.outcome());
    play.note_end();
    play.stage.calm();
    play.settle();
    play.stage.editor_close();
    play.wind_down(AFTERMATH);
    let ending = ending(&mut play);
    let transcript = std::mem::take(&mut play.transcript);
    let failure = played.err().or_else(|| {
        let finding = watch::judge(&transcript, &ending).into_iter().next()?;
        let text = format!("{}: {}", finding.invariant, finding.text);
        let mut failure = Failure::new(Code::Invariant, 0, text);
        failure.instead = finding.frame.map(|index| transcript.entries[index].frame.to_string());
        Some(failure)
    });
    Ok(Run { transcript, failure })
}

/// Plays the host lanes of one point against the client at the other end of the streams.
///
/// # Errors
/// When the file cannot be played so; the text says why.
pub fn run_host(
    file: &File,
    axes: &[Axis<'_>],
    point: &Point,
    options: Options,
    (input, output, errors): (Box<dyn Read + Send>, Box<dyn Write>, Box<dyn Write>),
) -> Result<HostRun, String> {
    if let Some(reason) = solo::refuses(file) {
        return Err(reason);
    }
    let setting = setting(file, options)?;
    let mut stage = crate::stage::solo::Solo::new(setting, input, output, errors);
    let mut play = Play::new(file, axes, point, &mut stage);
    let failure = play.host_lanes().err();
    let host = play.stage.hosts().remove(0);
    let code = host.exit().and_then(|exit| exit.code).unwrap_or(0);
    Ok(HostRun {
        failure,
        findings: host.with(|process| process.findings()),
        code: u8::try_from(code).unwrap_or(1),
    })
}

/// What came of [`run_host`].
#[derive(Debug)]
pub struct HostRun {
    /// Where the client departed from the story.
    pub failure: Option<Failure>,
    /// Rules that the client broke, without content.
    pub findings: Vec<String>,
    /// The code that the host's process ends with.
    pub code: u8,
}

fn setting(file: &File, options: Options) -> Result<Setting, String> {
    Ok(Setting {
        profile: options.profile.map_or_else(|| profile_for(file), Ok)?,
        mode: Mode::Scripted,
        staged: staged(file),
        asked: asked(file),
        seed: options.seed,
        pipe: options.pipe,
        missing: None,
    })
}

/// The machine and the configuration of a run without a stage.
pub(crate) fn machine(file: &File, options: Options) -> Result<(Machine, Config), String> {
    Ok((Machine { setting: setting(file, options)?, hosts: Hosts::default() }, config(file)))
}

fn ending(play: &mut Play<'_>) -> watch::Ending {
    let hosts = play.stage.hosts();
    let violations = hosts.iter().flat_map(|host| host.with(|process| process.findings()));
    // The answer to a request that only a lie asked is no mistake of the adapter, nor is naming what only
    // a lie issued.
    let excused = |text: &String| {
        play.lied && (text.starts_with("ENV-5 ") || text.ends_with("was never issued"))
    };
    let mut violations: Vec<String> = violations.filter(|text| !excused(text)).collect();
    violations.extend(play.stage.findings());
    if !play.stage.adapter_ended() {
        violations.push("the adapter does not end after its editor".into());
    }
    watch::Ending {
        hosts_left: hosts.iter().filter(|host| !HostProc::is_gone(host)).count(),
        violations,
        secrets: vec![SECRET.to_owned()],
        lies: play.lied,
        editor_lost: acts(play.file)
            .any(|act| !act.lane.is_host() && matches!(act.kind, ActKind::Fault(Fault::Crash))),
    }
}

fn config(file: &File) -> Config {
    let variables = [("META_API_KEY".to_owned(), SECRET.to_owned())];
    let mut config =
        Config { redactor: Redactor::from_environment(variables).into(), ..Config::default() };
    for budget in &file.header.budget {
        match budget.key {
            BudgetKey::Startup => config.startup = budget.value,
            BudgetKey::Submit => config.submit = budget.value,
            BudgetKey::Stall => config.stall = budget.value,
        }
    }
    config
}

fn staged(file: &File) -> Option<Staged> {
    file.header
        .dialect
        .iter()
        .map(|DialectRule::Approvals(style)| match style {
            ApprovalStyle::Refreshed => Staged::Refreshed,
            ApprovalStyle::Reissued => Staged::Reissued,
            ApprovalStyle::Both => Staged::Both,
        })
        .next()
}

/// Methods of the adapter that the file has lines for: there the story answers and not the model.
fn asked(file: &File) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    each_expected(file, &mut |method| {
        if !methods.iter().any(|known| known == method) {
            methods.push(method.to_owned());
        }
    });
    methods
}

fn each_expected(file: &File, each: &mut impl FnMut(&str)) {
    for step in file.timeline() {
        let lines = match step {
            Step::Expect(expect) => std::slice::from_ref(expect),
            Step::ExpectRace(race) => &race.lines,
            _ => continue,
        };
        for line in lines.iter().filter(|line| line.lane.is_host()) {
            if let ExpectKind::Frame { method, .. } = &line.kind {
                each(method);
            }
        }
    }
}

/// Whether some line expects this method of a host lane.
fn expects(file: &File, method: &str) -> bool {
    let mut found = false;
    each_expected(file, &mut |expected| found |= expected == method);
    found
}

/// Every act of a story, those of races included.
fn acts(file: &File) -> impl Iterator<Item = &Act> {
    file.timeline().flat_map(|step| match step {
        Step::Act(act) => std::slice::from_ref(act),
        Step::ActRace(race) => &race.lines[..],
        _ => &[],
    })
}

/// Whether a story waits so long that coarse ticks pay on `sim` (TUR-4).
fn waits_long(file: &File) -> bool {
    waits(file) > Duration::from_secs(5)
}

/// Real programs.
#[cfg(target_os = "linux")]
fn real(
    setting: Setting,
    config: &Config,
    program: Option<&Path>,
) -> Result<Box<dyn Stage>, String> {
    let program = program.ok_or("`proc` needs the executable of the programs")?;
    let stage = crate::stage::proc::Proc::new(setting, config, program, SECRET);
    Ok(Box::new(stage.map_err(|error| format!("the adapter cannot be started: {error}"))?))
}

/// Refused before ([`StageKind::refuses`]).
#[cfg(not(target_os = "linux"))]
fn real(_: Setting, _: &Config, _: Option<&Path>) -> Result<Box<dyn Stage>, String> {
    Err("`proc` needs Linux".into())
}

/// What the waits of a story add up to, each `vary` at its longest.
#[must_use]
pub fn waits(file: &File) -> Duration {
    let axes = point::axes(file);
    let longest = |name: &str| {
        let axis = axes.iter().find(|axis| axis.name == name)?;
        (0..axis.size())
            .filter_map(|index| match axis.choice(index) {
                Some(Choice::Duration(duration)) => Some(duration),
                _ => None,
            })
            .max()
    };
    let waits = file.timeline().map(|step| match step {
        Step::After(after) => match &after.wait {
            Wait::Literal(by) => *by,
            Wait::Name(name) => longest(&name.text).unwrap_or_default(),
        },
        _ => Duration::ZERO,
    });
    waits.sum()
}

/// Whether a story holds a race of acts: such a one needs a control (DSL-15).
#[must_use]
pub fn has_race(file: &File) -> bool {
    file.timeline().any(|step| matches!(step, Step::ActRace(_)))
}
