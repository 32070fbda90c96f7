//! Runs one agent: reads lines, feeds them, performs what comes out.
//!
//! One task polls everything in a fixed order (hosts, effects, editor, timer, then writing), so that a
//! run depends on nothing but its inputs. There is no channel and no `select!`.
//!
//! Back-pressure (WIRE-12, WIRE-13, PO-19): while more than [`EDITOR_BACKLOG_HIGH`] bytes wait for the
//! editor, hosts are not read, so they stop producing; the editor is always read, so a cancel arrives.
//! Answers and questions never wait; should they alone pile up beyond [`EDITOR_BACKLOG_MAX`], the
//! editor is broken and the connection ends.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep};

use super::host::{Event, HostIo, read};
use super::outbox::Outbox;
use super::world::{BoxFuture, World};
use crate::core::io::{EffectId, Facts};
use crate::core::redact::Redactor;
use crate::core::{Agent, Config, EffectResult, HostId, Input, Output, Tick};
use crate::wire::framing::EDITOR_LINE_MAX;
use crate::wire::{Framer, Line};

/// Bytes waiting for the editor above which hosts are not read. One read of a host adds at most a
/// few times its size.
pub const EDITOR_BACKLOG_HIGH: usize = 256 * 1024;
/// Bytes waiting for the editor above which the connection ends: twice the longest line that an
/// editor may send us to echo something of.
pub const EDITOR_BACKLOG_MAX: usize = 64 * 1024 * 1024;
/// How long what is queued may take to drain at the end (WIRE-15).
const EXIT_DRAIN: Duration = Duration::from_secs(2);
/// Size of one read.
const CHUNK: usize = 64 * 1024;

/// See the module.
pub struct Driver<W> {
    agent: Agent,
    world: W,
    redactor: Arc<Redactor>,
    start: Instant,
    editor_in: Option<Pin<Box<dyn AsyncRead>>>,
    editor_framer: Framer,
    editor_out: Option<Pin<Box<dyn AsyncWrite>>>,
    outbox: Outbox,
    /// What the agent was told last.
    editor_stalled: bool,
    facts: Facts,
    signal: Option<BoxFuture<()>>,
    hosts: BTreeMap<HostId, HostIo>,
    effects: Vec<(EffectId, BoxFuture<EffectResult>)>,
    /// Inputs that arose while outputs were performed.
    queued: VecDeque<Input<'static>>,
    timer: Pin<Box<Sleep>>,
    exit_by: Option<Instant>,
    scratch: Box<[u8]>,
}

impl<W: World> Driver<W> {
    /// A driver over an editor's streams. `signal` ends it as the end of input does.
    pub fn new(
        config: Config,
        world: W,
        input: impl AsyncRead + 'static,
        output: impl AsyncWrite + 'static,
        signal: impl Future<Output = ()> + 'static,
    ) -> Self {
        let start = Instant::now();
        Self {
            redactor: Arc::clone(&config.redactor),
            agent: Agent::new(config),
            world,
            start,
            editor_in: Some(Box::pin(input)),
            editor_framer: Framer::new(EDITOR_LINE_MAX),
            editor_out: Some(Box::pin(output)),
            outbox: Outbox::default(),
            editor_stalled: false,
            facts: Facts::default(),
            signal: Some(Box::pin(signal)),
            hosts: BTreeMap::new(),
            effects: Vec::new(),
            queued: VecDeque::new(),
            timer: Box::pin(tokio::time::sleep_until(start)),
            exit_by: None,
            scratch: vec![0; CHUNK].into_boxed_slice(),
        }
    }

    /// Runs until the editor is gone and every host has ended.
    pub async fn run(mut self) {
        std::future::poll_fn(|cx| self.poll(cx)).await;
    }

