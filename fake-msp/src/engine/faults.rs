//! Misbehaviour by method.
//!
//! Purpose: levers for clients that cannot run a scenario file. Inputs: a request. Outputs: a fault
//! effect instead of the answer. Rules: HOST-15, HOST-16.

use serde_json::Value;

use super::{Host, Output, Refusal};

/// One lever of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Never answers this method.
    Ignore(String),
    /// Answers this method with an error of this code.
    Error(String, i64),
    /// Ends with this exit code when the method arrives.
    Exit(String, i32),
    /// Closes stdout when the method arrives, and lives on.
    CloseStdout(String),
    /// Dies by a signal when the method arrives.
    Crash(String),
    /// Drops every event of this method for the client and tells of the hole (CUR-9). The protected set
    /// is never dropped (HOST-10).
    Gap(String),
    /// Does not end at the end of stdin.
    HangOnEof,
}

impl Host {
    /// Plays the first lever for `method`. True if the request was dealt with.
    pub(super) fn play_fault(&mut self, id: &Value, method: &str) -> bool {
        let fault = self.options.faults.iter().find(|fault| match fault {
            Fault::Ignore(name)
            | Fault::Error(name, _)
            | Fault::Exit(name, _)
            | Fault::CloseStdout(name)
            | Fault::Crash(name) => name == method,
            Fault::HangOnEof | Fault::Gap(_) => false,
        });
        match fault.cloned() {
            None | Some(Fault::HangOnEof | Fault::Gap(_)) => return false,
            Some(Fault::Ignore(_)) => {}
            Some(Fault::Error(_, code)) => {
                let refusal = Refusal::new(code, "an error by lever");
                self.respond(id, &Err(refusal));
            }
            Some(Fault::Exit(_, code)) => self.end(Output::Exit { code }),
            Some(Fault::CloseStdout(_)) => self.close_stdout(),
            Some(Fault::Crash(_)) => self.end(Output::Kill),
        }
        true
    }
}
