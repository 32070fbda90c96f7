//! Paths to members: `update._meta.muse/approval`, `questions[0].header`, `data["a.b"]`.
//!
//! Invariants: a path begins with a key; `Display` writes the shortest form that reads back the same.
//! Rule: DSL-4.

use std::fmt;

/// A path from the root of a frame's params, result or error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<Segment>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An element of an array, from 0.
    Index(u32),
}

impl Path {
    /// A character that a key may have without quotes.
    #[must_use]
    pub fn is_plain(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/')
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if !key.is_empty() && key.chars().all(Self::is_plain) => {
                    write!(f, "{}{key}", if n == 0 { "" } else { "." })?;
                }
                Segment::Key(key) => write!(f, "[{}]", crate::lang::fmt::quoted(key))?,
            }
        }
        Ok(())
    }
}
