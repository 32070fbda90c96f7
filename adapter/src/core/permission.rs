//! A stage of an approval as `session/request_permission` (APR-8, APR-11..16).
//!
//! Pure functions of the approval. The command is never parsed: a title comes from the host's stages or
//! from members of the arguments, and the whole arguments are always beside it.

use serde_json::{Map, Value, json};

use super::card::{absolute, arguments};
use super::present::{TITLE_MAX, kind_of_tool};
use super::redact::cut;
use crate::acp::schema as acp;
use crate::msp::approval::{Stage, Subject};
use crate::msp::{Approval, TurnId};

/// For whom a request is made.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The session.
    pub session: &'a str,
    /// Its folder.
    pub workspace: &'a str,
    /// The foreground turn.
    pub turn: &'a TurnId,
    /// The editor negotiated `muse/approval` (APR-16).
    pub detailed: bool,
}

/// The request for the stage that is open in `view`.
pub fn request(
    asking: Asking<'_>,
    view: &Approval,
    options: Vec<acp::PermissionOption>,
) -> acp::RequestPermissionRequest {
    let input = arguments(&view.raw_args);
    let mut title = title(view, &input);
    // PO-8: who wants it, when it is not the turn that the person follows.
    if view.subagent_origin {
        title = cut(&format!("Subagent: {title}"), TITLE_MAX);
    } else if view.turn_id.as_ref() != Some(asking.turn) {
        title = cut(&format!("Background task: {title}"), TITLE_MAX);
    }
    let call = view
        .tool_call_id
        .clone()
        .or_else(|| view.item_id.as_ref().map(|item| item.as_str().to_owned()))
        .unwrap_or_else(|| view.approval_id.as_str().to_owned());
    let mut fields = acp::ToolCallUpdateFields::new()
        .title(title)
        .kind(kind_of_tool(&view.tool_name))
        .status(acp::ToolCallStatus::Pending)
        .raw_input(input);
    let subject = view.subject.as_ref();
    if let Some(path) = subject.and_then(|subject| subject.path.as_deref()) {
        let place = acp::ToolCallLocation::new(absolute(asking.workspace, path));
        fields = fields.locations(vec![place]);
    }
    let mut meta = json!({
        "museApprovalId": view.approval_id,
        "museRequirementId": view.current_requirement_id,
    });
    let optional = [
        ("museTurnId", json!(view.turn_id)),
        ("museItemId", json!(view.item_id)),
        ("museTaskId", json!(view.task_id)),
    ];
    for (name, value) in optional {
        if !value.is_null() {
            meta[name] = value;
        }
    }
    if asking.detailed {
        meta["muse/approval"] = details(view);
    }
    acp::RequestPermissionRequest::new(
        asking.session.to_owned(),
        acp::ToolCallUpdate::new(call, fields),
        options,
    )
    .meta(object(meta))
}

/// APR-16: facts of the host as they are; what it did not say is not there.
fn details(view: &Approval) -> Value {
    let mut details = Map::new();
    let flags =
        [("judgeEscalated", view.judge_escalated), ("protectedWrite", view.protected_write)];
    for (name, flag) in flags {
        if let Some(flag) = flag {
            details.insert(name.to_owned(), flag.into());
        }
    }
    if let Some(subject) = &view.subject {
        details.insert("subjectKind".to_owned(), subject.kind.as_str().into());
        details.insert("stages".to_owned(), stages(&subject.stages));
    }
    Value::Object(details)
}

/// Stages as the metadata has them, in requests and in results (APR-16, APR-17).
#[must_use]
pub fn stages(stages: &[Stage]) -> Value {
    let row = |stage: &Stage| {
        let mut row = json!({ "requirementId": stage.requirement_id });
        let known = [
            ("position", json!(stage.position)),
            ("totalStages", json!(stage.total_stages)),
            ("resolutionKind", json!(stage.resolution.kind)),
        ];
        for (name, value) in known {
            if !value.is_null() && value != "" {
                row[name] = value;
            }
        }
        row
    };
    stages.iter().map(row).collect()
}

