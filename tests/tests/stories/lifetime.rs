//! However the adapter ends, it ends with 0 and takes its host along (PROC-7, PO-41, WIRE-15).
//!
//! `finish` and `ended` check the exit code and that no process of the run is left, so these stories are
//! about the way there.

use tests::{Agent, Setup, setup};

/// Leaves a turn running that does not end by itself, and its prompt unanswered.
async fn during_a_turn(setup: &Setup) -> Agent {
    let mut agent = Agent::start(setup).await;
    let session = agent.new_session().await;
    agent.begin_prompt(&session, "wait").await;
    setup.host_frame("turn/started").await;
    agent
}

/// Leaves a host that waits for the next prompt.
async fn after_a_turn(setup: &Setup) -> Agent {
    let mut agent = Agent::start(setup).await;
    let session = agent.new_session().await;
    agent.prompt(&session, "hello").await;
    agent
}

#[tokio::test]
async fn an_editor_that_never_speaks_may_leave() {
    Agent::spawn(&setup!()).finish().await;
}

#[tokio::test]
async fn the_end_of_input_ends_an_idle_adapter() {
    Agent::start(&setup!()).await.finish().await;
    after_a_turn(&setup!()).await.finish().await;
}

#[tokio::test]
async fn the_end_of_input_ends_a_running_turn() {
    during_a_turn(&setup!()).await.finish().await;
}

#[tokio::test]
async fn the_end_of_input_ends_a_turn_that_was_not_acknowledged() {
    let setup = setup!().fault("ignore:turn/start");
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    agent.begin_prompt(&session, "hello").await;
    setup.host_frame("turn/start").await;

    agent.finish().await;
}

#[tokio::test]
async fn the_end_of_input_ends_a_pending_question() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;
    agent.begin_prompt(&session, "run ls").await;
    agent.permission().await;

    agent.finish().await;
}

/// HOST-2: a host that does not end by itself is ended, within the shutdown bound.
#[tokio::test]
async fn a_host_that_ignores_the_end_of_its_input_is_ended() {
    after_a_turn(&setup!().fault("hang-on-eof")).await.finish().await;
    during_a_turn(&setup!().fault("hang-on-eof")).await.finish().await;
}

/// CHD-4: a grandchild keeps the host's pipes open after the host has gone.
#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_is_ended() {
    after_a_turn(&setup!().fault("grandchild")).await.finish().await;
    during_a_turn(&setup!().fault("grandchild")).await.finish().await;
}

#[tokio::test]
async fn a_stubborn_host_with_a_grandchild_is_ended() {
    let setup = setup!().fault("hang-on-eof").fault("grandchild");
    during_a_turn(&setup).await.finish().await;
}

/// Control for the stories above: the grandchild really is there while the host lives.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_grandchild_lever_makes_a_grandchild() {
    let plain = after_a_turn(&setup!()).await;
    let with_grandchild = after_a_turn(&setup!().fault("grandchild")).await;

    assert!(with_grandchild.relatives().len() > plain.relatives().len());

    plain.finish().await;
    with_grandchild.finish().await;
}

#[cfg(unix)]
mod signals {
    use super::{after_a_turn, during_a_turn};
    use rustix::process::Signal;
    use tests::{Agent, setup};

    const ENDING: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];

    #[tokio::test]
    async fn a_signal_ends_an_idle_adapter() {
        for signal in ENDING {
            let setup = setup!();
            let agent = Agent::start(&setup).await;
            agent.signal(signal);
            agent.ended().await;

            let agent = after_a_turn(&setup).await;
            agent.signal(signal);
            agent.ended().await;
        }
    }

    #[tokio::test]
    async fn a_signal_ends_a_running_turn() {
        for signal in ENDING {
            let agent = during_a_turn(&setup!()).await;
            agent.signal(signal);
            agent.ended().await;
        }
    }

    /// An impatient user presses twice; the way out stays the same.
    #[tokio::test]
    async fn a_second_signal_does_not_leave_the_host_behind() {
        let agent = during_a_turn(&setup!().fault("hang-on-eof").fault("grandchild")).await;
        agent.signal(Signal::INT);
        agent.signal(Signal::INT);
        agent.ended().await;
    }
}

/// WIRE-14: an editor that closes its reading end is gone, whatever its writing end does.
#[tokio::test]
async fn an_editor_that_stops_reading_for_good_ends_the_adapter() {
    let setup = setup!();
    let mut agent = Agent::start(&setup).await;
    let session = agent.new_session().await;

    agent.close_output().await;
    agent.begin_prompt(&session, "hello").await;

    agent.ended().await;
}
