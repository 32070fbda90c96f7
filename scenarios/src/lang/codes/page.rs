//! `docs/diagnostics.md`, made from the table.

use std::fmt::Write as _;

use super::{Example, entries};

const HEAD: &str = "\
# Diagnostics of the scenario language

Generated from the table in `scenarios/src/lang/codes/`; a test compares. To write it again:

```text
UPDATE_EXPECT=1 cargo test -p scenarios lang
```

`scenario check` prints these codes. A code keeps its meaning for ever. Below each explanation stands a
file that has the problem and the same file without it; both are tests.

`S00xx` the file as a whole, `S01xx` statements, `S02xx` lines below a statement, `S03xx` the header,
`S1xxx` names.
";

/// The page.
#[must_use]
pub fn page() -> String {
    let mut out = String::from(HEAD);
    out.push_str("\n| Code | |\n|---|---|\n");
    for entry in entries() {
        let code = entry.code.as_str();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| [{code}](#{}) | {} |", code.to_lowercase(), entry.title);
    }
    for entry in entries() {
        let _ = write!(out, "\n## {}\n\n**{}.** {}\n\nWrong", entry.code, entry.title, entry.text);
        match entry.wrong {
            Example::Text(text) => {
                let _ = write!(out, ":\n\n```scn\n{text}```\n");
            }
            Example::Made(_, words) => {
                let _ = writeln!(out, ": {words}.");
            }
        }
        let _ = write!(out, "\nRight:\n\n```scn\n{}```\n", entry.right);
    }
    out
}
