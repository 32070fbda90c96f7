//! What a broken or hostile editor may send, and that the connection goes on (acp.md section 4).

use serde_json::{Value, json};
use tests::{Agent, setup};

/// The bytes and what comes back: the id and the code of one error, or nothing.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    answer: Option<(Value, i64)>,
}

fn case(name: &'static str, bytes: impl Into<Vec<u8>>, answer: Option<(Value, i64)>) -> Case {
    Case { name, bytes: bytes.into(), answer }
}

fn broken_lines() -> Vec<Case> {
    let parse = || Some((Value::Null, -32700));
    let envelope = || Some((Value::Null, -32600));
    let deep = "{\"a\":".repeat(100_000);
    vec![
        case("half an object", "{\"jsonrpc\":\"2.0\",\"id\":1\n", parse()),
        case("words", "hello\n", parse()),
        case("two objects on a line", "{} {}\n", parse()),
        case(
            "bytes that are no UTF-8",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n",
            parse(),
        ),
        case(
            "a byte order mark",
            "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\r\n",
            Some((json!(1), -32601)),
        ),
        case("a byte order mark and nothing else", "\u{feff}\n\u{feff} \r\n", None),
        case(
            "a control character in a string",
            "{\"jsonrpc\":\"2.0\",\"id\":\"\u{1}\"}\n",
            parse(),
        ),
        case("an unclosed pit", format!("{deep}\n"), parse()),
        case("a number", "5\n", envelope()),
        case("null", "null\n", envelope()),
        case("a string", "\"initialize\"\n", envelope()),
        case("an empty batch", "[]\n", envelope()),
        // https://github.com/agentclientprotocol/rust-sdk/pull/286 (BL-57)
        case("a batch of a number", "[1]\n", envelope()),
        case(
            "a batch in which an id comes twice",
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"},{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"y\"}]\n",
            envelope(),
        ),
        case(
            "a batch of notifications",
            "[{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\"},{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]\n",
            envelope(),
        ),
        case("a batch", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}]\n", envelope()),
        // SCN-FUZ-10, TOL-19: which of the two was meant cannot be known.
        case(
            "a key that comes twice",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"initialize\"}\n",
            envelope(),
        ),
        case("no version", "{\"id\":1,\"method\":\"initialize\"}\n", envelope()),
        case(
            "another version",
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"initialize\"}\n",
            envelope(),
        ),
        case("an empty line", "\n", None),
        case("blanks", " \t \r\n\n", None),
        case("a notification that nobody knows", line(&json!({"method": "nobody/knows"})), None),
        case(
            "an extension that nobody knows",
            line(&json!({"method": "_x/y", "params": {}})),
            None,
        ),
        case("an answer to no question", line(&json!({"id": 7, "result": {}})), None),
        case(
            "an error to no question",
            line(&json!({"id": 7, "error": {"code": 1, "message": ""}})),
            None,
        ),
        case("an answer of an impossible shape", line(&json!({"id": 7, "error": 5})), None),
    ]
}

fn requests() -> Vec<Case> {
    let call = |id: Value, method: &str, params: Value| {
        line(&json!({"id": id, "method": method, "params": params}))
    };
    let refused = |id: Value, code: i64| Some((id, code));
    let new = |cwd: Value| call(json!(3), "session/new", json!({"cwd": cwd, "mcpServers": []}));
    vec![
        // PO-33: an id of a kind that is not echoed.
        case("a fraction as id", raw_id("1.5"), refused(Value::Null, -32600)),
        case("an exponent as id", raw_id("1e3"), refused(Value::Null, -32600)),
        case("a boolean as id", raw_id("true"), refused(Value::Null, -32600)),
        case("a list as id", raw_id("[1]"), refused(Value::Null, -32600)),
        case("an object as id", raw_id("{}"), refused(Value::Null, -32600)),
        // https://github.com/agentclientprotocol/agent-client-protocol/pull/142 (BL-59): null is an id, no
        // id is no question.
        case("null as id", raw_id("null"), refused(Value::Null, -32601)),
        case("no id", line(&json!({"method": "session/explode"})), None),
        case(
            "an id and nothing else",
            line(&json!({"id": "lonely"})),
            refused(json!("lonely"), -32600),
        ),
        // WIRE-8.
        case(
            "an unknown method",
            call(json!(1), "session/explode", json!({})),
            refused(json!(1), -32601),
        ),
        case(
            "an unknown extension",
            call(json!(""), "_x/y", json!({})),
            refused(json!(""), -32601),
        ),
        case(
            "an unadvertised method",
            call(json!(2), "session/load", json!({})),
            refused(json!(2), -32601),
        ),
        // WIRE-9, PIT-6, WS-2.
        case(
            "no servers",
            call(json!(3), "session/new", json!({"cwd": "/"})),
            refused(json!(3), -32602),
        ),
        case(
            "parameters by position",
            call(json!(3), "session/new", json!(["/", []])),
            refused(json!(3), -32602),
        ),
        case(
            "no parameters",
            line(&json!({"id": 3, "method": "session/new"})),
            refused(json!(3), -32602),
        ),
        case("a relative workspace", new(json!("here")), refused(json!(3), -32602)),
        case(
            "a workspace that is not there",
            new(json!("/no/such/folder")),
            refused(json!(3), -32602),
        ),
        case("a workspace that is a number", new(json!(7)), refused(json!(3), -32602)),
        case(
            "a version that is no number",
            call(json!(4), "initialize", json!({"protocolVersion": "1"})),
            refused(json!(4), -32602),
        ),
    ]
}

