//! Folding the log of a session into its state.
//!
//! Purpose: the only place that turns events into state; histories, snapshots, pending requests,
//! `Session` objects and the legality of later events are read from [`View`]. Inputs: events in
//! log order. Invariants: pure, total (an odd event changes nothing), first resolution wins.
//! It knows nothing of connections or time. Rules: ITM-2, ITM-3, HOST-11, HOST-12, CUR-6.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

/// Facts from before the first event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Birth {
    pub(crate) workspace_root: Option<String>,
    pub(crate) provider_id: String,
    pub(crate) model_id: String,
    pub(crate) mode: String,
    pub(crate) permission_profile: Option<String>,
    pub(crate) created_ms: u64,
    /// `ForkProvenance`, for a fork.
    pub(crate) forked_from: Option<Value>,
    /// `SideProvenance`, for a side chat.
    pub(crate) side_from: Option<Value>,
}

/// A turn by its two ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TurnRef {
    pub(crate) turn_id: String,
    pub(crate) command_id: String,
}

impl TurnRef {
    pub(crate) fn to_value(&self) -> Value {
        json!({ "turnId": self.turn_id, "commandId": self.command_id })
    }
}

/// An approval: the request params as they stand now, and the resolution once there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Approval {
    pub(crate) params: Map<String, Value>,
    pub(crate) resolution: Option<Value>,
}

/// A user-input prompt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prompt {
    pub(crate) params: Map<String, Value>,
    pub(crate) settlement: Option<Value>,
}

impl Approval {
    /// A member of the request; null where there is none (an approval that was never requested).
    pub(crate) fn get(&self, name: &str) -> &Value {
        self.params.get(name).unwrap_or(&Value::Null)
    }
}

impl Prompt {
    /// A member of the request; null where there is none.
    pub(crate) fn get(&self, name: &str) -> &Value {
        self.params.get(name).unwrap_or(&Value::Null)
    }
}

/// The state of one session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) items: IndexMap<String, Value>,
    pub(crate) active: Option<TurnRef>,
    pub(crate) ended: BTreeSet<String>,
    pub(crate) last_turn: Option<Value>,
    pub(crate) turn_count: u64,
    pub(crate) approvals: IndexMap<String, Approval>,
    pub(crate) prompts: IndexMap<String, Prompt>,
    pub(crate) mode: Value,
    pub(crate) model: Value,
    pub(crate) goal: Value,
    pub(crate) todo_list: Value,
    pub(crate) branch: Value,
    pub(crate) name: Option<String>,
    pub(crate) effort: Option<Value>,
    pub(crate) context: Option<Value>,
    pub(crate) tokens: Value,
    pub(crate) first_prompt: Option<String>,
    /// What is open, in the order it opened, so that nobody searches a long session for it.
    open: Open,
}

/// Ids of open entities.
#[derive(Clone, Debug, Default, PartialEq)]
struct Open {
    items: IndexSet<String>,
    approvals: IndexSet<String>,
    prompts: IndexSet<String>,
}

impl View {
    pub(crate) fn new(birth: &Birth) -> Self {
        Self {
            items: IndexMap::new(),
            active: None,
            ended: BTreeSet::new(),
            last_turn: None,
            turn_count: 0,
            approvals: IndexMap::new(),
            prompts: IndexMap::new(),
            mode: json!({ "mode": birth.mode, "source": "startup", "lastCommandId": null }),
            model: json!({
                "modelId": birth.model_id, "providerId": birth.provider_id, "source": "default",
            }),
            goal: Value::Null,
            todo_list: Value::Null,
            branch: Value::Null,
            name: None,
            effort: None,
            context: None,
            tokens: json!({ "promptTokens": 0, "outputTokens": 0, "totalTokens": 0 }),
            first_prompt: None,
            open: Open::default(),
        }
    }

