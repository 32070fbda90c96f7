//! `subagent/*` and the `subagent` item.
//!
//! ```text
//! accepted ─► starting ─► running ─► resultReady ─► closed (item completed, failed or cancelled)
//!                            ▲  │ interrupt   │ followupTask, resume
//!                            └──┴─────────────┘
//! reopen of a closed one: a new item with the same subagentId
//! ```
//! Invariants: one item is one life, with one terminal; an ack is admission, the item tells the
//! rest. Rules: section 13.5, TRN-12. The reason words beside `not_ready` are not published.

use serde_json::{Map, Value, json};

use super::super::fold::is_open;
use super::super::plan::{Step, object};
use super::super::repertoire::speech;
use super::super::sessions::str_of;
use super::super::{After, Host, Kind, Reply};
use super::{Change, Effect, accepted, queue, rejected};

impl Host {
    /// Subagents that live side by side; from the second on they are children of the first.
    pub(in super::super) fn subagent_steps(&mut self, count: u64) -> Vec<Step> {
        let mut steps = Vec::new();
        for number in 1..=count {
            let item = self.subagent(number, "count the letters of the prompt");
            let child = self.ids.next(Kind::Session);
            let fails = number == 3;
            let life = subagent_life(&child, fails, true);
            steps.push(Step::Child { item, life });
        }
        steps.extend([Step::Foreground, Step::Await]);
        steps.extend(speech("The subagents are done. Nothing was executed."));
        steps
    }

    pub(in super::super) fn subagent_wait_steps(&mut self) -> Vec<Step> {
        let item = self.subagent(1, "wait for a command");
        let child = self.ids.next(Kind::Session);
        let life = vec![
            Change::Set(json!({ "controlStatus": "starting" })),
            Change::Set(json!({ "controlStatus": "running", "childSessionId": child })),
        ];
        let mut steps = vec![Step::Child { item, life }, Step::Foreground, Step::Await];
        steps.extend(speech("The subagent has ended."));
        steps
    }

    fn subagent(&mut self, number: u64, objective: &str) -> Map<String, Value> {
        let path = if number == 1 { "first".into() } else { format!("first/{number}") };
        object(json!({
            "kind": "subagent", "subagentId": self.ids.next(Kind::Agent), "agentPath": path,
            "depth": if number == 1 { 1 } else { 2 }, "role": "worker", "objective": objective,
            "controlStatus": "accepted", "fallbackText": format!("Subagent: {objective}"),
        }))
    }

    pub(super) fn subagent_command(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let session = self.loaded(params)?;
        let wanted = params.get("subagentId");
        let mut items = session.log.view().items.values().rev();
        // The newest life counts: a reopened subagent has several items.
        let item =
            items.find(|item| item["kind"] == "subagent" && item.get("subagentId") == wanted);
        let Some(item) = item else { return Err(rejected(params, "subagent_not_found")) };
        let status = item["controlStatus"].as_str().unwrap_or_default();
        let verb = method.split_once('/').map_or(method, |(_, verb)| verb);
        let open = is_open(item);
        let ready = status == "resultReady";
        match verb {
            "sendMessage" | "stop" | "interrupt" | "followupTask" if !open => {
                return Err(rejected(params, "already_terminal"));
            }
            "interrupt" | "sendMessage" if ready => return Err(rejected(params, "not_ready")),
            "followupTask" | "resume" | "close" if !ready => {
                return Err(rejected(params, "not_ready"));
            }
            "readResult" if open && !ready => return Err(rejected(params, "not_ready")),
            "reopen" if open => return Err(rejected(params, "not_ready")),
            _ => {}
        }
        let effect = Effect::Subagent {
            item: item["itemId"].as_str().unwrap_or_default().to_owned(),
            verb: verb.to_owned(),
            objective: str_of(params, "body").map(str::to_owned),
        };
        after.push(After::Work { session: session.log.session_id.clone(), effect });
        Ok(accepted(params))
    }

    pub(super) fn run_subagent(
        &mut self,
        session: &str,
        id: &str,
        verb: &str,
        objective: Option<String>,
    ) {
        let Some(target) = self.sessions.get(session) else { return };
        let Some(item) = target.log.view().items.get(id).cloned() else { return };
        let ready = |summary: &str, error: Option<&str>| {
            let set = json!({ "controlStatus": "resultReady", "result": result(summary, error) });
            Change::Set(set)
        };
        match verb {
            "stop" => {
                let closing = Change::Set(json!({ "controlStatus": "closing" }));
                self.follow(session, id, queue([closing, closed("cancelled")]), String::new());
            }
            "interrupt" => {
                let stopped = ready("interrupted by the client", Some("interrupted"));
                self.follow(session, id, queue([stopped]), String::new());
            }
            "close" => {
                let failed = item["result"].get("errorKind").is_some();
                let status = if failed { "failed" } else { "completed" };
                self.follow(session, id, queue([closed(status)]), String::new());
            }
            "followupTask" | "resume" => {
                let mut set = json!({ "controlStatus": "running", "result": null });
                if let Some(objective) = objective {
                    set["objective"] = objective.into();
                }
                let life = [Change::Set(set), ready("done once more", None)];
                self.follow(session, id, queue(life), String::new());
            }
            "reopen" => {
                let mut again = object(item.clone());
                for name in ["result", "usage", "durationMs", "revision", "status"] {
                    again.remove(name);
                }
                again.insert("controlStatus".into(), "accepted".into());
                let child = item["childSessionId"].as_str().unwrap_or_default();
                let turn = item["turnId"].as_str();
                let life = subagent_life(child, false, false).into();
                self.begin_item(session, turn, again, life);
            }
            // A message and a read change the child, which this host does not show.
            _ => {}
        }
    }
}

fn subagent_life(child: &str, fails: bool, closes: bool) -> Vec<Change> {
    let usage = json!({
        "inputTokens": 40, "outputTokens": 8, "cachedTokens": 0, "reasoningTokens": 0,
    });
    let (error, status) =
        if fails { (Some("provider_error"), "failed") } else { (None, "completed") };
    let result = result(if fails { "the provider failed" } else { "there were letters" }, error);
    let mut life = vec![
        Change::Set(json!({ "controlStatus": "starting" })),
        Change::Set(json!({ "controlStatus": "running", "childSessionId": child })),
        Change::Set(json!({ "usage": usage, "durationMs": 48 })),
        Change::Set(json!({ "controlStatus": "resultReady", "result": result })),
    ];
    if closes {
        life.push(closed(status));
    }
    life
}

fn closed(status: &'static str) -> Change {
    Change::End { status, set: json!({ "controlStatus": "closed" }) }
}

fn result(summary: &str, error: Option<&str>) -> Value {
    let mut result = json!({ "summary": summary, "evidenceRefs": [], "artifactRefs": [] });
    if let Some(error) = error {
        result["errorKind"] = error.into();
    }
    result
}
