//! `scenario chat` against a stand-in agent, over pipes in memory and on a paused clock: the same
//! loop as in the program, without processes and without a terminal.

use std::io::{self, Write};
use std::time::Duration;

use scenarios::chat::conversation::{Conversation, Ending, Settings};
use scenarios::chat::lines::{Line, Lines};
use scenarios::chat::render::Style;
use scenarios::chat::terminal::{Signal, Typed};
use scenarios::chat::wiring::{self, Bounds, Ends};
use scenarios::cli::Approve;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::mpsc;

/// The agent's side: a script in code.
struct Agent {
    read: Lines<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
}

impl Agent {
    /// The next frame; it must have this method.
    async fn expect(&mut self, method: &str) -> Value {
        let frame = self.next().await.expect("a frame");
        assert_eq!(frame["method"], method, "{frame}");
        frame
    }

    async fn next(&mut self) -> Option<Value> {
        match self.read.next().await.expect("memory") {
            Some(Line::Whole(line)) => Some(serde_json::from_slice(&line).expect("JSON")),
            None => None,
            other => panic!("{other:?}"),
        }
    }

    async fn send(&mut self, frame: &Value) {
        let mut frame = frame.clone();
        frame["jsonrpc"] = "2.0".into();
        self.send_raw(&format!("{frame}\n")).await;
    }

    async fn send_raw(&mut self, text: &str) {
        // The conversation may have ended on an earlier line of the script.
        let _ = self.write.write_all(text.as_bytes()).await;
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        self.send(&json!({"id": request["id"], "result": result})).await;
    }

    async fn update(&mut self, update: Value) {
        let params = json!({"sessionId": "s1", "update": update});
        self.send(&json!({"method": "session/update", "params": params})).await;
    }

    async fn say(&mut self, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(json!({"sessionUpdate": "agent_message_chunk", "content": content})).await;
    }

    /// Answers up to the first prompt and returns that.
    async fn open(&mut self) -> Value {
        let hello = self.expect("initialize").await;
        let capabilities = json!({"sessionCapabilities": {"close": {}}});
        let result = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
        self.answer(&hello, result).await;
        let new = self.expect("session/new").await;
        self.answer(&new, json!({"sessionId": "s1"})).await;
        self.expect("session/prompt").await
    }

    async fn end_turn(&mut self, prompt: &Value, reason: &str) {
        self.answer(prompt, json!({"stopReason": reason})).await;
        let close = self.expect("session/close").await;
        assert_eq!(close["params"], json!({"sessionId": "s1"}));
        self.answer(&close, json!({})).await;
    }

    async fn ask(&mut self) -> Value {
        self.send(&json!({"id": 7, "method": "session/request_permission", "params": {
            "sessionId": "s1", "toolCall": {"toolCallId": "t1", "kind": "execute", "title": "ls"},
            "options": [{"optionId": "always", "name": "Always", "kind": "allow_always"},
                        {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
                        {"optionId": "no", "name": "Reject", "kind": "reject_once"}]}}))
            .await;
        let answer = self.next().await.expect("an answer");
        assert_eq!(answer["id"], 7);
        answer["result"]["outcome"].clone()
    }
}

/// What the person sees of it, and how it ended.
struct Seen {
    out: String,
    err: String,
    ending: Ending,
}

/// The person's side.
struct Person {
    typed: mpsc::Sender<String>,
    signals: mpsc::Sender<Signal>,
}

struct Chat {
    approve: Approve,
    bounds: Bounds,
    verbose: bool,
}

impl Default for Chat {
    fn default() -> Self {
        let bounds = Bounds { run: None, show_frames: false };
        Self { approve: Approve::Deny, bounds, verbose: false }
    }
}

impl Chat {
    /// Holds a chat of one turn, with both sides' scripts running beside it.
    async fn hold<F: Future<Output = ()>>(self, script: impl FnOnce(Agent, Person) -> F) -> Seen {
        let (ending, out, err) = self.hold_before(Vec::new(), script).await;
        Seen { out: String::from_utf8(out).expect("UTF-8"), err, ending }
    }

