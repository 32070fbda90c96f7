//! One state of an exploration: the core, the machine around it, what has been said.
//!
//! In: an [`Action`]. Out: the frames that it gave, appended to a record. The machine does at once what it is
//! asked to do; a host that is closed ends when the exploration says so. A clone goes its own way.

use std::collections::HashMap;
use std::rc::Rc;

use muse_code_acp::core::io::HostEnd;
use muse_code_acp::core::{Agent, Config, Effect, HostId, IdSource, Input, Output, Tick};
use muse_code_acp::wire::Line;
use serde_json::{Value, json};

use super::program::{Key, Program, Word};
use crate::run::transcript::{Entry, Lane};
use crate::stage::world::Machine;

/// What can happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A word of the story, by its index.
    Say(usize),
    /// This host, which the adapter has closed, has ended.
    Gone(usize),
    /// Time passes until the adapter's next deadline.
    Timer,
    /// The editor cancels its prompt.
    Cancel,
    /// The newest host that lives dies.
    Die,
    /// The editor closes its input.
    Leave,
    /// More waits for the editor than it takes.
    Stall,
    /// The editor reads again.
    Resume,
}

/// How ids that count begin, and how long they are.
const COUNTED: &str = "01900000-0000-7000-8000-";
const ID_CHARS: usize = 36;

/// Ids in the form of a UUIDv7 that count.
#[derive(Clone, Copy, Debug)]
struct Counted(u64);

impl IdSource for Counted {
    fn uuid(&mut self) -> String {
        self.0 += 1;
        format!("{COUNTED}{:012x}", self.0)
    }
}

#[derive(Clone, Debug)]
struct Process {
    id: HostId,
    /// The adapter has closed it.
    closed: bool,
    /// It is not read while more waits for the editor than it takes.
    throttled: bool,
    /// Its output has ended.
    silent: bool,
    /// It takes no input any more.
    deaf: bool,
    /// How it ended.
    end: Option<HostEnd>,
    gone: bool,
}

impl Process {
    fn lives(&self) -> bool {
        !self.silent && !self.gone && self.end.is_none()
    }

    fn ends(&self) -> bool {
        self.closed || self.end.is_some()
    }
}

/// See the module.
#[derive(Clone)]
pub(super) struct World<'p> {
    program: &'p Program,
    machine: &'p Machine,
    agent: Agent,
    ids: Counted,
    pub(super) now: Tick,
    said: u128,
    /// The adapter's own id of each request that it has sent, by its index in the told run.
    sent: Vec<Option<Value>>,
    counts: HashMap<(Lane, String), usize>,
    /// Ids of the told run that are others here.
    renamed: Rc<Vec<(String, String)>>,
    hosts: Vec<Process>,
    /// Prompts without an answer: id and session.
    prompts: Vec<(Value, String)>,
    answered: Vec<u64>,
    left: bool,
    stalled: bool,
    pub(super) exited: bool,
}

impl<'p> World<'p> {
    pub(super) fn new(program: &'p Program, machine: &'p Machine, config: Config) -> Self {
        let (mut agent, mut ids) = (Agent::new(config), Counted(0));
        // What the driver tells before the first line.
        agent.handle(Tick::default(), Input::Facts(machine.facts()), &mut ids);
        Self {
            program,
            machine,
            agent,
            ids,
            now: Tick::default(),
            said: 0,
            sent: vec![None; program.asked.len()],
            counts: HashMap::new(),
            renamed: Rc::default(),
            hosts: Vec::new(),
            prompts: Vec::new(),
            answered: Vec::new(),
            left: false,
            stalled: false,
            exited: false,
        }
    }

    /// A word of the story was said.
    pub(super) fn has_said(&self, index: usize) -> bool {
        self.said & (1 << index) != 0
    }

    /// This request of the told run was sent here too.
    pub(super) fn has_sent(&self, asked: usize) -> bool {
        self.sent[asked].is_some()
    }

    /// Prompts that have no answer.
    pub(super) fn open_prompts(&self) -> usize {
        self.prompts.len()
    }

    /// Hosts that are still there.
    pub(super) fn hosts_left(&self) -> usize {
        self.hosts.iter().filter(|host| !host.gone).count()
    }

    /// Whether this can happen now.
    pub(super) fn may(&self, action: Action) -> bool {
        match action {
            Action::Say(index) => self.may_say(index),
            Action::Gone(host) => self
                .hosts
                .get(host)
                .is_some_and(|host| host.ends() && !host.gone && self.is_read(host)),
            Action::Timer => self.agent.deadline().is_some(),
            Action::Cancel => !self.left && !self.prompts.is_empty(),
            Action::Die => self.hosts.iter().any(Process::lives),
            Action::Leave => !self.left,
            Action::Stall => !self.left && !self.stalled,
            Action::Resume => self.stalled,
        }
    }

    fn is_read(&self, host: &Process) -> bool {
        !(self.stalled && host.throttled)
    }

