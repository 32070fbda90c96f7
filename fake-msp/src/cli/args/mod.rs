//! Arguments and environment to a command. Flags win over the environment.
//!
//! Invariant: every mistake is one line that names the argument and what is allowed; the program then
//! ends with exit code 2 (PRC).

mod exec;
mod flags;

use std::collections::BTreeMap;

pub(super) use exec::ExecOptions;
use flags::{Flag, Given};

use super::levers::{self, Levers};
use crate::profiles::{PROFILES, Profile};

/// What to do.
#[derive(Debug)]
pub(super) enum Command {
    Help,
    Profiles,
    /// Help of a command other than `serve`.
    HelpOf(&'static str),
    Version(Common),
    ServeHelp(Common),
    Serve(Box<ServeOptions>),
    Exec(Box<ExecOptions>),
    Export(ExportOptions),
    Skills(SkillsOptions),
    Login(Common),
    Logout(Common),
}

/// What every command takes.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) profile: &'static Profile,
    pub(super) seed: u64,
    pub(super) frame_log: Option<String>,
    /// Folder of the session store; without one, sessions end with the process.
    pub(super) store: Option<String>,
    pub(super) levers: Levers,
}

/// How to serve.
#[derive(Debug)]
pub(super) struct ServeOptions {
    pub(super) common: Common,
    pub(super) strict: bool,
    /// A recording to play instead of the model.
    pub(super) transcript: Option<String>,
    /// A story to play on the model.
    pub(super) scenario: Option<Story>,
}

/// What `scenario host` is told.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) file: String,
    pub(super) at: Option<String>,
    /// Only when it was said.
    pub(super) profile: Option<&'static str>,
}

/// What to export, and where to.
#[derive(Debug)]
pub(super) struct ExportOptions {
    pub(super) common: Common,
    pub(super) session: String,
    /// Stdout without it.
    pub(super) out: Option<String>,
}

/// How to list skills.
#[derive(Debug)]
pub(super) struct SkillsOptions {
    pub(super) common: Common,
    pub(super) json: bool,
}

/// Flags that the fake adds to every command of the host.
const OWN: [Flag; 5] = [
    Flag::value("--profile", "VERSION"),
    Flag::value("--seed", "N"),
    Flag::value("--fault", "LIST"),
    Flag::value("--frame-log", "FILE"),
    Flag::value("--store", "DIR"),
];
const HELP: [Flag; 2] = [Flag::switch("--help"), Flag::switch("-h")];
const COMMANDS: [&str; 9] =
    ["serve", "exec", "export", "skills", "login", "logout", "profiles", "--version", "--help"];
const NETWORK_MODES: [&str; 3] = ["restricted", "enabled", "proxy-only"];

/// Reads the command line; the error is a message for people.
pub(super) fn parse(
    args: &[String],
    env: &BTreeMap<String, String>,
    stdin_is_terminal: bool,
) -> Result<Command, String> {
    let (word, rest) = match args.split_first() {
        None if stdin_is_terminal => return Ok(Command::Help),
        None => ("serve", &[][..]),
        Some((word, rest)) => (word.as_str(), rest),
    };
    match word {
        "--help" | "-h" | "help" => Ok(Command::Help),
        "profiles" => {
            no_words(word, &flags::read(word, &[], rest)?)?;
            Ok(Command::Profiles)
        }
        "--version" | "-V" | "version" => {
            let given = flags::read(word, &OWN, rest)?;
            no_words(word, &given)?;
            Ok(Command::Version(common(word, &given, env)?))
        }
        "serve" => serve(rest, env),
        "exec" => exec::parse(rest, env),
        "export" => export(rest, env),
        "skills" => skills(rest, env),
        "login" | "logout" => {
            let given = flags::read(word, &[OWN.as_slice(), &HELP].concat(), rest)?;
            if is_help(&given) {
                return Ok(Command::HelpOf("login"));
            }
            no_words(word, &given)?;
            let common = common(word, &given, env)?;
            Ok(if word == "login" { Command::Login(common) } else { Command::Logout(common) })
        }
        other if OWN.iter().any(|flag| other.split('=').next() == Some(flag.name)) => {
            Err(format!("the command comes before {other}; for example fake-msp serve {other}"))
        }
        other => {
            let hint = match flags::nearest(other, &COMMANDS) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("allowed are {}", COMMANDS.join(", ")),
            };
            Err(format!("unknown command `{other}`; {hint}"))
        }
    }
}

