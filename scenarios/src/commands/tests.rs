//! The verbs on small folders.

use std::path::{Path, PathBuf};

use super::check::check;
use super::explain::explain;
use super::fmt::fmt;
use super::list::list;
use super::render::{RenderArgs, render};
use super::{FINDINGS, Format, Io, OK, USAGE};
use crate::lang::diagnostic::Style;
use crate::lang::parse;

const GOOD: &str = "\
scenario \"a turn ends\"
  id       SCN-STR-13 SCN-STR-01

vary $lag in 0ms, 1ms

given  turn running

after  $lag
host   -> turn/completed
race host -> item/started
editor <- ok prompt
";

/// What a verb printed and returned.
pub(super) struct Said {
    pub(super) code: u8,
    pub(super) out: String,
    pub(super) err: String,
}

pub(super) fn say(verb: impl FnOnce(&mut Io<'_>) -> std::io::Result<u8>) -> Said {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut io = Io { out: &mut out, err: &mut err, style: Style::Plain };
    let code = verb(&mut io).unwrap();
    Said { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
}

pub(super) fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let root = folder.path().to_owned();
    (folder, root)
}

#[test]
fn check_counts_the_files_that_are_well_formed() {
    let (_folder, root) = folder(&[("a.scn", GOOD), ("b.scn", GOOD)]);
    let said = say(|io| check(io, std::slice::from_ref(&root), Format::Text));
    assert_eq!((said.code, said.out.as_str()), (OK, ""));
    assert_eq!(said.err, "2 files are well formed\n");
}

#[test]
fn check_prints_every_finding_and_ends_with_one() {
    let (_folder, root) = folder(&[("a.scn", GOOD), ("b.scn", "sceanrio \"x\"\n")]);
    let said = say(|io| check(io, std::slice::from_ref(&root), Format::Text));
    assert_eq!(said.code, FINDINGS);
    assert!(said.out.starts_with("error[S0101]"), "{}", said.out);
    assert!(said.err.starts_with("1 problem in 1 file; "), "{}", said.err);
    let said = say(|io| check(io, &[root.join("b.scn")], Format::Json));
    let line: serde_json::Value = serde_json::from_str(said.out.trim_end()).unwrap();
    assert_eq!(line["code"], "S0101");
}

#[test]
fn a_path_that_is_not_there_is_a_mistake_of_the_caller() {
    let (_folder, root) = folder(&[]);
    let missing = [root.join("missing.scn")];
    assert_eq!(say(|io| check(io, &missing, Format::Text)).code, USAGE);
    assert_eq!(say(|io| fmt(io, &missing, true)).code, USAGE);
    assert_eq!(say(|io| list(io, &missing, false, Format::Text)).code, USAGE);
    assert_eq!(say(|io| explain(io, &missing[0], None)).code, USAGE);
    let said = say(|io| check(io, std::slice::from_ref(&root), Format::Text));
    assert!(said.code == USAGE && said.err.contains("no .scn file in"), "{}", said.err);
}

#[test]
fn fmt_looks_first_and_writes_when_it_is_told_to() {
    let wild = GOOD.replace("host   ->", "host ->");
    let (_folder, root) = folder(&[("a.scn", GOOD), ("b.scn", &wild), ("c.scn", "broken\n")]);
    let text = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let said = say(|io| fmt(io, std::slice::from_ref(&root), true));
    assert_eq!(said.code, FINDINGS);
    assert!(said.out.contains("b.scn: not in canonical form") && !said.out.contains("a.scn"));
    assert_eq!(text("b.scn"), wild, "nothing is written");
    let said = say(|io| fmt(io, &[root.join("a.scn"), root.join("b.scn")], false));
    assert_eq!((said.code, text("b.scn").as_str()), (OK, GOOD));
    assert_eq!(say(|io| fmt(io, std::slice::from_ref(&root), false)).code, FINDINGS);
    assert_eq!(text("c.scn"), "broken\n", "what cannot be read is left alone");
}

#[test]
fn explain_writes_the_opening_out_and_the_result_says_the_same() {
    let (_folder, root) = folder(&[("a.scn", GOOD)]);
    let said = say(|io| explain(io, &root.join("a.scn"), None));
    assert_eq!(said.code, OK);
    assert!(said.out.contains("#   $prompt: the editor's `session/prompt`"), "{}", said.out);
    assert!(
        said.out.contains("# 4 runs") && said.out.contains("#   lag=1ms,race1=BA"),
        "{}",
        said.out
    );
    let (short, _) = parse("a.scn", GOOD.as_bytes());
    let (long, found) = parse("a.scn", said.out.as_bytes());
    assert!(found.is_empty(), "{found:?}");
    let steps = |file: &crate::lang::ast::File| file.timeline().cloned().collect::<Vec<_>>();
    assert_eq!(steps(&short.unwrap()), steps(&long.unwrap()));
}

#[test]
fn explain_knows_codes_in_any_case() {
    let said = say(|io| explain(io, Path::new("s0103"), None));
    assert_eq!(said.code, OK);
    assert!(said.out.starts_with("S0103: unknown method or reply\n"), "{}", said.out);
}

#[test]
fn list_goes_by_file_or_by_row() {
    let (_folder, root) = folder(&[("a.scn", GOOD), ("b.scn", GOOD)]);
    let root = [root];
    let said = say(|io| list(io, &root, false, Format::Text));
    assert!(said.out.contains("a.scn  a turn ends  (SCN-STR-13 SCN-STR-01)\n"), "{}", said.out);
    let said = say(|io| list(io, &root, true, Format::Text));
    let ids: Vec<_> = said.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!((said.code, ids), (OK, vec!["SCN-STR-01", "SCN-STR-13"]));
    let said = say(|io| list(io, &root, true, Format::Json));
    let first: serde_json::Value = serde_json::from_str(said.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["files"].as_array().map(Vec::len), Some(2));
}

const RED: &str = "\
scenario \"one order is red\"
  id       SCN-STR-13

given  turn running

host   -> item/completed
  item.kind = \"agentMessage\"
  item.text = \"a\"
race host -> turn/completed
editor <- text \"a\"
editor <- ok prompt
";

fn render_args(path: PathBuf) -> RenderArgs {
    RenderArgs { path, ..RenderArgs::default() }
}

#[test]
fn render_draws_the_first_red_point_and_the_code_tells() {
    let (_folder, root) = folder(&[("red.scn", RED), ("good.scn", &RED.replace("race ", ""))]);
    let said = say(|io| render(io, &render_args(root.join("good.scn"))));
    assert_eq!((said.code, said.err.as_str()), (OK, ""));
    assert!(said.out.starts_with("sequenceDiagram\n"), "{}", said.out);

    let args = RenderArgs { html: Some("-".into()), ..render_args(root.join("red.scn")) };
    let said = say(|io| render(io, &args));
    assert_eq!(said.code, FINDINGS);
    assert!(said.out.contains("<dt>point</dt><dd>race1=BA</dd>"), "{}", said.out);

    let page = root.join("page.html");
    let green = RenderArgs { at: Some("race1=AB".into()), html: Some(page.clone()), ..args };
    let said = say(|io| render(io, &green));
    assert_eq!((said.code, said.out.as_str()), (OK, ""));
    assert!(said.err.contains("at race1=AB: green; see ") && page.exists(), "{}", said.err);
}

#[test]
fn render_overwrites_no_story_and_knows_its_points() {
    let (_folder, root) = folder(&[("a.scn", GOOD)]);
    let args = render_args(root.join("a.scn"));
    let over = RenderArgs { html: Some(root.join("a.scn")), ..args.clone() };
    assert_eq!(say(|io| render(io, &over)).code, USAGE);
    assert_eq!(std::fs::read_to_string(root.join("a.scn")).unwrap(), GOOD);
    let said = say(|io| render(io, &RenderArgs { at: Some("lag=9ms".into()), ..args.clone() }));
    assert!(said.code == USAGE && said.err.contains("there are: 0ms, 1ms"), "{}", said.err);
    let nowhere = RenderArgs { html: Some(root.join("no/folder.html")), ..args };
    assert_eq!(say(|io| render(io, &nowhere)).code, USAGE);
}

#[test]
fn explain_shows_every_frame_of_a_point_with_its_line() {
    let (_folder, root) = folder(&[("a.scn", RED)]);
    let path = root.join("a.scn");
    let said = say(|io| explain(io, &path, Some("race1=AB")));
    assert_eq!(said.code, OK);
    let frames = said.out.split("# Every frame as sent, at race1=AB").nth(1).unwrap();
    for (start, end) in [
        ("#   line 4        0ms  editor -> {", "\"method\":\"initialize\""),
        ("#   no line       0ms  host1  -> {", "\"serverInfo\""),
        ("#   line 6        0ms  host1  -> {", "\"method\":\"item/completed\""),
        ("#   line 11       0ms  editor <- {", "\"stopReason\":\"end_turn\""),
    ] {
        let found = frames.lines().any(|line| line.starts_with(start) && line.contains(end));
        assert!(found, "{start} {end}\n{frames}");
    }
    assert!(!frames.contains("The run is red"));
    let said = say(|io| explain(io, &path, Some("race1=BA")));
    assert!(said.out.contains("# The run is red: R"), "{}", said.out);
    assert_eq!(say(|io| explain(io, &path, Some("race1=CC"))).code, USAGE);
}
