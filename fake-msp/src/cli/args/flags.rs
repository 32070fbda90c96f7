//! A strict reader of flags.
//!
//! Purpose: arguments to values by a table. Inputs: a table, the words after the command. Outputs:
//! what was given, or one line that says what is wrong and what is allowed. Invariant: a flag that is
//! not in the table, stands twice, lacks its value or has one that it does not take is an error; a
//! silent typo would make a test mean something else than its author thinks.

/// One row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    /// What its value is called; `None` for a switch.
    pub(super) value: Option<&'static str>,
    /// Whether it may stand more than once.
    pub(super) many: bool,
}

impl Flag {
    pub(super) const fn switch(name: &'static str) -> Self {
        Self { name, value: None, many: false }
    }

    pub(super) const fn value(name: &'static str, value: &'static str) -> Self {
        Self { name, value: Some(value), many: false }
    }

    pub(super) const fn many(name: &'static str, value: &'static str) -> Self {
        Self { name, value: Some(value), many: true }
    }

    /// From a help line such as `--sandbox-network <MODE>`.
    pub(super) fn of_help_line(line: &'static str) -> Self {
        match line.split_once(' ') {
            Some((name, value)) => Self::value(name, value.trim_matches(['<', '>'])),
            None => Self::switch(line),
        }
    }
}

/// What was given.
#[derive(Debug, Default)]
pub(super) struct Given {
    flags: Vec<(&'static str, String)>,
    /// Words that are no flags, in order.
    pub(super) words: Vec<String>,
}

impl Given {
    /// The value of a flag that stands at most once.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.flags.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a switch was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }
}

/// Reads the words after `command`. After `--` no word is a flag.
pub(super) fn read(command: &str, table: &[Flag], args: &[String]) -> Result<Given, String> {
    let mut given = Given::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            given.words.extend(rest.by_ref().cloned());
            break;
        }
        if !arg.starts_with('-') || arg == "-" {
            given.words.push(arg.clone());
            continue;
        }
        let (name, inline) = match arg.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (arg.as_str(), None),
        };
        let Some(flag) = table.iter().find(|flag| flag.name == name) else {
            return Err(unknown(command, table, name));
        };
        if !flag.many && given.has(flag.name) {
            return Err(format!("{command}: {name} stands twice; give it once"));
        }
        let value = match (flag.value, inline) {
            (None, None) => String::new(),
            (None, Some(_)) => {
                return Err(format!("{command}: {name} takes no value; write {name} alone"));
            }
            (Some(_), Some(value)) if !value.is_empty() => value,
            (Some(what), Some(_)) => return Err(lacks(command, name, what)),
            // The next flag is no value: `--seed --strict` lacks a number.
            (Some(what), None) => match rest.next().filter(|next| !next.starts_with("--")) {
                Some(value) => value.clone(),
                None => return Err(lacks(command, name, what)),
            },
        };
        given.flags.push((flag.name, value));
    }
    Ok(given)
}

fn lacks(command: &str, name: &str, what: &str) -> String {
    format!("{command}: {name} needs a value: {name} {what}")
}

fn unknown(command: &str, table: &[Flag], name: &str) -> String {
    let known: Vec<&str> = table.iter().map(|flag| flag.name).collect();
    let hint = match nearest(name, &known) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("allowed are {}", known.join(", ")),
    };
    format!("{command}: unknown flag `{name}`; {hint}")
}

/// The word that was meant, if one is near: at most two letters away, and less than half the word.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let scored = known.iter().map(|other| (distance(word, other), *other));
    let near = scored.filter(|(distance, other)| *distance <= 2 && distance * 2 < other.len());
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Edit distance.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in two.iter().enumerate() {
            let change = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Flag] =
        &[Flag::switch("--strict"), Flag::value("--seed", "N"), Flag::many("--image", "FILE")];

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_and_words_are_told_apart() {
        let given =
            read("x", TABLE, &words("--seed=4 a --image b --image c - -- --strict")).unwrap();
        assert_eq!(given.value("--seed"), Some("4"));
        assert!(!given.has("--strict") && given.has("--image"));
        assert_eq!(given.words, ["a", "-", "--strict"]);
    }

    #[test]
    fn every_mistake_is_one_line_with_a_hint() {
        for (line, text) in [
            ("--strcit", "x: unknown flag `--strcit`; did you mean --strict?"),
            ("--other", "x: unknown flag `--other`; allowed are --strict, --seed, --image"),
            ("-s", "x: unknown flag `-s`; allowed are --strict, --seed, --image"),
            ("--seed", "x: --seed needs a value: --seed N"),
            ("--seed=", "x: --seed needs a value: --seed N"),
            ("--seed --strict", "x: --seed needs a value: --seed N"),
            ("--seed 1 --seed=2", "x: --seed stands twice; give it once"),
            ("--strict --strict", "x: --strict stands twice; give it once"),
            ("--strict=yes", "x: --strict takes no value; write --strict alone"),
        ] {
            assert_eq!(read("x", TABLE, &words(line)).unwrap_err(), text);
        }
    }
}
