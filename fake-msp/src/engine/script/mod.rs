//! Script acts: what a scenario may make the host do.
//!
//! Purpose: answer asked commands, send events, lose events, lie, break the process. Inputs: a
//! method or a handle plus the members that the scenario names. Outputs: frames in the usual queue
//! and an [`EmittedRef`] to bind names to. Invariants: everything unsaid is filled by the model
//! (ids, cursors, times, required members); an act that a real host could not do is an [`Illegal`]
//! naming the rule and changes nothing; lies skip that check and are the only way around it.
//! It knows nothing of scenario files. Rules: DSL-3..5, DSL-9, DSL-11, HOST-10..17.

mod effects;
mod fill;
mod fill_asked;
mod fill_error;
mod kinds;
mod legal;
mod legal_turns;
mod notices;
mod path;

use std::fmt;

use serde_json::{Map, Value, json};

use super::{AskHandle, Host, Output, Refusal, Reply, frames};
use crate::profiles::NotificationKind;

/// One member that the scenario says: a path such as `item.kind` or `questions[0].header`, and its
/// value.
pub type Set<'a> = (&'a str, Value);

/// Something with a life that later frames continue (`of NAME`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityRef {
    /// A session.
    Session {
        /// `sessionId`.
        session: String,
    },
    /// A turn.
    Turn {
        /// `sessionId`.
        session: String,
        /// `turnId`.
        id: String,
    },
    /// An item.
    Item {
        /// `sessionId`.
        session: String,
        /// `itemId`.
        id: String,
    },
    /// An approval.
    Approval {
        /// `sessionId`.
        session: String,
        /// `approvalId`.
        id: String,
    },
    /// A user-input prompt.
    UserInput {
        /// `sessionId`.
        session: String,
        /// `userInputId`.
        id: String,
    },
}

impl EntityRef {
    /// The session that it belongs to.
    #[must_use]
    pub fn session(&self) -> &str {
        match self {
            Self::Session { session }
            | Self::Turn { session, .. }
            | Self::Item { session, .. }
            | Self::Approval { session, .. }
            | Self::UserInput { session, .. } => session,
        }
    }

    /// Its own id: what `$name` stands for.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Session { session } => session,
            Self::Turn { id, .. }
            | Self::Item { id, .. }
            | Self::Approval { id, .. }
            | Self::UserInput { id, .. } => id,
        }
    }
}

/// What was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct EmittedRef {
    /// The entity that the frame is about.
    pub entity: Option<EntityRef>,
    /// Its position, for view events.
    pub view_cursor: Option<String>,
    /// The complete params.
    pub params: Value,
}

/// A script act that no honest host could do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// Rule of the wire reference.
    pub rule: &'static str,
    /// What would have to be different.
    pub text: String,
}

impl Illegal {
    pub(crate) fn new(rule: &'static str, text: impl Into<String>) -> Self {
        Self { rule, text: text.into() }
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (mark it as a lie to send it anyway)", self.rule, self.text)
    }
}

impl std::error::Error for Illegal {}

/// A fault of the process (DSL-11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessFault {
    /// stdout ends; the process stays.
    Eof,
    /// The process ends with a code.
    Exit(i32),
    /// The process dies by a signal.
    Kill,
    /// A line on stderr.
    Stderr(String),
    /// stdin is not read any more (true) or again (false).
    StallRead(bool),
    /// stdin is closed; the process stays.
    CloseStdin,
}

/// How a frame goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Honest,
    Lost,
    Lie,
}

impl Host {
    /// Mints the principal id of a frame before it is sent, for members that name it. Pass it back
    /// as `approvalId`, `item.itemId`, `userInputId` or `turnId`.
    pub fn mint(&mut self, method: &str) -> String {
        let kind = match method.split_once('/').map_or(method, |(family, _)| family) {
            "approval" => super::Kind::Approval,
            "userInput" => super::Kind::Input,
            "item" => super::Kind::Item,
            _ => super::Kind::Session,
        };
        self.ids.next(kind)
    }

    /// A stored event as `view/page` shows it, `{method, params}`, for scripts that say what a page
    /// holds. `None` for deltas, broadcasts and cursors that were never issued.
    #[must_use]
    pub fn stored_event(&self, session: &str, view_cursor: &str) -> Option<Value> {
        let log = &self.sessions.get(session)?.log;
        let position = log.position(view_cursor)?;
        let page = log.page(Some(position.checked_sub(1)?), true, 1, usize::MAX, usize::MAX);
        page.events.into_iter().find(|event| event["params"]["viewCursor"] == view_cursor)
    }

