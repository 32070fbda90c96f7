//! Everything on the side of a turn that is no turn: goals, compaction, shells, tasks, subagents,
//! workflows, skills, stored output.
//!
//! Purpose: the commands of those families ([`Host::execute_work`]) and what they do to items
//! ([`Effect`]). Invariants: state is what the log folds to, [`Work`] only knows what happens next;
//! a script's host answers and leaves the items to the script (DSL-7). Rules: section 13.

mod clocks;
mod compaction;
mod extras;
mod goals;
mod outputs;
mod shell;
mod skills;
mod subagents;
mod tasks;
mod tracks;
mod workflows;

use std::collections::{BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use clocks::Clock;
pub(super) use extras::Uploads;
pub(crate) use tracks::Change;
use tracks::Track;

use super::sessions::str_of;
use super::{After, Host, Mode, Refusal, Reply};

/// What a session does beside the plan of its turn.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Items with a timetable of their own, in the order they began.
    tracks: Vec<Track>,
    /// The turn that works on the goal.
    goal_turn: Option<String>,
    /// Countdowns of prompts and news about rules.
    clocks: Vec<Clock>,
    /// Approvals whose rule is told of after the turn.
    late_rules: BTreeSet<String>,
}

impl Work {
    /// When something happens next.
    pub(super) fn due(&self) -> Option<u64> {
        let tracks = self.tracks.iter().filter_map(|track| track.due);
        tracks.chain(self.clocks.iter().filter_map(|clock| clock.due)).min()
    }

    /// Forgets all that would happen next: the process is another one.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What follows an answer of this module.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// A `userShell` item.
    Shell { command_id: String, text: String, turn: Option<String> },
    /// A manual compaction.
    Compact { turn: String },
    /// Starts the turn that the command admitted.
    Wake,
    /// A tool goes on in the background.
    Background { task: String },
    /// A task is stopped.
    Stop { task: String },
    /// All tasks are stopped.
    StopAll,
    /// A subagent is steered.
    Subagent { item: String, verb: String, objective: Option<String> },
    /// A workflow is steered.
    Workflow { item: String, verb: String, params: Map<String, Value> },
}

impl Host {
    /// Answers the families of this module.
    pub(super) fn execute_work(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        after: &mut Vec<After>,
    ) -> Reply {
        match method {
            "goal/set" | "goal/edit" | "goal/pause" | "goal/resume" | "goal/clear" => {
                self.goal_command(method, params, after)
            }
            "session/compact" => self.session_compact(params, after),
            "session/userShell" => self.session_user_shell(params, after),
            "task/background" | "task/stop" | "task/stopAll" => {
                self.task_command(method, params, after)
            }
            "task/list" => self.task_list(params),
            "item/readOutput" => self.item_read_output(params),
            "skill/list" => self.skill_list(params),
            "skill/setActivation" => self.skill_set_activation(params, after),
            "skill/import" => self.skill_import(params),
            "hook/list" => self.hook_list(params),
            "media/upload" => self.media_upload(params),
            "recap/request" | "recap/cancel" => self.recap(method, params, after),
            "feedback/submit" => self.feedback_submit(),
            "usage/read" => Ok(self.usage_read()),
            _ if method.starts_with("subagent/") => self.subagent_command(method, params, after),
            _ if method.starts_with("workflow/") => self.workflow_command(method, params, after),
            _ if method.starts_with("plugin/") => self.plugin_command(method, params),
            _ if method.starts_with("computerUse") => self.computer_use(method),
            _ => Err(Refusal::new(-32601, "this fake host does not model the method")),
        }
    }

    /// The host closes in order: what still runs gets its terminal (PRC-4, HOST-11).
    pub(super) fn end_work(&mut self, session: &str) {
        let Some(target) = self.sessions.get_mut(session) else { return };
        let tracks = target.work.tracks.iter().map(|track| track.item.clone());
        for id in tracks.collect::<Vec<_>>() {
            if let Some(item) = self.open_item(session, &id) {
                self.cancel_item(session, &item);
            }
        }
    }

    /// Plays an effect. A script sends the items of its host itself.
    pub(super) fn run_effect(&mut self, session: &str, effect: Effect) {
        if self.options.mode == Mode::Scripted {
            return;
        }
        match effect {
            Effect::Shell { command_id, text, turn } => {
                self.begin_shell(session, &command_id, &text, turn.as_deref());
            }
            Effect::Compact { turn } => {
                self.begin_compaction(session, &turn, "manual");
            }
            Effect::Wake => self.launch(session),
            Effect::Background { task } => self.send_to_background(session, &task),
            Effect::Stop { task } => self.stop_task(session, &task),
            Effect::StopAll => self.stop_all(session),
            Effect::Subagent { item, verb, objective } => {
                self.run_subagent(session, &item, &verb, objective);
            }
            Effect::Workflow { item, verb, params } => {
                self.run_workflow(session, &item, &verb, &params);
            }
        }
    }
}

/// `{commandId, status: "accepted"}`.
fn accepted(params: &Map<String, Value>) -> Value {
    json!({ "commandId": params.get("commandId"), "status": "accepted" })
}

fn rejected(params: &Map<String, Value>, reason: &str) -> Refusal {
    Refusal::rejected(str_of(params, "commandId").unwrap_or_default(), reason)
}

/// A queue of changes.
fn queue(changes: impl IntoIterator<Item = Change>) -> VecDeque<Change> {
    changes.into_iter().collect()
}
