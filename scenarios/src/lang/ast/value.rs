//! Values: JSON in which names and `_` may stand for a value (DSL-4).
//!
//! Invariants: numbers are kept as written, so that none is too large; keys of an object are unique and
//! keep their order; `_` appears only where frames are compared.

use super::{At, Path};

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Where it is.
    pub at: At,
}

/// Kinds of value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A JSON number as written.
    Number(String),
    /// A string.
    Text(String),
    /// `$name` or `$name.path`.
    Name(NamePath),
    /// `_`: anything, but present.
    Any,
    /// A list. Where frames are compared it is closed: all elements, in order.
    Array(Vec<Value>),
    /// An object. Where frames are compared it is open: other members may be there.
    Object(Vec<(String, Value)>),
}

/// `$one.viewCursor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePath {
    /// The name without `$`.
    pub name: String,
    /// `None` stands for the frame's principal id, or the whole value of a `vary` or `stages` name.
    pub path: Option<Path>,
    /// Where it is.
    pub at: At,
}

impl Value {
    /// Calls `each` for every name in the value, in order.
    pub fn each_name<'v>(&'v self, each: &mut impl FnMut(&'v NamePath)) {
        match &self.kind {
            ValueKind::Name(name) => each(name),
            ValueKind::Array(list) => list.iter().for_each(|value| value.each_name(each)),
            ValueKind::Object(list) => list.iter().for_each(|(_, value)| value.each_name(each)),
            ValueKind::Null
            | ValueKind::Bool(_)
            | ValueKind::Number(_)
            | ValueKind::Text(_)
            | ValueKind::Any => {}
        }
    }
}
