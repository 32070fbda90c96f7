//! What must hold in every run, whether or not a line mentions it (DEC-3).
//!
//! In: the transcript and the state of the hosts at the end. Out: findings, each with the invariant's
//! name, the number of the frame, and what was expected. It judges frames from outside: nothing of the
//! adapter's own bookkeeping is asked.
//!
//! - I1 one response per request · I2 one `turn/start` per prompt and one
//!   `turn/steer` per correction · I3 nothing of a turn after its answer
//!   but updates of known cards, nothing of a session before it is known or after its close · I4 only
//!   JSON-RPC on stdout · I5 no planted secret · I6 every host is gone · I7 the client oracle of the fake
//!   host · E1 every frame of the adapter has the schema of its method · E2 a card is opened once and before
//!   its updates · E3 the text of an item is a prefix of what the host said, and equals it in a turn that
//!   ended well · E4 nothing is granted or answered that neither the person nor the mode said (`grants`) · E5 the views of
//!   a session's options agree (`views`) · E6 nothing is asked, decided or cancelled twice (`once`).

use std::collections::{BTreeMap, BTreeSet};

use muse_code_acp::acp::schema;
use serde_json::{Value, json};

use super::transcript::{Entry, Lane, Transcript};
use super::views::Views;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `I1`, `E2`, …
    pub invariant: &'static str,
    /// Index into the transcript, if one frame shows it.
    pub frame: Option<usize>,
    /// What is wrong, without the frame's content.
    pub text: String,
}

/// Facts at the end of a run that the transcript does not hold.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// Hosts that are still there.
    pub hosts_left: usize,
    /// The client oracle's findings, by host.
    pub violations: Vec<String>,
    /// Values that must not be seen.
    pub secrets: Vec<String>,
    /// The host lied in this run: what it said is no yardstick for E3 and I7.
    pub lies: bool,
    /// The editor vanished: nobody knows which answers were under way.
    pub editor_lost: bool,
}

/// Judges a run.
#[must_use]
pub fn judge(transcript: &Transcript, ending: &Ending) -> Vec<Finding> {
    let mut watch = Watch { findings: Vec::new(), state: State::default() };
    for (index, entry) in transcript.entries.iter().enumerate() {
        watch.secrets(index, entry, &ending.secrets);
        match (entry.lane, entry.from_adapter) {
            (Lane::Editor, true) => watch.editor_got(index, entry),
            (Lane::Editor, false) => watch.editor_sent(index, entry),
            (Lane::Host(host), true) => watch.host_got(index, host, entry),
            (Lane::Host(_), false) => watch.host_sent(entry),
        }
    }
    for index in super::grants::unasked(transcript) {
        watch.find(
            "E4",
            Some(index),
            "neither an answer of the person nor the mode stands behind this",
        );
    }
    if let Some((index, text)) = super::once::repeated(&transcript.entries) {
        watch.find("E6", Some(index), text);
    }
    watch.end(ending);
    watch.findings
}

struct Watch {
    findings: Vec<Finding>,
    state: State,
}

#[derive(Default)]
struct State {
    /// Requests of the editor by id, with method and session; answered ones are removed.
    open: BTreeMap<String, (String, String)>,
    answered: BTreeSet<String>,
    /// Questions of the adapter that the editor has not answered.
    asked: BTreeSet<String>,
    /// All questions of the adapter; true once it took them back.
    taken_back: BTreeMap<String, bool>,
    /// Sessions with an open prompt.
    prompting: BTreeMap<String, String>,
    closed: BTreeSet<String>,
    /// Sessions that the editor has heard of: it named them, or an answer made them.
    known: BTreeSet<String>,
    /// Prompts that were sent and not yet submitted, per session.
    submissions: BTreeMap<String, i64>,
    /// Corrections of the editor that no host has been sent, per session.
    corrections: BTreeMap<String, i64>,
    /// Cards by (session, id).
    cards: BTreeSet<(String, String)>,
    /// Shown text by message id, in order.
    shown: BTreeMap<String, String>,
    /// What the host said by item id: one text, and more when a snapshot did not continue the last.
    said: BTreeMap<String, Vec<String>>,
    /// Items that were completed and not cut.
    whole: BTreeSet<String>,
    views: Views,
    /// Some prompt of the run did not end well.
    ended_badly: bool,
}

