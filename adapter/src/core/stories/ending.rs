//! Cancellation, deadlines, failures, host ends, closing.

use super::*;

const STARTUP: Duration = Duration::from_secs(120);
const SUBMIT: Duration = Duration::from_secs(30);

#[test]
fn each_phase_has_a_budget_of_its_own() {
    // Initializing.
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "x");
    stage.resolve();
    stage.asked("initialize");
    stage.wait(STARTUP);
    let answer = stage.answer();
    assert_eq!(failure(&answer)["kind"], "deadlineExceeded");
    assert_eq!(failure(&answer)["phase"], "initializing");
    assert_eq!(failure(&answer)["execution"], "notSubmitted");
    assert_eq!(stage.closed.len(), 1);

    // Preparing: the time that initializing took is not taken from it.
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "x");
    stage.resolve();
    let initialize = stage.asked("initialize");
    stage.now = Tick(Duration::from_secs(29));
    stage.reply(&initialize, json!({}));
    stage.wait(STARTUP);
    assert_eq!(failure(&stage.answer())["phase"], "preparing");

    // Submitting.
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "x");
    stage.open_host(&session);
    stage.wait(SUBMIT);
    let answer = stage.answer();
    assert_eq!(failure(&answer)["phase"], "submitting");
    assert_eq!(failure(&answer)["execution"], "possiblySubmitted");
    assert_eq!(failure(&answer)["outcome"], "unknown");

    // Running: none.
    let (stage, _, _) = Stage::with_turn();
    assert_eq!(stage.agent.deadline(), None);
}

#[test]
fn the_deadline_stays_the_cause_when_the_host_ends_after_it() {
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "x");
    stage.open_host(&session);
    stage.wait(SUBMIT);
    assert_eq!(failure(&stage.answer())["kind"], "deadlineExceeded");
    let host = stage.spawned[0];
    stage.feed(Input::HostEof(host));
    stage.host_gone(HostEnd { code: Some(1), ..HostEnd::default() });
    stage.to_host.clear();
    stage.quiet();
}

#[test]
fn the_end_of_the_host_before_the_deadline_is_the_cause() {
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "x");
    stage.open_host(&session);
    stage.now = Tick(SUBMIT - Duration::from_millis(1));
    let host = stage.spawned[0];
    stage.feed(Input::HostEof(host));
    assert!(stage.to_editor.is_empty(), "the exit may still say why");
    stage.host_gone(HostEnd { code: Some(3), ..HostEnd::default() });
    let answer = stage.answer();
    assert_eq!(failure(&answer)["kind"], "transportError");
    let message = answer["error"]["message"].as_str().expect("text");
    assert!(message.contains("code 3"), "{message}");
}

#[test]
fn after_the_acknowledgement_the_outcome_is_unknown() {
    let (mut stage, _, _) = Stage::with_turn();
    let host = stage.spawned[0];
    stage.feed(Input::HostEof(host));
    // The exit never comes: the answer has a bound.
    stage.wait(super::super::turn::EXIT_GRACE);
    let answer = stage.answer();
    assert_eq!(failure(&answer)["kind"], "terminalUnknown");
    assert_eq!(failure(&answer)["outcome"], "unknown");
}

#[test]
fn exit_and_end_of_output_may_come_in_either_order() {
    for exit_first in [false, true] {
        let (mut stage, _, _) = Stage::with_turn();
        let host = stage.spawned[0];
        if !exit_first {
            stage.feed(Input::HostEof(host));
        }
        stage.host_gone(HostEnd { signal: Some(9), ..HostEnd::default() });
        let answer = stage.answer();
        assert_eq!(failure(&answer)["kind"], "terminalUnknown");
        assert!(answer["error"]["message"].as_str().expect("text").contains("signal 9"));
    }
}

