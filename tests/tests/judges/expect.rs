//! What each case has to look like to every judge: reports have the same members in all languages.

use serde_json::{Value, json};
use tests::judge::Judge;

/// The verdict about one report.
pub(crate) type Verdict = Result<(), String>;

/// One case, played by every judge.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) expect: fn(&Judge, &Value) -> Verdict,
}

macro_rules! cases {
    ($($name:literal => $expect:expr,)*) => {
        /// Every case.
        pub(crate) const CASES: &[Case] = &[$(Case { name: $name, expect: $expect },)*];
    };
}

cases! {
    "start" => start,
    "stream" => stream,
    "approval" => |judge, report| approval(judge, report, "completed"),
    "approval_refused" => |judge, report| approval(judge, report, "rejected"),
    "staged_approval" => staged_approval,
    "user_input" => user_input,
    "gap" => gap,
    "resume" => resume,
    "resume_pending" => resume_pending,
    "eof" => eof,
    "hang" => hang,
    "death_1" => |judge, report| death(judge, report, 1),
    "death_2" => |judge, report| death(judge, report, 2),
    "death_3" => |judge, report| death(judge, report, 3),
    "death_4" => |judge, report| death(judge, report, 4),
    "death_5" => |judge, report| death(judge, report, 5),
    "death_at_start_3" => |judge, report| death_at_start(judge, report, 3),
    "death_at_start_4" => |judge, report| death_at_start(judge, report, 4),
}

fn same(what: &str, seen: &Value, expected: &Value) -> Verdict {
    match seen == expected {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected}")),
    }
}

/// The host ended by itself with code 0: under `--strict` that says that the judge broke no rule.
fn clean(report: &Value) -> Verdict {
    // Whether it could still tell its last words is up to the judge, who may have stopped to read.
    same("exit", &report["exit"]["kind"], &json!("cleanShutdown"))
}

fn completed(report: &Value) -> Verdict {
    same("terminal", &report["outcome"]["terminal"], &json!("completed"))?;
    same("outcome", &report["outcome"]["kind"], &json!("completed"))?;
    clean(report)
}

/// Kind and last status of every item, in the order of the fold.
fn outline(report: &Value) -> Value {
    let items = report["items"].as_array().into_iter().flatten();
    items.map(|item| json!([item["kind"], item["status"]])).collect()
}

fn start(judge: &Judge, report: &Value) -> Verdict {
    same("version", &report["server"]["version"], &json!(judge.profile))?;
    same("durability", &report["durability"], &json!("durable"))?;
    same("status", &report["session"]["status"], &json!("idle"))?;
    same("turnCount", &report["session"]["turnCount"], &json!(0))?;
    clean(report)
}

fn stream(_: &Judge, report: &Value) -> Verdict {
    let done = "completed";
    let expected = json!([["userMessage", done], ["reasoning", done], ["agentMessage", done]]);
    same("items", &outline(report), &expected)?;
    // What was streamed is what the item ends with.
    let (deltas, items) = (&report["deltas"], &report["items"]);
    same("text", &deltas["text"], &items[2]["text"])?;
    let parts: Value = [&deltas["summary.0"], &deltas["summary.1"]].into_iter().cloned().collect();
    same("summary", &parts, &items[1]["summary"])?;
    completed(report)
}

fn tool_turn(status: &str) -> Value {
    let done = "completed";
    json!([
        ["userMessage", done],
        ["reasoning", done],
        ["toolCall", status],
        ["agentMessage", done],
    ])
}

fn decided_once(report: &Value) -> Verdict {
    same("failures", &report["failures"], &json!([]))?;
    same("pending", &report["pending"], &json!(0))?;
    same("resolved", &report["resolved"], &json!(1))
}

fn approval(_: &Judge, report: &Value, status: &str) -> Verdict {
    same("stages", &stages(report), &json!([0]))?;
    let offered = json!(["allow_once", "allow_session", "abort"]);
    same("offered", &report["asked"][0]["offered"], &offered)?;
    same("items", &outline(report), &tool_turn(status))?;
    decided_once(report)?;
    completed(report)
}

