//! What a line expects of a value, and where a value differs from it.
//!
//! Objects are open, arrays are closed, `_` stands for anything (DSL-4). A mismatch names its path, what
//! was expected and what was found, so that a report shows the differing members and nothing else.

use std::fmt;

use serde_json::Value;

/// An expected value.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `_`.
    Any,
    /// A string, number, boolean or null, equal as JSON.
    Is(Value),
    /// At least these members.
    Object(Vec<(String, Pattern)>),
    /// Exactly these elements.
    Array(Vec<Pattern>),
}

/// One member that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// From the frame's params, result or error.
    pub path: String,
    /// As the line has it.
    pub expected: String,
    /// As the frame has it; `absent` without quotes when it has nothing.
    pub found: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.path, self.expected, self.found)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("_"),
            Self::Is(value) => write!(f, "{value}"),
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (name, pattern)) in members.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{}: {pattern}", Value::from(name.as_str()))?;
                }
                f.write_str("}")
            }
            Self::Array(elements) => {
                f.write_str("[")?;
                for (index, pattern) in elements.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{pattern}")?;
                }
                f.write_str("]")
            }
        }
    }
}

impl Pattern {
    /// Everything in which `found` differs, with paths below `path`. `None` is an absent value.
    pub fn compare(&self, path: &str, found: Option<&Value>, into: &mut Vec<Mismatch>) {
        let mut differ = |expected: String| {
            let found =
                found.map_or_else(|| "absent".to_owned(), |value| short(&value.to_string()));
            into.push(Mismatch { path: path.to_owned(), expected, found });
        };
        match (self, found) {
            (Self::Any, Some(_)) => {}
            (Self::Is(expected), Some(found)) if same(expected, found) => {}
            (Self::Object(members), Some(Value::Object(object))) => {
                for (name, pattern) in members {
                    pattern.compare(&join(path, name), object.get(name), into);
                }
            }
            (Self::Array(elements), Some(Value::Array(array))) if elements.len() == array.len() => {
                for (index, (pattern, found)) in elements.iter().zip(array).enumerate() {
                    pattern.compare(&format!("{path}[{index}]"), Some(found), into);
                }
            }
            _ => differ(short(&self.to_string())),
        }
    }
}

/// JSON equality; `1` and `1.0` are the same number.
fn same(left: &Value, right: &Value) -> bool {
    left == right || matches!((left.as_f64(), right.as_f64()), (Some(a), Some(b)) if a == b)
}

/// A dotted path.
#[must_use]
pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A text for a report: at most 200 characters.
fn short(text: &str) -> String {
    muse_code_acp::core::redact::cut(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn differs(pattern: &Pattern, value: &Value) -> Vec<String> {
        let mut mismatches = Vec::new();
        pattern.compare("", Some(value), &mut mismatches);
        mismatches.iter().map(ToString::to_string).collect()
    }

    fn is(value: Value) -> Pattern {
        Pattern::Is(value)
    }

    #[test]
    fn objects_are_open_and_arrays_are_closed() {
        let pattern =
            Pattern::Object(vec![("a".into(), Pattern::Array(vec![is(json!(1)), Pattern::Any]))]);
        assert_eq!(differs(&pattern, &json!({ "a": [1.0, "x"], "more": true })), [""; 0]);
        assert_eq!(differs(&pattern, &json!({ "a": [1] })), ["a: expected [1, _], found [1]"]);
        assert_eq!(differs(&pattern, &json!({ "a": [2, 3] })), ["a[0]: expected 1, found 2"]);
        assert_eq!(differs(&pattern, &json!({})), ["a: expected [1, _], found absent"]);
    }

    #[test]
    fn null_is_not_absence() {
        let pattern = Pattern::Object(vec![("a".into(), is(Value::Null))]);
        assert_eq!(differs(&pattern, &json!({ "a": null })), [""; 0]);
        assert_eq!(differs(&pattern, &json!({})), ["a: expected null, found absent"]);
    }
}
