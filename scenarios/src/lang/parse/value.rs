//! Values of the syntax tree into values of the story.
//!
//! Inputs: a value as written and where it stands. Outputs: the value, with names split from their paths.
//! Invariant: `_` comes out only where frames are compared, names only where something can be bound.

use super::words::{Outcome, is_name, path};
use crate::lang::ast::{NamePath, Value, ValueKind};
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::source::{Source, Span};
use crate::lang::syntax as written;

/// What may stand for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On `->`: names, no `_`.
    Act,
    /// On `<-` and behind `where`: names and `_`.
    Expect,
    /// In `vary`: neither.
    Constant,
}

/// Converts a value.
pub(super) fn convert(source: &Source, value: &written::Value, place: Place) -> Outcome<Value> {
    let kind = match &value.kind {
        written::ValueKind::Null => ValueKind::Null,
        written::ValueKind::Bool(truth) => ValueKind::Bool(*truth),
        written::ValueKind::Number(text) => ValueKind::Number(text.clone()),
        written::ValueKind::Text(text) => ValueKind::Text(text.clone()),
        written::ValueKind::Name(text) => {
            if place == Place::Constant {
                return Err(constant(value.span, &format!("${text}")));
            }
            ValueKind::Name(name(source, text, value.span)?)
        }
        written::ValueKind::Any => match place {
            Place::Expect => ValueKind::Any,
            Place::Act => return Err(not_on_act(value.span, "`_`")),
            Place::Constant => return Err(constant(value.span, "_")),
        },
        written::ValueKind::Array(list) => {
            let all = list.elements.iter().map(|one| convert(source, &one.value, place));
            ValueKind::Array(all.collect::<Outcome<_>>()?)
        }
        written::ValueKind::Object(list) => {
            let all = list.elements.iter().map(|one| {
                let (key, value) = &one.value;
                Ok((key.text.clone(), convert(source, value, place)?))
            });
            ValueKind::Object(all.collect::<Outcome<_>>()?)
        }
    };
    Ok(Value { kind, at: source.at(value.span) })
}

/// `one.viewCursor` behind `$`.
fn name(source: &Source, text: &str, span: Span) -> Outcome<NamePath> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    if !is_name(head) {
        let help = "write `$name` or `$name.path`; a name is a letter, then letters, digits and `_`; \
                    for text write `\"$…\"`";
        let found = format!("`${text}` is not a name");
        return Err(Problem::new(codes::BAD_NAME, span, found, "expected `$` and a name", help));
    }
    let path = match rest {
        "" => None,
        rest => {
            let cut = usize::from(rest.starts_with('.'));
            let start = span.start + 1 + end + cut;
            // An index directly behind the name has no key before it; give it one to be read with.
            Some(if rest.starts_with('[') {
                let mut whole = path(text, Span::new(span.start + 1, span.end))?;
                whole.0.remove(0);
                whole
            } else {
                path(&rest[cut..], Span::new(start, span.end))?
            })
        }
    };
    Ok(NamePath { name: head.to_owned(), path, at: source.at(span) })
}

/// Something that only compares stands where the script acts.
pub(super) fn not_on_act(span: Span, found: &str) -> Problem {
    Problem::new(
        codes::NOT_ON_ACT,
        span,
        format!("{found} where the script acts"),
        "expected `path = VALUE` with a definite value",
        "leave the line out and the model fills the member; to leave a member out send `-> raw {…}`",
    )
}

fn constant(span: Span, found: &str) -> Problem {
    Problem::new(
        codes::BAD_VALUE,
        span,
        format!("`{found}` in a `vary` list"),
        "expected durations or JSON values",
        "write the values out: `vary $x in 0ms, 1ms` or `vary $code in -32601, -32603`",
    )
}
