//! What can be learned of a Muse binary without a session (BIN-3): `--version` and `serve --help`,
//! side by side, five seconds each, once per binary and process.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::Mutex;

use crate::core::mode::FLAGS;

/// Budget of each of the two commands.
const BUDGET: Duration = Duration::from_secs(5);
/// More output than this is not looked at.
const OUTPUT_MAX: u64 = 256 * 1024;

/// What the two commands said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// First `x.y.z` in the output of `--version`.
    pub(super) version: Option<String>,
    /// `serve --help` exited with 0.
    pub(super) has_serve: bool,
    /// Of [`FLAGS`], those that `serve --help` lists (SAFE-8).
    pub(super) flags: Vec<&'static str>,
}

/// Facts by path. A second question about a binary waits for the first answer.
#[derive(Default)]
pub(super) struct Probe {
    known: Mutex<Vec<(PathBuf, Facts)>>,
}

impl Probe {
    /// Probes a binary, or remembers.
    pub(super) async fn facts(&self, binary: &Path) -> Facts {
        let mut known = self.known.lock().await;
        if let Some((_, facts)) = known.iter().find(|(path, _)| path == binary) {
            return facts.clone();
        }
        let (version, serve) =
            tokio::join!(run(binary, &["--version"]), run(binary, &["serve", "--help"]));
        let flags = serve.as_ref().map_or_else(Vec::new, |(_, text)| listed(text));
        let facts = Facts {
            flags,
            version: version.and_then(|(_, text)| first_version(&text)),
            has_serve: serve.is_some_and(|(ok, _)| ok),
        };
        tracing::info!(code = "probe", version = ?facts.version, has_serve = facts.has_serve);
        known.push((binary.to_owned(), facts.clone()));
        facts
    }

    /// Flags of the binary that was probed last; `None` before that, and while one is being probed.
    pub(super) fn known_flags(&self) -> Option<Vec<&'static str>> {
        let known = self.known.try_lock().ok()?;
        known.last().filter(|(_, facts)| facts.has_serve).map(|(_, facts)| facts.flags.clone())
    }
}

/// The flags that a help text names, each as a word of its own.
fn listed(help: &str) -> Vec<&'static str> {
    let words = || help.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    FLAGS.iter().copied().filter(|flag| words().any(|word| word == *flag)).collect()
}

/// Exit success and output; `None` when it could not run, or not in time.
async fn run(binary: &Path, arguments: &[&str]) -> Option<(bool, String)> {
    use tokio::io::AsyncReadExt;

    let mut command = Command::new(binary);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().ok()?;
    let group = Group::of(&child);
    let (stdout, stderr) = (child.stdout.take()?, child.stderr.take()?);
    let work = async {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let (mut stdout, mut stderr) = (stdout.take(OUTPUT_MAX), stderr.take(OUTPUT_MAX));
        let (_, _, status) =
            tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err), child.wait());
        out.append(&mut err);
        Some((status.ok()?.success(), String::from_utf8_lossy(&out).into_owned()))
    };
    let result = tokio::time::timeout(BUDGET, work).await.ok().flatten();
    drop(group); // whatever it started ends with it
    result
}

/// Kills a process group when dropped.
struct Group(#[allow(dead_code)] Option<u32>);

impl Group {
    fn of(child: &tokio::process::Child) -> Self {
        Self(child.id())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.0 {
            super::os::signal_group(id, rustix::process::Signal::KILL);
        }
    }
}

/// The first `digits.digits.digits`.
fn first_version(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    text.split(|c| !is_part(c)).find_map(|word| {
        let mut numbers = word.split('.').skip_while(|part| part.is_empty());
        let parts: Vec<&str> = numbers.by_ref().take(3).collect();
        let whole = parts.len() == 3 && parts.iter().all(|part| !part.is_empty());
        whole.then(|| parts.join("."))
    })
}

#[cfg(test)]
mod tests {
    use super::{first_version, listed};

    /// SAFE-8.
    #[test]
    fn a_flag_is_listed_when_it_stands_there_as_a_word() {
        for (help, expected) in [
            (
                "  --disable-write   no\n  --disable-shell=<X>",
                &["--disable-write", "--disable-shell"][..],
            ),
            ("-w, --disable-write", &["--disable-write"]),
            ("--disable-writes --no-disable-shell --disable-shell-x", &[]),
            ("", &[]),
        ] {
            assert_eq!(listed(help), expected, "{help}");
        }
    }

    #[test]
    fn the_first_version_is_found_in_any_text() {
        for (text, expected) in [
            ("muse 1.4.14 (abc)", Some("1.4.14")),
            ("Muse Code\nv1.1.1-R2514.1", Some("1.1.1")),
            ("1.2", None),
            ("x.y.z 10.20.30.40", Some("10.20.30")),
            ("", None),
        ] {
            assert_eq!(first_version(text).as_deref(), expected, "{text}");
        }
    }
}
