//! The body and its properties: `muse_code_acp::fuzz_support::acp_frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| muse_code_acp::fuzz_support::acp_frames(data));
