//! Arguments and environment to a command. Flags win over the environment.

use std::collections::BTreeMap;

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

/// How to serve.
#[derive(Debug)]
pub(super) struct ServeOptions {
    pub(super) profile: &'static Profile,
    pub(super) seed: u64,
    pub(super) frame_log: Option<String>,
    pub(super) strict: bool,
    pub(super) levers: Levers,
}

/// Reads the command line; the error is a message for people.
pub(super) fn parse(
    args: &[String],
    env: &BTreeMap<String, String>,
    stdin_is_terminal: bool,
) -> Result<Command, String> {
    let from_env = |name: &str| env.get(name).filter(|value| !value.is_empty());
    let mut profile = match from_env("FAKE_MSP_PROFILE") {
        Some(version) => find_profile(version)?,
        None => Profile::newest(),
    };
    let levers = match from_env("FAKE_MSP_FAULT") {
        Some(list) => levers::parse(list).map_err(|text| format!("FAKE_MSP_FAULT: {text}"))?,
        None => Levers::default(),
    };
    let seed = match from_env("FAKE_MSP_SEED") {
        Some(text) => read_seed(text)?,
        None => 0,
    };
    let frame_log = from_env("FAKE_MSP_FRAME_LOG").cloned();
    let serve = |profile| ServeOptions { profile, seed, frame_log, strict: false, levers };
    match args.first().map(String::as_str) {
        None if stdin_is_terminal => Ok(Command::Help),
        None => Ok(Command::Serve(Box::new(refuse_if_absent(serve(profile))?))),
        Some("--help" | "-h" | "help") => Ok(Command::Help),
        Some("profiles") => Ok(Command::Profiles),
        Some("--version" | "-V" | "version") => {
            let options = serve(profile);
            Ok(Command::Version { profile, slow: options.levers.slow_version })
        }
        Some("serve") => {
            // The profile decides which flags exist, so it is read first.
            if let Some(version) = value_of(args, "--profile")? {
                profile = find_profile(&version)?;
            }
            let mut options = serve(profile);
            if args[1..].iter().any(|arg| arg == "--help" || arg == "-h") {
                return Ok(Command::ServeHelp { profile, refused: options.levers.no_serve });
            }
            read_serve_flags(&args[1..], &mut options)?;
            Ok(Command::Serve(Box::new(refuse_if_absent(options)?)))
        }
        Some(other) => Err(format!(
            "unknown command `{other}`; allowed are serve, profiles, --version and --help"
        )),
    }
}

fn refuse_if_absent(options: ServeOptions) -> Result<ServeOptions, String> {
    match options.levers.no_serve {
        true => Err("error: unrecognized subcommand 'serve' (lever no-serve)".into()),
        false => Ok(options),
    }
}

fn find_profile(version: &str) -> Result<&'static Profile, String> {
    Profile::find(version).ok_or_else(|| {
        let known: Vec<&str> = PROFILES.iter().map(|profile| profile.version).collect();
        format!("unknown profile `{version}`; allowed are {}", known.join(", "))
    })
}

fn read_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("seed `{text}` is not a whole number of at most 64 bits"))
}

/// The value of a flag, as `--flag VALUE` or `--flag=VALUE`; the last one wins.
fn value_of(args: &[String], flag: &str) -> Result<Option<String>, String> {
    let mut found = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == flag {
            let value = rest.next().ok_or_else(|| format!("{flag} needs a value"))?;
            found = Some(value.clone());
        } else if let Some(value) = arg.strip_prefix(flag).and_then(|tail| tail.strip_prefix('=')) {
            found = Some(value.to_owned());
        }
    }
    Ok(found)
}

fn read_serve_flags(args: &[String], options: &mut ServeOptions) -> Result<(), String> {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (flag, inline) = match arg.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let mut value = || {
            inline
                .clone()
                .or_else(|| rest.next().cloned())
                .ok_or_else(|| format!("{flag} needs a value"))
        };
        match flag {
            "--profile" => {
                value()?;
            }
            "--seed" => options.seed = read_seed(&value()?)?,
            "--frame-log" => options.frame_log = Some(value()?),
            "--strict" => options.strict = true,
            _ => {
                let known =
                    options.profile.serve_flags.iter().find(|(line, _)| {
                        line.split_once(' ').map_or(*line, |(name, _)| name) == flag
                    });
                let Some((line, _)) = known else {
                    return Err(unknown_flag(flag, options.profile));
                };
                if line.contains(' ') {
                    let mode = value()?;
                    if !["restricted", "enabled", "proxy-only"].contains(&mode.as_str()) {
                        return Err(format!(
                            "{flag} `{mode}`: allowed are restricted, enabled, proxy-only"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

fn unknown_flag(flag: &str, profile: &Profile) -> String {
    let known: Vec<&str> = profile.serve_flags.iter().map(|(line, _)| *line).collect();
    format!(
        "unknown flag `{flag}`; host {} has {}; the fake adds --profile, --seed, --frame-log, \
         --strict",
        profile.version,
        known.join(", ")
    )
}
