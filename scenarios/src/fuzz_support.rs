//! The body of the fuzz target `scenario_parser`, and seeds for all targets made from stories.

use std::path::Path;

use crate::lang::{fmt, parse, point};
use crate::run::transcript::Lane;
use crate::run::{Options, run_point};

/// Reads any bytes as a scenario.
///
/// # Panics
/// When a message points outside the file, or the canonical form of a file without problems means
/// something else or is not canonical.
pub fn scenario_parser(data: &[u8]) {
    let (file, diagnostics) = parse("fuzz.scn", data);
    let lines = data.iter().filter(|byte| **byte == b'\n').count() + 1;
    for diagnostic in &diagnostics {
        let line = diagnostic.place.line as usize;
        assert!((1..=lines + 1).contains(&line), "a message points into the file");
        assert!(!diagnostic.found.is_empty() && !diagnostic.help.is_empty(), "a message teaches");
    }
    if !diagnostics.is_empty() {
        return;
    }
    let file = file.expect("a file without problems is a story");
    let text = fmt::format("fuzz.scn", data).expect("a file without problems can be formatted");
    let (again, diagnostics) = parse("fuzz.scn", text.as_bytes());
    assert!(diagnostics.is_empty(), "the canonical form has no problems");
    assert_eq!(again.as_ref(), Some(&file), "the canonical form means the same");
    let twice = fmt::format("fuzz.scn", text.as_bytes()).expect("as before");
    assert_eq!(twice, text, "the canonical form is canonical");
}

/// One input for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Name of the target.
    pub target: &'static str,
    /// Name of the story it comes from.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
}

/// Seeds from every story below a folder: the file itself, and what each side said when it was played.
#[must_use]
pub fn seeds(folder: &Path) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for path in crate::lang::catalogue::files(folder).unwrap_or_default() {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (file, diagnostics) = parse(&stem, &bytes);
        seeds.push(Seed { target: "scenario_parser", name: stem.clone(), bytes });
        let (Some(file), true) = (file, diagnostics.is_empty()) else { continue };
        let axes = point::axes(&file);
        if let Ok(run) = run_point(&file, &axes, &point::at(&axes, 0), Options::default()) {
            seeds.extend(said(&stem, &run.transcript));
        }
    }
    seeds
}

/// The first byte of the frame targets says how the input is cut.
fn said(name: &str, transcript: &crate::run::transcript::Transcript) -> Vec<Seed> {
    let (mut editor, mut host, mut prompts) = (vec![7], vec![4], Vec::new());
    for entry in transcript.entries.iter().filter(|entry| !entry.from_adapter) {
        let line = entry.frame.to_string();
        let stream = if entry.lane == Lane::Editor { &mut editor } else { &mut host };
        stream.extend_from_slice(line.as_bytes());
        stream.push(b'\n');
        if let Some(prompt) = entry.frame["params"].get("prompt") {
            prompts.push(prompt.to_string().into_bytes());
        }
    }
    let seed = |target, bytes| Seed { target, name: name.to_owned(), bytes };
    let mut all = vec![seed("acp_frames", editor), seed("msp_frames", host)];
    all.extend(prompts.into_iter().map(|bytes| seed("prompt_content", bytes)));
    all
}
