//! `exec --json`: one prompt as a stream of events.
//!
//! Purpose: what the legacy face of Muse prints, one JSON envelope a line. Inputs: [`Run`]. Outputs:
//! lines into a sink, then [`End`]. Invariants: one contiguous `sequence`; ids and times come from
//! the seed and counters; nothing is ever executed. No I/O, no clock. It does not know `serve`, but
//! reads the same prompt words. Rules: EXEC-7..13; the envelope of the loopback notes, 8.3.

mod envelope;

#[cfg(test)]
mod tests;

use envelope::Stream;
use serde_json::json;

use crate::engine::words::{self, Word};

/// Whether tools may run without being asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tools {
    /// Ask first; nobody can answer here, so a tool waits for ever.
    #[default]
    Ask,
    /// Run.
    Allow,
    /// Refuse.
    Deny,
}

/// One call of `exec`.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Colours the ids.
    pub seed: u64,
    /// The session, as the client named it.
    pub session: String,
    /// The prompt; its words steer the run as they steer `serve`.
    pub prompt: String,
    /// Provider name, as it was given.
    pub provider: Option<String>,
    /// Model id, as it was given.
    pub model: Option<String>,
    /// What happens to tools.
    pub tools: Tools,
    /// Mix in lines that are no events of this schema.
    pub noise: bool,
    /// Propose a tool and say nothing more.
    pub stall: bool,
    /// Stop after the beginning: no terminal record.
    pub cut_short: bool,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this exit code: 0 completed, 1 failed.
    Exit(u8),
    /// Never: it waits for a signal.
    Hang,
}

/// Text deltas of one answer.
const WORD_JOIN: char = ' ';
/// Steps after which a model gives up, for `fail stepLimit`.
const STEPS_MAX: u32 = 50;

/// Plays a run. `sink` takes each line, without its newline, and answers whether to go on; a reader
/// that went away ends the run.
pub fn play(run: &Run, sink: &mut dyn FnMut(&str) -> bool) -> End {
    let mut stream = Stream::new(run, sink);
    match stream.begin(run).and_then(|()| body(run, &mut stream)) {
        Some(end) => end,
        // Nobody reads any more.
        None => End::Exit(1),
    }
}

fn body(run: &Run, stream: &mut Stream<'_>) -> Option<End> {
    if run.noise {
        stream.noise()?;
    }
    if run.stall {
        stream.task("proposed", json!({ "task_kind": "tool.bash" }))?;
        return Some(End::Hang);
    }
    if run.cut_short {
        return Some(End::Exit(1));
    }
    let answer = match words::read(&run.prompt) {
        Word::Wait => return Some(End::Hang),
        Word::Fail { kind } => return stream.failed(&reason(&kind)).map(|()| End::Exit(1)),
        Word::Run { command } | Word::Remember { command, .. } => {
            if !tool(run, stream, &command, 0)? {
                return Some(End::Hang);
            }
            format!("The fake host did not run: {command}")
        }
        Word::Tool { deltas } => {
            if !tool(run, stream, "fake-tool", deltas)? {
                return Some(End::Hang);
            }
            format!("The tool spoke {deltas} times.")
        }
        Word::Burst { deltas, bytes } => {
            let text = "b".repeat(bytes);
            for _ in 0..deltas {
                stream.delta(&text)?;
            }
            stream.completed("A burst is not repeated here.")?;
            return Some(End::Exit(0));
        }
        // Nothing can be asked, and there is no view that could have a hole.
        _ => match run.provider.as_deref() {
            Some("echo") => run.prompt.clone(),
            _ => format!("You said: {}", words::first_line(&run.prompt)),
        },
    };
    for piece in answer.split_inclusive(WORD_JOIN) {
        stream.delta(piece)?;
    }
    stream.completed(&answer)?;
    Some(End::Exit(0))
}

/// A tool call. False if it waits for an answer that cannot come.
fn tool(run: &Run, stream: &mut Stream<'_>, command: &str, updates: u64) -> Option<bool> {
    let call = "call_1";
    let operation = json!({ "operation": "tool:bash", "idempotency_key": format!("tool:{call}"),
        "policy_decision": match run.tools {
            Tools::Ask => "ask",
            Tools::Allow => "allow",
            Tools::Deny => "deny",
        } });
    stream.task("proposed", json!({ "task_kind": "tool.bash" }))?;
    stream.task("side_effect_intent", operation)?;
    match run.tools {
        Tools::Ask => {
            stream.approval_wait(call)?;
            return Some(false);
        }
        Tools::Deny => {
            stream.tool_result(call, "refused by the mode of this run", "denied")?;
            stream.task("failed", json!({ "reason": "denied" }))?;
        }
        Tools::Allow => {
            stream.task("started", json!({}))?;
            for number in 1..=updates {
                stream.task("status", json!({ "message": format!("line {number}") }))?;
            }
            let text = json!({ "command": command, "output": "not executed\n", "exit_code": 0 });
            stream.tool_result(call, &text.to_string(), "success")?;
            stream.task("completed", json!({}))?;
        }
    }
    Some(true)
}

fn reason(kind: &str) -> String {
    match kind {
        "authRequired" => "authentication required: not logged in".into(),
        "stepLimit" => format!("max model steps reached ({STEPS_MAX})"),
        kind => format!("the model failed: {kind}"),
    }
}
