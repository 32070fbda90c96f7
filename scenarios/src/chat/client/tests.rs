//! Frames in, events and frames out.

use serde_json::{Value, json};

use super::*;

fn client_after(call: Call) -> Client {
    let mut client = Client::default();
    client.call(call, &json!({}));
    while client.poll_frame().is_some() {}
    client
}

fn feed(client: &mut Client, frame: &Value) -> Result<Event, ProtocolError> {
    client.on_line(frame.to_string().as_bytes())
}

fn sent(client: &mut Client) -> Value {
    let frame = client.poll_frame().expect("a frame");
    serde_json::from_str(&frame).expect("JSON")
}

#[test]
fn calls_are_numbered_from_one_and_answers_find_them_in_any_order() {
    let mut client = Client::default();
    client.call(Call::Initialize, &json!({"protocolVersion": 1}));
    client.call(Call::NewSession, &json!({}));
    let first = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}});
    assert_eq!(sent(&mut client), first);
    assert_eq!(sent(&mut client)["id"], 2);

    let second = feed(&mut client, &json!({"jsonrpc": "2.0", "id": 2, "result": {"a": 1}}));
    assert_eq!(second, Ok(Event::Answered(Call::NewSession, Ok(json!({"a": 1})))));
    let first = feed(&mut client, &json!({"jsonrpc": "2.0", "id": 1, "result": null}));
    assert_eq!(first, Ok(Event::Answered(Call::Initialize, Ok(Value::Null))));
}

#[test]
fn an_error_answer_keeps_code_text_and_data() {
    let mut client = client_after(Call::Prompt);
    let error =
        json!({"code": -32603, "message": "no", "data": {"failure": {"kind": "modelError"}}});
    let event = feed(&mut client, &json!({"jsonrpc": "2.0", "id": 1, "error": error}));
    let expected = RpcError { code: -32603, message: "no".into(), data: error["data"].clone() };
    assert_eq!(event, Ok(Event::Answered(Call::Prompt, Err(expected))));
}

#[test]
fn an_unsupported_request_is_refused_and_its_id_echoed() {
    let mut client = Client::default();
    let request = json!({"jsonrpc": "2.0", "id": "x", "method": "fs/read_text_file", "params": {}});
    assert!(
        matches!(feed(&mut client, &request), Ok(Event::Note(note)) if note.contains("fs/read_text_file"))
    );
    let answer = sent(&mut client);
    assert_eq!(answer["id"], "x");
    assert_eq!(answer["error"]["code"], -32601);
}

#[test]
fn an_unknown_notification_is_noted_and_a_blank_line_is_nothing() {
    let mut client = Client::default();
    let notification = json!({"jsonrpc": "2.0", "method": "_muse/steered", "params": {}});
    assert!(matches!(feed(&mut client, &notification), Ok(Event::Note(_))));
    assert_eq!(client.on_line(b" \r"), Ok(Event::Blank));
    assert_eq!(client.poll_frame(), None);
}

#[test]
fn a_bad_line_is_an_error_that_names_its_number() {
    let bad: [&[u8]; 9] = [
        b"hello",
        b"{",
        b"\xff",
        b"[]",
        br#"{"id":1,"result":{}}"#,
        br#"{"jsonrpc":"2.0"}"#,
        br#"{"jsonrpc":"2.0","method":7}"#,
        br#"{"jsonrpc":"2.0","id":{},"method":"a/b"}"#,
        br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#,
    ];
    for line in bad {
        let mut client = Client::default();
        assert_eq!(client.on_line(b""), Ok(Event::Blank));
        let error = client.on_line(line).expect_err("an error");
        assert_eq!(error.line, 2, "{error}");
    }
}

#[test]
fn an_answer_that_was_not_asked_or_comes_twice_is_an_error() {
    let mut client = client_after(Call::Initialize);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert!(feed(&mut client, &answer).is_ok());
    assert!(feed(&mut client, &answer).is_err());
    let complaint =
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}});
    let error = feed(&mut client, &complaint).expect_err("an error");
    assert!(error.problem.contains("Parse error"), "{error}");
}

#[test]
fn a_long_bad_line_is_quoted_in_part() {
    let line = "é".repeat(1000);
    let error = Client::default().on_line(line.as_bytes()).expect_err("an error");
    assert!(error.problem.chars().count() < 200, "{error}");
}
