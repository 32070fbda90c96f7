//! Arguments of `scenario render`.

use std::path::PathBuf;

use lexopt::{Arg, Parser};

use super::{Command, number, unknown, value};
use crate::cli::Files;
use crate::commands::render::RenderArgs;

pub(super) const HELP: &str = "\
Play one run of a scenario and draw it: as a Mermaid sequence diagram, or as a page
with the conversation, the story and the place where it broke.

Usage: scenario render [OPTIONS] FILE

Options:
  --at POINT     this point, as a report names it: 'lag=1ms,race1=BA'
                 (default: the first red point, or the first)
  --seed N       seed of the hosts' ids (default 0)
  --mermaid      a sequence diagram on the output (default)
  --html PAGE    one HTML file that needs nothing else; `-` is the output
  -h, --help     print this text

Exit codes:
  0 drawn, the run is green    1 drawn, it is red; or the file has mistakes
  2 bad command line, or the page cannot be written

Example:
  scenario render scenarios/corpus/cancel/races-the-end.scn --at 'race1=BA' --html race.html
";

const OPTIONS: &str = "--at, --seed, --mermaid, --html, --help";

pub(super) fn parse(parser: &mut Parser) -> Result<Command, String> {
    let mut args = RenderArgs::default();
    let (mut file, mut mermaid) = (None, false);
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("mermaid") => mermaid = true,
            Arg::Long("html") => {
                args.html = Some(value(parser, "--html", "a file, or `-`")?.into());
            }
            Arg::Long("seed") => args.seed = number(parser, "--seed")?,
            Arg::Long("at") => {
                let point = value(parser, "--at", "a point such as race1=BA")?;
                args.at = Some(point.to_string_lossy().into_owned());
            }
            Arg::Value(path) if file.is_none() => file = Some(PathBuf::from(path)),
            Arg::Value(path) => {
                let path = PathBuf::from(path);
                return Err(format!("render takes one file, found `{}` too", path.display()));
            }
            other => return Err(unknown(&other, OPTIONS, "scenario help render")),
        }
    }
    if mermaid && args.html.is_some() {
        return Err("--mermaid and --html: choose one".into());
    }
    args.path = file.ok_or("render needs a file")?;
    Ok(Command::Files(Files::Render(args)))
}
