//! What the steps of a plan do: open, stream and close an item, ask, end the turn, pump a burst.
//!
//! Invariants: one item is open at a time and closed before the turn ends (HOST-11); what was streamed
//! is what the closed item says, or it is marked as cut (ITM-7, ITM-9). Rules: STA-2, TRN-8, TRN-11.

use serde_json::{Map, Value, json};

use super::approvals::Opening;
use super::fold::is_open;
use super::ids::rfc3339;
use super::plan::{INLINE_BYTES_MAX, Offer, Open, Plan, Step};
use super::{Host, Kind};
use crate::profiles::trim;

impl Host {
    pub(super) fn open(&mut self, session: &str, plan: &mut Plan, mut item: Map<String, Value>) {
        item.insert("itemId".into(), self.ids.next(Kind::Item).into());
        item.insert("turnId".into(), plan.turn.turn_id.as_str().into());
        item.insert("revision".into(), 1.into());
        item.insert("status".into(), "inProgress".into());
        item.insert("recordedAt".into(), rfc3339(self.now).into());
        self.event(session, "item/started", json!({ "item": item }));
        plan.open = Some(Open { item, parts: Vec::new(), cut: false });
    }

    pub(super) fn stream(&mut self, session: &str, plan: &mut Plan, part: usize, text: &str) {
        let Some(open) = &mut plan.open else { return };
        plan.first_token_ms.get_or_insert(self.now);
        plan.deltas += 1;
        open.collect(part, text);
        let (id, field) = (open.id().to_owned(), open.field(part));
        self.delta(session, &id, &field, text);
    }

    /// Completes the open item with what was collected and other members.
    pub(super) fn close(
        &mut self,
        session: &str,
        plan: &mut Plan,
        status: &'static str,
        set: &Value,
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
        for (name, value) in set.as_object().into_iter().flatten() {
            open.item.insert(name.clone(), value.clone());
        }
        trim(self.profile, "Item", &mut open.item);
        self.close_item(session, &Value::Object(open.item), status);
    }

    /// Completes an open item as it stands.
    pub(super) fn close_item(&mut self, session: &str, item: &Value, status: &str) {
        let mut item = item.clone();
        item["revision"] = (item["revision"].as_u64().unwrap_or(0) + 1).into();
        item["status"] = status.into();
        item["recordedAt"] = rfc3339(self.now).into();
        self.event(session, "item/completed", json!({ "item": item }));
    }

    pub(super) fn end_foreground(&mut self, session: &str, plan: &Plan) {
        let Some(target) = self.sessions.get(session) else { return };
        let items = &target.log.view().items;
        let children = plan.children.iter().filter_map(|id| items.get(id));
        let agents: Vec<&Value> =
            children.filter(|item| is_open(item)).map(|item| &item["subagentId"]).collect();
        let params = json!({ "turnId": plan.turn.turn_id, "blockingAgents": agents });
        self.event_if_known(session, "turn/foregroundCompleted", params);
    }

    pub(super) fn end_turn(&mut self, session: &str, plan: &Plan, error: Option<String>) {
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
        self.tell_rules(session);
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

    pub(super) fn ask_approval(
        &mut self,
        session: &str,
        plan: &Plan,
        subject: Value,
        offer: Offer,
    ) {
        let Some(open) = &plan.open else { return };
        let member = |name: &str| open.item[name].as_str().unwrap_or_default();
        self.open_approval(
            session,
            &Opening {
                approval_id: member("approvalId"),
                turn_id: &plan.turn.turn_id,
                item_id: open.id(),
                call_id: member("callId"),
                tool: member("tool"),
                args: member("args"),
                subject,
            },
            offer,
        );
    }

    pub(super) fn ask_question(
        &mut self,
        session: &str,
        plan: &Plan,
        questions: Value,
        auto_ms: Option<u64>,
    ) {
        let Some(open) = &plan.open else { return };
        let mut prompt = json!({
            "userInputId": self.ids.next(Kind::Input),
            "turnId": plan.turn.turn_id,
            "itemId": open.id(),
            "toolCallId": open.item["callId"],
            "toolName": open.item["tool"],
            "questions": questions,
        });
        if let Some(auto_ms) = auto_ms {
            prompt["autoResolutionMs"] = auto_ms.into();
        }
        self.open_prompt(session, prompt);
    }
}
