//! The program: arguments, logging, exit codes (PROC-1..9, LOG-1, LOG-2).

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use crate::core::Config;
use crate::core::redact::Redactor;
use crate::logging;
use crate::shell::os::Os;
use crate::shell::{Driver, signals};

const HELP: &str = "\
muse-code-acp: an ACP agent on stdin and stdout that drives Muse Code

Usage: muse-code-acp                  speak ACP (what an editor starts)
       muse-code-acp --cli [ARG]...   run Muse itself with these arguments, for example --cli login
       muse-code-acp --version
       muse-code-acp --help

Environment:
  MUSE_CODE_EXECUTABLE               path of Muse; otherwise the first `muse` on PATH
  MUSE_CODE_ACP_BACKEND              `sdk` (the default)
  MUSE_CODE_ACP_STARTUP_TIMEOUT_MS   budget to start Muse, and again to open the session [120000]
  MUSE_CODE_ACP_SUBMIT_TIMEOUT_MS    budget until Muse acknowledges a prompt [30000]
  MUSE_CODE_ACP_STALL_MS             how long Muse may wait for a decision without moving [10000]
  META_API_KEY                       credential that Muse uses
  MUSE_AGENT_LOGS                    folder for agent.log
  RUST_LOG                           what is logged, for example `debug` [stderr: warn, file: info]
";

/// Exit code of wrong usage or configuration.
const USAGE: u8 = 2;

/// Runs the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--cli") {
        arguments.remove(at);
        return delegate(&arguments); // PROC-2: before everything else
    }
    match arguments.first().and_then(|argument| argument.to_str()) {
        None if arguments.is_empty() => serve(),
        Some("--version" | "-v" | "-V") => say(&format!("{}\n", env!("CARGO_PKG_VERSION"))),
        Some("--help" | "-h") => say(HELP),
        _ => {
            complain("unknown argument; the only ones are --cli, --version and --help");
            ExitCode::from(USAGE)
        }
    }
}

/// Stdout is written here and nowhere else outside the protocol.
fn say(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn complain(text: &str) {
    // Nobody is left to be told that stderr is closed.
    let _ = writeln!(std::io::stderr(), "muse-code-acp: {text}");
}

fn serve() -> ExitCode {
    if let Err(message) = backend() {
        complain(&message);
        return ExitCode::from(USAGE);
    }
    let redactor = Arc::new(Redactor::from_environment(text_variables()));
    if let Err(error) = logging::start() {
        complain(&format!("MUSE_AGENT_LOGS: {error}; logging to stderr only"));
    }
    let config = config(redactor);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("cannot start: {}", error.kind()));
            return ExitCode::FAILURE;
        }
    };
    tracing::info!(code = "start", version = env!("CARGO_PKG_VERSION"));
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let world = Os::new();
        tokio::task::spawn_local(world.warm_up());
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        Driver::new(config, world, input, output, signals::first()).run().await;
    });
    tracing::info!(code = "exit");
    // A blocking read of stdin cannot be cancelled; the process ends without it.
    runtime.shutdown_background();
    ExitCode::SUCCESS
}

/// PROC-5.
fn backend() -> Result<(), String> {
    const NAME: &str = "MUSE_CODE_ACP_BACKEND";
    match std::env::var_os(NAME) {
        None => Ok(()),
        Some(value) if value == "sdk" => Ok(()),
        Some(value) if value == "exec" => Err(format!(
            "{NAME}=exec: this version does not have the exec backend yet; unset the variable"
        )),
        Some(value) => Err(format!(
            "{NAME}={:?} is not a backend; the values are `sdk` and `exec`",
            value.to_string_lossy()
        )),
    }
}

fn config(redactor: Arc<Redactor>) -> Config {
    let mut config = Config {
        redactor,
        executable: std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned)),
        ..Config::default()
    };
    let budgets = [
        ("MUSE_CODE_ACP_STARTUP_TIMEOUT_MS", &mut config.startup),
        ("MUSE_CODE_ACP_SUBMIT_TIMEOUT_MS", &mut config.submit),
    ];
    for (name, budget) in budgets {
        let Some(value) = std::env::var_os(name) else { continue };
        match value.to_str().and_then(milliseconds) {
            Some(value) => *budget = value,
            None => {
                tracing::error!(
                    code = "timeout-variable",
                    name,
                    "not a whole number from 1 to 2147483647"
                );
                config.invalid_timeout = Some(name);
            }
        }
    }
    const STALL: &str = "MUSE_CODE_ACP_STALL_MS";
    if let Some(value) = std::env::var_os(STALL) {
        config.stall = stall(value.to_str(), config.stall);
    }
    config
}

/// STL-1: here an unusable value keeps the default.
fn stall(value: Option<&str>, default: Duration) -> Duration {
    value.and_then(milliseconds).unwrap_or_else(|| {
        tracing::warn!(
            code = "stall-variable",
            "MUSE_CODE_ACP_STALL_MS is no whole number from 1 to 2147483647; keeping the default"
        );
        default
    })
}

/// PROC-10: digits only, 1..=2147483647.
fn milliseconds(text: &str) -> Option<Duration> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let value: u64 = digits.then(|| text.parse().ok())??;
    (1..=2_147_483_647).contains(&value).then(|| Duration::from_millis(value))
}

fn text_variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// PROC-2: Muse with inherited stdio takes this process's place.
fn delegate(arguments: &[OsString]) -> ExitCode {
    let binary = match crate::shell::os::find_muse() {
        Ok(binary) => binary,
        Err(hint) => {
            complain(&hint);
            return ExitCode::FAILURE;
        }
    };
    let mut command = std::process::Command::new(binary);
    command.args(arguments);
    #[cfg(unix)]
    {
        // The same process: signals, exit code and terminal are Muse's own from here on.
        let error = std::os::unix::process::CommandExt::exec(&mut command);
        complain(&format!("cannot start Muse: {}", error.kind()));
        ExitCode::FAILURE
    }
    #[cfg(not(unix))]
    match command.status() {
        Ok(status) => {
            u8::try_from(status.code().unwrap_or(1)).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            complain(&format!("cannot start Muse: {}", error.kind()));
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// STL-1 (SCN-WDG-08).
    #[test]
    fn a_stall_bound_that_is_no_number_keeps_the_default() {
        let default = Duration::from_secs(10);
        assert_eq!(stall(Some("250"), default), Duration::from_millis(250));
        for wrong in [Some("0"), Some("-5"), Some("soon"), Some(""), None] {
            assert_eq!(stall(wrong, default), default, "{wrong:?}");
        }
    }

    #[test]
    fn a_budget_is_a_whole_number_of_milliseconds() {
        assert_eq!(milliseconds("1"), Some(Duration::from_millis(1)));
        assert_eq!(milliseconds("2147483647"), Some(Duration::from_millis(2_147_483_647)));
        for wrong in ["", "0", "-1", "+1", "1.5", "1e3", " 1", "2147483648", "99999999999999999999"]
        {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }
}
