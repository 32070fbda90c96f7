//! Modes of a session: what each one does, and whether it can be chosen now (adapter-sessions.md §10.2).
//!
//! In: a word of the editor, facts of the machine. Out: a [`Mode`], or why not and what else to do.
//! Invariant: the menu and the refusal ask the same function (CFG-10), so what is not in the menu is
//! refused when it is sent. It keeps no state.

use super::choices::Automation;
use super::io::Facts;
use crate::acp;
use crate::wire::RpcError;

/// Flags of `serve` that the adapter may pass.
pub const FLAGS: &[&str] = READ_ONLY;

/// MODE-6.
const READ_ONLY: &[&str] = &["--disable-write", "--disable-shell"];

/// Modes of the contract that this version does not serve, with the reason in a word and in a sentence.
const ELSEWHERE: [(&str, &str, &str); 2] = [
    ("plan", "unsupported", "mode plan is not in this version yet: choose readOnly instead"),
    (
        "yolo",
        "backend",
        "mode yolo is for the exec backend, which this version does not have: choose bypassApprovals \
         instead",
    ),
];

/// What a session does about approvals, and what its host may do at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Questions go to the person.
    #[default]
    Default,
    /// The host may neither write nor run commands; what it still asks goes to the person.
    ReadOnly,
    /// Each approval is allowed once without a question (APR-30).
    BypassApprovals,
    /// Each approval is denied once without a question (APR-31).
    RejectApprovals,
}

impl Mode {
    /// All that this version serves, in the order of the menu.
    pub const ALL: [Self; 4] =
        [Self::Default, Self::ReadOnly, Self::BypassApprovals, Self::RejectApprovals];

    /// The wire's word.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::ReadOnly => "readOnly",
            Self::BypassApprovals => "bypassApprovals",
            Self::RejectApprovals => "rejectApprovals",
        }
    }

    /// As the menu shows it (MODE-8).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "On request",
            Self::ReadOnly => "Read only",
            Self::BypassApprovals => "Bypass approvals",
            Self::RejectApprovals => "Reject approvals",
        }
    }

    /// One sentence for the menu.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Default => "Muse asks you before it does what needs an approval",
            Self::ReadOnly => "Muse can neither write files nor run commands",
            Self::BypassApprovals => {
                "What needs an approval is allowed once each time, without asking you"
            }
            Self::RejectApprovals => {
                "What needs an approval is denied each time, without asking you"
            }
        }
    }

    /// Arguments of its host behind `serve`; fixed when the process is created (HOST-15).
    #[must_use]
    pub fn flags(self) -> &'static [&'static str] {
        if self == Self::ReadOnly { READ_ONLY } else { &[] }
    }

    /// Who decides in a turn of this mode (APR-33).
    #[must_use]
    pub fn automation(self) -> Automation {
        Automation::of(self.id(), self == Self::ReadOnly)
    }

    /// The mode of a word.
    ///
    /// # Errors
    /// `-32602` with the reason in `data.availability`: `unknown`, `backend` or `unsupported`. The word
    /// itself is not repeated (WIRE-9).
    pub fn read(word: &str, facts: &Facts) -> Result<Self, RpcError> {
        if let Some(mode) = Self::ALL.into_iter().find(|mode| mode.id() == word) {
            return Ok(mode);
        }
        if let Some((_, availability, why)) = ELSEWHERE.iter().find(|(id, ..)| *id == word) {
            return Err(acp::unavailable(availability, why));
        }
        let known: Vec<&str> = Self::menu(None, facts).map(Self::id).collect();
        let why = format!("unknown mode: choose one of {}", known.join(", "));
        Err(acp::unavailable("unknown", &why))
    }

    /// Whether it can be chosen, and whether a prompt may run in it.
    ///
    /// # Errors
    /// `-32602` with `data.availability`: `guard` for root, `version` when Muse lacks a flag (SAFE-8).
    pub fn available(self, facts: &Facts) -> Result<(), RpcError> {
        if self == Self::BypassApprovals && facts.root {
            let why = "mode bypassApprovals is refused while the adapter runs as root: run it as another \
                       user, or choose default";
            return Err(acp::unavailable("guard", why));
        }
        let flags = facts.flags.as_deref();
        let missing =
            self.flags().iter().find(|flag| flags.is_some_and(|flags| !flags.contains(flag)));
        if let Some(flag) = missing {
            let why = format!(
                "mode {} needs `muse serve {flag}`, which this Muse does not have: update Muse, or \
                 choose default",
                self.id()
            );
            return Err(acp::unavailable("version", &why));
        }
        Ok(())
    }

    /// What the menu shows: what can be chosen, and `current`, which is chosen already.
    pub fn menu(current: Option<Self>, facts: &Facts) -> impl Iterator<Item = Self> + '_ {
        let shown = move |mode: &Self| Some(*mode) == current || mode.available(facts).is_ok();
        Self::ALL.into_iter().filter(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(root: bool, flags: Option<&[&'static str]>) -> Facts {
        Facts { root, flags: flags.map(<[_]>::to_vec) }
    }

    fn ids(facts: &Facts) -> Vec<&'static str> {
        Mode::menu(None, facts).map(Mode::id).collect()
    }

    fn word(result: Result<impl std::fmt::Debug, RpcError>) -> String {
        let error = result.expect_err("refused");
        assert_eq!(error.code, -32602);
        error.data.expect("data")["availability"].as_str().expect("a word").to_owned()
    }

    /// CFG-10: whatever the machine is like, the menu is what is not refused.
    #[test]
    fn the_menu_is_what_is_not_refused() {
        for root in [false, true] {
            for flags in [None, Some(&[][..]), Some(&READ_ONLY[..1]), Some(READ_ONLY)] {
                let facts = facts(root, flags);
                for mode in Mode::ALL {
                    assert_eq!(ids(&facts).contains(&mode.id()), mode.available(&facts).is_ok());
                }
            }
        }
        let all = ["default", "readOnly", "bypassApprovals", "rejectApprovals"];
        assert_eq!(ids(&facts(false, None)), all);
        assert_eq!(ids(&facts(true, Some(&[]))), ["default", "rejectApprovals"]);
    }

    /// MODE-3, SAFE-8: each reason has its word, and every text says what to do instead.
    #[test]
    fn every_refusal_has_its_word() {
        let free = facts(false, None);
        assert_eq!(word(Mode::read("planted-secret", &free)), "unknown");
        assert_eq!(word(Mode::read("yolo", &free)), "backend");
        assert_eq!(word(Mode::read("plan", &free)), "unsupported");
        assert_eq!(word(Mode::BypassApprovals.available(&facts(true, None))), "guard");
        for flags in [&[][..], &READ_ONLY[..1], &READ_ONLY[1..]] {
            assert_eq!(word(Mode::ReadOnly.available(&facts(false, Some(flags)))), "version");
        }
        let text = Mode::read("planted-secret", &free).expect_err("refused").message;
        assert!(text.contains("readOnly") && !text.contains("planted"), "{text}");
    }

    /// What is in force stays in the menu: a menu without its own value is broken.
    #[test]
    fn what_is_chosen_is_in_the_menu() {
        let root = facts(true, Some(&[]));
        for mode in Mode::ALL {
            assert!(Mode::menu(Some(mode), &root).any(|shown| shown == mode));
        }
    }

    /// PO-25: before anybody has looked, guards are closed.
    #[test]
    fn nothing_is_known_at_first() {
        assert!(Mode::BypassApprovals.available(&Facts::default()).is_err());
        assert!(Mode::ReadOnly.available(&Facts::default()).is_ok(), "PO-47: before the turn");
    }
}
