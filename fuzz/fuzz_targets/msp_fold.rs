//! The body and its properties: `muse_code_acp::fuzz_support::msp_fold`.
#![no_main]

use muse_code_acp::fuzz_support::{FoldOp, msp_fold};

libfuzzer_sys::fuzz_target!(|ops: Vec<FoldOp>| msp_fold(&ops));
