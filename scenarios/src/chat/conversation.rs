//! The conversation of one person with one agent, as a pure state machine.
//!
//! ```text
//! Opening ─ session/new answered ─► Idle ◄─ prompt answered ─ Turn
//!    │                              │ └───── a prompt ─────────► │
//!    └── failed, interrupted ──┐    │ end                        │ interrupted twice
//!                              ▼    ▼                            ▼
//!                            Ended ◄── answered, late ── Closing
//! ```
//! Inputs: [`Input`], one at a time. Outputs: [`Output`], in order, until `None`. Invariants: at
//! most one question is open to the person; every permission request is answered once, with
//! `cancelled` when nobody may decide any more; the first cause of the end decides the exit code.
//! It does not know pipes, processes, terminals or clocks.

mod questions;

use std::collections::VecDeque;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::client::{Call, Client, Event, ProtocolError, RpcError};
use super::permission::Question;
use super::render::{self, Renderer, Style};
use super::safe;
use super::update::Update;
use crate::cli::Approve;

/// Exit codes of `scenario chat`.
pub mod exit {
    /// The turn ended.
    pub const END_TURN: u8 = 0;
    /// The turn ended with an error.
    pub const FAILED: u8 = 1;
    /// No agent, or it broke the protocol.
    pub const NO_AGENT: u8 = 3;
    /// The turn ended early.
    pub const EARLY: u8 = 4;
    /// Cancelled or interrupted.
    pub const INTERRUPTED: u8 = 130;
}

/// What happens to a conversation.
#[derive(Debug)]
pub enum Input {
    /// A line from the agent.
    Line(Vec<u8>),
    /// A line from the agent that could not be read: what was wrong.
    Unreadable(String),
    /// The agent closed its output, or takes no input any more.
    AgentGone,
    /// The person entered a line. Only while [`Conversation::wants`] one.
    Typed(String),
    /// The person will enter no more lines.
    TypedEnd,
    /// Ctrl-C.
    Interrupt,
    /// Everything must end now, for this reason.
    Stop(&'static str),
    /// The time for closing is over.
    CloseDeadline,
}

/// What a conversation does, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this to the agent.
    Frame(String),
    /// Show this on stdout as it is.
    Print(String),
    /// Say this line on stderr.
    Note(String),
}

/// A line of the person that the conversation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// None now.
    Nothing,
    /// The next prompt.
    Prompt,
    /// An answer to the open question.
    Answer,
}

/// How a conversation is held.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The only prompt, or `None` for an interactive conversation.
    pub prompt: Option<String>,
    /// Absolute working directory.
    pub cwd: PathBuf,
    /// Who answers permission questions.
    pub approve: Approve,
    /// Somebody watches: prompts are shown and notes start on a line of their own.
    pub live: bool,
    /// Name what is left out.
    pub verbose: bool,
    /// Decoration of what is shown.
    pub style: Style,
}

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Exit code.
    pub code: u8,
    /// The agent died or broke the protocol: its last words are of interest.
    pub agent_at_fault: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Conversation {
    settings: Settings,
    client: Client,
    renderer: Renderer,
    outputs: VecDeque<Output>,
    phase: Phase,
    session: Option<String>,
    can_close: bool,
    one_turn: bool,
    typed_ended: bool,
    questions_asked: u64,
    code: u8,
}

#[derive(Debug)]
enum Phase {
    Opening,
    Idle,
    Turn { cancelling: bool, questions: VecDeque<(Value, Question)> },
    Closing,
    Ended(Ending),
}

