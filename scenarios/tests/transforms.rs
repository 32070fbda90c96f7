//! Every story of the corpus with a fault that its author did not write down (SCN-FUZ-15, SCN-FUZ-18,
//! SCN-FUZ-19): every notification or every answer comes twice, one frame is lost, one answer refuses, the
//! hosts vanish or the editor leaves after some frame. `run::astray` says what must hold.
//!
//! Every eleventh number of frames is played, beginning at another one in each file, so that over the corpus
//! every kind of frame is met; `SCENARIO_TRANSFORMS=all` plays all of them, at
//! several points of a file (ten minutes).

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use scenarios::lang::ast::File;
use scenarios::lang::point;
use scenarios::run::astray::{self, Astray};
use scenarios::run::{Options, StageKind, run_point};
use scenarios::stage::tamper::Tamper;

/// Of how many numbers of frames one is played.
const STRIDE: u32 = 11;
/// Points of a file that are played where all of them are asked for.
const POINTS_MAX: u64 = 8;
/// What follows from the story and not from the adapter, with the reason.
const EXCUSED: &[(&str, &str)] = &[
    // It tells two events apart by how often one position came.
    ("gap/live-twin-after-the-fill.scn", "Twice"),
    // Twice the text reaches the bound of what waits for an editor after half as much of it.
    ("cancel/slow-editor.scn", "Twice"),
];
/// Messages that are printed of a red run.
const SHOWN: usize = 10;

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "scn") {
            files.push(path);
        }
    }
}

/// Calls `check` for every file that `pipe` can play, on all processors. Panics with what was found, in
/// order.
fn over_the_corpus(check: impl Fn(&str, &File) -> Vec<String> + Sync) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = files.get(number) else { return };
                    let bytes = std::fs::read(path).expect("a file");
                    let (file, _) = scenarios::lang::parse("story", &bytes);
                    let Some(file) = file else { continue }; // its own test says why
                    if StageKind::Pipe.refuses(&file).is_some() {
                        continue;
                    }
                    let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
                    let found = check(&name, &file);
                    let found = found.into_iter().filter(|text| {
                        !EXCUSED.iter().any(|(file, what)| *file == name && text.starts_with(what))
                    });
                    let mut wrong = wrong.lock().expect("no panic under the lock");
                    wrong.extend(found.map(|text| format!("{name}: {text}")));
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic under the lock");
    wrong.sort();
    let shown = wrong.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} findings\n{shown}", wrong.len());
}

/// Plays a file with a tampering for each number of frames that is looked at.
fn each_frame(
    name: &str,
    file: &File,
    tamper: impl Fn(u32) -> Tamper,
    judge: impl Fn(&Astray) -> Vec<String>,
) -> Vec<String> {
    let axes = point::axes(file);
    let all = std::env::var_os("SCENARIO_TRANSFORMS").is_some();
    let (stride, points) = if all { (1, POINTS_MAX) } else { (STRIDE, 1) };
    let offset = name.bytes().map(u32::from).sum::<u32>() % stride;
    let mut found = Vec::new();
    for index in 0..point::count(&axes).min(points) {
        let point = point::at(&axes, index);
        let label = point::label(&axes, &point);
        let play = |tamper| astray::run(file, &axes, &point, tamper).expect("it can be played");
        let frames = play(Tamper::Nothing).frames;
        for at in (offset..frames).step_by(stride as usize) {
            let tamper = tamper(at);
            let wrong = judge(&play(tamper)).into_iter();
            found.extend(wrong.map(|text| format!("{tamper:?} at `{label}`: {text}")));
        }
    }
    found
}

/// SCN-FUZ-18: one settlement, true of the submission, and nobody is asked to help.
#[test]
fn hosts_that_vanish_after_any_frame_leave_every_prompt_answered_once() {
    over_the_corpus(|name, file| each_frame(name, file, Tamper::CutAfter, |run| run.wrong.clone()));
}

/// SCN-FUZ-19: by itself, or at the latest by a cancel.
#[test]
fn any_one_frame_that_is_lost_leaves_a_prompt_that_settles_and_no_grant_of_its_own() {
    over_the_corpus(|name, file| each_frame(name, file, Tamper::Drop, |run| run.wrong.clone()));
}

/// HOST-5, END-7: a refusal at any place is an end like any other.
#[test]
fn any_one_answer_that_refuses_leaves_a_prompt_that_settles_and_no_grant_of_its_own() {
    over_the_corpus(|name, file| each_frame(name, file, Tamper::Refuse, |run| run.wrong.clone()));
}

/// SCN-LIF-17, PO-41: nobody is left behind, and nothing is granted on the way out.
#[test]
fn an_editor_that_leaves_after_any_frame_takes_every_host_along() {
    over_the_corpus(|name, file| {
        each_frame(name, file, Tamper::LeaveAfter, |run| run.wrong.clone())
    });
}

/// SCN-FUZ-15: the same words to both neighbours.
#[test]
fn notifications_that_come_twice_change_nothing_that_the_adapter_says() {
    over_the_corpus(|_, file| says_the_same(file, Tamper::Twice));
}

/// SCN-DTH-28.
#[test]
fn answers_that_come_twice_change_nothing_that_the_adapter_says() {
    over_the_corpus(|_, file| says_the_same(file, Tamper::AnswersTwice));
}

/// Compares every frame of the adapter with what it says without a fault.
fn says_the_same(file: &File, tamper: Tamper) -> Vec<String> {
    let axes = point::axes(file);
    let first = point::at(&axes, 0);
    let said = |tamper| {
        let run = astray::run(file, &axes, &first, tamper).expect("the stage can play it");
        let from_adapter = run.transcript.entries.iter().filter(|entry| entry.from_adapter);
        let lines: Vec<String> =
            from_adapter.map(|entry| format!("{:?} {}", entry.lane, entry.frame)).collect();
        (lines, run.wrong)
    };
    let (once, _) = said(Tamper::Nothing);
    let (twice, wrong) = said(tamper);
    let differ = once.iter().zip(&twice).find(|(one, two)| one != two);
    let differ = differ.map(|(one, two)| format!("instead of {one}\n    {two}"));
    let length = (once.len() != twice.len())
        .then(|| format!("{} frames instead of {}", twice.len(), once.len()));
    let all = wrong.into_iter().chain(differ).chain(length);
    all.map(|text| format!("{tamper:?}: {text}")).collect()
}

/// Following a story leniently is following it: without a fault its own lines are fulfilled as well.
#[test]
fn without_a_fault_a_story_goes_as_it_is_written() {
    over_the_corpus(|_, file| {
        let axes = point::axes(file);
        let first = point::at(&axes, 0);
        let strict = run_point(file, &axes, &first, Options::default()).expect("it can be played");
        let run = astray::run(file, &axes, &first, Tamper::Nothing).expect("it can be played");
        let strict = strict.transcript.entries.len();
        let short = run.transcript.entries.len() < strict;
        let text = format!("{} frames, not {strict}", run.transcript.entries.len());
        run.wrong.into_iter().chain(short.then_some(text)).collect()
    });
}
