//! Command line of `scenario`: verbs, options and the texts that teach them.
//!
//! Input: the arguments. Output: a [`Command`], or the sentence that says what is allowed instead.
//! Invariants: parsing has no side effect; an option is listed in exactly one help text.
//! It does not know how a command does its work, nor whether there is a terminal.
//!
//! A new verb is a row in `VERBS`, a variant of [`Command`] and a parser beside `parse_chat`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};

use crate::commands::Io;
use crate::commands::explore::ExploreArgs;
use crate::commands::host::HostArgs;
use crate::commands::run::RunArgs;
use crate::lang::diagnostic::Style;

mod explore;
mod files;
mod host;
mod render;
mod run;
mod update;

pub use files::Files;

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Print this text on stdout and end with success.
    Print(&'static str),
    /// `scenario chat`.
    Chat(ChatOptions),
    /// `scenario run`.
    Run(RunArgs),
    /// `scenario explore`.
    Explore(ExploreArgs),
    /// `scenario host`.
    Host(HostArgs),
    /// `scenario check`, `fmt`, `explain`, `render`, `update`, `list`.
    Files(Files),
}

/// Options of `scenario chat`, as given: what depends on the terminal is decided later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatOptions {
    /// Where the first prompt comes from.
    pub prompt: PromptSource,
    /// Which Muse answers.
    pub muse: MuseChoice,
    /// Working directory of the session; `None` is the current one.
    pub cwd: Option<PathBuf>,
    /// Who answers permission questions; `None` depends on the terminal.
    pub approve: Option<Approve>,
    /// When to use colour.
    pub color: Color,
    /// Print every frame on stderr.
    pub show_frames: bool,
    /// Print on stderr what is otherwise left out, and the adapter's own log.
    pub verbose: bool,
    /// Bound of the whole run, at least a millisecond.
    pub timeout: Option<Duration>,
}

/// Where prompts come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PromptSource {
    /// One prompt per line of stdin, until `/quit` or the end.
    #[default]
    Interactive,
    /// The whole of stdin is one prompt.
    Stdin,
    /// This text is the only prompt.
    Text(String),
}

/// Which Muse the adapter starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MuseChoice {
    /// The built-in fake host.
    #[default]
    Fake,
    /// The first `muse` on `PATH`, else the fake host.
    Auto,
    /// This executable.
    Path(PathBuf),
}

/// Who answers permission questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approve {
    /// The person at the keyboard.
    Ask,
    /// Always the option that allows once.
    Allow,
    /// Always the option that rejects once.
    Deny,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Exit code for a command line that cannot be understood.
pub const EXIT_USAGE: u8 = 2;

/// Verbs and their one-line descriptions, in the order of the help text.
const VERBS: &[(&str, &str)] = &[
    ("chat", CHAT_HELP),
    ("run", run::HELP),
    ("check", files::CHECK_HELP),
    ("fmt", files::FMT_HELP),
    ("explain", files::EXPLAIN_HELP),
    ("render", render::HELP),
    ("update", update::HELP),
    ("list", files::LIST_HELP),
    ("explore", explore::HELP),
    ("host", host::HELP),
    ("help", HELP),
];

const HELP: &str = "\
Talk to the Muse Code adapter the way an editor does, and play stories with it.

Usage: scenario <COMMAND> [OPTIONS]

Commands:
  chat    hold a conversation through the adapter, with a real or a fake Muse
  run     play scenario files and say what came of them
  check   say what is wrong with scenario files, without running them
  fmt     write scenario files in canonical form
  explain print a story with its opening written out, or what a code means
  render  draw a run: a sequence diagram, or a page that shows where it broke
  update  take over values that the adapter says now
  list    list scenarios, or the rows of the catalogue that they prove
  explore try every legal order of a story on the core alone
  host    be the Muse host of a story, for a client of your own
  help    explain a command, for example `scenario help chat`

Options:
  -h, --help       print this text
  -V, --version    print the version

The same executable called as `muse-code-acp` is the adapter, and called as `muse`
or `fake-msp` it is a fake Muse host. A link of that name is enough.
";

const CHAT_HELP: &str = "\
Hold a conversation through the adapter: it is started as an editor would start it,
and what it sends is printed as it arrives.

Usage: scenario chat [OPTIONS] [PROMPT]

