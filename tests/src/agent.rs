//! The adapter as a child process, with an NDJSON client in front of it.
//!
//! The client keeps every byte of stdout and stderr. Frames that nobody asked for yet wait in order, so a
//! test may look for an answer first and for the updates before it later. Every wait has a bound and,
//! when it ends badly, says what it waited for and what was seen instead.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};
use tokio::sync::mpsc;

use crate::family::Family;
use crate::pipe::Pipe;
use crate::purity::impurity;
use crate::setup::Setup;

/// The bound of every wait. Generous: it only decides how long a broken run takes.
pub const BOUND: Duration = Duration::from_secs(30);

/// An adapter that runs. End it with [`Agent::finish`].
#[derive(Debug)]
pub struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    incoming: mpsc::UnboundedReceiver<Value>,
    /// Frames in order that no wait has taken yet.
    waiting: VecDeque<Value>,
    stdout: Pipe,
    stderr: Pipe,
    family: Family,
    workspace: String,
    next_id: i64,
    finished: bool,
}

/// What a run left when it ended.
#[derive(Debug)]
pub struct Record {
    /// How the adapter ended.
    pub status: ExitStatus,
    /// Every byte of stdout.
    pub stdout: Vec<u8>,
    /// Everything on stderr.
    pub stderr: String,
}

impl Record {
    /// Every frame that the adapter wrote, in order.
    ///
    /// # Panics
    /// Never after [`Agent::finish`], which has checked the lines.
    #[must_use]
    pub fn frames(&self) -> Vec<Value> {
        let lines = self.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("a checked line")).collect()
    }
}

impl Agent {
    /// Starts the adapter and shakes hands.
    pub async fn start(setup: &Setup) -> Self {
        let mut agent = Self::spawn(setup);
        agent.initialize().await;
        agent
    }

