//! How a turn ends does not depend on the generation of the host: every story about ends holds on every
//! generation that its header allows, and not only on the newest (§22, END-8).

use std::path::Path;

use scenarios::lang::{catalogue, parse, point};
use scenarios::run::{Options, POINTS_MAX, StageKind, profiles_for, run_point};

const AREAS: [&str; 5] = ["background", "cancel", "death", "ending", "streaming"];

#[test]
fn a_turn_ends_alike_on_every_generation() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let (mut runs, mut red) = (0, Vec::new());
    for area in AREAS {
        for path in catalogue::files(&corpus.join(area)).expect(area) {
            let name = format!("{area}/{}", path.file_stem().expect("a name").to_string_lossy());
            let bytes = std::fs::read(&path).expect("readable");
            let (Some(file), _) = parse(&name, &bytes) else { panic!("{name} is no story") };
            let axes = point::axes(&file);
            if StageKind::Pipe.refuses(&file).is_some() {
                continue;
            }
            for profile in profiles_for(&file) {
                let options = Options { profile: Some(profile), ..Options::default() };
                for index in 0..point::count(&axes).min(POINTS_MAX) {
                    let played = run_point(&file, &axes, &point::at(&axes, index), options);
                    runs += 1;
                    if !matches!(&played, Ok(run) if run.failure.is_none()) {
                        red.push(format!("{name} on {}", profile.version));
                    }
                }
            }
        }
    }
    red.dedup();
    assert!(red.is_empty(), "{red:#?}");
    assert!(runs > 500, "only {runs} runs");
}
