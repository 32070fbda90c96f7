//! `scenario run`: plays files and says what came of them.
//!
//! In: paths and options. Out: a report per red file, a summary with counts, an exit code. Files are played
//! on several threads, each run on one; results are reported in order of the files, whatever finished
//! first. A file that cannot be played is counted as skipped, with its reason, never as passed.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use crate::lang::point;
use crate::run::{self, Options};

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunArgs {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Only files whose path contains one of these; all without any.
    pub filters: Vec<String>,
    /// Only the point with this name.
    pub at: Option<String>,
    /// Seed of the hosts' ids.
    pub seed: u64,
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
        if !path.exists() {
            writeln!(out, "scenario run: {} does not exist", path.display())?;
            return Ok(USAGE);
        }
        find(path, &mut files);
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
    let outcomes = play_all(&files, args);
    for outcome in &outcomes {
        report(outcome, args, out)?;
    }
    if let Some(path) = &args.junit {
        std::fs::write(path, junit(&outcomes))?;
    }
    summary(&outcomes, args, out)
}

/// The `.scn` files at or below a path.
pub fn find(path: &Path, files: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        files.push(path.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() || path.extension().is_some_and(|ending| ending == "scn") {
            find(&path, files);
        }
    }
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
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = files.get(index) else { return };
                    let outcome = play(path, args);
                    done.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(outcome);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}

fn play(path: &Path, args: &RunArgs) -> Outcome {
    let mut outcome = Outcome {
        path: path.to_owned(),
        verdict: Verdict::Passed,
        points: 0,
        transcript: String::new(),
    };
    let shown = path.to_string_lossy().into_owned();
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            outcome.verdict = Verdict::Failed(format!("{shown}: cannot be read: {}", error.kind()));
            return outcome;
        }
    };
    let (file, diagnostics) = crate::lang::parse(&shown, &bytes);
    let (Some(file), true) = (file, diagnostics.is_empty()) else {
        let text = format!("{shown}: {} findings; see `scenario check {shown}`", diagnostics.len());
        outcome.verdict = Verdict::Failed(text);
        return outcome;
    };
    let source = String::from_utf8_lossy(&bytes);
    let options = Options { seed: args.seed, ..Options::default() };
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
    for point in chosen {
        let name = point::label(&axes, &point);
        match run::run_point(&file, &axes, &point, options) {
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
                    outcome.verdict = Verdict::Failed(failure.render(&shown, &source, &name));
                    return outcome;
                }
            }
        }
    }
    outcome
}

fn report(outcome: &Outcome, args: &RunArgs, out: &mut dyn Write) -> io::Result<()> {
    if args.json {
        let (verdict, text) = match &outcome.verdict {
            Verdict::Passed => ("passed", None),
            Verdict::Failed(text) => ("failed", Some(text)),
            Verdict::Skipped(reason) => ("skipped", Some(reason)),
        };
        let line = json!({ "file": outcome.path, "verdict": verdict, "points": outcome.points,
                           "text": text });
        return writeln!(out, "{line}");
    }
    out.write_all(outcome.transcript.as_bytes())?;
    match &outcome.verdict {
        Verdict::Passed => Ok(()),
        Verdict::Failed(text) => writeln!(out, "{text}\n"),
        Verdict::Skipped(reason) => writeln!(out, "skipped {}: {reason}", outcome.path.display()),
    }
}

fn summary(outcomes: &[Outcome], args: &RunArgs, out: &mut dyn Write) -> io::Result<u8> {
    let count =
        |wanted: fn(&Verdict) -> bool| outcomes.iter().filter(|o| wanted(&o.verdict)).count();
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
    let failed = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    let skipped = count(|verdict| matches!(verdict, Verdict::Skipped(_)));
    if !args.json {
        let points: usize = outcomes.iter().map(|outcome| outcome.points).sum();
        writeln!(
            out,
            "{passed} passed, {failed} failed, {skipped} skipped ({points} runs on pipe)"
        )?;
    }
    // Nothing played is nothing proved.
    Ok(if failed > 0 || passed == 0 { FAILED } else { PASSED })
}

fn junit(outcomes: &[Outcome]) -> String {
    let escape = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(xml, "  <testsuite name=\"scenarios pipe\" tests=\"{}\">", outcomes.len());
    for outcome in outcomes {
        let name = escape(&outcome.path.to_string_lossy());
        let body = match &outcome.verdict {
            Verdict::Passed => String::new(),
            Verdict::Failed(text) => format!("<failure>{}</failure>", escape(text)),
            Verdict::Skipped(reason) => format!("<skipped message=\"{}\"/>", escape(reason)),
        };
        let _ = writeln!(xml, "    <testcase name=\"{name}\">{body}</testcase>");
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}
