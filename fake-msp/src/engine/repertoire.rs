//! What the obliging host plays for a prompt, and how it goes on after an answer.
//!
//! Purpose: queues of steps for a [`Plan`](super::plan::Plan); [`WORDS_HELP`](super::WORDS_HELP)
//! says what starts which queue. Invariants: nothing is executed; every queue ends the turn or says
//! what it waits for. It does not touch the wire. Rules: APR-10, APR-14, APR-19, UIN-4, TRN-7.

use serde_json::{Value, json};

use super::fold::text;
use super::plan::{Offer, Step, object};
use super::subjects::{is_known_safe, shell_subject};
use super::turns::{Admitted, Origin};
use super::words::{self, Question, Word};
use super::work::Change;
use super::{Host, Kind};
use crate::profiles::Policy;

impl Host {
    pub(super) fn steps_for(
        &mut self,
        session: &str,
        admitted: &Admitted,
        prompt: &str,
    ) -> Vec<Step> {
        match admitted.origin {
            Origin::Goal => return self.goal_steps(session),
            Origin::Workflow => {
                return speech("The workflow goes on. No model was called.");
            }
            Origin::Prompt => {}
        }
        let mut steps = Vec::new();
        if let Some(command) = text(&admitted.request["userShell"], "commandText")
            && self.profile.has("TurnStartParams", "userShell")
        {
            steps.extend([Step::Shell { text: command }, Step::Await]);
        }
        steps.extend(self.steps_for_word(session, words::read(prompt), prompt));
        steps
    }

    fn steps_for_word(&mut self, session: &str, word: Word, prompt: &str) -> Vec<Step> {
        match word {
            Word::Wait => vec![Step::Wait],
            Word::Fail { kind } => vec![Step::End { error: Some(kind) }],
            Word::Burst { deltas, bytes } => vec![
                Step::Speak,
                Step::Burst { left: deltas, bytes, letter: b'a' },
                done(),
                Step::End { error: None },
            ],
            Word::Gap { messages } => {
                let mut steps = thought();
                steps.push(Step::Gap { messages });
                let said = speech("You were sent a gap. A page has what was left out.");
                steps.extend(said.into_iter().skip(1));
                steps
            }
            Word::Tool { deltas } => {
                let mut steps = vec![tool("bash", "{}")];
                steps.extend(lines(deltas).map(|text| Step::Delta { part: 0, text }));
                steps.push(done());
                steps.extend(speech("The tool card is complete. Nothing was executed."));
                steps
            }
            Word::Task { deltas } => {
                let item = object(json!({
                    "kind": "toolCall", "tool": "bash", "callId": self.ids.next(Kind::Call),
                    "args": json!({ "command": "sleep", "background": true }).to_string(),
                    "background": true,
                }));
                let end = Change::End { status: "completed", set: json!({}) };
                let life = lines(deltas).map(Change::Output).chain([end]).collect();
                let mut steps = vec![Step::Child { item, life }];
                steps.extend(speech("The task goes on in the background."));
                steps
            }
            Word::Output(stored) => self.output_steps(stored),
            Word::Patch => self.patch_steps(),
            Word::Shell { command } => {
                let mut steps = vec![Step::Shell { text: command }, Step::Await];
                steps.extend(speech("I pretended to run the command. Nothing was executed."));
                steps
            }
            Word::Subagents { count } => self.subagent_steps(count),
            Word::SubagentWait => self.subagent_wait_steps(),
            Word::Workflow { wait } => self.workflow_steps(wait),
            Word::Goal { objective } => {
                let goal = |done: u64, now: &str| {
                    let goal = json!({
                        "objective": objective, "status": "active", "percentComplete": done,
                        "currentWork": now, "nextWork": "say so",
                    });
                    Step::Goal(goal)
                };
                let mut steps = vec![goal(0, "reading the goal"), goal(50, "thinking about it")];
                steps.extend(speech("The goal is set and half done. No model was called."));
                steps
            }
            Word::Todo => todo_steps(),
            Word::Compact => {
                let mut steps = vec![Step::Compact, Step::Await];
                steps.extend(speech("The history before this turn was summarized, in appearance."));
                steps
            }
            Word::Retry { model } => {
                let name = if model { "turn/modelRetryScheduled" } else { "turn/retryScheduled" };
                let mut steps = vec![self.retry(name)];
                steps.extend(speech("The second attempt worked. No model was called."));
                steps
            }
            Word::Ask(question) => {
                let mut steps = thought();
                let (questions, auto_ms) = questions(&question);
                let args = json!({ "questions": questions }).to_string();
                steps.push(tool("request_user_input", &args));
                steps.push(Step::Ask { questions, auto_ms });
                steps
            }
            Word::Run { command } => self.run_steps(session, &command, Offer::Session),
            Word::Repeat { count, command } => {
                let mut steps = thought();
                steps.push(Step::Again { left: count, command });
                steps
            }
            Word::Remember { command, late } => {
                self.run_steps(session, &command, Offer::Rule { late })
            }
            Word::Write { path } => {
                let subject = json!({
                    "kind": "fileAccess", "toolName": "write_file", "path": path,
                    "access": "write",
                });
                let args = json!({ "path": path, "content": "" }).to_string();
                self.asked_steps("write_file", args, subject, Offer::Protected)
            }
            Word::Fetch { host } => {
                let subject = json!({
                    "kind": "network", "host": host, "port": 443, "protocol": "https",
                });
                let args = json!({ "url": format!("https://{host}/") }).to_string();
                self.asked_steps("fetch", args, subject, Offer::Session)
            }
            Word::Answer => {
                let mut steps = thought();
                let line = words::first_line(prompt);
                steps.extend(speech(&format!(
                    "This is fake-msp, a fake Muse host ({}). No model was called. You wrote: \
                     \"{line}\". Try: run ls -la.",
                    self.profile.version
                )));
                steps
            }
        }
    }

