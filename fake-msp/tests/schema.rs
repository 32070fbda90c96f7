//! Every frame of the fake host against the published structure of the wire types.
//!
//! The material is not part of the project: it is looked for in `MSP_MATERIAL`, then in
//! `../shared/msp` beside the workspace. Without it the test says so by name and ends.

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

mod support;

use std::path::PathBuf;

use serde_json::Value;
use support::conversations::{obliging, scripted};
use support::schema::Schema;

fn material() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/msp");
    let named = std::env::var_os("MSP_MATERIAL").map(PathBuf::from);
    named.into_iter().chain([beside]).find(|folder| folder.join("schema").is_dir())
}

#[test]
fn what_the_model_fills_for_a_script_fits_the_published_structure() {
    let Some(material) = material() else {
        let name = "what_the_model_fills_for_a_script_fits_the_published_structure";
        eprintln!("SKIPPED {name}: no MSP_MATERIAL");
        return;
    };
    for (profile, file) in [("1.3.0", "1.3.1.json"), ("1.4.13", "1.4.13.json")] {
        let text = std::fs::read_to_string(material.join("schema").join(file)).unwrap();
        let schema = Schema::new(serde_json::from_str(&text).unwrap());
        let talk = scripted(profile);
        for frame in &talk.frames {
            let method = frame["method"].as_str();
            if method.is_some() {
                let problems = schema.check_frame(method, frame);
                assert!(problems.is_empty(), "{profile} {method:?}: {problems:?}");
            }
        }
    }
}

#[test]
fn every_frame_of_the_host_fits_the_published_structure() {
    let Some(material) = material() else {
        eprintln!("SKIPPED every_frame_of_the_host_fits_the_published_structure: no MSP_MATERIAL");
        return;
    };
    for (profile, file) in [("1.3.0", "1.3.1.json"), ("1.4.13", "1.4.13.json")] {
        let text = std::fs::read_to_string(material.join("schema").join(file)).unwrap();
        let schema = Schema::new(serde_json::from_str(&text).unwrap());
        let talk = obliging(profile);
        let mut wrong = Vec::new();
        for (method, frame) in talk.typed_frames() {
            for problem in schema.check_frame(method.as_deref(), frame) {
                wrong.push(format!("{}: {problem}", method.as_deref().unwrap_or("?")));
            }
        }
        wrong.sort();
        wrong.dedup();
        assert!(wrong.is_empty(), "{profile} against {file}:\n{}", wrong.join("\n"));
        assert!(talk.frames.len() > 200, "the conversations were played");
        let unexpected: Vec<&Value> = talk
            .frames
            .iter()
            .filter(|frame| frame["error"]["data"]["kind"] == "internal")
            .collect();
        assert!(unexpected.is_empty());
    }
}