#[test]
fn every_terminal_of_the_host_has_its_answer() {
    let end = |terminal: Value| {
        let (mut stage, session, _) = Stage::with_turn();
        stage.event("turn/completed", &session, terminal);
        stage.answer()
    };
    let cancelled = end(json!({ "turnId": TURN, "terminal": "cancelled" }));
    assert_eq!(cancelled["result"]["stopReason"], "cancelled");
    let error = |kind: &str| {
        json!({ "turnId": TURN, "terminal": "failed",
                "error": { "kind": kind, "message": "Bearer abc", "retryable": true } })
    };
    assert_eq!(end(error("stepLimit"))["result"]["stopReason"], "max_turn_requests");
    assert_eq!(end(error("authRequired"))["error"]["code"], -32000);
    let other = end(error("futureFailure"));
    assert_eq!(other["error"]["code"], -32603);
    assert_eq!(failure(&other)["kind"], "futureFailure");
    assert_eq!(failure(&other)["retryable"], true);
    assert_eq!(other["error"]["message"], "Bearer [redacted]");
}

#[test]
fn cancel_before_the_acknowledgement_closes_the_host_and_answers_at_once() {
    for submitted in [false, true] {
        let (mut stage, session) = Stage::with_session();
        stage.prompt(&session, "x");
        if submitted {
            stage.open_host(&session);
            stage.asked("turn/start");
        } else {
            stage.resolve();
            stage.asked("initialize");
        }
        stage.cancel(&session);
        assert_eq!(stage.answer()["result"]["stopReason"], "cancelled");
        assert_eq!(stage.closed.len(), 1);
        stage.cancel(&session);
        stage.quiet();
    }
}

#[test]
fn cancel_while_running_asks_the_host_once_and_waits_for_its_terminal() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.cancel(&session);
    let cancel = stage.asked("turn/cancel");
    assert_eq!(cancel["params"]["turnId"], TURN);
    stage.cancel(&session);
    stage.reply(&cancel, json!({ "status": "accepted", "turnId": TURN }));
    stage.event(
        "item/started",
        &session,
        json!({ "item": { "itemId": "i",
        "kind": "agentMessage", "turnId": TURN, "revision": 1, "text": "late" } }),
    );
    stage.quiet();
    // CAN-4: cancelled, although the host finished.
    stage.event("turn/completed", &session, json!({ "turnId": TURN, "terminal": "completed" }));
    assert_eq!(stage.answer()["result"]["stopReason"], "cancelled");
    assert_eq!(stage.closed.len(), 1, "not used again (CAN-9)");
    // The next prompt waits for the old host and starts a new one.
    stage.prompt(&session, "next");
    stage.resolve();
    stage.quiet();
    stage.host_gone(HostEnd::default());
    stage.asked("initialize");
    assert_eq!(stage.spawned.len(), 2);
}

#[test]
fn a_host_that_ignores_or_refuses_the_cancel_is_closed() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.cancel(&session);
    stage.asked("turn/cancel");
    stage.wait(Duration::from_secs(5));
    assert_eq!(stage.answer()["result"]["stopReason"], "cancelled");
    assert_eq!(stage.closed.len(), 1);

    let (mut stage, session, _) = Stage::with_turn();
    stage.cancel(&session);
    let cancel = stage.asked("turn/cancel");
    stage.refuse(&cancel, -32030, "commandRejected");
    assert_eq!(stage.answer()["result"]["stopReason"], "cancelled");
    assert_eq!(stage.closed.len(), 1);
}

#[test]
fn a_cancel_does_not_hide_a_failure_that_came_before_it() {
    let (mut stage, session, _) = Stage::with_turn();
    let host = stage.spawned[0];
    stage.feed(Input::HostEof(host));
    stage.cancel(&session);
    stage.host_gone(HostEnd::default());
    assert_eq!(failure(&stage.answer())["kind"], "terminalUnknown");
    // And the other way round.
    let (mut stage, session, _) = Stage::with_turn();
    stage.cancel(&session);
    stage.to_host.clear();
    stage.feed(Input::HostEof(stage.spawned[0]));
    assert_eq!(stage.answer()["result"]["stopReason"], "cancelled");
}

