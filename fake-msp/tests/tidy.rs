//! What the engine, the oracle and the tables must not know.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

use std::path::{Path, PathBuf};

/// (word, why it is absent).
const ABSENT: &[(&str, &str)] = &[
    ("std::time", "time is an input"),
    ("std::fs", "no I/O"),
    ("std::io", "no I/O"),
    ("std::process", "effects are outputs"),
    ("std::thread", "no concurrency"),
    ("std::env", "options come in as values"),
    ("HashMap", "iteration order differs from run to run"),
    ("HashSet", "iteration order differs from run to run"),
    ("tokio", "no async"),
    ("println!", "stdout carries frames only"),
    ("muse_code_acp", "shares nothing with the adapter"),
];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            sources(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            out.push(path);
        }
    }
}

#[test]
fn the_core_knows_no_clock_no_files_and_no_hash_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![root.join("export.rs")];
    for folder in ["engine", "exec", "oracle", "profiles", "transcript"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 20);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (word, why) in ABSENT {
            assert!(!text.contains(word), "{}: {word} ({why})", file.display());
        }
        // Version numbers are data of the tables (DEC-9).
        let in_tables = file.components().any(|part| part.as_os_str() == "profiles");
        assert!(in_tables || !text.contains("\"1."), "{}: a version", file.display());
        assert!(text.starts_with("//!"), "{}: no header", file.display());
        assert!(text.lines().count() <= 600, "{}: too long", file.display());
    }
}
