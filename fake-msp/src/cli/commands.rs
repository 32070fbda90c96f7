//! The commands of `muse` besides `serve`: `exec`, `export`, `skills list`, `login`, `logout`.
//!
//! Purpose: levers, files and streams around the pure modules. Outputs: exit codes; 0 done, 1 failed,
//! 2 usage, 3 a file that cannot be used. Invariant: stdout carries what was asked for and nothing
//! else; everything for people goes to stderr.

use std::io::{Read, Write};
use std::path::Path;

use serde_json::json;

use super::args::{Common, ExecOptions, ExportOptions, SkillsOptions};
use super::levers::Levers;
use super::store::FileStore;
use crate::engine::{Fault, Store, StoreError};
use crate::exec::{self, End, Run};
use crate::export;

/// Longest prompt from stdin, in bytes; the protocol's frame limit serves as its bound too.
const PROMPT_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// A prompt or an output file that cannot be used.
const EXIT_CONFIGURATION: u8 = 3;

/// Streams for one command.
pub(super) struct Face<'a> {
    pub(super) stdin: Box<dyn Read + Send>,
    pub(super) stdout: &'a mut dyn Write,
    pub(super) stderr: &'a mut dyn Write,
}

impl Face<'_> {
    /// Plays the levers that name a command; the exit code if one ends it. `exec` begins before an
    /// exit code is played, so that there is a stream to be cut.
    pub(super) fn levers(&mut self, command: &str, levers: &Levers) -> Option<u8> {
        if let Some(text) = &levers.stderr {
            let _ = writeln!(self.stderr, "{text}");
        }
        if let Some(ms) = levers.delay_of(command) {
            std::thread::sleep(std::time::Duration::from_millis(ms)); // allow-sleep: the lever asks for it
        }
        for fault in &levers.faults {
            match fault {
                Fault::Ignore(name) if name == command => hang(),
                Fault::Crash(name) if name == command => std::process::abort(),
                Fault::Exit(name, code) if name == command && command != "exec" => {
                    let _ = writeln!(self.stderr, "muse: {command} failed (lever exit)");
                    return Some(u8::try_from(*code).unwrap_or(1));
                }
                _ => {}
            }
        }
        None
    }

    pub(super) fn exec(&mut self, options: ExecOptions) -> u8 {
        let ExecOptions { common, json, run, prompt } = options;
        if let Some(code) = self.levers("exec", &common.levers) {
            return code;
        }
        let prompt = match prompt {
            Some(prompt) => prompt,
            None => match self.read_prompt() {
                Ok(prompt) => prompt,
                Err(code) => return code,
            },
        };
        if prompt.trim().is_empty() {
            let _ = writeln!(
                self.stderr,
                "fake-msp: exec: the prompt is empty; give it as the last \
                                           argument or on stdin"
            );
            return 2;
        }
        let exit = common.levers.faults.iter().find_map(|fault| match fault {
            Fault::Exit(name, code) if name == "exec" => u8::try_from(*code).ok(),
            _ => None,
        });
        let _ = writeln!(self.stderr, "muse: session {}", run.session);
        let run = Run { prompt, cut_short: exit.is_some(), ..run };
        let end = if json { self.events(&run, common.levers.exec_cut) } else { self.answer(&run) };
        match (exit, end) {
            (Some(code), _) | (None, End::Exit(code)) => code,
            (None, End::Hang) => hang(),
        }
    }

    /// Prints the events. Each line is flushed, as a reader may wait for it.
    fn events(&mut self, run: &Run, cut: bool) -> End {
        let stdout = &mut *self.stdout;
        // To go without the last newline, each line brings the one before it to its end.
        let mut gap = "";
        let end = exec::play(run, &mut |line| {
            let written =
                if cut { write!(stdout, "{gap}{line}") } else { writeln!(stdout, "{line}") };
            gap = "\n";
            written.and_then(|()| stdout.flush()).is_ok()
        });
        let _ = stdout.flush();
        end
    }

    /// Without `--json`: the text alone.
    fn answer(&mut self, run: &Run) -> End {
        let stdout = &mut *self.stdout;
        let end = exec::play(run, &mut |line| match delta(line) {
            Some(text) => stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_ok(),
            None => true,
        });
        let _ = writeln!(stdout);
        end
    }

    fn read_prompt(&mut self) -> Result<String, u8> {
        let mut bytes = Vec::new();
        let read = (&mut self.stdin).take(PROMPT_BYTES_MAX + 1).read_to_end(&mut bytes);
        let problem = match (read, String::from_utf8(bytes)) {
            (Err(error), _) => error.to_string(),
            (Ok(_), Err(_)) => "it is no UTF-8".into(),
            (Ok(_), Ok(text)) if text.len() as u64 > PROMPT_BYTES_MAX => {
                format!("it is longer than {PROMPT_BYTES_MAX} bytes")
            }
            (Ok(_), Ok(text)) => return Ok(text),
        };
        let _ = writeln!(self.stderr, "fake-msp: exec: cannot use the prompt on stdin: {problem}");
        Err(EXIT_CONFIGURATION)
    }

    pub(super) fn export(&mut self, options: &ExportOptions) -> u8 {
        let ExportOptions { common, session, out } = options;
        if let Some(code) = self.levers("export", &common.levers) {
            return code;
        }
        let lever = &common.levers.export;
        if lever.none {
            return 0;
        }
        let events = match common.store.as_deref().map(|store| log_of(store, session)) {
            None => None,
            Some(Ok(lines)) => Some(export::history(lines.iter().map(Vec::as_slice))),
            Some(Err(problem)) => {
                let _ = writeln!(self.stderr, "muse: cannot export the session: {problem}");
                return 1;
            }
        };
        let document = export::document(&export::Export {
            session: session.clone(),
            events,
            schema: lever.schema,
            bytes: lever.bytes,
            bad: lever.bad,
        });
        let written = match out {
            Some(path) => std::fs::write(path, document),
            None => self.stdout.write_all(document.as_bytes()),
        };
        match written {
            Ok(()) => 0,
            Err(error) => {
                let _ = writeln!(self.stderr, "fake-msp: export: cannot write: {error}");
                EXIT_CONFIGURATION
            }
        }
    }

    pub(super) fn skills(&mut self, options: &SkillsOptions) -> u8 {
        let SkillsOptions { common, json } = options;
        if let Some(code) = self.levers("skills", &common.levers) {
            return code;
        }
        let skills: &[(&str, &str, &str, &str)] =
            if common.levers.skills_none { &[] } else { &SKILLS };
        let text = if common.levers.skills_bad {
            "skills: none of this is JSON\n".into()
        } else if *json {
            let rows: Vec<_> = skills
                .iter()
                .map(|(id, description, activation, scope)| {
                    json!({ "id": id, "description": description, "activation": activation,
                        "scope": scope })
                })
                .collect();
            format!("{}\n", json!({ "skills": rows }))
        } else {
            skills
                .iter()
                .map(|(id, text, active, _)| format!("{id:<12} {active:<4} {text}\n"))
                .collect()
        };
        self.print(&text)
    }

    pub(super) fn login(&mut self, common: &Common) -> u8 {
        if let Some(code) = self.levers("login", &common.levers) {
            return code;
        }
        self.print("Logged in. (A fake host needs no account and keeps none.)\n")
    }

    pub(super) fn logout(&mut self, common: &Common) -> u8 {
        if let Some(code) = self.levers("logout", &common.levers) {
            return code;
        }
        self.print("Logged out.\n")
    }

    /// A reader that went away is no error of ours.
    pub(super) fn print(&mut self, text: &str) -> u8 {
        let _ = self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush());
        0
    }
}

/// (id, description, activation, scope). One is off, so that a client can show that it looks.
const SKILLS: [(&str, &str, &str, &str); 3] = [
    ("summarize", "Summarize the changes in this workspace", "on", "user"),
    ("release", "Prepare a release", "on", "project"),
    ("legacy", "An old skill that is turned off", "off", "user"),
];

/// Waits for a signal.
pub(super) fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

/// The lines of a session's log. Reading takes no lease, so a session that is in use can be exported.
fn log_of(store: &str, session: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut store = FileStore::look(Path::new(store)).map_err(|error| error.to_string())?;
    let mut lines = Vec::new();
    match store.read(session, &mut |line| lines.push(line.to_vec())) {
        Ok(Some(_)) => Ok(lines),
        Ok(None) => Err("no such session".into()),
        Err(StoreError::Leased) => Err("it is in use".into()),
        Err(StoreError::Ambiguous(paths)) => Err(format!("{} logs have its id", paths.len())),
        Err(StoreError::Failed(text)) => Err(text),
    }
}

fn delta(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    if event["payload_type"] != "run.output.delta" {
        return None;
    }
    Some(event["payload"]["text"].as_str()?.to_owned())
}
