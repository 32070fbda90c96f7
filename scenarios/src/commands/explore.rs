//! `scenario explore`: plays every legal order of a story on the pure core.
//!
//! In: paths and bounds. Out: a line per file with the number of orders, the smallest order that breaks a
//! rule, a summary, an exit code. A file that cannot be explored is skipped with its reason; when nothing was
//! explored, nothing is green.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};

use super::{FINDINGS, Format, Io, OK, USAGE, read_file, scenarios, shown};
use crate::explore::{Explored, Limits, explore as all_orders};
use crate::lang::point::{self, Axis, Point};

/// Most points of one file; races need none, because every order is tried anyway.
const POINTS_MAX: u64 = 64;

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExploreArgs {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Most orders a point; 0 means the default.
    pub orders: u64,
    /// Most interferences in one order; otherwise the default.
    pub interferences: Option<usize>,
    /// What drawn orders depend on.
    pub seed: u64,
    /// Print every frame of an order that breaks a rule.
    pub transcript: bool,
    /// How findings are printed.
    pub format: Format,
}

/// What came of one file.
#[derive(Debug, Default)]
struct Outcome {
    orders: u64,
    drawn: u64,
    /// Fewest interferences with which every order of a point was tried, plus one.
    complete: usize,
    skipped: Option<String>,
    violation: Option<(String, crate::explore::Violation)>,
}

/// Explores what `args` names.
///
/// # Errors
/// When the output cannot be written.
pub fn explore(io: &mut Io<'_>, args: &ExploreArgs) -> io::Result<u8> {
    let Some(files) = scenarios(io, "explore", &args.paths)? else { return Ok(USAGE) };
    let defaults = Limits::default();
    let limits = Limits {
        orders: if args.orders == 0 { defaults.orders } else { args.orders },
        interferences: args.interferences.unwrap_or(defaults.interferences),
        seed: args.seed,
    };
    let start = Instant::now();
    let outcomes = explore_all(&files, limits);
    let time = start.elapsed();
    let (mut orders, mut wrong, mut skipped) = (0, 0, 0);
    for (path, outcome) in files.iter().zip(&outcomes) {
        orders += outcome.orders + outcome.drawn;
        wrong += usize::from(outcome.violation.is_some());
        skipped += usize::from(outcome.skipped.is_some());
        match args.format {
            Format::Json => writeln!(io.out, "{}", object(path, outcome))?,
            Format::Text => text(io.out, path, outcome, args, limits)?,
        }
    }
    let explored = files.len() - skipped;
    if args.format == Format::Text {
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let rate = orders as f64 / time.as_secs_f64().max(0.001);
        writeln!(
            io.out,
            "{orders} orders of {explored} files in {:.1} s ({rate:.0} a second), {wrong} break a rule, \
             {skipped} files skipped",
            time.as_secs_f64()
        )?;
    }
    Ok(if wrong > 0 || explored == 0 { FINDINGS } else { OK })
}

/// On all processors, each file on one.
fn explore_all(files: &[PathBuf], limits: Limits) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Vec<(usize, Outcome)>> = Mutex::default();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(files.len()) {
            scope.spawn(|| {
                while let Some((number, path)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    files.get(number).map(|path| (number, path))
                } {
                    let outcome = one(path, limits);
                    let mut all = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((number, outcome));
                }
            });
        }
    });
    let mut all = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

fn one(path: &Path, limits: Limits) -> Outcome {
    let mut outcome = Outcome { complete: usize::MAX, ..Outcome::default() };
    match points(path, limits, &mut outcome) {
        Ok(()) => {}
        Err(reason) => outcome.skipped = Some(reason),
    }
    outcome
}

fn points(path: &Path, limits: Limits, outcome: &mut Outcome) -> Result<(), String> {
    let bytes = read_file(path)?;
    let source = String::from_utf8_lossy(&bytes);
    let (file, problems) = crate::lang::parse(&shown(path), &bytes);
    let file = file.filter(|_| problems.is_empty()).ok_or("see `scenario check`")?;
    let axes = point::axes(&file);
    let count = point::count(&axes);
    let all = (0..count).map(|number| point::at(&axes, number));
    let own = all.filter(|point| is_as_told(&axes, point)).take(POINTS_MAX as usize);
    for point in own {
        let Explored { orders, drawn, complete, violation } =
            all_orders(&file, &source, &axes, &point, limits)?;
        outcome.orders += orders;
        outcome.drawn += drawn;
        outcome.complete = outcome.complete.min(complete.map_or(0, |most| most + 1));
        if let Some(violation) = violation {
            outcome.violation = Some((point::label(&axes, &point), violation));
            return Ok(());
        }
    }
    Ok(())
}

/// Races are in the order of the file.
fn is_as_told(axes: &[Axis<'_>], point: &Point) -> bool {
    axes.iter().zip(&point.0).all(|(axis, index)| !axis.is_race() || *index == 0)
}

fn text(
    out: &mut dyn Write,
    path: &Path,
    outcome: &Outcome,
    args: &ExploreArgs,
    limits: Limits,
) -> io::Result<()> {
    let path = shown(path);
    if let Some(reason) = &outcome.skipped {
        return writeln!(out, "skipped {path}: {reason}");
    }
    let reach = match outcome.complete {
        0 => "not all without interference".to_owned(),
        1 => "all without interference".to_owned(),
        more => format!("all with up to {} interferences", more - 1),
    };
    let drawn = match outcome.drawn {
        0 => String::new(),
        drawn => format!(", {drawn} more drawn by seed {}", limits.seed),
    };
    writeln!(out, "{path}: {} orders, {reach}{drawn}", outcome.orders)?;
    let Some((point, violation)) = &outcome.violation else { return Ok(()) };
    let point = if point.is_empty() { String::new() } else { format!(" at {point}") };
    writeln!(out, "broken{point}: {}\nthe smallest order that shows it:\n", violation.text)?;
    for line in violation.story.lines() {
        writeln!(out, "    {line}")?;
    }
    if args.transcript {
        writeln!(out, "\nevery frame:\n")?;
        for line in violation.transcript.lines() {
            writeln!(out, "    {line}")?;
        }
    }
    writeln!(out)
}

fn object(path: &Path, outcome: &Outcome) -> Value {
    let mut object = json!({
        "file": shown(path), "orders": outcome.orders, "drawn": outcome.drawn,
        "interferences": outcome.complete.checked_sub(1), "skipped": outcome.skipped,
    });
    if let Some((point, violation)) = &outcome.violation {
        object["violation"] = json!({
            "at": point, "text": violation.text, "story": violation.story,
            "transcript": violation.transcript,
        });
    }
    object
}
