//! The loop that carries bytes between an agent, a person and a [`Conversation`].
//!
//! Invariants: nothing is decided here; the conversation's outputs are performed in order; a write
//! to the agent never keeps us from reading what it says, or both could wait for each other.
//! It knows streams and the clock, and neither processes nor terminals: the tests run it over
//! pipes in memory.

use std::io::{self, Write};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::conversation::{Conversation, Ending, Input, Output};
use super::lines::{Line, Lines};
use super::safe;
use super::terminal::{Signal, Typed};

/// Everything a conversation is connected to.
#[derive(Debug)]
pub struct Ends<R, W, O, E> {
    /// Frames from the agent.
    pub from_agent: Lines<R>,
    /// Frames to the agent.
    pub to_agent: W,
    /// The person's lines.
    pub typed: Typed,
    /// The person's signals.
    pub signals: mpsc::Receiver<Signal>,
    /// The conversation.
    pub out: O,
    /// Everything beside it.
    pub err: E,
}

/// What is told about the run as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long it may take; `None` is for ever.
    pub run: Option<Duration>,
    /// Print every frame on stderr.
    pub show_frames: bool,
}

/// Runs a conversation until it has ended. The agent is left running: dropping `ends` closes its
/// stdin.
pub async fn converse<R, W, O, E>(
    conversation: &mut Conversation,
    ends: &mut Ends<R, W, O, E>,
    bounds: Bounds,
) -> Ending
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    O: Write,
    E: Write,
{
    let mut outgoing = Vec::new();
    let mut run_until = bounds.run.map(|time| Instant::now() + time);
    let mut close_until = None;
    let mut out_is_gone = false;
    loop {
        let shown = perform(conversation, ends, &mut outgoing, bounds.show_frames);
        if let Some(ending) = conversation.ending() {
            return ending;
        }
        // Told once: closing may have something to show too, and a second stop would not wait.
        if shown.is_err() && !std::mem::replace(&mut out_is_gone, true) {
            conversation.handle(Input::Stop("standard output is closed"));
            continue;
        }
        if conversation.is_closing() {
            close_until.get_or_insert(Instant::now() + CLOSE_WAIT);
        }
        ends.typed.questions_shown(conversation.questions_asked());
        let next = next_input(conversation, ends, &mut outgoing, bounds.show_frames);
        let deadline = [run_until, close_until].into_iter().flatten().min();
        let input = match deadline {
            None => next.await,
            Some(deadline) => match timeout_at(deadline, next).await {
                Ok(input) => input,
                Err(_) if close_until == Some(deadline) => Input::CloseDeadline,
                Err(_) => {
                    run_until = None;
                    Input::Stop("the time of --timeout is over")
                }
            },
        };
        conversation.handle(input);
    }
}

/// Performs what the conversation has decided. An error means that stdout is gone; frames are
/// collected nevertheless.
fn perform<R, W, O: Write, E: Write>(
    conversation: &mut Conversation,
    ends: &mut Ends<R, W, O, E>,
    outgoing: &mut Vec<u8>,
    show_frames: bool,
) -> io::Result<()> {
    let mut shown = Ok(());
    while let Some(output) = conversation.poll_output() {
        match output {
            Output::Frame(frame) => {
                if show_frames {
                    show(&mut ends.err, "->", frame.as_bytes());
                }
                outgoing.extend(frame.as_bytes());
                outgoing.push(b'\n');
            }
            Output::Print(text) => {
                if shown.is_ok() {
                    let written = ends.out.write_all(text.as_bytes());
                    shown = written.and_then(|()| ends.out.flush());
                }
            }
            // Nobody is left to be told that stderr is closed.
            Output::Note(text) => {
                let _ = writeln!(ends.err, "scenario: {text}");
            }
        }
    }
    shown
}

/// Waits for whatever comes first, writing to the agent meanwhile. Every wait in it may be dropped
/// and begun again.
async fn next_input<R, W, O, E>(
    conversation: &Conversation,
    ends: &mut Ends<R, W, O, E>,
    outgoing: &mut Vec<u8>,
    show_frames: bool,
) -> Input
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: Write,
{
    let want = conversation.wants();
    loop {
        tokio::select! {
            // Signals first: they must work while an agent floods us. Then writing, which is short
            // and lets the agent go on. Then the person, who is seldom ready. The agent last.
            biased;
            Some(signal) = ends.signals.recv() => return match signal {
                Signal::Interrupt => Input::Interrupt,
                Signal::Terminate(reason) => Input::Stop(reason),
            },
            written = ends.to_agent.write(outgoing), if !outgoing.is_empty() => match written {
                // An agent that reads no more cannot go on, whatever it still says.
                Ok(0) | Err(_) => return Input::AgentGone,
                Ok(count) => drop(outgoing.drain(..count)),
            },
            line = ends.typed.next(want) => return line.map_or(Input::TypedEnd, Input::Typed),
            line = ends.from_agent.next() => return from_agent(line, &mut ends.err, show_frames),
        }
    }
}

fn from_agent(line: io::Result<Option<Line>>, err: &mut impl Write, show_frames: bool) -> Input {
    match line {
        Ok(Some(Line::Whole(line))) => {
            if show_frames {
                show(err, "<-", &line);
            }
            Input::Line(line)
        }
        // PO-34: a last line without its end counts when it is complete.
        Ok(Some(Line::Unfinished(line))) => {
            if show_frames {
                show(err, "<-", &line);
            }
            match serde_json::from_slice::<serde_json::Value>(&line) {
                Ok(_) => Input::Line(line),
                Err(_) => Input::Unreadable("it ends in the middle of a frame".into()),
            }
        }
        Ok(Some(Line::TooLong(_))) => {
            Input::Unreadable(format!("longer than {} MiB", LINE_MAX >> 20))
        }
        Ok(None) => Input::AgentGone,
        Err(error) => Input::Unreadable(format!("cannot be read: {error}")),
    }
}

fn show(err: &mut impl Write, arrow: &str, frame: &[u8]) {
    let frame = String::from_utf8_lossy(frame);
    // Nobody is left to be told that stderr is closed.
    let _ = writeln!(err, "{arrow} {}", safe::text(frame.trim_end()));
}

/// Bytes of a line from the agent: 32 MiB (WIRE-5).
pub const LINE_MAX: usize = 32 << 20;
/// How long the answer to `session/close` is waited for.
const CLOSE_WAIT: Duration = Duration::from_secs(3);
