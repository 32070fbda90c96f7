use serde_json::{Value, json};

use super::Talk;

/// A session with an open question; returns the prompt.
fn asked(prompt: &str) -> (Talk, String, Value) {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, prompt);
    while talk.of("userInput/requested").is_empty() {
        talk.tick();
    }
    let params = talk.last("userInput/requested")["params"].clone();
    (talk, session, params)
}

fn settle(talk: &mut Talk, prompt: &Value, verb: &str, extra: &Value) -> Value {
    let mut params =
        json!({ "sessionId": prompt["sessionId"], "userInputId": prompt["userInputId"] });
    for (name, value) in extra.as_object().unwrap() {
        params[name] = value.clone();
    }
    talk.act(&format!("userInput/{verb}"), params)
}

#[test]
fn an_unanswered_question_settles_itself_after_its_countdown() {
    let (mut talk, session, prompt) = asked("ask soon 70");
    let start = talk.now;
    assert_eq!(prompt["autoResolutionMs"], 70);
    talk.tick();
    assert_eq!(talk.now, start + 70);
    talk.settle();
    let settled = talk.last("userInput/settled")["params"].clone();
    assert_eq!(settled["outcome"], "timedOut");
    assert_eq!(settled["decidedByCommandId"], Value::Null);
    assert_eq!(talk.item(&session, "toolCall")["status"], "timedOut");
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
    let late = settle(&mut talk, &prompt, "cancel", &json!({}));
    assert_eq!(late["error"]["code"], -32056);
    assert_eq!(late["error"]["data"]["settlement"]["outcome"], "timedOut");
}

#[test]
fn an_engaged_client_has_all_the_time() {
    let (mut talk, session, prompt) = asked("ask soon 70");
    talk.send(&json!({ "jsonrpc": "2.0", "method": "userInput/engaged", "params": {
        "sessionId": session, "userInputId": prompt["userInputId"] } }));
    assert_eq!(talk.host.deadline(), None, "UIN-3");
    let answers = json!([{ "questionId": "colour", "selectedLabel": "Red" }]);
    let answer = settle(&mut talk, &prompt, "answer", &json!({ "answers": answers }));
    assert_eq!(answer["result"]["userInputId"], prompt["userInputId"]);
    talk.settle();
    assert_eq!(talk.item(&session, "toolCall")["visibleOutput"], "Red\n");
    assert_eq!(talk.host.violations(), []);
}

#[test]
fn a_cancelled_question_cancels_its_tool_and_not_the_turn() {
    let (mut talk, session, prompt) = asked("ask");
    settle(&mut talk, &prompt, "cancel", &json!({ "reason": "no dialogs here" }));
    talk.settle();
    let item = talk.item(&session, "toolCall");
    assert_eq!(
        (&item["status"], &item["failureReason"]),
        (&json!("cancelled"), &json!("no dialogs here"))
    );
    assert_eq!(talk.last("userInput/settled")["params"]["reason"], "no dialogs here");
    assert_eq!(talk.last("turn/completed")["params"]["terminal"], "completed");
}

#[test]
fn an_interrupt_keeps_confirmed_answers_and_stops_the_turn() {
    let (mut talk, session, prompt) = asked("ask two");
    let answers = json!([{ "questionId": "colour", "selectedLabel": "Red" }]);
    settle(&mut talk, &prompt, "interrupt", &json!({ "answers": answers }));
    let settled = talk.last("userInput/settled")["params"].clone();
    assert_eq!((&settled["outcome"], &settled["answers"]), (&json!("interrupted"), &answers));
    let item = talk.item(&session, "toolCall");
    assert_eq!((&item["status"], &item["visibleOutput"]), (&json!("cancelled"), &json!("Red")));
    let end = talk.last("turn/completed")["params"].clone();
    assert_eq!(
        (&end["terminal"], &end["reason"]),
        (&json!("cancelled"), &json!("interrupted by the client"))
    );
}

#[test]
fn wrong_answers_leave_the_question_open() {
    let (mut talk, _, prompt) = asked("ask two");
    let one = json!({ "questionId": "colour", "selectedLabel": "Red" });
    let parts = |labels: Value| json!({ "questionId": "parts", "selectedLabels": labels });
    let long = "x".repeat(501);
    let wrong = [
        json!([one]),
        json!([one, one]),
        json!([one, parts(json!([]))]),
        json!([one, parts(json!(["Door", "Door"]))]),
        json!([one, parts(json!(["Door", "Roof", "Walls"]))]),
        json!([one, parts(json!(["Moat"]))]),
        json!([one, { "questionId": "parts", "selectedLabel": "Door" }]),
        json!([one, { "questionId": "parts", "freeText": long }]),
        json!([one, { "questionId": "parts", "freeText": "x", "selectedLabels": ["Door"] }]),
        json!([one, { "questionId": "parts", "freeText": "x", "attachments": [] }]),
    ];
    for answers in wrong {
        let refused = settle(&mut talk, &prompt, "answer", &json!({ "answers": answers }));
        assert_eq!(refused["error"]["code"], -32057, "{answers}");
        assert_eq!(refused["error"]["data"]["userInputId"], prompt["userInputId"]);
    }
    let html = json!({ "clarification": { "format": "html", "content": "x" } });
    assert_eq!(settle(&mut talk, &prompt, "clarify", &html)["error"]["code"], -32057);
    let good = json!({ "answers": [parts(json!(["Door", "Walls"])), one] });
    assert!(settle(&mut talk, &prompt, "answer", &good).get("result").is_some(), "UIN-2");
}

#[test]
fn a_clarification_reaches_the_tool() {
    let (mut talk, session, prompt) = asked("ask many");
    let extra = json!({ "clarification": { "format": "text", "content": "which shed?" } });
    settle(&mut talk, &prompt, "clarify", &extra);
    talk.settle();
    assert_eq!(talk.last("userInput/settled")["params"]["outcome"], "clarified");
    assert_eq!(talk.item(&session, "toolCall")["visibleOutput"], "which shed?\n");
}
