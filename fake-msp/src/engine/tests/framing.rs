use serde_json::{Value, json};

use super::super::{FRAME_BYTES_MAX, Input};
use super::{Talk, outline};

/// (line, expected error code and id; `None` when nothing is answered).
const ODD_LINES: &[(&str, Option<(i64, &str)>)] = &[
    ("", None),
    ("   \t", None),
    ("\r", None),
    ("{", Some((-32700, "null"))),
    ("hello", Some((-32700, "null"))),
    ("\u{0}", Some((-32700, "null"))),
    ("[]", Some((-32600, "null"))),
    (r#"[{"jsonrpc":"2.0","id":1,"method":"model/list"}]"#, Some((-32600, "null"))),
    ("17", Some((-32600, "null"))),
    ("null", Some((-32600, "null"))),
    (r#"{"id":5,"method":"model/list"}"#, Some((-32600, "5"))),
    (r#"{"jsonrpc":"1.0","id":"x","method":"model/list"}"#, Some((-32600, "\"x\""))),
    (r#"{"jsonrpc":"2.0","id":5}"#, Some((-32600, "5"))),
    (r#"{"jsonrpc":"2.0"}"#, Some((-32600, "null"))),
    (r#"{"jsonrpc":"2.0","id":5,"method":7}"#, Some((-32600, "5"))),
    (r#"{"jsonrpc":"2.0","id":null,"method":"model/list"}"#, Some((-32600, "null"))),
    (r#"{"jsonrpc":"2.0","id":1.5,"method":"model/list"}"#, Some((-32600, "null"))),
    (r#"{"jsonrpc":"2.0","id":true,"method":"model/list"}"#, Some((-32600, "null"))),
    (r#"{"jsonrpc":"2.0","id":{},"method":"model/list"}"#, Some((-32600, "null"))),
    (r#"{"jsonrpc":"2.0","id":5,"method":"no/such"}"#, Some((-32601, "5"))),
    (r#"{"jsonrpc":"2.0","id":5,"method":"model/list","params":null}"#, Some((-32602, "5"))),
    (r#"{"jsonrpc":"2.0","id":5,"method":"model/list","params":[]}"#, Some((-32602, "5"))),
    (r#"{"jsonrpc":"2.0","method":"no/such","params":{}}"#, None),
    (r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, None),
    (r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#, None),
];

#[test]
fn odd_lines_get_their_error_and_the_connection_goes_on() {
    for (line, expected) in ODD_LINES {
        let mut talk = Talk::ready();

        let frames = talk.line(line.as_bytes());

        match expected {
            None => assert!(frames.is_empty(), "{line}: {frames:?}"),
            Some((code, id)) => {
                assert_eq!(outline(&frames), ["error"], "{line}");
                assert_eq!(frames[0]["error"]["code"], *code, "{line}");
                assert_eq!(frames[0]["id"].to_string(), *id, "{line}");
                assert!(frames[0]["error"]["data"]["kind"].is_string(), "{line}");
            }
        }
        assert!(talk.request("model/list", json!({})).get("result").is_some(), "{line}");
    }
}

#[test]
fn invalid_utf8_is_a_parse_error() {
    let mut talk = Talk::ready();
    let frames = talk.line(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
    assert_eq!(frames[0]["error"]["code"], -32700);
}

#[test]
fn a_carriage_return_before_the_line_end_is_ignored() {
    let mut talk = Talk::ready();
    let frames = talk.line(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"model/list\"}\r");
    assert_eq!(outline(&frames), ["result"]);
}

#[test]
fn string_and_number_ids_are_echoed_as_they_are() {
    let mut talk = Talk::ready();
    for id in [json!("1"), json!(1), json!(-7), json!(u64::MAX), json!("")] {
        let frames = talk.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "model/list" }));
        assert_eq!(frames[0]["id"], id);
    }
}

#[test]
fn an_oversized_line_is_refused_under_its_id_or_as_a_parse_error() {
    let mut talk = Talk::ready();
    let padding = "x".repeat(FRAME_BYTES_MAX);

    let early =
        format!(r#"{{"jsonrpc":"2.0","id":"big","method":"a","params":{{"t":"{padding}"}}}}"#);
    let frames = talk.line(early.as_bytes());
    assert_eq!(frames[0]["id"], "big");
    assert_eq!(frames[0]["error"]["code"], -32002);
    assert_eq!(frames[0]["error"]["data"]["limitBytes"], FRAME_BYTES_MAX);

    let late = format!(r#"{{"params":{{"t":"{padding}"}},"id":"big"}}"#);
    let frames = talk.line(late.as_bytes());
    assert_eq!(frames[0]["id"], Value::Null);
    assert_eq!(frames[0]["error"]["code"], -32700);

    let frames = talk.input(Input::TooLong { prefix: b"{\"id\":3,\"params\":" });
    assert_eq!((&frames[0]["id"], &frames[0]["error"]["code"]), (&json!(3), &json!(-32002)));
}

#[test]
fn a_line_of_exactly_the_limit_is_read() {
    let mut talk = Talk::ready();
    let head = r#"{"jsonrpc":"2.0","id":1,"method":"model/list"}"#;
    let mut line = head.as_bytes().to_vec();
    line.resize(FRAME_BYTES_MAX, b' ');

    assert_eq!(outline(&talk.line(&line)), ["result"]);
    line.push(b'\r');
    assert_eq!(outline(&talk.line(&line)), ["result"]);
    line.insert(0, b' ');
    assert_eq!(outline(&talk.line(&line)), ["error"]);
}

#[test]
fn a_complete_object_without_newline_is_a_line_and_half_a_frame_is_not() {
    let mut talk = Talk::ready();
    let whole = br#"{"jsonrpc":"2.0","id":1,"method":"model/list"}"#;

    assert_eq!(outline(&talk.input(Input::Tail(whole))), ["result"]);
    assert!(talk.input(Input::Tail(&whole[..20])).is_empty());
    assert_eq!(talk.rules(), ["FRM-12"]);
}
