//! The body and its properties: `scenarios::fuzz_support::scenario_parser`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| scenarios::fuzz_support::scenario_parser(data));
