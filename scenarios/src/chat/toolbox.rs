//! Which executables a chat uses: this one under other names, or a Muse of the person's own.
//!
//! Invariant: the folder with the links, and all that was stored in it, is gone when its owner is.
//! It does not know how they are started.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A private folder in which this executable has the names of the adapter and of Muse.
#[derive(Debug)]
pub struct Toolbox {
    folder: TempDir,
}

impl Toolbox {
    /// Makes the folder and the links to `executable`.
    ///
    /// # Errors
    /// With the path that could not be made.
    pub fn new(executable: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("scenario-chat-").tempdir()?;
        let toolbox = Self { folder };
        for link in [toolbox.adapter(), toolbox.muse()] {
            make_link(executable, &link).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", link.display()))
            })?;
        }
        Ok(toolbox)
    }

    /// The adapter's executable.
    #[must_use]
    pub fn adapter(&self) -> PathBuf {
        self.named("muse-code-acp")
    }

    /// The fake Muse.
    #[must_use]
    pub fn muse(&self) -> PathBuf {
        self.named("muse")
    }

    /// Folders for what the adapter and the fake host store: a conversation with a fake must not
    /// leave sessions or preferences among the real ones, nor find any.
    pub fn private_homes(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let root = self.folder.path().to_owned();
        ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
            .into_iter()
            .map(move |name| (name, root.join(name.to_lowercase())))
    }

    fn named(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}

#[cfg(unix)]
fn make_link(executable: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(executable, link)
}

/// Symbolic links need a privilege on Windows, and a hard link needs the same volume.
#[cfg(not(unix))]
fn make_link(executable: &Path, link: &Path) -> io::Result<()> {
    std::fs::hard_link(executable, link).or_else(|_| std::fs::copy(executable, link).map(|_| ()))
}

/// The first `muse` on `path` that is a file.
#[must_use]
pub fn find_muse(path: Option<OsString>) -> Option<PathBuf> {
    let names: &[&str] =
        if cfg!(windows) { &["muse.exe", "muse.cmd", "muse.bat"] } else { &["muse"] };
    let path = path?;
    std::env::split_paths(&path)
        .filter(|folder| !folder.as_os_str().is_empty())
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toolbox_has_both_names_and_is_gone_with_its_owner() {
        let this = std::env::current_exe().expect("an executable");
        let toolbox = Toolbox::new(&this).expect("a toolbox");
        let folder = toolbox.folder.path().to_owned();
        for (link, name) in [(toolbox.adapter(), "muse-code-acp"), (toolbox.muse(), "muse")] {
            assert_eq!(link.file_stem().and_then(|stem| stem.to_str()), Some(name));
            assert!(link.is_file());
        }
        drop(toolbox);
        assert!(!folder.exists());
    }

    #[test]
    fn muse_is_found_where_it_can_be_executed() {
        let (empty, full) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let muse = full.path().join(if cfg!(windows) { "muse.exe" } else { "muse" });
        let path = std::env::join_paths([empty.path(), full.path()]).expect("a PATH");
        assert_eq!(find_muse(Some(path.clone())), None);
        let this = std::env::current_exe().expect("an executable");
        make_link(&this, &muse).expect("a link");
        assert_eq!(find_muse(Some(path)), Some(muse));
        assert_eq!(find_muse(None), None);
    }
}
