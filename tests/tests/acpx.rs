//! The adapter under acpx, a headless ACP client for the command line (acp.md section 7).

use std::process::{Command, Output};

use serde_json::Value;
use tests::family::Family;
use tests::outside::{NODE_FOR_ACPX, Outside};
use tests::{Setup, setup};

/// Runs `acpx ARGS… exec PROMPT` in the setup's scratch home; nothing of the run may be left afterwards.
fn acpx(setup: &Setup, arguments: &[&str], prompt: &str) -> Option<Output> {
    let outside = Outside::find("acpx", "acpx", NODE_FOR_ACPX)?;
    let family = Family::new();
    let mut command = setup.dress(Command::new(&outside.node));
    let (name, value) = family.variable();
    command.env(name, value);
    command.arg(outside.clients.join("node_modules/acpx/dist/cli.js"));
    command.arg("--agent").arg(setup.adapter()).arg("--cwd").arg(setup.workspace());
    command.args(arguments).args(["exec", prompt]);
    let output = assert_cmd::Command::from_std(command).timeout(tests::agent::BOUND).output();
    if output.is_err() {
        family.kill();
    }
    family.assert_empty();
    Some(output.expect("acpx runs"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn acpx_prints_the_streamed_answer() {
    let setup = setup!();
    let Some(output) = acpx(&setup, &["--format", "quiet"], "hello") else { return };

    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("hello"), "{}", text(&output.stdout));
}

/// The transcript that acpx records has both directions; every line of it must be JSON.
#[test]
fn acpx_records_a_transcript_of_complete_frames() {
    let setup = setup!();
    let format = ["--format", "json", "--json-strict"];
    let Some(output) = acpx(&setup, &format, "hello") else { return };

    assert!(output.status.success(), "{}", text(&output.stderr));
    let frames: Vec<Value> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON line"))
        .collect();
    let has = |fits: &dyn Fn(&Value) -> bool| frames.iter().any(fits);
    assert!(
        has(&|f| f["params"]["update"]["sessionUpdate"] == "agent_message_chunk"),
        "{frames:#?}"
    );
    assert!(has(&|f| f["result"]["stopReason"] == "end_turn"), "{frames:#?}");
}

#[test]
fn acpx_allows_a_command_when_told_to() {
    let setup = setup!();
    let Some(output) = acpx(&setup, &["--approve-all", "--format", "text"], "run ls") else {
        return;
    };

    assert!(output.status.success(), "{} {}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("ls"), "{}", text(&output.stdout));
}

/// acpx reports a denied permission with exit code 5.
#[test]
fn acpx_denies_a_command_when_told_to() {
    let setup = setup!();
    let Some(output) = acpx(&setup, &["--deny-all", "--format", "text"], "run ls") else { return };

    assert_eq!(output.status.code(), Some(5), "{} {}", text(&output.stdout), text(&output.stderr));
}
