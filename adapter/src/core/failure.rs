//! The failure object of the contract as the error type of a prompt (adapter-sessions.md §15).
//!
//! A constructor per row of the classification, so that phase, execution and outcome cannot be
//! forgotten. Invariants: what was not submitted has failed for certain (FAIL-8); nothing here
//! suggests a retry (FAIL-13); host text passes the redactor before it gets in (FAIL-20).

use std::time::Duration;

use serde_json::json;

use super::gap::{PAGE_BUDGET, Trouble};
use super::io::{HostEnd, ResolveError};
use super::redact::{Redactor, TEXT_MAX, cut};
use super::stall::Waiting;
use crate::msp::event::TurnError;
use crate::wire::RpcError;

/// Where a prompt is (DL-1..DL-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Spawn and handshake.
    Initializing,
    /// Opening the session and verifying its settings.
    Preparing,
    /// `turn/start` was sent, its acknowledgement is awaited.
    Submitting,
    /// Acknowledged.
    Running,
}

impl Phase {
    /// The wire's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Preparing => "preparing",
            Self::Submitting => "submitting",
            Self::Running => "running",
        }
    }

    /// Whether the host may have taken the turn (FAIL-7).
    #[must_use]
    pub fn may_have_submitted(self) -> bool {
        matches!(self, Self::Submitting | Self::Running)
    }
}

/// Who is at fault (FAIL-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Host,
    Provider,
    Transport,
    Adapter,
}

/// Why a prompt failed. The first one that is observed is kept (FAIL-10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    kind: String,
    source: Source,
    phase: Phase,
    /// False when nobody can know how the turn ended.
    definite: bool,
    retryable: Option<bool>,
    message: String,
    recovery: &'static str,
    msp_code: Option<i64>,
    /// Of the error towards the editor.
    code: i64,
}

/// Something inside failed.
const INTERNAL: i64 = -32603;
/// The person has to log in (§22): said by nothing but `authRequired`.
const AUTH_REQUIRED: i64 = -32000;
/// PO-32: somebody else holds the session, which is no fault inside.
const INVALID_REQUEST: i64 = -32600;

const INSPECT: &str = "reload the session and inspect what happened before deciding what to do; \
                       the adapter does not submit the prompt again";
const CORRECTION_LOST: &str =
    "the correction was not taken and the prompt goes on; the adapter does not send it again";
const CORRECTION_UNKNOWN: &str = "look at what Muse does before deciding whether to say it again; \
                                  the adapter does not send the correction again";
const BEFORE_SUBMITTING: &str = "inspect the message above before submitting again";
const CONFIGURATION: &str = "no model turn was submitted by this operation: check that Muse starts, its configuration, \
     and the deadline variables of the adapter";

impl Failure {
    fn new(kind: &str, source: Source, phase: Phase, message: String) -> Self {
        Self {
            kind: kind.to_owned(),
            source,
            phase,
            definite: !phase.may_have_submitted(),
            retryable: None,
            message,
            recovery: if phase.may_have_submitted() { INSPECT } else { CONFIGURATION },
            msp_code: None,
            code: INTERNAL,
        }
    }

    /// A kind of the adapter's own: a retry would meet the same (PO-6, FAIL-3).
    fn own(kind: &str, source: Source, phase: Phase, message: String) -> Self {
        Self { retryable: Some(false), ..Self::new(kind, source, phase, message) }
    }

    /// FAIL-6h: a phase took longer than its budget.
    #[must_use]
    pub fn deadline(phase: Phase, budget: Duration) -> Self {
        let variable = match phase {
            Phase::Submitting | Phase::Running => "MUSE_CODE_ACP_SUBMIT_TIMEOUT_MS",
            Phase::Initializing | Phase::Preparing => "MUSE_CODE_ACP_STARTUP_TIMEOUT_MS",
        };
        let what = match phase {
            Phase::Initializing => "start Muse and finish its handshake",
            Phase::Preparing => "open the session in Muse",
            Phase::Submitting => "get the prompt acknowledged by Muse",
            Phase::Running => "finish the turn",
        };
        let message = format!("failed to {what} within {} ms ({variable})", budget.as_millis());
        Self::own("deadlineExceeded", Source::Adapter, phase, message)
    }

    /// PO-37, FAIL-6d, FAIL-6g: the connection to the host ended.
    #[must_use]
    pub fn host_lost(phase: Phase) -> Self {
        let (kind, message) = if phase == Phase::Running {
            ("terminalUnknown", "Muse ended before it reported how the turn ended")
        } else {
            ("transportError", "Muse closed its connection")
        };
        Self::new(kind, Source::Transport, phase, message.to_owned())
    }