    /// The turn that a goal command woke.
    fn goal_steps(&mut self, session: &str) -> Vec<Step> {
        let goal = self.sessions.get(session).map(|target| target.log.view().goal.clone());
        let line = words::first_line(goal.unwrap_or_default()["objective"].as_str().unwrap_or(""));
        if words::read(&line) == Word::Wait {
            return vec![Step::Wait];
        }
        speech(&format!("I work towards \"{line}\". No model was called."))
    }

    fn retry(&self, name: &'static str) -> Step {
        let known = self.profile.notification(name).is_some();
        let method = if known { name } else { "turn/retryScheduled" };
        let mut params = json!({
            "attempt": 1, "nextAttempt": 2, "maxAttempts": 3, "retryDelayMs": 500,
            "system": "provider", "errorKind": "overloaded", "httpStatus": 529,
        });
        if method == "turn/retryScheduled" {
            params["reason"] = "the provider is busy".into();
        }
        let mut params = object(params);
        crate::profiles::trim(self.profile, "TurnRetryScheduledParams", &mut params);
        Step::Event { method, params: Value::Object(params) }
    }

    /// The next round of a repeated command, without a pause. A refusal ends the rounds as it ends a turn.
    pub(super) fn again_steps(&mut self, session: &str, left: u64, command: &str) -> Vec<Step> {
        let Some(left) = left.checked_sub(1) else {
            return speech("I pretended to run the commands. Nothing was executed.");
        };
        let mut steps = self.command_steps(session, command, Offer::Session);
        if steps.iter().any(|step| matches!(step, Step::Policy { decision: "denied" })) {
            return steps;
        }
        if let Some(output) = steps.iter().position(|step| matches!(step, Step::Delta { .. })) {
            steps.truncate(output);
            steps.push(done());
        }
        steps.push(Step::Again { left, command: command.to_owned() });
        steps
    }

    fn run_steps(&mut self, session: &str, command: &str, offer: Offer) -> Vec<Step> {
        let mut steps = thought();
        steps.extend(self.command_steps(session, command, offer));
        steps
    }

