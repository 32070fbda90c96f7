//! What may stand on the adapter's stdout (CHD-7, WIRE-1).

use serde_json::Value;

/// Says why these bytes are not a sequence of complete JSON-RPC lines; `None` when they are.
///
/// No bytes at all are pure. A line that was cut off is not: the adapter has time to finish it.
#[must_use]
pub fn impurity(stdout: &[u8]) -> Option<String> {
    if stdout.is_empty() {
        return None;
    }
    let Some(lines) = stdout.strip_suffix(b"\n") else {
        return Some(format!("the last line has no end: {}", shown(stdout)));
    };
    lines.split(|byte| *byte == b'\n').find_map(|line| {
        let reason = match serde_json::from_slice::<Value>(line) {
            Err(error) => error.to_string(),
            Ok(Value::Object(frame)) if frame.get("jsonrpc") == Some(&"2.0".into()) => return None,
            Ok(_) => "no JSON-RPC frame".to_owned(),
        };
        Some(format!("{reason}: {}", shown(line)))
    })
}

/// The end of a line, short enough for an assertion message.
fn shown(line: &[u8]) -> String {
    let tail = &line[line.len().saturating_sub(300)..];
    String::from_utf8_lossy(tail).into_owned()
}

#[cfg(test)]
mod tests {
    use super::impurity;

    #[test]
    fn silence_and_complete_frames_are_pure() {
        for pure in [
            "",
            "{\"jsonrpc\":\"2.0\",\"id\":1}\n",
            "{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\"}\n",
        ] {
            assert_eq!(impurity(pure.as_bytes()), None, "{pure:?}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        let impure: [&[u8]; 8] = [
            b"\n",
            b"ready\n",
            b"{\"jsonrpc\":\"2.0\"}",
            b"{\"jsonrpc\":\"2.0\"}\n\n",
            b"{\"jsonrpc\":\"1.0\"}\n",
            b"[{\"jsonrpc\":\"2.0\"}]\n",
            b"{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\",\n",
            b"{\"jsonrpc\":\"2.0\",\"a\":\"\xff\"}\n",
        ];
        for bytes in impure {
            assert!(impurity(bytes).is_some(), "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}
