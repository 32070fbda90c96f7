//! What the obliging host plays in a turn.
//!
//! Purpose: a queue of steps with one timer; [`WORDS_HELP`](super::WORDS_HELP) says what starts
//! which queue. Invariants: one item is open at a time; each opened item is completed before the
//! turn ends (HOST-11); nothing is executed; memory of a burst is bounded: a text is collected up
//! to [`TEXT_BYTES_MAX`] and cut to [`INLINE_BYTES_MAX`] beyond it, and frames are made one by one
//! when they are pulled. Rules: ITM-1..9, TRN-11, TRN-12.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::approvals::{Opening, shell_subject};
use super::ids::rfc3339;
use super::turns::{Admitted, input_text};
use super::words::{self, Word};
use super::{Host, Kind, TurnRef};
use crate::profiles::trim;

/// Time between two streamed words, in milliseconds.
const PACE_MS: u64 = 12;
/// A message is completed with its full text up to this size, in bytes.
const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Inline budget of cut surfaces, in bytes (ITM-7).
const INLINE_BYTES_MAX: usize = 64 * 1024;

/// The rest of a turn.
#[derive(Debug)]
pub(crate) struct Plan {
    turn: TurnRef,
    steps: VecDeque<Step>,
    /// When the next step is due; `None` while something else must happen first.
    pub(crate) due: Option<u64>,
    open: Option<Open>,
    started_ms: u64,
    first_token_ms: Option<u64>,
    prompt_tokens: u64,
    deltas: u64,
}

