//! Values as they are written.
//!
//! Invariants: a list without line breaks and comments is one line; another has one element a line, indented
//! by two more than its first line.

use super::text::quoted;
use crate::lang::ast;
use crate::lang::syntax::{Element, List, Trivia, Value, ValueKind};

/// A value of the syntax tree that begins in a line indented by `indent`.
pub(super) fn written(value: &Value, indent: usize) -> String {
    match &value.kind {
        ValueKind::Null => "null".to_owned(),
        ValueKind::Bool(truth) => truth.to_string(),
        ValueKind::Number(text) => text.clone(),
        ValueKind::Text(text) => quoted(text),
        ValueKind::Name(text) => format!("${text}"),
        ValueKind::Any => "_".to_owned(),
        ValueKind::Array(list) => brackets(list, indent, ('[', ']'), &written),
        ValueKind::Object(list) => brackets(list, indent, ('{', '}'), &|(key, value), indent| {
            format!("{}: {}", quoted(&key.text), written(value, indent))
        }),
    }
}

fn brackets<T>(
    list: &List<T>,
    indent: usize,
    (open, close): (char, char),
    element: &dyn Fn(&T, usize) -> String,
) -> String {
    // An empty list has nothing to break; comments inside break any list.
    let broken = list.broken && !(list.elements.is_empty() && list.tail.is_empty());
    if !broken {
        let all: Vec<String> =
            list.elements.iter().map(|one| element(&one.value, indent)).collect();
        return format!("{open}{}{close}", all.join(", "));
    }
    let inner = indent + 2;
    let mut lines = Vec::new();
    let last = list.elements.len().saturating_sub(1);
    for (n, Element { lead, value, trail }) in list.elements.iter().enumerate() {
        trivia(lead, inner, n == 0, &mut lines);
        let comma = if n == last { "" } else { "," };
        let trail = trail.as_ref().map(|comment| format!(" {}", comment.text)).unwrap_or_default();
        lines.push(format!("{:inner$}{}{comma}{trail}", "", element(value, inner)));
    }
    trivia(&list.tail, inner, list.elements.is_empty(), &mut lines);
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    if lines.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}\n{}\n{:indent$}{close}", lines.join("\n"), "")
}

fn trivia(all: &[Trivia], indent: usize, first: bool, lines: &mut Vec<String>) {
    for (n, one) in all.iter().enumerate() {
        match one {
            Trivia::Blank if first && n == 0 => {}
            Trivia::Blank => lines.push(String::new()),
            Trivia::Comment(comment) => lines.push(format!("{:indent$}{}", "", comment.text)),
        }
    }
}

/// A value of the story in one line.
#[must_use]
pub fn value_line(value: &ast::Value) -> String {
    match &value.kind {
        ast::ValueKind::Null => "null".to_owned(),
        ast::ValueKind::Bool(truth) => truth.to_string(),
        ast::ValueKind::Number(text) => text.clone(),
        ast::ValueKind::Text(text) => quoted(text),
        ast::ValueKind::Any => "_".to_owned(),
        ast::ValueKind::Name(name) => match &name.path {
            None => format!("${}", name.name),
            Some(path) => {
                let path = path.to_string();
                let dot = if path.starts_with('[') { "" } else { "." };
                format!("${}{dot}{path}", name.name)
            }
        },
        ast::ValueKind::Array(list) => {
            format!("[{}]", list.iter().map(value_line).collect::<Vec<_>>().join(", "))
        }
        ast::ValueKind::Object(list) => {
            let all =
                list.iter().map(|(key, value)| format!("{}: {}", quoted(key), value_line(value)));
            format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
        }
    }
}
