//! Lines that the editor says.

use serde_json::{Value, json};

use super::{Play, link_fault};
use crate::lang::ast::{Act, ActKind, Fault, FrameKind};
use crate::run::names::Bound;
use crate::run::report::{Code, Failure};
use crate::run::transcript::Lane as Wire;
use crate::stage::Party;

impl Play<'_> {
    pub(super) fn editor_act(&mut self, act: &Act) -> Result<(), Failure> {
        match &act.kind {
            ActKind::Send { method, kind, .. } => {
                let mut params = self.editor_params(method);
                self.apply(&mut params, &act.sets)?;
                let mut frame = json!({ "jsonrpc": "2.0", "method": method, "params": params });
                if *kind == FrameKind::Request {
                    self.next_id += 1;
                    frame["id"] = json!(self.next_id);
                    if let Some(name) = &act.bind {
                        let bound = Bound::EditorRequest { id: self.next_id, params, result: None };
                        self.names.bind(&name.text, bound);
                    }
                }
                self.editor_frame(act, &frame);
            }
            ActKind::Ok { request } => {
                let (id, params) = self.question(&request.text, act.at.line)?;
                let mut result = default_answer(&params);
                self.apply(&mut result, &act.sets)?;
                self.editor_frame(act, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            ActKind::Error { request, code } => {
                let (id, _) = self.question(&request.text, act.at.line)?;
                let mut error = json!({ "code": self.names.number(code)?, "message": "refused" });
                self.apply(&mut error, &act.sets)?;
                self.editor_frame(act, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            ActKind::Raw(value) => {
                let frame = self.names.json(value)?;
                self.bind_raw(act, 0, &frame);
                self.editor_frame(act, &frame);
            }
            ActKind::Bytes(bytes) => self.stage.editor_write(bytes),
            ActKind::Fault(Fault::Eof) => self.stage.editor_close(),
            ActKind::Fault(Fault::StallRead) => self.stage.editor_stall(true),
            ActKind::Fault(Fault::ResumeRead) => self.stage.editor_stall(false),
            ActKind::Fault(fault) => {
                let fault = link_fault(fault);
                let done = fault.map_or(Err("this fault is one of hosts"), |fault| {
                    self.stage.link(Party::Editor, fault)
                });
                done.map_err(|text| self.placed(Failure::new(Code::Illegal, act.at.line, text)))?;
            }
        }
        Ok(())
    }

    pub(super) fn editor_frame(&mut self, act: &Act, frame: &Value) {
        let at = self.stage.now();
        let line = frame.to_string();
        self.record(at, Wire::Editor, false, line.as_bytes());
        self.note_editor_frame(act);
        self.stage.editor_write(format!("{line}\n").as_bytes());
    }

    /// What a plain editor sends.
    pub(super) fn editor_params(&self, method: &str) -> Value {
        let session = self.session.clone().unwrap_or_default();
        match method {
            "initialize" => json!({ "protocolVersion": 1, "clientCapabilities": {} }),
            "session/new" => json!({ "cwd": "/workspace", "mcpServers": [] }),
            "session/prompt" => json!({ "sessionId": session,
                                        "prompt": [{ "type": "text", "text": "hello" }] }),
            "session/cancel" | "session/close" | "session/set_mode" => {
                json!({ "sessionId": session })
            }
            "session/set_config_option" => json!({ "sessionId": session, "configId": "mode" }),
            "_muse/steer" | "_session/steering" => json!({ "sessionId": session,
                "prompt": [{ "type": "text", "text": "rather so" }] }),
            _ => json!({}),
        }
    }

    pub(super) fn question(&self, name: &str, line: u32) -> Result<(Value, Value), Failure> {
        match self.names.get(name) {
            Some(Bound::FromAdapter { id: Some(id), params, .. }) => {
                Ok((id.clone(), params.clone()))
            }
            _ => Err(Failure::new(Code::Name, line, format!("${name} is no request that waits"))),
        }
    }
}

/// The answer that a line leaves unsaid: the first option that allows once.
fn default_answer(params: &Value) -> Value {
    let options = params["options"].as_array();
    let allow = options.and_then(|all| all.iter().find(|one| one["kind"] == "allow_once"));
    match allow.and_then(|option| option.get("optionId")) {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None if options.is_some() => json!({ "outcome": { "outcome": "cancelled" } }),
        None => json!({}),
    }
}
