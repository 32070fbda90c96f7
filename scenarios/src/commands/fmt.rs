//! `scenario fmt`: writes files in canonical form, or says which are not.
//!
//! In: paths. Out: changed files, or with `check` their names. Invariants: a file with problems is left as it
//! is and its problems are printed; a file that is already canonical is not written.

use std::io;
use std::path::PathBuf;

use super::{FINDINGS, Io, OK, USAGE, read_file, scenarios, shown};
use crate::lang::diagnostic::render_all;
use crate::lang::fmt::format;

/// Formats the files at `paths`; with `check` it only looks.
///
/// # Errors
/// When a file cannot be written, or the output cannot be written.
pub fn fmt(io: &mut Io<'_>, paths: &[PathBuf], check: bool) -> io::Result<u8> {
    let Some(files) = scenarios(io, "fmt", paths)? else { return Ok(USAGE) };
    let mut code = OK;
    for path in &files {
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                writeln!(io.out, "error: {}: {reason}\n", shown(path))?;
                code = FINDINGS;
                continue;
            }
        };
        match format(&shown(path), &bytes) {
            Ok(text) if text.as_bytes() == bytes => {}
            Ok(_) if check => {
                writeln!(
                    io.out,
                    "{}: not in canonical form; `scenario fmt` writes it",
                    shown(path)
                )?;
                code = FINDINGS;
            }
            Ok(text) => {
                std::fs::write(path, text)?;
                writeln!(io.out, "{}", shown(path))?;
            }
            Err(found) => {
                write!(io.out, "{}", render_all(&found, io.style))?;
                code = FINDINGS;
            }
        }
    }
    Ok(code)
}