    /// Answers an asked command as the model would, with members replaced. Returns the result.
    ///
    /// # Errors
    /// When the handle is unknown or answered, or when the model would refuse the command.
    pub fn answer_ok(&mut self, handle: AskHandle, sets: &[Set<'_>]) -> Result<Value, Illegal> {
        self.answer(handle, sets, false)
    }

    /// [`Host::answer_ok`] without the model's objection.
    ///
    /// # Errors
    /// When the handle is unknown or answered.
    pub fn answer_lie(&mut self, handle: AskHandle, sets: &[Set<'_>]) -> Result<Value, Illegal> {
        self.answer(handle, sets, true)
    }

    fn answer(&mut self, handle: AskHandle, sets: &[Set<'_>], lie: bool) -> Result<Value, Illegal> {
        let reply = self.prepare(handle)?;
        let mut result = match reply {
            Ok(result) => result,
            Err(_) if lie => {
                let ask = &self.asks[&handle.0];
                json!({ "commandId": ask.params.get("commandId"), "status": "accepted" })
            }
            Err(refusal) => {
                let text = format!("the model answers {} here: {}", refusal.code, refusal.message);
                let method = self.asks.get(&handle.0).map_or("", |ask| ask.method.as_str());
                return Err(Illegal::new(legal::rule_of(method, refusal.code), text));
            }
        };
        path::apply(&mut result, sets)?;
        let said = |name: &str| sets.iter().any(|(path, _)| *path == name);
        if let Some(content) = result["content"].as_str().filter(|_| said("content")) {
            // Stored output of which the script says the text: the numbers follow from it.
            let length = content.len();
            if !said("byteLen") {
                result["byteLen"] = length.into();
            }
            if !said("eof") {
                result["eof"] = true.into();
            }
        }
        let Some(ask) = self.asks.remove(&handle.0) else { return Err(unknown_handle()) };
        if ask.method == "turn/start" {
            self.rename_admitted(&ask.params, &result);
        }
        let command_id = ask.params.get("commandId").and_then(Value::as_str).map(str::to_owned);
        self.settle(&ask.id, command_id.as_deref(), &Ok(result.clone()));
        for effect in ask.after {
            self.run_after(effect);
        }
        Ok(result)
    }

    /// Answers an asked command with an error; `data` is filled by code. Sets may name `message`
    /// and `data.…`.
    ///
    /// # Errors
    /// When the handle is unknown or answered, or a path cannot be set.
    pub fn answer_error(
        &mut self,
        handle: AskHandle,
        code: i64,
        sets: &[Set<'_>],
    ) -> Result<(), Illegal> {
        let ask = self.asks.get(&handle.0).ok_or_else(unknown_handle)?;
        let refusal = self.fill_error(&ask.params.clone(), code);
        let mut error = refusal.to_value();
        path::apply(&mut error, sets)?;
        let Some(ask) = self.asks.remove(&handle.0) else { return Err(unknown_handle()) };
        let refusal = Refusal {
            code: error["code"].as_i64().unwrap_or(code),
            message: error["message"].as_str().unwrap_or_default().to_owned(),
            data: error["data"].as_object().cloned().unwrap_or_default(),
        };
        let command_id = ask.params.get("commandId").and_then(Value::as_str).map(str::to_owned);
        self.settle(&ask.id, command_id.as_deref(), &Err(refusal));
        Ok(())
    }

    /// Sends an event. `of` continues an entity: the same item with the next revision, the same
    /// approval. `approval/requested` and `userInput/requested` are followed by their request;
    /// `approval/request` of an approval issues it again with what the sets change.
    ///
    /// # Errors
    /// When an honest host could not send it now; nothing was sent.
    pub fn emit(
        &mut self,
        method: &str,
        sets: &[Set<'_>],
        of: Option<&EntityRef>,
    ) -> Result<EmittedRef, Illegal> {
        self.send(method, sets, of, Way::Honest)
    }

    /// [`Host::emit`] without the legality check.
    ///
    /// # Errors
    /// When there is no session or a path cannot be set.
    pub fn emit_lie(
        &mut self,
        method: &str,
        sets: &[Set<'_>],
        of: Option<&EntityRef>,
    ) -> Result<EmittedRef, Illegal> {
        self.send(method, sets, of, Way::Lie)
    }

    /// Writes an event to the log without delivering it (`lost`, DSL-9); a gap can name it later.
    ///
    /// # Errors
    /// As [`Host::emit`], and HOST-10 for the protected set.
    pub fn lose(
        &mut self,
        method: &str,
        sets: &[Set<'_>],
        of: Option<&EntityRef>,
    ) -> Result<EmittedRef, Illegal> {
        self.send(method, sets, of, Way::Lost)
    }

    /// Sends a whole frame as it is: a lie (DSL-5).
    pub fn raw(&mut self, frame: &Value) {
        if self.stdout_open && !self.ended {
            self.out.push_back(Output::Line(frames::bytes(frame)));
        }
    }

    /// Sends bytes as they are, line ends included: a lie (DSL-5).
    pub fn bytes(&mut self, bytes: &[u8]) {
        if self.stdout_open && !self.ended {
            self.out.push_back(Output::Raw(bytes.to_vec()));
        }
    }

    /// Breaks the process.
    pub fn fault(&mut self, fault: ProcessFault) {
        if self.ended {
            return;
        }
        match fault {
            ProcessFault::Eof => self.close_stdout(),
            ProcessFault::Exit(code) => self.end(Output::Exit { code }),
            ProcessFault::Kill => self.end(Output::Kill),
            ProcessFault::Stderr(text) => self.out.push_back(Output::Stderr(text)),
            ProcessFault::StallRead(stall) => self.out.push_back(Output::StallRead(stall)),
            ProcessFault::CloseStdin => self.out.push_back(Output::CloseStdin),
        }
    }

    /// The model's reply to an ask, made once: an event may need its effects before the answer
    /// (HOST-17).
    fn prepare(&mut self, handle: AskHandle) -> Result<Reply, Illegal> {
        let ask = self.asks.get(&handle.0).ok_or_else(unknown_handle)?;
        if let Some(reply) = &ask.prepared {
            return Ok(reply.clone());
        }
        let (method, params) = (ask.method.clone(), ask.params.clone());
        let mut after = Vec::new();
        let reply = self.execute(&method, &params, &mut after);
        if let Some(ask) = self.asks.get_mut(&handle.0)
            && reply.is_ok()
        {
            ask.prepared = Some(reply.clone());
            // What follows a turn or an approval is the script's business.
            if !super::admission::is_scripted(&method) {
                ask.after = after;
            }
        }
        Ok(reply)
    }

    /// Takes over a turn id that the script changed in the ack.
    fn rename_admitted(&mut self, params: &Map<String, Value>, result: &Value) {
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let command_id = params.get("commandId").and_then(Value::as_str);
        let Some(target) = self.sessions.get_mut(session) else { return };
        for admitted in &mut target.waiting {
            if Some(admitted.turn.command_id.as_str()) == command_id
                && let Some(turn_id) = result["turnId"].as_str()
            {
                admitted.turn.turn_id = turn_id.to_owned();
            }
        }
    }

    fn send(
        &mut self,
        method: &str,
        sets: &[Set<'_>],
        of: Option<&EntityRef>,
        way: Way,
    ) -> Result<EmittedRef, Illegal> {
        let named = sets.iter().find(|(path, _)| *path == "sessionId");
        let session = named
            .and_then(|(_, value)| value.as_str())
            .or(of.map(EntityRef::session))
            .or(self.current.as_deref())
            .ok_or_else(|| Illegal::new("SES-1", "no session was started"))?
            .to_owned();
        if method == "turn/started" {
            self.admit_unanswered(&session);
        }
        let mut said = Value::Object(Map::new());
        path::apply(&mut said, sets)?;
        let mut params = self.fill(&session, method, &said, of);
        path::apply(&mut params, sets)?;
        self.finish_fill(method, &said, &mut params);
        if way != Way::Lie {
            self.check_legal(&session, method, &said, &params)?;
        }
        if way == Way::Lost {
            self.check_losable(method)?;
        }
        self.note_effects(&session, method, &params);
        let params = self.deliver(&session, method, params, way);
        Ok(EmittedRef {
            entity: entity_of(&session, method, &params),
            view_cursor: params["viewCursor"].as_str().map(str::to_owned),
            params,
        })
    }

    fn deliver(&mut self, session: &str, method: &str, params: Value, way: Way) -> Value {
        let request = match method {
            "approval/request" | "approval/requested" => Some("approval/request"),
            "userInput/request" | "userInput/requested" => Some("userInput/request"),
            _ => None,
        };
        if method == "item/delta" {
            let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
            let (item, field, delta) = (text("itemId"), text("field"), text("delta"));
            let cursor = match way {
                Way::Lost => match self.sessions.get_mut(session) {
                    Some(target) => target.log.ephemeral(),
                    None => String::new(),
                },
                Way::Honest | Way::Lie => self.delta(session, &item, &field, &delta),
            };
            let mut params = params;
            params["viewCursor"] = cursor.into();
            return params;
        }
        let params = if let (Some(request), false) = (request, method.ends_with("requested")) {
            self.ask_client(request, &params);
            return params;
        } else {
            let durable = self.profile.notification(method).map(|row| row.kind);
            match (durable, way) {
                (Some(NotificationKind::Durable), Way::Lost) => {
                    let params = self.store(session, method, params);
                    self.miss(session, method);
                    params
                }
                (Some(NotificationKind::Durable), _) => self.event(session, method, params),
                _ => {
                    self.notify(method, &params);
                    params
                }
            }
        };
        if let Some(request) = request {
            self.ask_client(request, &params);
        }
        params
    }
}

fn unknown_handle() -> Illegal {
    Illegal::new("ENV-1", "this request was answered already or never asked")
}

fn entity_of(session: &str, method: &str, params: &Value) -> Option<EntityRef> {
    let session = session.to_owned();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match method.split_once('/')? {
        ("item", "delta") => Some(EntityRef::Item { session, id: text(&params["itemId"])? }),
        ("item", _) => Some(EntityRef::Item { session, id: text(&params["item"]["itemId"])? }),
        ("approval", _) => Some(EntityRef::Approval { session, id: text(&params["approvalId"])? }),
        ("userInput", _) => {
            Some(EntityRef::UserInput { session, id: text(&params["userInputId"])? })
        }
        ("turn", _) => Some(EntityRef::Turn { session, id: text(&params["turnId"])? }),
        _ => Some(EntityRef::Session { session }),
    }
}
