//! `scenario run`: plays files and says what came of them.
//!
//! In: paths and options. Out: a report per red file, a summary with counts, an exit code. Files are played
//! on several threads, each run on one; results are reported in order of the files, whatever finished
//! first. A file that cannot be played is counted as skipped, with its reason, never as passed.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{input, read_file};
use crate::lang::catalogue;
use crate::lang::diagnostic::{Style, json_line, render_all};
use crate::lang::point;
use crate::run::report::Replay;
use crate::run::{self, Options, StageKind};

mod progress;
mod report;

use progress::Progress;

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunArgs {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Only files whose path contains one of these; all without any.
    pub filters: Vec<String>,
    /// Only the point with this name.
    pub at: Option<String>,
    /// Where to play.
    pub stage: StageKind,
    /// Seed of the hosts' ids, and on `sim` of the latencies.
    pub seed: u64,
    /// How many seeds, from `seed` on; 0 means one.
    pub seeds: u64,
    /// Threads; 0 means one per processor.
    pub jobs: usize,
    /// One JSON object per file instead of text.
    pub json: bool,
    /// Write a JUnit report here.
    pub junit: Option<PathBuf>,
    /// Print the transcript of each run.
    pub transcript: bool,
    /// Play nothing; list the races without a control (DSL-15).
    pub self_check: bool,
    /// Say on the standard error how far the run is; somebody looks at it.
    pub progress: bool,
}

/// Exit code when everything passed.
pub const PASSED: u8 = 0;
/// When a story is red or a file is wrong.
pub const FAILED: u8 = 1;
/// When the command line is wrong or names nothing.
pub const USAGE: u8 = 2;

/// What came of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// As given or found.
    pub path: PathBuf,
    /// How it ended.
    pub verdict: Verdict,
    /// Points that were played.
    pub points: usize,
    /// Transcripts, if they were asked for.
    pub transcript: String,
    /// The failure for programs; see `report`.
    pub failure: Option<Value>,
    /// What is wrong with the file, for programs.
    pub diagnostics: Vec<Value>,
    /// How long it took on the wall clock.
    pub time: Duration,
}

/// How a file ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every point is green.
    Passed,
    /// The report of the first red point, or the diagnostics.
    Failed(String),
    /// Why it was not played.
    Skipped(String),
}

/// Plays what `args` names and writes the report to `out`.
///
/// # Errors
/// When `out` or the JUnit file cannot be written.
pub fn run(args: &RunArgs, out: &mut dyn Write) -> io::Result<u8> {
    let mut files = Vec::new();
    for path in &args.paths {
        match catalogue::files(path) {
            Ok(found) => files.extend(found),
            Err(error) => {
                let reason = input::reason(&error);
                writeln!(out, "scenario run: {}: {reason}", path.display())?;
                return Ok(USAGE);
            }
        }
    }
    files.sort();
    files.dedup();
    files.retain(|path| {
        let text = path.to_string_lossy();
        args.filters.is_empty() || args.filters.iter().any(|filter| text.contains(filter.as_str()))
    });
    if files.is_empty() {
        writeln!(out, "scenario run: no .scn file is named or found there")?;
        return Ok(USAGE);
    }
    if args.self_check {
        let missing = without_control(&files);
        for path in &missing {
            writeln!(
                out,
                "{}: a race of acts without {}",
                path.display(),
                control(path).display()
            )?;
        }
        writeln!(out, "{} of {} files lack their control", missing.len(), files.len())?;
        return Ok(if missing.is_empty() { PASSED } else { FAILED });
    }
    let start = Instant::now();
    let outcomes = play_all(&files, args);
    let time = start.elapsed();
    for outcome in &outcomes {
        if args.json {
            report::json_object(outcome, out)?;
        } else {
            report::text(outcome, out)?;
        }
    }
    if let Some(path) = &args.junit {
        std::fs::write(path, report::junit(&outcomes, args.stage.name(), time))?;
    }
    report::summary(&outcomes, args.stage.name(), args.json, time, out)
}

