//! Arguments of `scenario update`.

use lexopt::{Arg, Parser};

use super::{Command, Files, unknown};
use crate::commands::update::UpdateArgs;

pub(super) const HELP: &str = "\
Play scenario files and take over what the adapter says now, where a file differs
only in values of `path = VALUE` lines below `<-`. Read what changes before you keep it.

Usage: scenario update [OPTIONS] PATH...

PATH is a .scn file or a folder of them. Lines are never added, removed or moved;
`check`, `never`, texts and codes are left alone. A file is refused, and stays as it
is, if anything else in it is red, if an invariant is broken, or if two of its points
need different values. Nothing is written when CI is set.

Options:
  --dry-run     print what would change and write nothing
  -h, --help    print this text

Exit codes:
  0 all is well    1 a file was refused    2 bad command line, or CI is set

Example:
  scenario update --dry-run scenarios/corpus/tools
";

pub(super) fn parse(parser: &mut Parser) -> Result<Command, String> {
    let mut args = UpdateArgs::default();
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("dry-run") => args.dry_run = true,
            Arg::Value(path) => args.paths.push(path.into()),
            other => return Err(unknown(&other, "--dry-run, --help", "scenario help update")),
        }
    }
    if args.paths.is_empty() {
        return Err("update needs a file or a folder".into());
    }
    Ok(Command::Files(Files::Update(args)))
}