impl Conversation {
    /// Starts: the first frame waits in [`Conversation::poll_output`].
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let mut client = Client::default();
        client.call(Call::Initialize, &initialize_params());
        Self {
            renderer: Renderer::new(settings.style),
            one_turn: settings.prompt.is_some(),
            settings,
            client,
            outputs: VecDeque::new(),
            phase: Phase::Opening,
            session: None,
            can_close: false,
            typed_ended: false,
            questions_asked: 0,
            code: exit::END_TURN,
        }
    }

    /// Takes one input. Outputs, [`Conversation::wants`] and [`Conversation::ending`] may change.
    pub fn handle(&mut self, input: Input) {
        if let Phase::Ended(_) = self.phase {
            return; // first cause wins
        }
        match input {
            Input::Line(line) => match self.client.on_line(&line) {
                Ok(event) => self.on_event(event),
                Err(error) => self.on_protocol_error(&error),
            },
            Input::Unreadable(problem) => {
                let error = self.client.unreadable(problem);
                self.on_protocol_error(&error);
            }
            Input::AgentGone => self.on_agent_gone(),
            Input::Typed(line) => self.on_typed(&line),
            Input::TypedEnd => self.on_typed_end(),
            Input::Interrupt => self.on_interrupt(),
            Input::Stop(reason) => {
                self.note(reason);
                self.stop();
            }
            Input::CloseDeadline => self.end(self.code, false),
        }
    }

    /// The next effect. Call until `None` after every other method.
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output> {
        // Frames and text go to different places, so their relative order does not matter.
        let frame = self.client.poll_frame().map(Output::Frame);
        frame.or_else(|| self.outputs.pop_front())
    }

    /// Which line of the person is waited for.
    #[must_use]
    pub fn wants(&self) -> Want {
        match &self.phase {
            Phase::Idle => Want::Prompt,
            Phase::Turn { questions, .. } if !questions.is_empty() => Want::Answer,
            _ => Want::Nothing,
        }
    }

    /// How many questions were put to the person: a line typed before the latest one was shown is
    /// no answer to it.
    #[must_use]
    pub fn questions_asked(&self) -> u64 {
        self.questions_asked
    }

    /// Whether only the answer to `session/close` is waited for: give it a bounded time.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing)
    }

    /// How it ended, once it has.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        match self.phase {
            Phase::Ended(ending) => Some(ending),
            _ => None,
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Blank => {}
            Event::Note(text) => self.detail(&text),
            Event::Update { session, update } => self.on_update(&session, &update),
            Event::Permission { id, session, question } => {
                self.on_permission(id, &session, question);
            }
            Event::Answered(Call::Initialize, Ok(result)) => self.on_initialized(&result),
            Event::Answered(Call::NewSession, Ok(result)) => self.on_session(&result),
            Event::Answered(call @ (Call::Initialize | Call::NewSession), Err(error)) => {
                self.note(&render::failure(&format!("{} failed", call.method()), &error));
                self.end(exit::NO_AGENT, false);
            }
            Event::Answered(Call::Prompt, answer) => self.on_prompt_answered(&answer),
            Event::Answered(Call::CloseSession, answer) => {
                if let Err(error) = answer {
                    self.detail(&render::failure("session/close failed", &error));
                }
                self.end(self.code, false);
            }
        }
    }

    fn on_initialized(&mut self, result: &Value) {
        if result["protocolVersion"] != PROTOCOL_VERSION {
            let found = safe::line(&result["protocolVersion"].to_string(), WORD_MAX);
            self.note(&format!("the agent speaks protocol version {found}, not version 1"));
            return self.end(exit::NO_AGENT, false);
        }
        self.can_close = result["agentCapabilities"]["sessionCapabilities"]["close"].is_object();
        if matches!(self.phase, Phase::Opening) {
            let params = json!({"cwd": self.settings.cwd, "mcpServers": []});
            self.client.call(Call::NewSession, &params);
        }
    }

    fn on_session(&mut self, result: &Value) {
        let Some(id) = result["sessionId"].as_str() else {
            self.note("the answer to session/new has no sessionId");
            return self.end(exit::NO_AGENT, true);
        };
        self.session = Some(id.to_owned());
        match self.settings.prompt.take() {
            Some(prompt) => self.start_turn(&prompt),
            None => self.become_idle(),
        }
    }

    fn on_update(&mut self, session: &str, update: &Update) {
        if self.session.as_deref().is_some_and(|mine| mine != session) {
            return self.detail("ignored an update of another session");
        }
        if let Update::Other(kind) = update {
            return self.detail(&format!("ignored update {kind}"));
        }
        let text = self.renderer.update(update);
        if !text.is_empty() {
            self.print(text);
            self.show_prompt();
        }
    }

    fn on_prompt_answered(&mut self, answer: &Result<Value, RpcError>) {
        if !matches!(self.phase, Phase::Turn { .. }) {
            return; // late: closing has begun, for a reason that stands
        }
        // A question that is still open is void with its turn, but not without an answer.
        self.cancel_questions();
        let text = self.renderer.turn_end();
        self.print(text);
        self.code = match answer {
            Ok(result) => match result["stopReason"].as_str() {
                Some("end_turn") => exit::END_TURN,
                Some("cancelled") => {
                    self.note("cancelled");
                    exit::INTERRUPTED
                }
                Some(other) => {
                    self.note(&format!("the turn ended early: {}", safe::line(other, WORD_MAX)));
                    exit::EARLY
                }
                None => {
                    self.note("the answer to session/prompt has no stopReason");
                    return self.end(exit::NO_AGENT, true);
                }
            },
            Err(error) => {
                self.note(&render::failure("the turn failed", error));
                exit::FAILED
            }
        };
        self.become_idle();
    }

    fn on_typed(&mut self, line: &str) {
        if self.settings.live {
            self.renderer.line_was_entered(); // the terminal has echoed the line and its end
        }
        match self.wants() {
            Want::Prompt => match line.trim() {
                "" => self.show_prompt(),
                "/quit" => self.close(),
                prompt => self.start_turn(prompt),
            },
            Want::Answer => self.on_answer(line),
            Want::Nothing => {} // obsolete: what it answered is gone
        }
    }

    fn on_typed_end(&mut self) {
        self.typed_ended = true;
        match self.wants() {
            Want::Prompt => self.close(),
            Want::Answer => {
                self.note("end of input: the question is answered `cancelled`");
                self.cancel_questions();
            }
            Want::Nothing => {}
        }
    }

    fn on_interrupt(&mut self) {
        if self.settings.live {
            self.renderer.keys_were_echoed(); // as `^C`
        }
        match &mut self.phase {
            Phase::Turn { cancelling, .. } if !*cancelling => {
                *cancelling = true;
                self.cancel_turn();
                self.note("cancelling; Ctrl-C again to end");
            }
            _ => self.stop(),
        }
    }

    /// Ends as fast as politeness allows: a second call does not wait for an answer.
    fn stop(&mut self) {
        if let Phase::Turn { cancelling: false, .. } = self.phase {
            self.cancel_turn();
        }
        let was_closing = self.is_closing();
        self.code = exit::INTERRUPTED;
        self.close();
        if was_closing {
            self.end(exit::INTERRUPTED, false);
        }
    }

    fn on_agent_gone(&mut self) {
        if self.is_closing() {
            return self.end(self.code, false); // it may end as soon as it has no session
        }
        self.note("the agent ended while it was needed");
        self.end(exit::NO_AGENT, true);
    }

    fn on_protocol_error(&mut self, error: &ProtocolError) {
        self.note(&format!(
            "the agent broke the protocol: {}",
            safe::line(&error.to_string(), NOTE_MAX)
        ));
        self.end(exit::NO_AGENT, true);
    }

    fn start_turn(&mut self, prompt: &str) {
        if prompt.len() > PROMPT_MAX {
            self.note(&format!("the prompt is longer than {} MiB: not sent", PROMPT_MAX >> 20));
            self.code = exit::FAILED;
            return self.become_idle();
        }
        let content = json!([{"type": "text", "text": prompt}]);
        self.client.call(Call::Prompt, &json!({"sessionId": self.session, "prompt": content}));
        self.phase = Phase::Turn { cancelling: false, questions: VecDeque::new() };
    }

    fn become_idle(&mut self) {
        self.phase = Phase::Idle;
        if self.one_turn || self.typed_ended { self.close() } else { self.show_prompt() }
    }

    fn cancel_turn(&mut self) {
        self.client.notify("session/cancel", &json!({"sessionId": self.session}));
        self.cancel_questions();
    }

    fn close(&mut self) {
        match self.session.take() {
            Some(session) if self.can_close => {
                self.client.call(Call::CloseSession, &json!({"sessionId": session}));
                self.phase = Phase::Closing;
            }
            _ if self.is_closing() => {}
            _ => self.end(self.code, false),
        }
        let text = self.renderer.fresh_line();
        self.print(text);
    }

    fn end(&mut self, code: u8, agent_at_fault: bool) {
        self.phase = Phase::Ended(Ending { code, agent_at_fault });
        let text = self.renderer.fresh_line();
        self.print(text);
    }

    /// Shows what a typed line would be, if one is waited for.
    fn show_prompt(&mut self) {
        let text = match &self.phase {
            Phase::Idle if self.settings.live => "> ".to_owned(),
            Phase::Turn { questions, .. } => match questions.front() {
                Some((_, question)) => questions::answer_prompt(question),
                None => return,
            },
            _ => return,
        };
        let text = self.renderer.prompt(&text);
        self.print(text);
    }

    fn print(&mut self, text: String) {
        if !text.is_empty() {
            self.outputs.push_back(Output::Print(text));
        }
    }

    /// A line on stderr. What is printed on the same screen must not be torn by it; a file that
    /// stdout goes to must not get line ends that nobody sent.
    fn note(&mut self, text: &str) {
        if self.settings.live {
            let due = self.renderer.fresh_line();
            self.print(due);
        }
        self.outputs.push_back(Output::Note(safe::text(text.trim_end()).into_owned()));
    }

    fn detail(&mut self, text: &str) {
        if self.settings.verbose {
            self.note(text);
            self.show_prompt();
        }
    }
}

/// What an editor says that offers no files and no terminals.
fn initialize_params() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": false, "writeTextFile": false},
            "terminal": false,
        },
        "clientInfo": {
            "name": "scenario-chat",
            "title": "scenario chat",
            "version": env!("CARGO_PKG_VERSION"),
        },
    })
}

const PROTOCOL_VERSION: u64 = 1;
/// Bytes of a prompt. JSON makes up to six bytes of one, and a line may have 32 MiB (WIRE-5).
pub const PROMPT_MAX: usize = 4 << 20;
/// Characters of a word of the protocol in a note.
const WORD_MAX: usize = 60;
/// Characters of a note about a bad line.
const NOTE_MAX: usize = 400;

#[cfg(test)]
mod tests;
