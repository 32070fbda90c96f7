//! The cases, by name. The reports have the same members as those of the Python judge.

use std::sync::{Arc, Mutex};

use muse_code_sdk::approval::ApprovalDecisionInput;
use muse_code_sdk::client::ResumeSessionOptions;
use muse_code_sdk::msp::{ApprovalRequestParams, IfBusy, UserInputAnswer};
use muse_code_sdk::session::{Session, SessionOpening};
use serde_json::{Value, json};

use crate::host::{
    Error, Setup, bounded, close, error_name, exit, finish, items, prompt, text_turn, until,
};

pub(crate) async fn run(case: &str, setup: &Setup) -> Result<Value, Error> {
    match case {
        "start" => start(setup).await,
        "stream" => stream(setup).await,
        "approval" => decided(setup, "run ls -la", "allow_once").await,
        "approval_refused" => decided(setup, "run ls -la", "abort").await,
        "staged_approval" => decided(setup, "run make a; pwd; make b", "allow_once").await,
        "user_input" => user_input(setup).await,
        "gap" => gap(setup).await,
        "resume" => resume(setup).await,
        "resume_pending" => resume_pending(setup).await,
        "eof" => eof(setup).await,
        "hang" => hang(setup).await,
        _ => {
            match case.strip_prefix("death_").map(|rest| rest.strip_prefix("at_start_").ok_or(rest))
            {
                Some(Ok(code)) => death_at_start(setup, code).await,
                Some(Err(code)) => death(setup, code).await,
                None => Err(format!("no case {case}").into()),
            }
        }
    }
}

async fn start(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("").await?;
    let session = setup.start(&client).await?;
    let SessionOpening::Start(opening) = session.opening() else {
        return Err("the session was not started".into());
    };
    let initialized = client.initialize_result().ok_or("no result of initialize")?;
    Ok(json!({
        "server": initialized.server_info,
        "durability": initialized.session_durability,
        "session": opening.session,
        "exit": close(&client).await?,
    }))
}

async fn stream(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("").await?;
    let session = setup.start(&client).await?;
    let turn = prompt(&session, "hello").await?;
    let mut deltas = serde_json::Map::new();
    let mut stream = turn.deltas();
    while let Some(delta) = bounded(stream.recv()).await?? {
        let known =
            deltas.entry(delta.field.unwrap_or_else(|| "text".into())).or_insert_with(|| "".into());
        *known = format!("{}{}", known.as_str().unwrap_or_default(), delta.delta).into();
    }
    let outcome = finish(&turn).await?;
    let items = items(&session);
    Ok(json!({
        "deltas": deltas, "outcome": outcome, "items": items, "exit": close(&client).await?,
    }))
}

/// Answers every stage with one choice and notes what was asked.
fn chooser(
    choice: &'static str,
) -> (
    Arc<Mutex<Vec<Value>>>,
    impl Fn(ApprovalRequestParams) -> std::future::Ready<ApprovalDecisionInput>,
) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&asked);
    let choose = move |request: ApprovalRequestParams| {
        let offered: Vec<_> =
            request.available_choices.iter().map(|offer| offer.choice_id.clone()).collect();
        let note = json!({
            "stage": request.current_requirement_id.source_index,
            "offered": offered,
            "tool": request.tool_name,
        });
        notes.lock().expect("no panic under the lock").push(note);
        let choice_id = choice.to_owned();
        std::future::ready(ApprovalDecisionInput { choice_id, feedback: None })
    };
    (asked, choose)
}

async fn decided(setup: &Setup, text: &str, choice: &'static str) -> Result<Value, Error> {
    let client = setup.spawn("").await?;
    let session = setup.start(&client).await?;
    let (asked, choose) = chooser(choice);
    session.on_approval(choose);
    let turn = prompt(&session, text).await?;
    let outcome = finish(&turn).await?;
    let (pending, resolved) =
        (session.fold().pending_approvals().len(), session.fold().resolved_approvals().len());
    let asked = asked.lock().expect("no panic under the lock").clone();
    Ok(json!({
        "asked": asked, "outcome": outcome, "items": items(&session), "pending": pending,
        "resolved": resolved, "failures": [], "exit": close(&client).await?,
    }))
}

