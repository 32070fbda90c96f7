//! How a tool's result is shown: title, text, raw output, places (adapter-turns.md §6).
//!
//! Pure functions of the tool's name and its text. A text that does not have the expected form is
//! shown as it is (KND-5).

use serde_json::{Map, Value};

use crate::acp::schema::ToolKind;
use crate::core::redact::cut;
use crate::msp::Kind;

/// Longest title, in characters (TOL-6).
pub const TITLE_MAX: usize = 1024;
/// A result above this size is shown as bounded text and not repeated as `rawOutput`. Hosts cut
/// inline results at 64 KiB (ITM-7), so only an odd host meets it.
const RAW_OUTPUT_MAX: usize = 256 * 1024;

/// ACP kind by tool name or item kind.
#[must_use]
pub fn tool_kind(item: &Kind, tool: Option<&str>) -> ToolKind {
    match (item, tool) {
        (Kind::UserShell, _) => ToolKind::Execute,
        (Kind::ToolCall, Some(tool)) => kind_of_tool(tool),
        (Kind::Other(kind), _) if kind == "webSearch" => ToolKind::Search,
        _ => ToolKind::Other,
    }
}

/// ACP kind by tool name alone, as permission questions need it (KND-1).
#[must_use]
pub fn kind_of_tool(tool: &str) -> ToolKind {
    match tool {
        "bash" => ToolKind::Execute,
        "write_file" | "edit_file" => ToolKind::Edit,
        "read_file" => ToolKind::Read,
        "search" | "web_search" => ToolKind::Search,
        "web_fetch" => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

/// A result in the form of its tool.
#[derive(Debug, Default, PartialEq)]
pub struct Presentation {
    /// Replaces the card's title.
    pub title: Option<String>,
    /// The text to show; empty means no content block.
    pub text: String,
    /// `rawOutput`.
    pub raw_output: Option<Value>,
    /// `rawInput`, when the call's own arguments are missing.
    pub raw_input: Option<Value>,
    /// A file that the result is about, as the host named it.
    pub path: Option<String>,
}

/// Reads a result by the rules of its tool.
#[must_use]
pub fn result(tool: Option<&str>, text: &str) -> Presentation {
    let special = match tool {
        Some("bash") => bash(text),
        Some("read_file") => read_file(text),
        Some(tool @ ("write_file" | "edit_file")) => written(tool, text),
        _ => None,
    };
    special.unwrap_or_else(|| Presentation { text: text.to_owned(), ..Presentation::default() })
}

/// KND-2: a JSON object with a string `command`.
fn bash(text: &str) -> Option<Presentation> {
    if text.len() > RAW_OUTPUT_MAX || !text.trim_start().starts_with('{') {
        return None;
    }
    let mut object: Map<String, Value> = serde_json::from_str(text).ok()?;
    let command = object.get("command")?.as_str()?.to_owned();
    let title = object.get("description").and_then(Value::as_str).unwrap_or(&command);
    let title = cut(title, TITLE_MAX);
    let output = object.get("output").and_then(Value::as_str).unwrap_or_default().to_owned();
    object.insert("formatted_output".into(), Value::String(output.clone()));
    Some(Presentation {
        title: Some(title),
        text: output,
        raw_output: Some(Value::Object(object)),
        raw_input: Some(serde_json::json!({ "command": command })),
        path: None,
    })
}

/// KND-3: the host's heading and a backquoted path in the first line.
fn read_file(text: &str) -> Option<Presentation> {
    let heading = text.lines().next()?;
    let path = heading.strip_prefix("Read text file")?.split('`').nth(1)?;
    (!path.is_empty()).then(|| Presentation {
        title: Some(cut(&format!("read_file: {path}"), TITLE_MAX)),
        text: text.to_owned(),
        raw_output: Some(serde_json::json!({ "formatted_output": text })),
        raw_input: None,
        path: Some(path.to_owned()),
    })
}

/// KND-4: `wrote <n> bytes to <path>`.
fn written(tool: &str, text: &str) -> Option<Presentation> {
    let line = text.lines().next()?;
    let (count, path) = line.strip_prefix("wrote ")?.split_once(" bytes to ")?;
    let digits = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    (digits && !path.trim().is_empty()).then(|| Presentation {
        title: Some(cut(&format!("{tool}: {}", path.trim()), TITLE_MAX)),
        text: text.to_owned(),
        raw_output: None,
        raw_input: None,
        path: Some(path.trim().to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_by_the_form_of_their_tool() {
        let bash = result(Some("bash"), r#"{"command":"ls","output":"a\n","exit_code":0}"#);
        assert_eq!((bash.title.as_deref(), bash.text.as_str()), (Some("ls"), "a\n"));
        assert_eq!(bash.raw_output.expect("raw")["formatted_output"], "a\n");

        let read = result(Some("read_file"), "Read text file `src/a.rs` (3 lines)\nx");
        assert_eq!(read.path.as_deref(), Some("src/a.rs"));

        let wrote = result(Some("write_file"), "wrote 12 bytes to /w/a b.txt");
        assert_eq!(wrote.title.as_deref(), Some("write_file: /w/a b.txt"));
    }

    #[test]
    fn a_text_of_another_form_is_shown_as_it_is() {
        for (tool, text) in [
            ("bash", "{\"output\":\"no command\"}"),
            ("bash", "{not json"),
            ("read_file", "Read text file without a path"),
            ("write_file", "wrote many bytes to x"),
            ("unknown", "{\"command\":\"ls\"}"),
        ] {
            let plain = Presentation { text: text.to_owned(), ..Presentation::default() };
            assert_eq!(result(Some(tool), text), plain);
        }
    }
}
