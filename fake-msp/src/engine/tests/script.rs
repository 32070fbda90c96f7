use serde_json::{Value, json};

use super::super::script::{EmittedRef, EntityRef, ProcessFault};
use super::super::{AskHandle, Input};
use super::{Output, Talk, outline, scripted};

/// The script's side of a [`Talk`].
impl Talk {
    /// The ask that arrived last.
    pub(super) fn asked(&self) -> AskHandle {
        let asked = self.effects.iter().rev().find_map(|effect| match effect {
            Output::Asked { handle, .. } => Some(*handle),
            _ => None,
        });
        asked.expect("something was asked")
    }

    pub(super) fn emit(
        &mut self,
        method: &str,
        sets: &[(&str, Value)],
        of: Option<&EmittedRef>,
    ) -> EmittedRef {
        let of = of.and_then(|of| of.entity.as_ref());
        let emitted = self.host.emit(method, sets, of).unwrap_or_else(|e| panic!("{method}: {e}"));
        self.drain();
        emitted
    }

    /// The rule that forbids an act.
    pub(super) fn forbidden(
        &mut self,
        method: &str,
        sets: &[(&str, Value)],
        of: Option<&EmittedRef>,
    ) -> &'static str {
        let frames = self.frames.len();
        let of = of.and_then(|of| of.entity.as_ref());
        let rule = self.host.emit(method, sets, of).expect_err(method).rule;
        self.drain();
        assert_eq!(self.frames.len(), frames, "an illegal act sends nothing");
        rule
    }

    /// A scripted session with a running turn.
    pub(super) fn running(version: &str) -> (Self, String, EmittedRef) {
        let mut talk = Self::ready_with(version, scripted());
        let session = talk.session();
        let input = json!([{ "type": "text", "text": "go" }]);
        talk.act("turn/start", json!({ "sessionId": session, "input": input }));
        let ask = talk.asked();
        talk.host.answer_ok(ask, &[]).unwrap();
        let turn = talk.emit("turn/started", &[], None);
        (talk, session, turn)
    }
}

#[test]
fn turns_are_asked_and_other_commands_are_answered() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    let input = json!([{ "type": "text", "text": "go" }]);

    let answer = talk.act("turn/start", json!({ "sessionId": session, "input": input }));
    assert_eq!(answer, Value::Null);
    let result = talk.host.answer_ok(talk.asked(), &[("disposition", json!("queued"))]).unwrap();
    talk.drain();

    assert_eq!(result["disposition"], "queued");
    assert_eq!(result["turnId"], result["commandId"]);
    assert_eq!(talk.frames.last().unwrap()["result"], result);
    let error = talk.host.answer_ok(talk.asked(), &[]).unwrap_err();
    assert_eq!(error.rule, "ENV-1", "answered once");
}

#[test]
fn a_replay_of_an_unanswered_command_waits_for_the_same_answer() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    let command = talk.command();
    let input = json!([{ "type": "text", "text": "go" }]);
    let params = json!({ "sessionId": session, "input": input, "commandId": command });
    talk.request("turn/start", params.clone());
    talk.request("turn/start", params);
    assert_eq!(talk.effects.len(), 1);

    talk.host.answer_ok(talk.asked(), &[]).unwrap();
    let frames = talk.drain();

    assert_eq!(outline(&frames), ["result", "result"]);
    assert_eq!(frames[0]["result"], frames[1]["result"]);
}

#[test]
fn the_model_fills_what_the_script_leaves_out() {
    let (mut talk, _, turn) = Talk::running("1.4.14");

    let message = talk.emit("item/completed", &[("item.kind", json!("userMessage"))], None);
    assert_eq!(message.params["item"]["text"], "go");
    let answer = talk.emit("item/started", &[], None);
    talk.emit("item/delta", &[("delta", json!("He"))], None);
    talk.emit("item/delta", &[("delta", json!("llo"))], Some(&answer));
    let done = talk.emit("item/completed", &[], Some(&answer));
    assert_eq!(done.params["item"]["text"], "Hello", "ITM-9");
    assert_eq!(done.params["item"]["revision"], 2);
    let end = talk.emit("turn/completed", &[], None);

    assert_eq!(end.params["turnId"], turn.params["turnId"]);
    assert_eq!(done.entity.as_ref().map(EntityRef::id), done.params["item"]["itemId"].as_str());
    assert!(end.view_cursor.is_some());
}

