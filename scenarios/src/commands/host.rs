//! `scenario host`: be the host of a story for a client of one's own.
//!
//! In: a file, the standard streams. Out: frames on stdout, the report on stderr, an exit code.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use fake_msp::profiles::{PROFILES, Profile};

use super::read_file;
use crate::lang::diagnostic::{Style, render_all};
use crate::lang::point;
use crate::run::report::Replay;
use crate::run::{Options, run_host};

/// The client departed from the story: the code of `fake-msp serve --transcript` for the same.
pub const DEPARTED: u8 = 6;
/// The file cannot be used: the host's code for a configuration error.
pub const UNUSABLE: u8 = 3;

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostArgs {
    /// The story.
    pub path: PathBuf,
    /// The point; otherwise the first.
    pub at: Option<String>,
    /// Seed of the ids.
    pub seed: u64,
    /// The generation of the host; otherwise the newest that the file allows.
    pub profile: Option<String>,
    /// A client that breaks a rule makes the exit code 1.
    pub strict: bool,
}

/// Plays the host lanes on these streams.
///
/// # Errors
/// When stderr cannot be written.
pub fn host(
    args: &HostArgs,
    input: Box<dyn Read + Send>,
    output: Box<dyn Write>,
    errors: Box<dyn Write>,
    report: &mut dyn Write,
) -> io::Result<u8> {
    let path = args.path.to_string_lossy().into_owned();
    let bytes = match read_file(&args.path) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(report, "scenario host: {path}: {error}")?;
            return Ok(UNUSABLE);
        }
    };
    let (file, diagnostics) = crate::lang::parse(&path, &bytes);
    let source = String::from_utf8_lossy(&bytes);
    let (Some(file), true) = (file, diagnostics.is_empty()) else {
        write!(report, "{}", render_all(&diagnostics, Style::Plain))?;
        return Ok(UNUSABLE);
    };
    let axes = point::axes(&file);
    let point = match args.at.as_deref().map(|at| point::parse(&axes, at)) {
        None => point::at(&axes, 0),
        Some(Ok(point)) => point,
        Some(Err(text)) => {
            writeln!(report, "scenario host: {path}: {text}")?;
            return Ok(UNUSABLE);
        }
    };
    let profile = match args.profile.as_deref().map(find) {
        None => None,
        Some(Some(profile)) => Some(profile),
        Some(None) => {
            let known: Vec<&str> = PROFILES.iter().map(|profile| profile.version).collect();
            writeln!(report, "scenario host: --profile: there are {}", known.join(", "))?;
            return Ok(UNUSABLE);
        }
    };
    let options = Options { seed: args.seed, profile, ..Options::default() };
    let run = match run_host(&file, &axes, &point, options, (input, output, errors)) {
        Ok(run) => run,
        Err(reason) => {
            writeln!(report, "scenario host: {path}: {reason}")?;
            return Ok(UNUSABLE);
        }
    };
    for finding in &run.findings {
        writeln!(report, "fake-msp: the client broke a rule: {finding}")?;
    }
    if let Some(failure) = run.failure {
        let label = point::label(&axes, &point);
        let how = Replay { point: &label, seed: args.seed, ..Replay::default() };
        let text = failure.render(&path, &source, &how);
        // Here it is the client that plays again, not the runner.
        let text = text.split("replay: ").next().unwrap_or_default();
        writeln!(report, "the client departed from the story\n{text}")?;
        return Ok(DEPARTED);
    }
    Ok(if args.strict && !run.findings.is_empty() { 1 } else { run.code })
}

fn find(version: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.version == version)
}
