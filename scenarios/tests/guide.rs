//! Every scenario in `docs/scenarios.md` is read, is canonical, and plays green.

use scenarios::lang::{fmt, parse, point};
use scenarios::run::report::Replay;
use scenarios::run::{Options, StageKind, run_point};

#[test]
fn every_story_of_the_guide_plays() {
    let guide = include_str!("../../docs/scenarios.md");
    let blocks: Vec<&str> = guide
        .split("```scn\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("a block"))
        .collect();
    assert_eq!(blocks.len(), 5, "the stories of the guide");

    for (number, block) in blocks.iter().enumerate() {
        let name = format!("docs/scenarios.md, story {}", number + 1);
        let (file, diagnostics) = parse(&name, block.as_bytes());
        assert!(diagnostics.is_empty(), "{name}: {diagnostics:?}");
        assert_eq!(fmt::format(&name, block.as_bytes()).expect("canonical"), *block, "{name}");
        let file = file.expect("a story");
        let axes = point::axes(&file);
        for index in 0..point::count(&axes) {
            let point = point::at(&axes, index);
            let stage = StageKind::fitting(&file);
            let options = Options { stage, ..Options::default() };
            let run = run_point(&file, &axes, &point, options).expect("playable");
            if let Some(failure) = run.failure {
                let label = point::label(&axes, &point);
                let how = Replay { point: &label, stage, ..Replay::default() };
                panic!("{}", failure.render(&name, block, &how));
            }
        }
    }
}
