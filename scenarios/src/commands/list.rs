//! `scenario list`: the scenarios with their titles, or the rows that they prove.
//!
//! In: paths. Out: one line a file, or with `coverage` one line a row: `SCN-APR-11  file file`. The order is
//! that of paths and ids. It does not know which rows exist, so it cannot say which are missing.
//! Rule: DSL-14.

use std::io;
use std::path::PathBuf;

use serde_json::json;

use super::{FINDINGS, Format, Io, OK, USAGE, read_file, scenarios, shown};
use crate::lang::catalogue::{Listed, coverage, listed};

/// Lists the files at `paths`. Files with problems are listed too; they and unreadable ones make the code 1.
///
/// # Errors
/// When the output cannot be written.
pub fn list(io: &mut Io<'_>, paths: &[PathBuf], by_row: bool, format: Format) -> io::Result<u8> {
    let Some(files) = scenarios(io, "list", paths)? else { return Ok(USAGE) };
    let mut all: Vec<Listed> = Vec::new();
    let mut unreadable = 0;
    for file in &files {
        match read_file(file) {
            Ok(bytes) => all.push(listed(file, &bytes)),
            Err(reason) => {
                writeln!(io.err, "error: {}: {reason}", shown(file))?;
                unreadable += 1;
            }
        }
    }
    if by_row {
        for (id, files) in coverage(&all) {
            let files: Vec<String> = files.iter().map(|file| shown(file)).collect();
            match format {
                Format::Text => writeln!(io.out, "{id}  {}", files.join(" "))?,
                Format::Json => writeln!(io.out, "{}", json!({ "id": id, "files": files }))?,
            }
        }
    } else {
        for one in &all {
            let path = shown(&one.path);
            match format {
                Format::Text => writeln!(io.out, "{path}  {}  ({})", one.title, one.ids.join(" "))?,
                Format::Json => {
                    let line = json!({ "path": path, "title": one.title, "ids": one.ids });
                    writeln!(io.out, "{line}")?;
                }
            }
        }
    }
    let broken = all.iter().filter(|one| one.problems > 0).count();
    if broken > 0 {
        writeln!(io.err, "{broken} of {} files have problems; see `scenario check`", all.len())?;
    }
    if broken + unreadable > 0 {
        return Ok(FINDINGS);
    }
    Ok(OK)
}
