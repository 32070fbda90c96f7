//! The adapter between turmoil hosts: editor, adapter and Muse on one seeded virtual clock, with jittered
//! links, held links and crashes. What a story on `pipe` cannot have: independent delays of both
//! neighbours, and a peer that vanishes with bytes in flight.
//!
//! Registration order is muse, adapter, editor (TUR-6); ticks are 1 ms; the epoch and the seed are given,
//! so a run depends on nothing else (DET-5). A failure names its seed.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, UNIX_EPOCH};

use fake_msp::engine::{Host, Input, Options, Output};
use fake_msp::profiles::Profile;
use muse_code_acp::core::io::{Facts, Resolved, Settings, SpawnSpec};
use muse_code_acp::core::{Config, Effect, EffectResult, IdSource};
use muse_code_acp::shell::world::BoxFuture;
use muse_code_acp::shell::{Driver, HostControl, HostExit, HostProcess, World};
use scenarios::run::transcript::{Entry, Lane, Transcript};
use scenarios::run::watch::{Ending, judge};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use turmoil::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use turmoil::net::{TcpListener, TcpStream};

const PORT: u16 = 1;

/// One line per frame of the editor's wire, with its time.
type Record = Rc<RefCell<Transcript>>;

struct Counted(u64);

impl IdSource for Counted {
    fn uuid(&mut self) -> String {
        self.0 += 1;
        format!("01900000-0000-7000-8000-{:012x}", self.0)
    }
}

/// The adapter's machine: a spawned host is a connection to the host `muse`.
struct Net(Counted);

#[derive(Default)]
struct Link {
    gone: bool,
    waker: Option<Waker>,
    task: Option<tokio::task::AbortHandle>,
}

struct Control(Rc<RefCell<Link>>);

impl HostControl for Control {
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<HostExit> {
        let mut link = self.0.borrow_mut();
        link.waker = Some(cx.waker().clone());
        if link.gone { Poll::Ready(HostExit::default()) } else { Poll::Pending }
    }

    fn terminate(&mut self) {
        self.kill();
    }

