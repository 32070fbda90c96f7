//! The binary as a process: what stdout, stderr and exit codes say.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};

use serde_json::{Value, json};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"t","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"initialized"}"#;

fn program(args: &[&str], env: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-msp"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in fake_msp::cli::ENVIRONMENT {
        command.env_remove(name);
    }
    command.envs(env.iter().copied());
    command
}

/// Runs to the end with this stdin.
fn run(args: &[&str], env: &[(&str, &str)], stdin: &[u8]) -> Output {
    let mut child = program(args, env).spawn().unwrap();
    // A process that has ended already does not read: that is the test's outcome, not an error.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn lines(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

fn frames(stdout: &[u8]) -> Vec<Value> {
    text(stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// A live conversation.
struct Live {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Live {
    fn start(env: &[(&str, &str)]) -> Self {
        let mut child = program(&["serve"], env).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut live = Self { child, stdout };
        live.send(INITIALIZE);
        live.next().unwrap();
        live.send(INITIALIZED);
        live
    }

    fn send(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).expect(&line))
    }

    /// Starts a session and a turn.
    fn prompt(&mut self, prompt: &str) {
        let command = |n: u8| format!("0199aaaa-0000-7000-8000-{n:012}");
        self.send(
            &json!({ "jsonrpc": "2.0", "id": 2, "method": "session/start",
                "params": { "commandId": command(1) } })
            .to_string(),
        );
        let session = self.until(|f| f["id"] == 2)["result"]["session"]["sessionId"].clone();
        let input = json!([{ "type": "text", "text": prompt }]);
        self.send(
            &json!({ "jsonrpc": "2.0", "id": 3, "method": "turn/start", "params": {
                "commandId": command(2), "sessionId": session, "input": input } })
            .to_string(),
        );
    }

    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next().expect("the frame comes before the end");
            if wanted(&frame) {
                return frame;
            }
        }
    }

    fn close(mut self) -> ExitStatus {
        drop(self.child.stdin.take());
        let mut rest = Vec::new();
        self.stdout.read_to_end(&mut rest).unwrap();
        self.child.wait().unwrap()
    }
}

