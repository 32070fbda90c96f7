//! Sessions that begin as a copy of another one: forks and side chats.
//!
//! Purpose: copy a log up to the end of a turn. Invariants: the source is only read, so it needs no
//! lease and may be loaded anywhere; nothing of an unfinished turn is copied; the copy's positions and
//! cursors are its own; settings that changed after the cut are copied too, because the branch goes on
//! with the source's present model. Rules: SES-5, FORK-4 and FORK-5 of the adapter's contract.

use serde_json::{Map, Value, json};

use super::fold::Birth;
use super::log::Entry;
use super::sessions::str_of;
use super::{Host, Kind, Log, Refusal, Reply, Session};
use crate::profiles::trim;

/// Events that set what a turn runs with.
const SETTINGS: &[&str] =
    &["session/modelChanged", "session/approvalModeChanged", "session/reasoningEffortChanged"];

impl Host {
    pub(super) fn session_fork(&mut self, params: &Map<String, Value>) -> Reply {
        let source = self.stored(params)?;
        let wanted = params.get("cutPoint").and_then(|cut| cut["lastTurnId"].as_str());
        let cut = cut_position(source, wanted)?;
        let from = json!({
            "sessionId": source.log.session_id, "cutCursor": source.log.cursor(cut),
            "cutExplicit": wanted.is_some(), "commandId": params.get("commandId"),
        });
        let excluded = params.get("excludeItems") == Some(&Value::Bool(true));
        let birth = Birth { forked_from: Some(from), side_from: None, ..self.reborn(source) };
        let copied = copied_entries(source, cut);
        self.branch(birth, &copied, excluded)
    }

    /// A side chat hangs on a loaded main session (section 6.1).
    pub(super) fn session_side_chat(&mut self, params: &Map<String, Value>) -> Reply {
        self.loaded(params)?;
        let source = self.stored(params)?;
        if source.log.birth().side_from.is_some() {
            let command_id = str_of(params, "commandId").unwrap_or_default();
            // The word is not published.
            return Err(Refusal::rejected(command_id, "side_session"));
        }
        let cut = cut_position(source, None)?;
        let from = json!({
            "sessionId": source.log.session_id, "cutCursor": source.log.cursor(cut),
            "commandId": params.get("commandId"),
        });
        let birth = Birth { side_from: Some(from), forked_from: None, ..self.reborn(source) };
        let copied = copied_entries(source, cut);
        self.branch(birth, &copied, false)
    }

    fn reborn(&self, source: &Session) -> Birth {
        Birth { created_ms: self.now, ..source.log.birth().clone() }
    }

    fn branch(&mut self, birth: Birth, copied: &[Entry], excluded: bool) -> Reply {
        let id = self.ids.next(Kind::Session);
        let first = Log::new(id.clone(), birth);
        self.bear(first);
        for entry in copied {
            let mut params = entry.value();
            if let (Value::Object(params), Some(target)) = (&mut params, self.sessions.get_mut(&id))
            {
                params.insert("sessionId".into(), id.as_str().into());
                params.insert("viewCursor".into(), target.log.cursor(entry.position).into());
                let params = Value::Object(params.clone());
                target.log.put(entry.position, &entry.method, &params, entry.hidden);
                self.record_event(&id, &entry.method, &params);
            }
        }
        self.record_head(&id);
        self.persist(&id);
        self.list_changed(&id);
        let session = &self.sessions[&id];
        let (history, _) = self.history(session, "auto", excluded, None)?;
        let mut result = self.attached(session, history);
        trim(self.profile, "Attached", &mut result);
        Ok(Value::Object(result))
    }
}

/// Where the copy ends: after the terminal of the wanted turn, or of the last turn that has one.
fn cut_position(source: &Session, wanted: Option<&str>) -> Result<u64, Refusal> {
    let ends = source.log.entries().iter().rev().filter(|e| e.method == "turn/completed");
    let mut ends = ends.filter(|end| match wanted {
        None => true,
        Some(wanted) => end.value()["turnId"] == wanted,
    });
    match (ends.next(), wanted) {
        (Some(end), _) => Ok(end.position),
        (None, None) => Ok(0),
        (None, Some(turn)) => {
            let refusal = Refusal::new(-32023, "the turn is unknown or not finished");
            Err(refusal.with("lastTurnId", turn))
        }
    }
}

fn copied_entries(source: &Session, cut: u64) -> Vec<Entry> {
    let entries = source.log.entries().iter();
    let copied =
        |entry: &&Entry| entry.position <= cut || SETTINGS.contains(&entry.method.as_ref());
    entries.filter(copied).cloned().collect()
}
