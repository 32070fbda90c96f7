//! The smallest editor that can time an agent: blocking reads, one thread, nothing kept.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::proc::Process;

/// An agent that runs.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    next_id: u64,
}

impl Client {
    /// Starts an agent and takes the time until it has answered `initialize`.
    pub(crate) fn start(mut command: Command) -> (Self, Duration) {
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the agent starts");
        let mut client = Self {
            stdin: child.stdin.take(),
            stdout: BufReader::with_capacity(64 * 1024, child.stdout.take().expect("piped")),
            child,
            line: Vec::new(),
            next_id: 0,
        };
        client.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
        (client, started.elapsed())
    }

    pub(crate) fn process(&self) -> Process {
        Process(self.child.id())
    }

    pub(crate) fn new_session(&mut self, workspace: &Path) -> String {
        let result = self.call("session/new", &json!({"cwd": workspace, "mcpServers": []}));
        result["sessionId"].as_str().expect("a session id").to_owned()
    }

    /// Sends a prompt and does not read.
    pub(crate) fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.send("session/prompt", &json!({"sessionId": session, "prompt": prompt}))
    }

    /// Sends a prompt and hands every text chunk, as a raw line, to `on_chunk`, until the prompt ends.
    pub(crate) fn prompt(&mut self, session: &str, text: &str, mut on_chunk: impl FnMut(&[u8])) {
        let id = self.send_prompt(session, text);
        let answer = self.read_until_answer(id, |line| {
            if find(line, b"\"agent_message_chunk\"") {
                on_chunk(line);
            }
        });
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    }

    /// Sends a prompt, hands every question, as a raw line, to `on_question` and allows it once.
    pub(crate) fn prompt_allowing(
        &mut self,
        session: &str,
        text: &str,
        mut on_question: impl FnMut(&[u8]),
    ) {
        let id = self.send_prompt(session, text);
        loop {
            let frame = self.read(|_| {});
            if frame["method"] == "session/request_permission" {
                on_question(&self.line);
                self.allow(&frame);
            } else if frame["id"] == id {
                assert_eq!(frame["result"]["stopReason"], "end_turn", "{frame}");
                return;
            }
        }
    }

    /// Reads until all these prompts are answered and returns how many text chunks came.
    pub(crate) fn finish(&mut self, mut prompts: Vec<u64>) -> usize {
        let mut chunks = 0;
        while !prompts.is_empty() {
            let frame = self.read(|line| {
                chunks += usize::from(find(line, b"\"agent_message_chunk\""));
            });
            prompts.retain(|id| frame["id"] != *id);
            assert!(frame.get("error").is_none(), "{frame}");
        }
        chunks
    }

    fn allow(&mut self, question: &Value) {
        let options = question["params"]["options"].as_array().expect("options");
        let once = options.iter().find(|option| option["kind"] == "allow_once").expect("once");
        let outcome = json!({"outcome": "selected", "optionId": once["optionId"]});
        let frame = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"outcome": outcome}});
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(format!("{frame}\n").as_bytes()).expect("the agent reads");
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let mut answer = self.read_until_answer(id, |_| {});
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].take()
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let frame =
            json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(format!("{frame}\n").as_bytes()).expect("the agent reads");
        self.next_id
    }

    fn read_until_answer(&mut self, id: u64, mut on_update: impl FnMut(&[u8])) -> Value {
        loop {
            let frame = self.read(&mut on_update);
            if frame["id"] == id && frame.get("method").is_none() {
                return frame;
            }
        }
    }

    /// The next frame that is not an update; its line stays in `self.line`.
    fn read(&mut self, mut on_update: impl FnMut(&[u8])) -> Value {
        loop {
            self.line.clear();
            let length = self.stdout.read_until(b'\n', &mut self.line).expect("readable");
            assert_ne!(length, 0, "the agent ended");
            // An update begins with its method and is far more frequent than anything else.
            if find(&self.line[..length.min(80)], b"\"session/update\"") {
                on_update(&self.line);
                continue;
            }
            return serde_json::from_slice(&self.line).expect("a frame");
        }
    }

    /// Ends the agent the way an editor does, and waits for it.
    pub(crate) fn close(mut self) {
        self.stdin = None;
        // What is still on its way must be read, or the agent waits for room.
        let _ = std::io::copy(&mut self.stdout, &mut std::io::sink());
        self.child.wait().expect("the agent ends");
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
