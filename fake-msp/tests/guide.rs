//! `docs/fake-msp.md` runs: its clients and commands against the built binary, its tables against what
//! the program says of itself.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

mod process;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use process::{Live, run};

const PAGE: &str = include_str!("../../docs/fake-msp.md");

/// Fenced blocks of a language, with the line before the fence.
fn blocks(language: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = PAGE.lines().peekable();
    let mut before = "";
    while let Some(line) = lines.next() {
        if line == format!("```{language}") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((before.to_owned(), body.join("\n") + "\n"));
        }
        before = line;
    }
    blocks
}

/// A folder for one test, thrown away with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fake-msp-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs a program in a folder, with the built host as `fake-msp` and as `FAKE_MSP`.
fn play(program: &str, args: &[&str], folder: &Path) -> process::Done {
    let host = Path::new(env!("CARGO_BIN_EXE_fake-msp"));
    let mut paths = vec![host.parent().unwrap().to_owned()];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("FAKE_MSP", host);
    command.env("PATH", std::env::join_paths(paths).unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in fake_msp::cli::ENVIRONMENT {
        command.env_remove(name);
    }
    Live::spawn(command).finish()
}

/// Plays the page's client of a language with several prompts.
fn client(test: &str, program: &str, language: &str, file: &str) {
    if !is_there(program) {
        eprintln!("SKIPPED {test}: no {program}");
        return;
    }
    let blocks = blocks(language);
    assert_eq!(blocks.len(), 1, "one client in {language}");
    let scratch = Scratch::new(file);
    std::fs::write(scratch.0.join(file), &blocks[0].1).unwrap();
    for (prompt, text, terminal) in [
        (&[][..], "pretended to run the command", "completed"),
        (&["hello", "there"], "hello there", "completed"),
        (&["fail", "modelError"], "", "failed"),
        (&["burst", "2000"], "", "completed"),
    ] {
        let args: Vec<&str> = [file].into_iter().chain(prompt.iter().copied()).collect();
        let done = play(program, &args, &scratch.0);
        assert_eq!(done.code(), Some(0), "{prompt:?}: {}", done.stderr);
        assert_eq!(done.stderr, "", "{prompt:?}: no rule was broken");
        assert!(done.stdout.contains(text), "{prompt:?}: {}", done.stdout);
        let end = format!("turn: {terminal} exit code: 0\n");
        assert!(done.stdout.ends_with(&end), "{prompt:?}: {}", done.stdout);
    }
}

#[test]
fn the_client_in_python_runs() {
    client("the_client_in_python_runs", "python3", "python", "client.py");
}

#[test]
fn the_client_in_javascript_runs() {
    client("the_client_in_javascript_runs", "node", "js", "client.js");
}

#[test]
fn the_marked_commands_run() {
    if !is_there("bash") {
        eprintln!("SKIPPED the_marked_commands_run: no bash");
        return;
    }
    let scratch = Scratch::new("guide");
    let marked: Vec<_> =
        blocks("sh").into_iter().filter(|(before, _)| before.starts_with("<!-- runs")).collect();
    assert_eq!(marked.len(), 3);
    for (mark, script) in marked {
        let done = play("bash", &["-eu", "-o", "pipefail", "-c", &script], &scratch.0);
        let code = i32::from(mark.contains("exit 1"));
        assert_eq!(done.code(), Some(code), "{script}\n{}", done.stderr);
        assert!(done.stdout.contains("\"result\""), "{script}\n{}", done.stdout);
        // What the page shows of stderr is what stderr says.
        let said = done.stderr.lines().filter(|line| line.starts_with("fake-msp: oracle: "));
        for line in said {
            assert!(PAGE.contains(line), "{line}");
        }
    }
}

#[test]
fn the_tables_are_those_of_the_program() {
    let help = run(&["--help"], b"").stdout;
    let levers = help.split("Levers, a comma list:").nth(1).unwrap();
    let levers = levers.lines().skip(1).take_while(|line| !line.starts_with("METHOD"));
    let mut count = 0;
    for lever in levers.filter_map(|line| line.split_whitespace().next()) {
        let name = lever.split(':').next().unwrap();
        let shown = PAGE.contains(&format!("`{name}:")) || PAGE.contains(&format!("`{name}`"));
        assert!(shown, "the page does not have the lever {lever}");
        count += 1;
    }
    assert!(count > 20, "{count}");

    let words = fake_msp::engine::WORDS_HELP;
    let shown = PAGE.contains(&format!("```text\n{words}```"));
    assert!(shown, "the block of prompt words in docs/fake-msp.md is not this:\n{words}");
    for profile in fake_msp::profiles::PROFILES {
        assert!(PAGE.contains(&format!("| `{}` |", profile.version)), "{}", profile.version);
    }
    for name in fake_msp::cli::ENVIRONMENT {
        assert!(PAGE.contains(name) && help.contains(name), "{name}");
    }
    let code = fake_msp::transcript::EXIT_DEVIATED;
    assert!(PAGE.contains(&format!("| {code} | the client departed from the transcript |")));
}