#[derive(Debug)]
enum Step {
    Reason,
    Speak,
    Tool { tool: &'static str, args: String, approval: Option<String> },
    Delta { part: usize, text: String },
    Burst { left: u64, bytes: usize, letter: u8 },
    Approve { command: String },
    Gap { messages: u64 },
    Ask,
    Close { status: &'static str, failure: Option<String> },
    Wait,
    End { error: Option<String> },
}

/// The item that is open.
#[derive(Debug)]
struct Open {
    item: Map<String, Value>,
    /// Collected text; reasoning has several parts.
    parts: Vec<String>,
    cut: bool,
}

impl Open {
    fn id(&self) -> &str {
        self.item["itemId"].as_str().unwrap_or_default()
    }

    fn kind(&self) -> &str {
        self.item["kind"].as_str().unwrap_or_default()
    }

    fn field(&self, part: usize) -> String {
        match self.kind() {
            "reasoning" => format!("summary.{part}"),
            "toolCall" => "output".into(),
            _ => "text".into(),
        }
    }

    fn collect(&mut self, part: usize, text: &str) {
        let max = if self.kind() == "agentMessage" { TEXT_BYTES_MAX } else { INLINE_BYTES_MAX };
        while self.parts.len() <= part {
            self.parts.push(String::new());
        }
        if self.cut || self.parts[part].len() + text.len() >= max {
            self.cut = true;
        } else {
            self.parts[part].push_str(text);
        }
    }
}

impl Host {
    /// Plans a turn that was just launched.
    pub(super) fn plan_turn(&mut self, session: &str, admitted: &Admitted) {
        let prompt = input_text(&admitted.request);
        let steps = self.steps_for(session, &prompt);
        let plan = Plan {
            turn: admitted.turn.clone(),
            steps: steps.into(),
            due: Some(self.now + PACE_MS),
            open: None,
            started_ms: self.now,
            first_token_ms: None,
            prompt_tokens: prompt.len() as u64 / 4 + 1,
            deltas: 0,
        };
        if let Some(target) = self.sessions.get_mut(session) {
            target.plan = Some(plan);
        }
    }

    fn steps_for(&mut self, session: &str, prompt: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        match words::read(prompt) {
            Word::Wait => steps.push(Step::Wait),
            Word::Fail { kind } => steps.push(Step::End { error: Some(kind) }),
            Word::Burst { deltas, bytes } => {
                steps.push(Step::Speak);
                steps.push(Step::Burst { left: deltas, bytes, letter: b'a' });
                steps.push(Step::Close { status: "completed", failure: None });
                steps.push(Step::End { error: None });
            }
            Word::Gap { messages } => {
                steps.extend(thought());
                steps.push(Step::Gap { messages });
                steps.extend(
                    speech("You were sent a gap. A page has what was left out.").split_off(1),
                );
            }
            Word::Tool { deltas } => {
                steps.push(Step::Tool { tool: "bash", args: "{}".into(), approval: None });
                for number in 1..=deltas {
                    steps.push(Step::Delta { part: 0, text: format!("line {number}\n") });
                }
                steps.push(Step::Close { status: "completed", failure: None });
                steps.extend(speech("The tool card is complete. Nothing was executed."));
            }
            Word::Ask => {
                steps.extend(thought());
                let args = "{\"questions\":1}".into();
                steps.push(Step::Tool { tool: "request_user_input", args, approval: None });
                steps.push(Step::Ask);
            }
            Word::Run { command } => {
                steps.extend(thought());
                let asks = self.must_ask(session, &command);
                let description = "A command that the fake host only pretends to run";
                let args = json!({ "command": command, "description": description }).to_string();
                let approval = asks.then(|| self.ids.next(Kind::Approval));
                steps.push(Step::Tool { tool: "bash", args, approval });
                if asks {
                    steps.push(Step::Approve { command });
                } else {
                    steps.extend(pretended_run());
                }
            }
            Word::Answer => {
                steps.extend(thought());
                let line = words::first_line(prompt);
                steps.extend(speech(&format!(
                    "This is fake-msp, a fake Muse host ({}). No model was called. You wrote: \
                     \"{line}\". Try: run ls -la.",
                    self.profile.version
                )));
            }
        }
        steps
    }

    fn must_ask(&self, session: &str, command: &str) -> bool {
        self.sessions.get(session).is_some_and(|target| {
            let runs_all =
                self.profile.allow_all_runs && target.log.view().mode["mode"] == "allowAll";
            !runs_all && !target.allowed.contains(command)
        })
    }

    /// Plays every step that is due.
    pub(super) fn run_due(&mut self) {
        loop {
            let due = self.sessions.iter().find_map(|(id, session)| {
                let due = session.plan.as_ref()?.due?;
                (due <= self.now).then(|| id.clone())
            });
            match due {
                Some(session) => self.step(&session),
                None => return,
            }
        }
    }

    fn step(&mut self, session: &str) {
        let Some(mut plan) = self.sessions.get_mut(session).and_then(|target| target.plan.take())
        else {
            return;
        };
        let due = plan.due.unwrap_or(self.now);
        match plan.steps.pop_front() {
            None | Some(Step::Wait) => plan.due = None,
            Some(Step::Reason) => self.open(session, &mut plan, reasoning()),
            Some(Step::Speak) => self.open(session, &mut plan, message()),
            Some(Step::Tool { tool, args, approval }) => {
                let call = self.ids.next(Kind::Call);
                self.open(session, &mut plan, tool_call(tool, &call, &args, approval));
            }
            Some(Step::Delta { part, text }) => {
                self.stream(session, &mut plan, part, &text);
                plan.due = Some(due + PACE_MS);
            }
            Some(step @ Step::Burst { .. }) => {
                plan.steps.push_front(step);
                plan.due = None;
            }
            Some(Step::Approve { command }) => {
                self.ask_approval(session, &plan, &command);
                plan.due = None;
            }
            Some(Step::Gap { messages }) => {
                let after = self.lose_messages(session, &plan.turn, messages);
                self.open(session, &mut plan, message());
                self.name_gap(session, &after);
            }
            Some(Step::Ask) => {
                self.ask_question(session, &plan);
                plan.due = None;
            }
            Some(Step::Close { status, failure }) => {
                self.close(session, &mut plan, status, failure);
            }
            Some(Step::End { error }) => return self.end_turn(session, &plan, error),
        }
        if let Some(target) = self.sessions.get_mut(session) {
            target.plan = Some(plan);
        }
    }

    fn open(&mut self, session: &str, plan: &mut Plan, mut item: Map<String, Value>) {
        item.insert("itemId".into(), self.ids.next(Kind::Item).into());
        item.insert("turnId".into(), plan.turn.turn_id.as_str().into());
        item.insert("revision".into(), 1.into());
        item.insert("status".into(), "inProgress".into());
        item.insert("recordedAt".into(), rfc3339(self.now).into());
        self.event(session, "item/started", json!({ "item": item }));
        plan.open = Some(Open { item, parts: Vec::new(), cut: false });
    }

    fn stream(&mut self, session: &str, plan: &mut Plan, part: usize, text: &str) {
        let Some(open) = &mut plan.open else { return };
        plan.first_token_ms.get_or_insert(self.now);
        plan.deltas += 1;
        open.collect(part, text);
        let (id, field) = (open.id().to_owned(), open.field(part));
        self.delta(session, &id, &field, text);
    }

    /// Completes the open item with what was collected.
    pub(super) fn close(
        &mut self,
        session: &str,
        plan: &mut Plan,
        status: &'static str,
        failure: Option<String>,
    ) {
        let Some(mut open) = plan.open.take() else { return };
        let mut text = open.parts.first().cloned().unwrap_or_default();
        if open.cut {
            // One-byte letters only, so any length is a boundary.
            text.truncate(INLINE_BYTES_MAX.min(text.len()));
            open.item.insert("truncated".into(), true.into());
        }
        match open.kind() {
            "reasoning" => open.item.insert("summary".into(), json!(open.parts)),
            "toolCall" => open.item.insert("visibleOutput".into(), text.into()),
            _ => {
                open.item.insert("messagePhase".into(), "finalAnswer".into());
                open.item.insert("text".into(), text.into())
            }
        };
        if let Some(failure) = failure {
            open.item.insert("failureReason".into(), failure.into());
        }
        trim(self.profile, "Item", &mut open.item);
        self.close_item(session, &Value::Object(open.item), status);
    }

    fn end_turn(&mut self, session: &str, plan: &Plan, error: Option<String>) {
        let Some(target) = self.sessions.get(session) else { return };
        let view = target.log.view();
        let (input, output) = (plan.prompt_tokens, plan.deltas);
        let add = |name: &str, more: u64| view.tokens[name].as_u64().unwrap_or(0) + more;
        let usage = json!({
            "inputTokens": input, "outputTokens": output, "cachedTokens": 0, "reasoningTokens": 0,
        });
        let tokens = json!({
            "turnId": plan.turn.turn_id,
            "modelId": view.model["modelId"],
            "usage": usage,
            "promptTokens": input,
            "totalTokens": input + output,
            "cumulative": {
                "promptTokens": add("promptTokens", input),
                "outputTokens": add("outputTokens", output),
                "totalTokens": add("totalTokens", input + output),
            },
        });
        let mut end = json!({
            "turnId": plan.turn.turn_id,
            "terminal": if error.is_some() { "failed" } else { "completed" },
            "durationMs": self.now - plan.started_ms,
            "usage": usage,
        });
        if let Some(first) = plan.first_token_ms {
            end["timeToFirstTokenMs"] = (first - plan.started_ms).into();
        }
        if let Some(kind) = error {
            end["reason"] = "the prompt asked for a failure".into();
            end["error"] = json!({
                "kind": kind, "message": "the prompt asked for a failure", "retryable": false,
            });
        } else {
            self.event(session, "session/tokenUsage", tokens);
        }
        self.event(session, "turn/completed", end);
        self.launch(session);
    }

    /// Makes the next frame of a burst, if one runs. Called when nothing else waits to go out.
    pub(super) fn pump_burst(&mut self) {
        let bursting = self.sessions.iter().find_map(|(id, session)| {
            let plan = session.plan.as_ref()?;
            let burst = matches!(plan.steps.front(), Some(Step::Burst { .. }));
            (burst && plan.due.is_none()).then(|| id.clone())
        });
        let Some(session) = bursting else { return };
        let Some(mut plan) = self.sessions[&session].plan.take() else { return };
        if let Some(Step::Burst { left, bytes, letter }) = plan.steps.front_mut() {
            if *left == 0 {
                plan.steps.pop_front();
                plan.due = Some(self.now);
            } else {
                let text = char::from(*letter).to_string().repeat(*bytes);
                *left -= 1;
                *letter = if *letter == b'z' { b'a' } else { *letter + 1 };
                self.stream(&session, &mut plan, 0, &text);
            }
        }
        self.sessions[&session].plan = Some(plan);
        if self.sessions[&session].plan.as_ref().is_some_and(|plan| plan.due.is_some()) {
            // The burst is over: what follows is due now and belongs to the same pull.
            self.run_due();
        }
    }

    fn ask_approval(&mut self, session: &str, plan: &Plan, command: &str) {
        let Some(open) = &plan.open else { return };
        let member = |name: &str| open.item[name].as_str().unwrap_or_default();
        let root = self.sessions.get(session).and_then(|s| s.log.birth().workspace_root.clone());
        let approval_id = member("approvalId");
        self.open_approval(
            session,
            &Opening {
                approval_id,
                turn_id: &plan.turn.turn_id,
                item_id: open.id(),
                call_id: member("callId"),
                tool: member("tool"),
                args: member("args"),
                subject: shell_subject(approval_id, command, root.as_deref()),
            },
        );
    }

    fn ask_question(&mut self, session: &str, plan: &Plan) {
        let Some(open) = &plan.open else { return };
        let prompt = json!({
            "userInputId": self.ids.next(Kind::Input),
            "turnId": plan.turn.turn_id,
            "itemId": open.id(),
            "toolCallId": open.item["callId"],
            "toolName": open.item["tool"],
            "questions": [{
                "id": "colour",
                "header": "Colour",
                "question": "Which colour should the fake bicycle shed have?",
                "selection": { "mode": "single" },
                "options": [
                    { "label": "Green", "description": "Calm." },
                    { "label": "Red", "description": "Fast." },
                ],
            }],
        });
        self.open_prompt(session, prompt);
    }

    /// The last stage was allowed: pretend to run.
    pub(super) fn plan_approved(&mut self, session: &str, for_session: bool) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let Some(plan) = &mut target.plan else { return };
        if for_session {
            let args = plan.open.as_ref().and_then(|open| open.item["args"].as_str());
            let args = args.and_then(|args| serde_json::from_str::<Value>(args).ok());
            let command = args.and_then(|args| args["command"].as_str().map(str::to_owned));
            target.allowed.extend(command);
        }
        plan.steps = pretended_run().into();
        plan.due = Some(self.now);
    }

    /// A stage was rejected: the item ends rejected and the turn goes on (APR-10).
    pub(super) fn plan_rejected(&mut self, session: &str, feedback: Option<&str>) {
        let now = self.now;
        let plan = self.sessions.get_mut(session).and_then(|target| target.plan.as_mut());
        let Some(plan) = plan else { return };
        let failure = Some("rejected by the user".to_owned());
        let mut steps = vec![Step::Close { status: "rejected", failure }];
        let heard = if feedback.is_some() { " I read your feedback." } else { "" };
        steps.extend(speech(&format!("You rejected the command, so nothing happened.{heard}")));
        plan.steps = steps.into();
        plan.due = Some(now);
    }

    /// The question was settled.
    pub(super) fn plan_settled(&mut self, session: &str, outcome: &str) {
        let now = self.now;
        let plan = self.sessions.get_mut(session).and_then(|target| target.plan.as_mut());
        let Some(plan) = plan else { return };
        let mut steps = vec![
            Step::Delta { part: 0, text: format!("{outcome}\n") },
            Step::Close { status: "completed", failure: None },
        ];
        steps.extend(speech(&format!("The question was {outcome}. Thank you.")));
        plan.steps = steps.into();
        plan.due = Some(now);
    }
}

/// A thought of two parts.
fn thought() -> Vec<Step> {
    let part = |part: usize, text: &str| Step::Delta { part, text: text.to_owned() };
    vec![
        Step::Reason,
        part(0, "Reading "),
        part(0, "the prompt."),
        part(1, "Nothing needs a model here."),
        Step::Close { status: "completed", failure: None },
    ]
}

/// A message, word by word, and the end of the turn.
fn speech(text: &str) -> Vec<Step> {
    let mut steps = vec![Step::Speak];
    let words = text.split_inclusive(' ');
    steps.extend(words.map(|word| Step::Delta { part: 0, text: word.to_owned() }));
    steps.push(Step::Close { status: "completed", failure: None });
    steps.push(Step::End { error: None });
    steps
}

fn pretended_run() -> Vec<Step> {
    let line = |text: &str| Step::Delta { part: 0, text: text.to_owned() };
    let mut steps = vec![
        line("(fake host) "),
        line("nothing was executed\n"),
        Step::Close { status: "completed", failure: None },
    ];
    steps.extend(speech("I pretended to run the command. Nothing was executed."));
    steps
}

fn reasoning() -> Map<String, Value> {
    object(json!({ "kind": "reasoning", "summary": [] }))
}

fn message() -> Map<String, Value> {
    object(json!({ "kind": "agentMessage", "text": "" }))
}

fn tool_call(tool: &str, call: &str, args: &str, approval: Option<String>) -> Map<String, Value> {
    let mut item =
        object(json!({ "kind": "toolCall", "tool": tool, "callId": call, "args": args }));
    if let Some(approval) = approval {
        item.insert("approvalId".into(), approval.into());
    }
    item
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