    /// Starts the adapter and says nothing yet.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn spawn(setup: &Setup) -> Self {
        let family = Family::new();
        let mut command = setup.command();
        let (name, value) = family.variable();
        command.env(name, value);
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0); // a signal to the test runner's group is not for the adapter
        let mut child = command.spawn().expect("the adapter starts");

        let (frames, incoming) = mpsc::unbounded_channel();
        let stdout = Pipe::read(child.stdout.take().expect("piped"), Some(frames));
        let stderr = Pipe::read(child.stderr.take().expect("piped"), None);
        Self {
            stdin: child.stdin.take(),
            child,
            incoming,
            waiting: VecDeque::new(),
            stdout,
            stderr,
            family,
            workspace: setup.workspace().to_string_lossy().into_owned(),
            next_id: 0,
            finished: false,
        }
    }

    // --- what the editor sends ---

    /// Writes bytes as they are. An adapter that is gone is noticed by the next wait, not here.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let Some(stdin) = &mut self.stdin else { return };
        if tokio::time::timeout(BOUND, stdin.write_all(bytes)).await.is_err() {
            self.give_up("the adapter to read", "the bound passed");
        }
    }

    /// Writes one frame.
    pub async fn send(&mut self, frame: &Value) {
        self.send_bytes(format!("{frame}\n").as_bytes()).await;
    }

    /// Sends a request and returns its id.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = json!(self.next_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// `initialize` as the smallest client sends it; returns the result.
    pub async fn initialize(&mut self) -> Value {
        let id = self.request("initialize", json!({"protocolVersion": 1})).await;
        self.result(&id).await
    }

    /// Opens a session in the setup's workspace and returns its id.
    ///
    /// # Panics
    /// When the answer has no session id.
    pub async fn new_session(&mut self) -> String {
        let params = json!({"cwd": self.workspace, "mcpServers": []});
        let id = self.request("session/new", params).await;
        let result = self.result(&id).await;
        result["sessionId"].as_str().expect("a session id").to_owned()
    }

    /// Sends a text prompt and returns the request's id.
    pub async fn begin_prompt(&mut self, session: &str, text: &str) -> Value {
        let block = json!({"type": "text", "text": text});
        self.request("session/prompt", json!({"sessionId": session, "prompt": [block]})).await
    }

    /// Sends a text prompt and waits for its result.
    pub async fn prompt(&mut self, session: &str, text: &str) -> Value {
        let id = self.begin_prompt(session, text).await;
        self.result(&id).await
    }

    /// `session/cancel`.
    pub async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId": session})).await;
    }

    /// Answers a permission request by the kind of the option, for example `allow_once`.
    ///
    /// # Panics
    /// When no such option was offered.
    pub async fn choose(&mut self, request: &Value, kind: &str) {
        let options = request["params"]["options"].as_array().expect("options");
        let option = options.iter().find(|option| option["kind"] == kind);
        let id = &option.unwrap_or_else(|| panic!("no {kind} in {options:?}"))["optionId"];
        self.respond(request, json!({"outcome": {"outcome": "selected", "optionId": id}})).await;
    }

    /// Answers a request of the adapter.
    pub async fn respond(&mut self, request: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// Closes the adapter's stdin.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal to the adapter alone.
    ///
    /// # Panics
    /// When the adapter has ended already.
    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = self.child.id().expect("the adapter runs").cast_signed();
        let pid = rustix::process::Pid::from_raw(pid).expect("a pid is not 0");
        rustix::process::kill_process(pid, signal).expect("the adapter can be signalled");
    }

    // --- what the adapter says ---

    /// Waits for the first frame, waiting or new, that fits. The others keep their order.
    ///
    /// # Panics
    /// When the bound passes or the adapter's output ends before such a frame.
    pub async fn expect(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(at).expect("just found");
        }
        let deadline = tokio::time::Instant::now() + BOUND;
        loop {
            match tokio::time::timeout_at(deadline, self.incoming.recv()).await {
                Ok(Some(frame)) if fits(&frame) => return frame,
                Ok(Some(frame)) => self.waiting.push_back(frame),
                Ok(None) => self.give_up(what, "the adapter closed its output"),
                Err(_) => self.give_up(what, "the bound passed"),
            }
        }
    }

    /// Waits for the answer to a request, whatever it says.
    pub async fn answer(&mut self, id: &Value) -> Value {
        self.expect(&format!("the answer to {id}"), |frame| {
            frame.get("method").is_none() && frame["id"] == *id
        })
        .await
    }

    /// Waits for an answer that must be a result.
    ///
    /// # Panics
    /// When it is an error.
    pub async fn result(&mut self, id: &Value) -> Value {
        let answer = self.answer(id).await;
        answer.get("result").unwrap_or_else(|| panic!("an error came: {answer}")).clone()
    }

    /// Waits for an answer that must be an error.
    ///
    /// # Panics
    /// When it is a result.
    pub async fn refusal(&mut self, id: &Value) -> Value {
        let answer = self.answer(id).await;
        answer.get("error").unwrap_or_else(|| panic!("no error came: {answer}")).clone()
    }

    /// Waits for an update of this kind and returns its `update` object.
    pub async fn update(&mut self, kind: &str) -> Value {
        let frame =
            self.expect(kind, |frame| frame["params"]["update"]["sessionUpdate"] == kind).await;
        frame["params"]["update"].clone()
    }

    /// Waits for the adapter to ask for a permission and returns the whole request.
    pub async fn permission(&mut self) -> Value {
        let method = "session/request_permission";
        self.expect(method, |frame| frame["method"] == method).await
    }

    /// Takes the `update` objects that arrived and were not waited for, in order.
    pub fn take_updates(&mut self) -> Vec<Value> {
        while let Ok(frame) = self.incoming.try_recv() {
            self.waiting.push_back(frame);
        }
        let (updates, others) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition::<VecDeque<_>, _>(|frame| frame["method"] == "session/update");
        self.waiting = others;
        updates.into_iter().map(|mut frame| frame["params"]["update"].take()).collect()
    }

    // --- the processes around it ---

    /// Command lines of the adapter, its hosts and theirs (Linux; elsewhere nothing).
    #[must_use]
    pub fn relatives(&self) -> Vec<String> {
        self.family.members()
    }

    /// Waits until the adapter has no child any more (Linux; elsewhere nothing is looked at).
    ///
    /// # Panics
    /// When one is still there after a few seconds.
    pub fn assert_alone(&self) {
        self.family.assert_only(self.child.id());
    }

    /// Ends everything but the adapter, without a warning.
    pub fn kill_hosts(&self) {
        self.family.kill_all_but(self.child.id());
    }

    // --- the end ---

    /// Closes the reading end of the adapter's stdout, as an editor that died does.
    pub async fn close_output(&mut self) {
        self.stdout.close().await;
    }

    /// Waits until the adapter has ended by itself and checks what must hold after every run: it exited
    /// with 0, no process is left, stdout is pure, and the fake host had no objection to any frame that it
    /// got (as far as the log level shows its stderr).
    ///
    /// # Panics
    /// When one of these does not hold.
    pub async fn ended(mut self) -> Record {
        self.finished = true;
        let status = self.child.wait();
        let status = tokio::time::timeout(BOUND, status).await;
        let Ok(Ok(status)) = status else { self.give_up("the adapter's end", "the bound passed") };
        self.family.assert_empty();
        // Nobody is left who could hold the pipes open, so these end.
        let (stdout, stderr) = (self.stdout.drain().await, self.stderr.drain().await);
        let record =
            Record { status, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() };
        assert_eq!(status.code(), Some(0), "exit of the adapter; stderr: {}", record.stderr);
        assert_eq!(impurity(&record.stdout), None);
        let objection = record.stderr.lines().find(|line| is_objection(line));
        assert_eq!(objection, None, "the host objects to what the adapter sent");
        record
    }

    /// Closes stdin and then checks as [`Agent::ended`] does.
    pub async fn finish(mut self) -> Record {
        self.close_input();
        self.ended().await
    }

    fn give_up(&self, what: &str, why: &str) -> ! {
        panic!(
            "{why} while waiting for {what}\n--- not yet taken: {:#?}\n--- stdout: {}\n--- stderr: {}\n\
             --- alive: {:#?}",
            self.waiting,
            self.stdout.text(),
            self.stderr.text(),
            self.family.members(),
        )
    }
}

/// Whether a line of the log is a violation that the fake host's oracle found.
fn is_objection(line: &str) -> bool {
    line.contains("fake-msp: oracle:") && !line.contains("a crossing on the wire can explain it")
}

impl Drop for Agent {
    fn drop(&mut self) {
        if !self.finished || std::thread::panicking() {
            self.family.kill();
        }
        if !std::thread::panicking() {
            assert!(self.finished, "a story ends with `finish` or `ended`, which check the run");
        }
    }
}
