//! What an offered choice of an approval means: its ACP kind, how to say no, what an automatic mode
//! picks (APR-9, APR-21, APR-30..33).
//!
//! Pure functions of the host's words `decision` and `scope`. Invariant: a word that nobody has
//! classified is neither shown nor picked (PO-40).

use serde_json::json;

use super::permission::object;
use crate::acp::schema as acp;
use crate::msp::Choice;

/// Who decides in a turn; fixed when the turn starts (APR-34).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Automation {
    /// The person.
    #[default]
    Ask,
    /// Mode `bypassApprovals`: everything is allowed, once (APR-30).
    Bypass,
    /// Mode `rejectApprovals`: everything is denied, once (APR-31).
    Reject,
}

impl Automation {
    /// What decides in a turn of `mode`. A turn that runs read-only asks, whatever its mode (APR-33).
    #[must_use]
    pub fn of(mode: &str, read_only: bool) -> Self {
        match mode {
            _ if read_only => Self::Ask,
            "bypassApprovals" => Self::Bypass,
            "rejectApprovals" => Self::Reject,
            _ => Self::Ask,
        }
    }

    /// The choice to send without asking: the first in host order that lasts no longer than this
    /// requirement. `None` in an automatic mode fails the turn without a grant (APR-32).
    #[must_use]
    pub fn pick(self, choices: &[Choice]) -> Option<&Choice> {
        let fits: fn(&str) -> bool = match self {
            Self::Ask => return None,
            Self::Bypass => |word| word == "approved",
            Self::Reject => |word| matches!(word, "denied" | "abort"),
        };
        choices.iter().find(|choice| choice.scope == "once" && fits(&choice.decision))
    }
}

/// APR-9. `None`: a word that nobody has classified is not offered.
pub fn kind(choice: &Choice) -> Option<acp::PermissionOptionKind> {
    use acp::PermissionOptionKind as Kind;
    let lasting = choice.scope == "localPersistent";
    match choice.decision.as_str() {
        "approved" | "approvedForSession" if lasting || choice.scope == "session" => {
            Some(Kind::AllowAlways)
        }
        "approved" | "approvedForSession" => Some(Kind::AllowOnce),
        "approvedPolicyAmendment" => Some(Kind::AllowAlways),
        "deniedPolicyAmendment" => Some(Kind::RejectAlways),
        "denied" | "abort" | "timedOut" if lasting => Some(Kind::RejectAlways),
        "denied" | "abort" | "timedOut" => Some(Kind::RejectOnce),
        _ => {
            tracing::warn!(
                code = "choice-unknown",
                "a choice with an unknown decision is not offered"
            );
            None
        }
    }
}

/// The option that stands for a choice, if it can be shown.
pub fn option(choice: &Choice) -> Option<acp::PermissionOption> {
    let meta = json!({ "museDecision": choice.decision, "museScope": choice.scope });
    let option = acp::PermissionOption::new(
        choice.choice_id.as_str().to_owned(),
        choice.label.clone(),
        kind(choice)?,
    );
    Some(option.meta(object(meta)))
}

/// APR-21: the first denial in host order, one that does not outlive the question first.
pub fn denial(choices: &[Choice]) -> Option<Choice> {
    let denies = |choice: &&Choice| {
        matches!(choice.decision.as_str(), "denied" | "abort" | "deniedPolicyAmendment")
    };
    let passing = |choice: &&Choice| {
        choice.scope != "localPersistent" && choice.decision != "deniedPolicyAmendment"
    };
    let once = choices.iter().filter(denies).find(passing);
    once.or_else(|| choices.iter().find(denies)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(offered: &[(&str, &str)]) -> Vec<Choice> {
        let choice = |(index, (decision, scope)): (usize, &(&str, &str))| {
            let value = json!({ "choiceId": format!("c{index}"), "label": "x",
                                "decision": decision, "scope": scope });
            serde_json::from_str(&value.to_string()).expect("decodes")
        };
        offered.iter().enumerate().map(choice).collect()
    }

    #[test]
    fn every_pair_of_words_has_the_kind_of_the_table() {
        use acp::PermissionOptionKind as Kind;
        for (decision, scope, expected) in [
            ("approved", "once", Some(Kind::AllowOnce)),
            ("approved", "session", Some(Kind::AllowAlways)),
            ("approved", "localPersistent", Some(Kind::AllowAlways)),
            ("approved", "someday", Some(Kind::AllowOnce)),
            ("approvedForSession", "session", Some(Kind::AllowAlways)),
            ("approvedPolicyAmendment", "once", Some(Kind::AllowAlways)),
            ("deniedPolicyAmendment", "once", Some(Kind::RejectAlways)),
            ("denied", "once", Some(Kind::RejectOnce)),
            ("abort", "session", Some(Kind::RejectOnce)),
            ("timedOut", "localPersistent", Some(Kind::RejectAlways)),
            ("approvedTomorrow", "once", None),
            ("", "once", None),
        ] {
            assert_eq!(kind(&choices(&[(decision, scope)])[0]), expected, "{decision} {scope}");
        }
    }

    #[test]
    fn a_denial_that_does_not_outlive_the_question_comes_first() {
        for (offered, expected) in [
            (&[("denied", "localPersistent"), ("abort", "once")][..], Some("c1")),
            (&[("deniedPolicyAmendment", "once"), ("denied", "session")], Some("c1")),
            (&[("approved", "once"), ("deniedPolicyAmendment", "once")], Some("c1")),
            (&[("approved", "once"), ("timedOut", "once")], None),
            (&[], None),
        ] {
            let found = denial(&choices(offered));
            assert_eq!(found.as_ref().map(|choice| choice.choice_id.as_str()), expected);
        }
    }

    /// APR-30..32: never a lasting grant, never a guess.
    #[test]
    fn an_automatic_mode_takes_once_choices_only() {
        for (automation, offered, expected) in [
            (Automation::Bypass, &[("approved", "session"), ("approved", "once")][..], Some("c1")),
            (Automation::Bypass, &[("approved", "session"), ("approvedForSession", "once")], None),
            (Automation::Bypass, &[("approvedPolicyAmendment", "once"), ("abort", "once")], None),
            (Automation::Bypass, &[("approved", "")], None),
            (Automation::Reject, &[("approved", "once"), ("abort", "once")], Some("c1")),
            (Automation::Reject, &[("denied", "localPersistent"), ("abort", "session")], None),
            (Automation::Reject, &[("timedOut", "once"), ("deniedPolicyAmendment", "once")], None),
            (Automation::Ask, &[("approved", "once")], None),
        ] {
            let offered = choices(offered);
            let found = automation.pick(&offered).map(|choice| choice.choice_id.as_str());
            assert_eq!(found, expected, "{automation:?} {offered:?}");
        }
    }

    /// APR-33.
    #[test]
    fn a_turn_that_runs_read_only_is_never_automatic() {
        assert_eq!(Automation::of("bypassApprovals", false), Automation::Bypass);
        assert_eq!(Automation::of("rejectApprovals", false), Automation::Reject);
        for (mode, read_only) in
            [("bypassApprovals", true), ("rejectApprovals", true), ("plan", false), ("odd", false)]
        {
            assert_eq!(Automation::of(mode, read_only), Automation::Ask);
        }
    }
}