#[test]
fn a_cancelled_question_is_never_decided() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.event(
        "approval/requested",
        &session,
        json!({
        "approvalId": "a", "turnId": TURN, "toolName": "bash", "rawArgs": "{}",
        "currentRequirementId": { "approvalId": "a", "sourceIndex": 0 },
        "availableChoices": [
            { "choiceId": "yes", "label": "Allow", "decision": "approved", "scope": "once" }] }),
    );
    let question = stage.to_editor.pop_front().expect("a question");
    assert_eq!(stage.agent.open_questions(), 1);
    stage.cancel(&session);
    stage.asked("turn/cancel");
    stage.editor(&json!({ "jsonrpc": "2.0", "id": question["id"],
        "result": { "outcome": { "outcome": "selected", "optionId": "yes" } } }));
    stage.quiet();
}

#[test]
fn a_question_that_is_never_answered_takes_no_room_after_its_turn() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.event(
        "approval/requested",
        &session,
        json!({
        "approvalId": "a", "turnId": TURN, "toolName": "bash", "rawArgs": "{}",
        "currentRequirementId": { "approvalId": "a", "sourceIndex": 0 },
        "availableChoices": [
            { "choiceId": "yes", "label": "Allow", "decision": "approved", "scope": "once" }] }),
    );
    assert_eq!(stage.agent.open_questions(), 1);
    stage.event("turn/completed", &session, json!({ "turnId": TURN, "terminal": "cancelled" }));
    assert_eq!(stage.agent.open_questions(), 0);
}

#[test]
fn close_cancels_waits_for_the_host_and_forgets_the_session() {
    let (mut stage, session, prompt) = Stage::with_turn();
    let close = stage.call("session/close", json!({ "sessionId": session }));
    stage.asked("turn/cancel");
    stage.call("session/close", json!({ "sessionId": session }));
    assert_eq!(stage.answer()["error"]["code"], -32600);
    stage.prompt(&session, "x");
    assert_eq!(stage.answer()["error"]["code"], -32600);
    stage.event("turn/completed", &session, json!({ "turnId": TURN, "terminal": "cancelled" }));
    assert_eq!(stage.answer()["id"], prompt);
    stage.quiet();
    stage.host_gone(HostEnd::default());
    let answer = stage.answer();
    assert_eq!((&answer["id"], &answer["result"]), (&json!(close), &json!({})));
    stage.prompt(&session, "x");
    assert_eq!(stage.answer()["error"]["code"], -32002);
}

/// The start is known to have failed only after the prompt was cancelled: nothing will ever exit, so
/// nothing is awaited, and the next prompt, a close and the end of the program go on (CAN-9, PO-41).
#[test]
fn a_start_that_fails_after_the_cancel_leaves_nothing_to_wait_for() {
    let failed_after_cancel = || {
        let (mut stage, session) = Stage::with_session();
        stage.prompt(&session, "x");
        stage.resolve();
        stage.asked("initialize");
        stage.cancel(&session);
        assert_eq!(stage.answer()["result"]["stopReason"], "cancelled");
        (stage, session)
    };
    let (mut stage, session) = failed_after_cancel();
    // The next prompt is already waiting for the end of that host.
    stage.prompt(&session, "next");
    stage.resolve();
    stage.feed(Input::SpawnFailed(stage.spawned[0]));
    stage.asked("initialize");
    assert_eq!(stage.spawned.len(), 2);

    let (mut stage, session) = failed_after_cancel();
    stage.call("session/close", json!({ "sessionId": session }));
    stage.feed(Input::SpawnFailed(stage.spawned[0]));
    assert_eq!(stage.answer()["result"], json!({}));

    let (mut stage, _) = failed_after_cancel();
    stage.feed(Input::EditorClosed);
    stage.feed(Input::SpawnFailed(stage.spawned[0]));
    assert!(stage.exited);
}

#[test]
fn a_session_without_a_host_closes_at_once() {
    let (mut stage, session) = Stage::with_session();
    stage.call("session/close", json!({ "sessionId": session }));
    assert_eq!(stage.answer()["result"], json!({}));
}