    fn kill(&mut self) {
        let mut link = self.0.borrow_mut();
        link.gone = true;
        link.task.take().into_iter().for_each(|task| task.abort());
        link.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl World for Net {
    fn spawn(&mut self, _: &SpawnSpec) -> std::io::Result<HostProcess> {
        let (near, mut far) = tokio::io::duplex(64 * 1024);
        let (stdout, stdin) = tokio::io::split(near);
        let link = Rc::<RefCell<Link>>::default();
        let ended = Rc::clone(&link);
        let task = tokio::task::spawn_local(async move {
            if let Ok(mut stream) = TcpStream::connect(("muse", PORT)).await {
                // A broken connection is the end of the host, however it broke.
                let _ = tokio::io::copy_bidirectional(&mut far, &mut stream).await;
            }
            drop(far);
            let mut link = ended.borrow_mut();
            link.gone = true;
            link.waker.take().into_iter().for_each(Waker::wake);
        });
        link.borrow_mut().task = Some(task.abort_handle());
        Ok(HostProcess {
            stdin: Box::pin(stdin),
            stdout: Box::pin(stdout),
            stderr: Box::pin(tokio::io::empty()),
            control: Box::new(Control(link)),
        })
    }

    fn perform(&mut self, effect: Effect) -> BoxFuture<EffectResult> {
        Box::pin(std::future::ready(match effect {
            Effect::Workspace(path) => EffectResult::Workspace(Ok(path)),
            Effect::Credentials => EffectResult::Credentials(true),
            Effect::Resolve => EffectResult::Resolve(Box::new(Ok(Resolved {
                binary: "/opt/muse".into(),
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
        &mut self.0
    }
}

/// The host `muse`: one obliging engine per connection.
async fn muse() -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let (read, write) = stream.into_split();
        tokio::task::spawn_local(serve(read, write));
    }
}

async fn serve(mut read: OwnedReadHalf, mut write: OwnedWriteHalf) {
    let mut engine = Host::new(Profile::newest(), Options::default());
    let start = tokio::time::Instant::now();
    let now = || u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (mut buffer, mut chunk) = (Vec::new(), vec![0; 4096]);
    loop {
        while let Some(output) = engine.poll_output() {
            match output {
                Output::Line(mut line) => {
                    line.push(b'\n');
                    if write.write_all(&line).await.is_err() {
                        return;
                    }
                }
                Output::Exit { .. } | Output::Kill => return,
                _ => {}
            }
        }
        let due = engine.deadline().map(|at| start + Duration::from_millis(at));
        let timer = async {
            match due {
                Some(at) => tokio::time::sleep_until(at).await, // allow-sleep: the engine's virtual timer
                None => std::future::pending().await,
            }
        };
        // Input before time: a frame that arrived is older than a timer that is due now.
        tokio::select! {
            biased;
            count = read.read(&mut chunk) => match count {
                Ok(0) | Err(_) => engine.handle(now(), Input::Eof),
                Ok(count) => {
                    buffer.extend_from_slice(&chunk[..count]);
                    while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                        let line: Vec<u8> = buffer.drain(..=end).collect();
                        engine.handle(now(), Input::Line(&line[..line.len() - 1]));
                    }
                }
            },
            () = timer => engine.handle(now(), Input::Timer),
        }
    }
}

/// The host `adapter`: one driver per editor.
async fn adapter() -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    loop {
        let (stream, peer) = listener.accept().await?;
        let (read, write) = stream.into_split();
        let world = Net(Counted(u64::from(peer.port()) << 16));
        let driver = Driver::new(Config::default(), world, read, write, std::future::pending());
        tokio::task::spawn_local(driver.run());
    }
}

/// An editor with its record.
struct Editor {
    lines: tokio::io::Lines<BufReader<OwnedReadHalf>>,
    write: OwnedWriteHalf,
    record: Record,
    id: u64,
    session: String,
}

impl Editor {
    async fn connect(record: Record) -> Self {
        let stream = TcpStream::connect(("adapter", PORT)).await.expect("the adapter listens");
        let (read, write) = stream.into_split();
        let lines = BufReader::new(read).lines();
        let mut editor = Self { lines, write, record, id: 0, session: String::new() };
        editor.call("initialize", json!({ "protocolVersion": 1 })).await;
        let new = editor.call("session/new", json!({ "cwd": "/w", "mcpServers": [] })).await;
        editor.session = new["result"]["sessionId"].as_str().expect("an id").to_owned();
        editor
    }

    fn note(&self, from_adapter: bool, frame: &Value) {
        let at = turmoil::sim_elapsed().unwrap_or_default();
        let frame = frame.clone();
        let entry = Entry { at, lane: Lane::Editor, from_adapter, frame, lie: false, line: None };
        self.record.borrow_mut().entries.push(entry);
    }

    async fn send(&mut self, frame: Value) {
        self.note(false, &frame);
        self.write.write_all(format!("{frame}\n").as_bytes()).await.expect("the adapter reads");
    }

    async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let id = self.id;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// Reads until the answer to `id`, allowing everything that is asked once.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = self.lines.next_line().await.expect("utf-8").expect("the adapter lives");
            let frame: Value = serde_json::from_str(&line).expect("json");
            self.note(true, &frame);
            if frame["method"] == "session/request_permission" {
                let outcome = json!({ "outcome": "selected", "optionId": "allow_once" });
                let result = json!({ "outcome": outcome });
                self.send(json!({ "jsonrpc": "2.0", "id": frame["id"], "result": result })).await;
            }
            if frame["id"] == id && frame.get("method").is_none() {
                return frame;
            }
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id).await
    }

    async fn prompt(&mut self, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.ask("session/prompt", params).await
    }

    async fn cancel(&mut self) {
        let params = json!({ "sessionId": self.session });
        self.send(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params })).await;
    }
}

fn sim(seed: u64, latency_max: Duration) -> turmoil::Sim<'static> {
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .epoch(UNIX_EPOCH + Duration::from_secs(1_700_000_000))
        .tick_duration(Duration::from_millis(1))
        .simulation_duration(Duration::from_secs(600))
        .min_message_latency(Duration::ZERO)
        .max_message_latency(latency_max)
        .build();
    sim.host("muse", muse);
    sim.host("adapter", adapter);
    sim
}

