//! `workflow/*` and the `workflow` item.
//!
//! Children are keyed by (`childId`, `attempt`) and re-sent whole at each change. A cancel is
//! admitted at once and settles with the next step, so that a second cancel is admitted too and
//! changes nothing; a run that has ended answers `already_terminal`, as recorded.
//! Rules: section 13.6, ITM 9.3. Reason words beside `stale_attempt` and `already_terminal` are not
//! published.

use serde_json::{Map, Value, json};

use super::super::fold::is_open;
use super::super::plan::{Step, object};
use super::super::repertoire::speech;
use super::super::sessions::str_of;
use super::super::turns::Origin;
use super::super::{After, Host, Kind, Reply};
use super::{Change, Effect, accepted, queue, rejected};
use crate::profiles::trim;

impl Host {
    pub(in super::super) fn workflow_steps(&mut self, wait: bool) -> Vec<Step> {
        let item = object(json!({
            "kind": "workflow", "workflowRunId": self.ids.next(Kind::Agent),
            "entryId": "fake-batch", "scriptId": "fake-batch", "triggerSource": "explicitUserAsk",
            "children": [], "stopAvailable": true, "fallbackText": "Workflow: fake-batch",
        }));
        let first = child("c1", 1, "started");
        let life = if wait {
            vec![Change::Set(json!({ "children": [first] }))]
        } else {
            self.whole_life()
        };
        let mut steps = vec![Step::Child { item, life }, Step::Await];
        steps.extend(speech("The workflow has ended. Nothing was executed."));
        steps
    }

    /// One child succeeds, the other fails and is tried again.
    fn whole_life(&self) -> Vec<Change> {
        let failed = ended("c2", 1, "failed", "failed");
        let mut failed = object(with(failed, "failureKind", "provider_error"));
        trim(self.profile, "WorkflowChild", &mut failed);
        let failed = Value::Object(failed);
        let (one, two) =
            (ended("c1", 1, "terminal", "completed"), ended("c2", 2, "terminal", "completed"));
        let set = |children: Value| Change::Set(json!({ "children": children }));
        let message = "Workflow fake-batch completed: 2/2 children succeeded after 1 retry";
        vec![
            set(json!([child("c1", 1, "scheduled")])),
            set(json!([child("c1", 1, "started"), child("c2", 1, "started")])),
            set(json!([one, child("c2", 1, "started")])),
            set(json!([one, failed])),
            set(json!([one, failed, child("c2", 2, "started")])),
            Change::End {
                status: "completed",
                set: json!({
                    "children": [one, failed, two], "message": message, "stopAvailable": false,
                }),
            },
        ]
    }

    pub(super) fn workflow_command(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let id = session.log.session_id.clone();
        let view = session.log.view();
        let wanted = params.get("workflowRunId");
        let mut items = view.items.values().rev();
        let item =
            items.find(|item| item["kind"] == "workflow" && item.get("workflowRunId") == wanted);
        let Some(item) = item.cloned() else { return Err(rejected(params, "workflow_not_found")) };
        let active = view.active.as_ref().map(|turn| turn.turn_id.clone());
        let verb = method.split_once('/').map_or(method, |(_, verb)| verb);
        if !is_open(&item) && verb != "childControl" {
            return Err(rejected(params, "already_terminal"));
        }
        let paused = item["paused"] == true;
        let mut ack = accepted(params);
        match verb {
            "childControl" => check_child(&item, params).map_err(|word| rejected(params, word))?,
            "pause" if paused => return Err(rejected(params, "already_paused")),
            "resume" if !paused => return Err(rejected(params, "not_paused")),
            "resume" => {
                let turn = match active {
                    Some(turn) => turn,
                    None => {
                        let turn = self.admit_native(&id, params, Origin::Workflow);
                        after.push(After::Work { session: id.clone(), effect: Effect::Wake });
                        turn
                    }
                };
                ack["turnId"] = turn.into();
            }
            _ => {}
        }
        let effect = Effect::Workflow {
            item: item["itemId"].as_str().unwrap_or_default().to_owned(),
            verb: verb.to_owned(),
            params: params.clone(),
        };
        after.push(After::Work { session: id, effect });
        Ok(ack)
    }

    pub(super) fn run_workflow(
        &mut self,
        session: &str,
        id: &str,
        verb: &str,
        params: &Map<String, Value>,
    ) {
        let Some(item) = self.open_item(session, id) else { return };
        match verb {
            "cancel" => {
                let set = json!({ "children": cancelled(&item["children"]) });
                let end = Change::End { status: "cancelled", set: cancelled_members(&item) };
                self.follow(session, id, queue([Change::Set(set), end]), String::new());
            }
            "pause" => {
                self.hold(session, id);
                self.change_item(session, id, &json!({ "paused": true }));
            }
            "resume" => {
                self.change_item(session, id, &json!({ "paused": null }));
                self.release(session, id);
            }
            _ => {
                let children = controlled(&item["children"], params);
                self.change_item(session, id, &json!({ "children": children }));
                if self.has_future(session, id) {
                    // Its timetable knows nothing of the command: what is left ends well.
                    let end =
                        Change::End { status: "completed", set: completed_members(&children) };
                    self.follow(session, id, queue([end]), String::new());
                }
            }
        }
    }

