//! Member paths: `a.b[0].c`.

use serde_json::{Map, Value};

use super::{Illegal, Set};

/// Longest list that a path may create, so that a typo cannot fill memory.
const INDEX_MAX: usize = 1000;

/// Sets every path; missing objects and list elements are created.
pub(super) fn apply(target: &mut Value, sets: &[Set<'_>]) -> Result<(), Illegal> {
    for (path, value) in sets {
        *slot(target, path)? = value.clone();
    }
    Ok(())
}

fn slot<'v>(target: &'v mut Value, path: &str) -> Result<&'v mut Value, Illegal> {
    let bad = |why: &str| Illegal::new("DSL-4", format!("path `{path}`: {why}"));
    let mut at = target;
    for part in path.split('.') {
        let (name, indexes) = part.split_once('[').map_or((part, None), |(n, i)| (n, Some(i)));
        if name.is_empty() {
            return Err(bad("empty member name"));
        }
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        let object = at.as_object_mut().ok_or_else(|| bad("goes through a value"))?;
        at = object.entry(name).or_insert(Value::Null);
        for index in indexes.into_iter().flat_map(|indexes| indexes.split('[')) {
            let index = index.strip_suffix(']').and_then(|index| index.parse::<usize>().ok());
            let index = index.filter(|index| *index < INDEX_MAX).ok_or_else(|| bad("bad index"))?;
            if at.is_null() {
                *at = Value::Array(Vec::new());
            }
            let list = at.as_array_mut().ok_or_else(|| bad("indexes what is no list"))?;
            while list.len() <= index {
                list.push(Value::Null);
            }
            at = &mut list[index];
        }
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_create_what_is_missing_and_replace_what_is_there() {
        let mut value = json!({ "item": { "kind": "x" } });
        let sets: &[Set<'_>] = &[
            ("item.kind", json!("toolCall")),
            ("questions[1].options[0].label", json!("A")),
            ("reason", Value::Null),
        ];
        apply(&mut value, sets).unwrap();
        assert_eq!(
            value,
            json!({
                "item": { "kind": "toolCall" }, "reason": null,
                "questions": [null, { "options": [{ "label": "A" }] }],
            })
        );
    }

    #[test]
    fn a_path_through_a_value_is_refused() {
        for path in ["item.kind.deep", "item[0]", "", "a..b", "a[x]", "a[9999]", "a[0"] {
            let mut value = json!({ "item": { "kind": "x" } });
            assert!(apply(&mut value, &[(path, json!(1))]).is_err(), "{path}");
        }
    }
}
