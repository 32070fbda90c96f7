//! Bodies of the fuzz targets: plain functions with properties that can fail.
//!
//! `fuzz/` calls them with made-up input, `cargo test` with the seeds and with everything that was
//! ever found. A property is more than "does not panic": the result does not depend on how input was
//! cut, what was shown is what was said, what was encoded decodes.

mod fold;
mod frames;

pub use fold::{FoldOp, msp_fold};
pub use frames::{acp_frames, msp_frames};

use serde_json::value::RawValue;

use crate::core::content;
use crate::msp::command::InputPart;

/// `prompt_content`: JSON text as the blocks of a prompt.
///
/// # Panics
/// When a converted part does not hold what the block said, or a refusal quotes the input.
pub fn prompt_content(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(text) else { return };
    match content::convert(&blocks) {
        Err(error) => {
            assert_eq!(error.code, -32602);
            assert!(error.message.len() < 200, "a refusal quotes nothing of the input");
        }
        Ok(parts) => {
            assert_eq!(parts.len(), blocks.len(), "one block, one part");
            for (part, block) in parts.iter().zip(&blocks) {
                let InputPart::Text { text } = part;
                check_part(text, block);
            }
        }
    }
}

/// PC-3: a link decodes to the members that the block had; a text is the block's own.
fn check_part(text: &str, block: &RawValue) {
    let Ok(block) = serde_json::from_str::<serde_json::Value>(block.get()) else { return };
    if block["type"] == "text" {
        assert_eq!(block["text"].as_str(), Some(text));
        return;
    }
    let json = text.strip_prefix("Resource link: ").expect("the prefix of a link");
    assert!(!json.contains('\n'), "compact");
    let link: serde_json::Value = serde_json::from_str(json).expect("a link is JSON");
    for (name, value) in link.as_object().expect("an object") {
        assert_eq!(Some(value), block.get(name), "member {name}");
    }
}
