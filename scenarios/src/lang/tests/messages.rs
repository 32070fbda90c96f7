//! Broken files and what their authors are told. Sixteen files, read them aloud.

use super::expect::{package, same};
use crate::lang::diagnostic::{Style, count, json_line, render, render_all, summary};
use crate::lang::parse;

const FILES: &[&str] = &[
    "typing_mistakes",
    "wrong_way_round",
    "values",
    "indentation",
    "header",
    "names",
    "races",
    "time_and_faults",
    "unclosed",
    "nothing_asserted",
    "paths",
    "nearly",
    "arrows",
    "empty",
    "not_utf8",
    "binary",
];

#[test]
fn broken_files_have_good_messages() {
    for name in FILES {
        let path = package(&format!("tests/golden/messages/{name}.scn"));
        let bytes = std::fs::read(&path).unwrap();
        let (_, found) = parse(&format!("{name}.scn"), &bytes);
        assert!(!found.is_empty(), "{name}");
        same(&path.with_extension("txt"), &render_all(&found, Style::Plain));
    }
}

#[test]
fn the_sample_of_the_language_page_is_what_is_printed() {
    let text = "scenario \"t\"\n  id SCN-APR-20\ngiven approval open\neditor -> ok ask\nhost -> eror d0 -32053\n";
    let (_, found) = parse("scenarios/corpus/approval/stale.scn", text.as_bytes());
    let expected = "\
error[S0103]: unknown reply `eror`
 --> scenarios/corpus/approval/stale.scn:5:9
  |
5 | host -> eror d0 -32053
  |         ^^^^ expected `ok`, `error`, `raw`, `bytes` or a method such as `approval/updated`
  |
help: did you mean `error`? `error NAME CODE` answers the frame bound with `as NAME`";
    assert_eq!(render(&found[0], Style::Plain), expected);
    assert_eq!(found.len(), 1, "what follows from it is not reported");
}

#[test]
fn a_program_reads_the_same_facts() {
    let (_, found) = parse("a.scn", b"scenario \"t\"\n  id SCN-A-01\ngiven turn running\nhost -> item/started as turn\neditor <- ok prompt\n");
    let line: serde_json::Value = serde_json::from_str(&json_line(&found[0])).unwrap();
    let expected = serde_json::json!({
        "kind": "diagnostic", "severity": "error", "code": "S1002", "path": "a.scn",
        "line": 4, "column": 25, "endColumn": 29,
        "found": "the name `turn` is bound twice", "allowed": "expected a new name",
        "help": "choose another name, for example `turn2`",
        "related": { "line": 3, "column": 1, "endColumn": 19, "text": "it is bound here" },
    });
    assert_eq!(line, expected);
}

#[test]
fn twenty_problems_are_shown_and_the_rest_is_counted() {
    let text = format!("scenario \"t\"\n  id SCN-A-01\n{}", "hello\n".repeat(25));
    let (_, found) = parse("a.scn", text.as_bytes());
    let shown = render_all(&found, Style::Plain);
    assert_eq!(shown.matches("error[S0104]").count(), 20);
    assert!(shown.ends_with("5 more not shown; correct these first\n\n"), "{shown}");
    assert_eq!(summary(25, 1).as_deref(), Some("25 problems in 1 file"));
    assert_eq!(summary(0, 3), None);
}

#[test]
fn a_thousand_problems_are_counted_and_not_printed() {
    let text = format!("scenario \"t\"\n  id SCN-A-01\n{}", "hello\n".repeat(1_500));
    let (_, found) = parse("a.scn", text.as_bytes());
    let shown = render_all(&found, Style::Plain);
    assert!(shown.lines().count() < 200, "{}", shown.lines().count());
    assert!(shown.ends_with("1480 more not shown; correct these first\n\n"), "{shown}");
    assert_eq!(count(&found), 1_500);
}

#[test]
fn a_file_of_more_than_a_mebibyte_is_refused_without_reading_its_lines() {
    let (_, found) = parse("a.scn", "#\n".repeat(600_000).as_bytes());
    let expected = "\
error[S0001]: the file is too large
 --> a.scn:1:1
  |
1 |
  | ^ expected at most 1 MiB (1048576 bytes)
  |
help: tell one story a file; large payloads belong in a Rust test";
    assert_eq!(render(&found[0], Style::Plain), expected);
    assert_eq!(found.len(), 1);
}

#[test]
fn a_message_steers_no_terminal() {
    let (_, found) = parse("a.scn", b"scenario \"t\"\n  id SCN-A-01\n\x1b[31mred\n");
    assert!(!render_all(&found, Style::Plain).contains('\x1b'));
    assert!(render_all(&found, Style::Coloured).contains("\x1b["));
}
