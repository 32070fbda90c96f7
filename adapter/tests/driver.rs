//! The driver over in-memory pipes on a paused clock: back-pressure, framing, logs.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use muse_code_acp::core::io::{Facts, Resolved, Settings, SpawnSpec};
use muse_code_acp::core::redact::Redactor;
use muse_code_acp::core::{Config, Effect, EffectResult, IdSource};
use muse_code_acp::shell::world::BoxFuture;
use muse_code_acp::shell::{Driver, HostControl, HostExit, HostProcess, World};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc;

const SECRET: &str = "sk-very-secret-value";

/// The host's end of a spawned process.
struct HostEnd {
    lines: tokio::io::Lines<BufReader<DuplexStream>>,
    out: DuplexStream,
    err: DuplexStream,
    process: Rc<RefCell<Process>>,
}

/// What the driver's control and the test share.
#[derive(Default)]
struct Process {
    exit: Option<HostExit>,
    waker: Option<Waker>,
    /// `terminate` and `kill`, in order.
    signals: Vec<&'static str>,
}

impl Process {
    fn exit(&mut self, exit: HostExit) {
        self.exit.get_or_insert(exit);
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}

struct Made {
    hosts: mpsc::UnboundedSender<HostEnd>,
    ids: Counted,
}

struct Counted(u64);

impl IdSource for Counted {
    fn uuid(&mut self) -> String {
        self.0 += 1;
        format!("00000000-0000-7000-8000-{:012}", self.0)
    }
}

struct Control(Rc<RefCell<Process>>);

impl HostControl for Control {
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<HostExit> {
        let mut process = self.0.borrow_mut();
        process.waker = Some(cx.waker().clone());
        process.exit.map_or(Poll::Pending, Poll::Ready)
    }

    fn terminate(&mut self) {
        self.0.borrow_mut().signals.push("terminate");
    }

    fn kill(&mut self) {
        let mut process = self.0.borrow_mut();
        process.signals.push("kill");
        process.exit(HostExit { code: None, signal: Some(9) });
    }
}

impl World for Made {
    fn spawn(&mut self, _: &SpawnSpec) -> std::io::Result<HostProcess> {
        let (stdin, host_in) = tokio::io::duplex(4096);
        let (host_out, stdout) = tokio::io::duplex(4096);
        let (host_err, stderr) = tokio::io::duplex(4096);
        let process = Rc::<RefCell<Process>>::default();
        let control = Control(Rc::clone(&process));
        let lines = BufReader::new(host_in).lines();
        let end = HostEnd { lines, out: host_out, err: host_err, process };
        self.hosts.send(end).map_err(|_| std::io::Error::other("the test is over"))?;
        Ok(HostProcess {
            stdin: Box::pin(stdin),
            stdout: Box::pin(stdout),
            stderr: Box::pin(stderr),
            control: Box::new(control),
        })
    }

    fn perform(&mut self, effect: Effect) -> BoxFuture<EffectResult> {
        Box::pin(std::future::ready(match effect {
            Effect::Workspace(path) => EffectResult::Workspace(Ok(path)),
            Effect::Credentials => EffectResult::Credentials(true),
            Effect::Resolve => EffectResult::Resolve(Box::new(Ok(Resolved {
                binary: "/bin/muse".into(),
                version: None,
                identity: [0; 32],
                flags: muse_code_acp::core::mode::FLAGS.to_vec(),
                settings: Settings {
                    model: "m".into(),
                    provider: "p".into(),
                    effort: "high".into(),
                },
            }))),
        }))
    }

    fn facts(&self) -> Facts {
        Facts { root: false, flags: None }
    }

    fn ids(&mut self) -> &mut dyn IdSource {
        &mut self.ids
    }
}

/// An editor, and hosts as they are spawned.
struct Stage {
    input: WriteHalf<DuplexStream>,
    output: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    hosts: mpsc::UnboundedReceiver<HostEnd>,
    driver: tokio::task::JoinHandle<()>,
}

impl Stage {
    fn start(pipe: usize) -> Self {
        let (editor, agent) = tokio::io::duplex(pipe);
        let (agent_in, agent_out) = tokio::io::split(agent);
        let (hosts, spawned) = mpsc::unbounded_channel();
        let variables = [("META_API_KEY".to_owned(), SECRET.to_owned())];
        let config =
            Config { redactor: Redactor::from_environment(variables).into(), ..Config::default() };
        let world = Made { hosts, ids: Counted(0) };
        let driver = Driver::new(config, world, agent_in, agent_out, std::future::pending());
        let (output, input) = tokio::io::split(editor);
        Self {
            input,
            output: BufReader::new(output).lines(),
            hosts: spawned,
            driver: tokio::task::spawn_local(driver.run()),
        }
    }