    /// Adds what the process said by ending; a recognised diagnostic changes the kind (FAIL-11),
    /// but not that of an adapter deadline.
    #[must_use]
    pub fn with_end(mut self, end: &HostEnd) -> Self {
        if self.source != Source::Transport {
            return self;
        }
        if end.sdk_disabled {
            "environmentError".clone_into(&mut self.kind);
            self.source = Source::Host;
            self.retryable = Some(false);
            "this Muse was built or configured without `muse serve`; upgrade Muse (the rollback \
             MUSE_CODE_ACP_BACKEND=exec is not in this version of the adapter yet)"
                .clone_into(&mut self.message);
            return self;
        }
        let meaning = match end.code {
            Some(2) => " (usage error)",
            Some(3) => " (configuration error: fix the configuration, then try again)",
            Some(4) => " (the session is held by another client)",
            Some(5) => " (this build of Muse does not offer `muse serve`)",
            _ => "",
        };
        match (end.code, end.signal) {
            // It ended because its input did: that is our doing, and no reason.
            (Some(0), _) => {}
            (Some(code), _) => {
                self.message.push_str(&format!("; it exited with code {code}{meaning}"));
            }
            (None, Some(signal)) => self.message.push_str(&format!("; signal {signal} ended it")),
            (None, None) => {}
        }
        self
    }

    /// PO-6: no host can be started.
    #[must_use]
    pub fn unavailable(error: &ResolveError, redactor: &Redactor) -> Self {
        let message = match error {
            ResolveError::Override(path) => format!(
                "MUSE_CODE_EXECUTABLE names no executable file: {}; install Muse Code or correct \
                 the variable",
                redactor.clean(path)
            ),
            ResolveError::NotOnPath => "no executable `muse` was found on PATH; install Muse Code \
                                        or set MUSE_CODE_EXECUTABLE to its path"
                .to_owned(),
            ResolveError::NoServe { binary, version } => format!(
                "{} ({}) has no working `muse serve`; Muse 1.1.1 or newer is needed. Upgrade Muse \
                 (the rollback MUSE_CODE_ACP_BACKEND=exec is not in this version of the adapter yet)",
                redactor.clean(binary),
                version.as_deref().unwrap_or("version unknown")
            ),
        };
        Self::own("hostUnavailable", Source::Adapter, Phase::Initializing, message)
    }

    /// The process could not be started although the binary is there.
    #[must_use]
    pub fn spawn(binary: &str, redactor: &Redactor) -> Self {
        let message =
            format!("failed to start {}; check that it can be executed", redactor.clean(binary));
        Self::own("hostUnavailable", Source::Adapter, Phase::Initializing, message)
    }

    /// FAIL-6f: the host refused a request. No text of the host is shown for decisions (FAIL-18).
    #[must_use]
    pub fn refused(method: &str, error: &RpcError, phase: Phase, redactor: &Redactor) -> Self {
        let data = error.data.as_ref();
        let kind = data
            .and_then(|data| data.get("kind"))
            .and_then(serde_json::Value::as_str)
            .map_or_else(|| "hostError".to_owned(), |kind| redactor.clean(kind));
        let retryable =
            data.and_then(|data| data.get("retryable")).and_then(serde_json::Value::as_bool);
        let message = format!("Muse refused {method}: {kind} (code {})", error.code);
        let (source, code) = match kind.as_str() {
            "authRequired" => (Source::Provider, AUTH_REQUIRED),
            "sessionInUse" => (Source::Host, INVALID_REQUEST),
            _ => (Source::Host, INTERNAL),
        };
        let mut failure = Self { code, ..Self::new(&kind, source, phase, message) };
        failure.definite = true;
        failure.retryable = retryable;
        failure.msp_code = Some(error.code);
        failure.recovery = match failure.kind.as_str() {
            "sessionInUse" => "another client holds this session: close it there, then try again",
            _ => hint(&failure.kind, failure.recovery),
        };
        failure
    }

    /// PO-6: the host said something that the protocol does not allow.
    #[must_use]
    pub fn protocol(phase: Phase, what: &str) -> Self {
        Self::own("protocolViolation", Source::Transport, phase, what.to_owned())
    }