    /// Does everything that can be done now; ready when the run is over. For a stage that moves time
    /// itself: pending means that nothing moves without more input or [`Driver::deadline`].
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut moved = self.poll_signal(cx);
            moved |= self.poll_hosts(cx);
            moved |= self.poll_effects(cx);
            moved |= self.poll_editor(cx);
            while let Some(input) = self.queued.pop_front() {
                self.feed(input);
                moved = true;
            }
            self.tell_backlog();
            moved |= self.poll_timers(cx);
            moved |= self.poll_output(cx);
            if self.is_done() {
                return Poll::Ready(());
            }
            if !moved {
                return Poll::Pending;
            }
        }
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> bool {
        let arrived =
            self.signal.as_mut().is_some_and(|signal| signal.as_mut().poll(cx).is_ready());
        if arrived {
            self.signal = None;
            self.feed(Input::Signal);
        }
        arrived
    }

    fn poll_hosts(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        let now = Instant::now();
        let ids: Vec<HostId> = self.hosts.keys().copied().collect();
        for id in ids {
            let may_read = self.outbox.bytes() < EDITOR_BACKLOG_HIGH;
            let Some(host) = self.hosts.get_mut(&id) else { continue };
            let Some(event) = host.poll(cx, now, may_read, &self.redactor, &mut self.scratch)
            else {
                continue;
            };
            moved = true;
            match event {
                Event::Output => self.feed_host_lines(id, false),
                Event::OutputEnded => {
                    self.feed_host_lines(id, true);
                    self.feed(Input::HostEof(id));
                }
                Event::InputBroken => self.feed(Input::HostDeaf(id)),
                Event::Gone(end) => {
                    self.hosts.remove(&id);
                    self.feed(Input::HostGone(id, end));
                }
            }
        }
        moved
    }

    fn feed_host_lines(&mut self, id: HostId, ended: bool) {
        let Some(host) = self.hosts.get_mut(&id) else { return };
        let mut framer = std::mem::replace(&mut host.framer, Framer::new(0));
        while let Some(line) = framer.next_line() {
            self.feed(Input::Host(id, line));
        }
        if ended && let Some(tail) = framer.finish() {
            self.feed(Input::Host(id, tail));
        }
        if let Some(host) = self.hosts.get_mut(&id) {
            host.framer = framer;
        }
    }

    fn poll_effects(&mut self, cx: &mut Context<'_>) -> bool {
        let mut done = Vec::new();
        self.effects.retain_mut(|(id, effect)| match effect.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(result) => {
                done.push((*id, result));
                false
            }
        });
        let moved = !done.is_empty();
        for (id, result) in done {
            self.feed(Input::Effect(id, result));
        }
        moved
    }

    fn poll_editor(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(stream) = &mut self.editor_in else { return false };
        let Poll::Ready(count) = read(stream, cx, &mut self.scratch) else { return false };
        let mut framer = std::mem::replace(&mut self.editor_framer, Framer::new(0));
        framer.push(&self.scratch[..count]);
        while let Some(line) = framer.next_line() {
            self.tell_facts();
            self.feed(Input::Editor(line));
        }
        if count == 0 {
            self.editor_in = None;
            // A last line without newline is a request only when it is whole (PO-34).
            if let Some(tail @ (Line::Unterminated(_) | Line::TooLong { .. })) = framer.finish() {
                self.tell_facts();
                self.feed(Input::Editor(tail));
            }
            self.feed(Input::EditorClosed);
        }
        self.editor_framer = framer;
        true
    }

    /// The next instant at which something happens by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let hosts = self.hosts.values().filter_map(HostIo::deadline).min();
        [self.agent_deadline(), hosts, self.exit_by].into_iter().flatten().min()
    }

    fn agent_deadline(&self) -> Option<Instant> {
        self.agent.deadline().map(|at| self.start + at.0)
    }

    /// MODE-5: a guard decides by what is true when the editor asks.
    fn tell_facts(&mut self) {
        let facts = self.world.facts();
        if facts != self.facts {
            self.facts = facts.clone();
            self.feed(Input::Facts(facts));
        }
    }

    /// PO-19: a host that is not read is not late.
    fn tell_backlog(&mut self) {
        let stalled = self.outbox.bytes() >= EDITOR_BACKLOG_HIGH;
        if std::mem::replace(&mut self.editor_stalled, stalled) != stalled {
            self.feed(Input::EditorStalled(stalled));
        }
    }

    fn poll_timers(&mut self, cx: &mut Context<'_>) -> bool {
        let now = Instant::now();
        if self.agent_deadline().is_some_and(|at| at <= now) {
            self.feed(Input::Timer);
            return true;
        }
        let Some(next) = self.deadline() else { return false };
        if next <= now {
            return true; // a host's rung or the exit: polled again at once
        }
        if self.timer.deadline() != next {
            self.timer.as_mut().reset(next);
        }
        self.timer.as_mut().poll(cx).is_ready()
    }

    fn poll_output(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(stream) = &mut self.editor_out else { return false };
        let before = self.outbox.bytes();
        let broken = matches!(self.outbox.poll_write(stream, cx), Poll::Ready(Err(_)));
        let flooded = self.outbox.bytes() > EDITOR_BACKLOG_MAX;
        if broken || flooded {
            tracing::error!(code = "editor-lost", flooded, "the editor takes no more output");
            self.editor_out = None;
            self.editor_in = None;
            self.outbox = Outbox::default();
            self.feed(Input::EditorClosed);
            return true;
        }
        // Room for hosts that were held back.
        before >= EDITOR_BACKLOG_HIGH && self.outbox.bytes() < EDITOR_BACKLOG_HIGH
    }

    fn is_done(&self) -> bool {
        let Some(by) = self.exit_by else { return false };
        let drained = self.outbox.is_empty() || self.editor_out.is_none();
        drained || by <= Instant::now()
    }

    fn feed(&mut self, input: Input<'_>) {
        let now = Tick(self.start.elapsed());
        self.agent.handle(now, input, self.world.ids());
        while let Some(output) = self.agent.poll_output() {
            self.perform(output);
        }
    }

    fn perform(&mut self, output: Output) {
        match output {
            Output::Editor(line) if self.editor_out.is_some() => self.outbox.push(line),
            Output::Editor(_) => {}
            Output::Host(id, line) => {
                if let Some(host) = self.hosts.get_mut(&id) {
                    host.outbox.push(line);
                }
            }
            Output::Spawn(id, spec) => match self.world.spawn(&spec) {
                Ok(process) => {
                    tracing::info!(code = "host-spawn", host = id.0, session = %spec.session);
                    self.hosts.insert(id, HostIo::new(process));
                }
                Err(error) => {
                    tracing::warn!(code = "spawn-failed", host = id.0, reason = %error.kind());
                    self.queued.push_back(Input::SpawnFailed(id));
                }
            },
            Output::CloseHost(id) => {
                if let Some(host) = self.hosts.get_mut(&id) {
                    host.close(Instant::now());
                }
            }
            Output::Unthrottle(id) => {
                if let Some(host) = self.hosts.get_mut(&id) {
                    host.throttled = false;
                }
            }
            Output::Effect(id, effect) => self.effects.push((id, self.world.perform(effect))),
            Output::Exit => self.exit_by = Some(Instant::now() + EXIT_DRAIN),
        }
    }
}
