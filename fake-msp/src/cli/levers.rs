//! `--fault` and `FAKE_MSP_FAULT`: a comma list of levers.
//!
//! Rules: HOST-15; the levers that fixtures of clients need (FIX-1, FIX-2).

use super::tamper::Tamper;
use crate::engine::Fault;
use crate::profiles::PROTECTED;

/// All levers, by who plays them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Levers {
    /// Played by the engine; the name may also be that of a command.
    pub(super) faults: Vec<Fault>,
    /// Played on the wire.
    pub(super) tampers: Vec<Tamper>,
    /// Start a child that holds stdout open for 30 s.
    pub(super) grandchild: bool,
    /// A line for stderr at start.
    pub(super) stderr: Option<String>,
    /// `serve` does not exist.
    pub(super) no_serve: bool,
    /// `--version` never answers.
    pub(super) slow_version: bool,
    /// `--version` prints this.
    pub(super) version: Option<String>,
    /// Flags that `serve` does not have.
    pub(super) no_flags: Vec<String>,
    pub(super) export: ExportLevers,
    /// `exec`: lines between the events that are no events of this schema.
    pub(super) exec_noise: bool,
    /// `exec`: the last line has no newline.
    pub(super) exec_cut: bool,
    /// `exec`: a proposed tool is never followed by anything.
    pub(super) exec_stall: bool,
    /// `skills list` prints no JSON.
    pub(super) skills_bad: bool,
    /// `skills list` has no skills.
    pub(super) skills_none: bool,
}

/// What is wrong with an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExportLevers {
    /// Another `export_schema_version`.
    pub(super) schema: Option<u64>,
    /// Fill the document up to this size in bytes.
    pub(super) bytes: Option<u64>,
    /// The file is no JSON.
    pub(super) bad: bool,
    /// No file, although the exit code says success.
    pub(super) none: bool,
}

/// The levers, for messages and help.
pub(super) const ALLOWED: &str = "\
ignore:METHOD        never answers METHOD
error:METHOD:CODE    answers METHOD with this error
exit:METHOD:CODE     ends with exit code CODE (0-255) when METHOD arrives
eof:METHOD           closes stdout when METHOD arrives and stays alive
crash:METHOD         dies by a signal when METHOD arrives
delay:METHOD:MS      sees METHOD, and all that follows it, MS milliseconds later
late:METHOD:MS       acts on METHOD at once and answers MS milliseconds later
lost:METHOD          acts on METHOD and never answers
twice:METHOD         answers METHOD twice
noise:METHOD         writes broken and unknown lines before the answer to METHOD
huge:METHOD          writes a line above the frame limit before the answer to METHOD
cut:METHOD           writes half of the answer to METHOD and ends with exit code 1
fingerprint:TEXT     `initialize` names the schema fingerprint TEXT
model:ID             `session/read` names the model ID, whatever the session has
legacy-profile       `session/resume` is refused: saved with the profile `:auto-review`
gap:METHOD           drops every event METHOD for the client and sends view/gap
hang-on-eof          does not end at the end of stdin
grandchild           a child holds stdout open for 30 s (unix)
stderr:TEXT          writes TEXT to stderr at start
no-serve             `serve` and `serve --help` fail with exit code 2
no-flag:FLAG         `serve` has no FLAG, and `serve --help` does not list it
slow-version         `--version` hangs
version:TEXT         `--version` prints TEXT
export-schema:N      `export` writes export_schema_version N
export-bytes:N       `export` writes a document of at least N bytes
export-bad           `export` writes a file that is no JSON
export-none          `export` writes no file and ends with 0
skills-none          `skills list` has no skills
skills-bad           `skills list` prints no JSON
exec-noise           `exec` mixes lines in that are no events of its schema
exec-cut             `exec` ends without the last newline
exec-stall           `exec` proposes a tool and says nothing more
";

/// Commands that a lever may name instead of a method.
pub(super) const COMMANDS_HELP: &str = "\
METHOD in ignore, exit, crash and delay may also be a command: version, serve-help, exec, export,
skills, login, logout.
";

/// Reads a list; the error names the lever and what is allowed, in one line.
pub(super) fn parse(list: &str) -> Result<Levers, String> {
    let mut levers = Levers::default();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if levers.read(word).is_none() {
            let forms: Vec<&str> =
                ALLOWED.lines().filter_map(|line| line.split_whitespace().next()).collect();
            return Err(format!("unknown lever `{word}`; allowed are {}", forms.join(", ")));
        }
    }
    Ok(levers)
}

impl Levers {
    /// How long a command waits before it begins, in milliseconds.
    pub(super) fn delay_of(&self, command: &str) -> Option<u64> {
        self.tampers.iter().find_map(|tamper| match tamper {
            Tamper::Delay(name, ms) if name == command => Some(*ms),
            _ => None,
        })
    }

