//! The published transcripts: what a host said goes through the adapter's decoding and folding, what a
//! client said goes through the fake host (`replay`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};
use muse_code_acp::acp::schema::{ContentBlock, SessionUpdate};
use muse_code_acp::core::Tick;
use muse_code_acp::core::fold::Fold;
use muse_code_acp::msp::event::{self, Event};
use muse_code_acp::msp::{Item, TurnId};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::replay;

/// One line of a recording.
#[derive(serde::Deserialize)]
pub(crate) struct Line {
    /// `client` or `server`.
    pub(crate) dir: String,
    /// The frame.
    pub(crate) raw: String,
}

/// Two tests a recording; one that says that there are none.
pub(crate) fn trials() -> Vec<Trial> {
    let name = "judges::transcripts";
    let Some(material) = tests::judge::material(name) else {
        return vec![Trial::test(format!("{name}::are_here"), || Ok(()))];
    };
    let mut files = Vec::new();
    for folder in material.join("transcripts").read_dir().into_iter().flatten().flatten() {
        let inside = folder.path().read_dir().into_iter().flatten().flatten();
        files.extend(inside.map(|entry| entry.path()).filter(|path| is_recording(path)));
    }
    files.sort();
    let both = files.into_iter().flat_map(|path| {
        let story = story_of(&path);
        let (fold, fake) = (path.clone(), path);
        [
            Trial::test(format!("{name}::adapter::{story}"), move || folds(&lines(&fold)?)),
            Trial::test(format!("{name}::fake::{story}"), {
                let story = story.clone();
                move || replay::accepts(&story, &lines(&fake)?)
            }),
        ]
    });
    both.collect()
}

fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ndjson")
}

/// The folder's name, and the file's where it is not the main one.
fn story_of(path: &Path) -> String {
    let word = |part: Option<&std::ffi::OsStr>| {
        part.unwrap_or_default().to_string_lossy().replace(['-', '.'], "_")
    };
    let folder = word(path.parent().and_then(Path::file_name));
    match word(path.file_stem()).as_str() {
        "transcript" => folder,
        file => format!("{folder}::{file}"),
    }
}

fn lines(path: &PathBuf) -> Result<Vec<Line>, Failed> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Every server line is decoded; every text that is shown is the text of the item's last revision.
fn folds(lines: &[Line]) -> Result<(), Failed> {
    let (mut fold, mut out) = (Fold::default(), Vec::new());
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.dir == "server") {
        let frame: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&line.raw)?;
        // Pages and histories are events and items too.
        let value: Value = serde_json::from_str(&line.raw)?;
        let paged = value["result"]["events"].as_array().into_iter().flatten();
        for event in paged {
            let raw = serde_json::value::to_raw_value(&event["params"])?;
            apply(event["method"].as_str(), Some(&raw), &mut fold, &mut texts, &mut out)?;
        }
        let raw = frame.get("params").map(AsRef::as_ref);
        apply(value["method"].as_str(), raw, &mut fold, &mut texts, &mut out)?;
        for path in ["/result/history/items", "/result/history/snapshot/state/items"] {
            for item in value.pointer(path).and_then(Value::as_array).into_iter().flatten() {
                take(serde_json::from_str(&item.to_string())?, &mut fold, &mut texts, &mut out)?;
            }
        }
    }
    fold.end_turn("/w", &mut out);
    let shown = shown(out);
    for (item, text) in texts {
        let seen = shown.get(&item).map_or("", String::as_str);
        if seen != text {
            return Err(format!("item {item}: shown {seen:?}, said {text:?}").into());
        }
    }
    Ok(())
}

type Texts = BTreeMap<String, String>;

fn apply(
    method: Option<&str>,
    params: Option<&RawValue>,
    fold: &mut Fold,
    texts: &mut Texts,
    out: &mut Vec<SessionUpdate>,
) -> Result<(), Failed> {
    let Some(method) = method else { return Ok(()) };
    match event::decode(method, params) {
        Event::Undecodable => Err(format!("{method} cannot be decoded").into()),
        Event::Item(item) => take(*item, fold, texts, out),
        Event::Delta(delta) => {
            fold.delta(&delta, Tick::default(), "/w", out);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A whole item; its own turn is the foreground turn, so that everything is shown.
fn take(
    item: Item,
    fold: &mut Fold,
    texts: &mut Texts,
    out: &mut Vec<SessionUpdate>,
) -> Result<(), Failed> {
    if item.kind.as_str() == "agentMessage" && item.status.as_str() != "inProgress" {
        texts.insert(item.item_id.to_string(), item.text.clone().unwrap_or_default());
    }
    let turn: Option<TurnId> = item.turn_id.clone();
    fold.item(item, turn.as_ref(), "/w", out).map_err(|_| "too many items".into())
}

fn shown(updates: Vec<SessionUpdate>) -> Texts {
    let mut shown = Texts::new();
    for update in updates {
        if let SessionUpdate::AgentMessageChunk(chunk) = update
            && let (ContentBlock::Text(text), Some(id)) = (chunk.content, chunk.message_id)
        {
            shown.entry(id.0.to_string()).or_default().push_str(&text.text);
        }
    }
    shown
}
