//! What the fuzz targets start from, replayed without a fuzzer: every story's file and frames go through
//! the same bodies (FUZ-6).

use std::path::Path;

use muse_code_acp::fuzz_support::{FoldOp, msp_fold};
use scenarios::fuzz_support::{scenario_parser, seeds};

#[test]
fn every_seed_passes_its_target() {
    let seeds = seeds(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"));

    let mut played = 0;
    for seed in &seeds {
        match seed.target {
            "scenario_parser" => scenario_parser(&seed.bytes),
            "acp_frames" => muse_code_acp::fuzz_support::acp_frames(&seed.bytes),
            "msp_frames" => muse_code_acp::fuzz_support::msp_frames(&seed.bytes),
            "prompt_content" => muse_code_acp::fuzz_support::prompt_content(&seed.bytes),
            other => panic!("no such target: {other}"),
        }
        played += 1;
    }

    assert!(played > 3, "there are stories");
}

#[test]
fn a_broken_file_is_no_problem_of_the_parser() {
    for bytes in
        [&b"scenario"[..], b"\xff", b"scenario \"x\"\n  id a\nhost -> \xf0\x9f", b"{", b"race"]
    {
        scenario_parser(bytes);
    }
}

/// SCN-FUZ-17: items and deltas in made-up orders, the same ones every time. Four items, so that they meet;
/// revisions that mostly grow, so that most are taken.
#[test]
fn made_up_orders_of_items_and_deltas_show_each_text_once() {
    const WORDS: [&str; 6] = ["", "a", "ab", "abc", "é世", "abcd\n"];
    for seed in 0..2000u64 {
        let mut state = seed;
        let mut draw = |below: u64| {
            // Knuth's multiplier; the low bits of such a sequence are of no use.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            u8::try_from((state >> 33) % below).expect("below is small")
        };
        let length = 1 + draw(60);
        let ops: Vec<FoldOp> = (0..length)
            .map(|step| {
                let (item, text) = (draw(4), WORDS[usize::from(draw(6))].to_owned());
                match draw(10) {
                    0..=3 => {
                        let (kind, older) = (draw(6), draw(8) == 0);
                        let revision = if older { draw(8) } else { step };
                        let (ended, foreign) = (draw(4) == 0, draw(8) == 0);
                        FoldOp::Item { item, kind, revision, ended, foreign, text }
                    }
                    4..=7 => FoldOp::Delta { item, field: draw(5), text },
                    8 => FoldOp::Lost { item },
                    _ => FoldOp::Flush,
                }
            })
            .collect();
        msp_fold(&ops);
    }
}
