//! Texts that people read are compared whole.

use std::path::{Path, PathBuf};

/// A path below the package.
pub(crate) fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The file has this content. `UPDATE_EXPECT=1` writes it instead, unless `CI` is set.
pub(crate) fn same(path: &Path, actual: &str) {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("UPDATE_EXPECT") {
        assert!(!set("CI"), "UPDATE_EXPECT is refused under CI: update on your own machine");
        std::fs::write(path, actual).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        expected == actual,
        "{} differs; UPDATE_EXPECT=1 writes it again\n--- expected\n{expected}\n--- actual\n{actual}",
        path.display()
    );
}
