//! A run as a sequence diagram in Mermaid's notation.
//!
//! In: a transcript. Out: text for any Mermaid viewer. Each frame is one arrow with its method, and a few
//! words of what it says; content is cut, and characters that mean something to Mermaid are written as
//! entities. A lie is marked, and the place where the story broke is a note at the end.

use std::fmt::Write as _;

use serde_json::Value;

use super::report::Failure;
use super::transcript::{Entry, Lane, Transcript};

/// Longest label in characters.
const LABEL_MAX: usize = 60;

/// The diagram of a run.
#[must_use]
pub fn mermaid(transcript: &Transcript, failure: Option<&Failure>) -> String {
    let mut out =
        String::from("sequenceDiagram\n  participant E as editor\n  participant A as adapter\n");
    let hosts = transcript.entries.iter().filter_map(|entry| match entry.lane {
        Lane::Host(index) => Some(index + 1),
        Lane::Editor => None,
    });
    // Writing to a string cannot fail.
    for host in 1..=hosts.max().unwrap_or(0) {
        let _ = writeln!(out, "  participant H{host} as host{host}");
    }
    for entry in &transcript.entries {
        let peer = match entry.lane {
            Lane::Editor => "E".to_owned(),
            Lane::Host(index) => format!("H{}", index + 1),
        };
        let (from, to) =
            if entry.from_adapter { ("A", peer.as_str()) } else { (peer.as_str(), "A") };
        // Answers are dashed, as everywhere in sequence diagrams.
        let arrow = if entry.is_response() { "-->>" } else { "->>" };
        let _ = writeln!(out, "  {from}{arrow}{to}: {}", escape(&label(entry)));
    }
    if let Some(failure) = failure {
        let text = format!("{} line {}: {}", failure.code.as_str(), failure.line, failure.text);
        let _ = writeln!(out, "  Note over E,A: {}", escape(&text));
    }
    out
}

/// A frame in a few words.
pub(super) fn label(entry: &Entry) -> String {
    let frame = &entry.frame;
    let lie = if entry.lie { " (lie)" } else { "" };
    let what = match entry.method() {
        Some(method) => {
            let params = &frame["params"];
            let words = [
                &params["update"]["sessionUpdate"],
                &params["update"]["content"]["text"],
                &params["item"]["kind"],
                &params["delta"],
                &params["terminal"],
                &params["toolCall"]["title"],
                &params["choiceId"],
            ];
            let words = words.into_iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
            format!("{method} {words}")
        }
        None if frame.get("error").is_some() => {
            let kind = &frame["error"]["data"]["failure"]["kind"];
            let kind =
                kind.as_str().or(frame["error"]["data"]["kind"].as_str()).unwrap_or_default();
            format!("error {} {kind}", frame["error"]["code"])
        }
        None => format!("ok {}", frame["result"]["stopReason"].as_str().unwrap_or_default()),
    };
    muse_code_acp::core::redact::cut(&format!("{}{lie}", what.trim()), LABEL_MAX)
}

/// Characters that would end a label or begin something else.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '#' | ';' | ':' | '<' | '>' | '%' => {
                let _ = write!(out, "#{};", u32::from(character));
            }
            character if character.is_control() => out.push(' '),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn a_conversation_becomes_arrows_and_nothing_in_it_breaks_the_notation() {
        let entry = |lane, from_adapter, frame| Entry {
            at: Duration::ZERO,
            lane,
            from_adapter,
            frame,
            lie: false,
            line: None,
        };
        let chunk = json!({ "method": "session/update", "params": { "update": {
            "sessionUpdate": "agent_message_chunk", "content": { "text": "a;b\n#c" } } } });
        let transcript = Transcript {
            entries: vec![
                entry(Lane::Editor, false, json!({ "id": 1, "method": "session/prompt" })),
                entry(Lane::Host(0), true, json!({ "id": 1, "method": "turn/start" })),
                entry(Lane::Editor, true, chunk),
                entry(
                    Lane::Editor,
                    true,
                    json!({ "id": 1, "result": { "stopReason": "end_turn" } }),
                ),
            ],
            marks: Vec::new(),
        };

        let diagram = mermaid(&transcript, None);

        let expected = "sequenceDiagram\n  participant E as editor\n  participant A as adapter\n  \
                        participant H1 as host1\n  E->>A: session/prompt\n  A->>H1: turn/start\n  \
                        A->>E: session/update agent_message_chunk a#59;b #35;c\n  \
                        A-->>E: ok end_turn\n";
        assert_eq!(diagram, expected);
    }
}
