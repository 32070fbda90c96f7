//! Arguments of `scenario explore`.

use lexopt::{Arg, Parser};

use super::{Command, number, unknown, value};
use crate::commands::Format;
use crate::commands::explore::ExploreArgs;

pub(super) const HELP: &str = "\
Try every legal order of what the neighbours of the adapter say in a scenario: answers,
events, answers of the person, and with them deadlines, a cancel, the death of the host
and the departure of the editor, at every place. Only the core runs, so thousands of
orders take a second. Lines `<-` are not tested, what must hold in every run is.

Usage: scenario explore [OPTIONS] [PATH]...

PATH is a .scn file or a folder of them (default: scenarios/corpus).

Options:
  --orders N               most orders of one point, tried one after the other; if that
                           is not all, a quarter as many are drawn (default 20000)
  --interferences N        most deadlines, cancels, deaths and departures in one order
                           (default 2)
  --seed N                 what the drawn orders depend on (default 0)
  --transcript             print every frame of an order that breaks a rule
  --message-format FORMAT  text (default) or json: one object per file
  -h, --help               print this text

Exit codes:
  0 no order breaks a rule    1 one does, or nothing was explored    2 bad command line

Examples:
  scenario explore scenarios/corpus/approval/stages-both.scn
  scenario explore scenarios/corpus/cancel --orders 100000 --interferences 3
";

const OPTIONS: &str =
    "--orders, --interferences, --seed, --transcript, --message-format, --help, or a path";

pub(super) fn parse(parser: &mut Parser) -> Result<Command, String> {
    let mut args = ExploreArgs::default();
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("orders") => args.orders = number(parser, "--orders")?,
            Arg::Long("interferences") => {
                let most = number(parser, "--interferences")?;
                args.interferences = Some(usize::try_from(most).unwrap_or(usize::MAX));
            }
            Arg::Long("seed") => args.seed = number(parser, "--seed")?,
            Arg::Long("transcript") => args.transcript = true,
            Arg::Long("message-format") => {
                match value(parser, "--message-format", "text or json")?.to_str() {
                    Some("text") => args.format = Format::Text,
                    Some("json") => args.format = Format::Json,
                    _ => return Err("--message-format: there are `text` and `json`".into()),
                }
            }
            Arg::Value(path) => args.paths.push(path.into()),
            other => return Err(unknown(&other, OPTIONS, "scenario help explore")),
        }
    }
    Ok(Command::Explore(args))
}