impl Watch {
    fn find(&mut self, invariant: &'static str, frame: Option<usize>, text: impl Into<String>) {
        self.findings.push(Finding { invariant, frame, text: text.into() });
    }

    fn secrets(&mut self, index: usize, entry: &Entry, secrets: &[String]) {
        if !entry.from_adapter || entry.lane != Lane::Editor {
            return;
        }
        let text = entry.frame.to_string();
        if secrets.iter().any(|secret| text.contains(secret.as_str())) {
            self.find("I5", Some(index), "a planted secret reached the editor");
        }
    }

    fn editor_sent(&mut self, _: usize, entry: &Entry) {
        let (Some(method), Some(id)) = (entry.method(), entry.frame.get("id")) else {
            if entry.is_response() {
                self.state.asked.remove(&entry.frame["id"].to_string());
            }
            return;
        };
        let session = entry.frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
        self.state.known.insert(session.clone());
        if matches!(method, "_muse/steer" | "_session/steering") {
            *self.state.corrections.entry(session.clone()).or_default() += 1;
        }
        self.state.open.insert(id.to_string(), (method.to_owned(), session));
    }

    fn editor_got(&mut self, index: usize, entry: &Entry) {
        if entry.frame.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return self.find("I4", Some(index), "a line on stdout is no JSON-RPC 2.0 object");
        }
        match entry.method() {
            None => self.response(index, entry),
            Some("session/update") => self.update(index, entry),
            Some("session/request_permission") => {
                if entry.frame["params"]["options"].as_array().is_none_or(Vec::is_empty) {
                    self.find("E1", Some(index), "a question without options");
                }
                let params = entry.frame["params"].clone();
                let fits =
                    serde_json::from_value::<schema::RequestPermissionRequest>(params).is_ok();
                self.question(index, entry, fits);
            }
            Some("elicitation/create") => {
                let params = entry.frame["params"].clone();
                let fits =
                    serde_json::from_value::<schema::CreateElicitationRequest>(params).is_ok();
                self.question(index, entry, fits);
            }
            Some("$/cancel_request") => self.withdrawal(index, entry),
            Some(method) => {
                let text = format!("{method} is not among the methods that the adapter sends");
                self.find("E1", Some(index), text);
            }
        }
    }

    fn response(&mut self, index: usize, entry: &Entry) {
        let id = entry.frame["id"].to_string();
        if entry.frame.get("result").is_some() == entry.frame.get("error").is_some() {
            self.find("E1", Some(index), "a response has either a result or an error");
        }
        let Some((method, session)) = self.state.open.remove(&id) else {
            // Input without a usable id is answered with null as often as it comes (WIRE-3, WIRE-4).
            if id != "null" {
                let again =
                    if self.state.answered.contains(&id) { "a second time" } else { "unasked" };
                self.find("I1", Some(index), format!("request {id} was answered {again}"));
            }
            return;
        };
        self.state.answered.insert(id);
        if let Some(result) = entry.frame.get("result")
            && let Err(text) = self.state.views.answered(&method, &session, result)
        {
            self.find("E5", Some(index), text);
        }
        match method.as_str() {
            "session/prompt" => {
                self.state.ended_badly |= entry.frame["result"]["stopReason"] != "end_turn";
                // A refused second prompt does not end the first.
                if self.state.prompting.get(&session) == Some(&entry.frame["id"].to_string()) {
                    self.state.prompting.remove(&session);
                }
            }
            "session/new" => {
                let made = entry.frame["result"]["sessionId"].as_str();
                self.state.known.extend(made.map(str::to_owned));
            }
            "_muse/steer" | "_session/steering" => self.corrected(index, &method, entry),
            "session/close" if entry.frame.get("result").is_some() => {
                self.state.closed.insert(session);
            }
            _ => {}
        }
    }

    /// The result of a correction has one shape a method (STE-1, STE-14).
    fn corrected(&mut self, index: usize, method: &str, entry: &Entry) {
        let Some(result) = entry.frame.get("result") else { return };
        let fits = match method {
            "_muse/steer" => {
                result["turnId"].as_str().is_some_and(|turn| !turn.is_empty())
                    && *result == json!({ "status": "accepted", "turnId": result["turnId"] })
            }
            _ => *result == json!({ "outcome": "injected" }),
        };
        if !fits {
            self.find("E1", Some(index), format!("the result of {method} does not have its shape"));
        }
    }

    fn update(&mut self, index: usize, entry: &Entry) {
        let params = &entry.frame["params"];
        if serde_json::from_value::<schema::SessionNotification>(params.clone()).is_err() {
            return self.find("E1", Some(index), "session/update does not have its schema");
        }
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if !self.state.known.contains(&session) {
            self.find("I3", Some(index), "an update of a session that nobody knows yet");
        }
        if self.state.closed.contains(&session) {
            self.find("I3", Some(index), "an update of a session that is closed");
        }
        let prompting = self.has_prompt(&session);
        if !prompting
            && !matches!(
                kind,
                "tool_call_update"
                    | "session_info_update"
                    | "config_option_update"
                    | "current_mode_update"
            )
        {
            self.find("I3", Some(index), format!("{kind} outside a prompt of its session"));
        }
        if let Err(text) = self.state.views.updated(&session, update) {
            self.find("E5", Some(index), text);
        }
        if let Some(turn) = update["_meta"].get("muse/activeTurnId")
            && (!(turn.is_null() || turn.is_string()) || !prompting)
        {
            self.find(
                "E1",
                Some(index),
                "muse/activeTurnId outside a prompt, or no turn and not null",
            );
        }
        let card =
            || (session.clone(), update["toolCallId"].as_str().unwrap_or_default().to_owned());
        match kind {
            "tool_call" if !self.state.cards.insert(card()) => {
                self.find("E2", Some(index), "a card was opened twice");
            }
            "tool_call_update" if !self.state.cards.contains(&card()) => {
                self.find("E2", Some(index), "an update of a card that was never opened");
            }
            "agent_message_chunk" => {
                if let Some(id) = update["messageId"].as_str() {
                    let text = update["content"]["text"].as_str().unwrap_or_default();
                    self.state.shown.entry(id.to_owned()).or_default().push_str(text);
                }
            }
            _ => {}
        }
    }

    /// A request that the person answers.
    fn question(&mut self, index: usize, entry: &Entry, fits: bool) {
        let params = &entry.frame["params"];
        if !fits {
            let text = format!("{} does not have its schema", entry.method().unwrap_or_default());
            return self.find("E1", Some(index), text);
        }
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        if !self.has_prompt(&session) {
            self.find("I3", Some(index), "a question outside a prompt of its session");
        }
        let id = entry.frame["id"].to_string();
        if !self.state.asked.insert(id.clone()) || self.state.taken_back.insert(id, false).is_some()
        {
            self.find("E1", Some(index), "a request id of the adapter was used twice");
        }
    }

    /// The adapter takes a question back. The answer may be under way.
    fn withdrawal(&mut self, index: usize, entry: &Entry) {
        let id = entry.frame["params"]["requestId"].to_string();
        if self.state.taken_back.insert(id, true) != Some(false) {
            self.find(
                "E1",
                Some(index),
                "what is taken back was not asked, or was taken back before",
            );
        }
    }

    fn host_got(&mut self, index: usize, _: usize, entry: &Entry) {
        if entry.method() == Some("turn/start") {
            let session =
                entry.frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
            if !self.has_prompt(&session) {
                self.find("I2", Some(index), "turn/start without an open prompt");
            }
            *self.state.submissions.entry(session).or_default() += 1;
        }
        if entry.method() == Some("turn/steer") {
            let session =
                entry.frame["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
            let left = self.state.corrections.entry(session).or_default();
            *left -= 1;
            if *left < 0 {
                self.find("I2", Some(index), "turn/steer without a correction of the editor");
            }
        }
    }

    fn host_sent(&mut self, entry: &Entry) {
        // A page tells what was not delivered (GAP-1): it is said too.
        for event in entry.frame["result"]["events"].as_array().into_iter().flatten() {
            self.said(event);
        }
        self.said(&entry.frame);
    }

    /// A notification, or an event as a page holds it.
    fn said(&mut self, frame: &Value) {
        let params = &frame["params"];
        let item = &params["item"];
        if let (Some(id), Some(text), "agentMessage") = (
            item["itemId"].as_str(),
            item["text"].as_str(),
            item["kind"].as_str().unwrap_or_default(),
        ) {
            let texts = self.state.said.entry(id.to_owned()).or_default();
            match texts.last_mut() {
                Some(last) if text.starts_with(last.as_str()) => text.clone_into(last),
                // Shorter, and the beginning of what was said: nothing new.
                Some(last) if last.starts_with(text) => {}
                _ => texts.push(text.to_owned()),
            }
            if item["status"] == "completed" && item["truncated"] != true {
                self.state.whole.insert(id.to_owned());
            }
        }
        let field = params.get("field").and_then(Value::as_str).unwrap_or("text");
        if let (Some("item/delta"), "text", Some(id), Some(delta)) =
            (frame["method"].as_str(), field, params["itemId"].as_str(), params["delta"].as_str())
            && !self.state.whole.contains(id)
        {
            let texts = self.state.said.entry(id.to_owned()).or_default();
            match texts.last_mut() {
                Some(last) => last.push_str(delta),
                None => texts.push(delta.to_owned()),
            }
        }
    }

    fn has_prompt(&self, session: &str) -> bool {
        self.state.open.values().any(|(method, of)| method == "session/prompt" && of == session)
    }

    fn answers(&mut self) {
        let unanswered: Vec<String> = self.state.open.keys().cloned().collect();
        for id in unanswered {
            self.find("I1", None, format!("request {id} was never answered"));
        }
        let prompts = self.state.answered.len();
        let submissions: i64 = self.state.submissions.values().sum();
        if submissions > i64::try_from(prompts).unwrap_or(i64::MAX) {
            self.find("I2", None, "more turns were submitted than requests were answered");
        }
    }

    fn end(&mut self, ending: &Ending) {
        if !ending.editor_lost {
            self.answers();
        }
        if ending.hosts_left > 0 {
            self.find("I6", None, format!("{} hosts are left behind", ending.hosts_left));
        }
        for violation in &ending.violations {
            self.find("I7", None, violation.clone());
        }
        if !ending.lies {
            self.texts();
        }
    }

    fn texts(&mut self) {
        let mut wrong = Vec::new();
        for (id, shown) in &self.state.shown {
            let Some(texts) = self.state.said.get(id) else { continue };
            let shown = shown.strip_suffix("\n[truncated by Muse]").unwrap_or(shown);
            let ended_well = !self.state.ended_badly && self.state.whole.contains(id);
            if !texts.iter().any(|said| said.starts_with(shown)) {
                wrong.push("the text of an item is no prefix of what the host said");
            } else if ended_well && texts.len() == 1 && texts[0] != shown {
                wrong.push("the text of a completed item was not shown whole, once");
            }
        }
        for text in wrong {
            self.find("E3", None, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// `>` to the adapter, `<` from it; `e` editor, `h` host.
    fn judge_lines(lines: &[(&str, Value)]) -> Vec<&'static str> {
        let entries = lines.iter().map(|(mark, frame)| Entry {
            at: Duration::ZERO,
            lane: if mark.starts_with('e') { Lane::Editor } else { Lane::Host(0) },
            from_adapter: mark.ends_with('<'),
            frame: frame.clone(),
            lie: false,
            line: None,
        });
        let transcript = Transcript { entries: entries.collect(), marks: Vec::new() };
        let mut ending = Ending { secrets: vec!["sk-secret".into()], ..Ending::default() };
        ending.violations.clear();
        judge(&transcript, &ending).into_iter().map(|finding| finding.invariant).collect()
    }

    fn prompt() -> (&'static str, Value) {
        (
            "e>",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "session/prompt",
                       "params": { "sessionId": "s", "prompt": [] } }),
        )
    }

    fn answer(id: u64) -> (&'static str, Value) {
        ("e<", json!({ "jsonrpc": "2.0", "id": id, "result": { "stopReason": "end_turn" } }))
    }

    fn update(update: Value) -> (&'static str, Value) {
        (
            "e<",
            json!({ "jsonrpc": "2.0", "method": "session/update",
                       "params": { "sessionId": "s", "update": update } }),
        )
    }

    fn chunk(text: &str) -> (&'static str, Value) {
        update(json!({ "sessionUpdate": "agent_message_chunk", "messageId": "i",
                       "content": { "type": "text", "text": text } }))
    }

    fn said(text: &str) -> (&'static str, Value) {
        (
            "h>",
            json!({ "jsonrpc": "2.0", "method": "item/completed", "params": { "item": {
            "itemId": "i", "kind": "agentMessage", "status": "completed", "text": text } } }),
        )
    }

    #[test]
    fn an_honest_run_has_no_findings() {
        let card = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t" });
        let next = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" });
        let lines = [
            prompt(),
            said("hello"),
            chunk("hel"),
            chunk("lo"),
            update(card),
            update(next.clone()),
            answer(1),
            update(next),
        ];
        assert_eq!(judge_lines(&lines), [""; 0]);
    }

    #[test]
    fn frames_of_corrections_are_judged() {
        let steer = |method: &str| {
            (
                "e>",
                json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": { "sessionId": "s" } }),
            )
        };
        let result = |result: Value| ("e<", json!({ "jsonrpc": "2.0", "id": 7, "result": result }));
        let sent = (
            "h<",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "turn/steer", "params": { "sessionId": "s" } }),
        );
        let active = |turn: Value| {
            update(
                json!({ "sessionUpdate": "session_info_update", "_meta": { "muse/activeTurnId": turn } }),
            )
        };
        let good = [
            prompt(),
            active(json!("t")),
            steer("_muse/steer"),
            sent.clone(),
            result(json!({ "status": "accepted", "turnId": "t" })),
            active(json!(null)),
            answer(1),
        ];
        assert_eq!(judge_lines(&good), [""; 0]);
        let odd = result(json!({ "status": "accepted" }));
        assert_eq!(judge_lines(&[steer("_muse/steer"), odd]), ["E1"]);
        let odd = result(json!({ "outcome": "injected", "startedNewTurn": false }));
        assert_eq!(judge_lines(&[steer("_session/steering"), odd]), ["E1"]);
        assert_eq!(judge_lines(&[sent]), ["I2"]);
        assert_eq!(judge_lines(&[prompt(), answer(1), active(json!(null))]), ["E1"]);
        assert_eq!(judge_lines(&[prompt(), active(json!(1)), answer(1)]), ["E1"]);
    }

    #[test]
    fn each_broken_invariant_is_found() {
        let next = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" });
        let card = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "t" });
        let start = (
            "h<",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "turn/start",
                                   "params": { "sessionId": "s" } }),
        );
        let title = json!({ "sessionUpdate": "session_info_update", "title": "t" });
        let cases: [(&[_], &str); 12] = [
            (&[prompt()], "I1"),
            (&[prompt(), answer(1), answer(1)], "I1"),
            (&[answer(9)], "I1"),
            (std::slice::from_ref(&start), "I2"),
            (&[prompt(), answer(1), chunk("x")], "I3"),
            (&[update(title), prompt(), answer(1)], "I3"),
            (&[("e<", json!("banner"))], "I4"),
            (&[prompt(), chunk("sk-secret"), answer(1)], "I5"),
            (&[prompt(), update(next), answer(1)], "E2"),
            (&[prompt(), update(card.clone()), update(card), answer(1)], "E2"),
            (&[prompt(), said("hello"), chunk("hello"), chunk("hello"), answer(1)], "E3"),
            (&[prompt(), said("hello"), chunk("hel"), answer(1)], "E3"),
        ];
        for (lines, expected) in cases {
            assert!(judge_lines(lines).contains(&expected), "{expected}: {lines:?}");
        }
        let odd = ("e<", json!({ "jsonrpc": "2.0", "method": "session/update", "params": {} }));
        assert_eq!(judge_lines(&[odd]), ["E1"]);
    }
}