async fn user_input(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("").await?;
    let session = setup.start(&client).await?;
    let turn = prompt(&session, "ask").await?;
    let asked = until(|| session.fold().pending_user_inputs().into_iter().next()).await?;
    let question = &asked["questions"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let answer = UserInputAnswer {
        question_id: text(&question["id"]),
        selected_label: Some(text(&question["options"][1]["label"])),
        selected_labels: Vec::new(),
        free_text: None,
        note: None,
    };
    let ack =
        bounded(session.answer_user_input(text(&asked["userInputId"]), vec![answer])).await??;
    let outcome = finish(&turn).await?;
    let settled: Vec<_> = session
        .fold()
        .settled_user_inputs()
        .iter()
        .map(|prompt| prompt["outcome"].clone())
        .collect();
    let pending = session.fold().pending_user_inputs().len();
    Ok(json!({
        "ack": ack, "outcome": outcome, "settled": settled, "pending": pending,
        "items": items(&session), "exit": close(&client).await?,
    }))
}

async fn gap(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("").await?;
    let session = setup.start(&client).await?;
    let turn = prompt(&session, "gap 3").await?;
    let outcome = finish(&turn).await?;
    until(|| session.fold().is_current().then_some(())).await?;
    Ok(json!({
        "outcome": outcome, "items": items(&session), "failures": [], "exit": close(&client).await?,
    }))
}

fn by_id(session: &Session) -> ResumeSessionOptions {
    let session_id = session.session_id().to_owned();
    ResumeSessionOptions { session_id, ..ResumeSessionOptions::default() }
}

async fn resume(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("").await?;
    let session = setup.start(&client).await?;
    finish(&prompt(&session, "hello").await?).await?;
    let before = kinds(&items(&session));
    let again = bounded(client.resume_session(by_id(&session))).await??;
    let SessionOpening::Resume(result) = again.opening() else {
        return Err("the session was not resumed".into());
    };
    let result = result.clone();
    let outcome = finish(&prompt(&again, "once more").await?).await?;
    Ok(json!({
        "same": again.session_id() == session.session_id(),
        "turnCount": result.session.turn_count,
        "mode": result.history.mode,
        "kinds": kinds(&json!(result.history.items)),
        "before": before,
        "outcome": outcome,
        "exit": close(&client).await?,
    }))
}

fn kinds(items: &Value) -> Vec<Value> {
    items.as_array().into_iter().flatten().map(|item| item["kind"].clone()).collect()
}

/// A session is opened again while an approval is open: the handler of the second opening answers.
async fn resume_pending(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("").await?;
    let session = setup.start(&client).await?;
    let (opened, seen) = tokio::sync::oneshot::channel();
    let opened = Mutex::new(Some(opened));
    session.on_approval(move |_| {
        if let Some(opened) = opened.lock().expect("no panic under the lock").take() {
            let _ = opened.send(());
        }
        std::future::pending()
    });
    let first = prompt(&session, "run ls -la").await?;
    bounded(seen).await??;
    // While the first view lives, the request that is issued again may still go there.
    let (options, turn_id) = (by_id(&session), first.turn_id().to_owned());
    drop((session, first));
    let (asked, choose) = chooser("allow_once");
    let resuming = client.resume_session_with_approval_handler(options, choose);
    let again = bounded(resuming).await??;
    let SessionOpening::Resume(result) = again.opening() else {
        return Err("the session was not resumed".into());
    };
    let pending: Vec<_> = result.pending_requests.iter().map(|pointer| &pointer.kind).collect();
    let active = result.session.active_turn_id.as_deref() == Some(turn_id.as_str());
    // The fold of a session that is opened again stands still, and the first handle has lost its
    // events. A turn that waits behind the first ends only after it.
    let mut behind = text_turn("once more");
    behind.if_busy = Some(IfBusy::Queue);
    let behind = bounded(again.send_user_turn(behind)).await??;
    let outcome = finish(&behind).await?;
    let asked = asked.lock().expect("no panic under the lock").clone();
    Ok(json!({
        "pending": pending, "activeTurn": active, "outcome": outcome, "asked": asked,
        "exit": close(&client).await?,
    }))
}

/// stdout ends while the host lives.
async fn eof(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("eof:turn/start").await?;
    let session = setup.start(&client).await?;
    let error = failure(&session).await?;
    Ok(json!({ "error": error, "exit": close(&client).await? }))
}

/// The host does not end at the end of its stdin: the SDK ends it after its timeout.
async fn hang(setup: &Setup) -> Result<Value, Error> {
    let client = setup.spawn("hang-on-eof").await?;
    let session = setup.start(&client).await?;
    let outcome = finish(&prompt(&session, "hello").await?).await?;
    Ok(json!({ "outcome": outcome, "exit": close(&client).await? }))
}

async fn death(setup: &Setup, code: &str) -> Result<Value, Error> {
    let client = setup.spawn(&format!("exit:turn/start:{code},stderr:last words")).await?;
    let session = setup.start(&client).await?;
    let error = failure(&session).await?;
    let row = exit(&client).await?;
    bounded(client.close()).await?;
    Ok(json!({ "error": error, "exit": row }))
}

async fn death_at_start(setup: &Setup, code: &str) -> Result<Value, Error> {
    let fault = format!("exit:initialize:{code},stderr:last words");
    let error = setup.spawn(&fault).await.err().map(|error| error.to_string());
    Ok(json!({ "error": error }))
}

/// What a prompt fails with.
async fn failure(session: &Session) -> Result<Option<&'static str>, Error> {
    match bounded(session.send_user_turn(text_turn("hello"))).await? {
        Ok(_) => Ok(None),
        Err(error) => Ok(Some(error_name(&error))),
    }
}