#[test]
fn an_event_may_come_before_the_acknowledgement() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    let input = json!([{ "type": "text", "text": "go" }]);
    talk.act("turn/start", json!({ "sessionId": session, "input": input }));

    let started = talk.emit("turn/started", &[], None);
    let result = talk.host.answer_ok(talk.asked(), &[]).unwrap();

    assert_eq!(started.params["turnId"], result["turnId"]);
}

#[test]
fn three_stages_with_a_stale_answer_as_in_the_worked_example() {
    let (mut talk, session, _) = Talk::running("1.2.1");
    let tool = talk.emit(
        "item/started",
        &[("item.kind", json!("toolCall")), ("item.tool", json!("bash"))],
        None,
    );
    let approval = talk.host.mint("approval/requested");
    let stages = json!([
        { "resolution": "unresolved", "argv": ["echo", "one"] },
        { "resolution": "knownSafe", "argv": ["ls", "."] },
        { "resolution": "unresolved", "argv": ["echo", "two"] },
    ]);
    let asked = talk.emit(
        "approval/requested",
        &[
            ("approvalId", json!(approval)),
            ("itemId", tool.params["item"]["itemId"].clone()),
            ("subject.kind", json!("shell")),
            ("subject.command", json!("echo one > a; ls .; echo two > b")),
            ("subject.stages", stages),
            ("currentRequirementId", json!({ "approvalId": approval, "sourceIndex": 0 })),
        ],
        None,
    );
    let stage = &asked.params["subject"]["stages"][2];
    assert_eq!(stage["requirementId"], json!({ "approvalId": approval, "sourceIndex": 2 }));
    assert_eq!((&stage["position"], &stage["totalStages"]), (&json!(3), &json!(3)));
    assert_eq!(talk.last("approval/request")["params"], asked.params);

    // Somebody else satisfied stage 0.
    talk.decide(&session, "allow_once");
    talk.host.answer_error(talk.asked(), -32053, &[]).unwrap();
    let refused = talk.drain();
    let data = &refused[0]["error"]["data"];
    assert_eq!(data["kind"], "approvalRequirementStale");
    assert_eq!(data["currentRequirementId"]["sourceIndex"], 2);
    let update = talk.emit("approval/updated", &[], Some(&asked));
    assert_eq!(update.params["currentRequirementId"]["sourceIndex"], 2);
    assert_eq!(update.params["change"]["kind"], "stageResolved");

    talk.decide(&session, "allow_once");
    let ack = talk.host.answer_ok(talk.asked(), &[]).unwrap();
    assert_eq!(ack["terminal"], true);
    let resolved = talk.emit("approval/resolved", &[], Some(&asked));
    assert_eq!(resolved.params["decision"], "approved");
    assert_eq!(resolved.params["resolvedBy"], "user");
    assert_eq!(resolved.params["decidedByCommandId"], ack["commandId"]);
    talk.emit("item/completed", &[], Some(&tool));
    talk.emit("turn/completed", &[], None);
    assert!(talk.rules().is_empty(), "{:?}", talk.host.violations());

    // APR-13: the outcome of writing a rule may come after everything else.
    let late = [("change.kind", json!("policyPersistence"))];
    let late = talk.emit("approval/updated", &late, Some(&asked));
    assert_eq!(late.params["change"]["status"], "succeeded");
}

#[test]
fn a_reissue_moves_the_stage_without_an_update() {
    let (mut talk, session, _) = Talk::running("1.1.1");
    talk.emit("item/started", &[("item.kind", json!("toolCall"))], None);
    let stages = json!([{ "argv": ["a"] }, { "argv": ["b"] }]);
    let command = ("subject.command", json!("a; b"));
    let asked = talk.emit("approval/requested", &[command, ("subject.stages", stages)], None);

    let moved = [("currentRequirementId.sourceIndex", json!(1))];
    let again = talk.emit("approval/request", &moved, Some(&asked));

    assert_eq!(talk.of("approval/request").len(), 2);
    assert_eq!(again.params["viewCursor"], asked.params["viewCursor"]);
    let view = talk.host.sessions[&session].log.view();
    let (_, known) = view.pending_approvals().next().unwrap();
    assert_eq!(known.params["currentRequirementId"]["sourceIndex"], 1);
}

