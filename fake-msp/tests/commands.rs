//! The commands besides `serve`, as the processes that clients start (FIX-2).

#![allow(clippy::unwrap_used, reason = "a panic is the outcome of a test")]

mod process;

use std::path::PathBuf;

use process::{Live, run};
use serde_json::Value;

const SESSION: &str = "0f0e0d0c-0b0a-4908-8706-050403020100";

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("fake-msp-{}-{name}", std::process::id()))
}

fn exec(more: &[&str], stdin: &str) -> process::Done {
    let args: Vec<&str> =
        ["exec", "--json", "--session-id", SESSION].iter().chain(more).copied().collect();
    run(&args, stdin.as_bytes())
}

fn types(done: &process::Done) -> Vec<String> {
    done.frames().iter().map(|f| f["payload_type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn exec_prints_events_and_ends_by_how_the_run_ended() {
    let done = exec(&["--model", "m", "--reasoning-effort", "high", "hello"], "");
    assert_eq!(done.code(), Some(0), "{}", done.stderr);
    assert_eq!(types(&done).last().unwrap(), "run.terminal.completed");
    assert!(done.frames().iter().all(|frame| frame["stream"]["id"] == SESSION));
    assert!(done.stderr.starts_with("muse: "), "the preamble is no event");

    let from_stdin = exec(&["--model", "m", "--reasoning-effort", "high"], "hello");
    assert_eq!(from_stdin.stdout, done.stdout);
    let echo = run(&["exec", "--provider", "echo", "a  b"], b"");
    assert_eq!(echo.stdout, "a  b\n");

    let failed = exec(&["fail authRequired"], "");
    assert_eq!(failed.code(), Some(1));
    assert_eq!(types(&failed).last().unwrap(), "run.terminal.failed");
    let allowed = exec(&["--yolo", "run ls"], "");
    assert!(types(&allowed).contains(&"tool.result".into()));
    let denied = exec(&["--disable-write", "--disable-shell", "run ls"], "");
    assert_eq!(denied.code(), Some(0));
    assert!(types(&denied).contains(&"task.lifecycle.failed".into()));
}

#[test]
fn exec_waits_for_what_it_cannot_ask_until_it_is_killed() {
    for (args, last) in [
        (&["exec", "--json", "run ls"][..], "approval_wait.effect.started"),
        (&["exec", "--json", "--fault", "exec-stall", "hi"], "task.lifecycle.proposed"),
        (&["exec", "--json", "wait"], "run.lifecycle.started"),
    ] {
        let mut live = Live::start(args);
        // The newline of the last event comes at once, not with the next event.
        live.until(|event| event["payload_type"] == last);
        assert!(live.child.try_wait().unwrap().is_none());
        live.kill();
    }
}

#[test]
fn exec_levers_break_the_stream() {
    let noisy = exec(&["--fault", "exec-noise", "hi"], "");
    assert_eq!(noisy.code(), Some(0));
    assert!(noisy.stdout.lines().any(|line| serde_json::from_str::<Value>(line).is_err()));
    let short = exec(&["--fault", "exit:exec:143", "hi"], "");
    assert_eq!(short.code(), Some(143));
    assert_eq!(types(&short).last().unwrap(), "run.lifecycle.started");
    let mut cut = process::program(&["exec", "--json", "--fault", "exec-cut", "hi"]);
    let bytes = cut.output().unwrap().stdout;
    assert_eq!(bytes.last(), Some(&b'}'));
}

#[test]
fn export_writes_a_document_or_fails_as_asked() {
    let file = scratch("export.json");
    let path = file.to_str().unwrap();
    let export = |fault: &str| {
        let done = run(&["export", "--session", SESSION, "--out", path, "--fault", fault], b"");
        let text = std::fs::read_to_string(&file).ok();
        let _ = std::fs::remove_file(&file);
        (done.code(), text)
    };
    let version = |text: &Option<String>| {
        let value: Value = serde_json::from_str(text.as_deref().unwrap()).unwrap();
        value["export_schema_version"].clone()
    };
    let (code, sound) = export("stderr:hello");
    assert_eq!((code, version(&sound)), (Some(0), 1.into()));
    let (code, newer) = export("export-schema:2");
    assert_eq!((code, version(&newer)), (Some(0), 2.into()));
    let (_, large) = export("export-bytes:70000000");
    assert_eq!(large.unwrap().len(), 70_000_000);
    let (code, bad) = export("export-bad");
    assert_eq!(code, Some(0));
    assert!(serde_json::from_str::<Value>(&bad.unwrap()).is_err());
    assert_eq!(export("export-none"), (Some(0), None));
    assert_eq!(export("exit:export:1"), (Some(1), None));
    let elsewhere = run(&["export", "--session", "s", "--out", "/nonexistent/x"], b"");
    assert_eq!(elsewhere.code(), Some(3));
    let stdout = run(&["export", "--session", "s"], b"");
    assert_eq!(stdout.frames().len(), 1);
}

#[test]
fn an_export_over_a_store_is_the_history_of_the_session() {
    let store = scratch("store");
    let folder = store.to_str().unwrap();
    let mut live = Live::start(&["serve", "--store", folder]);
    live.prompt("hello there");
    live.until(|frame| frame["method"] == "turn/completed");
    // The host still holds the session; reading it takes no lease.
    let session = std::fs::read_dir(store.join("sessions/2026/01/01")).unwrap().next().unwrap();
    let session = session.unwrap().file_name().into_string().unwrap();
    let export = |id: &str| run(&["export", "--session", id, "--store", folder], b"");
    let document = export(&session).frames()[0].clone();
    let event = |at: usize| document["events"][at]["envelope"]["payload"]["event"].clone();
    assert_eq!(
        (&event(0)["kind"], &event(0)["prompt"]),
        (&"started".into(), &"hello there".into())
    );
    let last = document["events"].as_array().unwrap().len() - 1;
    assert_eq!(event(last)["kind"], "assistant_message_committed");
    assert!(event(last)["text"].as_str().unwrap().contains("hello there"));
    let unknown = export("0199aaaa-0000-7000-8000-00000000000a");
    assert_eq!((unknown.code(), unknown.stdout.as_str()), (Some(1), ""));
    assert!(unknown.stderr.contains("no such session"), "{}", unknown.stderr);
    assert_eq!(live.finish().code(), Some(0));
    std::fs::remove_dir_all(&store).unwrap();
}

#[test]
fn skills_login_and_logout_answer_or_fail_as_asked() {
    let list = |fault: &str| {
        run(&["skills", "list", "--json", "--workspace", "/w", "--fault", fault], b"")
    };
    let skills = list("stderr:x").frames()[0]["skills"].clone();
    let active = skills.as_array().unwrap().iter().filter(|row| row["activation"] == "on");
    assert_eq!(active.count(), 2);
    assert!(skills.as_array().unwrap().iter().all(|row| row["id"].is_string()));
    assert_eq!(list("skills-none").frames()[0]["skills"], Value::Array(Vec::new()));
    assert!(serde_json::from_str::<Value>(&list("skills-bad").stdout).is_err());
    assert_eq!(list("exit:skills:1").code(), Some(1));
    assert!(run(&["skills", "list"], b"").stdout.contains("summarize"));

    for command in ["login", "logout"] {
        let done = run(&[command], b"");
        assert_eq!(done.code(), Some(0));
        assert!(done.stdout.starts_with("Logged"));
        let failed = run(&[command, "--fault", &format!("exit:{command}:1")], b"");
        assert_eq!((failed.code(), failed.stdout.as_str()), (Some(1), ""));
    }
}

#[test]
fn probes_can_be_misled() {
    let version = run(&["--version", "--fault", "version:muse 0.2.1"], b"");
    assert_eq!(version.stdout, "muse 0.2.1\n");
    assert_eq!(run(&["--version", "--fault", "exit:version:9"], b"").code(), Some(9));
    let help = run(&["serve", "--help", "--fault", "no-flag:--disable-write"], b"").stdout;
    assert!(!help.contains("--disable-write") && help.contains("--disable-shell"), "{help}");
    let refused = run(&["serve", "--disable-write", "--fault", "no-flag:--disable-write"], b"");
    assert_eq!(refused.code(), Some(2));
    assert_eq!(run(&["serve", "--help", "--fault", "exit:serve-help:5"], b"").code(), Some(5));
    let mut slow = Live::start(&["--version", "--fault", "ignore:version"]);
    assert!(slow.child.try_wait().unwrap().is_none());
    slow.kill();
}

#[test]
fn flags_follow_the_era() {
    for (profile, trusts) in [("1.1.1", false), ("1.3.0", false), ("1.4.14", true)] {
        let help = run(&["serve", "--help", "--profile", profile], b"").stdout;
        assert!(help.contains("--disable-write"), "{profile}");
        assert_eq!(help.contains("--trust-workspace"), trusts, "{profile}");
    }
}

#[test]
fn help_of_every_command_names_its_flags() {
    for (args, wanted) in [
        (&["exec", "--help"][..], "--session-id <UUID>"),
        (&["export", "-h"], "--out <FILE>"),
        (&["skills", "--help"], "--workspace <DIR>"),
        (&["logout", "--help"], "muse logout"),
        (&["--help"], "FAKE_MSP_FAULT=crash:turn/start"),
        (&["--help"], "gap N"),
        (&["--help"], "legacy-profile"),
    ] {
        let done = run(args, b"");
        assert_eq!(done.code(), Some(0), "{args:?}");
        assert!(done.stdout.contains(wanted), "{args:?}: {}", done.stdout);
    }
}

#[test]
fn wrong_arguments_are_one_line_with_a_hint() {
    for (args, wanted) in [
        (&["exec", "--session-id", "x", "hi"][..], "a UUID is wanted"),
        (&["exec", "--session-id", SESSION, "--no-session-log", "hi"], "retained logging"),
        (&["exec", "--provider", "x", "hi"], "allowed are meta, echo"),
        (&["exec", "one", "two"], "put it in quotes"),
        (&["exec", "--modle", "m", "hi"], "did you mean --model?"),
        (&["exec", " "], "the prompt is empty"),
        (&["export"], "needs --session ID"),
        (&["export", "--session"], "--session needs a value"),
        (&["skills"], "fake-msp skills list"),
        (&["skills", "drop"], "fake-msp skills list"),
        (&["login", "now"], "`now`"),
        (&["--version", "--seed", "-1"], "whole number"),
        (&["lgoin"], "did you mean login?"),
        (&["serve", "--transcript", "x", "--fault", "lost:initialize"], "leave the levers"),
    ] {
        let done = run(args, b"");
        assert_eq!(done.code(), Some(2), "{args:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(wanted), "{args:?}: {}", done.stderr);
        assert_eq!(done.stdout, "", "{args:?}");
    }
}