    async fn send(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.expect("the agent reads");
    }

    async fn line(&mut self) -> Value {
        let line = self.output.next_line().await.expect("utf-8").expect("a line");
        serde_json::from_str(&line).expect("json")
    }

    /// Reads until the answer to `id`.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = self.line().await;
            if line["id"] == id && line.get("method").is_none() {
                return line;
            }
        }
    }

    /// A session with a running turn, and its host.
    async fn with_turn(&mut self, text: &str) -> (String, HostEnd) {
        self.send(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
        )
        .await;
        self.send(r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#).await;
        self.answer(1).await;
        let session = self.answer(2).await["result"]["sessionId"].as_str().expect("id").to_owned();
        let prompt = json!({ "jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {
            "sessionId": session, "prompt": [{ "type": "text", "text": text }] } });
        self.send(&prompt.to_string()).await;
        let mut host = self.hosts.recv().await.expect("a host");
        host.open(&session).await;
        (session, host)
    }
}

impl HostEnd {
    async fn say(&mut self, message: &Value) {
        self.out.write_all(format!("{message}\n").as_bytes()).await.expect("the agent reads");
    }

    async fn open(&mut self, session: &str) {
        loop {
            let line = self.lines.next_line().await.expect("utf-8").expect("a line");
            let request: Value = serde_json::from_str(&line).expect("json");
            let row = json!({ "session": { "sessionId": session, "modelId": "m",
                                           "providerId": "p", "workspaceRoot": "/w" } });
            let result = match request["method"].as_str().expect("a method") {
                "initialized" => continue,
                "initialize" => json!({}),
                "session/resume" | "session/read" => row,
                "turn/start" => json!({ "turnId": "t", "status": "accepted" }),
                _ => json!({ "status": "accepted" }),
            };
            self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
            if request["method"] == "turn/start" {
                return;
            }
        }
    }
}

fn run<F: Future<Output = ()>>(story: F) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, story);
}

fn item(session: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "item/started", "params": { "sessionId": session,
        "item": { "itemId": "i", "kind": "agentMessage", "turnId": "t", "revision": 1,
                  "status": "inProgress", "text": "" } } })
}

fn delta(session: &str, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "item/delta",
            "params": { "sessionId": session, "itemId": "i", "delta": text } })
}

#[test]
fn an_editor_that_does_not_read_stops_the_host_and_a_cancel_still_arrives() {
    run(async {
        let mut stage = Stage::start(1024);
        let (session, mut host) = stage.with_turn("x").await;
        host.say(&item(&session)).await;
        // The host writes until nobody takes any more: bounded, and far below what it has.
        let text = delta(&session, &"x".repeat(1000)).to_string() + "\n";
        let mut taken = 0;
        while tokio::time::timeout(Duration::from_secs(1), host.out.write_all(text.as_bytes()))
            .await
            .is_ok()
        {
            taken += text.len();
            assert!(taken < 4 * 1024 * 1024, "the host is held back");
        }
        // PO-19: the stall of the editor is not the host's, and nothing has failed.
        let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel",
                             "params": { "sessionId": session } });
        stage.send(&cancel.to_string()).await;
        let line = host.lines.next_line().await.expect("utf-8").expect("a line");
        assert!(line.contains("turn/cancel"), "{line}");
        // The host is read again although the editor still does not: its terminal gets through. The
        // newline ends the line that was cut when the host was held back.
        host.out.write_all(b"\n").await.expect("taken");
        let end = json!({ "jsonrpc": "2.0", "method": "turn/completed", "params": {
            "sessionId": session, "turnId": "t", "terminal": "cancelled" } });
        host.say(&end).await;
        assert_eq!(stage.answer(3).await["result"]["stopReason"], "cancelled");
    });
}

