//! Modes where a scenario cannot see them: arguments of a host, guards of the machine, a change that must not
//! reach a running turn.

use serde_json::{Value, json};

use super::super::config::{Change, Selection};
use super::super::io::Facts;
use super::super::mode::{FLAGS, Mode};
use super::*;

/// A user without rights, and a Muse that has every flag.
fn plain() -> Facts {
    Facts { root: false, flags: Some(FLAGS.to_vec()) }
}

impl Stage {
    fn facts(&mut self, facts: Facts) {
        self.feed(Input::Facts(facts));
    }

    /// `session/set_mode`; the answer comes behind both updates, or is an error alone.
    fn set_mode(&mut self, session: &str, mode: &str) -> Value {
        self.call("session/set_mode", json!({ "sessionId": session, "modeId": mode }));
        self.gone_if_closed();
        let kinds: Vec<Value> = std::iter::from_fn(|| {
            let update = self.to_editor.front()?.get("method").is_some();
            update.then(|| self.update()["sessionUpdate"].clone())
        })
        .collect();
        let answer = self.answer();
        let expected: &[&str] = match answer.get("result") {
            Some(result) => {
                assert_eq!(*result, json!({}), "MODE-2");
                &["current_mode_update", "config_option_update"]
            }
            None => &[],
        };
        assert_eq!(kinds, expected, "CFG-7");
        answer
    }

    /// A host that was told to end ends.
    fn gone_if_closed(&mut self) {
        if self.closed.last() == self.spawned.last() && !self.closed.is_empty() {
            self.host_gone(HostEnd { code: Some(0), ..HostEnd::default() });
        }
    }

    /// A prompt from its admission to its good end, on a new host.
    fn one_turn(&mut self, session: &str) {
        self.prompt(session, "hello");
        self.open_host(session);
        self.acknowledge();
        self.complete(session);
        while self.to_editor.front().is_some_and(|line| line.get("method").is_some()) {
            self.update();
        }
        assert_eq!(self.answer()["result"]["stopReason"], "end_turn");
    }

