//! Modes with real processes: what a host is started with, and who is root.

use std::path::PathBuf;

use serde_json::{Value, json};
use tests::{Agent, Setup, setup};

/// A Muse that writes down its arguments and goes on as the fake one.
#[cfg(unix)]
fn with_arguments(setup: Setup) -> (Setup, PathBuf) {
    use std::os::unix::fs::PermissionsExt;

    let (log, program) = (setup.scratch().join("arguments"), setup.scratch().join("muse"));
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
        log.display(),
        env!("CARGO_BIN_EXE_fake-msp-under-test"),
    );
    std::fs::write(&program, script).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("executable");
    (setup.var("MUSE_CODE_EXECUTABLE", program), log)
}

/// The lines that start a host; the probe asks for help and a version only.
#[cfg(unix)]
fn starts(log: &PathBuf) -> Vec<String> {
    let text = std::fs::read_to_string(log).expect("the log of arguments");
    let serves = text.lines().filter(|line| line.starts_with("serve") && !line.contains("--help"));
    serves.map(str::to_owned).collect()
}

async fn set_mode(agent: &mut Agent, session: &str, mode: &str) -> Value {
    let params = json!({ "sessionId": session, "modeId": mode });
    let id = agent.request("session/set_mode", params).await;
    agent.answer(&id).await
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::getuid().is_root() || rustix::process::geteuid().is_root()
}

/// SCN-CFG-01, MODE-6.
#[cfg(unix)]
#[tokio::test]
async fn read_only_starts_a_host_that_can_neither_write_nor_run() {
    let (setup, log) = with_arguments(setup!());
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    agent.prompt(&session, "hello").await;
    assert_eq!(set_mode(&mut agent, &session, "readOnly").await["result"], json!({}));
    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");

    agent.finish().await;
    assert_eq!(starts(&log), ["serve", "serve --disable-write --disable-shell"]);
}

/// SAFE-8, PO-47: what `serve --help` does not list is never passed. Whether that is known when the mode is set
/// depends on how fast Muse was probed; before the turn it is.
#[tokio::test]
async fn a_muse_without_the_flags_runs_no_prompt_in_read_only() {
    let setup = setup!().fault("no-flag:--disable-shell");
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    agent.prompt(&session, "hello").await; // Muse has been probed

    let refused = set_mode(&mut agent, &session, "readOnly").await;

    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(refused["error"]["data"]["availability"], "version");
    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
    assert_eq!(setup.host_received_count("turn/start"), 2, "the host was kept");
}

/// PO-25: whoever runs the tests sees one half of it, and the menu agrees.
#[cfg(unix)]
#[tokio::test]
async fn bypass_is_for_everybody_but_root() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let params = json!({ "cwd": setup.workspace(), "mcpServers": [] });
    let id = agent.request("session/new", params).await;
    let opened = agent.result(&id).await;
    let session = opened["sessionId"].as_str().expect("an id").to_owned();

    let offered = opened["modes"]["availableModes"].to_string().contains("bypassApprovals");
    let answer = set_mode(&mut agent, &session, "bypassApprovals").await;

    assert_eq!(offered, !is_root());
    if is_root() {
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert_eq!(answer["error"]["data"]["availability"], "guard");
    } else {
        assert_eq!(answer["result"], json!({}), "{answer}");
        assert_eq!(agent.prompt(&session, "run ls").await["stopReason"], "end_turn");
    }
    let record = agent.finish().await;
    assert!(record.frames().iter().all(|frame| frame["method"] != "session/request_permission"));
    assert_eq!(setup.host_received_count("approval/decide"), usize::from(!is_root()));
}

/// SCN-APR-39, with the fake host's own approvals.
#[tokio::test]
async fn reject_lets_no_command_run_and_asks_nobody() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    set_mode(&mut agent, &session, "rejectApprovals").await;

    let answer = agent.prompt(&session, "run ls").await;

    assert_eq!(answer["stopReason"], "end_turn");
    let updates = agent.take_updates();
    let last = updates.iter().rfind(|update| update["sessionUpdate"] == "tool_call_update");
    assert_eq!(last.expect("a card")["status"], "failed");
    let record = agent.finish().await;
    assert!(record.frames().iter().all(|frame| frame["method"] != "session/request_permission"));
}