#[test]
fn a_host_that_ignores_its_end_of_input_is_terminated_and_then_killed() {
    run(async {
        let mut stage = Stage::start(65_536);
        let (_, host) = stage.with_turn("x").await;
        stage.input.shutdown().await.expect("closed");
        let before = tokio::time::Instant::now();
        stage.driver.await.expect("the driver ends");
        // Two rungs, then half a second for output that something else holds open.
        assert_eq!(before.elapsed(), Duration::from_millis(2500));
        // The second kill is for what the process left behind in its group.
        assert_eq!(host.process.borrow().signals, ["terminate", "kill", "kill"]);
    });
}

/// SCN-FUZ-04. <https://github.com/agentclientprotocol/codex-acp/pull/397> (BL-53): each byte is a write of
/// its own; bytes that are no text at all make their line no frame.
#[test]
fn text_split_at_every_byte_arrives_whole() {
    run(async {
        let mut stage = Stage::start(16);
        let (session, mut host) = stage.with_turn("x").await;
        let lines = format!("{}\r\n\n{}\n", item(&session), delta(&session, "grüße, 世界"));
        let broken = delta(&session, "世").to_string().into_bytes();
        let broken = broken.iter().filter(|byte| **byte != 0xb8); // the middle one of three
        let bytes: Vec<u8> = broken.chain(b"\n").chain(lines.as_bytes()).copied().collect();
        for byte in &bytes {
            host.out.write_all(&[*byte]).await.expect("taken");
            tokio::task::yield_now().await;
        }
        loop {
            let line = stage.line().await;
            if line["params"]["update"]["sessionUpdate"] == "agent_message_chunk" {
                assert_eq!(line["params"]["update"]["content"]["text"], "grüße, 世界");
                return;
            }
        }
    });
}

/// SCN-FUZ-12, PO-19: thirty seconds without a reader, then everything, once and in order.
#[test]
fn ten_thousand_deltas_wait_for_an_editor_that_does_not_read() {
    run(async {
        const DELTAS: usize = 10_000;
        let mut stage = Stage::start(1024);
        let (session, mut host) = stage.with_turn("x").await;
        host.say(&item(&session)).await;
        let said = session.clone();
        let speaking = tokio::task::spawn_local(async move {
            for number in 0..DELTAS {
                host.say(&delta(&said, &format!("{number:0>100} "))).await;
            }
            host
        });
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert!(!speaking.is_finished(), "the host is held back: what waits is bounded");
        let mut shown = String::new();
        while shown.len() < DELTAS * 101 {
            let line = stage.line().await;
            shown += line["params"]["update"]["content"]["text"].as_str().unwrap_or_default();
        }
        let numbers =
            shown.split_whitespace().map(|number| number.parse::<usize>().expect("a number"));
        assert!(numbers.eq(0..DELTAS), "each once and in order");
        let mut host = speaking.await.expect("no panic");
        host.say(&json!({ "jsonrpc": "2.0", "method": "turn/completed", "params": {
            "sessionId": session, "turnId": "t", "terminal": "completed" } }))
            .await;
        let lines = host.lines.next_line().await.expect("utf-8").expect("a line");
        assert!(lines.contains("session/read"), "{lines}");
        drop(host);
        assert_eq!(stage.answer(3).await["result"]["stopReason"], "end_turn");
    });
}

/// SCN-FUZ-07, FRM-9: passed over without being kept (`wire::framing`), and one that never ends is a torn
/// last line.
#[test]
fn a_line_of_64_mebibytes_is_passed_over_and_the_turn_goes_on() {
    run(async {
        let mut stage = Stage::start(65_536);
        let (session, mut host) = stage.with_turn("x").await;
        let piece = [b'x'; 4096];
        for _ in 0..64 * 1024 * 1024 / piece.len() {
            host.out.write_all(&piece).await.expect("taken");
        }
        host.out.write_all(b"\n").await.expect("taken");
        host.say(&item(&session)).await;
        host.say(&delta(&session, "after it")).await;
        let shown = loop {
            let line = stage.line().await;
            if line["params"]["update"]["sessionUpdate"] == "agent_message_chunk" {
                break line;
            }
        };
        assert_eq!(shown["params"]["update"]["content"]["text"], "after it");
        for _ in 0..16 * 1024 * 1024 / piece.len() {
            host.out.write_all(&piece).await.expect("taken");
        }
        drop(host.out);
        let answer = stage.answer(3).await;
        assert_eq!(answer["error"]["data"]["failure"]["kind"], "terminalUnknown");
    });
}

