//! Arguments of `scenario check`, `fmt`, `explain` and `list`, and what runs the verbs that work on files.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, Parser};

use super::{Command, choice, unknown, value};
use crate::commands::render::RenderArgs;
use crate::commands::update::UpdateArgs;
use crate::commands::{self, Format, Io};
use crate::lang::diagnostic::Style;

/// One of the verbs with what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Files {
    /// `scenario check`.
    Check(Vec<PathBuf>, Format),
    /// `scenario fmt`; true only looks.
    Fmt(Vec<PathBuf>, bool),
    /// `scenario explain`, with the point whose frames are shown.
    Explain(PathBuf, Option<String>),
    /// `scenario render`.
    Render(RenderArgs),
    /// `scenario update`.
    Update(UpdateArgs),
    /// `scenario list`; true goes by row.
    List(Vec<PathBuf>, bool, Format),
}

pub(super) const CHECK_HELP: &str = "\
Read scenario files and say what is wrong with them. Nothing is run.

Usage: scenario check [OPTIONS] [PATH]...

PATH is a .scn file or a folder of them (default: scenarios/corpus).

Options:
  --message-format FORMAT  text (default) or json: one object per finding
  -h, --help               print this text

Exit codes:
  0 nothing is wrong    1 something is    2 bad command line

Examples:
  scenario check
  scenario check my-story.scn
  scenario explain S0103        what a code means, with an example
";

pub(super) const FMT_HELP: &str = "\
Write scenario files in canonical form. Meaning and comments stay as they are.

Usage: scenario fmt [OPTIONS] [PATH]...

PATH is a .scn file or a folder of them (default: scenarios/corpus). The names of
changed files are printed. A file with mistakes is left alone.

Options:
  --check       write nothing; print what would change and end with 1
  -h, --help    print this text

Exit codes:
  0 all is well    1 a file has mistakes, or with --check would change    2 bad command line

Example:
  scenario fmt --check scenarios/corpus
";

pub(super) const EXPLAIN_HELP: &str = "\
Print a story with its opening written out, the list of its runs, and every frame of
one run as it was sent, with the line that it belongs to; or say what a code means.

Usage: scenario explain [OPTIONS] FILE
       scenario explain CODE

Options:
  --at POINT    frames of this point: 'lag=1ms,race1=BA' (default: the first)
  -h, --help    print this text

Exit codes:
  0 printed    1 the file has mistakes    2 bad command line

Examples:
  scenario explain scenarios/corpus/cancel/late-text.scn
  scenario explain S1001
";

pub(super) const LIST_HELP: &str = "\
List the scenarios with their titles, or the rows of the catalogue with their files.

Usage: scenario list [OPTIONS] [PATH]...

PATH is a .scn file or a folder of them (default: scenarios/corpus).

Options:
  --coverage               one line per row instead of one per file
  --message-format FORMAT  text (default) or json: one object per line
  -h, --help               print this text

Exit codes:
  0 listed    1 some files have mistakes    2 bad command line

Examples:
  scenario list scenarios/corpus/cancel
  scenario list --coverage | grep SCN-CAN
";

const FORMATS: [(&str, Format); 2] = [("text", Format::Text), ("json", Format::Json)];

pub(super) fn parse_check(parser: &mut Parser) -> Result<Command, String> {
    let (mut paths, mut format) = (Vec::new(), Format::Text);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(CHECK_HELP)),
            Arg::Long("message-format") => format = choice(parser, "--message-format", &FORMATS)?,
            Arg::Value(path) => paths.push(path.into()),
            other => {
                return Err(unknown(&other, "--message-format, --help", "scenario help check"));
            }
        }
    }
    Ok(Command::Files(Files::Check(paths, format)))
}

pub(super) fn parse_fmt(parser: &mut Parser) -> Result<Command, String> {
    let (mut paths, mut check) = (Vec::new(), false);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(FMT_HELP)),
            Arg::Long("check") => check = true,
            Arg::Value(path) => paths.push(path.into()),
            other => return Err(unknown(&other, "--check, --help", "scenario help fmt")),
        }
    }
    Ok(Command::Files(Files::Fmt(paths, check)))
}

