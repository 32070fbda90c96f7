//! Guards of the adapter, each with the story that goes red without it (docs/testing.md).
//!
//! `tests/guards/NAME.guard` says what is guarded, by which rule, what takes the guard away, and which story
//! must notice. Always run: the guard is in place, once, and `docs/testing.md` tells of it. Run when asked for
//! (`cargo test -p tests --locked --test guards -- --ignored`): a copy of the project without the guard is
//! built and the story is played.

mod change;
mod lab;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};

use change::Guard;
use lab::Lab;

fn main() {
    let arguments = Arguments::from_args();
    let lab = Arc::new(Mutex::new(Lab::new(root())));
    let mut trials = Vec::new();
    for file in guard_files() {
        let guard =
            Guard::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        trials.push({
            let guard = guard.clone();
            Trial::test(format!("guard::{}::is_in_place", guard.name), move || in_place(&guard))
        });
        let lab = Arc::clone(&lab);
        let red = Trial::test(format!("guard::{}::is_noticed", guard.name), move || {
            lab.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .must_turn_red(&guard)
                .map_err(Failed::from)
        });
        trials.push(red.with_ignored_flag(true));
    }
    trials.push(Trial::test("guard::every_row_of_the_page_has_its_file", no_stray_rows));
    libtest_mimic::run(&arguments, trials).exit();
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace")
}

fn guard_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guards");
    let entries = std::fs::read_dir(folder).expect("tests/guards");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/testing.md")).expect("docs/testing.md")
}

/// The row of the page, word for word.
fn row(guard: &Guard) -> String {
    format!("| `{}` | {} | {} | `{}` |", guard.name, guard.what, guard.rules, guard.story)
}

fn in_place(guard: &Guard) -> Result<(), Failed> {
    for hunk in &guard.hunks {
        hunk.apply(root())?;
    }
    for story in [Some(guard.story_path()), guard.order_path()].into_iter().flatten() {
        if !root().join(&story).is_file() {
            return Err(format!("no such story: {story}").into());
        }
    }
    if !page().contains(&row(guard)) {
        return Err(format!("docs/testing.md lacks the row\n{}", row(guard)).into());
    }
    Ok(())
}

fn no_stray_rows() -> Result<(), Failed> {
    let guards: Vec<Guard> = guard_files().iter().flat_map(|file| Guard::read(file)).collect();
    let page = page();
    let rows =
        page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 5);
    for line in rows {
        if !guards.iter().any(|guard| row(guard) == line) {
            return Err(format!("docs/testing.md has a row without a file: {line}").into());
        }
    }
    if guards.len() < 10 {
        return Err("fewer than ten guards are left".into());
    }
    Ok(())
}
