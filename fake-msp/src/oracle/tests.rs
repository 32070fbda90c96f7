//! The param tables against the published structure, when the material is there.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::shape::{Need, Shape, Ty};
use super::tables::params_of;
use crate::profiles::{Era, METHODS};

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
    // The material is of the stable bundles.
    let there = |member: &&super::shape::Member| member.since <= era && !member.experimental;
    let known: Vec<_> = shape.0.iter().filter(there).collect();
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

/// A value that fits a type.
fn sample(ty: &Ty, era: Era) -> Value {
    match ty {
        Ty::Str | Ty::StrOrNull => "text".into(),
        Ty::Uuid => "0199aaaa-0000-7000-8000-000000000001".into(),
        Ty::Int => 1.into(),
        Ty::Bool => true.into(),
        Ty::Word(words, _) => words[0].into(),
        Ty::Obj(shape) => whole(shape, era),
        Ty::Arr(element) => vec![sample(element, era)].into(),
        Ty::Map(element) => serde_json::json!({ "name": sample(element, era) }),
        Ty::Tagged(tag, rows) => {
            let (word, shape, _) = rows.iter().find(|row| row.2 <= era).expect("a variant");
            let mut value = whole(shape, era);
            value[*tag] = (*word).into();
            value
        }
    }
}

/// An object with every member that the generation has.
fn whole(shape: &Shape, era: Era) -> Value {
    let members = shape.0.iter().filter(|member| member.since <= era);
    members.map(|member| (member.name.to_owned(), sample(&member.ty, era))).collect()
}

/// What is wrong about params, as `path rule`.
fn found(shape: &Shape, params: &Value, experimental: bool) -> Vec<String> {
    let reader = super::shape::Reader { era: Era::V1_4_14, experimental };
    let mut out = Vec::new();
    super::shape::check(shape, params.as_object().expect("params"), reader, "", &mut out);
    out.iter().map(|finding| format!("{} {}", finding.path, finding.rule)).collect()
}

/// Every place of a shape: its JSON pointer, its path in a finding, and its member.
fn places<'s>(
    shape: &'s Shape,
    pointer: &str,
    path: &str,
    out: &mut Vec<(String, String, &'s super::shape::Member)>,
) {
    for member in shape.0 {
        let pointer = format!("{pointer}/{}", member.name);
        let path =
            if path.is_empty() { member.name.into() } else { format!("{path}.{}", member.name) };
        out.push((pointer.clone(), path.clone(), member));
        let (ty, pointer, path) = match &member.ty {
            Ty::Arr(element) => (*element, format!("{pointer}/0"), format!("{path}[0]")),
            ty => (ty, pointer, path),
        };
        match ty {
            Ty::Obj(inner) => places(inner, &pointer, &path, out),
            Ty::Tagged(_, rows) => places(rows[0].1, &pointer, &path, out),
            _ => {}
        }
    }
}

#[test]
fn each_member_of_each_method_is_missed_and_its_type_words_and_null_are_checked() {
    let mut checked = 0;
    for method in METHODS.iter().filter(|row| !row.experimental) {
        let shape = params_of(method.name).unwrap_or_else(|| panic!("{} has a table", method.name));
        let good = whole(shape, Era::V1_4_14);
        assert_eq!(found(shape, &good, true), [""; 0], "{}", method.name);
        let mut all = Vec::new();
        places(shape, "", "", &mut all);
        for (pointer, path, member) in all {
            let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
            let spoil = |value: Option<Value>| {
                let mut params = good.clone();
                let object = params.pointer_mut(parent).and_then(Value::as_object_mut);
                let object = object.expect("the parent is an object");
                match value {
                    Some(value) => object.insert(name.to_owned(), value),
                    None => object.remove(name),
                };
                found(shape, &params, true)
            };
            let says = |found: &[String], rule: &str| {
                let wanted = format!("{path} {rule}");
                assert!(found.contains(&wanted), "{}: no {wanted} in {found:?}", method.name);
            };
            if member.need == Need::Required {
                let rule = if name == "commandId" { "CMD-1" } else { "ENV-9" };
                says(&spoil(None), rule);
            } else {
                assert_eq!(spoil(None), [""; 0], "{}.{path} may be left out", method.name);
            }
            match member.need {
                Need::Required | Need::NonNull => says(&spoil(Some(Value::Null)), "HOST-5"),
                Need::Optional => says(&spoil(Some(Value::Null)), "CMD-12"),
                Need::NullOk => assert_eq!(spoil(Some(Value::Null)), [""; 0]),
            }
            match &member.ty {
                Ty::Word(..) => says(&spoil(Some("no such word".into())), "TOL-5"),
                _ => says(&spoil(Some(serde_json::json!(-1.5))), "HOST-5"),
            }
            if member.experimental {
                says(&found(shape, &good, false), "HSK-7");
            }
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}
