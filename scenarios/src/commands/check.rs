//! `scenario check`: reads files and says what is wrong, without running them.
//!
//! In: paths. Out: every problem in the order of files and lines, then a count. Nothing is written to files,
//! and a file that cannot be read does not hide what is wrong with the others.
//! Rules: MSG-1, MSG-2, MSG-5.

use std::io;
use std::path::PathBuf;

use serde_json::json;

use super::{FINDINGS, Format, Io, OK, USAGE, read_file, scenarios, shown};
use crate::lang::diagnostic::{count, json_line, render_all, summary};
use crate::lang::parse;

/// Checks the files at `paths`.
///
/// # Errors
/// When the output cannot be written.
pub fn check(io: &mut Io<'_>, paths: &[PathBuf], format: Format) -> io::Result<u8> {
    let Some(files) = scenarios(io, "check", paths)? else { return Ok(USAGE) };
    let (mut problems, mut wrong) = (0, 0);
    for path in &files {
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                (problems, wrong) = (problems + 1, wrong + 1);
                let path = shown(path);
                match format {
                    Format::Text => writeln!(io.out, "error: {path}: {reason}\n")?,
                    Format::Json => writeln!(
                        io.out,
                        "{}",
                        json!({ "kind": "unreadable", "severity": "error", "path": path, "text": reason })
                    )?,
                }
                continue;
            }
        };
        let (_, found) = parse(&shown(path), &bytes);
        problems += count(&found);
        wrong += usize::from(!found.is_empty());
        match format {
            Format::Text => write!(io.out, "{}", render_all(&found, io.style))?,
            Format::Json => {
                for one in &found {
                    writeln!(io.out, "{}", json_line(one))?;
                }
            }
        }
    }
    match summary(problems, wrong) {
        Some(text) => {
            writeln!(io.err, "{text}; `scenario explain CODE` shows a right example")?;
            Ok(FINDINGS)
        }
        None => {
            let files = if files.len() == 1 {
                "1 file is".into()
            } else {
                format!("{} files are", files.len())
            };
            writeln!(io.err, "{files} well formed")?;
            Ok(OK)
        }
    }
}
