//! The param tables against the published structure, when the material is there.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::shape::{Need, Shape, Ty};
use super::tables::params_of;
use crate::profiles::Era;

fn schema(file: &str) -> Option<Value> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/msp");
    let named = std::env::var_os("MSP_MATERIAL").map(PathBuf::from);
    let folder = named.into_iter().chain([beside]).find(|path| path.join("schema").is_dir())?;
    let text = std::fs::read_to_string(folder.join("schema").join(file)).ok()?;
    serde_json::from_str(&text).ok()
}

/// Names of a list or of an object's members.
fn names(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::Object(object) => object.keys().map(String::as_str).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    }
}

fn compare(root: &Value, name: &str, shape: &Shape, era: Era, out: &mut Vec<String>) {
    let schema = &root["$defs"][name];
    let known: Vec<_> = shape.0.iter().filter(|member| member.since <= era).collect();
    let ours: BTreeSet<&str> = known.iter().map(|member| member.name).collect();
    let theirs = names(&schema["properties"]);
    if ours != theirs {
        out.push(format!("{name}: members {:?}", ours.symmetric_difference(&theirs)));
    }
    let required: BTreeSet<&str> = known
        .iter()
        .filter(|member| member.need == Need::Required)
        .map(|member| member.name)
        .collect();
    let theirs = names(&schema["required"]);
    if required != theirs {
        out.push(format!("{name}: required {:?}", required.symmetric_difference(&theirs)));
    }
    for member in known {
        let slot = &schema["properties"][member.name];
        let null = slot["anyOf"]
            .as_array()
            .is_some_and(|any| any.iter().any(|option| option["type"] == "null"));
        if null != (member.need == Need::NullOk) {
            out.push(format!("{name}.{}: null", member.name));
        }
        let slot = if null { &slot["anyOf"][0] } else { slot };
        let (ty, slot) = match &member.ty {
            Ty::Arr(element) => (*element, &slot["items"]),
            ty => (ty, slot),
        };
        let reference = slot["$ref"].as_str().and_then(|text| text.rsplit('/').next());
        match (ty, reference) {
            (Ty::Obj(inner), Some(reference)) => compare(root, reference, inner, era, out),
            (Ty::Str | Ty::Uuid, None) if slot["type"] == "string" => {}
            (Ty::StrOrNull, None) if slot["anyOf"][1]["type"] == "null" => {}
            (Ty::Int, None) if slot["type"] == "integer" => {}
            (Ty::Bool, None) if slot["type"] == "boolean" => {}
            (Ty::Word(words, later), _) => {
                let list = reference.map_or(slot, |reference| &root["$defs"][reference]);
                let theirs = names(&list["enum"]);
                let later = later.iter().filter(|(_, since)| *since <= era).map(|(word, _)| *word);
                let ours: BTreeSet<&str> = words.iter().copied().chain(later).collect();
                if !theirs.is_empty() && ours != theirs {
                    let at = format!("{name}.{}", member.name);
                    out.push(format!("{at}: words {:?}", ours.symmetric_difference(&theirs)));
                }
            }
            (Ty::Str, Some(reference)) if root["$defs"][reference]["type"] == "string" => {}
            // Unions are compared by hand: the material writes them as flat objects.
            (Ty::Tagged(..) | Ty::Map(_), _) => {}
            (ty, _) => out.push(format!("{name}.{}: {ty:?} against {slot}", member.name)),
        }
    }
}

#[test]
fn the_tables_agree_with_the_published_structure() {
    for (file, era) in [("1.3.1.json", Era::V1_3), ("1.4.13.json", Era::V1_4)] {
        let Some(root) = schema(file) else {
            eprintln!("SKIPPED the_tables_agree_with_the_published_structure: no MSP_MATERIAL");
            return;
        };
        let mut wrong = Vec::new();
        let methods = root["maps"]["METHODS"].as_object().expect("the material maps methods");
        for (method, row) in methods {
            match (params_of(method), row["params"].as_str()) {
                (Some(shape), Some(name)) => compare(&root, name, shape, era, &mut wrong),
                (Some(shape), None) => assert!(shape.0.is_empty(), "{method} takes no params"),
                (None, _) => wrong.push(format!("{method}: no table")),
            }
        }
        wrong.sort();
        wrong.dedup();
        assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
    }
}