/// SCN-DTH-13. <https://github.com/JJtmc1234/carl/issues/7> (BL-65): nobody waits for a newline.
#[test]
fn a_mebibyte_of_stderr_without_a_newline_holds_nothing_up() {
    run(async {
        let mut stage = Stage::start(65_536);
        let (session, mut host) = stage.with_turn("x").await;
        host.err.write_all(&vec![b'x'; 1024 * 1024]).await.expect("drained");
        host.say(&item(&session)).await;
        host.say(&delta(&session, "after it")).await;
        loop {
            let line = stage.line().await;
            if line["params"]["update"]["sessionUpdate"] == "agent_message_chunk" {
                assert_eq!(line["params"]["update"]["content"]["text"], "after it");
                return;
            }
        }
    });
}

#[test]
fn an_end_of_output_without_an_exit_is_answered_within_the_ladder() {
    run(async {
        let mut stage = Stage::start(65_536);
        let (_, host) = stage.with_turn("x").await;
        drop(host.out);
        let answer = stage.answer(3).await;
        assert_eq!(answer["error"]["data"]["failure"]["kind"], "terminalUnknown");
    });
}

#[test]
fn an_exit_without_an_end_of_output_is_noticed_too() {
    run(async {
        let mut stage = Stage::start(65_536);
        let (session, mut host) = stage.with_turn("x").await;
        host.process.borrow_mut().exit(HostExit { code: Some(7), signal: None });
        // Something else holds the pipe open and even writes to it.
        host.say(&item(&session)).await;
        let answer = stage.answer(3).await;
        let message = answer["error"]["message"].as_str().expect("text");
        assert!(message.contains("code 7"), "{message}");
    });
}

/// VEV-3: one line a method, and nothing else of it; what the tables have and nobody consumes is no news.
#[tracing_test::traced_test]
#[test]
fn the_log_names_each_unknown_notification_once() {
    run(async {
        let mut stage = Stage::start(65_536);
        let (session, mut host) = stage.with_turn("x").await;
        let private = json!({ "sessionId": session, "text": "the private text" });
        for method in ["future/thing", "future/thing", "future/other", "session/branchChanged"] {
            host.say(&json!({ "jsonrpc": "2.0", "method": method, "params": private })).await;
        }
        for number in 0..100 {
            let method = format!("flood/{number}");
            host.say(&json!({ "jsonrpc": "2.0", "method": method, "params": private })).await;
        }
        host.say(&json!({ "jsonrpc": "2.0", "method": "turn/completed", "params": {
            "sessionId": session, "turnId": "t", "terminal": "failed" } }))
            .await;
        stage.answer(3).await;
    });
    logs_assert(|lines: &[&str]| {
        let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
        let counts = ["future/thing", "future/other", "branchChanged", "flood/"].map(count);
        (counts == [1, 1, 0, 30]).then_some(()).ok_or_else(|| format!("{counts:?}"))
    });
    assert!(!logs_contain("private"));
}

#[tracing_test::traced_test]
#[test]
fn the_log_tells_phases_and_never_secrets_or_content() {
    run(async {
        let mut stage = Stage::start(65_536);
        let (session, mut host) = stage.with_turn("the private prompt").await;
        host.err.write_all(format!("token {SECRET} is bad\n").as_bytes()).await.expect("taken");
        host.say(&item(&session)).await;
        host.say(&delta(&session, "the private answer")).await;
        host.say(&json!({ "jsonrpc": "2.0", "method": "turn/completed", "params": {
            "sessionId": session, "turnId": "t", "terminal": "failed",
            "error": { "kind": "modelError", "message": format!("with {SECRET}") } } }))
            .await;
        let answer = stage.answer(3).await;
        assert_eq!(answer["error"]["message"], "with [redacted]");
        let mut rest = String::new();
        stage.input.shutdown().await.expect("closed");
        stage.output.into_inner().read_to_string(&mut rest).await.expect("utf-8");
        stage.driver.await.expect("the driver ends");
    });
    for phase in ["preparing", "submitting", "running"] {
        assert!(logs_contain(&format!("phase=\"{phase}\"")), "{phase}");
    }
    assert!(logs_contain("elapsed_ms=0"));
    assert!(logs_contain("code=\"turn-failed\""));
    assert!(logs_contain("token [redacted] is bad"));
    assert!(!logs_contain(SECRET));
    assert!(!logs_contain("private"));
}
