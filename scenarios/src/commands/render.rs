//! `scenario render`: one run as a sequence diagram or as a page.
//!
//! In: a file, a point, a seed. Out: Mermaid text, or one HTML page. Without a point the first red one is
//! drawn, else the first. The code tells whether the run was red, so that a script can keep the page.

use std::io;
use std::path::PathBuf;

use super::{FINDINGS, Io, OK, USAGE, read_file, shown};
use crate::lang::ast::File;
use crate::lang::diagnostic::render_all;
use crate::lang::point::{self, Axis, Point};
use crate::lang::read;
use crate::run::page::{Page, html};
use crate::run::{self, Options, Run, StageKind};

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RenderArgs {
    /// The file.
    pub path: PathBuf,
    /// Only the point with this name.
    pub at: Option<String>,
    /// Seed of the hosts' ids.
    pub seed: u64,
    /// Where the page goes, `-` for the output; `None` draws Mermaid.
    pub html: Option<PathBuf>,
}

/// Plays and draws.
///
/// # Errors
/// When the output or the page cannot be written.
pub fn render(io: &mut Io<'_>, args: &RenderArgs) -> io::Result<u8> {
    let path = shown(&args.path);
    if args.html.as_ref().is_some_and(|page| page.extension().is_some_and(|ending| ending == "scn"))
    {
        writeln!(io.err, "scenario render: --html names a .scn file; it would be overwritten")?;
        return Ok(USAGE);
    }
    let bytes = match read_file(&args.path) {
        Ok(bytes) => bytes,
        Err(reason) => {
            writeln!(io.err, "scenario render: {path}: {reason}")?;
            return Ok(USAGE);
        }
    };
    let reading = read(&path, &bytes);
    let file = match (&reading.file, reading.diagnostics.as_slice()) {
        (Some(file), []) => file,
        (_, found) => {
            write!(io.out, "{}", render_all(found, io.style))?;
            return Ok(FINDINGS);
        }
    };
    let axes = point::axes(file);
    let (point, run) = match choose(file, &axes, args) {
        Ok(chosen) => chosen,
        Err(reason) => {
            writeln!(io.err, "scenario render: {path}: {reason}")?;
            return Ok(USAGE);
        }
    };
    let label = point::label(&axes, &point);
    let Some(target) = &args.html else {
        io.out.write_all(run::render::mermaid(&run.transcript, run.failure.as_ref()).as_bytes())?;
        return Ok(code(&run));
    };
    let source = reading.source.text();
    let page = html(&Page { path: &path, source, file, point: &label, seed: args.seed, run: &run });
    if target.as_os_str() == "-" {
        io.out.write_all(page.as_bytes())?;
        return Ok(code(&run));
    }
    if let Err(error) = std::fs::write(target, page) {
        writeln!(io.err, "scenario render: {}: cannot be written: {error}", target.display())?;
        return Ok(USAGE);
    }
    let at = if label.is_empty() {
        String::new()
    } else {
        format!(" at {}", muse_code_acp::core::redact::cut(&label, 80))
    };
    let verdict = match &run.failure {
        None => "green".to_owned(),
        Some(failure) => format!("red, {} {}", failure.code.as_str(), failure.text),
    };
    writeln!(io.err, "{path}{at}: {verdict}; see {}", target.display())?;
    Ok(code(&run))
}

fn code(run: &Run) -> u8 {
    if run.failure.is_some() { FINDINGS } else { OK }
}

/// The named point, the first red one, or the first.
fn choose(file: &File, axes: &[Axis<'_>], args: &RenderArgs) -> Result<(Point, Run), String> {
    let options =
        Options { stage: StageKind::fitting(file), seed: args.seed, ..Options::default() };
    if let Some(at) = &args.at {
        let point = point::parse(axes, at)?;
        let run = run::run_point(file, axes, &point, options)?;
        return Ok((point, run));
    }
    let mut first = None;
    for index in 0..point::count(axes).min(run::POINTS_MAX) {
        let point = point::at(axes, index);
        let run = run::run_point(file, axes, &point, options)?;
        if run.failure.is_some() {
            return Ok((point, run));
        }
        first.get_or_insert((point, run));
    }
    first.ok_or_else(|| "the file has no run".into())
}