    /// The same, with what is shown going to `out`.
    async fn hold_before<O: Write, F: Future<Output = ()>>(
        self,
        out: O,
        script: impl FnOnce(Agent, Person) -> F,
    ) -> (Ending, O, String) {
        // Small, so that neither side can rely on a buffer.
        let (ours, theirs) = duplex(64);
        let (read, write) = split(ours);
        let (agent_read, agent_write) = split(theirs);
        let agent = Agent { read: Lines::new(agent_read, wiring::LINE_MAX), write: agent_write };
        let (typed_sender, typed) = mpsc::channel(8);
        let (signal_sender, signals) = mpsc::channel(8);
        let person = Person { typed: typed_sender, signals: signal_sender };
        let mut ends = Ends {
            from_agent: Lines::new(read, wiring::LINE_MAX),
            to_agent: write,
            typed: Typed::new(typed, false),
            signals,
            out,
            err: Vec::new(),
        };
        let mut conversation = Conversation::new(Settings {
            prompt: Some("hello".into()),
            cwd: "/w".into(),
            approve: self.approve,
            live: false,
            verbose: self.verbose,
            style: Style::Plain,
        });
        let chat = async move {
            let ending = wiring::converse(&mut conversation, &mut ends, self.bounds).await;
            // The rest of `ends` is dropped here: the script sees that the chat is over.
            (ending, ends.out, ends.err)
        };
        let ((ending, out, err), ()) = tokio::join!(chat, script(agent, person));
        (ending, out, String::from_utf8(err).expect("UTF-8"))
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_streamed_and_the_session_closed() {
    let seen = Chat::default()
        .hold(async |mut agent: Agent, _person| {
            let prompt = agent.open().await;
            let expected = json!([{"type": "text", "text": "hello"}]);
            assert_eq!(prompt["params"]["prompt"], expected);
            agent.say("Hel").await;
            agent.say("lo \x1b[31myou").await;
            agent.update(json!({"sessionUpdate": "weather_update"})).await;
            agent.end_turn(&prompt, "end_turn").await;
        })
        .await;

    assert_eq!(seen.out, "Hello ␛[31myou\n");
    assert_eq!(seen.err, "");
    assert_eq!(seen.ending, Ending { code: 0, agent_at_fault: false });
}

#[tokio::test(start_paused = true)]
async fn frames_and_what_was_left_out_are_shown_on_request() {
    let bounds = Bounds { run: None, show_frames: true };
    let seen = Chat { bounds, verbose: true, ..Chat::default() }
        .hold(async |mut agent: Agent, _person| {
            let prompt = agent.open().await;
            agent.update(json!({"sessionUpdate": "weather_update"})).await;
            agent.send(&json!({"id": "f", "method": "fs/read_text_file", "params": {}})).await;
            assert_eq!(agent.next().await.expect("a refusal")["error"]["code"], -32601);
            agent.end_turn(&prompt, "end_turn").await;
        })
        .await;

    let shown = |arrow: &str, part: &str| {
        seen.err.lines().any(|line| line.starts_with(arrow) && line.contains(part))
    };
    assert!(shown("-> {", "\"initialize\""), "{}", seen.err);
    assert!(shown("<- {", "\"protocolVersion\":1"), "{}", seen.err);
    assert!(seen.err.contains("scenario: ignored update weather_update\n"), "{}", seen.err);
    assert!(seen.err.contains("scenario: refused request fs/read_text_file\n"), "{}", seen.err);
}

#[tokio::test(start_paused = true)]
async fn a_policy_answers_for_this_once_only() {
    for (approve, option) in [(Approve::Allow, "once"), (Approve::Deny, "no")] {
        let seen = Chat { approve, ..Chat::default() }
            .hold(async |mut agent: Agent, _person| {
                let prompt = agent.open().await;
                let outcome = agent.ask().await;
                assert_eq!(outcome, json!({"outcome": "selected", "optionId": option}));
                agent.end_turn(&prompt, "end_turn").await;
            })
            .await;
        assert!(seen.out.starts_with("? execute: ls\n"), "{}", seen.out);
    }
}

#[tokio::test(start_paused = true)]
async fn a_person_answers_with_a_number() {
    let seen = Chat { approve: Approve::Ask, ..Chat::default() }
        .hold(async |mut agent: Agent, person: Person| {
            let prompt = agent.open().await;
            person.typed.try_send("9".into()).expect("room");
            person.typed.try_send("1".into()).expect("room");
            let outcome = agent.ask().await;
            assert_eq!(outcome, json!({"outcome": "selected", "optionId": "always"}));
            agent.end_turn(&prompt, "end_turn").await;
        })
        .await;

    assert_eq!(seen.out.matches("answer with 1-3, y or n: ").count(), 2, "{}", seen.out);
}

#[tokio::test(start_paused = true)]
async fn nobody_to_ask_means_cancelled() {
    let seen = Chat { approve: Approve::Ask, ..Chat::default() }
        .hold(async |mut agent: Agent, person: Person| {
            let prompt = agent.open().await;
            drop(person.typed);
            assert_eq!(agent.ask().await, json!({"outcome": "cancelled"}));
            agent.end_turn(&prompt, "end_turn").await;
        })
        .await;
    assert_eq!(seen.ending.code, 0);
}

#[tokio::test(start_paused = true)]
async fn ctrl_c_cancels_and_the_answer_is_waited_for() {
    let seen = Chat::default()
        .hold(async |mut agent: Agent, person: Person| {
            let prompt = agent.open().await;
            person.signals.try_send(Signal::Interrupt).expect("room");
            assert_eq!(agent.expect("session/cancel").await["params"], json!({"sessionId": "s1"}));
            agent.say("stopping").await;
            agent.end_turn(&prompt, "cancelled").await;
        })
        .await;

    assert_eq!(seen.out, "stopping\n");
    assert_eq!(seen.err, "scenario: cancelling; Ctrl-C again to end\nscenario: cancelled\n");
    assert_eq!(seen.ending.code, 130);
}

#[tokio::test(start_paused = true)]
async fn a_second_ctrl_c_ends_with_an_agent_that_does_not_answer() {
    let seen = Chat::default()
        .hold(async |mut agent: Agent, person: Person| {
            agent.open().await;
            person.signals.try_send(Signal::Interrupt).expect("room");
            agent.expect("session/cancel").await;
            person.signals.try_send(Signal::Interrupt).expect("room");
            agent.expect("session/close").await;
            // Silent from here on; the pipes stay open until the chat has ended.
            person.signals.closed().await;
        })
        .within_a_minute()
        .await;
    assert_eq!(seen.ending.code, 130);
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_ends_a_silent_agent() {
    let bounds = Bounds { run: Some(Duration::from_secs(5)), show_frames: false };
    let seen = Chat { bounds, ..Chat::default() }
        .hold(async |mut agent: Agent, person: Person| {
            agent.open().await;
            agent.expect("session/cancel").await;
            agent.expect("session/close").await;
            person.signals.closed().await;
        })
        .within_a_minute()
        .await;
    assert_eq!(seen.err, "scenario: the time of --timeout is over\n");
    assert_eq!(seen.ending.code, 130);
}

#[tokio::test(start_paused = true)]
async fn a_failed_turn_says_what_to_do() {
    let seen = Chat::default()
        .hold(async |mut agent: Agent, _person| {
            let prompt = agent.open().await;
            let failure = json!({"kind": "modelError", "source": "provider", "recovery": "Wait."});
            let error =
                json!({"code": -32603, "message": "no model", "data": {"failure": failure}});
            agent.send(&json!({"id": prompt["id"], "error": error})).await;
            let close = agent.expect("session/close").await;
            agent.answer(&close, json!({})).await;
        })
        .await;

    let expected = "\
scenario: the turn failed: no model (code -32603)
  kind: modelError, source provider
  what to do: Wait.
";
    assert_eq!(seen.err, expected);
    assert_eq!(seen.ending, Ending { code: 1, agent_at_fault: false });
}

#[tokio::test(start_paused = true)]
async fn the_death_of_the_agent_is_told_from_an_end() {
    let seen = Chat::default()
        .hold(async |mut agent: Agent, _person| {
            agent.open().await;
            agent.say("I was about to").await;
        })
        .await;
    assert_eq!(seen.out, "I was about to\n");
    assert_eq!(seen.err, "scenario: the agent ended while it was needed\n");
    assert_eq!(seen.ending, Ending { code: 3, agent_at_fault: true });
}

#[tokio::test(start_paused = true)]
async fn a_malformed_line_is_named_by_its_number() {
    for (line, problem) in [
        ("Segmentation fault\n", "not JSON"),
        ("{\"jsonrpc\":\"2.0\",\"id\":3,\"result", "it ends in the middle of a frame"),
        ("[1]\n", "not a JSON-RPC 2.0 object"),
    ] {
        let seen = Chat::default()
            .hold(async |mut agent: Agent, _person| {
                agent.open().await;
                agent.send_raw(line).await;
            })
            .await;
        let start =
            format!("scenario: the agent broke the protocol: line 3 from the agent: {problem}");
        assert!(seen.err.starts_with(&start), "{}", seen.err);
        assert_eq!(seen.ending, Ending { code: 3, agent_at_fault: true });
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_floods_while_we_write_cannot_block_us() {
    // Both directions hold 64 bytes. The agent reads nothing until it has said all it has to say.
    let seen = Chat::default()
        .hold(async |mut agent: Agent, _person| {
            let prompt = agent.open().await;
            for id in 0..50 {
                agent.send(&json!({"id": id, "method": "terminal/create", "params": {}})).await;
            }
            for id in 0..50 {
                assert_eq!(agent.next().await.expect("a refusal")["id"], id);
            }
            agent.end_turn(&prompt, "end_turn").await;
        })
        .await;
    assert_eq!(seen.ending.code, 0);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_went_away_ends_it_in_good_order_and_is_told_once() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let (ending, _, err) = Chat::default()
        .hold_before(Gone, async |mut agent: Agent, _person| {
            agent.open().await;
            agent.say("nobody reads this").await;
            agent.expect("session/cancel").await;
            let close = agent.expect("session/close").await;
            agent.answer(&close, json!({})).await;
        })
        .await;
    assert_eq!(err, "scenario: standard output is closed\n");
    assert_eq!(ending, Ending { code: 130, agent_at_fault: false });
}

trait WithinAMinute: Future + Sized {
    /// The clock is paused and advances only when everything waits, so the bound costs no time.
    async fn within_a_minute(self) -> Self::Output {
        let within = tokio::time::timeout(Duration::from_secs(60), self).await;
        within.expect("an end within its bounds")
    }
}

impl<F: Future> WithinAMinute for F {}