/// APR-11, APR-13, APR-15.
fn title(view: &Approval, input: &Value) -> String {
    let staged = view.subject.as_ref().and_then(|subject| staged(subject, view));
    let title = staged.unwrap_or_else(|| {
        ["description", "command", "path"]
            .into_iter()
            .find_map(|name| input.get(name)?.as_str().filter(|text| !text.is_empty()))
            .unwrap_or(&view.tool_name)
            .to_owned()
    });
    cut(&title, TITLE_MAX)
}

fn staged(subject: &Subject, view: &Approval) -> Option<String> {
    let asked = subject.stages.iter().filter(|stage| !stage.resolution.is_known_safe());
    if asked.count() < 2 {
        return None;
    }
    let mut stages = subject.stages.iter();
    let stage = stages.find(|stage| stage.requirement_id == view.current_requirement_id)?;
    let (position, total) = (stage.position?, stage.total_stages?);
    let argv = stage.argv.as_deref().filter(|argv| !argv.is_empty())?;
    if total <= 1 || position == 0 || position > total {
        return None;
    }
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    Some(format!("Stage {position} of {total}: {}", words.join(" ")))
}

/// APR-12.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:@%+=,-".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        Value::from(word).to_string()
    }
}

/// The members of an object that was built as one.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_json_unless_they_are_plain() {
        assert_eq!(quoted("a-Z_0./:@%+=,"), "a-Z_0./:@%+=,");
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(quoted("a b\""), "\"a b\\\"\"");
        assert_eq!(quoted("ä"), "\"ä\"");
    }

    fn view(extra: &str) -> Approval {
        let text = format!(
            r#"{{"sessionId":"s","approvalId":"a","turnId":"t","toolName":"write_file",
                "rawArgs":"{{\"path\":\"a.txt\"}}",
                "currentRequirementId":{{"approvalId":"a","sourceIndex":0}}{extra}}}"#
        );
        serde_json::from_str(&text).expect("decodes")
    }

    fn asked(view: &Approval, detailed: bool) -> Value {
        let turn = TurnId::from("t");
        let asking = Asking { session: "s", workspace: "/w", turn: &turn, detailed };
        serde_json::to_value(request(asking, view, Vec::new())).expect("json")
    }

    #[test]
    fn facts_are_told_as_they_are_and_only_where_they_were_negotiated() {
        let view = view(
            r#","judgeEscalated":true,"subject":{"kind":"hologram","stages":[
                {"requirementId":{"approvalId":"a","sourceIndex":0},"position":1,
                 "resolution":{"kind":"someday"}}]}"#,
        );
        let plain = asked(&view, false);
        assert_eq!(plain["_meta"].get("muse/approval"), None);
        let detailed = asked(&view, true);
        assert_eq!(plain["toolCall"], detailed["toolCall"], "APR-15");
        let expected = json!({
            "judgeEscalated": true, "subjectKind": "hologram",
            "stages": [{ "requirementId": { "approvalId": "a", "sourceIndex": 0 },
                         "position": 1, "resolutionKind": "someday" }],
        });
        assert_eq!(detailed["_meta"]["muse/approval"], expected);
    }

    #[test]
    fn a_title_is_cut_and_the_arguments_are_not() {
        let command = "x".repeat(TITLE_MAX + 1);
        let mut view = view("");
        view.raw_args = json!({ "command": command }).to_string();
        for detailed in [false, true] {
            let request = asked(&view, detailed);
            let title = request["toolCall"]["title"].as_str().expect("a title");
            assert_eq!(title.chars().count(), TITLE_MAX, "APR-15");
            assert_eq!(request["toolCall"]["rawInput"]["command"], command.as_str(), "APR-8");
        }
    }

    #[test]
    fn a_file_that_will_be_touched_is_a_place() {
        let view = view(r#","subject":{"kind":"fileAccess","path":"a.txt","access":"write"}"#);
        let request = asked(&view, false);
        assert_eq!(request["toolCall"]["locations"][0]["path"], "/w/a.txt");
        assert_eq!(request["toolCall"]["kind"], "edit");
        assert_eq!(request["toolCall"]["title"], "a.txt");
    }

    #[test]
    fn a_question_of_a_child_says_so() {
        let child = view(r#","subagentOrigin":{"subagentId":"x"}"#);
        assert_eq!(asked(&child, false)["toolCall"]["title"], "Subagent: a.txt");
        assert_eq!(asked(&view(""), false)["toolCall"]["title"], "a.txt");
    }
}
