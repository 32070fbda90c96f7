//! `docs/failures.md` says what the code does: its rows are compared with failures that are built here.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::msp::event::TurnError;

const PHASES: [Phase; 4] =
    [Phase::Initializing, Phase::Preparing, Phase::Submitting, Phase::Running];

/// Every constructor in every phase in which it is used.
fn every_own_failure() -> Vec<Failure> {
    let redactor = Redactor::default();
    let budget = Duration::from_millis(1);
    let sdk_disabled = HostEnd { sdk_disabled: true, ..HostEnd::default() };
    let waiting = Waiting { id: "a".into(), frame: "approval/requested", stage: None };
    let no_serve = ResolveError::NoServe { binary: "/m".into(), version: None };
    let mut all = vec![
        Failure::unavailable(&ResolveError::NotOnPath, &redactor),
        Failure::unavailable(&no_serve, &redactor),
        Failure::spawn("/m", &redactor),
        Failure::unconfirmed("w"),
        Failure::unqueued(),
        Failure::approval_rejected(-1),
        Failure::approval_unavailable("w"),
        Failure::permission_invalid("w"),
        Failure::user_input_unsupported(true),
        Failure::user_input_invalid(),
        Failure::user_input_rejected(-1),
        Failure::steering_unacknowledged(budget),
        Failure::stalled(&waiting, budget, &redactor),
    ];
    for phase in PHASES {
        if phase != Phase::Running {
            all.push(Failure::deadline(phase, budget)); // DL-4: the run has no bound
        }
        all.push(Failure::host_lost(phase));
        all.push(Failure::host_lost(phase).with_end(&sdk_disabled));
        all.push(Failure::session_unloaded(phase));
        all.push(Failure::protocol(phase, "w"));
        all.push(Failure::gap(phase, &Trouble::Stalled));
    }
    all
}

/// What a client reads in a failure and in its row, but for the texts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    phases: BTreeSet<String>,
    outcomes: BTreeSet<String>,
    retryable: BTreeSet<String>,
    codes: BTreeSet<String>,
}

fn told(failures: &[Failure]) -> BTreeMap<(String, String), Facts> {
    let mut told: BTreeMap<(String, String), Facts> = BTreeMap::new();
    for failure in failures {
        let error = failure.to_acp();
        let object = &error.data.as_ref().expect("data")["failure"];
        let word = |name: &str| object[name].as_str().expect(name).to_owned();
        let facts = told.entry((word("kind"), word("source"))).or_default();
        facts.phases.insert(word("phase"));
        facts.outcomes.insert(word("outcome"));
        let retryable = object.get("retryable").map_or("absent".to_owned(), ToString::to_string);
        facts.retryable.insert(retryable);
        facts.codes.insert(error.code.to_string());
    }
    told
}

/// As it was when this was built: the core reads no files, in its tests either.
const PAGE: &str = include_str!("../../../../docs/failures.md");

/// The cells of the table below this heading.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading));
    let lines = section.expect(heading).lines().filter(|line| line.starts_with("| `")).skip(1);
    lines
        .map(|line| line.trim_matches('|').split(" | ").map(|c| c.trim().to_owned()).collect())
        .collect()
}

fn words(cell: &str) -> BTreeSet<String> {
    cell.split(", ").map(|word| word.trim_matches('`').to_owned()).collect()
}

#[test]
fn the_page_lists_every_kind_that_the_adapter_makes() {
    let mut written = BTreeMap::new();
    for row in rows(PAGE, "Kinds of the adapter") {
        let facts = Facts {
            phases: words(&row[2]),
            outcomes: words(&row[3]),
            retryable: words(&row[4]),
            codes: words(&row[5]),
        };
        let key = (row[0].trim_matches('`').to_owned(), row[1].trim_matches('`').to_owned());
        assert!(written.insert(key, facts).is_none(), "{row:?} twice");
        assert!(row[6..].iter().all(|cell| !cell.is_empty()) && row.len() == 9, "{row:?}");
    }
    assert_eq!(written, told(&every_own_failure()));
}

/// A new constructor does not get past [`every_own_failure`]: each kind in the source is in the page.
#[test]
fn no_kind_of_the_source_is_missing() {
    let source = include_str!("../failure.rs");
    let code = source.split("#[cfg(test)]").next().expect("code");
    let named = ["Self::own(", "Self::new(", "Failure::own("].into_iter().flat_map(|call| {
        code.split(call).skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'))
    });
    let named: BTreeSet<&str> = named.filter_map(|rest| rest.split('"').next()).collect();
    let written: BTreeSet<String> = rows(PAGE, "Kinds of the adapter")
        .into_iter()
        .map(|row| row[0].trim_matches('`').to_owned())
        .collect();
    for kind in &named {
        assert!(written.contains(*kind), "{kind} is not in docs/failures.md");
    }
    assert!(named.len() >= 12, "{named:?}");
}

/// Kinds of the host are kept; these have a source, a code or a hint of their own.
#[test]
fn the_page_says_what_becomes_of_kinds_of_the_host() {
    let redactor = Redactor::default();
    for row in rows(PAGE, "Kinds of Muse") {
        let kind = row[0].trim_matches('`');
        let error = TurnError { kind: kind.to_owned(), message: "m".into(), retryable: None };
        let refusal = RpcError::new(-32030, "m").with_data(json!({ "kind": kind }));
        let ended = Failure::terminal(&error, &redactor).to_acp();
        let refused =
            Failure::refused("session/resume", &refusal, Phase::Preparing, &redactor).to_acp();
        let of = |error: &RpcError, name: &str| {
            error.data.as_ref().expect("data")["failure"][name].as_str().expect(name).to_owned()
        };
        let facts = |error: &RpcError| format!("{}, {}", of(error, "source"), error.code);
        assert_eq!([row[1].clone(), row[2].clone()], [facts(&ended), facts(&refused)], "{kind}");
        for error in [ended, refused] {
            assert_eq!(
                (of(&error, "kind").as_str(), of(&error, "outcome").as_str()),
                (kind, "failed")
            );
        }
    }
}
