//! Corrections, as far as a scenario cannot tell of them.

use super::super::steering::ACK_BUDGET;
use super::*;

/// The times at which the editor is not read are the shell's to know; no story can place them exactly.
#[test]
fn the_bound_of_a_correction_begins_anew_when_the_host_is_read_again() {
    let mut stage = Stage::new();
    stage.call(
        "initialize",
        json!({ "protocolVersion": 1, "clientCapabilities": { "_meta": { "muse/steering": 1 } } }),
    );
    stage.answer();
    let session = stage.session_in("/w");
    stage.prompt(&session, "hello");
    stage.open_host(&session);
    stage.acknowledge();
    stage.to_editor.clear();
    stage.call(
        "_muse/steer",
        json!({ "sessionId": session, "expectedTurnId": TURN,
                "prompt": [{ "type": "text", "text": "no, the other one" }] }),
    );
    stage.asked("turn/steer");
    stage.feed(Input::EditorStalled(true));
    assert_eq!(stage.agent.deadline(), None, "nothing is late while the host is not read");
    stage.now = stage.now.after(ACK_BUDGET * 60);
    stage.feed(Input::Timer);
    stage.quiet();
    stage.feed(Input::EditorStalled(false));
    stage.wait(ACK_BUDGET);
    assert_eq!(failure(&stage.answer())["kind"], "steeringUnacknowledged");
    stage.update(); // the turn is unnamed
    assert_eq!(failure(&stage.answer())["kind"], "steeringUnacknowledged");
    assert_eq!(stage.closed.len(), 1);
}