/// What an editor does over and over: an answer, a permission, a cancel, a close.
async fn conversation(record: Record) -> turmoil::Result {
    let mut editor = Editor::connect(record).await;
    let id = editor.prompt("hello").await;
    assert_eq!(editor.answer(id).await["result"]["stopReason"], "end_turn");
    let id = editor.prompt("run ls").await;
    assert_eq!(editor.answer(id).await["result"]["stopReason"], "end_turn");
    let id = editor.prompt("wait").await;
    editor.cancel().await;
    assert_eq!(editor.answer(id).await["result"]["stopReason"], "cancelled");
    let session = editor.session.clone();
    let closed = editor.call("session/close", json!({ "sessionId": session })).await;
    assert_eq!(closed["result"], json!({}));
    Ok(())
}

fn play(seed: u64, editors: usize) -> String {
    let mut sim = sim(seed, Duration::from_millis(20));
    let records: Vec<Record> = (0..editors).map(|_| Record::default()).collect();
    for (index, record) in records.iter().enumerate() {
        sim.client(format!("editor{index}"), conversation(Rc::clone(record)));
    }
    sim.run().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let mut text = String::new();
    for record in &records {
        let transcript = record.borrow();
        let findings = judge(&transcript, &Ending { lies: true, ..Ending::default() });
        assert!(findings.is_empty(), "seed {seed}: {findings:?}");
        text.push_str(&transcript.to_text());
    }
    text
}

#[test]
fn a_conversation_ends_well_under_every_jitter() {
    for seed in 0..64 {
        play(seed, 1);
    }
}

#[test]
fn many_editors_do_not_disturb_each_other() {
    for seed in 0..8 {
        play(seed, 6);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_another_timing() {
    assert_eq!(play(7, 2), play(7, 2));
    assert_ne!(play(7, 2), play(8, 2));
}

#[test]
fn a_held_link_delays_the_answer_and_loses_nothing() {
    let mut sim = sim(1, Duration::ZERO);
    let record = Record::default();
    let held = Rc::clone(&record);
    sim.client("editor", async move {
        let mut editor = Editor::connect(held).await;
        let id = editor.prompt("hello").await;
        assert_eq!(editor.answer(id).await["result"]["stopReason"], "end_turn");
        turmoil::hold("adapter", "muse");
        let before = turmoil::sim_elapsed().expect("inside");
        let id = editor.prompt("hello again").await;
        let release = async {
            tokio::time::timeout(Duration::from_secs(5), std::future::pending::<()>()).await.ok();
            turmoil::release("adapter", "muse");
        };
        let (answer, ()) = tokio::join!(editor.answer(id), release);
        assert_eq!(answer["result"]["stopReason"], "end_turn");
        assert!(turmoil::sim_elapsed().expect("inside") - before >= Duration::from_secs(5));
        Ok(())
    });
    sim.run().expect("the run");
    let findings = judge(&record.borrow(), &Ending { lies: true, ..Ending::default() });
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn a_host_that_never_answers_again_meets_the_deadline() {
    let mut sim = sim(1, Duration::ZERO);
    sim.client("editor", async move {
        let mut editor = Editor::connect(Record::default()).await;
        turmoil::hold("adapter", "muse");
        let id = editor.prompt("hello").await;
        let answer = editor.answer(id).await;
        assert_eq!(answer["error"]["data"]["failure"]["kind"], "deadlineExceeded");
        Ok(())
    });
    sim.run().expect("the run");
}

#[test]
fn a_host_that_crashes_in_the_middle_of_a_turn_is_reported_and_replaced() {
    let mut sim = sim(3, Duration::from_millis(2));
    let answers = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&answers);
    sim.client("editor", async move {
        let mut editor = Editor::connect(Record::default()).await;
        for text in ["wait", "hello"] {
            let id = editor.prompt(text).await;
            let answer = editor.answer(id).await;
            seen.borrow_mut().push(answer);
        }
        Ok(())
    });
    // Long after the acknowledgement of the turn that never ends.
    while sim.elapsed() < Duration::from_secs(2) {
        assert!(!sim.step().expect("a step"), "the first prompt waits");
    }
    sim.crash("muse");
    sim.bounce("muse");
    sim.run().expect("the run");
    let answers = answers.borrow();
    assert_eq!(answers[0]["error"]["data"]["failure"]["kind"], "terminalUnknown");
    assert_eq!(answers[1]["result"]["stopReason"], "end_turn");
}
