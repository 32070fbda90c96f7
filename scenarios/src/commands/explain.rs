//! `scenario explain`: a story with its opening written out, or what a code means.
//!
//! In: one path, with a point if the first is not meant, or one code. Out: a scenario that says the same
//! without `given`; as comments the names of the opening, the points of the run, and every frame of one run
//! as it was sent, with the line that sent or took it; or the page of the code. Rules: DSL-12, MSG-3.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use super::{FINDINGS, Io, OK, USAGE, read_file, shown};
use crate::lang::ast::File;
use crate::lang::codes::{self, Example};
use crate::lang::diagnostic::render_all;
use crate::lang::fmt::format;
use crate::lang::openings::Opening;
use crate::lang::point::{self, Axis, Point};
use crate::lang::read;
use crate::run::transcript::Lane;
use crate::run::{self, Options, StageKind};

/// Most points that are listed one by one.
const POINTS_SHOWN: u64 = 24;

/// Explains a file with the frames of the run `at`, the first without it; or a code such as `S0103`.
///
/// # Errors
/// When the output cannot be written.
pub fn explain(io: &mut Io<'_>, path: &Path, at: Option<&str>) -> io::Result<u8> {
    if let Some(entry) = path.to_str().and_then(codes::find) {
        writeln!(io.out, "{}: {}\n\n{}\n", entry.code, entry.title, entry.text)?;
        match entry.wrong {
            Example::Text(text) => writeln!(io.out, "Wrong:\n\n{}", indented(text))?,
            Example::Made(_, words) => writeln!(io.out, "Wrong: {words}.\n")?,
        }
        write!(io.out, "Right:\n\n{}", indented(entry.right))?;
        return Ok(OK);
    }
    let bytes = match read_file(path) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let help = "name a file, or a code such as `S0103`";
            writeln!(io.err, "scenario explain: {}: {reason}; {help}", path.display())?;
            return Ok(USAGE);
        }
    };
    let reading = read(&shown(path), &bytes);
    match (&reading.file, reading.diagnostics.as_slice()) {
        (Some(file), []) => {
            let text = format(&shown(path), &bytes).unwrap_or_default();
            let axes = point::axes(file);
            let point = match at.map(|at| point::parse(&axes, at)) {
                None => point::at(&axes, 0),
                Some(Ok(point)) => point,
                Some(Err(reason)) => {
                    writeln!(io.err, "scenario explain: {}: {reason}", shown(path))?;
                    return Ok(USAGE);
                }
            };
            write!(io.out, "{}{}", written_out(file, &text), frames(file, &axes, &point))?;
            Ok(OK)
        }
        (_, found) => {
            write!(io.out, "{}", render_all(found, io.style))?;
            Ok(FINDINGS)
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect()
}

/// The story without `given`, and what is known about its runs.
fn written_out(file: &File, text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match &file.given {
            Some(given) if line.split_whitespace().next() == Some("given") => {
                out.push_str(&opening(given.opening));
            }
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out.push('\n');
    let axes = point::axes(file);
    let count = point::count(&axes);
    if axes.is_empty() {
        out.push_str("# One run.\n");
        return out;
    }
    out.push_str(&format!("# {count} runs; `scenario run FILE --at POINT` plays one:\n"));
    for index in 0..count.min(POINTS_SHOWN) {
        out.push_str(&format!("#   {}\n", point::label(&axes, &point::at(&axes, index))));
    }
    if count > POINTS_SHOWN {
        out.push_str(&format!("#   and {} more\n", count - POINTS_SHOWN));
    }
    out
}

/// Every frame of one run, in order, as comments.
fn frames(file: &File, axes: &[Axis<'_>], point: &Point) -> String {
    let mut out = String::from("\n# Every frame as sent");
    let label = point::label(axes, point);
    // Writing to a string cannot fail.
    if !label.is_empty() {
        let _ = write!(out, ", at {label}");
    }
    out.push_str(" (line of the file, virtual time, lane):\n");
    let run = match run::run_point(
        file,
        axes,
        point,
        Options { stage: StageKind::fitting(file), ..Options::default() },
    ) {
        Ok(run) => run,
        Err(reason) => {
            let _ = writeln!(out, "#   it is not played here: {reason}");
            return out;
        }
    };
    for entry in &run.transcript.entries {
        let line = entry.line.map_or_else(|| "no line".to_owned(), |line| format!("line {line}"));
        let lane = match entry.lane {
            Lane::Editor => "editor".to_owned(),
            Lane::Host(host) => format!("host{}", host + 1),
        };
        let arrow = if entry.from_adapter { "<-" } else { "->" };
        let lie = if entry.lie { " (lie)" } else { "" };
        let at = format!("{}ms", entry.at.as_millis());
        let _ = writeln!(out, "#   {line:9} {at:>7}  {lane:6} {arrow}{lie} {}", entry.frame);
    }
    if let Some(failure) = &run.failure {
        let line =
            if failure.line == 0 { String::new() } else { format!(" line {}", failure.line) };
        let _ = writeln!(out, "# The run is red: {}{line} {}", failure.code.as_str(), failure.text);
    }
    out
}

/// An opening with the names that it binds.
fn opening(opening: Opening) -> String {
    let mut out = format!("# given {} binds:\n", opening.name());
    for (name, meaning) in opening.names() {
        out.push_str(&format!("#   ${name}: {meaning}\n"));
    }
    out + opening.text() + "# End of the opening.\n"
}
