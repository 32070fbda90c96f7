//! The official MSP client packages as judges of the fake host, or the reason why one is absent.
//!
//! `bash .ci/run judges` makes them: a virtual environment per Python version, a program per crate
//! version. Each plays one case and prints one JSON object (`tests/judges/`).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// One version of one package.
#[derive(Clone, Copy, Debug)]
pub struct Judge {
    /// `python` or `rust`.
    pub language: &'static str,
    /// Of the package.
    pub version: &'static str,
    /// Of the fake host that it drives.
    pub profile: &'static str,
}

/// All of them. The first Python version is for hosts 1.3.
pub const JUDGES: &[Judge] = &[
    Judge { language: "python", version: "1.3.1", profile: "1.3.0" },
    Judge { language: "python", version: "1.4.13", profile: "1.4.13" },
    Judge { language: "rust", version: "1.4.13", profile: "1.4.13" },
    Judge { language: "rust", version: "1.4.14", profile: "1.4.14" },
];

impl Judge {
    /// As part of a test's name.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}_{}", self.language, self.version.replace('.', "_"))
    }

    /// The command without its arguments, if the judge was made from what is there now.
    ///
    /// Where it was not, `SKIPPED name: reason` is said.
    ///
    /// # Panics
    /// With `CI_REQUIRE_JUDGES=1`, instead of a skip.
    #[must_use]
    pub fn find(&self, test: &str) -> Option<Command> {
        match self.look() {
            Ok(command) => Some(command),
            Err(reason) => {
                skip(test, &reason, "CI_REQUIRE_JUDGES");
                None
            }
        }
    }

    fn look(&self) -> Result<Command, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("judges").join(self.language);
        let made = match self.language {
            "python" => folder.join(format!(".venv-{}/bin/python", self.version)),
            _ => {
                let name = format!("judge-{}", self.version.replace('.', "-"));
                folder.join("target/debug").join(name + std::env::consts::EXE_SUFFIX)
            }
        };
        if !made.is_file() {
            return Err(format!("{} is not installed (bash .ci/run judges)", self.name()));
        }
        let mut command = Command::new(&made);
        match self.language {
            "python" => {
                command.arg(folder.join("driver.py"));
            }
            _ if newest(&folder.join("src")) > modified(&made) => {
                return Err(format!(
                    "{} is older than its source (bash .ci/run judges)",
                    self.name()
                ));
            }
            _ => {}
        }
        Ok(command)
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|meta| meta.modified()).ok()
}

fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = folder.read_dir().ok()?;
    entries.flatten().filter_map(|entry| modified(&entry.path())).max()
}

/// The public material about the wire: `MSP_MATERIAL`, else `../shared/msp` beside the workspace.
///
/// Where there is none, `SKIPPED name: reason` is said.
///
/// # Panics
/// With `CI_REQUIRE_MATERIAL=1`, instead of a skip.
#[must_use]
pub fn material(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/msp");
    let named = std::env::var_os("MSP_MATERIAL").map(PathBuf::from);
    let found = named.into_iter().chain([beside]).find(|folder| folder.join("schema").is_dir());
    if found.is_none() {
        skip(test, "the public MSP material is not here (MSP_MATERIAL)", "CI_REQUIRE_MATERIAL");
    }
    found
}

fn skip(test: &str, reason: &str, switch: &str) {
    let required = std::env::var_os(switch).is_some_and(|value| value == "1");
    assert!(!required, "{test} is required here, but {reason}");
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}
