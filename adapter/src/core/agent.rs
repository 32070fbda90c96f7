//! One editor connection: the handshake, the table of sessions, and who gets which input.
//!
//! In: [`Input`]. Out: [`Output`]s in order and the next deadline. Invariants: every request is
//! answered once; nothing but `initialize` is served before `initialize` (WIRE-7); after the shutdown
//! began nothing new starts (BIND-8); a bug in one session does not end the others (PROC-8, WIRE-17).

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::client::Client;
use super::config::Change;
use super::content;
use super::io::{
    Config, Effect, EffectId, EffectResult, Facts, HostId, IdSource, Input, Output, Tick,
    WorkspaceError,
};
use super::mode::Mode;
use super::session::{Counters, Cx, Session, Way};
use super::steering::Form;
use super::turn::EditorCall;
use crate::acp::{self, method, schema};
use crate::msp::SessionId;
use crate::wire::peer::Outcome;
use crate::wire::{Id, Incoming, Invalid, Line, Peer, RpcError};

/// Open sessions of one connection. Each may own a process; no editor needs more.
pub const SESSIONS_MAX: usize = 256;

/// See the module.
#[derive(Clone, Debug)]
pub struct Agent {
    config: Config,
    facts: Facts,
    editor: Peer<EditorCall>,
    initialized: bool,
    client: Client,
    sessions: IndexMap<SessionId, Session>,
    /// `session/new` and `authenticate` requests that wait for an effect.
    waiting: BTreeMap<EffectId, Waiting>,
    /// [`Input::EditorStalled`].
    editor_stalled: bool,
    shutdown: bool,
    exited: bool,
    counters: Counters,
    out: VecDeque<Output>,
}

#[derive(Clone, Debug)]
enum Waiting {
    Workspace(Id),
    Credentials { request: Id, terminal: bool },
}