fn stages(report: &Value) -> Value {
    report["asked"].as_array().into_iter().flatten().map(|asked| asked["stage"].clone()).collect()
}

/// `make a; pwd; make b`: `pwd` is harmless and not asked (APR-12).
fn staged_approval(_: &Judge, report: &Value) -> Verdict {
    same("stages", &stages(report), &json!([0, 2]))?;
    same("items", &outline(report), &tool_turn("completed"))?;
    decided_once(report)?;
    completed(report)
}

fn user_input(_: &Judge, report: &Value) -> Verdict {
    same("ack", &report["ack"]["status"], &json!("accepted"))?;
    same("settled", &report["settled"], &json!(["answered"]))?;
    same("pending", &report["pending"], &json!(0))?;
    same("items", &outline(report), &tool_turn("completed"))?;
    completed(report)
}

/// Three messages were left out of the stream; the judge has them from pages.
fn gap(_: &Judge, report: &Value) -> Verdict {
    same("failures", &report["failures"], &json!([]))?;
    let items = report["items"].as_array().into_iter().flatten();
    let texts = items.filter_map(|item| item["text"].as_str());
    let filled = texts.filter(|text| text.starts_with("Message ")).count();
    same("filled", &json!(filled), &json!(3))?;
    completed(report)
}

fn resume(_: &Judge, report: &Value) -> Verdict {
    same("same session", &report["same"], &json!(true))?;
    same("turnCount", &report["turnCount"], &json!(1))?;
    same("mode", &report["mode"], &json!("inline"))?;
    let kinds = json!(["userMessage", "reasoning", "agentMessage"]);
    same("before", &report["before"], &kinds)?;
    same("history", &report["kinds"], &kinds)?;
    completed(report)
}

/// The open approval is listed, asked once more, and its answer ends the turn.
fn resume_pending(judge: &Judge, report: &Value) -> Verdict {
    same("pending", &report["pending"], &json!(["approval"]))?;
    same("active turn", &report["activeTurn"], &json!(true))?;
    // The oldest package has no ear for the request.
    if judge.version != "1.3.1" {
        same("stages", &stages(report), &json!([0]))?;
    }
    completed(report)
}

/// The end of stdout is noticed while the host lives; then the end of stdin ends it.
fn eof(judge: &Judge, report: &Value) -> Verdict {
    same("error", &report["error"], &json!(lost(judge)))?;
    clean(report)
}

/// What a call fails with when the host is gone.
fn lost(judge: &Judge) -> &'static str {
    if judge.language == "python" { "ProtocolError" } else { "TransportEnded" }
}

/// A host that stays after the end of stdin is ended by a signal.
fn hang(_: &Judge, report: &Value) -> Verdict {
    same("terminal", &report["outcome"]["terminal"], &json!("completed"))?;
    same("kind", &report["exit"]["kind"], &json!("crash"))?;
    same("signal", &report["exit"]["exit_signal"], &json!("SIGTERM"))
}

/// The published meaning of an exit code (PRC, SDK-5).
fn row(code: u8) -> Value {
    let (kind, retry) = match code {
        1 => ("unhandledError", None),
        2 => ("usageError", Some("never")),
        3 => ("configError", Some("fix-config")),
        4 => ("leaseUnavailable", Some("after-lease-release")),
        _ => ("sdkSurfaceUnavailable", Some("never")),
    };
    json!({
        "kind": kind, "exit_code": code, "exit_signal": null, "retry": retry,
        "stderr_tail": ["last words"],
    })
}

fn death(judge: &Judge, report: &Value, code: u8) -> Verdict {
    same("error", &report["error"], &json!(lost(judge)))?;
    same("exit", &report["exit"], &row(code))
}

fn death_at_start(judge: &Judge, report: &Value, code: u8) -> Verdict {
    match (judge.language, judge.version) {
        ("python", "1.3.1") => same("error", &report["error"], &json!("ProtocolError")),
        ("python", _) => {
            same("error", &report["error"], &json!("MuseHostStartError"))?;
            same("exit", &report["exit"], &row(code))
        }
        _ => {
            let text = "transport ended before the server answered";
            same("error", &report["error"], &json!(text))
        }
    }
}
