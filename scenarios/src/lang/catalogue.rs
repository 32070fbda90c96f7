//! Which scenario proves which row of the catalogue.
//!
//! Inputs: a folder. Outputs: its scenario files in a fixed order, with title and ids. Invariants: the order
//! is that of the paths, compared part by part, whatever the file system says; links are not followed, so
//! the walk ends. It does not know which rows exist. Rules: DSL-14, SCN-T4.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::parse::read;

/// The ending of scenario files.
pub const EXTENSION: &str = "scn";

/// One scenario file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The file.
    pub path: PathBuf,
    /// Its title; empty if the file has none.
    pub title: String,
    /// Its rows in order.
    pub ids: Vec<String>,
    /// Number of problems in the file.
    pub problems: usize,
}

/// The scenario files at `path`: the file itself, or all below the folder.
///
/// # Errors
/// When the path or a folder below it cannot be read.
pub fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        if std::fs::metadata(&path)?.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                let path = entry.path();
                if kind.is_dir() || (kind.is_file() && is_scenario(&path)) {
                    waiting.push(path);
                }
            }
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn is_scenario(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// Title and ids of a scenario with these bytes.
#[must_use]
pub fn listed(path: &Path, bytes: &[u8]) -> Listed {
    let reading = read(&path.to_string_lossy(), bytes);
    let problems = reading.diagnostics.len();
    let (title, ids) = reading.file.map_or((String::new(), Vec::new()), |file| {
        (file.title, file.header.ids.into_iter().map(|id| id.text).collect())
    });
    Listed { path: path.to_owned(), title, ids, problems }
}

/// From row to the files that prove it, both in order.
#[must_use]
pub fn coverage(listed: &[Listed]) -> BTreeMap<String, Vec<PathBuf>> {
    let mut rows: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for one in listed {
        for id in &one.ids {
            rows.entry(id.clone()).or_default().push(one.path.clone());
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_point_at_files_in_the_order_of_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("b")).unwrap();
        let story = |ids: &str| {
            format!(
                "scenario \"t\"\n  id {ids}\ngiven session ready\nquiet\ncheck host process reaped\n"
            )
        };
        std::fs::write(root.join("b/one.scn"), story("SCN-A-01 SCN-A-02")).unwrap();
        std::fs::write(root.join("a.scn"), story("SCN-A-02")).unwrap();
        std::fs::write(root.join("notes.txt"), "no scenario").unwrap();
        let read = |path: &PathBuf| listed(path, &std::fs::read(path).unwrap());
        let listed: Vec<Listed> = files(root).unwrap().iter().map(read).collect();
        let names = |rows: &BTreeMap<String, Vec<PathBuf>>, id: &str| {
            let under = |path: &PathBuf| {
                path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/")
            };
            rows[id].iter().map(under).collect::<Vec<_>>()
        };
        let rows = coverage(&listed);
        assert_eq!(names(&rows, "SCN-A-01"), ["b/one.scn"]);
        assert_eq!(names(&rows, "SCN-A-02"), ["a.scn", "b/one.scn"]);
        assert!(listed.iter().all(|one| one.problems == 0 && one.title == "t"), "{listed:?}");
    }
}
