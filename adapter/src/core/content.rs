//! Prompt blocks to the host's input parts (adapter-sessions.md §19, adapter-turns.md §2).
//!
//! In: the raw JSON of each block, because explicit nulls must survive (PC-16, ACP-7). Out: parts in
//! order, or a refusal that names the block's position and nothing of its content. This version takes
//! text and resource links; `initialize` advertises nothing else.

use serde_json::value::RawValue;

use crate::acp::{invalid_params, schema as acp};
use crate::msp::command::InputPart;
use crate::wire::RpcError;
use crate::wire::framing::HOST_LINE_MAX;

/// Members of a resource link in the order of PC-3.
const LINK_MEMBERS: [&str; 8] =
    ["name", "uri", "title", "description", "mimeType", "size", "annotations", "_meta"];

/// Bytes of a prompt on the host's wire (FRM-6); the rest of the line is the envelope's.
const PROMPT_MAX: usize = HOST_LINE_MAX - 64 * 1024;

/// Converts a prompt.
///
/// # Errors
/// `-32602`: no blocks, a block that the schema refuses or that is not supported, or only blank text
/// (PRM-18, PRM-19).
pub fn convert(blocks: &[&RawValue]) -> Result<Vec<InputPart>, RpcError> {
    if blocks.is_empty() {
        return Err(invalid_params("the prompt has no content"));
    }
    let mut parts = Vec::with_capacity(blocks.len());
    for (index, raw) in blocks.iter().enumerate() {
        let refuse = |why: &str| invalid_params(&format!("prompt[{index}]: {why}"));
        let block: acp::ContentBlock = serde_json::from_str(raw.get())
            .map_err(|_| refuse("not a content block of a known type"))?;
        let text = match block {
            acp::ContentBlock::Text(text) => text.text,
            acp::ContentBlock::ResourceLink(_) => {
                link(raw).ok_or_else(|| refuse("the resource link cannot be read"))?
            }
            _ => return Err(refuse("this agent takes text and resource links only")),
        };
        parts.push(InputPart::Text { text });
    }
    // What is left of the host's line limit besides the prompt is more than enough for the envelope.
    let size: usize = parts.iter().map(|InputPart::Text { text }| encoded_len(text)).sum();
    if size > PROMPT_MAX {
        return Err(invalid_params("the prompt is longer than the 10 MiB that Muse takes"));
    }
    let blank = parts.iter().all(|InputPart::Text { text }| text.trim().is_empty());
    if blank { Err(invalid_params("the prompt has no text")) } else { Ok(parts) }
}

/// PC-3: present members in a fixed order, explicit nulls kept, nothing fetched.
fn link(raw: &RawValue) -> Option<String> {
    let members: indexmap::IndexMap<String, &RawValue> = serde_json::from_str(raw.get()).ok()?;
    let mut text = String::from("Resource link: {");
    let present = LINK_MEMBERS.iter().filter_map(|name| Some((name, members.get(*name)?)));
    for (index, (name, value)) in present.enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push('"');
        text.push_str(name);
        text.push_str("\":");
        compact(value.get(), &mut text)?;
    }
    text.push('}');
    Some(text)
}

/// Appends valid JSON without white space and with strings in their shortest escape (PC-17). Numbers
/// and member order stay as written. `None` for a string that is no Unicode text.
fn compact(json: &str, out: &mut String) -> Option<()> {
    let mut rest = json;
    while let Some(byte) = rest.bytes().next() {
        if byte == b'"' {
            let end = string_end(rest)?;
            let decoded: String = serde_json::from_str(&rest[..end]).ok()?;
            out.push_str(&serde_json::to_string(&decoded).ok()?);
            rest = &rest[end..];
        } else {
            if !byte.is_ascii_whitespace() {
                out.push(char::from(byte));
            }
            rest = &rest[1..];
        }
    }
    Some(())
}

/// Length of a text as JSON, quotes and a margin for the part around it included.
fn encoded_len(text: &str) -> usize {
    let escapes: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' => 1,
            0..0x20 => 5,
            _ => 0,
        })
        .sum();
    text.len() + escapes + 64
}

/// Length of the string literal at the start of `json`, quotes included.
fn string_end(json: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert_json(blocks: &str) -> Result<Vec<String>, RpcError> {
        let blocks: Vec<&RawValue> = serde_json::from_str(blocks).expect("json");
        let parts = convert(&blocks)?;
        Ok(parts.into_iter().map(|InputPart::Text { text }| text).collect())
    }

    #[test]
    fn blocks_keep_their_order_and_their_text() {
        let parts = convert_json(
            r#"[{"type":"text","text":" a\n"},
                {"type":"resource_link","name":"n","uri":"file:///x"},
                {"type":"text","text":""}]"#,
        );
        let link = r#"Resource link: {"name":"n","uri":"file:///x"}"#;
        assert_eq!(parts.expect("parts"), [" a\n", link, ""]);
    }

    #[test]
    fn a_link_keeps_explicit_nulls_zero_and_metadata_in_the_contracts_order() {
        let parts = convert_json(
            r#"[{"_meta":{"b":1.0,"a" : [ null , "\u0041\/\n" ]},"size":0,"title":null,"type":"resource_link",
                 "uri":"u","name":"","unknown":1,"description":""}]"#,
        );
        assert_eq!(
            parts.expect("parts"),
            [concat!(
                r#"Resource link: {"name":"","uri":"u","title":null,"description":"","size":0,"#,
                r#""_meta":{"b":1.0,"a":[null,"A/\n"]}}"#
            )]
        );
    }

    #[test]
    fn a_prompt_that_does_not_fit_into_a_line_of_the_host_is_refused() {
        for text in ["a".repeat(PROMPT_MAX + 1), "\u{1}".repeat(PROMPT_MAX / 6 + 1)] {
            let blocks = serde_json::json!([{ "type": "text", "text": text }]).to_string();
            assert_eq!(convert_json(&blocks).expect_err("too long").code, -32602);
        }
    }

    #[test]
    fn what_is_not_offered_is_refused_by_position_and_without_its_content() {
        for (blocks, says) in [
            ("[]", "no content"),
            (r#"[{"type":"text","text":" \n"}]"#, "no text"),
            (
                r#"[{"type":"text","text":"a"},{"type":"image","data":"secret","mimeType":"image/png"}]"#,
                "prompt[1]: this agent takes",
            ),
            (r#"[{"type":"audio","data":"secret","mimeType":"audio/wav"}]"#, "prompt[0]"),
            (r#"[{"type":"secret"}]"#, "prompt[0]: not a content block"),
            (r#"[{"type":"resource_link","name":"secret"}]"#, "prompt[0]: not a content block"),
            (r#"["secret"]"#, "prompt[0]"),
        ] {
            let error = convert_json(blocks).expect_err(blocks);
            assert_eq!(error.code, -32602);
            assert!(error.message.contains(says), "{}", error.message);
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
    }
}
