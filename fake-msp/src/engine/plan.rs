//! What the obliging host plays in a turn: a queue of steps with one timer.
//!
//! [`super::repertoire`] fills the queue, `acting` does what a step says, `reactions` goes on after
//! answers. Invariants: one item is open at a time, items with a
//! timetable of their own aside; each opened item is completed before the turn ends (HOST-11);
//! nothing is executed; memory of a burst is bounded: a text is collected up to [`TEXT_BYTES_MAX`]
//! and cut to [`INLINE_BYTES_MAX`] beyond it, and frames are made one by one when they are pulled.
//! Rules: ITM-1..9, TRN-11, TRN-12.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use super::fold::is_open;
use super::input::input_text;
use super::turns::Admitted;
use super::work::Change;
use super::{Host, Kind, TurnRef};

/// Time between two steps that a person may watch, in milliseconds.
pub(super) const PACE_MS: u64 = 12;
/// A message is completed with its full text up to this size, in bytes.
const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Inline budget of cut surfaces, in bytes (ITM-7).
pub(super) const INLINE_BYTES_MAX: usize = 64 * 1024;

/// The rest of a turn.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) turn: TurnRef,
    pub(super) steps: VecDeque<Step>,
    /// When the next step is due; `None` while something else must happen first.
    pub(crate) due: Option<u64>,
    pub(super) open: Option<Open>,
    /// Items with a timetable of their own that the turn waits for.
    pub(super) children: Vec<String>,
    pub(super) started_ms: u64,
    pub(super) first_token_ms: Option<u64>,
    pub(super) prompt_tokens: u64,
    pub(super) deltas: u64,
}

#[derive(Debug)]
pub(super) enum Step {
    Reason,
    Speak,
    Tool {
        tool: &'static str,
        args: String,
        approval: Option<String>,
    },
    Delta {
        part: usize,
        text: String,
    },
    Burst {
        left: u64,
        bytes: usize,
        letter: u8,
    },
    /// Messages that are not delivered, then the notice of it.
    Gap {
        messages: u64,
    },
    /// The same command again, this many times, then a word and the end.
    Again {
        left: u64,
        command: String,
    },
    /// Asks for the open tool call: its subject, and which choices are offered.
    Approve {
        subject: Value,
        offer: Offer,
    },
    /// The policy answers for the open tool call without asking.
    Policy {
        decision: &'static str,
    },
    Ask {
        questions: Value,
        auto_ms: Option<u64>,
    },
    Close {
        status: &'static str,
        set: Value,
    },
    /// A view event of the turn; left out where the host generation has none of that name.
    Event {
        method: &'static str,
        params: Value,
    },
    /// An item with a timetable of its own.
    Child {
        item: Map<String, Value>,
        life: Vec<Change>,
    },
    /// The foreground is done, children still run.
    Foreground,
    /// Goes on when all children have ended.
    Await,
    Goal(Value),
    Compact,
    Shell {
        text: String,
    },
    Wait,
    End {
        error: Option<String>,
    },
}

/// What an approval offers beside "once" and "no".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// For this session.
    Session,
    /// A rule that stays, and when the outcome of writing it is told.
    Rule { late: bool },
    /// Nothing: a protected write (APR-6).
    Protected,
}

/// The item that is open.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) item: Map<String, Value>,
    /// Collected text; reasoning has several parts.
    pub(super) parts: Vec<String>,
    pub(super) cut: bool,
}

impl Open {
    pub(super) fn id(&self) -> &str {
        self.item["itemId"].as_str().unwrap_or_default()
    }

    pub(super) fn kind(&self) -> &str {
        self.item["kind"].as_str().unwrap_or_default()
    }

    pub(super) fn field(&self, part: usize) -> String {
        match self.kind() {
            "reasoning" => format!("summary.{part}"),
            "toolCall" => "output".into(),
            _ => "text".into(),
        }
    }

