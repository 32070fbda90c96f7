//! Inputs in, outputs out, no pipes.

use super::*;

struct Story {
    conversation: Conversation,
}

impl Story {
    fn new(prompt: Option<&str>, approve: Approve) -> Self {
        let settings = Settings {
            prompt: prompt.map(str::to_owned),
            cwd: "/w".into(),
            approve,
            live: true,
            verbose: false,
            style: Style::Plain,
        };
        Self { conversation: Conversation::new(settings) }
    }

    /// In the middle of a turn with this prompt.
    fn in_turn(prompt: Option<&str>, approve: Approve) -> Self {
        let mut story = Self::opened(prompt, approve);
        if prompt.is_none() {
            story.input(Input::Typed("go".into()));
        }
        assert_eq!(story.frames().pop().expect("a prompt")["method"], "session/prompt");
        story
    }

    fn opened(prompt: Option<&str>, approve: Approve) -> Self {
        let mut story = Self::new(prompt, approve);
        story.agent(&json!({"id": 1, "result": {"protocolVersion": 1,
            "agentCapabilities": {"sessionCapabilities": {"close": {}}}}}));
        story.agent(&json!({"id": 2, "result": {"sessionId": "s1"}}));
        story
    }

    fn input(&mut self, input: Input) {
        self.conversation.handle(input);
    }

    fn agent(&mut self, frame: &Value) {
        let mut frame = frame.clone();
        frame["jsonrpc"] = "2.0".into();
        self.input(Input::Line(frame.to_string().into_bytes()));
    }

    fn ask(&mut self, id: &str) {
        self.agent(&json!({"id": id, "method": "session/request_permission", "params": {
            "sessionId": "s1", "toolCall": {"toolCallId": id, "title": id},
            "options": [{"optionId": "a", "name": "Allow", "kind": "allow_once"},
                        {"optionId": "r", "name": "Reject", "kind": "reject_once"}]}}));
    }

    /// Everything that was put out since the last call: frames, and all text.
    fn outputs(&mut self) -> (Vec<Value>, String) {
        let (mut frames, mut text) = (Vec::new(), String::new());
        while let Some(output) = self.conversation.poll_output() {
            match output {
                Output::Frame(frame) => frames.push(serde_json::from_str(&frame).expect("JSON")),
                Output::Print(printed) => text.push_str(&printed),
                Output::Note(note) => text.push_str(&format!("[{note}]")),
            }
        }
        (frames, text)
    }

    fn frames(&mut self) -> Vec<Value> {
        self.outputs().0
    }

    fn code(&self) -> Option<u8> {
        self.conversation.ending().map(|ending| ending.code)
    }
}

fn outcome(frame: &Value) -> (&Value, &Value) {
    let outcome = &frame["result"]["outcome"];
    (&frame["id"], outcome.get("optionId").unwrap_or(&outcome["outcome"]))
}

