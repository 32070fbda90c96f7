//! What came of the files, for people, for programs and for CI.
//!
//! In: outcomes in the order of files. Out: text, or one JSON object a file and a last one that sums up, and a
//! JUnit report. Shapes, to which members may be added:
//! `{"kind":"file","file","verdict":"passed"|"failed"|"skipped","points","ms","text":null|string,
//! "failure":null|{"code","line","text","point","atMs","mismatches":[{"path","expected","found"}],"instead",
//! "lastMatched","pendingMs"},"diagnostics":[…]}` and `{"kind":"summary","files","passed","failed","skipped",
//! "points","ms"}`. `line` 0 belongs to no line; diagnostics are those of `scenario check`. Rule: MSG-5.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::{FAILED, Outcome, PASSED, Verdict};
use crate::run::report::Failure;

/// How many files ended in which way.
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
    points: usize,
}

impl Counts {
    fn of(outcomes: &[Outcome]) -> Self {
        let count =
            |wanted: fn(&Verdict) -> bool| outcomes.iter().filter(|o| wanted(&o.verdict)).count();
        Self {
            passed: count(|verdict| matches!(verdict, Verdict::Passed)),
            failed: count(|verdict| matches!(verdict, Verdict::Failed(_))),
            skipped: count(|verdict| matches!(verdict, Verdict::Skipped(_))),
            points: outcomes.iter().map(|outcome| outcome.points).sum(),
        }
    }
}

/// One file for people.
pub(super) fn text(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(outcome.transcript.as_bytes())?;
    match &outcome.verdict {
        Verdict::Passed => Ok(()),
        Verdict::Failed(text) => writeln!(out, "{text}\n"),
        Verdict::Skipped(reason) => writeln!(out, "skipped {}: {reason}", outcome.path.display()),
    }
}

/// One file for programs.
pub(super) fn json_object(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let (verdict, text) = match &outcome.verdict {
        Verdict::Passed => ("passed", None),
        Verdict::Failed(text) => ("failed", Some(text)),
        Verdict::Skipped(reason) => ("skipped", Some(reason)),
    };
    let line = json!({
        "kind": "file",
        "file": super::super::shown(&outcome.path),
        "verdict": verdict,
        "points": outcome.points,
        "ms": milliseconds(outcome.time),
        "text": text,
        "failure": outcome.failure,
        "diagnostics": outcome.diagnostics,
    });
    writeln!(out, "{line}")
}

/// A failure for programs.
pub(super) fn failure(failure: &Failure, point: &str) -> Value {
    let mismatches: Vec<Value> = failure
        .mismatches
        .iter()
        .map(|one| json!({ "path": one.path, "expected": one.expected, "found": one.found }))
        .collect();
    json!({
        "code": failure.code.as_str(),
        "line": failure.line,
        "text": failure.text,
        "point": point,
        "atMs": milliseconds(failure.at),
        "mismatches": mismatches,
        "instead": failure.instead,
        "lastMatched": failure.last_matched,
        "pendingMs": failure.pending.map(milliseconds),
    })
}

/// The last line, and the exit code.
pub(super) fn summary(
    outcomes: &[Outcome],
    stage: &str,
    is_json: bool,
    time: Duration,
    out: &mut dyn Write,
) -> io::Result<u8> {
    let Counts { passed, failed, skipped, points } = Counts::of(outcomes);
    if is_json {
        let line = json!({
            "kind": "summary", "files": outcomes.len(), "passed": passed, "failed": failed,
            "skipped": skipped, "points": points, "ms": milliseconds(time), "stage": stage,
        });
        writeln!(out, "{line}")?;
    } else {
        writeln!(
            out,
            "{passed} passed, {failed} failed, {skipped} skipped ({points} runs on {stage})"
        )?;
    }
    // Nothing played is nothing proved.
    Ok(if failed > 0 || passed == 0 { FAILED } else { PASSED })
}

/// The report that CI systems read. Times are seconds of the wall clock.
pub(super) fn junit(outcomes: &[Outcome], stage: &str, time: Duration) -> String {
    let Counts { failed, skipped, .. } = Counts::of(outcomes);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    // Writing to a string cannot fail.
    let _ = writeln!(
        xml,
        "  <testsuite name=\"scenarios {stage}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" \
         skipped=\"{skipped}\" time=\"{:.3}\">",
        outcomes.len(),
        time.as_secs_f64()
    );
    for outcome in outcomes {
        let path = super::super::shown(&outcome.path);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let body = match &outcome.verdict {
            Verdict::Passed => String::new(),
            Verdict::Failed(text) => {
                let first = text.lines().next().unwrap_or_default();
                format!("<failure message=\"{}\">{}</failure>", escape(first), escape(text))
            }
            Verdict::Skipped(reason) => format!("<skipped message=\"{}\"/>", escape(reason)),
        };
        let _ = writeln!(
            xml,
            "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" time=\"{:.3}\">{body}</testcase>",
            escape(folder),
            escape(name),
            escape(&path),
            outcome.time.as_secs_f64()
        );
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// XML text or attribute; characters that XML does not have are replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(character),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            character if character.is_control() => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
    out
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
