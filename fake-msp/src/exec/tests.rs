//! Runs of every kind, as a reader of the lines sees them.

use serde_json::Value;

use super::*;

fn lines(run: &Run) -> (Vec<String>, End) {
    let mut lines = Vec::new();
    let end = play(run, &mut |line| {
        lines.push(line.to_owned());
        true
    });
    (lines, end)
}

fn run(prompt: &str) -> Run {
    Run { session: "s".into(), prompt: prompt.into(), ..Run::default() }
}

fn events(run: &Run) -> (Vec<Value>, End) {
    let (lines, end) = lines(run);
    (lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect(), end)
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["payload_type"].as_str().unwrap()).collect()
}

#[test]
fn an_answer_is_streamed_and_ends_with_its_text() {
    let (events, end) = events(&run("hello there"));
    assert_eq!(end, End::Exit(0));
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["sequence"], index + 1, "contiguous");
        assert_eq!(event["stream"]["id"], "s");
        assert_eq!(event["schema_version"], 1);
    }
    let deltas = events.iter().filter(|event| event["payload_type"] == "run.output.delta");
    let text: String = deltas.map(|event| event["payload"]["text"].as_str().unwrap()).collect();
    assert_eq!(text, "You said: hello there");
    let last = events.last().unwrap();
    assert_eq!(
        (&last["payload_type"], &last["payload"]["text"]),
        (&"run.terminal.completed".into(), &text.into())
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    assert_eq!(lines(&run("hi")), lines(&run("hi")));
    assert_ne!(lines(&run("hi")), lines(&Run { seed: 1, ..run("hi") }));
}

#[test]
fn a_tool_waits_runs_or_is_refused() {
    let (waiting, end) = events(&run("run ls"));
    assert_eq!(end, End::Hang);
    let last = waiting.last().unwrap();
    assert_eq!(last["payload_type"], "approval_wait.effect.started");
    assert_eq!(last["payload"]["record"]["tool_name"], "bash");

    let (done, end) = events(&Run { tools: Tools::Allow, ..run("run ls") });
    assert_eq!(end, End::Exit(0));
    let result = done.iter().find(|event| event["payload_type"] == "tool.result").unwrap();
    assert_eq!(result["payload"]["correlation_facts"]["outcome"], "success");

    let (refused, end) = events(&Run { tools: Tools::Deny, ..run("tool 3") });
    assert_eq!(end, End::Exit(0));
    assert!(types(&refused).contains(&"task.lifecycle.failed"));
}

#[test]
fn failures_hangs_and_stalls_end_as_they_say() {
    let (events_of_fail, end) = events(&run("fail stepLimit"));
    assert_eq!(end, End::Exit(1));
    let reason = &events_of_fail.last().unwrap()["payload"]["reason"];
    assert_eq!(reason, "max model steps reached (50)");
    assert_eq!(events(&run("wait")).1, End::Hang);
    let (stalled, end) = events(&Run { stall: true, ..run("hi") });
    assert_eq!((end, types(&stalled).last()), (End::Hang, Some(&"task.lifecycle.proposed")));
    let (short, end) = events(&Run { cut_short: true, ..run("hi") });
    assert_eq!((end, types(&short).last()), (End::Exit(1), Some(&"run.lifecycle.started")));
}

#[test]
fn noise_is_mixed_in_and_the_run_goes_on() {
    let (lines, end) = lines(&Run { noise: true, ..run("hi") });
    assert_eq!(end, End::Exit(0));
    let parsed: Vec<_> = lines.iter().map(|line| serde_json::from_str::<Value>(line)).collect();
    assert_eq!(parsed.iter().filter(|line| line.is_err()).count(), 2, "text and a blank line");
    assert!(parsed.iter().flatten().any(|event| event["schema_version"] == 2));
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let mut left = 3;
    let end = play(&run("burst 1000000"), &mut |_| {
        left -= 1;
        left > 0
    });
    assert_eq!((end, left), (End::Exit(1), 0));
}
