//! Runs a second over the corpus on one core, and where the time of a run goes.
//!
//! By hand: `cargo bench -p scenarios --locked --bench corpus`. It asserts nothing (docs/performance.md). The
//! parts are measured in turns within one process, so that a busy moment meets all of them; each figure is the
//! median of its rounds. Playing is what is left of a run without building the stage and judging.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fake_msp::engine::Mode;
use fake_msp::profiles::Profile;
use muse_code_acp::core::Config;
use scenarios::lang::ast::File;
use scenarios::lang::point::{self, Point};
use scenarios::lang::{catalogue, parse};
use scenarios::run::watch::{Ending, judge};
use scenarios::run::{Options, POINTS_MAX, Run, run_point};
use scenarios::stage::pipe::Pipe;
use scenarios::stage::world::Setting;

const ROUNDS: usize = 21;

fn main() {
    // `cargo test --all-targets` runs benchmarks too; there it only has to start.
    let rounds = if std::env::args().any(|word| word == "--bench") { ROUNDS } else { 1 };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let paths = catalogue::files(&root).expect("the corpus");
    let sources: Vec<(PathBuf, Vec<u8>)> = paths
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).expect("a file")))
        .collect();
    let stories: Vec<File> = sources.iter().filter_map(parsed).collect();
    let runs: Vec<(&File, Point)> = stories.iter().flat_map(points).collect();
    let first: Vec<Run> = runs.iter().filter_map(|(file, point)| played(file, point)).collect();
    let count = first.len();

    let (mut parsing, mut whole, mut building, mut judging) = (vec![], vec![], vec![], vec![]);
    for _ in 0..rounds {
        parsing.push(timed(|| sources.iter().filter_map(parsed).count()));
        whole.push(timed(|| runs.iter().filter_map(|(file, point)| played(file, point)).count()));
        building.push(timed(|| (0..count).map(|_| drop(black_box(stage()))).count()));
        judging.push(timed(|| {
            first.iter().map(|run| judge(&run.transcript, &Ending::default()).len()).sum::<usize>()
        }));
    }
    let (parsing, whole) = (median(parsing), median(whole));
    let (building, judging) = (median(building), median(judging));
    let playing = whole.saturating_sub(building + judging);

    let runs = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    println!("{} files, {count} runs on pipe, one core, median of {rounds}\n", sources.len());
    println!("{:8.0} runs a second", runs / whole.as_secs_f64());
    println!("{:8.0} runs a second, files parsed anew", runs / (whole + parsing).as_secs_f64());
    println!("\n   per run      part of a run");
    let rows = [("build the stage", building), ("play the story", playing), ("judge it", judging)];
    for (what, time) in rows.into_iter().chain([("parse its file", parsing)]) {
        let each = time.as_secs_f64() / runs * 1e6;
        let part = time.as_secs_f64() / whole.as_secs_f64() * 100.0;
        println!("{each:8.1} µs  {part:5.1} %  {what}");
    }
}

fn parsed((path, bytes): &(PathBuf, Vec<u8>)) -> Option<File> {
    let (file, found) = parse(&path.to_string_lossy(), bytes);
    file.filter(|_| found.is_empty())
}

fn points(file: &File) -> Vec<(&File, Point)> {
    let axes = point::axes(file);
    let count = point::count(&axes).min(POINTS_MAX);
    (0..count).map(|index| (file, point::at(&axes, index))).collect()
}

/// One run, with everything that `scenario run` does of it.
fn played(file: &File, point: &Point) -> Option<Run> {
    run_point(file, &point::axes(file), point, Options::default()).ok()
}

fn stage() -> Pipe {
    let setting = Setting {
        profile: Profile::newest(),
        mode: Mode::Scripted,
        staged: None,
        asked: Vec::new(),
        seed: 0,
        pipe: 64 * 1024,
        missing: None,
    };
    Pipe::new(setting, Config::default()).expect("a runtime")
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