#[test]
fn a_lost_event_is_in_the_log_and_a_gap_may_name_it() {
    let (mut talk, session, _) = Talk::running("1.4.14");
    let item = |text: &str| [("item.text", json!(text))];
    let one = talk.emit("item/completed", &item("one "), None);
    let before = talk.frames.len();
    let two = talk.host.lose("item/completed", &item("two "), None).unwrap();
    talk.drain();
    assert_eq!(talk.frames.len(), before, "lost");
    let three = talk.emit("item/completed", &item("three "), None);

    let shown = talk.host.stored_event(&session, two.view_cursor.as_deref().unwrap()).unwrap();
    assert_eq!(shown, json!({ "method": "item/completed", "params": two.params }));
    let cursor = |emitted: &EmittedRef| json!(emitted.view_cursor);
    let backwards = [("after", cursor(&three)), ("next", cursor(&one))];
    assert_eq!(talk.forbidden("view/gap", &backwards, None), "CUR-9");
    let gap = talk.emit("view/gap", &[("after", cursor(&one)), ("next", cursor(&three))], None);
    assert_eq!(gap.params.as_object().unwrap().len(), 3);

    let page = json!({ "sessionId": session, "cursor": one.view_cursor, "limit": 10 });
    talk.request("view/page", page);
    let page = talk.host.answer_ok(talk.asked(), &[]).unwrap();
    assert_eq!(page["events"][0]["params"], two.params);
    assert_eq!(page["events"][1]["params"], three.params);
}

#[test]
fn acts_that_no_honest_host_could_do_name_their_rule() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    let item = talk.emit("item/started", &[("item.kind", json!("toolCall"))], None);
    let asked = talk.emit("approval/requested", &[], Some(&item));

    assert_eq!(talk.forbidden("turn/started", &[], None), "TRN-3");
    assert_eq!(talk.forbidden("turn/completed", &[], None), "HOST-11", "an item is open");
    assert_eq!(talk.forbidden("item/started", &[], Some(&item)), "HOST-11");
    let stale = [("item.revision", json!(1))];
    assert_eq!(talk.forbidden("item/updated", &stale, Some(&item)), "ITM-2");
    let open = [("item.status", json!("inProgress"))];
    assert_eq!(talk.forbidden("item/completed", &open, Some(&item)), "ITM-4");
    assert_eq!(talk.forbidden("item/delta", &[("itemId", json!("x"))], None), "ITM-10");
    let own = [("viewCursor", json!("v:1"))];
    assert_eq!(talk.forbidden("item/updated", &own, Some(&item)), "HOST-7");
    assert_eq!(talk.forbidden("made/up", &[], None), "HOST-18");

    talk.emit("approval/resolved", &[("decision", json!("abort"))], Some(&asked));
    assert_eq!(talk.forbidden("approval/resolved", &[], Some(&asked)), "HOST-12");
    assert_eq!(talk.forbidden("approval/updated", &[], Some(&asked)), "HOST-12");
    let lost = talk.host.lose("approval/resolved", &[("approvalId", json!("new"))], None);
    assert_eq!(lost.unwrap_err().rule, "HOST-10");

    talk.emit("item/completed", &[("item.status", json!("rejected"))], Some(&item));
    assert_eq!(talk.forbidden("item/completed", &[], Some(&item)), "HOST-11");
    assert_eq!(talk.forbidden("item/delta", &[], Some(&item)), "ITM-10");
    talk.emit("turn/completed", &[], None);
    assert_eq!(talk.forbidden("turn/completed", &[], None), "HOST-11");
    assert_eq!(talk.forbidden("turn/started", &[], None), "TRN-11");
    assert_eq!(talk.forbidden("item/started", &[], None), "TRN-12");
}

#[test]
fn a_lie_is_sent_although_it_is_false() {
    let (mut talk, _, _) = Talk::running("1.4.14");
    let item = talk.emit("item/completed", &[], None);

    let again = talk.host.emit_lie("item/completed", &[], item.entity.as_ref()).unwrap();
    talk.host.raw(&json!({ "method": "half a frame" }));
    talk.host.bytes(b"not json\r\n");
    talk.drain();

    assert_eq!(again.params["item"]["itemId"], item.params["item"]["itemId"]);
    assert_eq!(talk.of("item/completed").len(), 2);
    assert_eq!(talk.frames.last().unwrap()["method"], "half a frame");
    assert_eq!(talk.effects.last(), Some(&Output::Raw(b"not json\r\n".to_vec())));
}

