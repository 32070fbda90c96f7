//! `scenario update`: takes over what the adapter says now, where a story only differs in literal values.
//!
//! In: paths. Out: changed files and a diff of each change. Invariants (UPD-1): only values of `path = VALUE`
//! lines below `<-` change, and nothing outside the bytes of the value; a file is written only if every point
//! of the changed story is green, invariants and the oracle included; nothing is written under `CI`.

mod propose;
mod rewrite;

use std::io;
use std::path::PathBuf;

use super::{FINDINGS, Io, OK, USAGE, read_file, scenarios, shown};
use rewrite::{Change, rewrite};

/// What the command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateArgs {
    /// Files and folders, at least one.
    pub paths: Vec<PathBuf>,
    /// Print what would change and write nothing.
    pub dry_run: bool,
    /// The environment says that nobody reads the diff.
    pub ci: bool,
}

/// Mark that some editors write at the start of a file; the parser does not count it.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Rewrites the files at `args.paths`.
///
/// # Errors
/// When a file cannot be written, or the output cannot be written.
pub fn update(io: &mut Io<'_>, args: &UpdateArgs) -> io::Result<u8> {
    if args.ci {
        writeln!(
            io.err,
            "scenario update: refused, because CI is set: a person has to read what changes"
        )?;
        return Ok(USAGE);
    }
    let Some(files) = scenarios(io, "update", &args.paths)? else { return Ok(USAGE) };
    let (mut code, mut changed) = (OK, 0);
    for path in &files {
        let name = shown(path);
        let bytes = match read_file(path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                writeln!(io.err, "{name}: refused: {reason}")?;
                code = FINDINGS;
                continue;
            }
        };
        let (mark, rest) = match bytes.strip_prefix(MARK) {
            Some(rest) => (MARK, rest),
            None => (&[][..], bytes.as_slice()),
        };
        match rewrite(&name, rest) {
            Err(reason) => {
                writeln!(io.err, "{name}: refused: {reason}")?;
                code = FINDINGS;
            }
            Ok(done) if done.changes.is_empty() => {}
            Ok(done) => {
                changed += 1;
                for change in &done.changes {
                    write!(io.out, "{}", diff(&name, change))?;
                }
                if !args.dry_run {
                    std::fs::write(path, [mark, done.text.as_bytes()].concat())?;
                }
            }
        }
    }
    let verb = if args.dry_run { "would change" } else { "changed" };
    writeln!(io.err, "{verb} {changed} of {} files", files.len())?;
    Ok(code)
}

/// The lines of a change, old and new.
fn diff(path: &str, change: &Change) -> String {
    let mut out = format!("{path}:{}  {}\n", change.line, change.member);
    for (sign, text) in [('-', &change.before), ('+', &change.after)] {
        for line in text.lines() {
            out.push_str(&format!("{sign} {line}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests;
