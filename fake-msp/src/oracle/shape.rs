//! Shapes of client params and their checker.
//!
//! Purpose: a small const language for request members, and [`check`], which compares a JSON
//! object with a shape. Inputs: shape, object, era. Outputs: [`Finding`]s with a path.
//! Invariants: findings name paths, members and types, never values; unknown members are noted,
//! not refused (CMD-13); `null` is refused only on `?!` members and required ones (HOST-5).
//! It knows nothing of sessions or the model. Rules: CMD-1, CMD-12, CMD-13, HOST-5.

use serde_json::{Map, Value};

use super::Finding;
use crate::profiles::Era;

/// Type of one member.
#[derive(Debug)]
pub(crate) enum Ty {
    /// Any string.
    Str,
    /// A string or null (a list element).
    StrOrNull,
    /// A client-minted UUIDv7; another string is noted, not refused (CMD-1).
    Uuid,
    /// A non-negative integer.
    Int,
    /// A boolean.
    Bool,
    /// A closed word list, with words that came later.
    Word(&'static [&'static str], &'static [(&'static str, Era)]),
    /// A nested object.
    Obj(&'static Shape),
    /// A list.
    Arr(&'static Self),
    /// A map of names to values of one type.
    Map(&'static Self),
    /// A union on the first member: (word, shape of the rest, first era).
    Tagged(&'static str, &'static [(&'static str, &'static Shape, Era)]),
}

/// Presence rule of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Must be there, not null.
    Required,
    /// May be absent; null is tolerated on the wire but noted (CMD-12).
    Optional,
    /// May be absent; null is invalid params (the `?!` of the reference).
    NonNull,
    /// May be absent or null.
    NullOk,
}

/// One member.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) ty: Ty,
    pub(crate) need: Need,
    pub(crate) since: Era,
    /// Needs the experimental opt-in (HSK-7).
    pub(crate) experimental: bool,
}

/// Who reads the params.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) era: Era,
    /// The client opted into the experimental tier.
    pub(crate) experimental: bool,
}