#[test]
fn the_model_objects_to_a_false_ack_unless_it_is_a_lie() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    let session = talk.session();
    talk.act("turn/cancel", json!({ "sessionId": session, "turnId": "t" }));

    let error = talk.host.answer_ok(talk.asked(), &[]).unwrap_err();
    assert_eq!(error.rule, "TRN-5");
    let sets = [("turnId", json!("t"))];
    let result = talk.host.answer_lie(talk.asked(), &sets).unwrap();
    assert_eq!(result["status"], "accepted");
}

#[test]
fn a_failed_launch_ends_a_turn_that_never_started() {
    let (mut talk, session, turn) = Talk::running("1.4.14");
    let input = json!([{ "type": "text", "text": "two" }]);
    let params = json!({ "sessionId": session, "input": input, "ifBusy": "queue" });
    talk.act("turn/start", params);
    let queued = talk.host.answer_ok(talk.asked(), &[]).unwrap()["turnId"].clone();
    talk.emit("turn/completed", &[], Some(&turn));

    let dead = [("turnId", queued.clone()), ("terminal", json!("failed"))];
    assert_eq!(talk.forbidden("turn/completed", &dead, None), "TRN-9");
    let dead = [dead[0].clone(), dead[1].clone(), ("error.kind", json!("launchError"))];
    talk.emit("turn/completed", &dead, None);
    assert_eq!(talk.forbidden("turn/started", &[], None), "TRN-11");
}

#[test]
fn a_turn_is_taken_back_by_the_answer_and_then_told_once() {
    let (mut talk, session, _) = Talk::running("1.4.14");
    let input = json!([{ "type": "text", "text": "later" }]);
    let queue = json!({ "sessionId": session, "input": input, "ifBusy": "queue" });
    talk.act("turn/start", queue);
    let queued = talk.host.answer_ok(talk.asked(), &[]).unwrap()["turnId"].clone();
    talk.act("turn/unqueue", json!({ "sessionId": session, "turnId": queued }));
    talk.host.answer_ok(talk.asked(), &[]).unwrap();

    let told = talk.emit("turn/unqueued", &[], None);

    assert_eq!(told.params["turnId"], queued);
    let again = [("turnId", queued)];
    assert_eq!(talk.forbidden("turn/unqueued", &again, None), "TRN-6");
}

#[test]
fn process_faults_come_out_in_order() {
    let mut talk = Talk::ready_with("1.4.14", scripted());
    for fault in [
        ProcessFault::Stderr("bye".into()),
        ProcessFault::StallRead(true),
        ProcessFault::CloseStdin,
        ProcessFault::Eof,
        ProcessFault::Exit(4),
        ProcessFault::Kill,
    ] {
        talk.host.fault(fault);
    }
    talk.drain();
    assert_eq!(
        talk.effects,
        [
            Output::Stderr("bye".into()),
            Output::StallRead(true),
            Output::CloseStdin,
            Output::CloseStdout,
            Output::Exit { code: 4 },
        ],
        "nothing comes after the end"
    );
    assert!(talk.input(Input::Eof).is_empty());
}

#[test]
fn a_script_may_take_over_any_command_and_the_model_goes_on_from_its_answer() {
    let asked = vec!["session/start".to_owned()];
    let options = super::super::Options { asked, ..scripted() };
    let mut talk = Talk::ready_with("1.4.14", options);
    let session = "01900000-0000-7000-8000-0000000000aa";
    let params = json!({ "sessionId": session, "workspaceRoot": "/w" });
    assert_eq!(talk.act("session/start", params), Value::Null, "the script answers");

    let result = talk.host.answer_ok(talk.asked(), &[("session.modelId", json!("odd"))]).unwrap();
    talk.drain();

    assert_eq!(result["session"]["sessionId"], session);
    assert_eq!(result["session"]["modelId"], "odd");
    let read = talk.act("session/read", json!({ "sessionId": session }));
    assert_eq!(read["result"]["session"]["sessionId"], session, "the session is there");
}
