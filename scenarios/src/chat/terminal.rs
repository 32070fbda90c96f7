//! The person's side: typed lines, signals, and what the terminal can do.
//!
//! Invariants: stdin is read only when a conversation may need it; a line typed before a question
//! was on the screen never answers it. It does not know what a line or a signal leads to.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use tokio::sync::mpsc;

use super::conversation::{PROMPT_MAX, Want};
use super::render::Style;
use crate::cli::Color;

/// Typed lines.
#[derive(Debug)]
pub struct Typed {
    lines: mpsc::Receiver<String>,
    /// Lines typed before the latest question: prompts for later.
    ahead: VecDeque<String>,
    /// Lines are typed by hand, and not all there from the beginning.
    by_hand: bool,
    questions_seen: u64,
}

impl Typed {
    /// Lines from a channel. `by_hand` says that the moment a line comes has a meaning.
    #[must_use]
    pub fn new(lines: mpsc::Receiver<String>, by_hand: bool) -> Self {
        Self { lines, ahead: VecDeque::new(), by_hand, questions_seen: 0 }
    }

    /// Lines from stdin, read by a thread of its own. The thread ends with the process: a read
    /// from a terminal cannot be called off.
    #[must_use]
    pub fn from_stdin() -> Self {
        let (sender, lines) = mpsc::channel(LINES_MAX);
        std::thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            // No line, an error and a listener that is gone all mean: no more lines.
            while let Some(line) = read_line(&mut stdin) {
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Self::new(lines, io::stdin().is_terminal())
    }

    /// No lines, and stdin left alone.
    #[must_use]
    pub fn none() -> Self {
        Self::new(mpsc::channel(1).1, false)
    }

    /// Tells how many questions have been shown. Call before [`Typed::next`].
    pub fn questions_shown(&mut self, count: u64) {
        if count != self.questions_seen {
            self.questions_seen = count;
            while self.by_hand
                && let Ok(line) = self.lines.try_recv()
            {
                self.ahead.push_back(line);
            }
        }
    }

    /// The next line of the wanted sort, or `None` at the end. May be dropped and called again.
    pub async fn next(&mut self, want: Want) -> Option<String> {
        match want {
            Want::Nothing => std::future::pending().await,
            Want::Prompt if !self.ahead.is_empty() => self.ahead.pop_front(),
            Want::Prompt | Want::Answer => self.lines.recv().await,
        }
    }
}

/// A line without its end; the last one may lack it. Longer ones come in pieces: a prompt of that
/// length is refused anyway.
fn read_line(stdin: &mut impl io::BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    let mut bounded = stdin.take(PROMPT_MAX as u64 + 1);
    match bounded.read_until(b'\n', &mut bytes) {
        Ok(count) if count > 0 => {
            let text = String::from_utf8_lossy(&bytes);
            Some(text.trim_end_matches(['\n', '\r']).to_owned())
        }
        _ => None,
    }
}

/// A signal that ends things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The system or another program wants the end; the text says how it asked.
    Terminate(&'static str),
}

/// Listens to signals from now on, instead of dying of them. Call inside the runtime.
///
/// # Errors
/// The system refuses to deliver them.
#[cfg(unix)]
pub fn signals() -> io::Result<mpsc::Receiver<Signal>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (sender, receiver) = mpsc::channel(SIGNALS_MAX);
    tokio::spawn(async move {
        loop {
            let signal = tokio::select! {
                // The more final one first.
                biased;
                _ = terminate.recv() => Signal::Terminate("terminated (SIGTERM)"),
                _ = hangup.recv() => Signal::Terminate("the terminal is gone (SIGHUP)"),
                _ = interrupt.recv() => Signal::Interrupt,
            };
            // Full: as many are waiting already, and each is as good as this one.
            let _ = sender.try_send(signal);
        }
    });
    Ok(receiver)
}

/// Listens to Ctrl-C from now on, instead of dying of it. Call inside the runtime.
///
/// # Errors
/// The system refuses to deliver it.
#[cfg(not(unix))]
pub fn signals() -> io::Result<mpsc::Receiver<Signal>> {
    let (sender, receiver) = mpsc::channel(SIGNALS_MAX);
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            let _ = sender.try_send(Signal::Interrupt);
        }
    });
    Ok(receiver)
}

/// Whether a person sees the output and can answer.
#[must_use]
pub fn is_live() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The style of stdout.
#[must_use]
pub fn style(color: Color) -> Style {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    choose_style(color, io::stdout().is_terminal(), set("NO_COLOR") || dumb)
}

fn choose_style(color: Color, terminal: bool, unwanted: bool) -> Style {
    match color {
        Color::Always => Style::Ansi,
        Color::Auto if terminal && !unwanted => Style::Ansi,
        Color::Auto | Color::Never => Style::Plain,
    }
}

/// Typed lines that wait to be read; the thread then leaves the rest to the system's buffer.
const LINES_MAX: usize = 64;
/// Signals that wait to be handled; the third Ctrl-C can do no more than the second.
const SIGNALS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut context) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }

    fn typed(lines: &[&str], by_hand: bool) -> Typed {
        let (sender, receiver) = mpsc::channel(LINES_MAX);
        for line in lines {
            sender.try_send((*line).to_owned()).expect("room");
        }
        Typed::new(receiver, by_hand)
    }

    #[test]
    fn a_line_typed_before_the_question_is_the_next_prompt_and_no_answer() {
        let (sender, receiver) = mpsc::channel(LINES_MAX);
        let mut typed = Typed::new(receiver, true);
        sender.try_send("early".to_owned()).expect("room");
        typed.questions_shown(1);
        assert_eq!(ready(typed.next(Want::Answer)), None);
        sender.try_send("2".to_owned()).expect("room");
        typed.questions_shown(1);
        assert_eq!(ready(typed.next(Want::Answer)), Some(Some("2".into())));
        assert_eq!(ready(typed.next(Want::Prompt)), Some(Some("early".into())));
    }

    #[test]
    fn lines_of_a_file_are_taken_in_order_by_whoever_wants_one() {
        let mut typed = typed(&["do it", "1"], false);
        assert_eq!(ready(typed.next(Want::Prompt)), Some(Some("do it".into())));
        typed.questions_shown(1);
        assert_eq!(ready(typed.next(Want::Answer)), Some(Some("1".into())));
        assert_eq!(ready(typed.next(Want::Prompt)), Some(None));
        assert_eq!(ready(typed.next(Want::Nothing)), None);
    }

    #[test]
    fn a_line_is_read_without_its_end_of_either_sort() {
        let mut input: &[u8] = b"a\r\nb\nc";
        let read: Vec<_> = std::iter::from_fn(|| read_line(&mut input)).collect();
        assert_eq!(read, ["a", "b", "c"]);
    }

    #[test]
    fn colour_needs_a_terminal_that_wants_it_unless_it_is_demanded() {
        assert_eq!(choose_style(Color::Auto, true, false), Style::Ansi);
        assert_eq!(choose_style(Color::Auto, true, true), Style::Plain);
        assert_eq!(choose_style(Color::Auto, false, false), Style::Plain);
        assert_eq!(choose_style(Color::Always, false, true), Style::Ansi);
        assert_eq!(choose_style(Color::Never, true, false), Style::Plain);
    }
}
