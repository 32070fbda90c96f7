//! `scenario chat`: a small editor for the terminal.
//!
//! - [`conversation`]: what happens, as a pure state machine. Start here.
//! - [`client`], [`update`], [`permission`]: the protocol, as values.
//! - [`render`], [`safe`]: from updates to text that a terminal may have.
//! - [`wiring`]: the loop that carries bytes between the two. It decides nothing.
//! - [`toolbox`], [`child`], [`terminal`], [`lines`]: executables, the process, the person, the bytes.
//!
//! This file turns options into a running chat and its end into an exit code.

pub mod child;
pub mod client;
pub mod conversation;
pub mod lines;
pub mod permission;
pub mod render;
pub mod safe;
pub mod terminal;
pub mod toolbox;
pub mod update;
pub mod wiring;

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use self::child::{Agent, Pipes};
use self::conversation::{Conversation, PROMPT_MAX, Settings, exit};
use self::lines::Lines;
use self::terminal::Typed;
use self::toolbox::Toolbox;
use self::wiring::{Bounds, Ends};
use crate::cli::{Approve, ChatOptions, EXIT_USAGE, MuseChoice, PromptSource};

/// Runs `scenario chat` to its end.
#[must_use]
pub fn run(options: ChatOptions) -> ExitCode {
    let code = match prepare(options).and_then(Prepared::run) {
        Ok(code) => code,
        Err(Refusal { code, text }) => {
            say(&text);
            code
        }
    };
    ExitCode::from(code)
}

/// Why there is no chat.
struct Refusal {
    code: u8,
    text: String,
}

impl Refusal {
    fn usage(text: impl Into<String>) -> Self {
        Self { code: EXIT_USAGE, text: text.into() }
    }

    /// For `map_err`: what failed, then the cause.
    fn no_agent(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self { code: exit::NO_AGENT, text: format!("{what}: {error}") }
    }
}

/// Options that were checked against the world.
struct Prepared {
    settings: Settings,
    bounds: Bounds,
    reads_stdin: bool,
    toolbox: Toolbox,
    muse: Option<PathBuf>,
}

fn prepare(options: ChatOptions) -> Result<Prepared, Refusal> {
    let cwd = session_folder(options.cwd.as_deref())?;
    let muse = muse(options.muse)?;
    let from_pipe = options.prompt == PromptSource::Stdin;
    let prompt = match options.prompt {
        PromptSource::Interactive => None,
        PromptSource::Text(text) => Some(text),
        PromptSource::Stdin => Some(prompt_from_stdin()?),
    };
    let live = terminal::is_live();
    let approve = options.approve.unwrap_or_else(|| {
        if live && !from_pipe {
            return Approve::Ask;
        }
        say("permission questions are answered with `deny`; --approve allow|ask changes that");
        Approve::Deny
    });
    let executable = std::env::current_exe().map_err(Refusal::no_agent("cannot find myself"))?;
    let toolbox =
        Toolbox::new(&executable).map_err(Refusal::no_agent("cannot make a private folder"))?;
    Ok(Prepared {
        reads_stdin: !from_pipe && (prompt.is_none() || approve == Approve::Ask),
        settings: Settings {
            prompt,
            cwd,
            approve,
            live,
            verbose: options.verbose,
            style: terminal::style(options.color),
        },
        bounds: Bounds { run: options.timeout, show_frames: options.show_frames },
        toolbox,
        muse,
    })
}

impl Prepared {
    fn run(self) -> Result<u8, Refusal> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Refusal::no_agent("cannot start the runtime"))?;
        runtime.block_on(self.hold())
    }

    async fn hold(self) -> Result<u8, Refusal> {
        // Before the child exists: from here on no signal ends us without its end.
        let signals = terminal::signals().map_err(Refusal::no_agent("cannot catch signals"))?;
        let verbose = self.settings.verbose;
        let (mut agent, pipes) = Agent::start(self.toolbox, self.muse.as_deref(), verbose)
            .map_err(Refusal::no_agent("cannot start the adapter"))?;
        let Pipes { to_agent, from_agent } = pipes;
        let typed = if self.reads_stdin { Typed::from_stdin() } else { Typed::none() };
        let from_agent = Lines::new(from_agent, wiring::LINE_MAX);
        let (out, err) = (io::stdout(), io::stderr());
        let mut ends = Ends { from_agent, to_agent, typed, signals, out, err };
        let mut conversation = Conversation::new(self.settings);
        let ending = wiring::converse(&mut conversation, &mut ends, self.bounds).await;

        drop(ends); // closes the agent's stdin, which asks it to end
        let (status, killed) = agent.finish().await;
        if ending.agent_at_fault {
            report_death(&mut agent, status.filter(|_| !killed), verbose).await;
        } else if killed {
            say("the agent did not end by itself and was killed");
        }
        Ok(ending.code)
    }
}

async fn report_death(agent: &mut Agent, status: Option<ExitStatus>, verbose: bool) {
    if let Some(status) = status.filter(|status| !status.success()) {
        say(&format!("the agent ended with {status}"));
    }
    let last_words = agent.last_words().await;
    if !verbose && !last_words.is_empty() {
        say(&format!("its last words were:\n  {}", last_words.join("\n  ")));
    }
}

fn session_folder(given: Option<&Path>) -> Result<PathBuf, Refusal> {
    let folder = std::path::absolute(given.unwrap_or(Path::new(".")))
        .map_err(|error| Refusal::usage(format!("the current folder: {error}")))?;
    if !folder.is_dir() {
        return Err(Refusal::usage(format!("--cwd: {} is not a folder", folder.display())));
    }
    if folder.to_str().is_none() {
        return Err(Refusal::usage(format!("{} is not valid UTF-8", folder.display())));
    }
    Ok(folder)
}

/// The chosen Muse; `None` is the fake one.
fn muse(choice: MuseChoice) -> Result<Option<PathBuf>, Refusal> {
    match choice {
        MuseChoice::Fake => Ok(None),
        MuseChoice::Auto => {
            let found = toolbox::find_muse(std::env::var_os("PATH"));
            match &found {
                Some(muse) => say(&format!("using {}", muse.display())),
                None => say("there is no `muse` on PATH: using the fake host"),
            }
            Ok(found)
        }
        // Made absolute here: the adapter may look at it from another folder.
        MuseChoice::Path(path) => std::path::absolute(&path)
            .ok()
            .filter(|muse| muse.is_file())
            .map(Some)
            .ok_or_else(|| Refusal::usage(format!("--muse: {} is not a file", path.display()))),
    }
}

fn prompt_from_stdin() -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(PROMPT_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Refusal::usage(format!("cannot read standard input: {error}")))?;
    if bytes.len() > PROMPT_MAX {
        let text = format!("standard input is longer than {} MiB", PROMPT_MAX >> 20);
        return Err(Refusal::usage(text));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Refusal::usage("standard input is not valid UTF-8"))?;
    if text.trim().is_empty() {
        return Err(Refusal::usage("standard input is empty: there is no prompt"));
    }
    Ok(text)
}

/// A line for the person, beside the conversation. Nobody is left to be told that stderr is closed.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "scenario: {text}");
}