#[test]
fn the_end_of_the_editor_ends_everything_and_then_the_program() {
    let (mut stage, _, prompt) = Stage::with_turn();
    stage.feed(Input::EditorClosed);
    let answer = stage.answer();
    assert_eq!(
        (&answer["id"], &answer["result"]["stopReason"]),
        (&json!(prompt), &json!("cancelled"))
    );
    assert_eq!(stage.closed.len(), 1);
    assert!(!stage.exited, "the host is awaited");
    stage.host_gone(HostEnd::default());
    assert!(stage.exited);
    stage.exited = false;
    stage.feed(Input::Signal);
    assert!(!stage.exited, "once");
}

#[test]
fn an_idle_host_is_closed_after_a_minute() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.complete(&session);
    stage.answer();
    stage.wait(Duration::from_secs(60));
    assert_eq!(stage.closed.len(), 1);
    stage.quiet();
}

#[test]
fn a_host_is_replaced_after_thirty_two_good_turns() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.complete(&session);
    stage.answer();
    for turn in 2..=32 {
        assert!(stage.closed.is_empty(), "turn {turn}");
        stage.prompt(&session, "again");
        stage.resolve();
        let mode = stage.asked("session/setApprovalMode");
        stage.reply(&mode, json!({ "status": "accepted" }));
        stage.acknowledge();
        stage.complete(&session);
        stage.answer();
    }
    assert_eq!(stage.closed.len(), 1);
}

#[test]
fn a_title_read_that_hangs_costs_a_second_and_the_host_but_not_the_turn() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.event("turn/completed", &session, json!({ "turnId": TURN, "terminal": "completed" }));
    stage.asked("session/read");
    stage.wait(Duration::from_secs(1));
    assert_eq!(stage.answer()["result"]["stopReason"], "end_turn");
    assert_eq!(stage.closed.len(), 1);
}

#[test]
fn an_open_card_gets_a_last_word_when_its_host_is_lost() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.event(
        "item/started",
        &session,
        json!({ "item": { "itemId": "i", "kind": "toolCall",
        "callId": "c", "tool": "bash", "turnId": TURN, "revision": 1, "status": "inProgress" } }),
    );
    assert_eq!(stage.update()["status"], "in_progress");
    stage.host_gone(HostEnd { code: Some(1), ..HostEnd::default() });
    let last = stage.update();
    assert_eq!((&last["toolCallId"], &last["status"]), (&json!("c"), &json!("failed")));
    assert_eq!(failure(&stage.answer())["kind"], "terminalUnknown");
}

#[test]
fn a_lost_view_fails_the_turn_without_a_second_submission() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.event("view/gap", &session, json!({ "after": "v:1", "next": "v:9" }));
    let page = stage.asked("view/page");
    stage.refuse(&page, -32040, "viewTruncated");
    assert_eq!(failure(&stage.answer())["kind"], "viewGapUnrecoverable");
    stage.quiet();
}

