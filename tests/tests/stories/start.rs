//! Arguments, configuration and exit codes: runs without a dialogue (PROC-2..5, CHD-1).

use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::{PredicateBooleanExt, predicate};
use tests::{Setup, purity, setup};

fn run(setup: &Setup) -> Command {
    let mut command = Command::from_std(setup.command());
    command.timeout(Duration::from_secs(30));
    command
}

/// PROC-5: the message has all that is needed to mend it, and an editor sees no half-started agent.
#[test]
fn an_unknown_backend_is_refused_at_the_start() {
    for value in ["", "SDK", "muse", " exec"] {
        let setup = setup!().var("MUSE_CODE_ACP_BACKEND", value);
        run(&setup)
            .write_stdin("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n")
            .assert()
            .failure()
            .stdout("")
            .stderr(
                predicate::str::contains("MUSE_CODE_ACP_BACKEND")
                    .and(predicate::str::contains(format!("{value:?}")))
                    .and(predicate::str::contains("sdk"))
                    .and(predicate::str::contains("exec")),
            );
    }
}

/// Control: the default, said aloud.
#[test]
fn the_sdk_backend_is_accepted_by_name() {
    run(&setup!().var("MUSE_CODE_ACP_BACKEND", "sdk")).assert().success().stdout("");
}

/// PROC-3.
#[test]
fn the_version_is_printed_alone() {
    for argument in ["--version", "-v"] {
        let expected = concat!(env!("CARGO_PKG_VERSION"), "\n");
        run(&setup!().arg(argument)).assert().success().stdout(expected).stderr("");
    }
}

/// What people read is compared whole. `UPDATE_EXPECT=1 cargo test -p tests` rewrites it.
#[test]
fn the_help_is_what_was_reviewed() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stories/help.txt");
    let output = run(&setup!().arg("--help")).assert().success().stderr("").get_output().clone();
    let help = String::from_utf8(output.stdout).expect("text");

    if std::env::var_os("UPDATE_EXPECT").is_some() && std::env::var_os("CI").is_none() {
        std::fs::write(&file, &help).expect("the golden can be written");
    }
    let reviewed = std::fs::read_to_string(&file).expect("the golden is there");
    similar_asserts::assert_eq!(help, reviewed);
}

#[test]
fn an_unknown_argument_is_an_error_on_stderr() {
    run(&setup!().arg("--verbose"))
        .assert()
        .failure()
        .stdout("")
        .stderr(predicate::str::contains("--help"));
}

/// PROC-2: `--cli` is looked at first, and the rest goes to Muse with the terminal as it is.
#[test]
fn cli_arguments_reach_muse_and_its_exit_code_comes_back() {
    let setup = setup!().var("FAKE_MSP_PROFILE", "1.2.1").arg("--cli").arg("--version");
    let version = run(&setup).assert().success();
    let version = String::from_utf8_lossy(&version.get_output().stdout).into_owned();
    assert!(version.contains("1.2.1"), "the fake host's version, not the adapter's: {version}");

    run(&setup!().arg("--cli").arg("no-such-command")).assert().failure();
}

#[test]
fn cli_without_muse_says_how_to_get_it() {
    let setup = setup!().var("MUSE_CODE_EXECUTABLE", "/nowhere/muse").arg("--cli").arg("login");
    run(&setup)
        .assert()
        .failure()
        .stdout("")
        .stderr(predicate::str::contains("MUSE_CODE_EXECUTABLE"));
}

/// CHD-7: also for runs that never get to a dialogue.
#[test]
fn stdout_is_pure_when_input_is_closed_at_once_or_is_no_protocol() {
    for input in ["", "\n\n", "hello?\n", "\u{feff}\n", "GET / HTTP/1.1\r\n\r\n"] {
        let setup = setup!().var("RUST_LOG", "trace");
        let assert = run(&setup).write_stdin(input).assert().success();
        assert_eq!(purity::impurity(&assert.get_output().stdout), None, "{input:?}");
    }
}