    /// WS-5, HOST-4, HOST-5: what the host opened is not what was asked for.
    #[must_use]
    pub fn unconfirmed(what: &str) -> Self {
        Self::own("protocolViolation", Source::Adapter, Phase::Preparing, what.to_owned())
    }

    /// FAIL-6a..6c: the turn ended, and this is the host's reason.
    #[must_use]
    pub fn terminal(error: &TurnError, redactor: &Redactor) -> Self {
        let kind = redactor.clean(&error.kind);
        let source = match kind.as_str() {
            "authRequired" | "modelError" => Source::Provider,
            _ => Source::Host,
        };
        let message = redactor.clean(&error.message);
        let code = if kind == "authRequired" { AUTH_REQUIRED } else { INTERNAL };
        let mut failure = Self { code, ..Self::new(&kind, source, Phase::Running, message) };
        failure.definite = true;
        failure.retryable = error.retryable;
        failure.recovery = hint(&kind, BEFORE_SUBMITTING);
        failure
    }

    /// FAIL-6e: the turn was taken back before it ran.
    #[must_use]
    pub fn unqueued() -> Self {
        let message = "the turn was taken out of Muse's queue before it ran".to_owned();
        let mut failure = Self::own("unqueued", Source::Host, Phase::Running, message);
        failure.definite = true;
        failure.recovery = BEFORE_SUBMITTING;
        failure
    }

    /// APR-25: the host refused a decision. Only the code is told (FAIL-18).
    #[must_use]
    pub fn approval_rejected(code: i64) -> Self {
        let message = format!("Muse refused the decision on an approval (code {code})");
        let failure = Self::own("approvalRejected", Source::Host, Phase::Running, message);
        Self { msp_code: Some(code), ..failure }
    }

    /// APR-9, APR-21: there is no choice that could be sent.
    #[must_use]
    pub fn approval_unavailable(what: &str) -> Self {
        Self::own("approvalUnavailable", Source::Adapter, Phase::Running, what.to_owned())
    }

    /// APR-32: an automatic mode may not take what the host offers.
    #[must_use]
    pub fn no_once_choice(mode: &str) -> Self {
        let what = format!(
            "Muse asks for an approval and offers no choice that mode {mode} may take: one for this request \
             alone; nothing was decided. Set the mode to default to answer it yourself"
        );
        Self::approval_unavailable(&what)
    }

    /// APR-20, PO-46: the editor's answer to a permission question is unusable.
    #[must_use]
    pub fn permission_invalid(what: &str) -> Self {
        Self::own("permissionInvalid", Source::Adapter, Phase::Running, what.to_owned())
    }

    /// ELI-2, PO-38: this question cannot be asked.
    #[must_use]
    pub fn user_input_unsupported(forms: bool) -> Self {
        let message = if forms {
            "Muse asked a question of a kind that cannot be put into a form; the question was \
             cancelled"
        } else {
            "Muse asked a question, and this editor does not say that it can show forms \
             (elicitation.form); the question was cancelled. Tell Muse in the prompt what to choose, \
             or use an editor with forms"
        };
        Self::own("userInputUnsupported", Source::Adapter, Phase::Running, message.to_owned())
    }

    /// ELI-5: the editor's answer is not one that the host offers.
    #[must_use]
    pub fn user_input_invalid() -> Self {
        let message =
            "the editor's answer to a question is not one that was offered; the question \
                       was cancelled"
                .to_owned();
        Self::own("userInputInvalid", Source::Adapter, Phase::Running, message)
    }

    /// ELI-10: the host refused an answer. Only the code is told (FAIL-18).
    #[must_use]
    pub fn user_input_rejected(code: i64) -> Self {
        let message = format!("Muse refused the answer to a question (code {code})");
        let failure = Self::own("userInputInvalid", Source::Host, Phase::Running, message);
        Self { msp_code: Some(code), ..failure }
    }

