//! The table of codes keeps its promises.

use crate::lang::codes::{ALL, TOO_MANY_PROBLEMS, entries};
use crate::lang::diagnostic::{Style, render_all};
use crate::lang::parse;

#[test]
fn every_code_has_one_entry_and_the_order_is_that_of_the_codes() {
    let listed: Vec<_> = entries().map(|entry| entry.code).collect();
    assert_eq!(listed, ALL);
    assert!(ALL.is_sorted_by(|a, b| a < b));
}

#[test]
fn every_wrong_example_gives_exactly_its_code() {
    for entry in entries() {
        let (_, found) = parse("wrong.scn", &entry.wrong.bytes());
        let mut codes: Vec<_> = found.iter().map(|one| one.code).collect();
        if entry.code == TOO_MANY_PROBLEMS {
            codes = codes.split_off(codes.len() - 1);
        }
        let shown = render_all(&found, Style::Plain);
        assert_eq!(codes, [entry.code], "{}:\n{shown}", entry.code);
    }
}

#[test]
fn every_right_example_has_no_problem() {
    for entry in entries() {
        let (file, found) = parse("right.scn", entry.right.as_bytes());
        assert!(found.is_empty(), "{}:\n{}", entry.code, render_all(&found, Style::Plain));
        assert!(file.is_some());
    }
}
