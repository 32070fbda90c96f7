//! The binary as a process, with waits that end: on an event, or with a message after [`BOUND`].

#![allow(dead_code, reason = "each test binary uses a part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a test waits for something that must happen. Only a failing test waits so long.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"t","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"initialized"}"#;

/// The binary with nothing of the surrounding environment that it would listen to.
pub(crate) fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-msp"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in fake_msp::cli::ENVIRONMENT {
        command.env_remove(name);
    }
    command
}

/// What a process left behind.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub(crate) fn frames(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Runs to the end with this stdin.
pub(crate) fn run(args: &[&str], stdin: &[u8]) -> Done {
    let mut live = Live::start(args);
    live.write(stdin);
    live.finish()
}

/// A live process. Its output is read all the time, unless the test wants to be a client that never
/// reads.
pub(crate) struct Live {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Receiver<String>,
}

impl Live {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::spawn(program(args))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let stdin = child.stdin.take();
        Self { child, stdin, lines: pump(stdout), stderr: pump(stderr) }
    }

    /// A process that ends does not read: that is the test's outcome, not an error.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The next line of stdout; `None` at its end.
    pub(crate) fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(BOUND) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line and no end within {BOUND:?}"),
        }
    }

    pub(crate) fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.line().expect("the frame comes before the end");
            let frame = serde_json::from_str(&line).expect(&line);
            if wanted(&frame) {
                return frame;
            }
        }
    }

    /// The next line of stderr.
    pub(crate) fn complaint(&self) -> String {
        self.stderr.recv_timeout(BOUND).expect("a line on stderr")
    }

    /// Handshake, session, prompt.
    pub(crate) fn prompt(&mut self, prompt: &str) {
        let command = |n: u8| format!("0199aaaa-0000-7000-8000-{n:012}");
        self.say(INITIALIZE);
        self.say(INITIALIZED);
        self.say(
            &json!({ "jsonrpc": "2.0", "id": 2, "method": "session/start",
                "params": { "commandId": command(1) } })
            .to_string(),
        );
        let session = self.until(|f| f["id"] == 2)["result"]["session"]["sessionId"].clone();
        let input = json!([{ "type": "text", "text": prompt }]);
        self.say(
            &json!({ "jsonrpc": "2.0", "id": 3, "method": "turn/start", "params": {
                "commandId": command(2), "sessionId": session, "input": input } })
            .to_string(),
        );
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn finish(mut self) -> Done {
        self.close_stdin();
        let collect = |lines: &Receiver<String>| {
            let mut text = String::new();
            loop {
                match lines.recv_timeout(BOUND) {
                    Ok(line) => text.push_str(&line),
                    Err(RecvTimeoutError::Disconnected) => return Some(text),
                    Err(RecvTimeoutError::Timeout) => return None,
                }
                text.push('\n');
            }
        };
        let (stdout, stderr) = (collect(&self.lines), collect(&self.stderr));
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            let _ = self.child.kill();
            panic!("the process does not end within {BOUND:?}");
        };
        // Both pipes have ended, and only the end of the process ends them.
        Done { status: self.child.wait().unwrap(), stdout, stderr }
    }

    /// Goes away without reading what is left, and waits for the end.
    pub(crate) fn leave(self) -> ExitStatus {
        let Self { mut child, stdin, lines, stderr } = self;
        drop((stdin, lines));
        while stderr.recv_timeout(BOUND).is_ok() {}
        child.wait().unwrap()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Reads lines in a thread of its own, so that a wait for one can have a bound.
fn pump(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n') {
            let Ok(line) = line else { return };
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
    lines
}
