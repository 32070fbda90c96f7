//! What the real adapter does otherwise when this machine runs it as root (PO-25): it neither offers nor takes
//! the mode that bypasses approvals. On the virtual stages nobody is root.

use crate::lang::ast::{Expect, File, Set, Step, Test, Value, ValueKind, VaryValues};

/// The mode that root does not get.
const BYPASS: &str = "bypassApprovals";

/// Why the real programs cannot play the file here, if so.
pub(super) fn refuses(file: &File) -> Option<String> {
    let needs = || {
        format!(
            "it needs mode {BYPASS}, which the real adapter refuses to root: run it as another user"
        )
    };
    (is_root() && names_bypass(file)).then(needs)
}

fn is_root() -> bool {
    #[cfg(unix)]
    let root = rustix::process::getuid().is_root() || rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    let root = false;
    root
}

/// Whether the story chooses the mode, or expects to see it.
fn names_bypass(file: &File) -> bool {
    let varied = file.varies.iter().any(|vary| match &vary.values {
        VaryValues::Json(values) => values.iter().any(is_bypass),
        VaryValues::Durations(_) => false,
    });
    varied
        || file.timeline().any(|step| match step {
            Step::Act(act) => sets(&act.sets),
            Step::ActRace(race) => race.lines.iter().any(|act| sets(&act.sets)),
            Step::Expect(expect) => expects(expect),
            Step::ExpectRace(race) => race.lines.iter().any(expects),
            _ => false,
        })
}

fn sets(sets: &[Set]) -> bool {
    sets.iter().any(|set| is_bypass(&set.value))
}

fn expects(expect: &Expect) -> bool {
    // What a failure says is no choice; a list of modes is.
    expect.matches.iter().any(|one| match &one.test {
        Test::Equals(value) => is_bypass(value),
        Test::Contains(text) => text.contains(", ") && text.contains(BYPASS),
        _ => false,
    })
}

fn is_bypass(value: &Value) -> bool {
    matches!(&value.kind, ValueKind::Text(text) if text == BYPASS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(lines: &str) -> bool {
        let text = format!("scenario \"s\"\n  id SCN-CFG-03\n\ngiven session ready\n\n{lines}\n");
        let (file, diagnostics) = crate::lang::parse("s.scn", text.as_bytes());
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        names_bypass(&file.expect("a story"))
    }

    #[test]
    fn a_story_that_chooses_or_expects_the_mode_is_known() {
        let set = |mode: &str| {
            format!("editor -> session/set_mode as set\n  modeId = \"{mode}\"\neditor <- ok set")
        };
        assert!(story(&set(BYPASS)));
        assert!(!story(&set("readOnly")));
        assert!(story(
            "editor -> session/new as new\neditor <- ok new\n  modes.availableModes[2].id = \"bypassApprovals\""
        ));
    }
}
