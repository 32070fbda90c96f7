//! Arguments and environment to a command. Flags win over the environment.
//!
//! Invariant: every mistake is one line that names the argument and what is allowed; the program then
//! ends with exit code 2 (PRC).

mod flags;

use std::collections::BTreeMap;

use flags::{Flag, Given};

use super::levers::{self, Levers};
use crate::profiles::{PROFILES, Profile};

/// What to do.
#[derive(Debug)]
pub(super) enum Command {
    Help,
    Profiles,
    Version { profile: &'static Profile, slow: bool },
    ServeHelp { profile: &'static Profile, refused: bool },
    Serve(Box<ServeOptions>),
}

/// What every command takes.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) profile: &'static Profile,
    pub(super) seed: u64,
    pub(super) frame_log: Option<String>,
    pub(super) levers: Levers,
}

/// How to serve.
#[derive(Debug)]
pub(super) struct ServeOptions {
    pub(super) common: Common,
    pub(super) strict: bool,
    /// A recording to play instead of the model.
    pub(super) transcript: Option<String>,
}

/// Flags that the fake adds to every command of the host.
const OWN: [Flag; 4] = [
    Flag::value("--profile", "VERSION"),
    Flag::value("--seed", "N"),
    Flag::value("--fault", "LIST"),
    Flag::value("--frame-log", "FILE"),
];
const HELP: [Flag; 2] = [Flag::switch("--help"), Flag::switch("-h")];
const COMMANDS: [&str; 4] = ["serve", "profiles", "--version", "--help"];
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
            let common = common(word, &given, env)?;
            Ok(Command::Version { profile: common.profile, slow: common.levers.slow_version })
        }
        "serve" => serve(rest, env),
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
    let own_only = [Flag::switch("--strict"), Flag::value("--transcript", "DIR")];
    let host = profile.serve_flags.iter().map(|(line, _)| Flag::of_help_line(line));
    let table: Vec<Flag> = host.chain(OWN).chain(own_only).chain(HELP).collect();
    let given = flags::read("serve", &table, args)?;
    no_words("serve", &given)?;
    let common = common("serve", &given, env)?;
    let refused = common.levers.no_serve;
    if given.has("--help") || given.has("-h") {
        return Ok(Command::ServeHelp { profile, refused });
    }
    if refused {
        return Err("error: unrecognized subcommand 'serve' (lever no-serve)".into());
    }
    if let Some(mode) = given.value("--sandbox-network")
        && !NETWORK_MODES.contains(&mode)
    {
        return Err(format!(
            "serve: --sandbox-network `{mode}`: allowed are {}",
            NETWORK_MODES.join(", ")
        ));
    }
    let transcript = given.value("--transcript").map(str::to_owned);
    if transcript.is_some() && !common.levers.faults.is_empty() {
        return Err("serve: --transcript plays what was recorded and nothing else; \
                    leave the levers of methods out"
            .into());
    }
    let strict = given.has("--strict");
    Ok(Command::Serve(Box::new(ServeOptions { common, strict, transcript })))
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
    Ok(Common { profile, seed, frame_log, levers })
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
