//! What is rewritten, and each reason to refuse.

use super::propose::proposals;
use super::{UpdateArgs, update};
use crate::commands::tests::{Said, folder, say};
use crate::commands::{FINDINGS, OK, USAGE};
use crate::run::Run;
use crate::run::report::{Code, Failure};
use crate::run::transcript::Transcript;

/// A story that ends with these lines.
fn story(vary: &str, ending: &str) -> String {
    format!(
        "scenario \"a turn ends\"\n  id SCN-STR-13\n{vary}\ngiven  turn running\n\n# Kept.\n\
         host   -> turn/completed\r\n{ending}"
    )
}

/// Runs the verb on one file; what it said and what is in the file then.
fn updated(text: &str, dry_run: bool) -> (Said, String) {
    let (_folder, root) = folder(&[("a.scn", text)]);
    let path = root.join("a.scn");
    let args = UpdateArgs { paths: vec![path.clone()], dry_run, ci: false };
    let said = say(|io| update(io, &args));
    (said, std::fs::read_to_string(path).expect("a file"))
}

/// The file is refused for this reason and stays as it is.
fn refused(text: &str, reason: &str) {
    let (said, after) = updated(text, false);
    assert_eq!((said.code, after.as_str()), (FINDINGS, text), "{}", said.err);
    assert!(said.err.contains("refused: ") && said.err.contains(reason), "{}", said.err);
    assert_eq!(said.out, "");
}

#[test]
fn a_literal_value_is_taken_over_and_every_other_byte_stays() {
    let old = story("", "editor   <-   ok prompt\n  stopReason   =   \"max_tokens\"   # why\n");
    let (said, after) = updated(&old, false);
    assert_eq!(said.code, OK, "{}", said.err);
    assert_eq!(after, old.replace("\"max_tokens\"", "\"end_turn\""));
    let diff = "a.scn:9  stopReason\n-   stopReason   =   \"max_tokens\"   # why\n+   stopReason   =   \"end_turn\"   # why\n";
    assert!(said.out.ends_with(diff), "{}", said.out);
    assert_eq!(said.err, "changed 1 of 1 files\n");
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let old = story("", "editor <- ok prompt\n  stopReason = \"max_tokens\"\n");
    let (said, after) = updated(&old, true);
    assert_eq!((said.code, after), (OK, old));
    assert!(said.out.contains("+   stopReason = \"end_turn\"\n"), "{}", said.out);
    assert_eq!(said.err, "would change 1 of 1 files\n");
}

#[test]
fn several_lines_are_put_right_one_after_the_other_and_inner_values_alone() {
    let text = "\u{feff}scenario \"two\"\n  id SCN-A-01\n\ngiven  session ready\n\n\
                editor -> session/prompt as prompt\nhost   <- turn/start as start\n  \
                input = [{\"type\": \"text\", \"text\": \"bye\"}]\nhost   -> ok start\nhost   -> turn/started\n\
                host   -> turn/completed\neditor <- ok prompt\n  stopReason = 7\n";
    let (said, after) = updated(text, false);
    assert_eq!(said.code, OK, "{}", said.err);
    assert_eq!(after, text.replace("bye", "hello").replace("= 7", "= \"end_turn\""));
    assert_eq!(said.out.matches("\n+ ").count(), 2, "{}", said.out);
}

#[test]
fn a_green_file_is_not_touched() {
    let text = story("", "editor <- ok prompt\n");
    let (said, after) = updated(&text, false);
    assert_eq!((said.code, said.out.as_str(), after), (OK, "", text));
    assert_eq!(said.err, "changed 0 of 1 files\n");
}

#[test]
fn under_ci_nothing_is_even_played() {
    let (_folder, root) =
        folder(&[("a.scn", &story("", "editor <- ok prompt\n  stopReason = 1\n"))]);
    let args = UpdateArgs { paths: vec![root.join("a.scn")], dry_run: true, ci: true };
    let said = say(|io| update(io, &args));
    assert_eq!((said.code, said.out.as_str()), (USAGE, ""));
    assert!(said.err.contains("CI is set"), "{}", said.err);
}

#[test]
fn lines_are_never_added_removed_or_changed_otherwise() {
    refused(&story("", "editor <- error prompt -32603\n"), "only values are updated");
    refused(&story("", "editor <- ok prompt\n  more = 1\n"), "`more` is absent now");
    refused(
        &story("", "editor <- ok prompt\n  stopReason contains \"max\"\n"),
        "is no `=` with a value",
    );
    refused(&story("", "editor <- text \"x\"\neditor <- ok prompt\n"), "only values are updated");
    refused(&story("", "editor <- ok prompt\n  stopReason = 1\nhost <- turn/start\n"), "line 10: ");
}

#[test]
fn names_stay_names() {
    refused(
        &story("", "editor <- ok prompt\n  stopReason = $prompt\n"),
        "`stopReason` holds a name",
    );
}

#[test]
fn a_check_and_a_never_stay_even_if_a_value_could_be_updated() {
    let value = "editor <- ok prompt\n  stopReason = \"max_tokens\"\n";
    refused(&story("", &format!("{value}check host <- turn/start = 2\n")), "(R0006)");
    refused(&story("", &format!("{value}never editor <- ok prompt\n")), "(R0009)");
}

#[test]
fn points_that_disagree_are_left_to_a_person() {
    let text = "scenario \"t\"\n  id SCN-A-01\n\nvary $said in \"a\", \"b\"\n\ngiven  session ready\n\n\
                editor -> session/prompt as prompt\n  prompt = [{\"type\": \"text\", \"text\": $said}]\n\
                host   <- turn/start as start\n  input = [{\"type\": \"text\", \"text\": \"c\"}]\nhost   -> ok start\n\
                host   -> turn/started\nhost   -> turn/completed\neditor <- ok prompt\n";
    refused(text, "the points disagree on `input[0].text`: \"a\" and \"b\"");
    refused(&text.replace("\"c\"", "\"a\""), "`input[0].text` is another value at another point");
}

#[test]
fn a_race_does_not_say_which_line_is_meant() {
    let text = "scenario \"t\"\n  id SCN-A-01\n\ngiven  session ready\n\neditor -> session/new as one\n\
                editor -> session/new as two\neditor <- ok one\n  sessionId = 1\nrace editor <- ok two\n";
    refused(text, "it belongs to a race");
}

#[test]
fn a_broken_invariant_and_a_broken_file_are_never_updated() {
    refused("scenario \"t\"\n", "see `scenario check ");
    let (file, _) = crate::lang::parse("a.scn", story("", "editor <- ok prompt\n").as_bytes());
    let failure = Failure::new(Code::Invariant, 0, "I7: a mistake");
    let run = Run { transcript: Transcript::default(), failure: Some(failure.clone()) };
    let refusal = proposals(&file.expect("a story"), &run, &failure);
    assert_eq!(refusal, Err("an invariant is broken: I7: a mistake".into()));
    refused(
        &story("  hosts proxy\n", "editor <- ok prompt\n"),
        "`hosts` does not name the fake host",
    );
}
