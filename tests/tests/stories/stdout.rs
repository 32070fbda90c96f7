//! Nothing but frames on stdout, whatever is logged and whatever happens to the host (WIRE-1, CHD-7).
//!
//! <https://github.com/anomalyco/opencode/issues/13634> (BL-45). `finish` looks at every byte of stdout.

use serde_json::{Value, json};
use tests::{Agent, Setup, setup};

/// The levels of the log, and a word that is none.
const LEVELS: [&str; 7] = ["off", "error", "warn", "info", "debug", "trace", "no such level"];

/// A turn with a question, or its failure. Says what the prompt became.
async fn talk(setup: &Setup) -> Value {
    let mut agent = Agent::start(setup).await;
    let session = agent.new_session().await;
    let id = agent.begin_prompt(&session, "run ls").await;
    let next = agent
        .expect("a question or the answer", |frame| {
            frame["method"] == "session/request_permission" || frame["id"] == id
        })
        .await;
    let answer = if next.get("method").is_some() {
        agent.choose(&next, "allow_once").await;
        agent.answer(&id).await
    } else {
        next
    };
    let record = agent.finish().await;
    assert_eq!(record.frames().iter().filter(|frame| frame["id"] == id).count(), 1, "one answer");
    answer
}

#[tokio::test]
async fn every_level_of_the_log_leaves_stdout_to_frames() {
    for level in LEVELS {
        let answer = talk(&setup!().var("RUST_LOG", level)).await;
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{level}");
    }
}

/// CHD-7: what the host writes to its stderr reaches neither stdout nor the editor.
#[tokio::test]
async fn stdout_stays_pure_when_the_host_is_noisy() {
    let setup = setup!().fault("stderr:noise of the host");
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    agent.prompt(&session, "hello").await;

    let record = agent.finish().await;
    assert!(!String::from_utf8_lossy(&record.stdout).contains("noise of the host"));
}

/// More than a pipe holds, without a newline, before the handshake (SCN-DTH-13).
/// <https://github.com/JJtmc1234/carl/issues/7> (BL-65)
#[tokio::test]
async fn a_host_that_floods_its_stderr_is_not_held_up_and_none_of_it_is_told() {
    let flood = "noise ".repeat(20 * 1024);
    let answer = talk(&setup!().var("RUST_LOG", "off").fault(format!("stderr:{flood}"))).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let failing = setup!().fault(format!("stderr:{flood}")).fault("exit:turn/start:1");
    let answer = talk(&failing).await;
    assert_eq!(answer["error"]["code"], json!(-32603));
    assert!(!answer.to_string().contains("noise"), "CHD-7");
}

/// At the loudest level, because a failure is when people log.
#[tokio::test]
async fn no_failure_of_a_host_reaches_stdout_but_as_an_answer() {
    for fault in ["crash:turn/start", "exit:initialize:101", "eof:turn/start", "no-serve"] {
        let answer = talk(&setup!().var("RUST_LOG", "trace").fault(fault)).await;
        assert_eq!(answer["error"]["code"], json!(-32603), "{fault}");
    }
    let missing = setup!().var("RUST_LOG", "trace").var("MUSE_CODE_EXECUTABLE", "/nowhere/muse");
    assert_eq!(talk(&missing).await["error"]["code"], json!(-32603));
}

/// Text for people is asked for by a flag, and then nothing else is there to be mixed with.
#[tokio::test]
async fn flags_for_people_start_no_dialogue() {
    use assert_cmd::Command;
    for flag in ["--help", "--version"] {
        let setup = setup!().var("RUST_LOG", "trace").arg(flag);
        let mut command = Command::from_std(setup.command());
        let run = command.write_stdin("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n");
        let assert = run.timeout(std::time::Duration::from_secs(30)).assert().success();
        let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert!(!text.contains("jsonrpc"), "{flag}: {text}");
    }
}
