//! One executable, three programs: a tool that starts the adapter with a fake host needs no other
//! file installed, and the three can never be of different builds.
//!
//! Input: the name the process was called by. Output: the exit code of the program of that name.
//! Invariant: an unknown name is `scenario`, so a renamed binary still explains itself.
//! It does not know what the programs do with their arguments; each reads its own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

/// What this executable can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `muse-code-acp`: the ACP agent.
    Adapter,
    /// `muse` or `fake-msp`: the fake Muse host.
    FakeHost,
    /// Any other name: the tool itself.
    Scenario,
}

impl Program {
    /// The program meant by `argv0`, a path or a bare name. A final `.exe` is not part of the name,
    /// in any case of letters, because Windows does not care either.
    #[must_use]
    pub fn from_argv0(argv0: &OsStr) -> Self {
        let name = Path::new(argv0).file_name().unwrap_or_default().to_string_lossy();
        let stem = match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
            Some((stem, suffix)) if suffix.eq_ignore_ascii_case(".exe") => stem,
            _ => &name,
        };
        match stem {
            "muse-code-acp" => Self::Adapter,
            "muse" | "fake-msp" => Self::FakeHost,
            _ => Self::Scenario,
        }
    }
}

/// Entry point of the executable.
#[must_use]
pub fn main() -> ExitCode {
    let argv0 = std::env::args_os().next().unwrap_or_default();
    match Program::from_argv0(&argv0) {
        Program::Adapter => muse_code_acp::cli::main(),
        Program::FakeHost => fake_msp::cli::main(),
        Program::Scenario => crate::cli::main(),
    }
}

#[cfg(test)]
mod tests {
    use super::Program::{self, Adapter, FakeHost, Scenario};

    fn check(argv0: &str, expected: Program) {
        assert_eq!(Program::from_argv0(argv0.as_ref()), expected, "{argv0:?}");
    }

    #[test]
    fn the_name_decides_whatever_folder_it_is_in() {
        check("muse-code-acp", Adapter);
        check("/opt/tools/muse-code-acp", Adapter);
        check("./muse", FakeHost);
        check("fake-msp", FakeHost);
        check("scenario", Scenario);
        check("/opt/muse/scenario", Scenario);
    }

    #[test]
    fn a_windows_suffix_is_not_part_of_the_name() {
        check("muse.exe", FakeHost);
        check("muse-code-acp.EXE", Adapter);
        check(".exe", Scenario);
    }

    #[test]
    fn any_other_name_is_the_tool() {
        check("", Scenario);
        check("muse-code", Scenario);
        check("muse.sh", Scenario);
        check("Muse", Scenario);
        check("a.é", Scenario);
    }
}
