//! Member lines: `path = VALUE` and the tests of `<-`.
//!
//! Inputs: the words of an indented line. Outputs: what is set, or what must hold. Invariant: a path is
//! named once a statement; only several `contains` may share one. Rule: DSL-4.

use std::collections::BTreeMap;

use super::value::{Place, convert, not_on_act};
use super::words::{Outcome, Words, path};
use crate::lang::ast::{Match, Path, Set, Test};
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::source::Span;
use crate::lang::suggest::nearest;
use crate::lang::syntax::{Entry, Line, Statement};

/// Paths of the statement so far; true marks `contains`.
pub(super) type Seen = BTreeMap<Path, (Span, bool)>;

/// The member lines of a statement.
pub(super) fn lines(statement: &Statement) -> impl Iterator<Item = &Line> {
    statement.body.iter().filter_map(|entry| match entry {
        Entry::Member(line) => Some(line),
        Entry::Blank | Entry::Comment(_) => None,
    })
}

/// A member line on an act.
pub(super) fn set(mut words: Words<'_>, seen: &mut Seen) -> Outcome<Set> {
    let at = words.source.at(words.line());
    let (path, span) = take_path(&mut words)?;
    let operator = words.here();
    if ["contains", "absent", "present"]
        .iter()
        .any(|word| words.peek().is_some_and(|p| p.is_word(word)))
    {
        return Err(not_on_act(operator, &words.found()));
    }
    let Test::Equals(value) = test(&mut words, &path, Place::Act)? else {
        return Err(not_on_act(operator, "a test"));
    };
    once(seen, &path, span, false)?;
    Ok(Set { path, value, at })
}

/// A member line on an expectation.
pub(super) fn matching(mut words: Words<'_>, seen: &mut Seen) -> Outcome<Match> {
    let at = words.source.at(words.line());
    let (path, span) = take_path(&mut words)?;
    let test = test(&mut words, &path, Place::Expect)?;
    once(seen, &path, span, matches!(test, Test::Contains(_)))?;
    Ok(Match { path, test, at })
}

/// A path at the beginning of a test.
pub(super) fn take_path(words: &mut Words<'_>) -> Outcome<(Path, Span)> {
    let help = "write `path = VALUE`, for example `item.kind = \"toolCall\"`";
    let (text, span) = words.word("expected a path", help)?;
    if let Some((head, tail)) = text.split_once(['=', ':']) {
        let tail = if tail.is_empty() { "VALUE" } else { tail };
        let found = format!("`{text}` is not a path");
        let help = if head.is_empty() {
            "write the path before `=`, for example `item.kind = \"toolCall\"`".to_owned()
        } else if text.contains('=') {
            format!("put blanks around `=`: `{head} = {tail}`")
        } else {
            format!("write ` = ` where JSON has `:`, for example `{head} = \"text\"`")
        };
        let allowed = "expected a path, then ` = ` and a value";
        return Err(Problem::new(codes::BAD_MEMBER, span, found, allowed, help));
    }
    Ok((path(text, span)?, span))
}

/// What stands behind a path, to the end of the line.
pub(super) fn test(words: &mut Words<'_>, path: &Path, place: Place) -> Outcome<Test> {
    let test = if words.eat("=") {
        let value = words.value(&format!("write the value: `{path} = \"text\"`"))?;
        Test::Equals(convert(words.source, value, place)?)
    } else if words.eat("contains") {
        Test::Contains(words.text(&format!("write `{path} contains \"part of the text\"`"))?)
    } else if words.eat("absent") {
        Test::Absent
    } else if words.eat("present") {
        Test::Present
    } else {
        let (allowed, help) = match place {
            Place::Act | Place::Constant => ("expected `=`", format!("write `{path} = VALUE`")),
            Place::Expect => (
                "expected `=`, `contains`, `absent` or `present`",
                format!("write `{path} = VALUE`, or `{path} present` if any value will do"),
            ),
        };
        let known = ["contains", "absent", "present"];
        let near = words.peek().and_then(|piece| piece.word()).and_then(|word| match word {
            "==" | ":=" => Some("="),
            _ if place == Place::Expect => nearest(word, known),
            _ => None,
        });
        let help = near.map_or(help, |word| format!("did you mean `{word}`?"));
        let found = match words.peek() {
            None => "a path without a value".to_owned(),
            Some(_) => format!("{} behind a path", words.found()),
        };
        return Err(Problem::new(codes::BAD_MEMBER, words.here(), found, allowed, help));
    };
    words.end("write one member a line; text is one string in double quotes")?;
    Ok(test)
}

fn once(seen: &mut Seen, path: &Path, span: Span, contains: bool) -> Outcome<()> {
    match seen.insert(path.clone(), (span, contains)) {
        Some((first, before)) if !(before && contains) => {
            let found = format!("`{path}` twice in one statement");
            let help = "keep one of the two lines; only `contains` may be repeated";
            let problem =
                Problem::new(codes::MEMBER_TWICE, span, found, "expected each path once", help);
            Err(problem.related(first, "first here"))
        }
        _ => Ok(()),
    }
}

/// The statement above takes no indented lines.
pub(super) fn none_here(span: Span, what: &str) -> Problem {
    Problem::new(
        codes::NO_MEMBERS_HERE,
        span,
        format!("an indented line below {what}"),
        "expected the next statement in column one",
        format!("remove the line, or the blanks before it: {what} has no lines of its own"),
    )
}
