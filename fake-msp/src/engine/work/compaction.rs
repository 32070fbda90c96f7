//! `session/compact` and the `compaction` item.
//!
//! Invariant: a compaction needs a turn that ended after the last one. Rules: section 13.2, CUR-5.

use serde_json::{Map, Value, json};

use super::super::fold::is_open;
use super::super::plan::object;
use super::super::sessions::str_of;
use super::super::{After, Host, Reply};
use super::{Change, Effect, accepted, queue, rejected};

impl Host {
    pub(super) fn session_compact(
        &mut self,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        let offered = self.profile.compacts;
        let session = self.loaded(params)?;
        if !offered {
            return Err(rejected(params, "compaction_unavailable"));
        }
        let view = session.log.view();
        let last = view.last_turn.as_ref().and_then(|turn| turn["turnId"].as_str());
        let active = view.active.as_ref().map(|turn| turn.turn_id.as_str());
        let known = |turn: &&str| Some(*turn) == active || view.ended.contains(*turn);
        let turn = str_of(params, "turnId").or(active).or(last).filter(known);
        let Some(turn) = turn else { return Err(rejected(params, "missing_run")) };
        // What lies behind the last compaction can be summarized; one that runs has taken it.
        let items = view.items.values().rev();
        let fresh = items.take_while(|item| item["kind"] != "compaction");
        let ended =
            |item: &Value| item["turnId"].as_str().is_some_and(|id| view.ended.contains(id));
        let mut fresh = fresh.filter(|item| !is_open(item) && ended(item));
        if fresh.next().is_none() {
            let mut ack = accepted(params);
            ack["status"] = "noop".into();
            ack["reason"] = "no_compactable_history".into();
            return Ok(ack);
        }
        let effect = Effect::Compact { turn: turn.to_owned() };
        after.push(After::Work { session: session.log.session_id.clone(), effect });
        Ok(accepted(params))
    }

    /// Opens a compaction that ends by itself.
    pub(in super::super) fn begin_compaction(
        &mut self,
        session: &str,
        turn: &str,
        trigger: &str,
    ) -> Option<String> {
        let target = self.sessions.get(session)?;
        let before = target.log.view().tokens["totalTokens"].as_u64().unwrap_or(0);
        let through = target.log.head();
        let item = object(json!({ "kind": "compaction", "trigger": trigger }));
        let set = json!({
            "outcome": "compacted", "strategyId": "fake-summary", "summarizedThrough": through,
            "tokensBefore": before, "tokensAfter": before / 5,
        });
        let life = [Change::End { status: "completed", set }];
        Some(self.begin_item(session, Some(turn), item, queue(life)))
    }
}
