//! One ACP session: its host process, its foreground turn, and what the editor has been shown.
//!
//! In: calls of the agent for editor requests, host lines, host ends, effect results and timers. Out:
//! effects through [`Cx`]. Invariants: at most one host (HOST-1) and one prompt (CON-1); a host that
//! is being closed is awaited before the next one starts (CAN-9); an event of an older generation
//! changes nothing (CON-7, CAN-8). Parts: `opening` up to the submission, `running` from the
//! acknowledgement to the terminal, `steering` its corrections, `viewing` holes and waiting, `ending`
//! everything that ends a turn or a host, `configuring` what is chosen.

mod configuring;
mod ending;
mod opening;
mod persistence;
mod questions;
mod running;
mod steering;
mod viewing;

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use configuring::Changing;
pub use configuring::Way;
use viewing::Deferred;

use super::approvals::Approvals;
use super::client::Client;
use super::config::Selection;
use super::failure::Failure;
use super::fold::Fold;
use super::gap::View;
use super::io::{Config, Effect, EffectId, Facts, HostId, IdSource, Output, Resolved, Tick};
use super::persistence::Persistence;
use super::questions::Questions;
use super::stall::Stall;
use super::steering::Steering;
use super::turn::{EditorCall, HostCall, Stage, Turn};
use crate::acp::{self, schema};
use crate::msp::command::InputPart;
use crate::msp::{SessionId, TurnId};
use crate::wire::{Id, Peer, RpcError, envelope};

/// A host that nobody uses is closed after this long (HOST-10).
pub const IDLE_EXPIRY: Duration = Duration::from_secs(60);
/// And after this many good turns (HOST-10).
pub const ROTATE_AFTER: u32 = 32;

/// What a session may touch while it handles one input.
pub struct Cx<'a> {
    /// Now.
    pub now: Tick,
    /// Fresh ids.
    pub ids: &'a mut dyn IdSource,
    /// Constants of the run.
    pub config: &'a Config,
    /// What guards rest on.
    pub facts: &'a Facts,
    /// What the editor can do.
    pub client: Client,
    /// Effects in order.
    pub out: &'a mut VecDeque<Output>,
    /// The editor's side of the connection.
    pub editor: &'a mut Peer<EditorCall>,
    /// More waits for the editor than it takes: hosts are not read (PO-19).
    pub editor_stalled: bool,
    /// Numbers of hosts and effects given so far.
    pub counters: &'a mut Counters,
}

/// Sources of numbers that are unique within one run.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    hosts: u64,
    effects: u64,
    /// A host with another schema was told of (HSK-4: once).
    divergence_told: bool,
}

impl Counters {
    /// The next host's number.
    pub fn host(&mut self) -> HostId {
        self.hosts += 1;
        HostId(self.hosts)
    }

    /// True the first time only.
    pub fn tell_divergence(&mut self) -> bool {
        !std::mem::replace(&mut self.divergence_told, true)
    }

    /// The next effect's number.
    pub fn effect(&mut self) -> EffectId {
        self.effects += 1;
        EffectId(self.effects)
    }
}

impl Cx<'_> {
    /// Answers an editor request.
    pub fn succeed<R: Serialize>(&mut self, id: &Id, result: &R) {
        self.out.push_back(Output::Editor(envelope::success(id, result)));
    }

    /// Answers an editor request with an error.
    pub fn fail(&mut self, id: &Id, error: &RpcError) {
        self.out.push_back(Output::Editor(envelope::failure(id, error)));
    }

    /// Takes questions back: a late answer finds nothing, and an editor that understands it closes its
    /// dialog.
    fn withdraw(&mut self, gone: impl Fn(&EditorCall) -> bool) {
        for id in self.editor.forget_where(gone) {
            let params = serde_json::json!({ "requestId": id });
            let line = envelope::notification(acp::method::CANCEL_REQUEST, Some(&params));
            self.out.push_back(Output::Editor(line));
        }
    }

    fn update(&mut self, session: &SessionId, update: schema::SessionUpdate) {
        let params = schema::SessionNotification::new(session.as_str().to_owned(), update);
        let line = envelope::notification(acp::method::SESSION_UPDATE, Some(&params));
        self.out.push_back(Output::Editor(line));
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Session {
    id: SessionId,
    workspace: String,
    slot: Slot,
    fold: Fold,
    turn: Option<Turn>,
    generation: u64,
    /// Corrections of the turn.
    steering: Steering,
    /// The tier that was sent with the turn; its corrections keep it (SCN-STE-16).
    effort: Option<&'static str>,
    resolving: Option<EffectId>,
    /// What is chosen.
    selection: Selection,
    /// A change that waits for the host's end.
    changing: Option<Changing>,
    /// `session/close` that waits for the host's end.
    closing: Option<Closing>,
}

#[derive(Clone, Debug)]
enum Closing {
    /// Asked for by this request.
    Request(Id),
    /// The adapter shuts down.
    Shutdown,
}

/// The session's host process.
#[derive(Clone, Debug)]
enum Slot {
    Empty,
    Live(Box<Host>),
    /// Told to end; its exit is awaited.
    Closing(HostId),
}

#[derive(Clone, Debug)]
struct Host {
    id: HostId,
    peer: Peer<HostCall>,
    resolved: Resolved,
    /// What it was started with (HOST-15).
    flags: &'static [&'static str],
    /// Served fingerprint, once the handshake is done.
    fingerprint: Option<String>,
    /// The session is open and its settings are confirmed.
    ready: bool,
    /// Facts about the host were sent (TRN-8).
    introduced: bool,
    approvals: Approvals,
    questions: Questions,
    /// Rules of which nobody knows yet whether they were written.
    rules: Persistence,
    /// What it says of itself (PO-16).
    version: Option<String>,
    /// Whether nothing is missing of what the host told (GAP-1).
    view: View,
    /// What waits for a decision that nobody is asked for (STL-1).
    stall: Stall,
    /// Answers of the editor that came while a hole was open; one a dialog (APR-22).
    answers: Vec<Deferred>,
    /// A turn that the host started by itself.
    native_turn: Option<TurnId>,
    /// Our last turn that ended: told of again, it is not a native one.
    ended_turn: Option<TurnId>,
    /// It does not take its input any more: what is sent from here on gets no answer (PRC-8).
    deaf: bool,
    good_turns: u32,
    idle_until: Option<Tick>,
    /// Kinds of odd lines that were logged (PO-36).
    logged: Vec<&'static str>,
    /// Methods that no table has and that were logged (VEV-3).
    unknown: Vec<Box<str>>,
}