    /// Ends an open item by command or with its turn.
    pub(in super::super) fn cancel_item(&mut self, session: &str, item: &Value) {
        let set = match item["kind"].as_str() {
            Some("subagent") => json!({ "controlStatus": "closed" }),
            Some("workflow") => cancelled_members(item),
            Some("compaction") => json!({ "outcome": "cancelled" }),
            Some("toolCall") => json!({ "failureReason": "cancelled" }),
            _ => json!({}),
        };
        let id = item["itemId"].as_str().unwrap_or_default();
        self.end_item(session, id, "cancelled", &set);
    }
}

fn child(id: &str, attempt: u64, status: &str) -> Value {
    let label = format!("part {id}");
    json!({
        "childId": id, "attempt": attempt, "status": status, "phase": "work", "label": label,
    })
}

fn ended(id: &str, attempt: u64, status: &str, terminal: &str) -> Value {
    let child = with(child(id, attempt, status), "terminal", terminal);
    with(child, "durationMs", 24)
}

fn with(mut object: Value, name: &str, value: impl Into<Value>) -> Value {
    object[name] = value.into();
    object
}

/// The newest attempt of a child.
fn newest<'v>(children: &'v Value, id: &str) -> Option<&'v Value> {
    let children = children.as_array().into_iter().flatten();
    children.filter(|child| child["childId"] == id).max_by_key(|child| child["attempt"].as_u64())
}

fn check_child(item: &Value, params: &Map<String, Value>) -> Result<(), &'static str> {
    let id = str_of(params, "childId").unwrap_or_default();
    let Some(child) = newest(&item["children"], id) else { return Err("child_not_found") };
    let settled = child.get("terminal").is_some();
    match params.get("attempt") != child.get("attempt") {
        true => Err("stale_attempt"),
        false if !is_open(item) => Err("already_terminal"),
        false if settled == (str_of(params, "action") == Some("skip")) => Err(match settled {
            true => "already_terminal",
            false => "not_ready",
        }),
        false => Ok(()),
    }
}

/// The children after a skip or a retry of the newest attempt.
fn controlled(children: &Value, params: &Map<String, Value>) -> Value {
    let mut children = children.as_array().cloned().unwrap_or_default();
    let (id, attempt) = (params.get("childId"), params.get("attempt"));
    if str_of(params, "action") == Some("retry") {
        let old = children
            .iter()
            .find(|child| child.get("childId") == id && child.get("attempt") == attempt);
        let mut again = object(old.cloned().unwrap_or_default());
        for name in ["terminal", "durationMs", "failureKind", "failureReason", "usage"] {
            again.remove(name);
        }
        let next = attempt.and_then(Value::as_u64).unwrap_or(0) + 1;
        again.insert("attempt".into(), next.into());
        again.insert("status".into(), "started".into());
        children.push(Value::Object(again));
    } else {
        for child in &mut children {
            if child.get("childId") == id && child.get("attempt") == attempt {
                cancel(child);
            }
        }
    }
    children.into()
}

fn cancel(child: &mut Value) {
    child["status"] = "cancelled".into();
    child["terminal"] = "cancelled".into();
}

fn cancelled(children: &Value) -> Value {
    let mut children = children.as_array().cloned().unwrap_or_default();
    for child in children.iter_mut().filter(|child| child.get("terminal").is_none()) {
        cancel(child);
    }
    children.into()
}

fn completed_members(children: &Value) -> Value {
    let mut children = children.as_array().cloned().unwrap_or_default();
    for child in children.iter_mut().filter(|child| child.get("terminal").is_none()) {
        child["status"] = "terminal".into();
        child["terminal"] = "completed".into();
    }
    let message = format!("Workflow fake-batch completed: {} children", children.len());
    json!({ "children": children, "message": message, "stopAvailable": false })
}

fn cancelled_members(item: &Value) -> Value {
    let children = cancelled(&item["children"]);
    let all = children.as_array().map(Vec::as_slice).unwrap_or_default();
    let good = all.iter().filter(|child| child["terminal"] == "completed").count();
    let entry = item["entryId"].as_str().unwrap_or_default();
    let message = format!("Workflow {entry} cancelled: {good}/{} children succeeded", all.len());
    json!({ "children": children, "message": message, "stopAvailable": false, "paused": null })
}