    /// A command by the approval mode of the session.
    fn command_steps(&mut self, session: &str, command: &str, offer: Offer) -> Vec<Step> {
        let Some(target) = self.sessions.get(session) else { return Vec::new() };
        let mode = target.log.view().mode["mode"].as_str().unwrap_or_default();
        let policy = self.profile.policy(mode, is_known_safe(command));
        let granted = target.allowed.contains(command);
        let description = "A command that the fake host only pretends to run";
        let args = json!({ "command": command, "description": description }).to_string();
        let mut steps = Vec::new();
        if policy == Policy::Run {
            steps.push(tool("bash", &args));
            steps.extend(pretended_run());
            return steps;
        }
        let approval = self.ids.next(Kind::Approval);
        let root = target.log.birth().workspace_root.as_deref();
        let subject = shell_subject(&approval, command, root);
        steps.push(Step::Tool { tool: "bash", args, approval: Some(approval) });
        if granted {
            // The rule of the session answers: the client sees a resolution and no request (APR-14).
            steps.push(Step::Policy { decision: "approved" });
            steps.extend(pretended_run());
            return steps;
        }
        steps.push(Step::Approve { subject, offer });
        if policy == Policy::Deny {
            steps.push(Step::Policy { decision: "denied" });
            steps
                .extend(rejection("denied by the approval mode", "The policy denied the command."));
        } else {
            steps.push(Step::Wait);
        }
        steps
    }

    fn asked_steps(
        &mut self,
        tool: &'static str,
        args: String,
        subject: Value,
        offer: Offer,
    ) -> Vec<Step> {
        let approval = Some(self.ids.next(Kind::Approval));
        let mut steps = thought();
        steps.push(Step::Tool { tool, args, approval });
        steps.extend([Step::Approve { subject, offer }, Step::Wait]);
        steps
    }
}

fn questions(question: &Question) -> (Value, Option<u64>) {
    let colour = json!({
        "id": "colour",
        "header": "Colour",
        "question": "Which colour should the fake bicycle shed have?",
        "selection": { "mode": "single" },
        "options": [
            { "label": "Green", "description": "Calm." },
            { "label": "Red", "description": "Fast." },
        ],
    });
    let parts = json!({
        "id": "parts",
        "header": "Parts",
        "question": "Which parts should be painted?",
        "selection": { "mode": "multiple", "minSelections": 1, "maxSelections": 2 },
        "options": [{ "label": "Door" }, { "label": "Roof" }, { "label": "Walls" }],
    });
    match question {
        Question::One => (json!([colour]), None),
        Question::Two => (json!([colour, parts]), None),
        Question::Many => (json!([parts]), None),
        Question::Soon { ms } => (json!([colour]), Some(*ms)),
    }
}

fn todo_steps() -> Vec<Step> {
    let list = |revision: u64, first: &str, second: &str| Step::Event {
        method: "session/todoListChanged",
        params: json!({
            "revision": revision, "sourceTool": "todo_write",
            "items": [
                { "text": "Read the prompt", "status": first, "activeForm": "Reading the prompt" },
                { "text": "Answer", "status": second },
            ],
        }),
    };
    let mut steps = vec![
        list(1, "inProgress", "pending"),
        list(2, "completed", "inProgress"),
        list(3, "completed", "completed"),
    ];
    steps.extend(speech("Both todos are done. No model was called."));
    steps
}

pub(super) fn lines(count: u64) -> impl Iterator<Item = String> {
    (1..=count).map(|number| format!("line {number}\n"))
}

pub(super) fn done() -> Step {
    Step::Close { status: "completed", set: json!({}) }
}

pub(super) fn tool(tool: &'static str, args: &str) -> Step {
    Step::Tool { tool, args: args.to_owned(), approval: None }
}

/// A thought of two parts.
pub(super) fn thought() -> Vec<Step> {
    let part = |part: usize, text: &str| Step::Delta { part, text: text.to_owned() };
    vec![
        Step::Reason,
        part(0, "Reading "),
        part(0, "the prompt."),
        part(1, "Nothing needs a model here."),
        done(),
    ]
}

/// A message, word by word, and the end of the turn.
pub(super) fn speech(text: &str) -> Vec<Step> {
    let mut steps = vec![Step::Speak];
    let words = text.split_inclusive(' ');
    steps.extend(words.map(|word| Step::Delta { part: 0, text: word.to_owned() }));
    steps.push(done());
    steps.push(Step::End { error: None });
    steps
}

pub(super) fn pretended_run() -> Vec<Step> {
    let line = |text: &str| Step::Delta { part: 0, text: text.to_owned() };
    let mut steps = vec![line("(fake host) "), line("nothing was executed\n"), done()];
    steps.extend(speech("I pretended to run the command. Nothing was executed."));
    steps
}

pub(super) fn rejection(failure: &str, said: &str) -> Vec<Step> {
    let mut steps =
        vec![Step::Close { status: "rejected", set: json!({ "failureReason": failure }) }];
    steps.extend(speech(said));
    steps
}