pub(super) fn parse_explain(parser: &mut Parser) -> Result<Command, String> {
    let (mut what, mut at): (Option<PathBuf>, _) = (None, None);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(EXPLAIN_HELP)),
            Arg::Long("at") => {
                let point = value(parser, "--at", "a point such as race1=BA")?;
                at = Some(point.to_string_lossy().into_owned());
            }
            Arg::Value(path) if what.is_none() => what = Some(path.into()),
            Arg::Value(path) => {
                return Err(format!(
                    "explain takes one file or code, found `{}` too",
                    path.display()
                ));
            }
            other => return Err(unknown(&other, "--at, --help", "scenario help explain")),
        }
    }
    let what = what.ok_or("explain needs a file or a code such as `S0103`")?;
    Ok(Command::Files(Files::Explain(what, at)))
}

pub(super) fn parse_list(parser: &mut Parser) -> Result<Command, String> {
    let (mut paths, mut by_row, mut format) = (Vec::new(), false, Format::Text);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(LIST_HELP)),
            Arg::Long("coverage") => by_row = true,
            Arg::Long("message-format") => format = choice(parser, "--message-format", &FORMATS)?,
            Arg::Value(path) => paths.push(path.into()),
            other => {
                let allowed = "--coverage, --message-format, --help";
                return Err(unknown(&other, allowed, "scenario help list"));
            }
        }
    }
    Ok(Command::Files(Files::List(paths, by_row, format)))
}

/// Runs the verb. A reader that went away, as in `scenario list | head -1`, is no failure.
pub(super) fn main(files: &Files) -> ExitCode {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = if colour { Style::Coloured } else { Style::Plain };
    let mut io = Io { out: &mut out, err: &mut err, style };
    let code = match files {
        Files::Check(paths, format) => commands::check::check(&mut io, paths, *format),
        Files::Fmt(paths, check) => commands::fmt::fmt(&mut io, paths, *check),
        Files::Explain(path, at) => commands::explain::explain(&mut io, path, at.as_deref()),
        Files::Update(args) => {
            let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
            commands::update::update(&mut io, &UpdateArgs { ci, ..args.clone() })
        }
        Files::Render(args) => commands::render::render(&mut io, args),
        Files::List(paths, by_row, format) => {
            commands::list::list(&mut io, paths, *by_row, *format)
        }
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io.err, "scenario: {error}");
            ExitCode::from(commands::FINDINGS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        super::super::parse(line.split_whitespace().map(std::ffi::OsString::from))
    }

    #[test]
    fn verbs_take_paths_and_their_own_options() {
        let paths = || vec![PathBuf::from("a.scn"), PathBuf::from("b")];
        let check = Files::Check(paths(), Format::Json);
        assert_eq!(parsed("check a.scn --message-format json b"), Ok(Command::Files(check)));
        assert_eq!(parsed("fmt --check"), Ok(Command::Files(Files::Fmt(Vec::new(), true))));
        assert_eq!(
            parsed("explain S0103"),
            Ok(Command::Files(Files::Explain("S0103".into(), None)))
        );
        let list = Files::List(paths(), true, Format::Text);
        assert_eq!(parsed("list --coverage a.scn b"), Ok(Command::Files(list)));
        assert_eq!(parsed("help fmt"), Ok(Command::Print(FMT_HELP)));
    }

    #[test]
    fn a_mistake_is_answered_with_what_is_allowed() {
        for (line, part) in [
            ("check --json", "allowed: --message-format, --help"),
            ("check --message-format xml", "allowed: text, json"),
            ("fmt --write", "allowed: --check, --help"),
            ("explain", "a file or a code such as `S0103`"),
            ("explain a b", "found `b` too"),
            ("render", "render needs a file"),
            ("render a b", "found `b` too"),
            ("render a --mermaid --html b", "choose one"),
            ("update", "needs a file or a folder"),
            ("update --write a", "allowed: --dry-run, --help"),
            ("render a --svg", "allowed: --at, --seed, --mermaid, --html"),
            ("list --rows", "allowed: --coverage"),
        ] {
            let message = parsed(line).expect_err(line);
            assert!(message.contains(part), "{line}: {message}");
        }
    }
}
