//! Diagnostics for programs: one JSON object a line.
//!
//! Shape: `{"kind":"diagnostic","severity":"error","code","path","line","column","endColumn","found",
//! "allowed","help","related":null|{"line","column","endColumn","text"}}`. Lines and columns count from
//! one, columns in characters, `endColumn` is one behind. Readers must ignore unknown members.
//! Rule: MSG-5.

use serde_json::{Value, json};

use super::{Diagnostic, Place};

/// One diagnostic as one line, without the newline.
#[must_use]
pub fn json_line(one: &Diagnostic) -> String {
    let related = one.related.as_ref().map_or(Value::Null, |(place, text)| {
        json!({
            "line": place.line, "column": place.column, "endColumn": end(place), "text": text,
        })
    });
    json!({
        "kind": "diagnostic",
        "severity": "error",
        "code": one.code.as_str(),
        "path": one.path,
        "line": one.place.line,
        "column": one.place.column,
        "endColumn": end(&one.place),
        "found": one.found,
        "allowed": one.allowed,
        "help": one.help,
        "related": related,
    })
    .to_string()
}

fn end(place: &Place) -> u32 {
    place.column.saturating_add(place.width)
}