    /// GAP-5: part of the host's output was dropped and cannot be fetched. The reason is one of the
    /// contract's words and what happened; no text of the host is told.
    #[must_use]
    pub fn gap(phase: Phase, trouble: &Trouble) -> Self {
        let (reason, what) = match trouble {
            Trouble::Marker => ("pageFailed", "it did not say which part".to_owned()),
            Trouble::Unavailable => ("pageFailed", "it cannot serve the session's view".to_owned()),
            Trouble::Refused(code) => {
                ("pageFailed", format!("it refused view/page with code {code}"))
            }
            Trouble::Unusable => ("pageFailed", "its answer to view/page is unusable".to_owned()),
            Trouble::Foreign => ("pageFailed", "a page held another session's events".to_owned()),
            Trouble::Stalled => ("pageStalled", "its pages lead nowhere".to_owned()),
            Trouble::Slow => (
                "pageStalled",
                format!("it did not answer view/page within {} ms", PAGE_BUDGET.as_millis()),
            ),
            Trouble::TooMuch => ("pageStalled", "the missing part is too large".to_owned()),
            Trouble::NoConnection => ("noConnection", "it ended before that".to_owned()),
        };
        let message = format!(
            "Muse dropped part of its output for this connection and it could not be fetched again \
             ({reason}: {what}); reload the session"
        );
        let failure = Self::own("viewGapUnrecoverable", Source::Transport, phase, message);
        let msp_code = if let Trouble::Refused(code) = trouble { Some(*code) } else { None };
        Self { msp_code, ..failure }
    }

    /// STL-6, STL-8: the host waits for a decision and does not move.
    #[must_use]
    pub fn stalled(waiting: &Waiting, waited: Duration, redactor: &Redactor) -> Self {
        let id = cut(&redactor.clean(&waiting.id), 128);
        let what = match &waiting.stage {
            None => format!("user input {id}"),
            Some(stage) => {
                let place = stage.position.map_or(String::new(), |(position, total)| {
                    format!(", stage {position} of {total}")
                });
                let kinds: Vec<&str> = stage.resolutions.iter().map(|kind| word(kind)).collect();
                let kinds = if kinds.is_empty() {
                    "no stages reported".to_owned()
                } else {
                    format!("stage resolutions {}", kinds.join(", "))
                };
                format!("approval {id}, requirement {}{place}; {kinds}", stage.source_index)
            }
        };
        let message = format!(
            "Muse has waited {} s for a decision that the adapter did not make: {what}; last frame \
             {}. Reload the session, and report the version of Muse if it happens again",
            Duration::from_millis(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX))
                .as_secs_f64(),
            waiting.frame,
        );
        Self::own("interactionStalled", Source::Adapter, Phase::Running, message)
    }

    /// STE-10: the host refused a correction. Only kind and code are told (FAIL-18).
    #[must_use]
    pub fn steering_refused(error: &RpcError, redactor: &Redactor) -> Self {
        let mut failure = Self::refused("turn/steer", error, Phase::Running, redactor);
        // The prompt is none of it: its own codes do not apply here.
        if matches!(failure.kind.as_str(), "authRequired" | "sessionInUse") {
            "hostError".clone_into(&mut failure.kind);
            failure.source = Source::Host;
        }
        Self { recovery: CORRECTION_LOST, ..failure }
    }

    /// STE-12: the acknowledgement is not one of this correction.
    #[must_use]
    pub fn steering_unusable() -> Self {
        let what = "Muse acknowledged something else than the correction that was sent";
        Self { recovery: CORRECTION_UNKNOWN, ..Self::protocol(Phase::Running, what) }
    }

    /// STE-9, STE-11, STE-13: whether Muse took the correction will not be known. It answers a correction.
    #[must_use]
    pub fn steering_unknown() -> Self {
        let what = "Muse did not acknowledge the correction: nobody knows whether it was taken";
        let failure =
            Self::own("steeringUnacknowledged", Source::Adapter, Phase::Running, what.to_owned());
        Self { recovery: CORRECTION_UNKNOWN, ..failure }
    }

    /// STE-11, PO-6: the prompt fails with its correction.
    #[must_use]
    pub fn steering_unacknowledged(budget: Duration) -> Self {
        let message =
            format!("Muse did not acknowledge a correction within {} ms", budget.as_millis());
        Self::own("steeringUnacknowledged", Source::Adapter, Phase::Running, message)
    }

    /// VEV: the host unloaded the session under a running turn.
    #[must_use]
    pub fn session_unloaded(phase: Phase) -> Self {
        let message = "Muse unloaded the session while the turn ran".to_owned();
        Self::new("terminalUnknown", Source::Transport, phase, message)
    }

    /// The kind, for logs and tests.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The phase in which the cause was observed.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// FAIL-8: whatever is to be done, that nothing was submitted is said.
    fn recovery(&self) -> String {
        if self.phase.may_have_submitted() || self.recovery == CONFIGURATION {
            return self.recovery.to_owned();
        }
        format!("no model turn was submitted by this operation: {}", self.recovery)
    }

    /// The error that answers the prompt.
    #[must_use]
    pub fn to_acp(&self) -> RpcError {
        let submitted = self.phase.may_have_submitted();
        let mut failure = json!({
            "kind": self.kind,
            "source": match self.source {
                Source::Host => "host",
                Source::Provider => "provider",
                Source::Transport => "transport",
                Source::Adapter => "adapter",
            },
            "phase": self.phase.as_str(),
            "execution": if submitted { "possiblySubmitted" } else { "notSubmitted" },
            "outcome": if self.definite { "failed" } else { "unknown" },
            "recovery": self.recovery(),
        });
        if let Some(retryable) = self.retryable {
            failure["retryable"] = json!(retryable);
        }
        if let Some(code) = self.msp_code {
            failure["mspCode"] = json!(code);
        }
        let message = cut(&self.message, TEXT_MAX); // FAIL-19: with what was added to the host's words
        RpcError::new(self.code, message).with_data(json!({ "failure": failure }))
    }
}