#[test]
fn it_introduces_itself_honestly_and_opens_a_session_in_the_folder() {
    let mut story = Story::new(Some("hi"), Approve::Deny);
    let hello = story.frames().remove(0);
    assert_eq!(hello["params"]["protocolVersion"], 1);
    let none = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
    assert_eq!(hello["params"]["clientCapabilities"], none);

    story.agent(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    let open = story.frames().remove(0);
    assert_eq!(open["params"], json!({"cwd": "/w", "mcpServers": []}));
}

#[test]
fn each_way_a_turn_ends_has_its_exit_code() {
    let answers = [
        (json!({"result": {"stopReason": "end_turn"}}), 0),
        (json!({"result": {"stopReason": "cancelled"}}), 130),
        (json!({"result": {"stopReason": "max_turn_requests"}}), 4),
        (json!({"result": {"stopReason": "refusal"}}), 4),
        (json!({"error": {"code": -32603, "message": "no"}}), 1),
        (json!({"result": {}}), 3),
    ];
    for (mut answer, code) in answers {
        let mut story = Story::in_turn(Some("hi"), Approve::Deny);
        answer["id"] = 3.into();
        story.agent(&answer);
        if code != 3 {
            assert_eq!(story.frames()[0]["method"], "session/close");
            assert!(story.conversation.is_closing());
            story.agent(&json!({"id": 4, "result": {}}));
        }
        assert_eq!(story.code(), Some(code), "{answer}");
    }
}

#[test]
fn no_session_means_no_agent() {
    let mut old = Story::new(None, Approve::Ask);
    old.agent(&json!({"id": 1, "result": {"protocolVersion": 2}}));
    assert_eq!(old.code(), Some(3));

    let mut refused = Story::new(None, Approve::Ask);
    refused.agent(&json!({"id": 1, "result": {"protocolVersion": 1}}));
    refused.agent(&json!({"id": 2, "error": {"code": -32000, "message": "sign in",
        "data": {"failure": {"kind": "authRequired", "recovery": "Run muse login."}}}}));
    assert_eq!(refused.code(), Some(3));
    let text = refused.outputs().1;
    assert!(text.contains("authRequired") && text.contains("Run muse login."), "{text}");
}

#[test]
fn an_interactive_chat_ignores_empty_lines_and_its_last_turn_decides() {
    let mut story = Story::opened(None, Approve::Ask);
    assert!(story.outputs().1.ends_with("> "));
    story.input(Input::Typed("  ".into()));
    assert_eq!(story.outputs(), (vec![], "> ".into()));
    story.input(Input::Typed("one".into()));
    story.agent(&json!({"id": 3, "error": {"code": -32603, "message": "no"}}));
    story.input(Input::Typed("two".into()));
    story.agent(&json!({"id": 4, "result": {"stopReason": "end_turn"}}));
    story.input(Input::Typed("/quit".into()));
    story.agent(&json!({"id": 5, "result": {}}));
    assert_eq!(story.code(), Some(0));
}

#[test]
fn questions_are_asked_one_after_the_other() {
    let mut story = Story::in_turn(None, Approve::Ask);
    story.ask("q1");
    story.ask("q2");
    let shown = story.outputs().1;
    assert!(shown.ends_with("? q1\n  1  Allow\n  2  Reject\nanswer with 1-2, y or n: "), "{shown}");
    assert_eq!(story.conversation.questions_asked(), 1);

    story.input(Input::Typed("maybe".into()));
    assert_eq!(story.outputs(), (vec![], "answer with 1-2, y or n: ".into()));
    story.input(Input::Typed("2".into()));
    let (frames, shown) = story.outputs();
    assert_eq!(outcome(&frames[0]), (&json!("q1"), &json!("r")));
    assert!(shown.starts_with("? q2\n"), "{shown}");
    story.input(Input::Typed("y".into()));
    assert_eq!(outcome(&story.frames()[0]), (&json!("q2"), &json!("a")));
    assert_eq!(story.conversation.wants(), Want::Nothing);
}

#[test]
fn a_cancel_answers_every_open_question_and_later_ones() {
    let mut story = Story::in_turn(Some("hi"), Approve::Ask);
    story.ask("q1");
    story.ask("q2");
    story.input(Input::Interrupt);
    story.ask("q3");
    let frames = story.frames();
    assert_eq!(frames[0]["method"], "session/cancel");
    let cancelled = json!("cancelled");
    for (frame, id) in frames[1..].iter().zip(["q1", "q2", "q3"]) {
        assert_eq!(outcome(frame), (&json!(id), &cancelled));
    }
    assert_eq!(frames.len(), 4);
}

#[test]
fn outside_of_a_turn_nothing_is_granted() {
    let mut story = Story::opened(None, Approve::Allow);
    story.frames();
    story.ask("q1");
    assert_eq!(outcome(&story.frames()[0]), (&json!("q1"), &json!("cancelled")));
}

#[test]
fn a_question_that_outlives_its_turn_is_answered_and_not_asked_any_more() {
    let mut story = Story::in_turn(None, Approve::Ask);
    story.ask("q1");
    story.frames();
    story.agent(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    assert_eq!(outcome(&story.frames()[0]), (&json!("q1"), &json!("cancelled")));
    assert_eq!(story.conversation.wants(), Want::Prompt);
}

#[test]
fn the_end_of_input_cancels_a_question_and_ends_after_the_turn() {
    let mut story = Story::in_turn(None, Approve::Ask);
    story.ask("q1");
    story.frames();
    story.input(Input::TypedEnd);
    story.ask("q2");
    let frames = story.frames();
    assert_eq!(outcome(&frames[0]), (&json!("q1"), &json!("cancelled")));
    assert_eq!(outcome(&frames[1]), (&json!("q2"), &json!("cancelled")));
    story.agent(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    assert_eq!(story.frames()[0]["method"], "session/close");
}

#[test]
fn an_interrupt_ends_what_is_going_on_and_the_next_one_does_not_wait() {
    let mut opening = Story::new(None, Approve::Ask);
    opening.input(Input::Interrupt);
    assert_eq!(opening.code(), Some(130));

    let mut idle = Story::opened(None, Approve::Ask);
    idle.input(Input::Interrupt);
    assert!(idle.conversation.is_closing());
    idle.agent(&json!({"id": 3, "result": {}}));
    assert_eq!(idle.code(), Some(130));

    let mut turn = Story::in_turn(None, Approve::Ask);
    turn.input(Input::Interrupt);
    turn.input(Input::Interrupt);
    assert!(turn.conversation.is_closing());
    turn.agent(&json!({"id": 3, "result": {"stopReason": "end_turn"}}));
    turn.input(Input::Interrupt);
    assert_eq!(turn.code(), Some(130), "the late answer does not change why it ended");
    turn.input(Input::AgentGone);
    assert_eq!(turn.code(), Some(130));
}

#[test]
fn after_a_cancelled_turn_an_interactive_chat_goes_on() {
    let mut story = Story::in_turn(None, Approve::Ask);
    story.input(Input::Interrupt);
    story.agent(&json!({"id": 3, "result": {"stopReason": "cancelled"}}));
    assert_eq!(story.conversation.wants(), Want::Prompt);
    story.input(Input::TypedEnd);
    story.input(Input::CloseDeadline);
    assert_eq!(story.code(), Some(130));
}

#[test]
fn stop_cancels_and_closes_in_one_step() {
    let mut story = Story::in_turn(Some("hi"), Approve::Ask);
    story.ask("q1");
    story.frames();
    story.input(Input::Stop("over"));
    let methods: Vec<_> = story.frames().iter().map(|f| f["method"].clone()).collect();
    assert_eq!(methods, [json!("session/cancel"), Value::Null, json!("session/close")]);
}

#[test]
fn updates_of_other_sessions_are_not_shown() {
    let mut story = Story::in_turn(Some("hi"), Approve::Deny);
    story.outputs();
    let chunk = |session: &str| {
        json!({"method": "session/update", "params": {"sessionId": session, "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}}})
    };
    story.agent(&chunk("s2"));
    assert_eq!(story.outputs(), (vec![], String::new()));
    story.agent(&chunk("s1"));
    assert_eq!(story.outputs(), (vec![], "x".into()));
}

#[test]
fn a_prompt_that_would_not_fit_into_a_frame_is_not_sent() {
    let mut story = Story::opened(None, Approve::Ask);
    story.frames();
    story.input(Input::Typed("x".repeat(PROMPT_MAX + 1)));
    let (frames, text) = story.outputs();
    assert_eq!(frames, Vec::<Value>::new());
    assert!(text.contains("longer than 4 MiB"), "{text}");
}
