//! Updates in, text out.

use serde_json::{Value, json};

use super::*;

fn plain() -> Renderer {
    Renderer::new(Style::Plain)
}

/// What the updates print in all.
fn shown(renderer: &mut Renderer, updates: &[Value]) -> String {
    let read = |update| Update::from_value(update).expect("an update");
    updates.iter().map(|update| renderer.update(&read(update))).collect()
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

fn message(text: &str) -> Value {
    chunk("agent_message_chunk", text)
}

fn card(members: &Value) -> Value {
    let mut card = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t"});
    for (name, value) in members.as_object().expect("members") {
        card[name] = value.clone();
    }
    card
}

fn output(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

#[test]
fn chunks_of_one_block_join_and_another_block_starts_a_line() {
    let updates = [
        chunk("agent_thought_chunk", "let me "),
        chunk("agent_thought_chunk", "see"),
        message("Hel"),
        message("lo\n"),
        chunk("agent_thought_chunk", "done"),
    ];
    assert_eq!(shown(&mut plain(), &updates), "(thought) let me see\nHello\n(thought) done");
}

#[test]
fn thoughts_are_dimmed_and_escape_sequences_of_the_agent_are_not_obeyed() {
    let mut ansi = Renderer::new(Style::Ansi);
    let text = shown(&mut ansi, &[chunk("agent_thought_chunk", "a\x1b[0mb")]);
    assert_eq!(text, "\x1b[2ma␛[0mb\x1b[0m");
}

#[test]
fn a_card_shows_each_state_once_and_output_as_it_grows() {
    let updates = [
        card(&json!({"kind": "execute", "title": "ls", "status": "pending"})),
        card(&json!({"status": "in_progress"})),
        card(&json!({"status": "in_progress", "content": output("a\nb")})),
        card(&json!({"content": output("a\nbee\nc")})),
        card(&json!({"status": "completed", "content": output("a\nbee\nc")})),
        card(&json!({"status": "completed"})),
    ];
    let expected = "\
● execute: ls [pending]
● execute: ls [in_progress]
  │ a
  │ bee
● execute: ls [completed]
  │ c
";
    assert_eq!(shown(&mut plain(), &updates), expected);
}

#[test]
fn output_that_was_rewritten_is_shown_whole_at_the_end() {
    let updates = [
        card(&json!({"title": "t", "content": output("10%\n")})),
        card(&json!({"content": output("90%\n")})),
        card(&json!({"status": "failed", "content": output("gone\n")})),
    ];
    assert_eq!(shown(&mut plain(), &updates), "● t\n  │ 10%\n● t [failed]\n  │ gone\n");
}

#[test]
fn a_card_that_was_interrupted_names_itself_again() {
    let updates = [
        card(&json!({"title": "t", "content": output("a\n")})),
        message("meanwhile"),
        card(&json!({"content": output("a\nb\n")})),
    ];
    assert_eq!(shown(&mut plain(), &updates), "● t\n  │ a\nmeanwhile\n● t\n  │ b\n");
}

#[test]
fn long_output_is_cut_and_what_is_missing_is_counted() {
    let long: String = (1..=25).map(|n| format!("{n}\n")).collect();
    let text =
        shown(&mut plain(), &[card(&json!({"status": "completed", "content": output(&long)}))]);
    assert!(text.ends_with("  │ 20\n  … 5 more lines\n"), "{text}");
}

#[test]
fn a_diff_shows_the_changed_lines() {
    let diff =
        json!([{"type": "diff", "path": "/a", "oldText": "1\n2\n3\n", "newText": "1\n2b\n3\n"}]);
    let text = shown(
        &mut plain(),
        &[card(&json!({"kind": "edit", "content": diff, "status": "completed"}))],
    );
    assert_eq!(text, "● edit [completed]\n  │ changes /a\n  │ - 2\n  │ + 2b\n");
}

#[test]
fn a_plan_and_usage_are_shown_and_unknown_kinds_are_not() {
    let mut renderer = plain();
    let updates = [
        message("x"),
        json!({"sessionUpdate": "plan", "entries": [
            {"content": "look", "status": "completed"}, {"content": "do", "status": "in_progress"},
            {"content": "check", "status": "pending"}]}),
        json!({"sessionUpdate": "usage_update", "used": 50, "size": 200}),
        json!({"sessionUpdate": "weather_update"}),
    ];
    let text = shown(&mut renderer, &updates) + &renderer.turn_end();
    let expected = "x\nplan\n  [x] look\n  [>] do\n  [ ] check\ncontext: 50 of 200 tokens (25%)\n";
    assert_eq!(text, expected);
}

#[test]
fn a_question_shows_what_it_is_about_and_numbers_its_options() {
    let mut renderer = plain();
    shown(&mut renderer, &[card(&json!({"kind": "execute", "title": "Stage 1 of 2: rm a"}))]);
    let question = Question::from_params(&json!({
        "toolCall": {"toolCallId": "t", "rawInput": {"command": "rm a\nrm b"}},
        "options": [{"optionId": "y", "name": "Allow", "kind": "allow_once"},
                    {"optionId": "n", "name": "No\x1b[2J", "kind": "reject_once"}]}))
    .expect("a question");
    let expected = "\
? execute: Stage 1 of 2: rm a
  │ $ rm a
  │ $ rm b
  1  Allow
  2  No␛[2J
";
    assert_eq!(renderer.question(&question), expected);
    let answered = renderer.answered(&question, &Outcome::Selected("y".into()), "--approve allow");
    assert!(answered.ends_with("  Allow (--approve allow)\n"), "{answered}");
}

#[test]
fn an_update_behind_a_prompt_starts_a_line_of_its_own() {
    let mut renderer = plain();
    assert_eq!(renderer.prompt("> "), "> ");
    assert_eq!(shown(&mut renderer, &[card(&json!({"title": "t"}))]), "\n● t\n");
    assert_eq!(renderer.prompt("> "), "> ");
    renderer.line_was_entered();
    assert_eq!(shown(&mut renderer, &[message("hi")]), "hi");
}

#[test]
fn a_failure_says_kind_and_what_to_do() {
    let error = RpcError {
        code: -32603,
        message: "the host\x1b ended".into(),
        data: json!({"failure": {"kind": "terminalUnknown", "source": "transport", "retryable": false,
            "outcome": "unknown", "recovery": "Look at the files, then prompt again."}}),
    };
    let expected = "\
the turn failed: the host␛ ended (code -32603)
  kind: terminalUnknown, source transport, outcome unknown
  retryable: no
  what to do: Look at the files, then prompt again.
";
    assert_eq!(failure("the turn failed", &error), expected);
}

#[test]
fn only_so_many_cards_are_remembered() {
    let mut renderer = plain();
    for n in 0..=CARDS_MAX {
        let mut one = card(&json!({"title": "t"}));
        one["toolCallId"] = format!("t{n}").into();
        shown(&mut renderer, &[one]);
    }
    assert_eq!(renderer.cards.len(), CARDS_MAX);
    assert!(renderer.cards.iter().all(|card| card.id != "t0"));
}