    /// Reads one lever; `None` if it is none.
    fn read(&mut self, word: &str) -> Option<()> {
        let (name, rest) = word.split_once(':').map_or((word, None), |(n, r)| (n, Some(r)));
        let Some(rest) = rest else { return self.read_plain(name) };
        if rest.is_empty() {
            return None;
        }
        let text = || rest.to_owned();
        match name {
            "ignore" => self.faults.push(Fault::Ignore(text())),
            "gap" if PROTECTED.contains(&rest) => return None,
            "gap" => self.faults.push(Fault::Gap(text())),
            "eof" => self.faults.push(Fault::CloseStdout(text())),
            "crash" => self.faults.push(Fault::Crash(text())),
            "error" => {
                let (method, code) = with_number(rest)?;
                self.faults.push(Fault::Error(method, code));
            }
            "exit" => {
                let (method, code) = with_number::<u8>(rest)?;
                self.faults.push(Fault::Exit(method, code.into()));
            }
            "delay" => {
                let (method, ms) = with_number::<u32>(rest)?;
                self.tampers.push(Tamper::Delay(method, ms.into()));
            }
            "late" => {
                let (method, ms) = with_number::<u32>(rest)?;
                self.tampers.push(Tamper::Late(method, ms.into()));
            }
            "lost" => self.tampers.push(Tamper::Lost(text())),
            "twice" => self.tampers.push(Tamper::Twice(text())),
            "noise" => self.tampers.push(Tamper::Noise(text())),
            "huge" => self.tampers.push(Tamper::Huge(text())),
            "cut" => self.tampers.push(Tamper::Cut(text())),
            "fingerprint" => self.tampers.push(Tamper::Fingerprint(text())),
            "model" => self.tampers.push(Tamper::Model(text())),
            "stderr" => self.stderr = Some(text()),
            "version" => self.version = Some(text()),
            "no-flag" => self.no_flags.push(text()),
            "export-schema" => self.export.schema = Some(rest.parse().ok()?),
            "export-bytes" => self.export.bytes = Some(rest.parse().ok()?),
            _ => return None,
        }
        Some(())
    }

    fn read_plain(&mut self, name: &str) -> Option<()> {
        match name {
            "hang-on-eof" => self.faults.push(Fault::HangOnEof),
            "legacy-profile" => self.tampers.push(Tamper::LegacyProfile),
            "grandchild" => self.grandchild = true,
            "no-serve" => self.no_serve = true,
            "slow-version" => self.slow_version = true,
            "export-bad" => self.export.bad = true,
            "export-none" => self.export.none = true,
            "skills-bad" => self.skills_bad = true,
            "skills-none" => self.skills_none = true,
            "exec-noise" => self.exec_noise = true,
            "exec-cut" => self.exec_cut = true,
            "exec-stall" => self.exec_stall = true,
            _ => return None,
        }
        Some(())
    }
}

/// `METHOD:NUMBER`.
fn with_number<N: std::str::FromStr>(rest: &str) -> Option<(String, N)> {
    let (method, number) = rest.rsplit_once(':')?;
    if method.is_empty() {
        return None;
    }
    Some((method.to_owned(), number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levers_are_read_in_order() {
        let levers =
            parse("ignore:initialize, exit:turn/start:5,stderr:a:b,late:turn/start:9,grandchild")
                .unwrap();
        assert_eq!(
            levers.faults,
            [Fault::Ignore("initialize".into()), Fault::Exit("turn/start".into(), 5)]
        );
        assert_eq!(levers.tampers, [Tamper::Late("turn/start".into(), 9)]);
        assert_eq!(levers.stderr.as_deref(), Some("a:b"));
        assert!(levers.grandchild);
    }

    #[test]
    fn an_error_code_may_be_negative() {
        let levers = parse("error:session/setModel:-32030").unwrap();
        assert_eq!(levers.faults, [Fault::Error("session/setModel".into(), -32030)]);
    }

    #[test]
    fn every_lever_of_the_help_can_be_read() {
        for line in ALLOWED.lines() {
            let form = line.split_whitespace().next().unwrap();
            let word = ["CODE", "MS", "N"]
                .iter()
                .fold(form.to_owned(), |word, name| word.replace(&format!(":{name}"), ":7"));
            assert!(parse(&word).is_ok(), "{word}");
        }
    }

    #[test]
    fn an_unknown_lever_is_named_together_with_the_allowed_ones() {
        for bad in [
            "explode",
            "gap:approval/resolved",
            "exit:turn/start",
            "exit:turn/start:999",
            "ignore",
            "no-serve:x",
            "lost:",
        ] {
            let message = parse(bad).unwrap_err();
            assert!(message.contains(bad) && message.contains("hang-on-eof"), "{message}");
            assert_eq!(message.lines().count(), 1);
        }
    }
}
