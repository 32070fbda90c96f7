//! `scenario explain`: a story with its opening written out, or what a code means.
//!
//! In: one path or one code. Out: a scenario that says the same without `given`, with the names of the opening
//! and the points of the run as comments; or the page of the code. It shows what is in the file, not the
//! frames that the model fills in: those are in the transcript of a run.
//! Rules: DSL-12, MSG-3.

use std::io;
use std::path::Path;

use super::{FINDINGS, Io, OK, USAGE, shown};
use crate::lang::ast::File;
use crate::lang::codes::{self, Example};
use crate::lang::diagnostic::render_all;
use crate::lang::fmt::format;
use crate::lang::openings::Opening;
use crate::lang::{point, read};

/// Most points that are listed one by one.
const POINTS_SHOWN: u64 = 24;

/// Explains a file, or a code such as `S0103`.
///
/// # Errors
/// When the output cannot be written.
pub fn explain(io: &mut Io<'_>, path: &Path) -> io::Result<u8> {
    if let Some(entry) = path.to_str().and_then(codes::find) {
        writeln!(io.out, "{}: {}\n\n{}\n", entry.code, entry.title, entry.text)?;
        match entry.wrong {
            Example::Text(text) => writeln!(io.out, "Wrong:\n\n{}", indented(text))?,
            Example::Made(_, words) => writeln!(io.out, "Wrong: {words}.\n")?,
        }
        write!(io.out, "Right:\n\n{}", indented(entry.right))?;
        return Ok(OK);
    }
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            writeln!(io.err, "scenario explain: {}: {error}", path.display())?;
            return Ok(USAGE);
        }
    };
    let reading = read(&shown(path), &bytes);
    match (&reading.file, reading.diagnostics.as_slice()) {
        (Some(file), []) => {
            let text = format(&shown(path), &bytes).unwrap_or_default();
            write!(io.out, "{}", written_out(file, &text))?;
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

/// An opening with the names that it binds.
fn opening(opening: Opening) -> String {
    let mut out = format!("# given {} binds:\n", opening.name());
    for (name, meaning) in opening.names() {
        out.push_str(&format!("#   ${name}: {meaning}\n"));
    }
    out + opening.text() + "# End of the opening.\n"
}