impl Session {
    /// A session without a host (NEW-2).
    #[must_use]
    pub fn new(id: SessionId, workspace: String) -> Self {
        Self {
            id,
            workspace,
            slot: Slot::Empty,
            fold: Fold::default(),
            turn: None,
            generation: 0,
            steering: Steering::default(),
            effort: None,
            resolving: None,
            selection: Selection::default(),
            changing: None,
            closing: None,
        }
    }

    /// The session's host, live or ending.
    #[must_use]
    pub fn host(&self) -> Option<HostId> {
        match &self.slot {
            Slot::Empty => None,
            Slot::Live(host) => Some(host.id),
            Slot::Closing(id) => Some(*id),
        }
    }

    /// The effect whose result this session waits for.
    #[must_use]
    pub fn awaits(&self, effect: EffectId) -> bool {
        self.resolving == Some(effect)
    }

    /// The prompt that is under way.
    #[must_use]
    pub fn prompt(&self) -> Option<&Id> {
        self.turn.as_ref().map(|turn| &turn.request)
    }

    /// Closing has finished: nothing of the session is left.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closing.is_some() && self.turn.is_none() && matches!(self.slot, Slot::Empty)
    }

    /// The earliest instant at which [`Session::on_timer`] has something to do.
    #[must_use]
    pub fn deadline(&self, stall: Duration, editor_stalled: bool) -> Option<Tick> {
        let turn = self.turn.as_ref().and_then(|turn| turn.deadline);
        let idle = match &self.slot {
            Slot::Live(host) if self.turn.is_none() => host.idle_until,
            _ => None,
        };
        let (page, stall, rules) = match &self.slot {
            Slot::Live(host) if !editor_stalled => {
                (host.view.deadline(), host.stall.deadline(stall), host.rules.deadline())
            }
            _ => (None, None, None),
        };
        let steering = self.steering.deadline().filter(|_| !editor_stalled);
        [turn, idle, page, stall, rules, steering, self.fold.flush_at()].into_iter().flatten().min()
    }

    /// `session/prompt` (PRM-1). The content has been converted already (PC-15).
    ///
    /// # Errors
    /// `-32600` while a prompt runs, the session closes, or the host works by itself (PRM-4).
    pub fn start(
        &mut self,
        cx: &mut Cx<'_>,
        request: Id,
        parts: Vec<InputPart>,
    ) -> Result<(), RpcError> {
        self.admit()?;
        if let Some(variable) = cx.config.invalid_timeout {
            return Err(acp::invalid_params(&format!(
                "the environment variable {variable} must be a whole number of milliseconds from 1 \
                 to 2147483647"
            )));
        }
        self.check_mode(cx.facts)?;
        self.generation += 1;
        let effect = cx.counters.effect();
        self.resolving = Some(effect);
        cx.out.push_back(Output::Effect(effect, Effect::Resolve));
        self.turn = Some(Turn {
            request,
            generation: self.generation,
            mode: self.selection.mode,
            stage: Stage::Resolving { parts },
            deadline: Some(cx.now.after(cx.config.startup)),
            cancelled: false,
            catching_up: false,
            since: cx.now,
        });
        Ok(())
    }

    /// Whether a prompt, or a change of what is chosen (CFG-5), can be taken now. Asked before the content
    /// of a prompt is looked at (PRM-1).
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn admit(&self) -> Result<(), RpcError> {
        if self.closing.is_some() {
            return Err(acp::busy("the session is being closed"));
        }
        if self.turn.is_some() {
            let running = || acp::busy("a prompt of this session is still running");
            return Err(self.pending_decision().unwrap_or_else(running));
        }
        if self.changing.is_some() {
            return Err(acp::busy("a change of this session's options is still under way"));
        }
        match &self.slot {
            Slot::Live(host) if host.native_turn.is_some() || host.has_pending() => Err(acp::busy(
                "Muse is still working by itself in this session: try again later, or close it",
            )),
            _ => Ok(()),
        }
    }

    /// `session/close` (CAN-10): the turn is cancelled, the host ends, then the answer follows.
    ///
    /// # Errors
    /// `-32600` while the session is being closed already (BIND-2).
    pub fn close(&mut self, cx: &mut Cx<'_>, request: Id) -> Result<(), RpcError> {
        if self.closing.is_some() {
            return Err(acp::busy("the session is being closed"));
        }
        self.closing = Some(Closing::Request(request));
        self.give_up_change(cx, &configuring::closed());
        self.cancel(cx);
        self.go_on_closing(cx);
        Ok(())
    }

    /// The adapter shuts down (BIND-8): no grace for the turn, the host's own drain ends it (PRC-4).
    pub fn shut_down(&mut self, cx: &mut Cx<'_>) {
        if self.closing.is_none() {
            self.closing = Some(Closing::Shutdown);
        }
        self.give_up_change(cx, &configuring::closed());
        self.abandon(cx);
        self.go_on_closing(cx);
    }

    /// [`Session::deadline`] has passed, or may have: an obsolete timer changes nothing (STY-11).
    pub fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now;
        let due = |at: Option<Tick>| at.is_some_and(|at| at <= now);
        if due(self.fold.flush_at()) {
            self.publish(cx, |fold, workspace, out| fold.flush(workspace, out));
        }
        if self.on_view_deadline(cx) || self.on_steering_deadline(cx) {
            return;
        }
        self.on_rules_deadline(cx);
        if due(self.turn.as_ref().and_then(|turn| turn.deadline)) {
            self.on_turn_deadline(cx);
        } else if let Slot::Live(host) = &self.slot
            && self.turn.is_none()
            && due(host.idle_until)
        {
            tracing::info!(code = "host-idle", host = host.id.0, "closing an idle host");
            self.close_host(cx);
        }
    }

    /// A bug in this session's code was caught (WIRE-17, PROC-8): the prompt fails, the host ends, and
    /// the session can be used again.
    pub fn recover(mut self, cx: &mut Cx<'_>) -> Self {
        self.publish(cx, |fold, _, out| fold.host_lost(out)); // BKG-3: the fold goes with the host
        let error = acp::internal_error("the adapter failed while it changed an option");
        self.give_up_change(cx, &error);
        self.lose_corrections(cx);
        if let Some(turn) = &self.turn {
            let error = acp::internal_error("the adapter failed while it handled this prompt");
            self.tell_no_turn(cx, turn);
            cx.fail(&turn.request, &error);
        }
        cx.withdraw(|call| *call.session() == self.id);
        let mut fresh = Self::new(self.id, self.workspace);
        fresh.generation = self.generation + 1;
        fresh.selection = self.selection;
        fresh.slot = match self.slot {
            Slot::Empty => Slot::Empty,
            Slot::Closing(id) => Slot::Closing(id),
            Slot::Live(host) => {
                cx.out.push_back(Output::CloseHost(host.id));
                Slot::Closing(host.id)
            }
        };
        fresh.closing = self.closing;
        fresh.go_on_closing(cx);
        fresh
    }

    /// Lets the fold produce updates and sends them in order (TRN-9).
    fn publish(
        &mut self,
        cx: &mut Cx<'_>,
        produce: impl FnOnce(&mut Fold, &str, &mut Vec<schema::SessionUpdate>),
    ) {
        let mut updates = Vec::new();
        produce(&mut self.fold, &self.workspace, &mut updates);
        for update in updates {
            cx.update(&self.id, update);
        }
    }

    /// Sends a request to the live host. A host that answers nothing fails the turn at the bound of
    /// the peer.
    fn call<P: Serialize>(
        &mut self,
        cx: &mut Cx<'_>,
        method: &'static str,
        params: &P,
        call: HostCall,
    ) {
        let Slot::Live(host) = &mut self.slot else { return };
        tracing::debug!(host = host.id.0, method, "msp send");
        match host.peer.request(method, params, call) {
            Some((_, line)) => cx.out.push_back(Output::Host(host.id, line)),
            None => {
                let phase = self.turn.as_ref().map_or(super::failure::Phase::Running, Turn::phase);
                self.fail_turn(cx, Failure::protocol(phase, "Muse answers none of its requests"));
            }
        }
    }
}