/// Files with a race of acts and no `NAME-control.scn` beside them (DSL-15). A file that cannot be read is
/// left to `scenario check`.
#[must_use]
pub fn without_control(files: &[PathBuf]) -> Vec<PathBuf> {
    let races = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        let (file, _) = crate::lang::parse(&path.to_string_lossy(), &bytes);
        file.is_some_and(|file| run::has_race(&file))
    };
    files.iter().filter(|path| races(path) && !control(path).exists()).cloned().collect()
}

/// Where the control of a story stands.
fn control(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{stem}-control.scn"))
}

fn play_all(files: &[PathBuf], args: &RunArgs) -> Vec<Outcome> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let jobs = if args.jobs == 0 { cores } else { args.jobs }.min(files.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Outcome>>> = Mutex::new(vec![None; files.len()]);
    let mut stderr = io::stderr();
    let line: Option<&mut (dyn Write + Send)> =
        if args.progress && !args.json { Some(&mut stderr) } else { None };
    let progress = Progress::new(line, files.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = files.get(index) else { return };
                    let start = Instant::now();
                    let mut outcome = play(path, args);
                    outcome.time = start.elapsed();
                    progress.done(matches!(outcome.verdict, Verdict::Failed(_)));
                    done.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(outcome);
                }
            });
        }
    });
    progress.finish();
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

fn play(path: &Path, args: &RunArgs) -> Outcome {
    let mut outcome = Outcome {
        path: path.to_owned(),
        verdict: Verdict::Passed,
        points: 0,
        transcript: String::new(),
        failure: None,
        diagnostics: Vec::new(),
        time: Duration::ZERO,
    };
    let shown = path.to_string_lossy().into_owned();
    let bytes = match read_file(path) {
        Ok(bytes) => bytes,
        Err(reason) => {
            outcome.verdict = Verdict::Failed(format!("{shown}: {reason}"));
            return outcome;
        }
    };
    let (file, diagnostics) = crate::lang::parse(&shown, &bytes);
    let (Some(file), true) = (file, diagnostics.is_empty()) else {
        let objects = diagnostics.iter().map(json_line);
        outcome.diagnostics = objects.filter_map(|line| serde_json::from_str(&line).ok()).collect();
        let text = render_all(&diagnostics, Style::Plain);
        outcome.verdict = Verdict::Failed(text.trim_end().to_owned());
        return outcome;
    };
    let source = String::from_utf8_lossy(&bytes);
    let axes = point::axes(&file);
    let chosen = match args.at.as_ref().map(|at| point::parse(&axes, at)) {
        Some(Err(text)) => {
            outcome.verdict = Verdict::Failed(format!("{shown}: {text}"));
            return outcome;
        }
        Some(Ok(point)) => vec![point],
        None => {
            let count = point::count(&axes).min(run::POINTS_MAX);
            (0..count).map(|index| point::at(&axes, index)).collect()
        }
    };
    let seeds = args.seed..args.seed.saturating_add(args.seeds.max(1));
    for (point, seed) in
        chosen.iter().flat_map(|point| seeds.clone().map(move |seed| (point, seed)))
    {
        let options = Options { stage: args.stage, seed, program: program(), ..Options::default() };
        let name = point::label(&axes, point);
        match run::run_point(&file, &axes, point, options) {
            Err(reason) => {
                outcome.verdict = Verdict::Skipped(reason);
                return outcome;
            }
            Ok(run) => {
                outcome.points += 1;
                if args.transcript {
                    let _ = writeln!(outcome.transcript, "# {shown} {name}");
                    outcome.transcript.push_str(&run.transcript.to_text());
                }
                if let Some(failure) = run.failure {
                    let how = Replay { point: &name, stage: args.stage, seed };
                    outcome.failure = Some(report::failure(&failure, &name));
                    outcome.verdict = Verdict::Failed(failure.render(&shown, &source, &how));
                    return outcome;
                }
            }
        }
    }
    outcome
}

/// This executable, which is the adapter and the fake host under other names.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(|| std::env::current_exe().ok()).as_deref()
}

#[cfg(test)]
mod tests;
