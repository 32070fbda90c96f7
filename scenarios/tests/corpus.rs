//! Every file of the corpus as a test of its own: `scenario::area::case::pipe` (DEC-4, SCN-T1).
//!
//! A file is played at every point, twice with wide pipes and once with pipes of 16 bytes (DUP-3); the
//! two equal runs must have the same transcript, byte for byte (STY-37). The list is the sorted list of
//! files, the same on every call (SCN-T4).

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use scenarios::lang::point;
use scenarios::run::{Options, POINTS_MAX, profile_for, run_point};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let trials = files.clone().into_iter().map(|path| {
        let name = format!("scenario::{}::pipe", name(&root, &path));
        Trial::test(name, move || play(&path))
    });
    let controls = Trial::test("corpus::every_race_has_its_control", {
        let files = files.clone();
        move || match scenarios::commands::run::without_control(&files).first() {
            None => Ok(()),
            Some(path) => Err(format!("{} has none", path.display()).into()),
        }
    });
    libtest_mimic::run(&arguments, trials.chain([controls]).collect()).exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "scn") {
            files.push(path);
        }
    }
}

fn name(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path).with_extension("");
    relative
        .components()
        .map(|part| part.as_os_str().to_string_lossy().replace('-', "_"))
        .collect::<Vec<_>>()
        .join("::")
}

fn play(path: &Path) -> Result<(), Failed> {
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
        let play = |options| run_point(&file, &axes, &point, options);
        let run = play(Options::default())?;
        if let Some(failure) = &run.failure {
            return Err(failure.render(&shown, &source, &label).into());
        }
        if run.transcript.to_text() != play(Options::default())?.transcript.to_text() {
            return Err(format!("two runs of point `{label}` differ").into());
        }
        if let Some(failure) = play(Options { pipe: 16, ..Options::default() })?.failure {
            let text = failure.render(&shown, &source, &label);
            return Err(format!("with pipes of 16 bytes: {text}").into());
        }
    }
    Ok(())
}
