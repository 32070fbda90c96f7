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

mod editor;
mod host;

use std::collections::{BTreeMap, BTreeSet};

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
mod tests;