    pub(super) fn collect(&mut self, part: usize, text: &str) {
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

impl Plan {
    /// What a cancelled tool call says beside its status.
    pub(super) fn closing_members(&self, reason: &str) -> Value {
        match &self.open {
            Some(open) if open.kind() == "toolCall" => json!({ "failureReason": reason }),
            _ => json!({}),
        }
    }
}

impl Host {
    /// Plans a turn that was just launched.
    pub(super) fn plan_turn(&mut self, session: &str, admitted: &Admitted) {
        let prompt = input_text(&admitted.request);
        let steps = self.steps_for(session, admitted, &prompt);
        let plan = Plan {
            turn: admitted.turn.clone(),
            steps: steps.into(),
            due: Some(self.now + PACE_MS),
            open: None,
            children: Vec::new(),
            started_ms: self.now,
            first_token_ms: None,
            prompt_tokens: prompt.len() as u64 / 4 + 1,
            deltas: 0,
        };
        if let Some(target) = self.sessions.get_mut(session) {
            target.plan = Some(plan);
        }
    }

    /// Plays every step that is due, the earliest first; at one time plans come before other work.
    pub(super) fn run_due(&mut self) {
        while let Some((due, session)) = self.next_due()
            && due <= self.now
        {
            let target = &self.sessions[&session];
            let plan = target.plan.as_ref().and_then(|plan| plan.due);
            match plan {
                Some(at) if at == due => self.step(&session),
                _ => self.step_work(&session, due),
            }
        }
    }

    /// The time of the next step and its session.
    pub(super) fn next_due(&self) -> Option<(u64, String)> {
        let due = |target: &super::Session| {
            let plan = target.plan.as_ref().and_then(|plan| plan.due);
            plan.into_iter().chain(target.work.due()).min()
        };
        let all = self.sessions.iter().filter_map(|(id, target)| Some((due(target)?, id)));
        all.min_by_key(|(due, _)| *due).map(|(due, id)| (due, id.clone()))
    }

    fn step(&mut self, session: &str) {
        let Some(mut plan) = self.sessions.get_mut(session).and_then(|target| target.plan.take())
        else {
            return;
        };
        let due = plan.due.unwrap_or(self.now);
        match plan.steps.pop_front() {
            None | Some(Step::Wait) => plan.due = None,
            Some(Step::Reason) => {
                let item = object(json!({ "kind": "reasoning", "summary": [] }));
                self.open(session, &mut plan, item);
            }
            Some(Step::Speak) => {
                let item = object(json!({ "kind": "agentMessage", "text": "" }));
                self.open(session, &mut plan, item);
            }
            Some(Step::Gap { messages }) => {
                let after = self.lose_messages(session, &plan.turn, messages);
                let item = object(json!({ "kind": "agentMessage", "text": "" }));
                self.open(session, &mut plan, item);
                self.name_gap(session, &after);
            }
            Some(Step::Tool { tool, args, approval }) => {
                let call = self.ids.next(Kind::Call);
                let mut item = object(json!({
                    "kind": "toolCall", "tool": tool, "callId": call, "args": args,
                }));
                if let Some(approval) = approval {
                    item.insert("approvalId".into(), approval.into());
                }
                self.open(session, &mut plan, item);
            }
            Some(Step::Delta { part, text }) => {
                self.stream(session, &mut plan, part, &text);
                plan.due = Some(due + PACE_MS);
            }
            Some(step @ Step::Burst { .. }) => {
                plan.steps.push_front(step);
                plan.due = None;
            }
            Some(Step::Again { left, command }) => {
                plan.steps = self.again_steps(session, left, &command).into();
            }
            Some(Step::Approve { subject, offer }) => {
                self.ask_approval(session, &plan, subject, offer);
            }
            Some(Step::Policy { decision }) => self.decide_by_policy(session, &mut plan, decision),
            Some(Step::Ask { questions, auto_ms }) => {
                self.ask_question(session, &plan, questions, auto_ms);
                plan.due = None;
            }
            Some(Step::Close { status, set }) => self.close(session, &mut plan, status, &set),
            Some(Step::Event { method, mut params }) => {
                if method.starts_with("turn/") {
                    params["turnId"] = plan.turn.turn_id.as_str().into();
                }
                // A retry is announced before its delay, not after.
                plan.due = Some(due + params["retryDelayMs"].as_u64().unwrap_or(0));
                self.event_if_known(session, method, params);
            }
            Some(Step::Child { item, life }) => {
                let turn = Some(plan.turn.turn_id.as_str());
                plan.children.push(self.begin_item(session, turn, item, life.into()));
            }
            Some(Step::Foreground) => self.end_foreground(session, &plan),
            Some(Step::Await) => {
                if self.any_open(session, &plan.children) {
                    plan.steps.push_front(Step::Await);
                    plan.due = None;
                }
            }
            Some(Step::Goal(goal)) => self.set_goal(session, goal),
            Some(Step::Compact) => {
                plan.children.extend(self.begin_compaction(session, &plan.turn.turn_id, "auto"));
            }
            Some(Step::Shell { text }) => {
                let (turn, command) = (plan.turn.turn_id.as_str(), plan.turn.command_id.as_str());
                plan.children.push(self.begin_shell(session, command, &text, Some(turn)));
            }
            Some(Step::End { error }) => return self.end_turn(session, &plan, error),
        }
        if let Some(target) = self.sessions.get_mut(session) {
            target.plan = Some(plan);
        }
    }

    fn any_open(&self, session: &str, items: &[String]) -> bool {
        let Some(target) = self.sessions.get(session) else { return false };
        let view = target.log.view();
        items.iter().filter_map(|id| view.items.get(id)).any(is_open)
    }

    /// An item ended: a plan that waits for its children looks again.
    pub(super) fn wake_plan(&mut self, session: &str) {
        let now = self.now;
        let plan = self.sessions.get_mut(session).and_then(|target| target.plan.as_mut());
        if let Some(plan) = plan
            && plan.due.is_none()
            && matches!(plan.steps.front(), Some(Step::Await))
        {
            plan.due = Some(now);
        }
    }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
