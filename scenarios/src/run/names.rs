//! What the names of a story stand for.
//!
//! `$name` is a frame's principal id (DSL-4), `$name.path` a member of it. Invariants: a name is bound
//! once a run (the parser sees to it); a value that uses a name which is not bound yet is an error of the
//! story, never a guess.

use std::collections::BTreeMap;

use fake_msp::engine::AskHandle;
use fake_msp::engine::script::EntityRef;
use serde_json::{Map, Value};

use super::pattern::Pattern;
use super::report::{Code, Failure};
use crate::lang::ast::{self, NamePath, Number, Path, Segment, ValueKind};

/// What a name is bound to.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A request of the editor; `result` once it was answered.
    EditorRequest {
        /// JSON-RPC id.
        id: u64,
        /// Its params.
        params: Value,
        /// Its answer.
        result: Option<Value>,
    },
    /// A request or notification of the adapter.
    FromAdapter {
        /// JSON-RPC id, if it wants an answer.
        id: Option<Value>,
        /// Which host, for host lanes.
        host: Option<usize>,
        /// Set when the model waits for the story's answer.
        handle: Option<AskHandle>,
        /// Wire name.
        method: String,
        /// Its params.
        params: Value,
    },
    /// Something that the host sent.
    FromHost {
        /// Which host.
        host: usize,
        /// What it is about.
        entity: Option<EntityRef>,
        /// Its params.
        params: Value,
    },
    /// A value of `vary` or a table of `stages`.
    Value(Value),
}

impl Bound {
    /// What `$name` alone stands for.
    fn principal(&self) -> Value {
        match self {
            // The session is what later frames need of the request that made it.
            Self::EditorRequest { id, params, result } => {
                let session = result.as_ref().and_then(|result| result.get("sessionId"));
                session.or_else(|| params.get("sessionId")).cloned().unwrap_or_else(|| (*id).into())
            }
            Self::FromAdapter { params, id, .. } => {
                let named = ["turnId", "approvalId", "userInputId", "commandId", "sessionId"];
                let known = named.iter().find_map(|name| params.get(*name));
                known.or(id.as_ref()).cloned().unwrap_or(Value::Null)
            }
            Self::FromHost { entity, params, .. } => {
                entity.as_ref().map_or_else(|| params.clone(), |entity| Value::from(entity.id()))
            }
            Self::Value(value) => value.clone(),
        }
    }

    /// What paths start from; the answer of an editor's request comes before its params.
    fn member(&self, path: &Path) -> Option<Value> {
        match self {
            Self::EditorRequest { params, result, .. } => result
                .as_ref()
                .and_then(|result| get(result, path))
                .or_else(|| get(params, path))
                .cloned(),
            Self::FromAdapter { params, .. } | Self::FromHost { params, .. } => {
                get(params, path).cloned()
            }
            Self::Value(value) => get(value, path).cloned(),
        }
    }
}

/// The names of one run.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<String, Bound>);

impl Names {
    /// Binds a name.
    pub fn bind(&mut self, name: &str, bound: Bound) {
        self.0.insert(name.to_owned(), bound);
    }

    /// The binding, if there is one yet.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Bound> {
        self.0.get(name)
    }

    /// Records the answer of an editor's request.
    pub fn answered(&mut self, request: u64, answer: &Value) {
        for bound in self.0.values_mut() {
            if let Bound::EditorRequest { id, result, .. } = bound
                && *id == request
            {
                *result = Some(answer.clone());
            }
        }
    }

    /// The value of `$name` or `$name.path`.
    ///
    /// # Errors
    /// `R0011` when it has no value yet.
    pub fn value(&self, name: &NamePath) -> Result<Value, Failure> {
        let bound = self.0.get(&name.name);
        let value = match &name.path {
            None => bound.map(Bound::principal),
            Some(path) => bound.and_then(|bound| bound.member(path)),
        };
        value.ok_or_else(|| {
            let path = name.path.as_ref().map(|path| format!(".{path}")).unwrap_or_default();
            let text = format!("${}{path} has no value at this point of the story", name.name);
            Failure::new(Code::Name, name.at.line, text)
        })
    }

    /// A whole value for an act.
    ///
    /// # Errors
    /// `R0011`.
    pub fn json(&self, value: &ast::Value) -> Result<Value, Failure> {
        Ok(match &value.kind {
            ValueKind::Null | ValueKind::Any => Value::Null,
            ValueKind::Bool(bool) => Value::Bool(*bool),
            ValueKind::Number(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()))
            }
            ValueKind::Text(text) => Value::from(text.as_str()),
            ValueKind::Name(name) => self.value(name)?,
            ValueKind::Array(list) => {
                Value::Array(list.iter().map(|value| self.json(value)).collect::<Result<_, _>>()?)
            }
            ValueKind::Object(list) => {
                let mut object = Map::new();
                for (name, value) in list {
                    object.insert(name.clone(), self.json(value)?);
                }
                Value::Object(object)
            }
        })
    }

    /// What an expectation compares with.
    ///
    /// # Errors
    /// `R0011`.
    pub fn pattern(&self, value: &ast::Value) -> Result<Pattern, Failure> {
        Ok(match &value.kind {
            ValueKind::Any => Pattern::Any,
            ValueKind::Array(list) => Pattern::Array(
                list.iter().map(|value| self.pattern(value)).collect::<Result<_, _>>()?,
            ),
            ValueKind::Object(list) => {
                let mut members = Vec::new();
                for (name, value) in list {
                    members.push((name.clone(), self.pattern(value)?));
                }
                Pattern::Object(members)
            }
            _ => Pattern::Is(self.json(value)?),
        })
    }

    /// A literal number or a value of `vary`.
    ///
    /// # Errors
    /// `R0011`.
    pub fn number(&self, number: &Number) -> Result<i64, Failure> {
        match number {
            Number::Literal(number) => Ok(*number),
            Number::Name(name) => match self.0.get(&name.text) {
                Some(Bound::Value(value)) if value.as_i64().is_some() => {
                    Ok(value.as_i64().unwrap_or_default())
                }
                _ => Err(Failure::new(
                    Code::Name,
                    name.at.line,
                    format!("${} is no whole number", name.text),
                )),
            },
        }
    }
}

/// The member at a path.
#[must_use]
pub fn get<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    path.0.iter().try_fold(value, |value, segment| match segment {
        Segment::Key(key) => value.get(key),
        Segment::Index(index) => value.get(usize::try_from(*index).ok()?),
    })
}

/// Sets the member at a path; objects and array elements on the way are made.
pub fn set(root: &mut Value, path: &Path, value: Value) {
    let mut at = root;
    for segment in &path.0 {
        match segment {
            Segment::Key(key) => {
                if !at.is_object() {
                    *at = Value::Object(Map::new());
                }
                at = &mut at[key.as_str()];
            }
            Segment::Index(index) => {
                if !at.is_array() {
                    *at = Value::Array(Vec::new());
                }
                let index = usize::try_from(*index).unwrap_or(usize::MAX).min(10_000);
                if let Value::Array(list) = &mut *at {
                    while list.len() <= index {
                        list.push(Value::Null);
                    }
                }
                at = &mut at[index];
            }
        }
    }
    *at = value;
}
