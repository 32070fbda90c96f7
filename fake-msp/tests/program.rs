//! The binary as a process: what stdout, stderr and exit codes say.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

mod process;

use process::{Done, INITIALIZE, INITIALIZED, Live, program};
use serde_json::{Value, json};

/// Runs to the end with this environment and stdin.
fn run(args: &[&str], env: &[(&str, &str)], stdin: &[u8]) -> Done {
    let mut live = start(args, env);
    live.write(stdin);
    live.finish()
}

fn start(args: &[&str], env: &[(&str, &str)]) -> Live {
    let mut command = program(args);
    command.envs(env.iter().copied());
    Live::spawn(command)
}

fn lines(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

#[test]
fn version_and_help_go_to_stdout_and_name_the_emulated_host() {
    let version = run(&["--version"], &[("FAKE_MSP_PROFILE", "1.1.1")], b"");
    assert_eq!(version.stdout, "Muse Code 1.1.1 (1.1.1-R2514.1)\n");

    let help = run(&["--help"], &[], b"");
    assert!(help.stdout.contains("burst N") && help.stdout.contains("hang-on-eof"));

    let old = run(&["serve", "--help", "--profile", "1.1.1"], &[], b"").stdout;
    let new = run(&["serve", "--help"], &[], b"").stdout;
    assert!(old.contains("--sandbox-network") && !old.contains("--trust-workspace"));
    assert!(new.contains("--trust-workspace"));

    let profiles = run(&["profiles"], &[], b"").stdout;
    assert!(profiles.contains("measured on 1.2.1-R2847.1"));
}

#[test]
fn usage_errors_exit_with_2_and_name_what_is_allowed() {
    for (args, env, named) in [
        (&["dance"][..], &[][..], "serve"),
        (&["serve", "--dance"], &[], "--disable-write"),
        (&["serve", "--sede", "1"], &[], "--seed"),
        (&["serve", "--seed"], &[], "--seed N"),
        (&["serve", "--strict", "--strict"], &[], "twice"),
        (&["serve", "dance"], &[], "`dance`"),
        (&["--seed", "1", "serve"], &[], "fake-msp serve --seed"),
        (&["srve"], &[], "did you mean serve?"),
        (&["serve", "--profile", "9.9"], &[], "1.4.14"),
        (&["serve", "--seed", "x"], &[], "whole number"),
        (&["serve", "--sandbox-network", "x"], &[], "proxy-only"),
        (&["serve", "--profile", "1.1.1", "--trust-workspace"], &[], "--disable-shell"),
        (&["serve"], &[("FAKE_MSP_FAULT", "explode")], "hang-on-eof"),
        (&["serve"], &[("FAKE_MSP_FAULT", "no-serve")], "serve"),
        (&["serve", "--help"], &[("FAKE_MSP_FAULT", "no-serve")], "serve"),
    ] {
        let output = run(args, env, b"");
        assert_eq!(output.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{args:?}: one line");
        assert!(output.stderr.contains(named), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn the_end_of_stdin_is_a_clean_exit_with_or_without_the_word_serve() {
    for args in [&["serve"][..], &[], &["serve", "--disable-write", "--sandbox-network=enabled"]] {
        let output = run(args, &[], &lines(&[INITIALIZE]));
        assert_eq!(output.code(), Some(0), "{args:?}");
        assert_eq!(output.frames()[0]["result"]["experimentalApi"], false);
        assert!(output.stderr.is_empty(), "{}", output.stderr);
    }
}

#[test]
fn flags_win_over_the_environment() {
    let env = [("FAKE_MSP_PROFILE", "1.1.1"), ("FAKE_MSP_SEED", "4")];
    let output = run(&["serve", "--profile", "1.3.0"], &env, &lines(&[INITIALIZE]));
    assert_eq!(output.frames()[0]["result"]["serverInfo"]["version"], "1.3.0");

    let bad = lines(&[INITIALIZE, INITIALIZED, r#"{"jsonrpc":"2.0","method":"made/up"}"#]);
    assert_eq!(run(&["serve"], &[("FAKE_MSP_STRICT", "1")], &bad).code(), Some(1));
    assert_eq!(run(&["serve"], &[("FAKE_MSP_STRICT", "0")], &bad).code(), Some(0));
    assert_eq!(run(&["serve"], &[("FAKE_MSP_STRICT", "yes")], b"").code(), Some(2));
    let absent = run(&["serve"], &[("FAKE_MSP_TRANSCRIPT", "/nonexistent")], b"");
    assert_eq!(absent.code(), Some(3));
}

#[test]
fn findings_are_printed_and_fail_a_strict_run() {
    let stdin = lines(&[INITIALIZE, INITIALIZED, r#"{"jsonrpc":"2.0","method":"made/up"}"#]);

    let lax = run(&["serve"], &[], &stdin);
    assert_eq!(lax.code(), Some(0));
    assert!(lax.stderr.starts_with("fake-msp: oracle: TOL-6: notification.method: "));
    let strict = run(&["serve", "--strict"], &[], &stdin);
    assert_eq!(strict.code(), Some(1));
    let clean = run(&["serve", "--strict"], &[], &lines(&[INITIALIZE, INITIALIZED]));
    assert_eq!(clean.code(), Some(0));
}

#[test]
fn a_last_line_without_newline_is_answered() {
    let output = run(&["serve"], &[], INITIALIZE.as_bytes());
    assert_eq!(output.frames().len(), 1);

    let output = run(&["serve"], &[], &INITIALIZE.as_bytes()[..30]);
    assert!(output.stdout.is_empty());
    assert!(output.stderr.contains("FRM-12"));
}

#[test]
fn an_oversized_line_is_refused_and_the_next_one_is_read() {
    let mut stdin = lines(&[INITIALIZE, INITIALIZED]);
    stdin.extend_from_slice(br#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"t":""#);
    stdin.resize(stdin.len() + 11 * 1024 * 1024, b'a');
    stdin.extend_from_slice(b"\"}}\r\n\n");
    stdin.extend_from_slice(&lines(&[r#"{"jsonrpc":"2.0","id":8,"method":"model/list"}"#]));

    let output = run(&["serve"], &[], &stdin);

    let frames = output.frames();
    assert_eq!((&frames[1]["id"], &frames[1]["error"]["code"]), (&json!(7), &json!(-32002)));
    assert_eq!(frames[2]["id"], 8);
    assert_eq!(output.code(), Some(0));
}

#[test]
fn the_frame_log_holds_both_directions_in_order() {
    let file = std::env::temp_dir().join(format!("fake-msp-log-{}", std::process::id()));
    let path = file.to_str().unwrap();
    run(&["serve", "--frame-log", path], &[], &lines(&[INITIALIZE]));
    let log = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();

    let rows: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["dir"], &rows[1]["dir"]), (&json!("client"), &json!("server")));
    assert_eq!(rows[0]["raw"], INITIALIZE);
}

#[test]
fn levers_break_the_process_as_they_say() {
    let model_list = r#"{"jsonrpc":"2.0","id":2,"method":"model/list"}"#;
    let stdin = lines(&[INITIALIZE, INITIALIZED, model_list]);

    let exit = run(&["serve"], &[("FAKE_MSP_FAULT", "exit:model/list:5")], &stdin);
    assert_eq!(exit.code(), Some(5));
    let ignore = run(&["serve"], &[("FAKE_MSP_FAULT", "ignore:model/list")], &stdin);
    assert_eq!(ignore.frames().len(), 1);
    let error = run(&["serve"], &[("FAKE_MSP_FAULT", "error:model/list:-32031")], &stdin);
    assert_eq!(error.frames()[1]["error"]["data"]["retryable"], true);
    let words = run(&["serve"], &[("FAKE_MSP_FAULT", "stderr:hello there")], &stdin);
    assert!(words.stderr.contains("hello there"));
    let crash = run(&["serve"], &[("FAKE_MSP_FAULT", "crash:model/list")], &stdin);
    assert_ne!(crash.code(), Some(0));
    #[cfg(unix)]
    assert_eq!(crash.code(), None, "by a signal");
}

#[cfg(unix)]
#[test]
fn closing_stdout_leaves_the_process_alive() {
    let mut live = start(&["serve"], &[("FAKE_MSP_FAULT", "eof:turn/start")]);
    live.prompt("hello");
    while live.line().is_some() {}
    assert!(live.child.try_wait().unwrap().is_none(), "EOF came before the exit");
    assert_eq!(live.finish().code(), Some(0));
}

#[test]
fn hang_on_eof_does_not_end() {
    let mut live = start(&["serve"], &[("FAKE_MSP_FAULT", "hang-on-eof")]);
    live.prompt("hello");
    live.close_stdin();
    live.until(|frame| frame["method"] == "turn/completed");
    assert!(live.child.try_wait().unwrap().is_none());
    live.kill();
}

#[test]
fn a_turn_is_streamed_in_real_time_and_the_process_ends_cleanly() {
    let mut live = Live::start(&["serve"]);
    live.prompt("hello");
    let end = live.until(|frame| frame["method"] == "turn/completed");
    assert_eq!(end["params"]["terminal"], "completed");
    assert_eq!(live.finish().code(), Some(0));
}

#[test]
fn a_burst_can_be_left_in_the_middle() {
    let mut live = Live::start(&["serve"]);
    live.prompt("burst 100000000");
    live.until(|frame| frame["method"] == "item/delta");
    // The client goes away: both pipes close, the host ends by itself.
    assert_eq!(live.leave().code(), Some(0));
}
