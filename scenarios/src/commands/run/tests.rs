//! Runs of small folders and what is said of them.

use std::path::PathBuf;

use super::{FAILED, RunArgs, run};
use crate::commands::tests::folder;

const GREEN: &str = "\
scenario \"green\"
  id SCN-A-01

given  turn running
host   -> turn/completed
editor <- ok prompt
";

const OTHER_HOST: &str = "\
scenario \"not here\"
  id SCN-A-01
  hosts proxy

given  turn running
host   -> turn/completed
editor <- ok prompt
";

/// Four files: green, red, skipped and broken.
fn four() -> (tempfile::TempDir, PathBuf) {
    let red = GREEN.to_owned() + "  stopReason = \"a<b\"\n";
    folder(&[("a.scn", GREEN), ("b.scn", &red), ("c.scn", OTHER_HOST), ("d.scn", "sceanrio\n")])
}

fn said(args: &RunArgs) -> (u8, String) {
    let mut out = Vec::new();
    let code = run(args, &mut out).expect("a run");
    (code, String::from_utf8(out).expect("text"))
}

#[test]
fn programs_get_one_object_a_file_and_one_that_sums_up() {
    let (_folder, root) = four();
    let args = RunArgs { paths: vec![root], json: true, progress: true, ..RunArgs::default() };
    let (code, text) = said(&args);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("json")).collect();
    let verdicts: Vec<_> = lines.iter().filter_map(|line| line["verdict"].as_str()).collect();
    assert_eq!((code, verdicts), (FAILED, vec!["passed", "failed", "skipped", "failed"]));
    let failure = &lines[1]["failure"];
    assert_eq!((failure["code"].as_str(), failure["line"].as_u64()), (Some("R0003"), Some(6)));
    assert_eq!(failure["mismatches"][0]["path"], "stopReason");
    assert_eq!(lines[2]["text"], "`hosts` does not name the fake host");
    assert_eq!(lines[3]["diagnostics"][0]["code"], "S0101");
    let sum = &lines[4];
    let counts = ["files", "passed", "failed", "skipped", "points"].map(|key| sum[key].as_u64());
    assert_eq!(counts, [4, 1, 2, 1, 2].map(Some));
    assert_eq!((sum["kind"].as_str(), lines.len()), (Some("summary"), 5));
}

#[test]
fn people_see_why_a_file_cannot_be_played() {
    let (_folder, root) = four();
    let (_, text) = said(&RunArgs { paths: vec![root.join("d.scn")], ..RunArgs::default() });
    assert!(text.starts_with("error[S0101]") && text.contains("d.scn:1:1"), "{text}");
}

#[test]
fn ci_gets_times_failures_and_reasons() {
    let (_folder, root) = four();
    let report = root.join("report.xml");
    let args =
        RunArgs { paths: vec![root.clone()], junit: Some(report.clone()), ..RunArgs::default() };
    said(&args);
    let xml = std::fs::read_to_string(report).expect("a report");
    for part in [
        "tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"1\" time=\"",
        "name=\"a.scn\"",
        "<failure message=\"R0003 ",
        "a&lt;b",
        "<skipped message=\"`hosts` does not name the fake host\"/>",
    ] {
        assert!(xml.contains(part), "{part}\n{xml}");
    }
    assert!(!xml.contains("a<b"), "{xml}");
}
