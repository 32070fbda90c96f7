//! The `fake-msp` program: arguments, environment, exit codes.
//!
//! Purpose: behave as the `muse` executable for every command that clients use, plus help of its own. Inputs: arguments, environment, three streams. Outputs: an exit code. Invariants:
//! in `serve`, stdout carries frames only (FRM-13); a usage error is exit 2 with a message that
//! names what is allowed (PRC). It knows nothing of the protocol.

mod args;
mod commands;
mod frame_log;
mod help;
mod levers;
mod lines;
mod player;
mod redact;
#[cfg(unix)]
mod relay;
mod serve;
mod store;
mod story;
mod tamper;

use std::collections::BTreeMap;
use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

use args::Command;
use commands::Face;

/// Environment variables that are read, for clients that cannot pass flags.
pub const ENVIRONMENT: [&str; 9] = [
    "FAKE_MSP_PROFILE",
    "FAKE_MSP_SEED",
    "FAKE_MSP_FRAME_LOG",
    "FAKE_MSP_FAULT",
    "FAKE_MSP_STORE",
    "FAKE_MSP_STRICT",
    "FAKE_MSP_TRANSCRIPT",
    "FAKE_MSP_CONTROL",
    "FAKE_MSP_SCENARIO",
];

/// The streams of a process.
pub struct Streams {
    /// Client frames.
    pub stdin: Box<dyn Read + Send>,
    /// Whether a person sits at stdin: then no argument means help, not `serve`.
    pub stdin_is_terminal: bool,
    /// Host frames.
    pub stdout: Box<dyn Write>,
    /// Text for people.
    pub stderr: Box<dyn Write>,
}

/// Entry point of the binary.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let env = ENVIRONMENT
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    let stdin = std::io::stdin();
    let streams = Streams {
        stdin_is_terminal: stdin.is_terminal(),
        stdin: Box::new(stdin),
        stdout: Box::new(std::io::stdout().lock()),
        stderr: Box::new(std::io::stderr()),
    };
    ExitCode::from(run(&args, &env, streams))
}

/// Runs the program with everything passed in. Returns the exit code: 0 clean, 1 failed or oracle
/// findings under `--strict`, 2 usage, 3 a file that cannot be used, 6 a departure from a transcript, or
/// what a lever asks for.
#[must_use]
pub fn run(args: &[String], env: &BTreeMap<String, String>, streams: Streams) -> u8 {
    let Streams { stdin, stdin_is_terminal, mut stdout, mut stderr } = streams;
    let command = match args::parse(args, env, stdin_is_terminal) {
        Ok(Command::Serve(options)) if options.scenario.is_some() => {
            drop((stdin, stdout));
            let Some(story) = &options.scenario else { return 2 };
            return story::hand_over(&options, story, &mut stderr);
        }
        #[cfg(unix)]
        Ok(Command::Serve(_)) if env.contains_key(relay::VARIABLE) => {
            // It reads and writes its own streams: it has to close them while the process lives.
            drop((stdin, stdout));
            return relay::serve(&env[relay::VARIABLE], &mut stderr);
        }
        Ok(Command::Serve(options)) => return serve::serve(*options, stdin, stdout, stderr),
        Ok(command) => command,
        Err(usage) => {
            let _ = writeln!(stderr, "fake-msp: {usage}");
            return 2;
        }
    };
    let mut face = Face { stdin, stdout: &mut stdout, stderr: &mut stderr };
    match command {
        // Handled above: it owns its streams.
        Command::Serve(_) => 0,
        Command::Help => face.print(&help::help()),
        Command::HelpOf(command) => face.print(help::of(command)),
        Command::Profiles => face.print(&crate::profiles::describe()),
        Command::ServeHelp(common) => match face.levers("serve-help", &common.levers) {
            Some(code) => code,
            None => face.print(&help::serve_help(common.profile, &common.levers.no_flags)),
        },
        Command::Version(common) => match face.levers("version", &common.levers) {
            Some(code) => code,
            None if common.levers.slow_version => commands::hang(),
            None => {
                let line = common.levers.version.as_deref().unwrap_or(common.profile.version_line);
                face.print(&format!("{line}\n"))
            }
        },
        Command::Exec(options) => face.exec(*options),
        Command::Export(options) => face.export(&options),
        Command::Skills(options) => face.skills(&options),
        Command::Login(common) => face.login(&common),
        Command::Logout(common) => face.logout(&common),
    }
}
