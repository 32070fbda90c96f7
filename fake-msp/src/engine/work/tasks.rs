//! `task/*`: the running tools and subagents of a session, by item id.
//!
//! ```text
//! foreground ─background─► background ─► ended
//!      └──────────stop──────────┴──────► cancelled
//! ```
//! The plan holds a foreground tool, a track a background one; sending a tool to the background moves
//! the rest of its steps. Rules: section 13.4, ITM-5, ITM-14.

use serde_json::{Map, Value, json};

use super::super::fold::is_open;
use super::super::plan::Step;
use super::super::sessions::str_of;
use super::super::{After, Host, Reply, Session};
use super::{Change, Effect, accepted, rejected};

/// Kinds whose item id is a task id (ITM-5).
const TASK_KINDS: &[&str] = &["toolCall", "subagent"];

impl Host {
    pub(super) fn task_command(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let id = session.log.session_id.clone();
        let mut ack = accepted(params);
        if method == "task/stopAll" {
            after.push(After::Work { session: id, effect: Effect::StopAll });
            return Ok(ack);
        }
        let task = str_of(params, "taskId").unwrap_or_default().to_owned();
        let item = session.log.view().items.get(&task).filter(|item| is_task(item));
        // The reason words of this family are not published; they are this host's own.
        let Some(item) = item else { return Err(rejected(params, "task_not_found")) };
        if !is_open(item) {
            return Err(rejected(params, "already_terminal"));
        }
        let effect = match method {
            "task/background" if item["background"] == true => {
                return Err(rejected(params, "already_background"));
            }
            "task/background" if item["kind"] != "toolCall" || asks(session, &task) => {
                return Err(rejected(params, "not_backgroundable"));
            }
            "task/background" => Effect::Background { task: task.clone() },
            _ => Effect::Stop { task: task.clone() },
        };
        after.push(After::Work { session: id, effect });
        ack["taskId"] = task.into();
        Ok(ack)
    }

    pub(super) fn task_list(&mut self, params: &Map<String, Value>) -> Reply {
        let items = self.loaded(params)?.log.view().items.values();
        let rows: Vec<Value> =
            items.filter(|item| is_task(item) && is_open(item)).map(row).collect();
        Ok(json!({ "tasks": rows }))
    }

    /// The tool goes on by itself and the turn without it.
    pub(super) fn send_to_background(&mut self, session: &str, task: &str) {
        let mut changes = Vec::new();
        let plan = self.sessions.get_mut(session).and_then(|target| target.plan.as_mut());
        if let Some(plan) = plan
            && plan.open.as_ref().is_some_and(|open| open.id() == task)
        {
            let open = plan.open.take();
            let output = open.and_then(|open| open.parts.into_iter().next()).unwrap_or_default();
            while let Some(step) = plan.steps.pop_front() {
                match step {
                    Step::Delta { text, .. } => changes.push(Change::Output(text)),
                    Step::Close { status, set } => {
                        changes.push(Change::End { status, set });
                        break;
                    }
                    other => {
                        plan.steps.push_front(other);
                        break;
                    }
                }
            }
            self.follow(session, task, changes.into(), output);
        }
        let set = json!({ "background": true, "backgroundInitiator": "user" });
        self.change_item(session, task, &set);
    }

    /// Ends a task by command; what it was asked or waits for goes with it.
    pub(super) fn stop_task(&mut self, session: &str, task: &str) {
        let Some(item) = self.open_item(session, task) else { return };
        let about = |params: &Map<String, Value>| params.get("itemId") == Some(&item["itemId"]);
        let Some(target) = self.sessions.get_mut(session) else { return };
        let view = target.log.view();
        let approvals: Vec<String> = view
            .pending_approvals()
            .filter(|(_, approval)| about(&approval.params))
            .map(|(id, _)| id.clone())
            .collect();
        let prompts: Vec<String> = view
            .pending_prompts()
            .filter(|(_, prompt)| about(&prompt.params))
            .map(|(id, _)| id.clone())
            .collect();
        let holds = target.plan.as_ref().and_then(|plan| plan.open.as_ref());
        let foreground = holds.is_some_and(|open| open.id() == task);
        for id in approvals {
            self.resolve_approval(session, &id, "abort", "policy", None);
        }
        for id in prompts {
            self.settle_prompt(session, &id, "aborted", &json!({}), None);
        }
        if foreground {
            self.plan_stopped(session);
        } else {
            self.cancel_item(session, &item);
        }
    }

    pub(super) fn stop_all(&mut self, session: &str) {
        let Some(target) = self.sessions.get(session) else { return };
        let items = target.log.view().items.values();
        let open = items.filter(|item| is_task(item) && is_open(item));
        let ids: Vec<String> =
            open.filter_map(|item| item["itemId"].as_str().map(str::to_owned)).collect();
        for id in ids {
            self.stop_task(session, &id);
        }
    }
}

fn is_task(item: &Value) -> bool {
    item["kind"].as_str().is_some_and(|kind| TASK_KINDS.contains(&kind))
}

/// Whether somebody is asked about the tool: it cannot run behind anybody's back.
fn asks(session: &Session, task: &str) -> bool {
    let view = session.log.view();
    let about = |params: &Map<String, Value>| params.get("itemId").is_some_and(|id| id == task);
    view.pending_approvals().any(|(_, approval)| about(&approval.params))
        || view.pending_prompts().any(|(_, prompt)| about(&prompt.params))
}

/// A row of `task/list`.
fn row(item: &Value) -> Value {
    let mut row = Map::new();
    let mut put = |name: &str, value: &Value| {
        if !value.is_null() {
            row.insert(name.to_owned(), value.clone());
        }
    };
    put("taskId", &item["itemId"]);
    put("kind", &item["kind"]);
    put("status", &item["status"]);
    put("tool", &item["tool"]);
    put("startedAt", &item["recordedAt"]);
    put("backgroundInitiator", &item["backgroundInitiator"]);
    let mode = if item["background"] == true { "background" } else { "foreground" };
    put("executionMode", &mode.into());
    let args = item["args"].as_str().and_then(|args| serde_json::from_str::<Value>(args).ok());
    put("command", &args.unwrap_or_default()["command"]);
    Value::Object(row)
}
