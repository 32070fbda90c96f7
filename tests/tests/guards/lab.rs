//! A copy of the project, in which guards can be taken away. It and its build stay in cargo's folder for
//! temporary files, so that a second run builds what has changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::change::Guard;

/// What a build of the tool needs of the project.
const PARTS: [&str; 6] = ["Cargo.toml", "Cargo.lock", "adapter", "fake-msp", "scenarios", "tests"];
/// Folders of any depth that no build reads.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", "clients"];

pub(crate) struct Lab {
    original: &'static Path,
    tree: PathBuf,
    ready: bool,
}

impl Lab {
    pub(crate) fn new(original: &'static Path) -> Self {
        let tree = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guards");
        Self { original, tree, ready: false }
    }

    /// Takes the guard away, plays its story and every order, and puts the guard back.
    pub(crate) fn must_turn_red(&mut self, guard: &Guard) -> Result<(), String> {
        if !self.ready {
            fs::create_dir_all(&self.tree).map_err(|error| error.to_string())?;
            for part in PARTS {
                copy(&self.original.join(part), &self.tree.join(part))?;
            }
            self.build()?;
            fs::copy(self.program(), self.control()).map_err(|error| error.to_string())?;
            self.ready = true;
        }
        // The control, with the guard: a story that is red anyway notices nothing.
        for control in self.play(&self.control(), guard)? {
            if !control.status.success() {
                return Err(format!("red with the guard:\n{}", text(&control)));
            }
        }
        let mut before = Vec::new();
        for hunk in &guard.hunks {
            let path = self.tree.join(&hunk.file);
            let (old, new) = hunk.apply(&self.tree)?;
            before.push((path.clone(), old));
            write(&path, new.as_bytes())?;
        }
        let played = self.build().and_then(|()| self.play(&self.program(), guard));
        for (path, old) in before.into_iter().rev() {
            write(&path, old.as_bytes())?;
        }
        for played in played? {
            match played.status.code() {
                Some(1) => {}
                Some(0) => return Err(format!("green without the guard:\n{}", text(&played))),
                _ => return Err(format!("the tool failed:\n{}", text(&played))),
            }
        }
        Ok(())
    }

    fn build(&self) -> Result<(), String> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--package", "scenarios"]);
        let built = run(cargo.current_dir(&self.tree).env("CARGO_TARGET_DIR", self.target()))?;
        if built.status.success() { Ok(()) } else { Err(text(&built)) }
    }

    /// Its story, and every order of the story that it names.
    fn play(&self, program: &Path, guard: &Guard) -> Result<Vec<Output>, String> {
        let tool = |word: &str, path: &str| {
            run(Command::new(program).args([word, path]).current_dir(&self.tree))
        };
        let mut played = vec![tool("run", &guard.story_path())?];
        if let Some(path) = guard.order_path() {
            played.push(tool("explore", &path)?);
        }
        Ok(played)
    }

    fn program(&self) -> PathBuf {
        self.target().join("debug/scenario")
    }

    /// The tool with all guards, built once.
    fn control(&self) -> PathBuf {
        self.target().join("scenario-with-all-guards")
    }

    fn target(&self) -> PathBuf {
        self.tree.join("target")
    }
}

fn run(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|error| format!("{command:?}: {error}"))
}

fn text(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies what differs, so that unchanged files keep their time and need no build; removes what is gone.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let named = |error: std::io::Error| format!("{}: {error}", from.display());
    if !from.is_dir() {
        let bytes = fs::read(from).map_err(named)?;
        if fs::read(to).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        return write(to, &bytes);
    }
    fs::create_dir_all(to).map_err(named)?;
    for entry in fs::read_dir(to).map_err(named)? {
        let entry = entry.map_err(named)?;
        if !from.join(entry.file_name()).exists() {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
                .map_err(named)?;
        }
    }
    for entry in fs::read_dir(from).map_err(named)? {
        let entry = entry.map_err(named)?;
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with(".venv");
        if !hidden && !LEFT_OUT.iter().any(|left_out| name == *left_out) {
            copy(&entry.path(), &to.join(name))?;
        }
    }
    Ok(())
}