fn line(frame: &Value) -> Vec<u8> {
    let mut frame = frame.clone();
    frame["jsonrpc"] = json!("2.0");
    format!("{frame}\n").into_bytes()
}

fn raw_id(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/explode\"}}\n")
}

/// One answer per broken line, none of them quotes the input, and the next request is served.
#[tokio::test]
async fn broken_input_is_answered_once_and_the_connection_goes_on() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let cases: Vec<Case> = broken_lines().into_iter().chain(requests()).collect();

    for Case { name, bytes, answer } in &cases {
        agent.send_bytes(bytes).await;
        if let Some((id, code)) = answer {
            let error = agent.expect(name, |frame| frame.get("error").is_some()).await;
            assert_eq!(
                (&error["id"], error["error"]["code"].as_i64()),
                (id, Some(*code)),
                "{name}"
            );
            if *code == -32700 {
                assert_eq!(error["error"].get("data"), None, "WIRE-3, {name}");
            }
        }
        agent.initialize().await;
    }

    // Nothing was answered twice, and silence was kept where it was due.
    let record = agent.finish().await;
    let errors = record.frames().iter().filter(|frame| frame.get("error").is_some()).count();
    assert_eq!(errors, cases.iter().filter(|case| case.answer.is_some()).count());
}

/// WIRE-5: read past without being kept.
#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_the_connection_goes_on() {
    const LIMIT: usize = 32 * 1024 * 1024;
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let around = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"x\",\"params\":{\"a\":\"\"}}".len();
    for (length, expected) in [(LIMIT, (json!(9), -32601)), (LIMIT + 1, (Value::Null, -32600))] {
        let filling = "a".repeat(length - around);
        let frame = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"x\",\"params\":{{\"a\":\"{filling}\"}}}}\n"
        );
        assert_eq!(frame.len(), length + 1, "the newline does not count");

        agent.send_bytes(frame.as_bytes()).await;

        let error = agent.expect("the refusal", |frame| frame.get("error").is_some()).await;
        assert_eq!(
            (error["id"].clone(), error["error"]["code"].as_i64().expect("a code")),
            expected
        );
    }
    agent.initialize().await;
    agent.finish().await;
}

/// Lines around sizes at which readers of others gave up, then one that no host would take (FRM-6). <https://github.com/MoonshotAI/kimi-cli/issues/831> (BL-51)
#[tokio::test]
async fn a_prompt_of_any_size_up_to_the_limit_is_answered_and_the_next_one_works() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    let prompt = |id: usize, filling: &str| {
        let block = json!({"type": "text", "text": format!("hello {filling}")});
        let params = json!({"sessionId": session, "prompt": [block]});
        line(&json!({"id": format!("p{id}"), "method": "session/prompt", "params": params}))
    };
    let around = prompt(65_535, "").len() - 1;

    for length in [65_535, 65_536, 65_537, 1024 * 1024] {
        let filling = "a".repeat(length - around - length.to_string().len() + 5);
        let frame = prompt(length, &filling);
        assert_eq!(frame.len(), length + 1, "the newline does not count");
        agent.send_bytes(&frame).await;
        let answer = agent.result(&json!(format!("p{length}"))).await;
        assert_eq!(answer["stopReason"], "end_turn", "{length}");
    }

    agent.send_bytes(&prompt(0, &"a".repeat(11 * 1024 * 1024))).await;
    assert_eq!(agent.refusal(&json!("p0")).await["code"], -32602);
    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
    assert_eq!(setup.host_received_count("turn/start"), 5);
}

