//! From an admitted prompt to `turn/start`: locate Muse, start it, open the session, confirm its
//! settings (HOST-2..8, DL-1..3, PRE-6..8).

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Cx, Host, Session, Slot};
use crate::core::approvals::Approvals;
use crate::core::failure::{Failure, Phase};
use crate::core::gap::View;
use crate::core::io::{EffectResult, Facts, Output, ResolveError, Resolved, SpawnSpec};
use crate::core::persistence::Persistence;
use crate::core::questions::Questions;
use crate::core::stall::Stall;
use crate::core::turn::{Held, HostCall, Stage};
use crate::msp::code;
use crate::msp::command::{
    ClientInfo, Initialize, InitializeResult, ModelSelection, SessionRead, SessionResult,
    SessionResume, SessionStart, SetApprovalMode, SetModel, TurnStart,
};
use crate::wire::peer::Outcome;
use crate::wire::{Peer, RpcError, envelope};

/// The mode of a session in mode `default` (HOST-6): the host's own default asks for everything.
const APPROVAL_MODE: &str = "onRequest";
/// Tiers that are sent (PRM-25).
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "ultra"];

impl Session {
    /// The result of [`crate::core::Effect::Resolve`]. Late ones find no turn that waits for them.
    pub fn on_resolved(&mut self, cx: &mut Cx<'_>, result: EffectResult) {
        self.resolving = None;
        let EffectResult::Resolve(resolved) = result else { return };
        let Some(turn) = &mut self.turn else { return };
        let Stage::Resolving { parts } = &mut turn.stage else { return };
        let parts = std::mem::take(parts);
        let resolved = match resolved.and_then(check_version) {
            Ok(resolved) => resolved,
            Err(error) => {
                return self.fail_turn(cx, Failure::unavailable(&error, &cx.config.redactor));
            }
        };
        let mode = turn.mode;
        let facts = Facts { root: cx.facts.root, flags: Some(resolved.flags.clone()) };
        if let Err(error) = mode.available(&facts) {
            return self.refuse_turn(cx, &error);
        }
        match &self.slot {
            // END-8: a host whose view has a hole is not reused.
            Slot::Live(host)
                if host.ready
                    && host.resolved.identity == resolved.identity
                    && host.flags == mode.flags()
                    && host.view.is_current() =>
            {
                let effort = resolved.settings.effort;
                turn.stage = Stage::Opening { parts, effort, preparing: false };
                self.enter_preparing(cx);
                self.set_mode(cx);
            }
            Slot::Live(_) => {
                turn.stage = Stage::WaitingForOldHost { parts, resolved: Box::new(resolved) };
                self.close_host(cx);
            }
            Slot::Closing(_) => {
                turn.stage = Stage::WaitingForOldHost { parts, resolved: Box::new(resolved) };
            }
            Slot::Empty => {
                turn.stage = Stage::WaitingForOldHost { parts, resolved: Box::new(resolved) };
                self.spawn(cx);
            }
        }
    }

    /// Starts the host that the turn waits for. The slot is empty.
    pub(super) fn spawn(&mut self, cx: &mut Cx<'_>) {
        let Some(turn) = &mut self.turn else { return };
        let Stage::WaitingForOldHost { parts, resolved } = &mut turn.stage else { return };
        let (parts, resolved) = (std::mem::take(parts), resolved.as_ref().clone());
        let (effort, flags) = (resolved.settings.effort.clone(), turn.mode.flags());
        turn.stage = Stage::Opening { parts, effort, preparing: false };
        turn.deadline = Some(cx.now.after(cx.config.startup));
        let id = cx.counters.host();
        cx.out.push_back(Output::Spawn(
            id,
            SpawnSpec {
                binary: resolved.binary.clone(),
                workspace: self.workspace.clone(),
                flags,
                session: self.id.clone(),
            },
        ));
        self.slot = Slot::Live(Box::new(Host {
            id,
            peer: Peer::default(),
            resolved,
            flags,
            fingerprint: None,
            ready: false,
            introduced: false,
            approvals: Approvals::default(),
            questions: Questions::default(),
            rules: Persistence::default(),
            version: None,
            view: View::default(),
            stall: Stall::default(),
            answers: Vec::new(),
            native_turn: None,
            ended_turn: None,
            deaf: false,
            good_turns: 0,
            idle_until: None,
            logged: Vec::new(),
            unknown: Vec::new(),
        }));
        let info = ClientInfo { name: "muse_code_acp", version: env!("CARGO_PKG_VERSION") };
        self.call(cx, "initialize", &Initialize { client_info: info }, HostCall::Initialize);
    }