Without PROMPT every line you type is a prompt; /quit or the end of input ends.
With PROMPT there is one turn. If PROMPT is `-` it is read from standard input.

Options:
  --muse PATH         use this Muse; `fake` is the built-in fake host (default),
                      `auto` is the `muse` on PATH, or the fake host without one
  --cwd DIR           folder of the session (default: the current one)
  --approve WHO       answer to permission questions: ask, allow (once), deny
                      (default: ask on a terminal, deny elsewhere)
  --color WHEN        auto (default), always, never; auto respects NO_COLOR
  --show-frames       print every protocol frame on stderr: `->` to, `<-` from the agent
  --timeout SECONDS   end the run after this time, as Ctrl-C would (exit 130)
  -v, --verbose       print on stderr what is otherwise left out, and the agent's log
  -h, --help          print this text

Keys:
  Ctrl-C              cancel the turn; once more, or between turns: end

Exit codes:
  0 the turn ended    1 it failed    2 bad command line    3 no agent, or it broke
  the protocol    4 it ended early (a limit, a refusal)    130 cancelled
  In an interactive chat the last turn decides.

Examples:
  scenario chat \"hello\"                          one turn with the fake Muse
  scenario chat --approve allow \"run ls\"         allow what it asks for, once each
  scenario chat --muse auto                      interactive, with your own Muse
  git diff | scenario chat --muse auto -         the prompt from a pipe
  scenario chat --show-frames \"hello\" 2>frames   keep what went over the wire
";

const VERSION: &str = concat!("scenario ", env!("CARGO_PKG_VERSION"), "\n");

/// Reads the arguments of this process and runs the command.
#[must_use]
pub fn main() -> ExitCode {
    use std::io::Write as _;
    match parse(std::env::args_os().skip(1)) {
        // A reader that went away, as in `scenario help | head -1`, is no failure.
        Ok(Command::Print(text)) => {
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        Ok(Command::Chat(options)) => crate::chat::run(options),
        Ok(Command::Run(args)) => {
            use std::io::IsTerminal as _;
            let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            let progress = std::io::stderr().is_terminal() && !set("CI");
            let args = RunArgs { progress, ..args };
            let code = crate::commands::run::run(&args, &mut std::io::stdout().lock());
            ExitCode::from(code.unwrap_or(crate::commands::run::FAILED))
        }
        Ok(Command::Files(files)) => files::main(&files),
        Ok(Command::Explore(args)) => {
            let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr().lock());
            let mut io = Io { out: &mut out, err: &mut err, style: Style::Plain };
            let code = crate::commands::explore::explore(&mut io, &args);
            ExitCode::from(code.unwrap_or(crate::commands::run::FAILED))
        }
        Ok(Command::Host(args)) => {
            let (input, output) = (std::io::stdin(), std::io::stdout());
            let errors = Box::new(std::io::stderr());
            let mut report = std::io::stderr();
            let code = crate::commands::host::host(
                &args,
                Box::new(input),
                Box::new(output),
                errors,
                &mut report,
            );
            ExitCode::from(code.unwrap_or(crate::commands::run::FAILED))
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "scenario: {message}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// Understands a command line without the program's name.
///
/// # Errors
/// A sentence for the user: what was found, and what is allowed there.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = Parser::from_args(args);
    match parser.next().map_err(|e| e.to_string())? {
        None => Err(format!("a command is missing\n\n{HELP}")),
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Command::Print(HELP)),
        Some(Arg::Short('V') | Arg::Long("version")) => Ok(Command::Print(VERSION)),
        Some(Arg::Value(verb)) => match verb.to_string_lossy().as_ref() {
            "chat" => parse_chat(&mut parser),
            "run" => run::parse(&mut parser),
            "check" => files::parse_check(&mut parser),
            "fmt" => files::parse_fmt(&mut parser),
            "explain" => files::parse_explain(&mut parser),
            "render" => render::parse(&mut parser),
            "update" => update::parse(&mut parser),
            "list" => files::parse_list(&mut parser),
            "explore" => explore::parse(&mut parser),
            "host" => host::parse(&mut parser),
            "help" => parse_help(&mut parser),
            other => Err(format!("unknown command `{other}`; there are: {}", verb_names())),
        },
        Some(other) => Err(unknown(&other, "--help, --version, or a command", "scenario --help")),
    }
}

fn verb_names() -> String {
    VERBS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn parse_help(parser: &mut Parser) -> Result<Command, String> {
    let Some(Arg::Value(topic)) = parser.next().map_err(|e| e.to_string())? else {
        return Ok(Command::Print(HELP));
    };
    let topic = topic.to_string_lossy();
    let found = VERBS.iter().find(|(name, _)| *name == topic);
    found
        .map(|(_, help)| Command::Print(help))
        .ok_or_else(|| format!("no help for `{topic}`; there are: {}", verb_names()))
}

fn parse_chat(parser: &mut Parser) -> Result<Command, String> {
    let mut options = ChatOptions::default();
    let mut prompt: Option<OsString> = None;
    while let Some(arg) = parser.next().map_err(|e| e.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(CHAT_HELP)),
            Arg::Short('v') | Arg::Long("verbose") => options.verbose = true,
            Arg::Long("show-frames") => options.show_frames = true,
            Arg::Long("muse") => {
                let value = value(parser, "--muse", "a path, `fake` or `auto`")?;
                options.muse = match value.to_str() {
                    Some("fake") => MuseChoice::Fake,
                    Some("auto") => MuseChoice::Auto,
                    Some("") => return Err("--muse: the path is empty".into()),
                    _ => MuseChoice::Path(value.into()),
                };
            }
            Arg::Long("cwd") => options.cwd = Some(value(parser, "--cwd", "a folder")?.into()),
            Arg::Long("approve") => {
                let words =
                    [("ask", Approve::Ask), ("allow", Approve::Allow), ("deny", Approve::Deny)];
                options.approve = Some(choice(parser, "--approve", &words)?);
            }
            Arg::Long("color") => {
                let words =
                    [("auto", Color::Auto), ("always", Color::Always), ("never", Color::Never)];
                options.color = choice(parser, "--color", &words)?;
            }
            Arg::Long("timeout") => {
                let value = value(parser, "--timeout", "a number of seconds")?;
                options.timeout = Some(seconds(&value.to_string_lossy())?);
            }
            Arg::Value(text) if prompt.is_none() => prompt = Some(text),
            Arg::Value(text) => {
                return Err(format!(
                    "one prompt is enough, found `{}` too; put a prompt of several words in quotes",
                    text.to_string_lossy()
                ));
            }
            other => return Err(unknown(&other, CHAT_OPTIONS, "scenario chat --help")),
        }
    }
    options.prompt = prompt_source(prompt)?;
    Ok(Command::Chat(options))
}

