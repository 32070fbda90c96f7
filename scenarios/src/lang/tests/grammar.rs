//! The pages and the editor grammar agree with the tables.

use super::expect::{package, same};
use crate::lang::codes;
use crate::lang::tables::{FAULTS, HEADER_KEYS, KEYWORDS, LANES, WORDS};

#[test]
fn the_page_of_codes_is_made_from_the_table() {
    same(&package("../docs/diagnostics.md"), &codes::page());
}

/// The words of the first group `(a|b|c)` in the pattern of a rule.
fn words(grammar: &serde_json::Value, rule: &str) -> Vec<String> {
    let pattern = grammar["repository"][rule]["match"].as_str().unwrap();
    let groups = pattern.split('(').skip(1).filter(|group| !group.starts_with('?'));
    let inner = groups.filter_map(|group| group.split(')').next()).next().unwrap();
    sorted(&inner.split('|').collect::<Vec<_>>())
}

fn sorted(all: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = all.iter().map(|word| (*word).to_owned()).collect();
    words.sort();
    words
}

#[test]
fn the_editor_grammar_has_the_words_of_the_parser() {
    let text = std::fs::read_to_string(package("../docs/scn.tmLanguage.json")).unwrap();
    let grammar: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(words(&grammar, "keyword"), sorted(KEYWORDS));
    assert_eq!(words(&grammar, "lane"), sorted(LANES));
    assert_eq!(words(&grammar, "word"), sorted(WORDS));
    assert_eq!(words(&grammar, "fault"), sorted(FAULTS));
    assert_eq!(words(&grammar, "header-key"), sorted(HEADER_KEYS));
    for included in grammar["patterns"].as_array().unwrap() {
        let name = included["include"].as_str().unwrap().trim_start_matches('#');
        assert!(grammar["repository"][name].is_object(), "{name}");
    }
}