    /// An answer while the session is being opened.
    pub(super) fn on_opening_answer(
        &mut self,
        cx: &mut Cx<'_>,
        call: &HostCall,
        outcome: Outcome<'_>,
    ) {
        let opening =
            matches!(self.turn.as_ref().map(|turn| &turn.stage), Some(Stage::Opening { .. }));
        if !opening {
            return;
        }
        match (call, outcome) {
            (HostCall::Initialize, outcome) => {
                if let Some(result) = self.read::<InitializeResult>(cx, "initialize", outcome) {
                    self.on_handshake(cx, result);
                }
            }
            (HostCall::Resume, Outcome::Err(error)) if error.code == code::SESSION_NOT_FOUND => {
                self.start_session(cx);
            }
            (HostCall::Resume, outcome) => self.on_opened(cx, "session/resume", outcome),
            (HostCall::Start, outcome) => self.on_opened(cx, "session/start", outcome),
            (HostCall::Mode, outcome) => self.on_mode(cx, outcome),
            (HostCall::Model, outcome) => self.on_model(cx, outcome),
            (HostCall::Confirm, outcome) => self.on_confirmed(cx, outcome),
            _ => {}
        }
    }

    /// A reused host needs no more than its mode again (HOST-7).
    fn on_mode(&mut self, cx: &mut Cx<'_>, outcome: Outcome<'_>) {
        if !self.accepted(cx, "session/setApprovalMode", outcome) {
            return;
        }
        if self.is_ready() {
            self.submit(cx);
        } else {
            self.set_model(cx);
        }
    }

    fn on_model(&mut self, cx: &mut Cx<'_>, outcome: Outcome<'_>) {
        if self.accepted(cx, "session/setModel", outcome) {
            let id = self.id.clone();
            let params = SessionRead { session_id: &id, exclude_items: true };
            self.call(cx, "session/read", &params, HostCall::Confirm);
        }
    }

    fn on_handshake(&mut self, cx: &mut Cx<'_>, result: InitializeResult) {
        let (version, fingerprint) =
            result.schema.map_or((None, None), |schema| (schema.version, schema.fingerprint));
        if version.is_some_and(|version| version != 1) {
            let what = "this Muse speaks another version of its protocol: update the adapter";
            return self.fail_turn(cx, Failure::protocol(Phase::Initializing, what));
        }
        let Slot::Live(host) = &mut self.slot else { return };
        let named = result.server_info.and_then(|info| info.version);
        host.version = named.or_else(|| host.resolved.version.clone());
        host.fingerprint = fingerprint;
        let served = host.fingerprint.as_deref();
        if served.is_some_and(|served| served != crate::PINNED_FINGERPRINT)
            && cx.counters.tell_divergence()
        {
            tracing::warn!(
                code = "fingerprint",
                host = host.id.0,
                "the host serves another schema than the one this adapter was written for; going on"
            );
        }
        let initialized = envelope::notification::<()>("initialized", None);
        cx.out.push_back(Output::Host(host.id, initialized));
        self.enter_preparing(cx);
        let (id, command) = (self.id.clone(), cx.ids.uuid());
        let params = SessionResume { command_id: &command, session_id: &id, exclude_items: true };
        self.call(cx, "session/resume", &params, HostCall::Resume);
    }

    /// HOST-3: the session does not exist yet.
    fn start_session(&mut self, cx: &mut Cx<'_>) {
        let Slot::Live(host) = &self.slot else { return };
        let settings = host.resolved.settings.clone();
        let (id, command, workspace) = (self.id.clone(), cx.ids.uuid(), self.workspace.clone());
        let params = SessionStart {
            command_id: &command,
            session_id: &id,
            workspace_root: &workspace,
            model_id: &settings.model,
            provider_id: Some(&settings.provider),
            approval_mode: APPROVAL_MODE,
        };
        self.call(cx, "session/start", &params, HostCall::Start);
    }

    /// HOST-4.
    fn on_opened(&mut self, cx: &mut Cx<'_>, method: &'static str, outcome: Outcome<'_>) {
        let Some(result) = self.read::<SessionResult>(cx, method, outcome) else { return };
        let row = &result.session;
        let wrong = if row.session_id != self.id {
            Some("Muse opened another session than the one that was asked for")
        } else if row.workspace_root.as_deref().is_some_and(|root| root != self.workspace) {
            Some("Muse opened the session in another workspace")
        } else if row.active_turn_id.is_some() {
            Some("the session has a running turn in Muse")
        } else if !result.pending_requests.is_empty() {
            Some("the session has open questions in Muse")
        } else {
            None
        };
        match wrong {
            Some(what) => self.fail_turn(cx, Failure::unconfirmed(what)),
            None => self.set_mode(cx),
        }
    }

    /// HOST-5, HOST-7.
    fn set_mode(&mut self, cx: &mut Cx<'_>) {
        let (id, command) = (self.id.clone(), cx.ids.uuid());
        let params = SetApprovalMode { command_id: &command, session_id: &id, mode: APPROVAL_MODE };
        self.call(cx, "session/setApprovalMode", &params, HostCall::Mode);
    }

    fn set_model(&mut self, cx: &mut Cx<'_>) {
        let Slot::Live(host) = &self.slot else { return };
        let settings = host.resolved.settings.clone();
        let (id, command) = (self.id.clone(), cx.ids.uuid());
        let params = SetModel {
            command_id: &command,
            session_id: &id,
            model: ModelSelection { model_id: &settings.model, provider_id: &settings.provider },
        };
        self.call(cx, "session/setModel", &params, HostCall::Model);
    }

