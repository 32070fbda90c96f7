//! `scenario host` and `fake-msp serve --scenario` as a client of one's own meets them: real processes.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tempfile::TempDir;

/// Nothing here takes so long on any machine.
const BOUND: Duration = Duration::from_secs(60);

const STORY: &str = r#"scenario "one good turn"
  id       SCN-STR-01

given  session ready

editor -> session/prompt as prompt
host   <- turn/start as start
host   -> ok start
host   -> turn/started
host   -> item/completed
  item.kind = "agentMessage"
  item.text = "from the story"
after  20ms
quiet
host   -> turn/completed
editor <- ok prompt

check host <- turn/start = 1
never host <- turn/cancel
"#;

struct Client {
    folder: TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    commands: u32,
}

impl Client {
    fn of(story: &str, words: &[&str]) -> Self {
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("story.scn"), story).expect("written");
        let link = folder.path().join("fake-msp");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_scenario"), &link).expect("a link");
        let mut command = Command::new(link);
        command.args(["serve", "--scenario", "story.scn"]).args(words);
        Self::start(command, folder)
    }

    fn start(mut command: Command, folder: TempDir) -> Self {
        let mut child = command
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let stdout = child.stdout.take().expect("piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { folder, child, stdin, lines, commands: 0 }
    }

    fn say(&mut self, frame: &str) {
        let stdin = self.stdin.as_mut().expect("open");
        writeln!(stdin, "{frame}").expect("read");
    }

    fn hear(&self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(BOUND).expect("the host says it");
            if line.contains(part) {
                return line;
            }
        }
    }

    fn open(&mut self) {
        self.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"}}}"#);
        self.hear(r#""id":1"#);
        self.say(r#"{"jsonrpc":"2.0","method":"initialized"}"#);
        let id = "01900000-0000-7000-8000-00000000000a";
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"session/start","params":{{"commandId":"{id}","sessionId":"{id}","workspaceRoot":"/w"}}}}"#
        ));
        self.hear(r#""id":2"#);
    }

    fn prompt(&mut self, text: &str) {
        let session = "01900000-0000-7000-8000-00000000000a";
        self.commands += 1;
        let id = format!("01900000-0000-7000-8000-1{:011}", self.commands);
        let input = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"turn/start","params":{{"commandId":"{id}","sessionId":"{session}","input":{input}}}}}"#
        ));
    }

    fn leave(mut self) -> Output {
        drop(self.stdin.take());
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().expect("piped");
        pipe.read_to_string(&mut stderr).expect("utf-8");
        let status = self.child.wait().expect("ended");
        drop(self.folder);
        Output { status, stdout: Vec::new(), stderr: stderr.into_bytes() }
    }
}

fn ended(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_client_of_ones_own_meets_the_host_of_the_story() {
    let mut client = Client::of(STORY, &["--strict"]);
    client.open();
    client.prompt("hi");
    client.hear("from the story");
    client.hear("turn/completed");
    assert_eq!(ended(&client.leave()), (Some(0), String::new()));
}

#[test]
fn a_client_that_does_not_do_its_part_is_told_which_line() {
    let mut client = Client::of(STORY, &[]);
    client.open();
    let (code, said) = ended(&client.leave());
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("the client departed from the story"), "{said}");
    assert!(said.contains("story.scn:7") && said.contains("host   <- turn/start"), "{said}");
}

#[test]
fn a_client_that_asks_again_departs() {
    let mut client = Client::of(STORY, &[]);
    client.open();
    client.prompt("hi");
    client.hear("turn/completed");
    client.prompt("again");
    let (code, said) = ended(&client.leave());
    assert_eq!(code, Some(6), "{said}");
    assert!(said.contains("no line expects"), "{said}");
}

#[test]
fn a_broken_rule_counts_under_strict() {
    let mut client = Client::of(STORY, &["--strict"]);
    client.open();
    client.say(r#"{"jsonrpc":"2.0","id":9,"method":"session/read","params":{}}"#);
    client.hear(r#""id":9"#);
    client.prompt("hi");
    client.hear("turn/completed");
    let (code, said) = ended(&client.leave());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("broke a rule"), "{said}");
}

#[test]
fn what_cannot_be_played_is_refused_by_name() {
    let second = STORY.replace("host   -> turn/started", "host2  -> turn/started");
    let broken = STORY.replace("turn/completed", "turn/complete");
    for (story, reason) in [(second.as_str(), "second host"), (broken.as_str(), "turn/complete")] {
        let (code, said) = ended(&Client::of(story, &[]).leave());
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains(reason), "{said}");
    }
    let (code, said) = ended(&Client::of(STORY, &["--at", "race9=BA"]).leave());
    assert_eq!(code, Some(3), "{said}");
    let (code, said) = ended(&Client::of(STORY, &["--store", "x"]).leave());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("leave --store out"), "{said}");
}

#[test]
fn fake_msp_alone_says_whom_it_needs() {
    let folder = TempDir::new().expect("a folder");
    let alone: PathBuf = folder.path().join("fake-msp");
    std::fs::copy(Path::new(env!("CARGO_BIN_EXE_scenario")), &alone).expect("a copy");
    std::fs::write(folder.path().join("story.scn"), STORY).expect("written");
    let mut command = Command::new(alone);
    command.args(["serve", "--scenario", "story.scn"]);
    let (code, said) = ended(&Client::start(command, folder).leave());
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("needs the executable `scenario` beside this one"), "{said}");
}
