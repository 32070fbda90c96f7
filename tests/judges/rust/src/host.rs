//! A spawned host, bounded calls, and what is reported of a session.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use muse_code_sdk::client::{MuseClient, StartSessionOptions};
use muse_code_sdk::errors::MuseError;
use muse_code_sdk::msp::{TurnInputPart, TurnInputPartType};
use muse_code_sdk::session::{SendUserTurnOptions, Session};
use muse_code_sdk::spawn::{ExitClassification, RetryGuidance, SpawnOptions};
use muse_code_sdk::turn::{Turn, TurnOutcome};
use serde_json::{Value, json};

pub(crate) type Error = Box<dyn std::error::Error>;

const BOUND: Duration = Duration::from_secs(20);
/// What a host is given to end by itself.
const SHUTDOWN: Duration = Duration::from_secs(15);
/// The same, for one that will not do so.
const SHUTDOWN_OF_A_HANG: Duration = Duration::from_millis(500);

pub(crate) struct Setup {
    muse: String,
    args: Vec<String>,
    pub(crate) workspace: String,
}

impl Setup {
    pub(crate) fn new(muse: &str, profile: &str, workspace: &str, rest: &[String]) -> Self {
        let mut args: Vec<String> =
            ["serve", "--strict", "--profile", profile].map(str::to_owned).into();
        args.extend_from_slice(rest);
        Self { muse: muse.to_owned(), args, workspace: workspace.to_owned() }
    }

    pub(crate) async fn spawn(&self, fault: &str) -> Result<MuseClient, Error> {
        let mut options = SpawnOptions::default();
        options.muse_bin = Some(self.muse.clone().into());
        options.args = self.args.iter().map(Into::into).collect();
        options.env = Some(HashMap::from([("FAKE_MSP_FAULT".into(), fault.into())]));
        let hangs = fault == "hang-on-eof";
        options.shutdown_timeout = if hangs { SHUTDOWN_OF_A_HANG } else { SHUTDOWN };
        let connection = bounded(MuseClient::spawn(options)).await??;
        match connection.fingerprint_warning {
            None => Ok(connection.client),
            Some(warning) => Err(format!("the schema is another one: {warning:?}").into()),
        }
    }

    pub(crate) async fn start(&self, client: &MuseClient) -> Result<Session, Error> {
        let options = StartSessionOptions {
            workspace_root: Some(self.workspace.clone()),
            ..StartSessionOptions::default()
        };
        Ok(bounded(client.start_session(options)).await??)
    }
}

pub(crate) async fn bounded<T>(call: impl Future<Output = T>) -> Result<T, Error> {
    let late = |_| Error::from(format!("a call of the SDK took more than {BOUND:?}"));
    tokio::time::timeout(BOUND, call).await.map_err(late)
}

/// The first `Some`. For facts of the fold that the SDK tells by no event.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> Result<T, Error> {
    let found = async {
        loop {
            match look() {
                Some(found) => return found,
                None => tokio::task::yield_now().await,
            }
        }
    };
    bounded(found).await
}

pub(crate) async fn prompt(session: &Session, text: &str) -> Result<Turn, Error> {
    Ok(bounded(session.send_user_turn(text_turn(text))).await??)
}

pub(crate) fn text_turn(text: &str) -> SendUserTurnOptions {
    let part = TurnInputPart {
        part_type: TurnInputPartType::Text,
        text: Some(text.to_owned()),
        media_type: None,
        base64_data: None,
        width: None,
        height: None,
        selector: None,
        arguments: None,
        upload_id: None,
        source: None,
    };
    SendUserTurnOptions { input: vec![part], ..SendUserTurnOptions::default() }
}

/// Reads the items to their end; then the outcome.
pub(crate) async fn finish(turn: &Turn) -> Result<Value, Error> {
    let mut stream = turn.items();
    let mut revisions = 0;
    while bounded(stream.recv()).await??.is_some() {
        revisions += 1;
    }
    let outcome = match bounded(turn.completed()).await?? {
        TurnOutcome::Completed { params, .. } => {
            json!({ "kind": "completed", "terminal": params.terminal, "error": params.error })
        }
        other => json!({ "kind": format!("{other:?}") }),
    };
    let mut outcome = outcome;
    outcome["revisions"] = revisions.into();
    Ok(outcome)
}

/// The last state of each item, in the order of the fold.
pub(crate) fn items(session: &Session) -> Value {
    let fold = session.fold();
    let names = ["kind", "status", "revision", "text", "visibleOutput", "summary", "tool"];
    let items = fold.item_ids().into_iter().filter_map(|id| fold.item(&id)).map(|item| {
        let members = names.iter().filter_map(|name| Some((*name, item.get(*name)?.clone())));
        members.collect::<HashMap<_, _>>()
    });
    json!(items.collect::<Vec<_>>())
}

pub(crate) fn error_name(error: &MuseError) -> &'static str {
    match error {
        MuseError::TransportEnded => "TransportEnded",
        MuseError::ClientClosed => "ClientClosed",
        MuseError::Transport(_) => "Transport",
        MuseError::Protocol(_) => "Protocol",
        MuseError::Msp(_) => "Msp",
        _ => "other",
    }
}

/// How the host ended, once it has.
pub(crate) async fn exit(client: &MuseClient) -> Result<Value, Error> {
    let row = bounded(client.exit()).await?.ok_or("the client has no host")??;
    Ok(exit_row(&row))
}

pub(crate) async fn close(client: &MuseClient) -> Result<Value, Error> {
    bounded(client.close()).await?;
    exit(client).await
}

/// In the words of the other judge.
pub(crate) fn exit_row(row: &ExitClassification) -> Value {
    let word = format!("{:?}", row.kind);
    let kind = word[..1].to_lowercase() + &word[1..];
    let retry = row.retry.map(|retry| match retry {
        RetryGuidance::Never => "never",
        RetryGuidance::FixConfig => "fix-config",
        RetryGuidance::AfterLeaseRelease => "after-lease-release",
        _ => "other",
    });
    let signal = row.exit_signal.map(|signal| match signal {
        9 => "SIGKILL",
        15 => "SIGTERM",
        _ => "other",
    });
    let code = row.exit_code.filter(|code| *code != 0);
    json!({
        "kind": kind, "exit_code": code, "exit_signal": signal, "retry": retry,
        "stderr_tail": row.stderr_tail,
    })
}
