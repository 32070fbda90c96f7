//! Every story of the corpus with a fault that its author did not write down (SCN-FUZ-15, SCN-FUZ-18,
//! SCN-FUZ-19): every notification or every answer comes twice, one frame is lost, one answer refuses, the
//! hosts vanish or the editor leaves after some frame. `run::astray` says what must hold.
//!
//! Every eleventh number of frames is played, beginning at another one in each file, so that over the corpus
//! every kind of frame is met; `SCENARIO_TRANSFORMS=all` plays all of them, at
//! several points of a file (some minutes).

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use scenarios::lang::ast::File;
use scenarios::lang::point;
use scenarios::run::astray::{self, Astray};
use scenarios::run::{Options, StageKind, run_point};
use scenarios::stage::tamper::Tamper;

/// Of how many numbers of frames one is played.
const STRIDE: u32 = 11;
/// What ends a turn, asks for what it needs to end, or says that its end may have been dropped.
const ENDS: [&str; 8] = [
    "turn/completed",
    "turn/unqueued",
    "session/closed",
    "session/viewHealthChanged",
    "view/gap",
    "approval/requested",
    "approval/updated",
    "userInput/requested",
];
/// Points of a file that are played where all of them are asked for.
const POINTS_MAX: u64 = 8;
/// What follows from the story and not from the adapter, with the reason.
const EXCUSED: &[(&str, &str)] = &[
    // It tells two events apart by how often one position came.
    ("gap/live-twin-after-the-fill.scn", "Twice"),
    // Without the acknowledgement its lie is one, of a turn that does not exist.
    ("death/answers-to-nothing.scn", "Drop"),
    // Twice the text reaches the bound of what waits for an editor after half as much of it.
    ("cancel/slow-editor.scn", "Twice"),
];
/// Messages that are printed of a red run.
const SHOWN: usize = 10;

/// One file that `pipe` can play, and how it goes without a fault.
struct Story {
    name: String,
    file: File,
    plain: Astray,
}

/// Read and played once for all tests.
static STORIES: LazyLock<Vec<Story>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files = scenarios::lang::catalogue::files(&root).expect("the corpus");
    let stories = in_parallel(&files, |path| {
        let bytes = std::fs::read(path).expect("a file");
        let (file, _) = scenarios::lang::parse("story", &bytes);
        // What cannot be read or played has a test of its own that says why.
        let file = file.filter(|file| StageKind::Pipe.refuses(file).is_none())?;
        let plain = play(&file, 0, Tamper::Nothing);
        let name = path.strip_prefix(&root).unwrap_or(path).display().to_string();
        Some(Story { name, file, plain })
    });
    stories.into_iter().flatten().collect()
});

fn play(file: &File, point: u64, tamper: Tamper) -> Astray {
    let axes = point::axes(file);
    astray::run(file, &axes, &point::at(&axes, point), tamper).expect("the stage can play it")
}

/// Does `work` for each on all processors. The order of the results is that in which they come.
fn in_parallel<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(one);
                    results.lock().expect("no panic under the lock").push(result);
                }
            });
        }
    });
    results.into_inner().expect("no panic under the lock")
}

/// Calls `check` for every story. Panics with what was found, in order.
fn over_the_corpus(check: impl Fn(&Story) -> Vec<String> + Sync) {
    let wrong = in_parallel(&STORIES, |story| {
        let excused = |text: &String| {
            EXCUSED.iter().any(|(file, what)| *file == story.name && text.starts_with(what))
        };
        let found = check(story).into_iter().filter(|text| !excused(text));
        found.map(|text| format!("{}: {text}", story.name)).collect::<Vec<_>>()
    });
    let mut wrong: Vec<String> = wrong.into_iter().flatten().collect();
    wrong.sort();
    let shown = wrong.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} findings\n{shown}", wrong.len());
}

