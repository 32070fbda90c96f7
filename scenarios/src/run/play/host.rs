//! Lines that a host says, through the engine of the fake host.

use fake_msp::engine::AskHandle;
use fake_msp::engine::script::{EntityRef, ProcessFault};
use serde_json::{Value, json};

use super::{Play, link_fault};
use crate::lang::ast::{Act, ActKind, Fault, Lane, StageTable};
use crate::run::names::Bound;
use crate::run::report::{Code, Failure};
use crate::stage::{HostProc, Party};

impl Play<'_> {
    pub(super) fn host_act(&mut self, act: &Act) -> Result<(), Failure> {
        let line = act.at.line;
        if let ActKind::Fault(fault) = &act.kind
            && let Some(fault) = link_fault(fault)
        {
            // The machine is there before any process runs on it.
            return self
                .stage
                .link(Party::Host, fault)
                .map_err(|text| self.placed(Failure::new(Code::Illegal, line, text)));
        }
        let index = self.host_index(act.lane, line)?;
        let hosts = self.stage.hosts();
        let host = &hosts[index];
        let illegal = |error: fake_msp::engine::script::Illegal| {
            Failure::new(Code::Illegal, line, error.to_string())
        };
        match &act.kind {
            ActKind::Send { method, of, .. } => {
                // A frame may name itself: its id is minted before it is sent.
                if let Some(name) = &act.bind
                    && of.is_none()
                    && uses(act, &name.text)
                {
                    let id = host.with(|process| process.engine.mint(method));
                    self.names.bind(&name.text, Bound::Value(Value::from(id)));
                }
                let of = match of {
                    None => None,
                    Some(name) => match self.names.get(&name.text) {
                        Some(Bound::FromHost { entity: Some(entity), .. }) => Some(entity.clone()),
                        Some(Bound::FromAdapter { params, .. }) => turn_of(params),
                        _ => None,
                    },
                };
                let mut sets = self.host_sets(act, host)?;
                if let (Some(name), None) = (&act.bind, &of)
                    && let Some(Bound::Value(minted)) = self.names.get(&name.text)
                {
                    sets.extend(own_id(method).map(|path| (path.to_owned(), minted.clone())));
                }
                let sets: Vec<(&str, Value)> =
                    sets.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
                let emitted = host.with(|process| {
                    if act.lost {
                        process.engine.lose(method, &sets, of.as_ref())
                    } else {
                        process.engine.emit(method, &sets, of.as_ref())
                    }
                });
                let emitted = emitted.map_err(illegal).map_err(|failure| self.placed(failure))?;
                if let Some(name) = &act.bind {
                    let bound = Bound::FromHost {
                        host: index,
                        entity: emitted.entity,
                        params: emitted.params,
                    };
                    self.names.bind(&name.text, bound);
                }
            }
            ActKind::Ok { request } => {
                let handle = self.handle(&request.text, line)?;
                let sets = self.host_sets(act, host)?;
                let sets: Vec<(&str, Value)> =
                    sets.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
                let answered = host.with(|process| process.engine.answer_ok(handle, &sets));
                let result = answered.map_err(illegal).map_err(|failure| self.placed(failure))?;
                if let Some(name) = &act.bind {
                    let bound = Bound::FromHost { host: index, entity: None, params: result };
                    self.names.bind(&name.text, bound);
                }
            }
            ActKind::Error { request, code } => {
                let handle = self.handle(&request.text, line)?;
                let code = self.names.number(code)?;
                let sets = self.host_sets(act, host)?;
                let sets: Vec<(&str, Value)> =
                    sets.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
                let answered =
                    host.with(|process| process.engine.answer_error(handle, code, &sets));
                answered.map_err(illegal).map_err(|failure| self.placed(failure))?;
            }
            ActKind::Raw(value) => {
                self.lied = true;
                let frame = self.names.json(value)?;
                self.bind_raw(act, index, &frame);
                host.with(|process| process.engine.raw(&frame));
            }
            ActKind::Bytes(bytes) => {
                self.lied = true;
                host.with(|process| process.engine.bytes(bytes));
            }
            ActKind::Fault(fault) => {
                let fault = match fault {
                    Fault::Eof => ProcessFault::Eof,
                    Fault::Exit(code) => {
                        let code = self.names.number(code)?;
                        ProcessFault::Exit(i32::try_from(code).unwrap_or(1))
                    }
                    Fault::Kill => ProcessFault::Kill,
                    Fault::Stderr(text) => ProcessFault::Stderr(text.clone()),
                    Fault::StallRead => ProcessFault::StallRead(true),
                    Fault::ResumeRead => ProcessFault::StallRead(false),
                    Fault::CloseStdin => ProcessFault::CloseStdin,
                    Fault::Hold
                    | Fault::Release
                    | Fault::Delay(_)
                    | Fault::Crash
                    | Fault::Bounce => return Ok(()), // played above
                };
                host.with(|process| process.engine.fault(fault));
            }
        }
        Ok(())
    }

    /// Members of a host act as the engine takes them.
    pub(super) fn host_sets(
        &self,
        act: &Act,
        host: &HostProc,
    ) -> Result<Vec<(String, Value)>, Failure> {
        let mut sets = Vec::new();
        for one in &act.sets {
            let path = one.path.to_string();
            let value = if path == "events" && matches!(act.kind, ActKind::Ok { .. }) {
                self.stored_events(&one.value, host)?
            } else {
                self.names.json(&one.value)?
            };
            sets.push((path, value));
        }
        Ok(sets)
    }

    /// A page is made of whole events: there a bare name stands for what the log holds.
    pub(super) fn stored_events(
        &self,
        value: &crate::lang::ast::Value,
        host: &HostProc,
    ) -> Result<Value, Failure> {
        use crate::lang::ast::ValueKind;
        let ValueKind::Array(list) = &value.kind else { return self.names.json(value) };
        let mut events = Vec::new();
        for value in list {
            let stored = match &value.kind {
                ValueKind::Name(name) if name.path.is_none() => match self.names.get(&name.name) {
                    Some(Bound::FromHost { params, .. }) => {
                        let text = |key: &str| params[key].as_str().unwrap_or_default().to_owned();
                        let (session, cursor) = (text("sessionId"), text("viewCursor"));
                        host.with(|process| process.engine.stored_event(&session, &cursor))
                    }
                    _ => None,
                },
                _ => None,
            };
            events.push(match stored {
                Some(event) => event,
                None => self.names.json(value)?,
            });
        }
        Ok(Value::Array(events))
    }

    pub(super) fn handle(&self, name: &str, line: u32) -> Result<AskHandle, Failure> {
        match self.names.get(name) {
            Some(Bound::FromAdapter { handle: Some(handle), .. }) => Ok(*handle),
            _ => Err(self.placed(Failure::new(
                Code::Name,
                line,
                format!("${name} does not wait for an answer of the story"),
            ))),
        }
    }

    /// The model's handle of a request of the adapter, taken once.
    pub(in crate::run) fn take_ask(&mut self, host: usize, frame: &Value) -> Option<AskHandle> {
        let key = format!(
            "{} {}",
            frame.get("id")?,
            frame.get("method").and_then(Value::as_str).unwrap_or_default()
        );
        let at = self.asks.iter().position(|(of, _, asked)| *of == host && *asked == key)?;
        Some(self.asks.remove(at).1)
    }

    /// The host that a lane means as an actor.
    pub(in crate::run) fn host_index(&mut self, lane: Lane, line: u32) -> Result<usize, Failure> {
        let count = self.stage.hosts().len();
        let index = match lane {
            Lane::HostNumber(number) => usize::from(number).checked_sub(1),
            _ => count.checked_sub(1),
        };
        index.filter(|index| *index < count).ok_or_else(|| {
            self.placed(Failure::new(Code::Missing, line, "the adapter has not started this host"))
        })
    }
}

/// The members of a frame use the frame's own name.
fn uses(act: &Act, name: &str) -> bool {
    let mut found = false;
    act.each_value_name(&mut |used| found |= used.name == name);
    found
}

/// Where a frame carries its own id.
fn own_id(method: &str) -> Option<&'static str> {
    match method.split_once('/')?.0 {
        "approval" => Some("approvalId"),
        "userInput" => Some("userInputId"),
        "item" => Some("item.itemId"),
        _ => None,
    }
}

/// A `turn/start` of the adapter stands for its turn.
fn turn_of(params: &Value) -> Option<EntityRef> {
    Some(EntityRef::Turn {
        session: params["sessionId"].as_str()?.to_owned(),
        id: params["commandId"].as_str()?.to_owned(),
    })
}

pub(super) fn stage_table(table: &StageTable) -> Value {
    let rows = table.rows.iter().map(|row| {
        let mut stage = json!({ "resolution": row.resolution });
        if !row.argv.is_empty() {
            stage["argv"] = json!(row.argv);
        }
        stage
    });
    Value::Array(rows.collect())
}
