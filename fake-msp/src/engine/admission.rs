//! From a request to its reply: everything that does not depend on the command is checked, then the model or
//! the script answers. Rules: HOST-18, HSK-7, ENV-2, ENV-9, CMD-2..5, DSL-7.

use serde_json::{Map, Value};

use super::ledger::Seen;
use super::{Ask, AskHandle, Host, Mode, Output, Refusal, Reply};
use crate::oracle;
use crate::profiles::Class;

impl Host {
    pub(super) fn on_request(&mut self, id: &Value, method: &str, params: Option<Value>) {
        if self.play_fault(id, method) {
            return;
        }
        match self.admit(id, method, params) {
            Ok(Some(params)) => self.run_command(id, method, params),
            Ok(None) => {}
            Err(refusal) => self.respond(id, &Err(refusal)),
        }
    }

    /// Checks everything that does not depend on the command: phase, method, shape, ledger.
    /// `None` means that it was answered from the ledger.
    fn admit(
        &mut self,
        id: &Value,
        method: &str,
        params: Option<Value>,
    ) -> Result<Option<Map<String, Value>>, Refusal> {
        self.check_phase(method)?;
        let Some(row) = self.profile.method(method) else {
            self.note("method", ("", "HOST-18", "method does not exist in this host generation"));
            return Err(Refusal::new(-32601, "no such method"));
        };
        if row.experimental && !self.connection.experimental {
            self.note(method, ("", "HSK-7", "experimental method without the opt-in"));
            let refusal = Refusal::new(-32601, "experimental method").kind("experimentalRequired");
            return Err(refusal.with("descriptor", method));
        }
        let mut params = match params {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                self.note(method, ("params", "ENV-9", "params must be an object or left out"));
                return Err(Refusal::invalid_params("params must be an object"));
            }
        };
        if self.asks.values().any(|ask| ask.id == *id) {
            self.note(method, ("id", "ENV-2", "request id is still in flight"));
        }
        let findings =
            oracle::check_params(self.profile, self.connection.experimental, method, &params);
        let refused = findings.iter().find(|finding| finding.refused).map(|finding| {
            let refusal = Refusal::invalid_params(format!("{}: {}", finding.path, finding.text));
            match finding.experimental {
                true => refusal
                    .kind("experimentalRequired")
                    .with("descriptor", format!("{method}.{}", finding.path)),
                false => refusal,
            }
        });
        self.find(method, findings);
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        oracle::drop_newer(self.profile, method, &mut params);
        if let Some(session) = params.get("sessionId").and_then(Value::as_str) {
            self.fetch(session)?;
        }
        if let (Class::Command, Some(command_id)) =
            (row.class, params.get("commandId").and_then(Value::as_str))
        {
            match self.ledger.look(command_id, method, &params, id) {
                Seen::Fresh => {}
                Seen::Waiting => return Ok(None),
                Seen::Replay(reply) => {
                    self.respond(id, &reply);
                    self.repeat_leave(command_id);
                    return Ok(None);
                }
                Seen::Conflict => {
                    let finding = ("commandId", "CMD-5", "used before with another payload");
                    self.note(method, finding);
                    return Err(Refusal::rejected(command_id, "command_id_conflict"));
                }
            }
        }
        Ok(Some(params))
    }

    fn run_command(&mut self, id: &Value, method: &str, params: Map<String, Value>) {
        let mut findings = oracle::model::judge(&self.sessions, method, &params);
        findings.extend(oracle::model::ungranted(
            self.profile,
            &self.connection.granted,
            method,
            &params,
        ));
        self.find(method, findings);
        let command_id = params.get("commandId").and_then(Value::as_str).map(str::to_owned);
        if let Some(command_id) = &command_id {
            self.ledger.open(command_id, method, &params);
            self.record_accepted(command_id, method, &params);
        }
        if self.is_asked(method) {
            self.asked += 1;
            self.current = params.get("sessionId").and_then(Value::as_str).map(str::to_owned);
            let handle = AskHandle(self.asked);
            self.out.push_back(Output::Asked {
                handle,
                id: id.clone(),
                method: method.to_owned(),
                params: Value::Object(params.clone()),
            });
            let method = method.to_owned();
            self.asks.insert(handle.0, Ask::new(id.clone(), method, params));
            return;
        }
        let mut after = Vec::new();
        let reply = self.execute(method, &params, &mut after);
        if let Some(command_id) = &command_id {
            self.record_settled(command_id, method, &params, &reply);
        }
        self.settle(id, command_id.as_deref(), &reply);
        for effect in after {
            self.run_after(effect);
        }
    }

    pub(super) fn is_asked(&self, method: &str) -> bool {
        self.options.mode == Mode::Scripted
            && (is_scripted(method) || self.options.asked.iter().any(|asked| asked == method))
    }

    /// Answers a command and every replay that waited for it.
    pub(crate) fn settle(&mut self, id: &Value, command_id: Option<&str>, reply: &Reply) {
        self.respond(id, reply);
        if let Some(command_id) = command_id {
            for waiting in self.ledger.settle(command_id, reply) {
                self.respond(&waiting, reply);
            }
        }
    }
}

/// Methods that a script always answers (section 2 of the scenario language, DSL-7).
pub(super) fn is_scripted(method: &str) -> bool {
    let family = method.split_once('/').map_or(method, |(family, _)| family);
    matches!(family, "turn" | "approval" | "userInput") || method == "view/page"
}
