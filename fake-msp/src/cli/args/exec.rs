//! Arguments of `exec`.

use std::collections::BTreeMap;

use super::flags::{self, Flag};
use super::{Command, Common, HELP, OWN};
use crate::engine::{Ids, Kind};
use crate::exec::{Run, Tools};

/// One call of `exec`.
#[derive(Debug)]
pub(in crate::cli) struct ExecOptions {
    pub(in crate::cli) common: Common,
    /// Events instead of text.
    pub(in crate::cli) json: bool,
    /// The run, still without its prompt.
    pub(in crate::cli) run: Run,
    /// `None`: the prompt is on stdin.
    pub(in crate::cli) prompt: Option<String>,
}

const FLAGS: [Flag; 11] = [
    Flag::switch("--json"),
    Flag::value("--session-id", "UUID"),
    Flag::value("--provider", "meta|echo"),
    Flag::value("--model", "ID"),
    Flag::value("--reasoning-effort", "EFFORT"),
    Flag::many("--image", "FILE"),
    Flag::switch("--disable-write"),
    Flag::switch("--disable-shell"),
    Flag::switch("--disable-approval"),
    Flag::switch("--yolo"),
    Flag::switch("--no-session-log"),
];

/// Reads what follows `exec`.
pub(super) fn parse(args: &[String], env: &BTreeMap<String, String>) -> Result<Command, String> {
    let given = flags::read("exec", &[&FLAGS[..], &OWN, &HELP].concat(), args)?;
    if super::is_help(&given) {
        return Ok(Command::HelpOf("exec"));
    }
    let common = super::common("exec", &given, env)?;
    let session = match given.value("--session-id") {
        Some(_) if given.has("--no-session-log") => {
            return Err("exec: a session id needs retained logging; leave out --session-id or \
                        --no-session-log"
                .into());
        }
        Some(id) if is_uuid(id) => id.to_owned(),
        Some(id) => return Err(format!("exec: --session-id `{id}`: a UUID is wanted")),
        None => Ids::new(common.seed).next(Kind::Session),
    };
    let provider = given.value("--provider").map(str::to_owned);
    if let Some(name) = &provider
        && !["meta", "echo"].contains(&name.as_str())
    {
        return Err(format!("exec: --provider `{name}`: allowed are meta, echo"));
    }
    let prompt = match given.words.as_slice() {
        [] => None,
        [word] if word == "-" => None,
        [prompt] => Some(prompt.clone()),
        [_, more, ..] => {
            return Err(format!(
                "exec: one prompt is wanted, `{more}` is a second; put it in quotes"
            ));
        }
    };
    let tools = if given.has("--yolo") || given.has("--disable-approval") {
        Tools::Allow
    } else if given.has("--disable-shell") {
        Tools::Deny
    } else {
        Tools::Ask
    };
    let run = Run {
        seed: common.seed,
        session,
        prompt: String::new(),
        provider,
        model: given.value("--model").map(str::to_owned),
        tools,
        noise: common.levers.exec_noise,
        stall: common.levers.exec_stall,
        cut_short: false,
    };
    Ok(Command::Exec(Box::new(ExecOptions { common, json: given.has("--json"), run, prompt })))
}

/// The form of a UUID of any version.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
