use serde_json::{Value, json};

use super::super::Recovery;
use super::{Talk, outline};

impl Talk {
    /// The host dies and is started again; the client shakes hands anew.
    fn reborn(self, recovery: Recovery) -> Self {
        let mut next = Self { host: self.host.restart(recovery), frames: Vec::new(), ..self };
        next.initialize(json!({}));
        next.send(&json!({ "jsonrpc": "2.0", "method": "initialized" }));
        next
    }
}

#[test]
fn a_dead_hosts_turn_is_found_failed_without_an_error() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let turn = talk.prompt(&session, "run ls");
    talk.settle();

    let mut talk = talk.reborn(Recovery::Infer);
    let input = json!([{ "type": "text", "text": "x" }]);
    let early = talk.act("turn/start", json!({ "sessionId": session, "input": input }));
    assert_eq!(early["error"]["code"], -32024, "CMD-10");
    let answer = talk.act("session/resume", json!({ "sessionId": session }));

    let last = &answer["result"]["lastTurn"];
    assert_eq!((&last["turnId"], &last["terminal"]), (&json!(turn), &json!("failed")));
    assert_eq!(last["reason"], "crash_inferred");
    assert!(last.get("error").is_none());
    assert_eq!(answer["result"]["session"]["status"], "idle");
    assert_eq!(answer["result"]["pendingRequests"], json!([]));
}

#[test]
fn a_kept_approval_is_issued_again_and_request_ids_start_at_one() {
    let mut talk = Talk::ready();
    let session = talk.session();
    talk.prompt(&session, "run ls");
    talk.settle();
    let asked = talk.last("approval/request")["params"].clone();

    let mut talk = talk.reborn(Recovery::Keep);
    talk.act("session/resume", json!({ "sessionId": session }));

    let again = talk.last("approval/request");
    assert_eq!((&again["id"], &again["params"]), (&json!(1), &asked));
}

#[test]
fn the_ledger_survives_except_for_commands_of_the_hosts_lifetime() {
    let mut talk = Talk::ready();
    let session = talk.session();
    let model = json!({ "sessionId": session, "model": { "modelId": "m" },
        "commandId": talk.command() });
    let cancel = json!({ "sessionId": session, "commandId": talk.command() });
    let first = talk.request("session/setModel", model.clone());
    talk.request("turn/cancel", cancel.clone());

    let mut talk = talk.reborn(Recovery::Infer);

    let replay = talk.request("session/setModel", model);
    assert_eq!(replay["result"], first["result"]);
    let forgotten = talk.request("turn/cancel", cancel);
    assert_eq!(forgotten["error"]["code"], -32024);
}

#[test]
fn an_intake_that_never_settled_is_abandoned() {
    let mut talk = Talk::ready_with("1.4.14", super::scripted());
    let session = talk.session();
    let input = json!([{ "type": "text", "text": "x" }]);
    let start = json!({ "sessionId": session, "input": input, "commandId": talk.command() });
    assert_eq!(talk.request("turn/start", start.clone()), Value::Null);

    let mut talk = talk.reborn(Recovery::Infer);
    let replay = talk.request("turn/start", start);

    assert_eq!(replay["error"]["data"]["reason"], "abandoned");
    assert_eq!(outline(&talk.frames), ["result", "error"]);
}