const CHAT_OPTIONS: &str = "--muse, --cwd, --approve, --color, --show-frames, --timeout, \
                            --verbose, --help";

fn prompt_source(prompt: Option<OsString>) -> Result<PromptSource, String> {
    let Some(prompt) = prompt else { return Ok(PromptSource::Interactive) };
    let text = prompt.string().map_err(|_| "the prompt is not valid UTF-8".to_owned())?;
    match text.as_str() {
        "-" => Ok(PromptSource::Stdin),
        blank if blank.trim().is_empty() => {
            Err("the prompt is empty; leave it out for an interactive chat".into())
        }
        _ => Ok(PromptSource::Text(text)),
    }
}

fn value(parser: &mut Parser, flag: &str, what: &str) -> Result<OsString, String> {
    parser.value().map_err(|_| format!("{flag} needs {what}"))
}

fn number(parser: &mut Parser, flag: &str) -> Result<u64, String> {
    let text = value(parser, flag, "a whole number")?;
    let parsed = text.to_str().and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| {
        format!("{flag}: found `{}`, allowed: a whole number", text.to_string_lossy())
    })
}

fn choice<T: Copy>(parser: &mut Parser, flag: &str, words: &[(&str, T)]) -> Result<T, String> {
    let allowed = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let found = value(parser, flag, &format!("one of: {allowed}"))?;
    let found = found.to_string_lossy();
    words
        .iter()
        .find(|(word, _)| *word == found)
        .map(|(_, meaning)| *meaning)
        .ok_or_else(|| format!("{flag}: found `{found}`, allowed: {allowed}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    parsed
        .filter(|bound| *bound >= Duration::from_millis(1) && *bound <= TIMEOUT_MAX)
        .ok_or_else(|| format!("--timeout: found `{text}`, allowed: seconds, 0.001 to 86400"))
}

/// A day. Longer ones are typing mistakes, and far larger ones overflow the clock.
const TIMEOUT_MAX: Duration = Duration::from_secs(86_400);

fn unknown(arg: &Arg<'_>, allowed: &str, help: &str) -> String {
    let name = match arg {
        Arg::Short(letter) => format!("-{letter}"),
        Arg::Long(word) => format!("--{word}"),
        Arg::Value(text) => text.to_string_lossy().into_owned(),
    };
    format!("unknown option `{name}`; allowed: {allowed} (see `{help}`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn chat(line: &str) -> ChatOptions {
        match parsed(line) {
            Ok(Command::Chat(options)) => options,
            other => panic!("{line:?} gave {other:?}"),
        }
    }

    fn refused(line: &str, part: &str) {
        match parsed(line) {
            Err(message) => assert!(message.contains(part), "{line:?} says {message:?}"),
            Ok(command) => panic!("{line:?} gave {command:?}"),
        }
    }

    #[test]
    fn chat_without_arguments_is_interactive_with_the_fake_muse() {
        assert_eq!(chat("chat"), ChatOptions::default());
        assert_eq!(chat("chat").prompt, PromptSource::Interactive);
        assert_eq!(chat("chat").muse, MuseChoice::Fake);
    }

    #[test]
    fn every_option_is_read_before_and_after_the_prompt() {
        let options = chat(
            "chat --muse /opt/muse --cwd /w hello --approve allow --color=never \
             --show-frames --timeout 1.5 -v",
        );
        let expected = ChatOptions {
            prompt: PromptSource::Text("hello".into()),
            muse: MuseChoice::Path("/opt/muse".into()),
            cwd: Some("/w".into()),
            approve: Some(Approve::Allow),
            color: Color::Never,
            show_frames: true,
            verbose: true,
            timeout: Some(Duration::from_millis(1500)),
        };
        assert_eq!(options, expected);
    }

    #[test]
    fn a_dash_reads_the_prompt_from_stdin_and_two_dashes_end_the_options() {
        assert_eq!(chat("chat -").prompt, PromptSource::Stdin);
        assert_eq!(chat("chat -- --muse").prompt, PromptSource::Text("--muse".into()));
    }

    #[test]
    fn a_mistake_is_answered_with_what_is_allowed() {
        refused("", "a command is missing");
        refused("chta", &format!("unknown command `chta`; there are: {}", verb_names()));
        refused("--chat", "unknown option `--chat`");
        refused("chat --yes", "allowed: --muse, --cwd, --approve");
        refused("chat -x", "unknown option `-x`");
        refused("chat --approve always", "allowed: ask, allow, deny");
        refused("chat --approve", "--approve needs one of: ask, allow, deny");
        refused("chat --color blue", "allowed: auto, always, never");
        refused("chat --timeout 0", "0.001 to 86400");
        refused("chat --timeout -3", "0.001 to 86400");
        refused("chat --timeout NaN", "0.001 to 86400");
        refused("chat two words", "in quotes");
        refused("help dance", "no help for `dance`");
    }

    #[test]
    fn every_help_text_has_an_example_and_its_files_exist() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (verb, help) in VERBS {
            let example = help.split("\nExample").nth(1);
            assert!(*verb == "help" || example.is_some(), "{verb}");
            let words = help.split_whitespace().filter(|word| word.starts_with("scenarios/corpus"));
            for word in words {
                let path = word.trim_end_matches([')', '.', ',']);
                assert!(root.join(path).exists(), "{verb}: {path}");
            }
        }
    }

    #[test]
    fn help_lists_every_verb_and_every_option_that_errors_name() {
        for (verb, _) in VERBS {
            assert!(HELP.contains(&format!("\n  {verb} ")), "{verb}");
        }
        for option in CHAT_OPTIONS.split(", ") {
            assert!(CHAT_HELP.contains(option), "{option}");
        }
        assert_eq!(parsed("help chat"), Ok(Command::Print(CHAT_HELP)));
        assert_eq!(parsed("chat --help"), Ok(Command::Print(CHAT_HELP)));
        assert_eq!(parsed("help"), Ok(Command::Print(HELP)));
        assert_eq!(parsed("-V"), Ok(Command::Print(VERSION)));
    }
}