/// SCN-PRM-13: an escape that stands for no character cannot reach the host; the prompt is refused whole.
#[tokio::test]
async fn a_prompt_with_half_a_character_is_refused_and_the_next_one_works() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    for half in ["\\ud800", "\\udc00", "\\udc00\\ud800"] {
        let frame = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"half\",\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\"prompt\":[{{\"type\":\"text\",\"text\":\"a{half}b\"}}]}}}}\n"
        );
        agent.send_bytes(frame.as_bytes()).await;
        assert_eq!(agent.refusal(&json!("half")).await["code"], -32602, "{half}");
    }
    assert_eq!(agent.prompt(&session, "hello").await["stopReason"], "end_turn");
    agent.finish().await;
    assert_eq!(setup.host_received_count("turn/start"), 1);
}

/// WIRE-2: an editor on Windows may end its lines in its own way.
/// <https://github.com/modelcontextprotocol/rust-sdk/issues/825> (BL-49): or begin its stream in its own way.
#[tokio::test]
async fn a_carriage_return_or_a_byte_order_mark_is_no_matter() {
    let setup = setup!();
    let mut agent = Agent::spawn(&setup);
    let frame = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}});

    agent.send_bytes(format!("\u{feff}\r\n\u{feff}{frame}\r\n").as_bytes()).await;

    agent.result(&json!(1)).await;
    agent.finish().await;
}

/// WIRE-7.
#[tokio::test]
async fn a_request_before_the_handshake_is_refused() {
    let setup = setup!();
    let mut agent = Agent::spawn(&setup);

    for method in ["session/new", "session/prompt", "session/close", "_x/y", "no/such"] {
        let id = agent.request(method, json!({})).await;
        assert_eq!(agent.refusal(&id).await["code"], -32600, "{method}");
    }

    agent.initialize().await;
    agent.new_session().await;
    agent.finish().await;
}

/// PO-33: integers of any size and strings come back as they were written, byte for byte.
/// <https://github.com/frontman-ai/frontman/issues/1552> (BL-55)
/// <https://github.com/agentclientprotocol/agent-client-protocol/pull/142> (BL-59)
#[tokio::test]
async fn an_id_is_echoed_as_it_was_written() {
    let ids = [
        "0",
        "-1",
        "-7",
        "2147483648",
        "9007199254740993",
        "18446744073709551615",
        "123456789012345678901234567890",
        "\"\"",
        "\"abc\"",
        "\"\\u00e9\\/\"",
        "\"é\"",
        "\"1\"",
    ];
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;

    for id in ids {
        agent.send_bytes(raw_id(id).as_bytes()).await;
    }
    for id in ids {
        agent.expect(id, |frame| frame["error"]["code"] == -32601).await;
    }

    let stdout = agent.finish().await.stdout;
    let stdout = String::from_utf8(stdout).expect("UTF-8");
    for id in ids {
        assert!(stdout.contains(&format!("\"id\":{id},")), "{id} in {stdout}");
    }
}

/// PO-34: a complete object counts although its newline is missing; half of one is dropped.
#[tokio::test]
async fn the_last_line_may_lack_its_newline() {
    let setup = setup!();
    let request = json!({"jsonrpc": "2.0", "id": "last", "method": "initialize", "params": {"protocolVersion": 1}});
    let request = request.to_string();

    let mut whole = Agent::spawn(&setup);
    whole.send_bytes(request.as_bytes()).await;
    let record = whole.finish().await;
    assert_eq!(record.frames().len(), 1);
    assert_eq!(record.frames()[0]["result"]["protocolVersion"], 1);

    let mut half = Agent::spawn(&setup);
    half.send_bytes(&request.as_bytes()[..request.len() - 1]).await;
    let record = half.finish().await;
    assert!(record.frames().iter().all(|frame| frame.get("result").is_none()));
}

/// The reader keeps what it has: a frame may come a byte at a time.
#[tokio::test]
async fn a_request_in_single_bytes_is_one_request() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;

    for byte in raw_id("\"é\"").as_bytes() {
        agent.send_bytes(std::slice::from_ref(byte)).await;
    }

    assert_eq!(agent.refusal(&json!("é")).await["code"], -32601);
    agent.finish().await;
}