/// PO-19, STL-1: what a host that is not read may have said is not late.
#[test]
fn a_host_that_is_not_read_is_not_measured_and_then_has_the_whole_bound() {
    let (mut stage, session, _) = Stage::with_turn();
    let approval = json!({ "approvalId": "a", "turnId": TURN, "availableChoices": [
        { "choiceId": "yes", "label": "y", "decision": "approved", "scope": "once" }],
        "currentRequirementId": { "approvalId": "a", "sourceIndex": 0 } });
    stage.event("approval/requested", &session, approval);
    let question = stage.to_editor.pop_front().expect("a question");
    let selected = json!({ "outcome": { "outcome": "selected", "optionId": "yes" } });
    stage.editor(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": selected }));
    stage.asked("approval/decide");
    stage.event("view/gap", &session, json!({ "after": "v:1", "next": "v:9" }));
    let page = stage.asked("view/page");

    stage.feed(Input::EditorStalled(true));
    assert_eq!(stage.agent.deadline(), None);
    stage.now = stage.now.after(Duration::from_secs(600));
    stage.feed(Input::Timer);
    stage.quiet();
    stage.feed(Input::EditorStalled(false));
    assert_eq!(stage.agent.deadline(), Some(stage.now.after(Duration::from_secs(30))), "the page");

    stage.reply(&page, json!({ "events": [], "nextCursor": null }));
    stage.wait(Duration::from_secs(10));
    stage.asked("turn/cancel");
    assert_eq!(failure(&stage.answer())["kind"], "interactionStalled");
}

#[test]
fn a_wrong_acknowledgement_is_a_violation_of_the_protocol() {
    for wrong in [
        json!({ "turnId": TURN, "disposition": "steered" }),
        json!({ "turnId": TURN, "startedNewTurn": false }),
        json!({ "turnId": TURN, "commandId": "another" }),
        json!({ "turnId": TURN, "status": "maybe" }),
        json!({ "status": "accepted" }),
    ] {
        let (mut stage, session) = Stage::with_session();
        stage.prompt(&session, "x");
        stage.open_host(&session);
        let start = stage.asked("turn/start");
        stage.reply(&start, wrong.clone());
        assert_eq!(failure(&stage.answer())["kind"], "protocolViolation", "{wrong}");
    }
}

#[test]
fn settings_that_are_not_confirmed_start_no_turn() {
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "x");
    stage.resolve();
    let initialize = stage.asked("initialize");
    stage.reply(&initialize, json!({}));
    stage.asked("initialized");
    let resume = stage.asked("session/resume");
    stage.reply(&resume, row(&session));
    let mode = stage.asked("session/setApprovalMode");
    stage.reply(&mode, json!({ "status": "accepted" }));
    let model = stage.asked("session/setModel");
    stage.reply(&model, json!({ "status": "accepted" }));
    let read = stage.asked("session/read");
    let mut other = row(&session);
    other["session"]["modelId"] = json!("another");
    stage.reply(&read, other);
    let answer = stage.answer();
    assert_eq!(failure(&answer)["phase"], "preparing");
    assert_eq!(failure(&answer)["execution"], "notSubmitted");
    stage.quiet();
}

#[test]
fn a_host_that_speaks_another_envelope_is_refused_before_a_session_is_opened() {
    let (mut stage, session) = Stage::with_session();
    stage.prompt(&session, "x");
    stage.resolve();
    let initialize = stage.asked("initialize");
    stage.reply(&initialize, json!({ "schema": { "version": 2 } }));
    assert_eq!(failure(&stage.answer())["execution"], "notSubmitted");
    stage.quiet();
}

#[test]
fn a_turn_that_the_host_started_by_itself_refuses_the_next_prompt_until_it_ends() {
    let (mut stage, session, _) = Stage::with_turn();
    stage.complete(&session);
    assert_eq!(stage.answer()["result"]["stopReason"], "end_turn");
    stage.event("turn/started", &session, json!({ "turnId": "native" }));
    stage.prompt(&session, "x");
    assert_eq!(stage.answer()["error"]["code"], -32600);
    stage.event("turn/completed", &session, json!({ "turnId": "other", "terminal": "completed" }));
    stage.prompt(&session, "x");
    assert_eq!(stage.answer()["error"]["code"], -32600);
    stage.event("turn/completed", &session, json!({ "turnId": "native", "terminal": "completed" }));
    stage.prompt(&session, "x");
    stage.resolve();
    stage.asked("session/setApprovalMode");
}

#[test]
fn a_bug_in_one_session_is_answered_and_the_others_go_on() {
    let (mut stage, broken) = Stage::with_session_in("/panic");
    stage.prompt(&broken, "x");
    stage.resolve();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // The stage's row names another workspace, so the session is opened by hand.
    let initialize = stage.asked("initialize");
    stage.reply(&initialize, json!({}));
    stage.event("item/started", &broken, json!({ "item": { "itemId": "i", "kind": "toolCall" } }));
    std::panic::set_hook(hook);
    assert_eq!(stage.answer()["error"]["code"], -32603);
    assert_eq!(stage.closed.len(), 1);
    stage.host_gone(HostEnd::default());
    stage.to_host.clear();
    stage.prompt(&broken, "the session can be used again");
    stage.resolve();
    stage.asked("initialize");
}

