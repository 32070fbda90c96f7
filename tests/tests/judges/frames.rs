//! Everything that the fake host can say, read with the types of the official Rust package.

use std::io::Write as _;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tests::judge::{JUDGES, Judge};

use crate::sdk::report;
use crate::support::conversations::{obliging, scripted};

pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    JUDGES.iter().filter(|judge| judge.language == "rust").map(|judge| {
        let name = format!("judges::{}::every_frame_decodes", judge.name());
        Trial::test(name.clone(), move || decodes(judge, &name))
    })
}

fn decodes(judge: &Judge, name: &str) -> Result<(), Failed> {
    let Some(mut command) = judge.find(name) else { return Ok(()) };
    let mut file = tempfile::NamedTempFile::new()?;
    for talk in [obliging(judge.profile), scripted(judge.profile)] {
        for (method, frame) in talk.typed_frames() {
            writeln!(file, "{}", json!({ "method": method, "frame": frame }))?;
        }
    }
    command.arg("frames").arg(file.path());
    let report = report(command)?;
    let kinds = report["decoded"].as_object().map_or(0, serde_json::Map::len);
    if kinds < 40 {
        return Err(format!("only {kinds} kinds of frames were looked at").into());
    }
    match (&report["problems"], &report["unknown"]) {
        (Value::Array(problems), Value::Array(unknown))
            if problems.is_empty() && unknown.is_empty() =>
        {
            Ok(())
        }
        _ => Err(format!("{report:#}").into()),
    }
}
