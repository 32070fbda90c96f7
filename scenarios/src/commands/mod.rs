//! The verbs of the `scenario` tool that work on files.
//!
//! Each verb writes to the [`Io`] or writer that it is given and returns its exit code: 0 all is well,
//! 1 something was found, 2 the command line names what is not there.

pub mod check;
pub mod explain;
pub mod explore;
pub mod fmt;
pub mod host;
pub mod input;
pub mod list;
pub mod render;
pub mod run;
pub mod update;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::lang::catalogue;
use crate::lang::diagnostic::Style;
use input::read_file;

/// All is well.
pub const OK: u8 = 0;
/// Something was found.
pub const FINDINGS: u8 = 1;
/// The command line names what is not there.
pub const USAGE: u8 = 2;

/// Where scenarios are if no path is given.
pub const CORPUS: &str = "scenarios/corpus";

/// Where a verb writes.
pub struct Io<'w> {
    /// What was asked for.
    pub out: &'w mut dyn Write,
    /// Everything else.
    pub err: &'w mut dyn Write,
    /// How messages are drawn on `out`.
    pub style: Style,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line (MSG-5).
    Json,
}

/// The scenario files that `paths` name, sorted, each once; the corpus without any. `None` after a
/// message when one of them cannot be read or there is no file at all.
fn scenarios(io: &mut Io<'_>, verb: &str, paths: &[PathBuf]) -> io::Result<Option<Vec<PathBuf>>> {
    let corpus = [PathBuf::from(CORPUS)];
    let paths = if paths.is_empty() { &corpus[..] } else { paths };
    let mut all = Vec::new();
    for path in paths {
        match catalogue::files(path) {
            Ok(files) => all.extend(files),
            Err(error) => {
                let reason = input::reason(&error);
                writeln!(io.err, "scenario {verb}: {}: {reason}", path.display())?;
                return Ok(None);
            }
        }
    }
    all.sort();
    all.dedup();
    if all.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        writeln!(io.err, "scenario {verb}: no .scn file in {}", named.join(", "))?;
        return Ok(None);
    }
    Ok(Some(all))
}

/// A path as messages show it: with `/` on every system.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod odd_files;
#[cfg(test)]
mod tests;