    /// Applies one event.
    pub(crate) fn apply(&mut self, method: &str, params: &Value) {
        match method {
            "turn/started" => self.on_turn_started(params),
            "turn/completed" => self.on_turn_completed(params),
            "turn/unqueued" => {
                if let Some(turn) = text(params, "turnId") {
                    self.ended.insert(turn);
                }
            }
            "turn/retracted" => self.on_retracted(params),
            "item/started" | "item/updated" | "item/completed" => self.on_item(params),
            "approval/requested" => {
                if let (Some(id), Some(params)) = (text(params, "approvalId"), params.as_object()) {
                    let approval = Approval { params: params.clone(), resolution: None };
                    if !self.approvals.contains_key(&id) {
                        self.open.approvals.insert(id.clone());
                        self.approvals.insert(id, approval);
                    }
                }
            }
            "approval/updated" => self.on_approval_updated(params),
            "approval/resolved" => {
                if let Some(id) = text(params, "approvalId") {
                    self.open.approvals.shift_remove(&id);
                    let approval = self
                        .approvals
                        .entry(id)
                        .or_insert_with(|| Approval { params: Map::new(), resolution: None });
                    approval.resolution.get_or_insert_with(|| params.clone());
                }
            }
            "userInput/requested" => {
                if let (Some(id), Some(params)) = (text(params, "userInputId"), params.as_object())
                {
                    let prompt = Prompt { params: params.clone(), settlement: None };
                    if !self.prompts.contains_key(&id) {
                        self.open.prompts.insert(id.clone());
                        self.prompts.insert(id, prompt);
                    }
                }
            }
            "userInput/settled" => {
                if let Some(id) = text(params, "userInputId") {
                    self.open.prompts.shift_remove(&id);
                    let prompt = self
                        .prompts
                        .entry(id)
                        .or_insert_with(|| Prompt { params: Map::new(), settlement: None });
                    prompt.settlement.get_or_insert_with(|| params.clone());
                }
            }
            "session/modelChanged" => {
                self.model = pick(params, &["modelId", "providerId", "source"]);
            }
            "session/approvalModeChanged" => {
                self.mode = json!({
                    "mode": params["mode"], "source": params["source"],
                    "lastCommandId": params["commandId"],
                });
            }
            "session/reasoningEffortChanged" => {
                self.effort = Some(pick(params, &["reasoningEffort", "source"]));
            }
            "session/goalChanged" => self.goal = params["goal"].clone(),
            "session/todoListChanged" => {
                self.todo_list = pick(params, &["revision", "sourceTool", "items"]);
            }
            "session/branchChanged" => {
                self.branch = pick(params, &["workspaceRoot", "branch", "vcs"]);
            }
            "session/nameChanged" => self.name = text(params, "name"),
            "session/contextUsage" => {
                self.context = Some(pick(params, &["windowTokens", "usedTokens", "pressure"]));
            }
            "session/tokenUsage" => {
                let cumulative = params.get("cumulative").filter(|value| value.is_object());
                self.tokens = cumulative.unwrap_or(&self.tokens).clone();
            }
            _ => {}
        }
    }

    fn on_turn_started(&mut self, params: &Value) {
        if let (Some(turn_id), Some(command_id)) =
            (text(params, "turnId"), text(params, "commandId"))
        {
            self.active = Some(TurnRef { turn_id, command_id });
        }
    }

    fn on_turn_completed(&mut self, params: &Value) {
        let Some(turn_id) = text(params, "turnId") else { return };
        if self.active.as_ref().is_some_and(|active| active.turn_id == turn_id) {
            self.active = None;
        }
        if self.ended.insert(turn_id) && params["terminal"] == "completed" {
            self.turn_count += 1;
        }
        self.last_turn = Some(pick(params, &["turnId", "terminal", "reason", "error"]));
    }

    /// The user message is taken back; an absent or unknown outcome says so too (section 8.2).
    fn on_retracted(&mut self, params: &Value) {
        if params["outcome"] == "declined" {
            return;
        }
        let message = self
            .items
            .values_mut()
            .find(|item| item["kind"] == "userMessage" && item["turnId"] == params["turnId"]);
        if let Some(message) = message {
            message["retracted"] = true.into();
        }
    }

    fn on_item(&mut self, params: &Value) {
        let item = &params["item"];
        let Some(id) = text(item, "itemId") else { return };
        if item["kind"] == "userMessage" && self.first_prompt.is_none() {
            self.first_prompt = text(item, "displayText").or_else(|| text(item, "text"));
        }
        let newer = self.items.get(&id).is_none_or(|known| {
            let (old, new) = (known["revision"].as_u64(), item["revision"].as_u64());
            new > old || (new == old && is_open(known) && !is_open(item))
        });
        if newer {
            match is_open(item) {
                true => self.open.items.insert(id.clone()),
                false => self.open.items.shift_remove(&id),
            };
            self.items.insert(id, item.clone());
        }
    }

    fn on_approval_updated(&mut self, params: &Value) {
        let approval = text(params, "approvalId").and_then(|id| self.approvals.get_mut(&id));
        if let Some(approval) = approval {
            for name in ["currentRequirementId", "subject", "availableChoices"] {
                if let Some(value) = params.get(name) {
                    approval.params.insert(name.into(), value.clone());
                }
            }
        }
    }

    /// Approvals without a resolution, in the order they opened.
    pub(crate) fn pending_approvals(&self) -> impl Iterator<Item = (&String, &Approval)> {
        self.open.approvals.iter().filter_map(|id| self.approvals.get_key_value(id))
    }

    /// Prompts without a settlement, in the order they opened.
    pub(crate) fn pending_prompts(&self) -> impl Iterator<Item = (&String, &Prompt)> {
        self.open.prompts.iter().filter_map(|id| self.prompts.get_key_value(id))
    }

    /// Items of a turn that are still open.
    pub(crate) fn open_items(&self, turn_id: &str) -> Vec<Value> {
        let open = self.open.items.iter().filter_map(|id| self.items.get(id));
        open.filter(|item| item["turnId"] == turn_id).cloned().collect()
    }
}

/// An item is open while its status is `inProgress`; every other word is terminal (ITM-4).
pub(crate) fn is_open(item: &Value) -> bool {
    item["status"] == "inProgress"
}

/// A string member.
pub(crate) fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The named members that are there.
fn pick(value: &Value, names: &[&str]) -> Value {
    let mut out = Map::new();
    for name in names {
        if let Some(member) = value.get(*name) {
            out.insert((*name).to_owned(), member.clone());
        }
    }
    Value::Object(out)
}
