//! `docs/rules.md`: every row names what shows it, all of that is there, and every pair of causes is told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use libtest_mimic::Failed;

/// Groups of rules that the page is complete for, with their last numbers.
const RULES: [(&str, u32); 9] = [
    ("APR", 35),
    ("STL", 9),
    ("ELI", 11),
    ("CAN", 12),
    ("GAP", 7),
    ("STE", 15),
    ("END", 8),
    ("BKG", 6),
    ("CON", 7),
];
/// Numbers that were never given.
const NO_SUCH_RULE: [&str; 3] = ["APR-19", "APR-28", "APR-29"];
/// Where the pairs begin.
const PAIRS: &str = "## Two causes, either order";

pub(crate) fn check(root: &Path) -> Result<(), Failed> {
    let project = root.join("../..");
    let page = std::fs::read_to_string(project.join("docs/rules.md"))?;
    let there =
        |name: &str| root.join(format!("{name}.scn")).is_file() || project.join(name).is_file();
    let (tables, causes) = page.split_once(PAIRS).ok_or("the pairs of causes are missing")?;
    rows(tables, there)?;
    complete(tables)?;
    pairs(causes, there)
}

fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// No rule has two rows, and each row names files that are there.
fn rows(tables: &str, there: impl Fn(&str) -> bool) -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    for row in tables.lines().filter(|line| line.starts_with('|')) {
        let [rule, _, shown] = cells(row)[..] else {
            return Err(format!("not three cells: {row}").into());
        };
        if shown == "Shown by" || shown.trim_matches('-').is_empty() {
            continue; // the head
        }
        if !seen.insert(rule) {
            return Err(format!("{rule} has two rows").into());
        }
        if names(shown).next().is_none() {
            return Err(format!("{rule} names nothing that shows it").into());
        }
        if let Some(name) = names(shown).find(|name| !there(name)) {
            return Err(format!("{rule}: {name} is not there").into());
        }
    }
    if seen.is_empty() { Err("no rule is listed".into()) } else { Ok(()) }
}

/// Each rule of a turn has a row, or is named below its table as not built yet.
fn complete(tables: &str) -> Result<(), Failed> {
    let named: BTreeSet<&str> =
        tables.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
    for (group, last) in RULES {
        let missing = (1..=last)
            .map(|number| format!("{group}-{number}"))
            .find(|rule| !NO_SUCH_RULE.contains(&rule.as_str()) && !named.contains(rule.as_str()));
        if let Some(rule) = missing {
            return Err(format!("{rule} is not on the page").into());
        }
    }
    Ok(())
}

/// Each pair of listed causes has a cell, each cell has stories or reasons, and each of these is listed
/// and used.
fn pairs(causes: &str, there: impl Fn(&str) -> bool) -> Result<(), Failed> {
    let mut listed = BTreeMap::new();
    for line in causes.lines() {
        if let Some((number, name)) = line.split_once(". `") {
            let name = name.trim_end_matches('`');
            if !there(name) {
                return Err(format!("{name} is not there").into());
            }
            listed.insert(number.to_owned(), name);
        } else if let Some((letter, why)) =
            line.strip_prefix("- `").and_then(|line| line.split_once("`: "))
        {
            listed.insert(letter.to_owned(), why);
        }
    }
    let tables = || causes.lines().filter(|line| line.starts_with('|')).map(cells);
    let keys: Vec<&str> = tables().filter(|row| row.len() == 3).map(|row| row[0]).skip(2).collect();
    let mut matrix = tables().filter(|row| row.len() != 3);
    let head = matrix.next().ok_or("no matrix")?;
    if keys.is_empty() || head[1..] != keys[..] {
        return Err(format!("columns {head:?} for causes {keys:?}").into());
    }
    let mut used = BTreeSet::new();
    let mut firsts = Vec::new();
    for row in matrix.skip(1) {
        if row.len() != keys.len() + 1 {
            return Err(format!("a row of {} cells: {row:?}", row.len()).into());
        }
        let first = row[0].trim_matches('*');
        firsts.push(first);
        for (second, cell) in keys.iter().zip(&row[1..]) {
            let mut told = cell.split_whitespace().peekable();
            if told.peek().is_none() {
                return Err(format!("{first} then {second}: nothing").into());
            }
            for mark in told {
                if !listed.contains_key(mark) {
                    return Err(format!("{first} then {second}: {mark} is not listed").into());
                }
                used.insert(mark);
            }
        }
    }
    if firsts != keys {
        return Err(format!("rows {firsts:?} for causes {keys:?}").into());
    }
    match listed.keys().find(|mark| !used.contains(mark.as_str())) {
        Some(mark) => Err(format!("{mark} is in no cell").into()),
        None => Ok(()),
    }
}
