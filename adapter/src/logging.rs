//! Where log events go (LOG-1, LOG-2): stderr, and `agent.log` in the folder that `MUSE_AGENT_LOGS`
//! names. `RUST_LOG` decides what; the values are those of `tracing_subscriber::filter::Targets`.

use std::fmt;
use std::fs::OpenOptions;
use std::path::PathBuf;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt as layers};

/// Starts logging. A subscriber that is there already is kept.
///
/// # Errors
/// When the log file cannot be opened; events then go to stderr only.
pub(crate) fn start() -> std::io::Result<()> {
    quiet_panics();
    let chosen = std::env::var("RUST_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    let level = |otherwise: LevelFilter| {
        chosen.clone().unwrap_or_else(|| Targets::new().with_default(otherwise))
    };
    let (file, problem) = match log_file() {
        Ok(file) => (file, None),
        Err(error) => (None, Some(error)),
    };
    let to_file = file.map(|file| {
        layers::layer()
            .with_ansi(false)
            .with_timer(TimeAndPid)
            .with_writer(std::sync::Mutex::new(file))
            .with_filter(level(LevelFilter::INFO))
    });
    let to_stderr = layers::layer()
        .with_ansi(false)
        .with_writer(std::io::stderr)
        .with_filter(level(LevelFilter::WARN));
    let _ = tracing_subscriber::registry().with(to_stderr).with(to_file).try_init();
    problem.map_or(Ok(()), Err)
}

fn log_file() -> std::io::Result<Option<std::fs::File>> {
    let Some(folder) = std::env::var_os("MUSE_AGENT_LOGS").filter(|folder| !folder.is_empty())
    else {
        return Ok(None);
    };
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(folder.join("agent.log")).map(Some)
}

/// A panic's message may quote what was being handled; its place is enough to find the bug.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
        tracing::error!(code = "panic", place, "this is a bug, please report it");
    }));
}

/// `<ISO time> pid=<pid>`.
struct TimeAndPid;

impl FormatTime for TimeAndPid {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        SystemTime.format_time(writer)?;
        write!(writer, " pid={}", std::process::id())
    }
}