/// A word of the host's vocabulary; anything else is not repeated.
fn word(text: &str) -> &str {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if text.len() <= 32 && !text.is_empty() && text.bytes().all(plain) { text } else { "unknown" }
}

/// FAIL-14.
fn hint(kind: &str, otherwise: &'static str) -> &'static str {
    match kind {
        "authRequired" => {
            "replace the credentials or log in, then submit the prompt again yourself"
        }
        "configError" | "environmentError" | "projectionError" => {
            "check the model, the provider, the workspace and the input configuration"
        }
        "terminalUnknown" | "transportError" => INSPECT,
        _ => otherwise,
    }
}

#[cfg(test)]
mod documented;

#[cfg(test)]
mod tests {
    use super::*;

    /// kind, source, phase, execution, outcome, code: the rows of §15.2 that this version produces.
    #[test]
    fn every_row_of_the_classification_is_produced() {
        let redactor = Redactor::default();
        let turn =
            |kind: &str| TurnError { kind: kind.into(), message: "m".into(), retryable: None };
        let budget = Duration::from_millis(5);
        let refusal = |kind: &str| {
            let error = RpcError::new(-32030, "text").with_data(json!({ "kind": kind }));
            Failure::refused("session/setModel", &error, Phase::Preparing, &redactor)
        };
        let rows = [
            (
                Failure::terminal(&turn("authRequired"), &redactor),
                "authRequired provider running possiblySubmitted failed -32000",
            ),
            (
                Failure::terminal(&turn("modelError"), &redactor),
                "modelError provider running possiblySubmitted failed -32603",
            ),
            (
                Failure::terminal(&turn("configError"), &redactor),
                "configError host running possiblySubmitted failed -32603",
            ),
            (
                Failure::terminal(&turn("never seen"), &redactor),
                "never seen host running possiblySubmitted failed -32603",
            ),
            (
                Failure::host_lost(Phase::Running),
                "terminalUnknown transport running possiblySubmitted unknown -32603",
            ),
            (
                Failure::host_lost(Phase::Submitting),
                "transportError transport submitting possiblySubmitted unknown -32603",
            ),
            (
                Failure::host_lost(Phase::Preparing),
                "transportError transport preparing notSubmitted failed -32603",
            ),
            (Failure::unqueued(), "unqueued host running possiblySubmitted failed -32603"),
            (
                refusal("commandRejected"),
                "commandRejected host preparing notSubmitted failed -32603",
            ),
            (refusal("sessionInUse"), "sessionInUse host preparing notSubmitted failed -32600"),
            (refusal("authRequired"), "authRequired provider preparing notSubmitted failed -32000"),
            (
                Failure::deadline(Phase::Initializing, budget),
                "deadlineExceeded adapter initializing notSubmitted failed -32603",
            ),
            (
                Failure::deadline(Phase::Preparing, budget),
                "deadlineExceeded adapter preparing notSubmitted failed -32603",
            ),
            (
                Failure::deadline(Phase::Submitting, budget),
                "deadlineExceeded adapter submitting possiblySubmitted unknown -32603",
            ),
            (
                Failure::unavailable(&ResolveError::NotOnPath, &redactor),
                "hostUnavailable adapter initializing notSubmitted failed -32603",
            ),
            (
                Failure::protocol(Phase::Submitting, "w"),
                "protocolViolation transport submitting possiblySubmitted unknown -32603",
            ),
            (
                Failure::gap(Phase::Running, &Trouble::Stalled),
                "viewGapUnrecoverable transport running possiblySubmitted unknown -32603",
            ),
            (
                Failure::approval_rejected(-32052),
                "approvalRejected host running possiblySubmitted unknown -32603",
            ),
            (
                Failure::user_input_unsupported(false),
                "userInputUnsupported adapter running possiblySubmitted unknown -32603",
            ),
            (
                Failure::user_input_invalid(),
                "userInputInvalid adapter running possiblySubmitted unknown -32603",
            ),
            (
                Failure::user_input_rejected(-32057),
                "userInputInvalid host running possiblySubmitted unknown -32603",
            ),
        ];
        for (failure, expected) in rows {
            let error = failure.to_acp();
            let object = &error.data.as_ref().expect("data")["failure"];
            let word = |name: &str| object[name].as_str().expect(name).to_owned();
            let got = format!(
                "{} {} {} {} {} {}",
                word("kind"),
                word("source"),
                word("phase"),
                word("execution"),
                word("outcome"),
                error.code
            );
            assert_eq!(got, expected);
            assert!(!word("recovery").is_empty());
        }
    }

    /// STL-6, STL-8: the evidence, and nothing that is no word of the protocol.
    #[test]
    fn a_stall_tells_what_waits_and_repeats_no_text_of_the_host() {
        let stage = super::super::stall::Stage {
            source_index: 2,
            choices: vec!["yes".into()],
            resolutions: vec!["knownSafe".into(), "rm -rf / # private".into()],
            position: Some((3, 4)),
        };
        let waiting =
            Waiting { id: "a1 sk-secret".into(), frame: "approval/updated", stage: Some(stage) };
        let secret = [("API_KEY".to_owned(), "sk-secret".to_owned())];
        let redactor = Redactor::from_environment(secret);
        let failure = Failure::stalled(&waiting, Duration::from_millis(10_001), &redactor);
        let error = failure.to_acp();
        assert!(
            error.message.starts_with(
                "Muse has waited 10.001 s for a decision that the adapter did not make: approval \
                 a1 [redacted], requirement 2, stage 3 of 4; stage resolutions knownSafe, unknown; last frame \
                 approval/updated."
            ),
            "{}",
            error.message
        );
        let object = &error.data.expect("data")["failure"];
        assert_eq!(object["kind"], "interactionStalled");
        assert_eq!((&object["outcome"], &object["phase"]), (&json!("unknown"), &json!("running")));
    }

    /// FAIL-19, FAIL-20: paths and kinds are the host's or the person's words too.
    #[test]
    fn no_text_is_longer_than_the_bound_and_paths_lose_their_secrets() {
        let secret = [("API_KEY".to_owned(), "sk-secret".to_owned())];
        let redactor = Redactor::from_environment(secret);
        let path = "/opt/sk-secret/muse".to_owned();
        let no_serve = ResolveError::NoServe { binary: path.clone(), version: None };
        for failure in [
            Failure::unavailable(&ResolveError::Override(path.clone()), &redactor),
            Failure::unavailable(&no_serve, &redactor),
            Failure::spawn(&path, &redactor),
        ] {
            assert!(failure.message.contains("/opt/[redacted]/muse"), "{}", failure.message);
        }
        let kind = json!({ "kind": "k".repeat(2 * TEXT_MAX) });
        let refusal = RpcError::new(-32030, "text").with_data(kind);
        let error = Failure::refused("turn/start", &refusal, Phase::Submitting, &redactor).to_acp();
        assert_eq!(error.message.chars().count(), TEXT_MAX);
    }

    #[test]
    fn the_exit_code_is_told_only_when_the_connection_was_the_cause() {
        let end = HostEnd { code: Some(3), ..HostEnd::default() };
        let lost = Failure::host_lost(Phase::Initializing).with_end(&end);
        assert!(lost.message.contains("code 3 (configuration error"), "{}", lost.message);
        let deadline = Failure::deadline(Phase::Submitting, Duration::from_secs(1));
        assert_eq!(deadline.clone().with_end(&end), deadline);
    }

    #[test]
    fn a_recognised_diagnostic_becomes_an_environment_error_but_never_replaces_a_deadline() {
        let end = HostEnd { code: Some(1), signal: None, sdk_disabled: true };
        assert_eq!(
            Failure::host_lost(Phase::Initializing).with_end(&end).kind(),
            "environmentError"
        );
        let deadline = Failure::deadline(Phase::Initializing, Duration::from_secs(1));
        assert_eq!(deadline.with_end(&end).kind(), "deadlineExceeded");
    }
}
