//! The command ledger: exactly-once by `commandId`.
//!
//! Purpose: remember each admitted command with its payload and its answer. Invariants: an equal
//! payload gets the value-identical answer, another payload a conflict; refusals that admitted
//! nothing are not remembered. It knows no command. Rules: CMD-4, CMD-5, HOST-4.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Refusal, Reply};

/// Commands whose ledger row ends with the process.
const HOST_LIFETIME: &[&str] =
    &["turn/interrupt", "turn/cancel", "task/stop", "task/stopAll", "media/upload"];

#[derive(Debug)]
struct Row {
    method: String,
    params: Map<String, Value>,
    /// `None` while a script has not answered yet; then the ids of the replays that wait.
    reply: Option<Reply>,
    waiting: Vec<Value>,
}

/// A command as a session's log keeps it.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) command_id: String,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// `None` for an intake that never settled.
    pub(crate) reply: Option<Reply>,
}

/// What the ledger says about a command that arrived.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Never seen: go on.
    Fresh,
    /// The same command again: this is its answer.
    Replay(Reply),
    /// The same command again, and its first copy is not answered yet: this one was queued.
    Waiting,
    /// The same id with another payload.
    Conflict,
}

/// All admitted commands of one host.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    rows: BTreeMap<String, Row>,
}

impl Ledger {
    /// Looks a command up. Payloads are compared as JSON values: member order does not matter.
    pub(crate) fn look(
        &mut self,
        command_id: &str,
        method: &str,
        params: &Map<String, Value>,
        id: &Value,
    ) -> Seen {
        let Some(row) = self.rows.get_mut(command_id) else { return Seen::Fresh };
        if row.method != method || row.params != *params {
            return Seen::Conflict;
        }
        match &row.reply {
            Some(reply) => Seen::Replay(reply.clone()),
            None => {
                row.waiting.push(id.clone());
                Seen::Waiting
            }
        }
    }

    /// Notes a command whose answer will come later.
    pub(crate) fn open(&mut self, command_id: &str, method: &str, params: &Map<String, Value>) {
        let row = Row {
            method: method.to_owned(),
            params: params.clone(),
            reply: None,
            waiting: Vec::new(),
        };
        self.rows.insert(command_id.to_owned(), row);
    }

    /// What a new process finds of the old one's commands (CMD-6): answers stay, intakes that never
    /// settled are abandoned, and commands whose dedupe ends with the host are forgotten.
    pub(crate) fn restart(&mut self) {
        self.rows.retain(|_, row| !HOST_LIFETIME.contains(&row.method.as_str()));
        for (command_id, row) in &mut self.rows {
            row.waiting.clear();
            row.reply.get_or_insert_with(|| Err(Refusal::rejected(command_id, "abandoned")));
        }
    }

    /// A queued turn could not be launched: from now on its command is refused, although it was
    /// accepted before (recorded; TRN-9).
    pub(crate) fn fail_launch(&mut self, command_id: &str) {
        if let Some(row) = self.rows.get_mut(command_id)
            && row.reply.is_some()
        {
            row.reply = Some(Err(Refusal::rejected(command_id, "deferred_start_failed")));
        }
    }

    /// Takes over a command of an earlier host from a session's log (CMD-6). A command that this host
    /// knows stays as it is.
    pub(crate) fn adopt(&mut self, stored: Stored) {
        let Stored { command_id, method, params, reply } = stored;
        let forgotten = matches!(&reply, Some(Err(refusal)) if !refusal.is_durable());
        let known = self.rows.contains_key(&command_id);
        if known || forgotten || HOST_LIFETIME.contains(&method.as_str()) {
            return;
        }
        let reply = reply.unwrap_or_else(|| Err(Refusal::rejected(&command_id, "abandoned")));
        let row = Row { method, params, reply: Some(reply), waiting: Vec::new() };
        self.rows.insert(command_id, row);
    }

    /// Stores the answer, or forgets the command when nothing was admitted. Returns the ids of
    /// replays that waited for it.
    pub(crate) fn settle(&mut self, command_id: &str, reply: &Reply) -> Vec<Value> {
        let durable = match reply {
            Ok(_) => true,
            Err(refusal) => refusal.is_durable(),
        };
        let Some(row) = self.rows.get_mut(command_id) else { return Vec::new() };
        let waiting = std::mem::take(&mut row.waiting);
        if durable {
            row.reply = Some(reply.clone());
        } else {
            self.rows.remove(command_id);
        }
        waiting
    }
}
