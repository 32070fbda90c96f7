//! Arguments of `scenario run`.

use lexopt::{Arg, Parser};

use super::{Command, number, unknown, value};
use crate::commands::run::RunArgs;
use crate::run::StageKind;

pub(super) const HELP: &str = "\
Play scenario files: the adapter between an editor and hosts that speak as the file
says, in memory, on a clock that moves only when the file says so.

Usage: scenario run [OPTIONS] [PATH]... [FILTER]...

PATH is a .scn file or a folder of them (default: scenarios/corpus). A word that is
no path is a filter: only files whose path contains one of the filters are played.

Options:
  --stage NAME             where to play: pipe (default), sim, a simulated network, or
                           proc, the real programs on real time
  --at POINT               only this point, as a report names it: 'lag=1ms,race1=BA'
  --seed N                 seed of the hosts' ids, and on sim of the latencies; 0 has
                           none (default 0)
  --seeds N                play each point under N seeds, from --seed on (default 1)
  --jobs N                 threads (default: one per processor)
  --transcript             print every frame of every run
  --self-check             play nothing; list races of acts without NAME-control.scn
  --message-format FORMAT  text (default) or json: one object per file, one summary
  --junit FILE             write a JUnit report as well, with times and reasons
  -h, --help               print this text

Exit codes:
  0 all passed    1 a story is red, or nothing was played    2 bad command line

Examples:
  scenario run                                       the whole corpus
  scenario run cancel                                files with `cancel` in their path
  scenario run --stage sim --seeds 64                the corpus under 64 seeds of jitter
  scenario run scenarios/corpus/cancel/races-the-end.scn --at 'race1=BA' --transcript
";

pub(super) fn parse(parser: &mut Parser) -> Result<Command, String> {
    let mut args = RunArgs::default();
    while let Some(arg) = parser.next().map_err(|error| error.to_string())? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Long("transcript") => args.transcript = true,
            Arg::Long("self-check") => args.self_check = true,
            Arg::Long("at") => {
                let point = value(parser, "--at", "a point such as race1=BA")?;
                args.at = Some(point.to_string_lossy().into_owned());
            }
            Arg::Long("seed") => args.seed = number(parser, "--seed")?,
            Arg::Long("jobs") => {
                args.jobs = usize::try_from(number(parser, "--jobs")?).unwrap_or(usize::MAX);
            }
            Arg::Long("junit") => args.junit = Some(value(parser, "--junit", "a file")?.into()),
            Arg::Long("seeds") => args.seeds = number(parser, "--seeds")?.max(1),
            Arg::Long("stage") => {
                let name = value(parser, "--stage", "a stage such as sim")?;
                let stage = StageKind::ALL.into_iter().find(|stage| name == stage.name());
                args.stage = stage.ok_or("--stage: there are `pipe`, `sim` and `proc`")?;
            }
            Arg::Long("message-format") => {
                match value(parser, "--message-format", "text or json")?.to_str() {
                    Some("text") => args.json = false,
                    Some("json") => args.json = true,
                    _ => return Err("--message-format: there are `text` and `json`".into()),
                }
            }
            Arg::Value(word) => {
                let path = std::path::PathBuf::from(&word);
                if path.exists() || path.extension().is_some_and(|ending| ending == "scn") {
                    args.paths.push(path);
                } else {
                    args.filters.push(word.to_string_lossy().into_owned());
                }
            }
            other => {
                return Err(unknown(
                    &other,
                    "the options of `scenario help run`",
                    "scenario help run",
                ));
            }
        }
    }
    if args.paths.is_empty() {
        args.paths.push("scenarios/corpus".into());
    }
    Ok(Command::Run(args))
}