    fn may_say(&self, index: usize) -> bool {
        let stimulus = &self.program.stimuli[index];
        let there = match stimulus.lane {
            Lane::Editor => !self.left,
            // A host whose output has ended can still exit.
            Lane::Host(host) => self.hosts.get(host).is_some_and(|host| {
                let exits = matches!(stimulus.what, Word::Exit { .. });
                let lives = !host.gone && host.end.is_none();
                lives && (!host.silent || exits) && self.is_read(host)
            }),
        };
        there
            && !self.has_said(index)
            && stimulus.after.is_none_or(|before| self.has_said(before))
            && stimulus.needs.iter().all(|need| self.has_sent(*need))
            && stimulus.answers.iter().all(|id| self.answered.contains(id))
    }

    /// Words of the story that can be said now, in the order of the story.
    pub(super) fn words(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.program.stimuli.len()).filter(|index| self.may_say(*index))
    }

    /// Hosts that can end now.
    pub(super) fn ends(&self) -> impl Iterator<Item = Action> + '_ {
        (0..self.hosts.len()).map(Action::Gone).filter(|action| self.may(*action))
    }

    /// Lets it happen; what was said is appended to `record`.
    pub(super) fn act(&mut self, action: Action, record: &mut Vec<Entry>) {
        match action {
            Action::Say(index) => self.say(index, record),
            Action::Gone(host) => {
                let host = &mut self.hosts[host];
                host.gone = true;
                let (id, silent) = (host.id, std::mem::replace(&mut host.silent, true));
                let end = host.end.clone();
                let end = end.unwrap_or(HostEnd { code: Some(0), ..HostEnd::default() });
                if !silent {
                    self.feed(Input::HostEof(id), record);
                }
                self.feed(Input::HostGone(id, end), record);
            }
            Action::Timer => {
                if let Some(at) = self.agent.deadline() {
                    self.now = self.now.max(at);
                    self.feed(Input::Timer, record);
                }
            }
            Action::Cancel => {
                if let Some((_, session)) = self.prompts.last() {
                    let frame = json!({ "jsonrpc": "2.0", "method": "session/cancel",
                                        "params": { "sessionId": session } });
                    self.deliver(Lane::Editor, frame, None, record);
                }
            }
            Action::Die => {
                if let Some(at) = self.hosts.iter().rposition(Process::lives) {
                    let read = self.is_read(&self.hosts[at]);
                    let host = &mut self.hosts[at];
                    host.end = Some(HostEnd { signal: Some(9), ..HostEnd::default() });
                    // The end of what is not read is not seen before it is gone.
                    if read {
                        host.silent = true;
                        let id = host.id;
                        self.feed(Input::HostEof(id), record);
                    }
                }
            }
            Action::Stall | Action::Resume => {
                self.stalled = action == Action::Stall;
                self.feed(Input::EditorStalled(self.stalled), record);
            }
            Action::Leave => {
                self.left = true;
                self.feed(Input::EditorClosed, record);
            }
        }
    }

    /// Moves the clock, firing what is due on the way.
    pub(super) fn wait(&mut self, by: std::time::Duration, record: &mut Vec<Entry>) {
        let target = self.now.after(by);
        while self.agent.deadline().is_some_and(|at| at <= target) {
            self.act(Action::Timer, record);
        }
        self.now = target;
    }

    fn say(&mut self, index: usize, record: &mut Vec<Entry>) {
        self.said |= 1 << index;
        let stimulus = &self.program.stimuli[index];
        let line = stimulus.line;
        match (&stimulus.what, stimulus.lane) {
            (Word::Frame(frame), lane) => {
                let frame = self.rename(frame.clone());
                if frame["method"] == "session/prompt" {
                    let session = frame["params"]["sessionId"].as_str().unwrap_or_default();
                    self.prompts.push((frame["id"].clone(), session.to_owned()));
                }
                self.deliver(lane, frame, line, record);
            }
            (Word::Response(request, frame), lane) => {
                let mut frame = self.rename(frame.clone());
                frame["id"] = self.sent[*request].clone().unwrap_or_default();
                self.deliver(lane, frame, line, record);
            }
            (_, Lane::Editor) => self.act(Action::Leave, record),
            // The adapter notices when it writes.
            (Word::Deaf, Lane::Host(host)) => self.hosts[host].deaf = true,
            (word, Lane::Host(host)) => {
                let host = &mut self.hosts[host];
                let silent = std::mem::replace(&mut host.silent, true);
                if let Word::Exit { code, signal } = word {
                    let end = HostEnd { code: *code, signal: *signal, ..HostEnd::default() };
                    host.end = Some(end);
                }
                let id = host.id;
                if !silent {
                    self.feed(Input::HostEof(id), record);
                }
            }
        }
    }

    fn rename(&self, frame: Value) -> Value {
        if self.renamed.is_empty() {
            return frame;
        }
        // In one pass: two ids may have changed places.
        let text = frame.to_string();
        let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(at) = rest.find(COUNTED) {
            let (before, from) = rest.split_at(at);
            let told = from.get(..ID_CHARS).unwrap_or(COUNTED);
            let here = self.renamed.iter().find(|(known, _)| known == told);
            out.push_str(before);
            out.push_str(here.map_or(told, |(_, here)| here));
            rest = &from[told.len()..];
        }
        out.push_str(rest);
        serde_json::from_str(&out).unwrap_or(frame)
    }

    fn deliver(&mut self, lane: Lane, frame: Value, line: Option<u32>, record: &mut Vec<Entry>) {
        let bytes = frame.to_string().into_bytes();
        record.push(Entry { at: self.now.0, lane, from_adapter: false, frame, lie: false, line });
        match lane {
            Lane::Editor => self.feed(Input::Editor(Line::Complete(&bytes)), record),
            Lane::Host(host) => {
                let id = self.hosts[host].id;
                self.feed(Input::Host(id, Line::Complete(&bytes)), record);
            }
        }
    }

    fn feed(&mut self, input: Input<'_>, record: &mut Vec<Entry>) {
        self.agent.handle(self.now, input, &mut self.ids);
        let mut effects: Vec<(_, Effect)> = Vec::new();
        let mut deaf = Vec::new();
        while let Some(output) = self.agent.poll_output() {
            match output {
                Output::Editor(line) => self.heard(Lane::Editor, &line, record),
                Output::Host(id, line) => match self.hosts.iter().position(|host| host.id == id) {
                    Some(host) if self.hosts[host].deaf => deaf.push(id),
                    Some(host) => self.heard(Lane::Host(host), &line, record),
                    None => {}
                },
                Output::Spawn(id, _) => self.hosts.push(Process {
                    id,
                    closed: false,
                    throttled: true,
                    silent: false,
                    deaf: false,
                    end: None,
                    gone: false,
                }),
                Output::CloseHost(id) => {
                    if let Some(host) = self.hosts.iter_mut().find(|host| host.id == id) {
                        host.closed = true;
                        host.throttled = false;
                    }
                }
                Output::Effect(id, effect) => effects.push((id, effect)),
                Output::Unthrottle(id) => {
                    if let Some(host) = self.hosts.iter_mut().find(|host| host.id == id) {
                        host.throttled = false;
                    }
                }
                Output::Exit => self.exited = true,
            }
        }
        for id in deaf {
            self.feed(Input::HostDeaf(id), record);
        }
        for (id, effect) in effects {
            let result = self.machine.perform(effect);
            self.feed(Input::Effect(id, result), record);
        }
    }

    /// Which ids of the told run are others here.
    fn learn(&mut self, told: &Value, here: &Value) {
        let mut renamed = Vec::new();
        pair(told, here, &mut renamed);
        renamed.retain(|pair| !self.renamed.contains(pair));
        if !renamed.is_empty() {
            Rc::make_mut(&mut self.renamed).extend(renamed);
        }
    }

    /// A line of the adapter.
    fn heard(&mut self, lane: Lane, line: &[u8], record: &mut Vec<Entry>) {
        let frame: Value = serde_json::from_slice(line).unwrap_or_default();
        let mut taken = None;
        match (frame["method"].as_str(), frame.get("id")) {
            (Some(method), Some(id)) => {
                let count = self.counts.entry((lane, method.to_owned())).or_default();
                let key = Key { lane, method: method.to_owned(), nth: *count };
                *count += 1;
                if let Some(&index) = self.program.keys.get(&key) {
                    self.sent[index] = Some(id.clone());
                    taken = self.program.asked[index].line;
                    self.learn(&self.program.asked[index].params, &frame["params"]);
                }
            }
            (None, Some(id)) if lane == Lane::Editor => {
                self.prompts.retain(|(open, _)| open != id);
                self.answered.extend(id.as_u64());
                if let Some(told) = id.as_u64().and_then(|id| self.program.results.get(&id)) {
                    self.learn(told, &frame["result"]);
                }
            }
            _ => {}
        }
        record.push(Entry {
            at: self.now.0,
            lane,
            from_adapter: true,
            frame,
            lie: false,
            line: taken,
        });
    }
}

/// Counted ids that stand at the same place of both.
fn pair(told: &Value, here: &Value, renamed: &mut Vec<(String, String)>) {
    match (told, here) {
        (Value::Object(told), Value::Object(here)) => {
            for (name, value) in told {
                if let Some(other) = here.get(name) {
                    pair(value, other, renamed);
                }
            }
        }
        (Value::String(told), Value::String(here)) if told != here => {
            let counted = |id: &str| id.len() == ID_CHARS && id.starts_with(COUNTED);
            if counted(told) && counted(here) {
                renamed.push((told.clone(), here.clone()));
            }
        }
        _ => {}
    }
}