    /// HOST-5: a rejection or a different answer fails before any turn.
    fn on_confirmed(&mut self, cx: &mut Cx<'_>, outcome: Outcome<'_>) {
        let Some(result) = self.read::<SessionResult>(cx, "session/read", outcome) else { return };
        let Slot::Live(host) = &mut self.slot else { return };
        let settings = &host.resolved.settings;
        let row = result.session;
        if row.model_id.as_deref() != Some(&settings.model)
            || row.provider_id.as_deref() != Some(&settings.provider)
        {
            let what = "Muse does not confirm the model and provider of the session: check `model` \
                        and `provider` in Muse's settings";
            return self.fail_turn(cx, Failure::unconfirmed(what));
        }
        host.ready = true;
        self.submit(cx);
    }

    /// PRM-25: exactly one `turn/start`.
    fn submit(&mut self, cx: &mut Cx<'_>) {
        if self.is_deaf() {
            return self.fail_turn(cx, Failure::host_lost(Phase::Preparing)); // it would not get it
        }
        let Some(turn) = &mut self.turn else { return };
        let Stage::Opening { parts, effort, .. } = &mut turn.stage else { return };
        let (parts, effort) = (std::mem::take(parts), std::mem::take(effort));
        self.effort = EFFORTS.into_iter().find(|tier| *tier == effort);
        let command = cx.ids.uuid();
        let generation = turn.generation;
        turn.stage = Stage::Submitted { command: command.clone(), held: Held::default() };
        turn.deadline = Some(cx.now.after(cx.config.submit));
        let elapsed_ms = cx.now.since(turn.since).as_millis();
        turn.since = cx.now;
        tracing::info!(code = "phase", session = %self.id, phase = "submitting", elapsed_ms);
        let id = self.id.clone();
        let params = TurnStart {
            command_id: &command,
            session_id: &id,
            input: &parts,
            reasoning_effort: self.effort,
        };
        self.call(cx, "turn/start", &params, HostCall::TurnStart(generation));
    }

    /// DL-2 begins: a budget of its own (DL-7).
    fn enter_preparing(&mut self, cx: &mut Cx<'_>) {
        let Some(turn) = &mut self.turn else { return };
        if let Stage::Opening { preparing, .. } = &mut turn.stage {
            *preparing = true;
        }
        // A host that is deaf answers nothing of this phase: what is left of its grace goes on.
        if !matches!(&self.slot, Slot::Live(host) if host.deaf) {
            turn.deadline = Some(cx.now.after(cx.config.startup));
        }
        let elapsed_ms = cx.now.since(turn.since).as_millis();
        turn.since = cx.now;
        tracing::info!(code = "phase", session = %self.id, phase = "preparing", elapsed_ms);
    }

    fn is_ready(&self) -> bool {
        matches!(&self.slot, Slot::Live(host) if host.ready)
    }

    /// CMD-2: any other status than `accepted` is a refusal.
    fn accepted(&mut self, cx: &mut Cx<'_>, method: &'static str, outcome: Outcome<'_>) -> bool {
        #[derive(serde::Deserialize)]
        struct Ack {
            status: String,
        }
        let Some(ack) = self.read::<Ack>(cx, method, outcome) else { return false };
        if ack.status != "accepted" {
            let what = format!("Muse did not accept {method}");
            self.fail_turn(cx, Failure::protocol(Phase::Preparing, &what));
            return false;
        }
        true
    }

    /// A result in its type; a refusal or an impossible one fails the turn (PO-36).
    pub(super) fn read<T: DeserializeOwned>(
        &mut self,
        cx: &mut Cx<'_>,
        method: &'static str,
        outcome: Outcome<'_>,
    ) -> Option<T> {
        let phase = self.turn.as_ref().map_or(Phase::Preparing, super::Turn::phase);
        let failure = match decode(outcome) {
            Ok(value) => return Some(value),
            Err(Some(error)) => Failure::refused(method, &error, phase, &cx.config.redactor),
            Err(None) => {
                Failure::protocol(phase, &format!("Muse's answer to {method} is unusable"))
            }
        };
        self.fail_turn(cx, failure);
        None
    }
}

fn decode<T: DeserializeOwned>(outcome: Outcome<'_>) -> Result<T, Option<RpcError>> {
    match outcome {
        Outcome::Ok(raw) => serde_json::from_str(RawValue::get(raw)).map_err(|_| None),
        Outcome::Err(error) => Err(Some(error)),
        Outcome::Impossible => Err(None),
    }
}

/// BIN-4. A version that cannot be read does not stand in the way (design.md §8).
fn check_version(resolved: Resolved) -> Result<Resolved, ResolveError> {
    let parts = |version: &str| -> Option<[u32; 3]> {
        let numbers: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
        numbers.try_into().ok()
    };
    let too_old =
        match (resolved.version.as_deref().and_then(parts), parts(crate::MINIMUM_HOST_VERSION)) {
            (Some(found), Some(minimum)) => found < minimum,
            _ => false,
        };
    if too_old {
        return Err(ResolveError::NoServe { binary: resolved.binary, version: resolved.version });
    }
    Ok(resolved)
}
