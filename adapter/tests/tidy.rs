//! What the layers must not know, as a test (STY-3): dependencies point one way, the core is pure, and
//! every `select!` says its order (DET-1).

use std::path::{Path, PathBuf};

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Lines of code below `folder` that hold one of `words`, comments left out.
fn lines_with(folder: &str, words: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder), &mut files);
    assert!(!files.is_empty(), "{folder} has sources");
    let mut found = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("utf-8");
        for (number, line) in text.lines().enumerate() {
            let code = !line.trim_start().starts_with("//");
            if code && words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    found
}

#[test]
fn the_core_knows_no_runtime_clock_environment_or_hash_order() {
    let forbidden = [
        "tokio",
        "std::fs",
        "std::process",
        "std::env",
        "std::net",
        "Instant",
        "SystemTime",
        "HashMap",
        "HashSet",
        "rand",
        "Uuid",
        "crate::shell",
        "async fn",
    ];
    assert_eq!(lines_with("core", &forbidden), [""; 0]);
}

/// SCN-FUZ-24: a wall clock that is set would move deadlines.
#[test]
fn nothing_is_measured_by_the_wall_clock() {
    for folder in ["core", "shell", "wire", "acp", "msp"] {
        assert_eq!(lines_with(folder, &["SystemTime", "UNIX_EPOCH"]), [""; 0]);
    }
}

#[test]
fn dependencies_point_one_way() {
    assert_eq!(
        lines_with("wire", &["crate::core", "crate::acp", "crate::msp", "crate::shell"]),
        [""; 0]
    );
    assert_eq!(lines_with("acp", &["crate::core", "crate::msp", "crate::shell"]), [""; 0]);
    assert_eq!(lines_with("msp", &["crate::core", "crate::acp", "crate::shell"]), [""; 0]);
}

#[test]
fn every_select_says_its_order() {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for folder in ["adapter", "fake-msp", "scenarios", "tests"] {
        for part in ["src", "tests", "benches"] {
            let folder = root.join(folder).join(part);
            if folder.is_dir() {
                sources(&folder, &mut files);
            }
        }
    }
    let mut unordered = Vec::new();
    for path in files.iter().filter(|path| !path.ends_with("tidy.rs")) {
        let text = std::fs::read_to_string(path).expect("utf-8");
        let code: Vec<&str> =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for (number, line) in code.iter().enumerate() {
            if line.contains("select! {")
                && code.get(number + 1).is_none_or(|next| next.trim() != "biased;")
            {
                unordered.push(format!("{}: {}", path.display(), line.trim()));
            }
        }
    }
    assert_eq!(unordered, [""; 0]);
}
