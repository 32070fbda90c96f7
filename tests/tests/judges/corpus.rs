//! Every frame of every story against the published structure of the wire types.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fake_msp::profiles::Era;
use libtest_mimic::{Failed, Trial};
use scenarios::lang::point;
use scenarios::run::transcript::{Entry, Lane, Transcript};
use scenarios::run::{Options, POINTS_MAX, StageKind, profiles_for, run_point};

use crate::support::schema::Schema;

const TEST: &str = "judges::corpus::every_frame_of_every_story_fits_the_published_structure";

/// Stories that send what no published host sends, to show that it does no harm.
const TOLERATED: &[(&str, &str)] = &[
    ("tools/no-arguments.scn", ".args: wrong type"),
    ("tools/id-without-call.scn", ".callId: wrong type"),
    ("streaming/unknown-status.scn", ".status: wrong type"),
    ("steering/other-status.scn", ".status: wrong type"),
    ("death/error-without-kind.scn", ".kind: wrong type"),
    ("question/unknown-selection.scn", ".mode: outside the enum"),
    ("streaming/failures-by-kind.scn", ".retryable: missing"),
];

pub(crate) fn trials() -> [Trial; 1] {
    [Trial::test(TEST, check)]
}

fn check() -> Result<(), Failed> {
    let Some(material) = tests::judge::material(TEST) else { return Ok(()) };
    let read = |name: &str| -> Result<Schema, Failed> {
        let text = std::fs::read_to_string(material.join("schema").join(name))?;
        Ok(Schema::new(serde_json::from_str(&text)?))
    };
    let schemas = [read("1.3.1.json")?, read("1.4.13.json")?];
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/corpus");
    let files = scenarios::lang::catalogue::files(&corpus)?;
    // What is wrong, and one file in which it is.
    let wrong: Mutex<BTreeMap<String, String>> = Mutex::default();
    let (next, frames) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (count, problems) = story(path, &schemas);
                    frames.fetch_add(count, Ordering::Relaxed);
                    let mut wrong = wrong.lock().expect("no panic under the lock");
                    let told = problems.into_iter().filter(|problem| !tolerated(path, problem));
                    wrong.extend(told.map(|problem| (problem, path.display().to_string())));
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic under the lock");
    let frames = frames.into_inner();
    eprintln!("{TEST}: {} stories, {frames} frames", files.len());
    if frames < 1000 {
        return Err(format!("only {frames} frames were looked at").into());
    }
    let lines = wrong.iter().map(|(problem, file)| format!("{problem}\n    in {file}"));
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(lines.collect::<Vec<_>>().join("\n").into()),
    }
}

fn tolerated(path: &Path, problem: &str) -> bool {
    TOLERATED.iter().any(|(story, end)| path.ends_with(story) && problem.ends_with(end))
}

/// Plays every point of a file on every generation that it allows. A story that cannot be played or fails has its own test.
fn story(path: &Path, schemas: &[Schema; 2]) -> (usize, Vec<String>) {
    let Ok(bytes) = std::fs::read(path) else { return (0, vec!["the file cannot be read".into()]) };
    let (Some(file), _) = scenarios::lang::parse("story", &bytes) else { return (0, Vec::new()) };
    let axes = point::axes(&file);
    let (mut count, mut problems) = (0, Vec::new());
    for profile in profiles_for(&file) {
        let schema = &schemas[usize::from(profile.era >= Era::V1_4)];
        let stage = StageKind::fitting(&file);
        let options = Options { stage, profile: Some(profile), ..Options::default() };
        for index in 0..point::count(&axes).min(POINTS_MAX) {
            let point = point::at(&axes, index);
            if let Ok(run) = run_point(&file, &axes, &point, options) {
                count += judge(&run.transcript, schema, profile.version, &mut problems);
            }
        }
    }
    (count, problems)
}

/// Frames on the wires of the hosts; deliberate lies excepted.
fn judge(said: &Transcript, schema: &Schema, version: &str, problems: &mut Vec<String>) -> usize {
    let mut asked: BTreeMap<(usize, String), String> = BTreeMap::new();
    let mut count = 0;
    for Entry { lane, from_adapter, frame, lie, .. } in &said.entries {
        let Lane::Host(host) = lane else { continue };
        let own = frame["method"].as_str();
        let key = (*host, frame["id"].to_string());
        if let (true, Some(method)) = (*from_adapter, own) {
            asked.insert(key.clone(), method.to_owned());
        }
        if *lie {
            continue;
        }
        count += 1;
        let found = if *from_adapter {
            schema.check_client_frame(own, frame)
        } else {
            let answered = asked.get(&key).map(String::as_str);
            schema.check_frame(own.or(answered), frame)
        };
        let side = if *from_adapter { "adapter" } else { "host" };
        let name = own.or(asked.get(&key).map(String::as_str)).unwrap_or("?");
        problems.extend(found.into_iter().map(|text| format!("{version} {side} {name}: {text}")));
    }
    count
}
