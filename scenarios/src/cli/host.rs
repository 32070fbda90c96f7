//! Arguments of `scenario host`.

use std::path::PathBuf;

use lexopt::{Arg, Parser};

use super::{Command, number, unknown, value};
use crate::commands::host::HostArgs;

pub(super) const HELP: &str = "\
Be the Muse host of a scenario, on stdin and stdout, for a client of your own. Lines of
the editor are skipped; a line `host <- METHOD` waits until your client sends it, waits
are real time, and what no line names is answered by the model.

Usage: scenario host [OPTIONS] FILE        (the same as fake-msp serve --scenario FILE)

Options:
  --at POINT        this point: 'lag=1ms,race1=BA' (default: the first)
  --seed N          seed of the ids (default 0)
  --profile VERSION the generation of Muse (default: the newest that the file allows)
  --strict          exit code 1 when your client broke a rule of the protocol
  -h, --help        print this text

Exit codes:
  0 the client did what the story says, or the code that the story ends the host with
  1 under --strict: rules were broken    3 the file cannot be used
  6 the client departed from the story; stderr says where

Example:
  scenario host scenarios/corpus/cancel/twice.scn    as the command that your client starts
";

const OPTIONS: &str = "--at, --seed, --profile, --strict, --help";

pub(super) fn parse(parser: &mut Parser) -> Result<Command, String> {
    let mut args = HostArgs::default();
    let mut file = None;
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("seed") => args.seed = number(parser, "--seed")?,
            Arg::Long("strict") => args.strict = true,
            Arg::Long("at") => {
                args.at = Some(text(value(parser, "--at", "a point such as race1=BA")?));
            }
            Arg::Long("profile") => {
                args.profile = Some(text(value(parser, "--profile", "a version such as 1.3.0")?));
            }
            Arg::Value(path) if file.is_none() => file = Some(PathBuf::from(path)),
            Arg::Value(path) => {
                return Err(format!("host takes one file, found `{}` too", text(path)));
            }
            other => return Err(unknown(&other, OPTIONS, "scenario help host")),
        }
    }
    args.path = file.ok_or("host needs a file")?;
    Ok(Command::Host(args))
}