/// Plays a story with a tampering for each number of frames that is looked at.
fn each_frame(story: &Story, tamper: impl Fn(u32) -> Tamper) -> Vec<String> {
    let Story { name, file, plain } = story;
    let axes = point::axes(file);
    let all = std::env::var_os("SCENARIO_TRANSFORMS").is_some();
    let (stride, points) = if all { (1, POINTS_MAX) } else { (STRIDE, 1) };
    let offset = name.bytes().map(u32::from).sum::<u32>() % stride;
    let mut found = Vec::new();
    for index in 0..point::count(&axes).min(points) {
        let label = point::label(&axes, &point::at(&axes, index));
        let other = (index > 0).then(|| play(file, index, Tamper::Nothing));
        let plain = other.as_ref().unwrap_or(plain);
        for at in (offset..plain.frames).step_by(stride as usize) {
            let tamper = tamper(at);
            let run = play(file, index, tamper);
            let hangs = hangs(plain, &run);
            let wrong = run.wrong.into_iter().chain(hangs);
            found.extend(wrong.map(|text| format!("{tamper:?} at `{label}`: {text}")));
        }
    }
    found
}

/// Nothing measures a running turn (TRN-1), so one whose end is lost needs the person. An answer that does not
/// come, or comes otherwise, has a bound or a consequence everywhere. With two sessions the story of the
/// other one loses its sense along with the first, and nothing follows.
fn hangs(plain: &Astray, run: &Astray) -> Option<String> {
    let lost = run.lost.as_deref()?;
    let entries = plain.transcript.entries.iter();
    if entries.filter(|entry| entry.method() == Some("session/new")).count() > 1 {
        return None;
    }
    let hangs = run.cancelled > plain.cancelled && !ENDS.contains(&lost);
    hangs.then(|| format!("a prompt waits for a cancel for want of `{lost}`"))
}

/// SCN-FUZ-18: one settlement, true of the submission, and nobody is asked to help.
#[test]
fn hosts_that_vanish_after_any_frame_leave_every_prompt_answered_once() {
    over_the_corpus(|story| each_frame(story, Tamper::CutAfter));
}

/// SCN-FUZ-19: by itself, or at the latest by a cancel.
#[test]
fn any_one_frame_that_is_lost_leaves_a_prompt_that_settles_and_no_grant_of_its_own() {
    over_the_corpus(|story| each_frame(story, Tamper::Drop));
}

/// HOST-5, END-7: a refusal at any place is an end like any other.
#[test]
fn any_one_answer_that_refuses_leaves_a_prompt_that_settles_and_no_grant_of_its_own() {
    over_the_corpus(|story| each_frame(story, Tamper::Refuse));
}

/// SCN-LIF-17, PO-41: nobody is left behind, and nothing is granted on the way out.
#[test]
fn an_editor_that_leaves_after_any_frame_takes_every_host_along() {
    over_the_corpus(|story| each_frame(story, Tamper::LeaveAfter));
}

/// SCN-FUZ-15: the same words to both neighbours.
#[test]
fn notifications_that_come_twice_change_nothing_that_the_adapter_says() {
    over_the_corpus(|story| says_the_same(story, Tamper::Twice));
}

/// SCN-DTH-28.
#[test]
fn answers_that_come_twice_change_nothing_that_the_adapter_says() {
    over_the_corpus(|story| says_the_same(story, Tamper::AnswersTwice));
}

/// Compares every frame of the adapter with what it says without a fault.
fn says_the_same(story: &Story, tamper: Tamper) -> Vec<String> {
    let said = |run: &Astray| -> Vec<String> {
        let from_adapter = run.transcript.entries.iter().filter(|entry| entry.from_adapter);
        from_adapter.map(|entry| format!("{:?} {}", entry.lane, entry.frame)).collect()
    };
    let run = play(&story.file, 0, tamper);
    let (once, twice) = (said(&story.plain), said(&run));
    let differ = once.iter().zip(&twice).find(|(one, two)| one != two);
    let differ = differ.map(|(one, two)| format!("instead of {one}\n    {two}"));
    let length = (once.len() != twice.len())
        .then(|| format!("{} frames instead of {}", twice.len(), once.len()));
    let all = run.wrong.into_iter().chain(differ).chain(length);
    all.map(|text| format!("{tamper:?}: {text}")).collect()
}

/// Following a story leniently is following it: without a fault its own lines are fulfilled as well.
#[test]
fn without_a_fault_a_story_goes_as_it_is_written() {
    over_the_corpus(|Story { file, plain, .. }| {
        let axes = point::axes(file);
        let first = point::at(&axes, 0);
        let strict = run_point(file, &axes, &first, Options::default()).expect("it can be played");
        let (strict, frames) = (strict.transcript.entries.len(), plain.transcript.entries.len());
        let short = (frames < strict).then(|| format!("{frames} frames, not {strict}"));
        plain.wrong.iter().cloned().chain(short).collect()
    });
}