fn serve(args: &[String], env: &BTreeMap<String, String>) -> Result<Command, String> {
    // The profile decides which flags exist, so it is looked up before they are read.
    let profile = match early_profile(args).or_else(|| from_env(env, "FAKE_MSP_PROFILE")) {
        Some(version) => find_profile(version)?,
        None => Profile::newest(),
    };
    let own_only = [
        Flag::switch("--strict"),
        Flag::value("--transcript", "DIR"),
        Flag::value("--scenario", "FILE"),
        Flag::value("--at", "POINT"),
    ];
    let host = profile.serve_flags.iter().map(|(line, _)| Flag::of_help_line(line));
    let table: Vec<Flag> = host.chain(OWN).chain(own_only).chain(HELP).collect();
    let given = flags::read("serve", &table, args)?;
    no_words("serve", &given)?;
    let common = common("serve", &given, env)?;
    if common.levers.no_serve {
        return Err("error: unrecognized subcommand 'serve' (lever no-serve)".into());
    }
    if is_help(&given) {
        return Ok(Command::ServeHelp(common));
    }
    if let Some(flag) = common.levers.no_flags.iter().find(|flag| given.has(flag)) {
        return Err(format!("serve: unknown flag `{flag}`; taken away by the lever no-flag"));
    }
    if let Some(mode) = given.value("--sandbox-network")
        && !NETWORK_MODES.contains(&mode)
    {
        return Err(format!(
            "serve: --sandbox-network `{mode}`: allowed are {}",
            NETWORK_MODES.join(", ")
        ));
    }
    let transcript = given.value("--transcript").or_else(|| from_env(env, "FAKE_MSP_TRANSCRIPT"));
    let transcript = transcript.map(str::to_owned);
    let has_levers = !common.levers.faults.is_empty() || !common.levers.tampers.is_empty();
    if transcript.is_some() && has_levers {
        return Err("serve: --transcript plays what was recorded and nothing else; \
                    leave the levers of methods out"
            .into());
    }
    let strict = match from_env(env, "FAKE_MSP_STRICT") {
        None | Some("0") => given.has("--strict"),
        Some("1") => true,
        Some(other) => return Err(format!("serve: FAKE_MSP_STRICT `{other}`: allowed are 0, 1")),
    };
    let scenario = given.value("--scenario").or_else(|| from_env(env, "FAKE_MSP_SCENARIO"));
    if scenario.is_none() && given.has("--at") {
        return Err("serve: --at names a point of a story: it needs --scenario FILE".into());
    }
    let other = [
        (transcript.is_some(), "--transcript"),
        (has_levers, "the levers"),
        (common.store.is_some(), "--store"),
        (common.frame_log.is_some(), "--frame-log"),
    ];
    if scenario.is_some()
        && let Some((_, what)) = other.iter().find(|(is_there, _)| *is_there)
    {
        return Err(format!("serve: --scenario plays what the story says; leave {what} out"));
    }
    // The story's `hosts` may ask for another generation than the newest: unsaid stays unsaid.
    let named = early_profile(args).or_else(|| from_env(env, "FAKE_MSP_PROFILE"));
    let scenario = scenario.map(|file| Story {
        file: file.to_owned(),
        at: given.value("--at").map(str::to_owned),
        profile: named.map(|_| common.profile.version),
    });
    Ok(Command::Serve(Box::new(ServeOptions { common, strict, transcript, scenario })))
}

fn export(args: &[String], env: &BTreeMap<String, String>) -> Result<Command, String> {
    let own = [Flag::value("--session", "ID"), Flag::value("--out", "FILE")];
    let given = flags::read("export", &[&own[..], &OWN, &HELP].concat(), args)?;
    if is_help(&given) {
        return Ok(Command::HelpOf("export"));
    }
    no_words("export", &given)?;
    let common = common("export", &given, env)?;
    let session = given.value("--session").ok_or("export: needs --session ID")?.to_owned();
    let out = given.value("--out").map(str::to_owned);
    Ok(Command::Export(ExportOptions { common, session, out }))
}

fn skills(args: &[String], env: &BTreeMap<String, String>) -> Result<Command, String> {
    let own = [Flag::switch("--json"), Flag::value("--workspace", "DIR")];
    let given = flags::read("skills", &[&own[..], &OWN, &HELP].concat(), args)?;
    if is_help(&given) {
        return Ok(Command::HelpOf("skills"));
    }
    match given.words.as_slice() {
        [word] if word == "list" => {}
        _ => return Err("skills: the one thing it does is list: fake-msp skills list".into()),
    }
    let common = common("skills", &given, env)?;
    Ok(Command::Skills(SkillsOptions { common, json: given.has("--json") }))
}

fn is_help(given: &Given) -> bool {
    given.has("--help") || given.has("-h")
}

fn early_profile(args: &[String]) -> Option<&str> {
    let at = args.iter().position(|arg| arg == "--profile" || arg.starts_with("--profile="))?;
    args[at].split_once('=').map(|(_, value)| value).or_else(|| Some(args.get(at + 1)?.as_str()))
}

fn common(command: &str, given: &Given, env: &BTreeMap<String, String>) -> Result<Common, String> {
    let value = |flag: &'static str, variable: &'static str| {
        let by_flag = given.value(flag).map(|value| (flag, value));
        by_flag.or_else(|| from_env(env, variable).map(|value| (variable, value)))
    };
    let profile = match value("--profile", "FAKE_MSP_PROFILE") {
        Some((_, version)) => find_profile(version)?,
        None => Profile::newest(),
    };
    let seed = match value("--seed", "FAKE_MSP_SEED") {
        Some((source, text)) => text.parse().map_err(|_| {
            format!("{command}: {source} `{text}`: a whole number from 0 to {} is wanted", u64::MAX)
        })?,
        None => 0,
    };
    let levers = match value("--fault", "FAKE_MSP_FAULT") {
        Some((source, list)) => {
            levers::parse(list).map_err(|text| format!("{command}: {source}: {text}"))?
        }
        None => Levers::default(),
    };
    let frame_log = value("--frame-log", "FAKE_MSP_FRAME_LOG").map(|(_, path)| path.to_owned());
    let store = value("--store", "FAKE_MSP_STORE").map(|(_, path)| path.to_owned());
    Ok(Common { profile, seed, frame_log, store, levers })
}

fn from_env<'a>(env: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    env.get(name).map(String::as_str).filter(|value| !value.is_empty())
}

fn no_words(command: &str, given: &Given) -> Result<(), String> {
    match given.words.first() {
        Some(word) => Err(format!("{command}: takes no argument `{word}`; flags begin with --")),
        None => Ok(()),
    }
}

fn find_profile(version: &str) -> Result<&'static Profile, String> {
    Profile::find(version).ok_or_else(|| {
        let known: Vec<&str> = PROFILES.iter().map(|profile| profile.version).collect();
        format!("unknown profile `{version}`; allowed are {}", known.join(", "))
    })
}