/// The members of an object.
#[derive(Debug)]
pub(crate) struct Shape(pub(crate) &'static [Member]);

impl Member {
    const fn new(name: &'static str, ty: Ty, need: Need) -> Self {
        Self { name, ty, need, since: Era::First, experimental: false }
    }

    /// The same member, first known in `era`.
    pub(crate) const fn since(self, era: Era) -> Self {
        Self { since: era, ..self }
    }

    /// The same member, for clients that opted into the experimental tier.
    pub(crate) const fn trial(self) -> Self {
        Self { experimental: true, ..self }
    }
}

/// A required member.
pub(crate) const fn req(name: &'static str, ty: Ty) -> Member {
    Member::new(name, ty, Need::Required)
}

/// An optional member.
pub(crate) const fn opt(name: &'static str, ty: Ty) -> Member {
    Member::new(name, ty, Need::Optional)
}

/// An optional member that rejects null.
pub(crate) const fn nonnull(name: &'static str, ty: Ty) -> Member {
    Member::new(name, ty, Need::NonNull)
}

/// An optional member for which null is allowed.
pub(crate) const fn nullable(name: &'static str, ty: Ty) -> Member {
    Member::new(name, ty, Need::NullOk)
}

/// Compares `object` with `shape`; appends what is wrong to `out`.
pub(crate) fn check(
    shape: &Shape,
    object: &Map<String, Value>,
    reader: Reader,
    path: &str,
    out: &mut Vec<Finding>,
) {
    for member in shape.0 {
        let at = join(path, member.name);
        let Some(value) = object.get(member.name) else {
            if member.need == Need::Required {
                let rule = if member.name == "commandId" { "CMD-1" } else { "ENV-9" };
                out.push(Finding::refused(at, rule, "required member is missing"));
            }
            continue;
        };
        if member.since > reader.era {
            // An older host does not know the member and ignores it (section 6.2).
            out.push(Finding::noted(at, "CMD-13", "member is unknown to this host generation"));
            continue;
        }
        if member.experimental && !reader.experimental {
            out.push(Finding::experimental(at));
            continue;
        }
        match (value.is_null(), member.need) {
            (false, _) => check_type(&member.ty, value, reader, &at, out),
            (true, Need::NullOk) => {}
            (true, Need::Optional) => {
                out.push(Finding::noted(at, "CMD-12", "null where the member must be left out"));
            }
            (true, Need::Required | Need::NonNull) => {
                out.push(Finding::refused(at, "HOST-5", "null is not accepted here"));
            }
        }
    }
    for name in object.keys() {
        if shape.0.iter().all(|member| member.name != name) {
            out.push(Finding::noted(join(path, name), "CMD-13", "member is not in the schema"));
        }
    }
}

fn check_type(ty: &Ty, value: &Value, reader: Reader, path: &str, out: &mut Vec<Finding>) {
    let wrong = |expected: &str| {
        Finding::refused(
            path.to_owned(),
            "HOST-5",
            format!("expected {expected}, got {}", kind_of(value)),
        )
    };
    match ty {
        Ty::Str if value.is_string() => {}
        Ty::Str => out.push(wrong("a string")),
        Ty::StrOrNull if value.is_string() || value.is_null() => {}
        Ty::StrOrNull => out.push(wrong("a string or null")),
        Ty::Uuid => match value.as_str() {
            None => out.push(wrong("a string")),
            Some(text) if is_uuid_v7(text) => {}
            Some(_) => {
                out.push(Finding::noted(path.to_owned(), "CMD-1", "not shaped like a UUIDv7"));
            }
        },
        Ty::Int if value.is_u64() => {}
        Ty::Int => out.push(wrong("a non-negative integer")),
        Ty::Bool if value.is_boolean() => {}
        Ty::Bool => out.push(wrong("a boolean")),
        Ty::Word(words, later) => {
            let known = value.as_str().is_some_and(|word| {
                words.contains(&word)
                    || later.iter().any(|(w, since)| *w == word && *since <= reader.era)
            });
            if !known {
                out.push(Finding::refused(path.to_owned(), "TOL-5", "word outside a closed enum"));
            }
        }
        Ty::Obj(shape) => match value.as_object() {
            Some(object) => check(shape, object, reader, path, out),
            None => out.push(wrong("an object")),
        },
        Ty::Arr(element) => match value.as_array() {
            Some(list) => {
                for (index, value) in list.iter().enumerate() {
                    check_type(element, value, reader, &format!("{path}[{index}]"), out);
                }
            }
            None => out.push(wrong("an array")),
        },
        Ty::Map(element) => match value.as_object() {
            // Keys of such maps are the client's own words: they are content, so not in the path.
            Some(map) => {
                for value in map.values() {
                    check_type(element, value, reader, &format!("{path}.*"), out);
                }
            }
            None => out.push(wrong("an object")),
        },
        Ty::Tagged(tag, rows) => {
            let Some(object) = value.as_object() else {
                out.push(wrong("an object"));
                return;
            };
            let word = object.get(*tag).and_then(Value::as_str);
            let row =
                rows.iter().find(|(name, _, since)| Some(*name) == word && *since <= reader.era);
            match row {
                Some((_, shape, _)) => {
                    let mut rest = object.clone();
                    rest.remove(*tag);
                    check(shape, &rest, reader, path, out);
                }
                None => {
                    let at = join(path, tag);
                    out.push(Finding::refused(at, "TOL-5", "missing or unknown variant"));
                }
            }
        }
    }
}

/// Whether a string has the shape of a UUID of version 7.
pub(crate) fn is_uuid_v7(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            14 => *byte == b'7',
            19 => matches!(byte.to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b'),
            _ => byte.is_ascii_hexdigit(),
        })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_u64() => "an integer",
        Value::Number(_) => "another number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