    fn resolve_with(&mut self, flags: &[&'static str]) {
        let (effect, what) = self.effects.pop_front().expect("an effect");
        assert_eq!(what, Effect::Resolve);
        let resolved = Resolved { flags: flags.to_vec(), ..resolved() };
        self.feed(Input::Effect(effect, EffectResult::Resolve(Box::new(Ok(resolved)))));
    }
}

fn word(answer: &Value) -> &Value {
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    &answer["error"]["data"]["availability"]
}

/// SCN-CFG-01, MODE-6: read-only is an argument of the process, and of no other mode's.
#[test]
fn a_host_is_started_with_what_the_mode_forbids() {
    let none: &[&str] = &[];
    let read_only: &[&str] = &["--disable-write", "--disable-shell"];
    let (mut stage, session) = Stage::with_session();
    stage.facts(plain());
    stage.one_turn(&session);
    assert_eq!(stage.arguments, [none]);
    for (mode, flags) in [
        ("readOnly", read_only),
        ("bypassApprovals", none),
        ("readOnly", read_only),
        ("rejectApprovals", none),
        ("default", none),
    ] {
        stage.set_mode(&session, mode);
        assert_eq!(stage.closed.len(), stage.spawned.len(), "the old host is gone");
        stage.one_turn(&session);
        assert_eq!(*stage.arguments.last().expect("a host"), flags, "{mode}");
    }
    assert_eq!(stage.spawned.len(), 6);
    stage.quiet();
}

/// PO-25, MODE-5: the guard is asked when it decides, so it follows the machine.
#[test]
fn root_gets_no_bypass_neither_in_the_menu_nor_by_asking() {
    let (mut stage, session) = Stage::with_session();
    for (facts, free) in [
        (Facts::default(), false), // nobody has looked yet
        (plain(), true),
        (Facts { root: true, ..plain() }, false),
    ] {
        stage.facts(facts);
        while !stage.to_editor.is_empty() {
            assert_eq!(stage.update()["sessionUpdate"], "config_option_update", "CFG-10");
        }
        let answer = stage.set_mode(&session, "bypassApprovals");
        if free {
            assert_eq!(stage.set_mode(&session, "default")["result"], json!({}));
        } else {
            assert_eq!(word(&answer), "guard");
        }
        stage.call("session/new", json!({ "cwd": "/given", "mcpServers": [] }));
        let (effect, _) = stage.effects.pop_front().expect("an effect");
        stage.feed(Input::Effect(effect, EffectResult::Workspace(Ok("/w".into()))));
        let menu = stage.answer()["result"]["modes"]["availableModes"].to_string();
        assert_eq!(menu.contains("bypassApprovals"), free, "{menu}");
    }
    stage.quiet();
}

/// MODE-5: a guard that has closed since the mode was chosen refuses the prompt before anything starts, and
/// the way out is open.
#[test]
fn a_prompt_in_a_mode_that_is_guarded_by_now_is_refused() {
    let (mut stage, session) = Stage::with_session();
    stage.facts(plain());
    stage.update(); // bypass is in the menu now
    stage.set_mode(&session, "bypassApprovals");
    stage.facts(Facts { root: true, ..plain() });
    // What is chosen stays in the menu, so that the editor can show it: nothing has changed there.
    stage.quiet();
    stage.prompt(&session, "hello");
    assert_eq!(*word(&stage.answer()), "guard");
    assert!(stage.effects.is_empty(), "Muse was not looked for");
    assert_eq!(stage.set_mode(&session, "default")["result"], json!({}));
    stage.one_turn(&session);
}

/// SAFE-8, PO-47: known by then, a missing flag is refused when it is set.
#[test]
fn read_only_is_refused_by_a_muse_that_cannot() {
    let (mut stage, session) = Stage::with_session();
    stage.facts(Facts { flags: Some(vec!["--disable-write"]), ..plain() });
    assert_eq!(stage.update()["configOptions"][0]["options"].as_array().expect("rows").len(), 3);
    let answer = stage.set_mode(&session, "readOnly");
    assert_eq!(*word(&answer), "version");
    assert!(answer["error"]["message"].as_str().expect("text").contains("--disable-shell"));
    stage.quiet();
}

/// SAFE-8, PO-47: not known when it was set, it is refused before the turn; no host is started, and none is
/// started without the flag.
#[test]
fn a_prompt_in_read_only_is_refused_by_a_muse_that_cannot() {
    let (mut stage, session) = Stage::with_session();
    stage.facts(Facts { flags: None, ..plain() });
    stage.update(); // bypass is in the menu now
    assert_eq!(stage.set_mode(&session, "readOnly")["result"], json!({}));
    let prompt = stage.prompt(&session, "hello");
    stage.resolve_with(&["--disable-shell"]);
    let answer = stage.answer();
    assert_eq!(answer["id"], prompt);
    assert_eq!(*word(&answer), "version");
    assert!(stage.spawned.is_empty());
    // The session is usable, and another Muse is another answer.
    stage.prompt(&session, "hello");
    stage.resolve_with(FLAGS);
    assert_eq!(stage.arguments, [FLAGS]);
}

/// APR-34: what is chosen while a turn runs is for the next one. No request can do it (CFG-5); this is the
/// guard behind that one.
#[test]
fn a_turn_keeps_the_mode_that_it_began_with() {
    let (mut stage, session, _) = Stage::with_turn();
    let mut other = Selection::default();
    other.apply(Change::Mode(Mode::BypassApprovals));
    stage.agent.select(&session, other);
    stage.event(
        "approval/requested",
        &session,
        json!({ "approvalId": "a", "turnId": TURN, "toolName": "bash", "rawArgs": "{}",
                "currentRequirementId": { "approvalId": "a", "sourceIndex": 0 },
                "availableChoices": [{ "choiceId": "y", "label": "Y", "decision": "approved",
                                       "scope": "once" }] }),
    );
    let question = stage.to_editor.pop_front().expect("a question");
    assert_eq!(question["method"], "session/request_permission");
    stage.quiet();
}

/// HOST-9: a host that was started otherwise is not used again, whatever else is equal.
#[test]
fn a_host_of_another_mode_is_not_reused() {
    let (mut stage, session) = Stage::with_session();
    stage.facts(plain());
    stage.one_turn(&session);
    let mut other = Selection::default();
    other.apply(Change::Mode(Mode::ReadOnly));
    stage.agent.select(&session, other);
    stage.prompt(&session, "hello");
    stage.resolve();
    assert_eq!(stage.closed.len(), 1);
    stage.gone_if_closed();
    assert_eq!(*stage.arguments.last().expect("a host"), FLAGS);
}