#[test]
fn version_and_help_go_to_stdout_and_name_the_emulated_host() {
    let version = run(&["--version"], &[("FAKE_MSP_PROFILE", "1.1.1")], b"");
    assert_eq!(text(&version.stdout), "Muse Code 1.1.1 (1.1.1-R2514.1)\n");

    let help = run(&["--help"], &[], b"");
    assert!(text(&help.stdout).contains("burst N") && text(&help.stdout).contains("hang-on-eof"));

    let old = text(&run(&["serve", "--help", "--profile", "1.1.1"], &[], b"").stdout);
    let new = text(&run(&["serve", "--help"], &[], b"").stdout);
    assert!(old.contains("--sandbox-network") && !old.contains("--trust-workspace"));
    assert!(new.contains("--trust-workspace"));

    let profiles = text(&run(&["profiles"], &[], b"").stdout);
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
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert_eq!(text(&output.stderr).lines().count(), 1, "{args:?}: one line");
        assert!(text(&output.stderr).contains(named), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn the_end_of_stdin_is_a_clean_exit_with_or_without_the_word_serve() {
    for args in [&["serve"][..], &[], &["serve", "--disable-write", "--sandbox-network=enabled"]] {
        let output = run(args, &[], &lines(&[INITIALIZE]));
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(frames(&output.stdout)[0]["result"]["experimentalApi"], false);
        assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    }
}

#[test]
fn flags_win_over_the_environment() {
    let env = [("FAKE_MSP_PROFILE", "1.1.1"), ("FAKE_MSP_SEED", "4")];
    let output = run(&["serve", "--profile", "1.3.0"], &env, &lines(&[INITIALIZE]));
    assert_eq!(frames(&output.stdout)[0]["result"]["serverInfo"]["version"], "1.3.0");
}

#[test]
fn findings_are_printed_and_fail_a_strict_run() {
    let stdin = lines(&[INITIALIZE, INITIALIZED, r#"{"jsonrpc":"2.0","method":"made/up"}"#]);

    let lax = run(&["serve"], &[], &stdin);
    assert_eq!(lax.status.code(), Some(0));
    assert!(text(&lax.stderr).starts_with("fake-msp: oracle: TOL-6: notification.method: "));
    let strict = run(&["serve", "--strict"], &[], &stdin);
    assert_eq!(strict.status.code(), Some(1));
    let clean = run(&["serve", "--strict"], &[], &lines(&[INITIALIZE, INITIALIZED]));
    assert_eq!(clean.status.code(), Some(0));
}

#[test]
fn a_last_line_without_newline_is_answered() {
    let output = run(&["serve"], &[], INITIALIZE.as_bytes());
    assert_eq!(frames(&output.stdout).len(), 1);

    let output = run(&["serve"], &[], &INITIALIZE.as_bytes()[..30]);
    assert!(output.stdout.is_empty());
    assert!(text(&output.stderr).contains("FRM-12"));
}

#[test]
fn an_oversized_line_is_refused_and_the_next_one_is_read() {
    let mut stdin = lines(&[INITIALIZE, INITIALIZED]);
    stdin.extend_from_slice(br#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"t":""#);
    stdin.resize(stdin.len() + 11 * 1024 * 1024, b'a');
    stdin.extend_from_slice(b"\"}}\r\n\n");
    stdin.extend_from_slice(&lines(&[r#"{"jsonrpc":"2.0","id":8,"method":"model/list"}"#]));

    let output = run(&["serve"], &[], &stdin);

    let frames = frames(&output.stdout);
    assert_eq!((&frames[1]["id"], &frames[1]["error"]["code"]), (&json!(7), &json!(-32002)));
    assert_eq!(frames[2]["id"], 8);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_frame_log_holds_both_directions_in_order() {
    let file = std::env::temp_dir().join(format!("fake-msp-log-{}", std::process::id()));
    let path = file.to_str().unwrap();
    run(&["serve", "--frame-log", path], &[], &lines(&[INITIALIZE]));
    let log = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();

    let rows = frames(log.as_bytes());
    assert_eq!((&rows[0]["dir"], &rows[1]["dir"]), (&json!("client"), &json!("server")));
    assert_eq!(rows[0]["raw"], INITIALIZE);
}

#[test]
fn levers_break_the_process_as_they_say() {
    let model_list = r#"{"jsonrpc":"2.0","id":2,"method":"model/list"}"#;
    let stdin = lines(&[INITIALIZE, INITIALIZED, model_list]);

    let exit = run(&["serve"], &[("FAKE_MSP_FAULT", "exit:model/list:5")], &stdin);
    assert_eq!(exit.status.code(), Some(5));
    let ignore = run(&["serve"], &[("FAKE_MSP_FAULT", "ignore:model/list")], &stdin);
    assert_eq!(frames(&ignore.stdout).len(), 1);
    let error = run(&["serve"], &[("FAKE_MSP_FAULT", "error:model/list:-32031")], &stdin);
    assert_eq!(frames(&error.stdout)[1]["error"]["data"]["retryable"], true);
    let words = run(&["serve"], &[("FAKE_MSP_FAULT", "stderr:hello there")], &stdin);
    assert!(text(&words.stderr).contains("hello there"));
    let crash = run(&["serve"], &[("FAKE_MSP_FAULT", "crash:model/list")], &stdin);
    assert_ne!(crash.status.code(), Some(0));
    #[cfg(unix)]
    assert_eq!(crash.status.code(), None, "by a signal");
}

#[cfg(unix)]
#[test]
fn closing_stdout_leaves_the_process_alive() {
    let mut live = Live::start(&[("FAKE_MSP_FAULT", "eof:turn/start")]);
    live.prompt("hello");
    while live.next().is_some() {}
    assert!(live.child.try_wait().unwrap().is_none(), "EOF came before the exit");
    assert_eq!(live.close().code(), Some(0));
}

#[test]
fn hang_on_eof_does_not_end() {
    let mut live = Live::start(&[("FAKE_MSP_FAULT", "hang-on-eof")]);
    live.prompt("hello");
    drop(live.child.stdin.take());
    live.until(|frame| frame["method"] == "turn/completed");
    assert!(live.child.try_wait().unwrap().is_none());
    live.child.kill().unwrap();
    live.child.wait().unwrap();
}

#[test]
fn a_turn_is_streamed_in_real_time_and_the_process_ends_cleanly() {
    let mut live = Live::start(&[]);
    live.prompt("hello");
    let end = live.until(|frame| frame["method"] == "turn/completed");
    assert_eq!(end["params"]["terminal"], "completed");
    assert_eq!(live.close().code(), Some(0));
}

#[test]
fn a_burst_can_be_left_in_the_middle() {
    let mut live = Live::start(&[]);
    live.prompt("burst 100000000");
    live.until(|frame| frame["method"] == "item/delta");
    let Live { mut child, stdout } = live;
    // The client goes away: both pipes close, the host ends by itself.
    drop(stdout);
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