/// BKG-3, TRN-13: what the editor was shown of a broken session gets its last word before the answer.
#[test]
fn a_card_that_was_open_when_a_bug_was_met_gets_its_last_word() {
    let (mut stage, session) = Stage::with_session_in("/panic");
    stage.prompt(&session, "x");
    let row = json!({ "session": { "sessionId": session, "modelId": "m", "providerId": "p" },
                      "viewCursor": "v:1" });
    stage.resolve();
    for method in ["initialize", "session/resume", "session/setApprovalMode", "session/setModel"] {
        let request = stage.asked(method);
        let mut result = row.clone();
        result["status"] = json!("accepted");
        stage.reply(&request, result);
        if method == "initialize" {
            stage.asked("initialized");
        }
    }
    let read = stage.asked("session/read");
    stage.reply(&read, row);
    stage.acknowledge();
    stage.update();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let item = json!({ "itemId": "i", "kind": "toolCall", "turnId": TURN, "revision": 1 });
    stage.event("item/started", &session, json!({ "item": item }));
    std::panic::set_hook(hook);
    assert_eq!(stage.update()["sessionUpdate"], "tool_call");
    assert_eq!(stage.update()["status"], "failed");
    assert_eq!(stage.answer()["error"]["code"], -32603);
}

/// SCN-FUZ-23: whatever ends a host, the class follows from where the prompt was.
#[test]
fn every_exit_code_and_every_signal_ends_the_prompt_once_and_is_told() {
    let codes = (0..=255).map(|code| HostEnd { code: Some(code), ..HostEnd::default() });
    let signals = (1..=64).map(|signal| HostEnd { signal: Some(signal), ..HostEnd::default() });
    for end in codes.chain(signals).chain([HostEnd::default()]) {
        for acknowledged in [false, true] {
            let (mut stage, session) = Stage::with_session();
            stage.prompt(&session, "x");
            stage.open_host(&session);
            if acknowledged {
                stage.acknowledge();
                stage.update();
            }
            stage.host_gone(end.clone());
            let answer = stage.answer();
            let (kind, phase) = match acknowledged {
                false => ("transportError", "submitting"),
                true => ("terminalUnknown", "running"),
            };
            assert_eq!(answer["error"]["code"], -32603, "{end:?}");
            assert_eq!(failure(&answer)["kind"], kind, "{end:?}");
            assert_eq!(failure(&answer)["phase"], phase, "{end:?}");
            assert_eq!(failure(&answer)["execution"], "possiblySubmitted", "{end:?}");
            assert_eq!(failure(&answer)["outcome"], "unknown", "{end:?}");
            let message = answer["error"]["message"].as_str().expect("text");
            let told = match (end.code, end.signal) {
                (Some(0) | None, None) => !message.contains("exited"),
                (Some(code), _) => message.contains(&format!("code {code}")),
                (None, Some(signal)) => message.contains(&format!("signal {signal} ")),
            };
            assert!(told, "{end:?}: {message}");
            stage.to_host.clear();
            stage.quiet();
        }
    }
}

/// SCN-FUZ-24: the clock is the shell's and only grows (tests/tidy.rs). Should it ever stand still or jump,
/// a deadline fires at its instant, once.
#[test]
fn a_deadline_fires_once_however_the_clock_gets_there() {
    let (mut stage, session) = Stage::with_session();
    stage.now = Tick(Duration::from_secs(100));
    stage.prompt(&session, "x");
    stage.open_host(&session);
    let deadline = stage.agent.deadline().expect("the submission has one");
    for early in [0, 99, 100, 129] {
        stage.now = Tick(Duration::from_secs(early));
        stage.feed(Input::Timer);
        assert_eq!(stage.agent.deadline(), Some(deadline), "nothing is due at {early} s");
    }
    assert!(stage.to_editor.is_empty());
    stage.now = Tick(Duration::from_secs(365 * 24 * 60 * 60));
    stage.feed(Input::Timer);
    assert_eq!(failure(&stage.answer())["kind"], "deadlineExceeded");
    stage.feed(Input::Timer);
    stage.to_host.clear();
    stage.quiet();
}
