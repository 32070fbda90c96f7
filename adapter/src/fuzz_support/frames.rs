//! `acp_frames`, `msp_frames`: any bytes on either wire.

use crate::core::io::{Resolved, Settings};
use crate::core::{Agent, Config, Effect, EffectResult, HostId, IdSource, Input, Output, Tick};
use crate::wire::framing::{EDITOR_LINE_MAX, HOST_LINE_MAX};
use crate::wire::{Framer, Line};

struct Counted(u64);

impl IdSource for Counted {
    fn uuid(&mut self) -> String {
        self.0 += 1;
        format!("00000000-0000-7000-8000-{:012}", self.0)
    }
}

/// An agent whose effects are answered at once and whose hosts say only what they are fed.
struct Bench {
    agent: Agent,
    ids: Counted,
    editor: Vec<Vec<u8>>,
    hosts: Vec<HostId>,
    asked: Vec<serde_json::Value>,
}

impl Bench {
    fn new() -> Self {
        let agent = Agent::new(Config::default());
        Self { agent, ids: Counted(0), editor: Vec::new(), hosts: Vec::new(), asked: Vec::new() }
    }

    fn feed(&mut self, input: Input<'_>) {
        let mut next = vec![];
        self.agent.handle(Tick::default(), input, &mut self.ids);
        loop {
            while let Some(output) = self.agent.poll_output() {
                match output {
                    Output::Editor(line) => self.editor.push(line),
                    Output::Spawn(id, _) => self.hosts.push(id),
                    Output::Host(_, line) => {
                        self.asked.push(serde_json::from_slice(&line).expect("our lines are JSON"));
                    }
                    Output::Effect(id, effect) => next.push((id, effect)),
                    Output::CloseHost(_) | Output::Unthrottle(_) | Output::Exit => {}
                }
            }
            let Some((id, effect)) = next.pop() else { return };
            self.agent.handle(Tick::default(), Input::Effect(id, result(effect)), &mut self.ids);
        }
    }

    fn lines(&mut self, data: &[u8], step: usize, limit: usize, host: Option<HostId>) {
        let mut framer = Framer::new(limit);
        for piece in data.chunks(step.max(1)) {
            framer.push(piece);
            while let Some(line) = framer.next_line() {
                self.line(line, host);
            }
        }
        if let Some(line) = framer.finish() {
            self.line(line, host);
        }
    }

    fn line(&mut self, line: Line<'_>, host: Option<HostId>) {
        self.feed(match host {
            Some(host) => Input::Host(host, line),
            None => Input::Editor(line),
        });
    }

    /// Every line is one JSON-RPC object.
    fn check(&self) {
        for line in &self.editor {
            let value: serde_json::Value = serde_json::from_slice(line).expect("a line is JSON");
            assert_eq!(value["jsonrpc"], "2.0");
            assert!(!line.contains(&b'\n'), "a frame is one line (WIRE-1)");
        }
    }
}

fn result(effect: Effect) -> EffectResult {
    match effect {
        Effect::Workspace(path) => EffectResult::Workspace(Ok(path)),
        Effect::Credentials => EffectResult::Credentials(false),
        Effect::Resolve => EffectResult::Resolve(Box::new(Ok(Resolved {
            binary: "/bin/muse".into(),
            version: None,
            identity: [0; 32],
            flags: crate::core::mode::FLAGS.to_vec(),
            settings: Settings { model: "m".into(), provider: "p".into(), effort: "high".into() },
        }))),
    }
}

/// Any bytes from the editor. The first byte says how they are cut.
///
/// # Panics
/// When an answer is no frame, or depends on how the input was cut.
pub fn acp_frames(data: &[u8]) {
    let Some((step, data)) = data.split_first() else { return };
    let play = |step: usize| {
        let mut bench = Bench::new();
        bench.lines(data, step, EDITOR_LINE_MAX, None);
        bench.check();
        bench.editor
    };
    assert_eq!(play(data.len()), play(usize::from(*step)), "the same however it was cut");
}

/// Any bytes from a host, before and after the acknowledgement of a prompt.
///
/// # Panics
/// When an output is no frame, a second turn is submitted, or the prompt is answered other than once
/// although the host ended.
pub fn msp_frames(data: &[u8]) {
    let Some((step, data)) = data.split_first() else { return };
    let mut bench = Bench::new();
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"00000000-0000-7000-8000-000000000001","prompt":[{"type":"text","text":"x"}]}}"#,
    ] {
        bench.line(Line::Complete(line.as_bytes()), None);
    }
    let host = *bench.hosts.first().expect("a host was started");
    if step % 2 == 0 {
        open(&mut bench, host);
    }
    bench.lines(data, usize::from(*step), HOST_LINE_MAX, Some(host));
    bench.feed(Input::HostEof(host));
    bench.feed(Input::HostGone(host, crate::core::HostEnd::default()));
    bench.check();
    let submitted = bench.asked.iter().filter(|line| line["method"] == "turn/start").count();
    assert!(submitted <= 1, "submitted once (PRM-26)");
    let answers =
        bench.editor.iter().filter(|line| line.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":3,"));
    assert_eq!(answers.count(), 1, "the prompt is answered once");
}

/// Plays the host up to the acknowledgement of the turn `t`.
fn open(bench: &mut Bench, host: HostId) {
    let mut done = 0;
    while let Some(request) = bench.asked.get(done).cloned() {
        done += 1;
        let row = serde_json::json!({ "session": {
            "sessionId": "00000000-0000-7000-8000-000000000001", "modelId": "m", "providerId": "p" } });
        let result = match request["method"].as_str() {
            Some("initialize") => serde_json::json!({}),
            Some("session/resume" | "session/read") => row,
            Some("turn/start") => serde_json::json!({ "turnId": "t" }),
            Some("initialized") | None => continue,
            Some(_) => serde_json::json!({ "status": "accepted" }),
        };
        let line = serde_json::json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        bench.line(Line::Complete(line.to_string().as_bytes()), Some(host));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_take_what_is_right_and_what_is_not() {
        acp_frames(b"\x03{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\nnonsense");
        for step in [0u8, 1, 2, 7] {
            let mut data = vec![step];
            data.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"turn/completed\",\"params\":{\"sessionId\":\"00000000-0000-7000-8000-000000000001\",\"turnId\":\"t\",\"terminal\":\"completed\"}}\n[]\n");
            msp_frames(&data);
        }
    }
}