impl Agent {
    /// An agent that has seen nothing yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            config,
            facts: Facts::default(),
            editor: Peer::default(),
            initialized: false,
            client: Client::default(),
            sessions: IndexMap::new(),
            waiting: BTreeMap::new(),
            editor_stalled: false,
            shutdown: false,
            exited: false,
            counters: Counters::default(),
            out: VecDeque::new(),
        }
    }

    /// Feeds one input. Outputs wait in [`Agent::poll_output`]; [`Agent::deadline`] may have changed.
    pub fn handle(&mut self, now: Tick, input: Input<'_>, ids: &mut dyn IdSource) {
        match input {
            Input::Editor(line) => self.on_editor_line(now, &line, ids),
            Input::EditorClosed | Input::Signal => self.shut_down(now, ids),
            Input::Host(host, line) => {
                self.with_host(now, ids, host, |session, cx| session.on_host_line(cx, &line));
            }
            Input::HostEof(host) => {
                self.with_host(now, ids, host, |session, cx| session.on_host_eof(cx, host));
            }
            Input::HostDeaf(host) => {
                self.with_host(now, ids, host, |session, cx| session.on_host_deaf(cx, host));
            }
            Input::HostGone(host, end) => {
                self.with_host(now, ids, host, |session, cx| session.on_host_gone(cx, host, &end));
            }
            Input::SpawnFailed(host) => {
                self.with_host(now, ids, host, |session, cx| session.on_spawn_failed(cx, host));
            }
            Input::Effect(effect, result) => self.on_effect(now, ids, effect, result),
            Input::Timer => {
                let (stall, stalled) = (self.config.stall, self.editor_stalled);
                let due = |session: &Session| {
                    session.deadline(stall, stalled).is_some_and(|at| at <= now)
                };
                let due: Vec<SessionId> = self
                    .sessions
                    .iter()
                    .filter(|(_, session)| due(session))
                    .map(|(id, _)| id.clone())
                    .collect();
                for id in due {
                    self.with_session(now, ids, &id, Session::on_timer);
                }
            }
            Input::EditorStalled(stalled) => {
                self.editor_stalled = stalled;
                let all: Vec<SessionId> = self.sessions.keys().cloned().collect();
                for id in all {
                    self.with_session(now, ids, &id, Session::on_editor_stalled);
                }
            }
            Input::Facts(facts) => {
                let before = std::mem::replace(&mut self.facts, facts);
                let all: Vec<SessionId> = self.sessions.keys().cloned().collect();
                for id in all {
                    self.with_session(now, ids, &id, |session, cx| session.on_facts(cx, &before));
                }
            }
        }
        self.sessions.retain(|_, session| !session.is_closed());
        if self.shutdown && self.sessions.is_empty() && !std::mem::replace(&mut self.exited, true) {
            self.out.push_back(Output::Exit);
        }
    }

    /// The next effect in order. Call until `None` after every [`Agent::handle`].
    #[must_use]
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// The earliest instant at which [`Input::Timer`] has something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Tick> {
        let (stall, stalled) = (self.config.stall, self.editor_stalled);
        self.sessions.values().filter_map(|session| session.deadline(stall, stalled)).min()
    }

    /// What no request can do (CFG-5), so that what stands behind it can be tested.
    #[cfg(test)]
    pub(super) fn select(&mut self, session: &str, selection: super::config::Selection) {
        self.sessions.get_mut(session).expect("a session").select(selection);
    }

    /// Questions that the editor has not answered.
    #[cfg(test)]
    pub(super) fn open_questions(&self) -> usize {
        self.editor.open()
    }

    fn on_editor_line(&mut self, now: Tick, line: &Line<'_>, ids: &mut dyn IdSource) {
        match self.editor.receive(line) {
            Incoming::Request { id, method, params } => {
                tracing::debug!(method = %log_name(&method), ?id, "acp recv");
                // A bug in a handler must not cost the connection (PROC-8).
                let handled = catch_unwind(AssertUnwindSafe(|| {
                    self.on_request(now, ids, &id, &method, params)
                }));
                let result = handled.unwrap_or_else(|_| Err(acp::internal_error("see the log")));
                if let Err(error) = result {
                    self.fail(&id, &error);
                }
            }
            Incoming::Notification { method, params } => {
                tracing::debug!(method = %log_name(&method), "acp recv");
                self.on_notification(now, ids, &method, params);
            }
            Incoming::Response { token, outcome } => self.on_response(now, ids, token, outcome),
            Incoming::Unmatched => tracing::debug!(code = "unmatched", "acp response to nothing"),
            Incoming::Invalid(invalid) => {
                let (id, error) = match invalid {
                    Invalid::Syntax | Invalid::Truncated => (Id::null(), acp::parse_error()),
                    Invalid::Shape(id) => (
                        id.unwrap_or_else(Id::null),
                        acp::invalid_request("not a JSON-RPC 2.0 message"),
                    ),
                    Invalid::TooLong => {
                        (Id::null(), acp::invalid_request("the line is above 33554432 bytes"))
                    }
                };
                self.fail(&id, &error);
            }
        }
    }

    fn on_request(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        id: &Id,
        name: &str,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        if self.shutdown {
            return Err(acp::invalid_request("the agent is shutting down"));
        }
        if !self.initialized && name != method::INITIALIZE {
            return Err(acp::invalid_request("`initialize` comes first"));
        }
        match name {
            method::INITIALIZE => self.initialize(id, params),
            method::AUTHENTICATE => self.authenticate(id, params),
            method::SESSION_NEW => self.new_session(id, params),
            method::SESSION_PROMPT => self.prompt(now, ids, id, params),
            method::SESSION_CLOSE => {
                let request: schema::CloseSessionRequest = acp::params(name, params)?;
                let session = self.known(&request.session_id.0)?;
                self.with_session_result(now, ids, &session, |session, cx| {
                    session.close(cx, id.clone())
                })
            }
            method::SESSION_SET_MODE => {
                let request: schema::SetSessionModeRequest = acp::params(name, params)?;
                let session = self.known(&request.session_id.0)?;
                let mode = Mode::read(&request.mode_id.0, &self.facts)?;
                self.with_session_result(now, ids, &session, |session, cx| {
                    session.configure(cx, id.clone(), Way::Mode, Change::Mode(mode))
                })
            }
            method::SESSION_SET_CONFIG_OPTION => {
                let request: SetOption = acp::params(name, params)?;
                let session = self.known(&request.session_id)?;
                let change = Change::read(&request.config_id, request.value.as_ref(), &self.facts)?;
                self.with_session_result(now, ids, &session, |session, cx| {
                    session.configure(cx, id.clone(), Way::Option, change)
                })
            }
            method::MUSE_STEER => self.steer(now, ids, id, Form::Muse, params),
            method::SESSION_STEERING => self.steer(now, ids, id, Form::Compatible, params),
            _ => Err(acp::method_not_found()),
        }
    }

    fn on_notification(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        name: &str,
        params: Option<&RawValue>,
    ) {
        let session = match name {
            method::SESSION_CANCEL => {
                let named = acp::params::<schema::CancelNotification>(name, params).ok();
                named.and_then(|named| self.known(&named.session_id.0).ok())
            }
            // The id of a prompt stands for its session; a correction cannot be taken back, and
            // other requests are answered too fast to be cancelled (acp.md §3.2).
            method::CANCEL_REQUEST => requested_id(params).and_then(|id| {
                let session = self.sessions.iter().find(|(_, s)| s.prompt() == Some(&id));
                session.map(|(session, _)| session.clone())
            }),
            _ => return,
        };
        match session {
            Some(session) => self.with_session(now, ids, &session, Session::cancel),
            None => tracing::info!(code = "cancel-unknown", "a cancel that names nothing (CAN-1)"),
        }
    }

    fn on_response(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        call: EditorCall,
        outcome: Outcome<'_>,
    ) {
        let session = call.session().clone();
        self.with_session(now, ids, &session, |session, cx| match call {
            EditorCall::Permission { generation, approval, source_index, .. } => {
                session.on_permission(cx, generation, &approval, source_index, outcome);
            }
            EditorCall::Question { generation, input, .. } => {
                session.on_form(cx, generation, &input, &outcome);
            }
        });
    }

    /// INIT-1..9: exactly what this version does.
    fn initialize(&mut self, id: &Id, params: Option<&RawValue>) -> Result<(), RpcError> {
        let request: schema::InitializeRequest = acp::params(method::INITIALIZE, params)?;
        self.initialized = true;
        self.client = Client::new(&request.client_capabilities);
        let mut methods = Vec::new();
        if request.client_capabilities.auth.terminal {
            let mut login = json!({
                "type": "terminal", "id": "muse-login", "name": "Log in to Muse",
                "description": "Runs Muse's own login in a terminal",
                "args": ["--cli", "login"],
            });
            if let Some(executable) = &self.config.executable {
                login["_meta"] = json!({ "terminal-auth": {
                    "command": executable, "args": ["--cli", "login"], "label": "Muse login" } });
            }
            methods.push(login);
        }
        methods.push(json!({
            "id": "meta-api-key", "name": "Meta API key",
            "description": "Set META_API_KEY in the environment of the agent, or log in to Muse",
        }));
        let mut result = json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": false,
                "promptCapabilities": { "image": false, "audio": false, "embeddedContext": false },
                "mcpCapabilities": { "http": false, "sse": false },
                "sessionCapabilities": { "close": {} },
            },
            "authMethods": methods,
            "agentInfo": { "name": "muse-code-acp", "title": "Muse Code",
                           "version": env!("CARGO_PKG_VERSION") },
        });
        if let Some(meta) = self.client.acknowledgements() {
            result["_meta"] = meta;
        }
        self.succeed(id, &result);
        Ok(())
    }

    /// AUTH-4: any evidence satisfies either method; no provider is contacted.
    fn authenticate(&mut self, id: &Id, params: Option<&RawValue>) -> Result<(), RpcError> {
        let request: schema::AuthenticateRequest = acp::params(method::AUTHENTICATE, params)?;
        let terminal = match &*request.method_id.0 {
            "meta-api-key" => false,
            "muse-login" => true,
            _ => return Err(acp::invalid_params("unknown methodId")),
        };
        if self.waiting.len() >= SESSIONS_MAX {
            return Err(acp::busy("too many requests are waiting"));
        }
        let waiting = Waiting::Credentials { request: id.clone(), terminal };
        self.effect(Effect::Credentials, waiting);
        Ok(())
    }

    /// NEW-1, NEW-2: no host is started.
    fn new_session(&mut self, id: &Id, params: Option<&RawValue>) -> Result<(), RpcError> {
        let request: schema::NewSessionRequest = acp::params(method::SESSION_NEW, params)?;
        if !request.additional_directories.is_empty() {
            let why = "additionalDirectories is not supported: open a separate session instead";
            return Err(acp::unsupported(why));
        }
        if !request.mcp_servers.is_empty() {
            let why = "this version cannot pass mcpServers on: configure them in Muse itself";
            return Err(acp::unsupported(why));
        }
        let Some(cwd) = request.cwd.to_str().filter(|_| request.cwd.is_absolute()) else {
            return Err(acp::invalid_params("cwd must be an absolute path"));
        };
        if self.sessions.len() + self.waiting.len() >= SESSIONS_MAX {
            return Err(acp::busy("too many open sessions: close some of them"));
        }
        self.effect(Effect::Workspace(cwd.to_owned()), Waiting::Workspace(id.clone()));
        Ok(())
    }

    fn prompt(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        id: &Id,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        #[derive(Deserialize)]
        struct Prompt<'a> {
            #[serde(rename = "sessionId", borrow)]
            session_id: std::borrow::Cow<'a, str>,
            #[serde(borrow)]
            prompt: Vec<&'a RawValue>,
        }
        let text = params.map_or("{}", RawValue::get);
        let prompt: Prompt<'_> = serde_json::from_str(text)
            .ok()
            .filter(|_| text.starts_with('{'))
            .ok_or_else(|| acp::invalid_params("sessionId or prompt is missing or ill-typed"))?;
        let session = self.known(&prompt.session_id)?;
        // PC-15: content is checked before anything is started; busy comes first (PRM-1).
        self.with_session_result(now, ids, &session, |session, cx| {
            session.admit()?;
            let parts = content::convert(&prompt.prompt)?;
            session.start(cx, id.clone(), parts)
        })
    }

    /// STE-1, STE-14. What was not negotiated is not read (MTA-3).
    fn steer(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        id: &Id,
        form: Form,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        let negotiated = match form {
            Form::Muse => self.client.steers(),
            Form::Compatible => self.client.compatible_steering,
        };
        if !negotiated {
            return Err(acp::invalid_request("steering was not negotiated in `initialize`"));
        }
        let asked = acp::steering::read(params, form == Form::Muse)?;
        let session = self.known(&asked.session_id)?;
        self.with_session_result(now, ids, &session, |session, cx| {
            session.steer(cx, id.clone(), form, &asked)
        })
    }

    fn on_effect(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        effect: EffectId,
        result: EffectResult,
    ) {
        match (self.waiting.remove(&effect), result) {
            (Some(Waiting::Workspace(request)), EffectResult::Workspace(found)) => {
                match found.map_err(workspace_error) {
                    Err(error) => self.fail(&request, &error),
                    Ok(workspace) => {
                        let id = ids.uuid();
                        // PO-35: what follows of this session comes after this.
                        self.succeed(&request, &Session::opened(&id, &self.facts));
                        let id = SessionId::from(&*id);
                        self.sessions.insert(id.clone(), Session::new(id, workspace));
                    }
                }
            }
            (
                Some(Waiting::Credentials { request, terminal }),
                EffectResult::Credentials(found),
            ) => {
                if found {
                    self.succeed(&request, &json!({}));
                } else {
                    self.fail(
                        &request,
                        &acp::auth_required(if terminal {
                            "run the login with `muse-code-acp --cli login`, then connect again"
                        } else {
                            "set META_API_KEY in the environment of the agent, then connect again"
                        }),
                    );
                }
            }
            (None, result) => {
                let waits = self.sessions.iter().find(|(_, session)| session.awaits(effect));
                if let Some(id) = waits.map(|(id, _)| id.clone()) {
                    self.with_session(now, ids, &id, |session, cx| session.on_resolved(cx, result));
                }
            }
            (Some(_), _) => debug_assert!(false, "an effect gives the result of its own kind"),
        }
    }

    fn shut_down(&mut self, now: Tick, ids: &mut dyn IdSource) {
        if std::mem::replace(&mut self.shutdown, true) {
            return;
        }
        tracing::info!(code = "shutdown", sessions = self.sessions.len());
        drop(self.editor.drain());
        for waiting in std::mem::take(&mut self.waiting).into_values() {
            let (Waiting::Workspace(request) | Waiting::Credentials { request, .. }) = waiting;
            self.fail(&request, &acp::invalid_request("the agent is shutting down"));
        }
        let ids_of_all: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for id in ids_of_all {
            self.with_session(now, ids, &id, Session::shut_down);
        }
    }

    /// PO-5.
    fn known(&self, id: &str) -> Result<SessionId, RpcError> {
        let found = self.sessions.get_key_value(id).map(|(id, _)| id.clone());
        found.ok_or_else(|| acp::session_not_found(id))
    }

    fn effect(&mut self, effect: Effect, waiting: Waiting) {
        let id = self.counters.effect();
        self.waiting.insert(id, waiting);
        self.out.push_back(Output::Effect(id, effect));
    }

    fn with_host(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        host: HostId,
        act: impl FnOnce(&mut Session, &mut Cx<'_>),
    ) {
        let owner = self.sessions.iter().find(|(_, session)| session.host() == Some(host));
        if let Some(id) = owner.map(|(id, _)| id.clone()) {
            self.with_session(now, ids, &id, act);
        }
    }

    fn with_session(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        id: &SessionId,
        act: impl FnOnce(&mut Session, &mut Cx<'_>),
    ) {
        // The closure cannot fail, so there is no error to lose.
        let _ = self.with_session_result(now, ids, id, |session, cx| {
            act(session, cx);
            Ok(())
        });
    }

    /// Runs `act` on a session. A panic there is a bug of ours: it fails that session's prompt and
    /// nothing else.
    fn with_session_result(
        &mut self,
        now: Tick,
        ids: &mut dyn IdSource,
        id: &SessionId,
        act: impl FnOnce(&mut Session, &mut Cx<'_>) -> Result<(), RpcError>,
    ) -> Result<(), RpcError> {
        let Some(session) = self.sessions.get_mut(id) else { return Ok(()) };
        let mut cx = Cx {
            now,
            ids,
            config: &self.config,
            facts: &self.facts,
            client: self.client,
            out: &mut self.out,
            editor: &mut self.editor,
            editor_stalled: self.editor_stalled,
            counters: &mut self.counters,
        };
        match catch_unwind(AssertUnwindSafe(|| act(session, &mut cx))) {
            Ok(result) => result,
            Err(_) => {
                tracing::error!(code = "bug", session = %id, "a handler panicked; please report it");
                let broken = std::mem::replace(session, Session::new(id.clone(), String::new()));
                *session = broken.recover(&mut cx);
                Ok(())
            }
        }
    }

    fn succeed(&mut self, id: &Id, result: &serde_json::Value) {
        self.out.push_back(Output::Editor(crate::wire::envelope::success(id, result)));
    }

    fn fail(&mut self, id: &Id, error: &RpcError) {
        self.out.push_back(Output::Editor(crate::wire::envelope::failure(id, error)));
    }
}

/// Params of `session/set_config_option`. The schema's own type cannot say what is wrong (PIT-12).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SetOption {
    session_id: String,
    config_id: String,
    value: Option<serde_json::Value>,
}

fn workspace_error(error: WorkspaceError) -> RpcError {
    acp::invalid_params(match error {
        WorkspaceError::Missing => "cwd does not exist or cannot be read",
        WorkspaceError::NotADirectory => "cwd is not a directory",
        WorkspaceError::NotUtf8 => "the real path of cwd is not UTF-8",
    })
}

fn requested_id(params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(rename = "requestId", borrow)]
        request_id: &'a RawValue,
    }
    let named: Named<'_> = serde_json::from_str(params?.get()).ok()?;
    Id::from_raw(named.request_id.get())
}

/// Method names are the other side's text: only what looks like one is worth a log line.
pub(super) fn log_name(method: &str) -> &str {
    let known = method.len() <= 64
        && method.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_$".contains(&byte));
    if known { method } else { "(not a method name)" }
}
