//! Openings keep what they promise.

use crate::lang::ast::{Expect, Step};
use crate::lang::openings::Opening;
use crate::lang::{fmt, parse};

fn names(steps: &[Step]) -> Vec<&str> {
    let all = steps.iter().filter_map(|step| match step {
        Step::Act(act) => act.bind.as_ref(),
        Step::Expect(Expect { bind, .. }) => bind.as_ref(),
        _ => None,
    });
    all.map(|name| name.text.as_str()).collect()
}

fn given(opening: Opening) -> crate::lang::ast::File {
    let text = format!(
        "scenario \"t\"\n  id SCN-A-01\n\ngiven {}\ncheck host process reaped\n",
        opening.name()
    );
    let (file, found) = parse("opening.scn", text.as_bytes());
    assert!(found.is_empty(), "{found:?}");
    file.unwrap()
}

#[test]
fn the_listed_names_are_those_that_the_text_binds() {
    for opening in Opening::ALL {
        let file = given(opening);
        let listed: Vec<_> = opening.names().iter().map(|(name, _)| *name).collect();
        assert_eq!(names(&file.given.unwrap().steps), listed, "{}", opening.name());
    }
}

#[test]
fn each_opening_begins_as_the_one_before_it() {
    for pair in Opening::ALL.windows(2) {
        assert!(pair[1].text().starts_with(pair[0].text()), "{}", pair[1].name());
    }
}

#[test]
fn openings_are_written_in_canonical_form_and_hold_on_their_own() {
    for opening in Opening::ALL {
        let text = format!("scenario \"t\"\n  id       SCN-A-01\n\n{}", opening.text());
        assert_eq!(fmt::format("opening.scn", text.as_bytes()).as_deref(), Ok(text.as_str()));
    }
}
