//! Every file of the corpus as a test of its own on each stage that can play it:
//! `scenario::area::case::pipe` (DEC-4, SCN-T1).
//!
//! A file is played at every point twice, and the two transcripts must be the same, byte for byte
//! (STY-37). On `pipe` it is played once more with pipes of 16 bytes (DUP-3), on `sim` under many seeds of
//! jitter (TUR-13). `proc` plays a file once with the real programs. The list is the sorted list of files, the same on every call (SCN-T4).

#[path = "corpus/rules.rs"]
mod rules;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use scenarios::lang::{catalogue, point};
use scenarios::run::report::Replay;
use scenarios::run::{Options, POINTS_MAX, StageKind, profile_for, run_point};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files = catalogue::files(&root).expect("the corpus");
    let trials = files.iter().flat_map(|path| {
        let name = name(&root, path);
        StageKind::ALL.into_iter().filter(|stage| plays(path, *stage)).map(move |stage| {
            let path = path.clone();
            Trial::test(format!("scenario::{name}::{}", stage.name()), move || play(&path, stage))
        })
    });
    let controls = Trial::test("corpus::every_race_has_its_control", {
        let files = files.clone();
        move || match scenarios::commands::run::without_control(&files).first() {
            None => Ok(()),
            Some(path) => Err(format!("{} has none", path.display()).into()),
        }
    });
    let tables = Trial::test("corpus::what_its_tables_name_is_there", {
        let root = root.clone();
        move || tables(&root)
    });
    let rules = Trial::test("corpus::every_rule_names_what_shows_it", {
        let root = root.clone();
        move || rules::check(&root)
    });
    libtest_mimic::run(&arguments, trials.chain([controls, tables, rules]).collect()).exit_code()
}

/// Files that the tables of the corpus's page name are there, and those of a public report carry its
/// address.
fn tables(root: &Path) -> Result<(), Failed> {
    let page = std::fs::read_to_string(root.join("README.md"))?;
    let mut reports = 0;
    for row in page.lines().filter(|line| line.starts_with("| BL-") || line.starts_with("| FUZ-")) {
        let address = row.split_whitespace().find(|word| word.starts_with("https://"));
        reports += usize::from(address.is_some());
        let names: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            return Err(format!("no file: {row}").into());
        }
        for name in names {
            let base = if name.ends_with(".scn") { root.to_owned() } else { root.join("../..") };
            let text = std::fs::read_to_string(base.join(name));
            let text = text.map_err(|error| format!("{name}: {}", error.kind()))?;
            if address.is_some_and(|address| !text.contains(address)) {
                return Err(format!("{name} does not carry the address of its report").into());
            }
        }
    }
    match reports {
        0..19 => Err(format!("{reports} reports are listed").into()),
        _ => Ok(()),
    }
}

/// A stage that cannot realise a line of a file has no test of it, so that none is counted as passed. A
/// file that cannot be read has one on every stage: that one says why.
fn plays(path: &Path, stage: StageKind) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    let (file, _) = scenarios::lang::parse(&path.to_string_lossy(), &bytes);
    file.is_none_or(|file| stage.refuses(&file).is_none())
}

fn name(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path).with_extension("");
    relative
        .components()
        .map(|part| part.as_os_str().to_string_lossy().replace('-', "_"))
        .collect::<Vec<_>>()
        .join("::")
}

fn play(path: &Path, stage: StageKind) -> Result<(), Failed> {
    let bytes = std::fs::read(path)?;
    let shown = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path);
    let shown = format!("scenarios/{}", shown.display());
    let (file, diagnostics) = scenarios::lang::parse(&shown, &bytes);
    if !diagnostics.is_empty() {
        return Err(format!("{} findings: scenario check {shown}", diagnostics.len()).into());
    }
    let file = file.ok_or("the file cannot be read")?;
    profile_for(&file)?;
    let source = String::from_utf8_lossy(&bytes);
    let axes = point::axes(&file);
    for index in 0..point::count(&axes).min(POINTS_MAX) {
        let point = point::at(&axes, index);
        let label = point::label(&axes, &point);
        let play = |options: Options| {
            let run = run_point(&file, &axes, &point, options)?;
            let how = Replay { point: &label, stage, seed: options.seed };
            match run.failure {
                None => Ok(run.transcript.to_text()),
                Some(failure) => Err(Failed::from(failure.render(&shown, &source, &how))),
            }
        };
        let program = Some(Path::new(env!("CARGO_BIN_EXE_scenario")));
        let plain = Options { stage, program, ..Options::default() };
        let first = play(plain)?;
        // Real ids are random.
        if stage != StageKind::Proc && first != play(plain)? {
            return Err(format!("two runs of point `{label}` differ").into());
        }
        match stage {
            StageKind::Pipe => {
                play(Options { pipe: 16, ..plain }).map_err(|failed| {
                    format!("with pipes of 16 bytes: {}", failed.message().unwrap_or_default())
                })?;
            }
            StageKind::Proc => {}
            StageKind::Sim => {
                for seed in 1..=seeds(&file, point::count(&axes)) {
                    let seeded = Options { seed, ..plain };
                    let text = play(seeded)?;
                    if seed == 1 && text != play(seeded)? {
                        return Err(
                            format!("two runs of point `{label}` under seed 1 differ").into()
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// Seeds of jitter per point besides the run without any: 32 a file, fewer where every tick of long waits
/// costs, and a multiple of all where `SCENARIO_SEEDS` asks for it (a nightly run).
fn seeds(file: &scenarios::lang::ast::File, points: u64) -> u64 {
    let factor = std::env::var("SCENARIO_SEEDS").ok().and_then(|text| text.parse().ok());
    let seconds = scenarios::run::waits(file).as_secs();
    (32 / points.max(1) / (1 + seconds)).max(2) * factor.unwrap_or(1)
}
