//! What the fuzz targets start from, replayed without a fuzzer: every story's file and frames go through
//! the same bodies (FUZ-6).

use std::path::Path;

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
