//! The canonical form of a scenario.
//!
//! Inputs: a file without problems. Outputs: its text. Invariants, under test with generated files: the
//! result means the same, formatting it again changes nothing, every comment stays between the same two
//! statements. It decides layout only: no word, value or order changes.
//!
//! The form: lanes, `given` and `after` padded to six so that arrows stand below each other; `=` aligned
//! within a statement; runs of blank lines are one; strings in JSON form with invisible characters escaped;
//! a list that was written over several lines stays so, one element a line; `\n` line ends.
//! Rules: section 2 "Formatter", MSG-1.

mod line;
mod text;
mod value;

use super::diagnostic::Diagnostic;
use super::parse::read;
use super::syntax::{Entry, Item, Tree};

pub use text::{duration, quoted};
pub use value::value_line;

/// The canonical form of a file, or what has to be corrected first.
///
/// # Errors
/// The problems of the file: what cannot be read is not moved around.
pub fn format(path: &str, bytes: &[u8]) -> Result<String, Vec<Diagnostic>> {
    let reading = read(path, bytes);
    if reading.diagnostics.is_empty() { Ok(print(&reading.tree)) } else { Err(reading.diagnostics) }
}

/// Prints a tree of a file without problems.
pub(crate) fn print(tree: &Tree) -> String {
    let mut out = String::new();
    for item in &tree.items {
        match item {
            Item::Blank => blank(&mut out),
            Item::Comment(comment) => push(&mut out, &comment.text),
            Item::Statement(statement) => {
                push(&mut out, &line::head(&statement.head));
                let layout = line::Layout::of(statement);
                for entry in &statement.body {
                    match entry {
                        Entry::Blank => blank(&mut out),
                        Entry::Comment(comment) => push(&mut out, &format!("  {}", comment.text)),
                        Entry::Member(member) => push(&mut out, &layout.member(member)),
                    }
                }
            }
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// One blank line, unless the file begins here or there is one already.
fn blank(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}
