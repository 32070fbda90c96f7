//! The questions of one prompt as an ACP form, and a filled form as answers (ELI-3..5).
//!
//! Pure functions. Invariant: an answer is given back only when every question has one within the host's
//! bounds; labels are echoed as the host wrote them (UIN-1), texts are never cut (ELI-5).

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::permission::object;
use super::questions::Reply;
use crate::acp::schema as acp;
use crate::msp::TurnId;
use crate::msp::user_input::{Answer, AnswerValue, Question, Selection, UserInput};

/// Longest free text, in characters (UIN-1).
pub const FREE_TEXT_MAX: usize = 500;

/// A prompt that is at the editor: what an answer is checked against.
#[derive(Clone, Debug)]
pub struct Form {
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
struct Field {
    id: String,
    title: String,
    description: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Single(Vec<String>),
    Multiple { labels: Vec<String>, min: usize, max: usize },
    Text,
}

impl Form {
    /// `None`: a form could not ask this, or no answer could satisfy it (PO-38).
    pub fn new(questions: &[Question]) -> Option<Self> {
        let ids: BTreeSet<&str> = questions.iter().map(|question| question.id.as_str()).collect();
        if questions.is_empty() || ids.len() != questions.len() || ids.contains("") {
            return None;
        }
        let fields: Option<Vec<Field>> = questions.iter().map(field).collect();
        Some(Self { fields: fields? })
    }

    /// ELI-3.
    pub fn request(
        &self,
        session: &str,
        turn: &TurnId,
        input: &UserInput,
    ) -> acp::CreateElicitationRequest {
        let schema = self.fields.iter().fold(acp::ElicitationSchema::new(), |schema, field| {
            schema.property(field.id.clone(), property(field), true)
        });
        let texts: Vec<&str> = input
            .questions
            .iter()
            .map(|question| question.question.as_str())
            .filter(|text| !text.is_empty())
            .collect();
        let message = match texts.is_empty() {
            true => format!("{} asks for your input", input.tool_name),
            false => texts.join("\n"),
        };
        let mut meta = json!({ "museUserInputId": input.user_input_id });
        for (name, value) in [
            ("museTurnId", json!(input.turn_id.as_ref().unwrap_or(turn))),
            ("museToolCallId", json!(input.tool_call_id)),
            ("museToolName", json!(input.tool_name)),
        ] {
            if !value.is_null() {
                meta[name] = value;
            }
        }
        let scope = acp::ElicitationSessionScope::new(session.to_owned());
        acp::CreateElicitationRequest::new(acp::ElicitationFormMode::new(scope, schema), message)
            .meta(object(meta))
    }

    /// What the editor's answer stands for. It is read by hand: the action is an open word (ELI-6), and
    /// the content is checked against what was asked.
    pub fn read(&self, response: &str) -> Reply {
        #[derive(Deserialize)]
        struct Response {
            action: String,
            #[serde(default)]
            content: Option<Map<String, Value>>,
        }
        match serde_json::from_str::<Response>(response) {
            Err(_) => Reply::Invalid,
            Ok(Response { action, content }) if action == "accept" => {
                let content = content.unwrap_or_default();
                let answers = self.fields.iter().map(|field| field.answer(content.get(&field.id)));
                answers.collect::<Option<Vec<_>>>().map_or(Reply::Invalid, Reply::Answer)
            }
            Ok(_) => Reply::Cancel,
        }
    }
}

fn field(question: &Question) -> Option<Field> {
    let labels: Vec<String> =
        question.options.iter().flatten().map(|option| option.label.clone()).collect();
    let distinct: BTreeSet<&String> = labels.iter().collect();
    if distinct.len() != labels.len() {
        return None;
    }
    let single = Selection { mode: "single".into(), ..Selection::default() };
    let selection = question.selection.clone().unwrap_or(single);
    let kind = match selection.mode.as_str() {
        "single" | "multiple" if labels.is_empty() => Kind::Text,
        "single" => Kind::Single(labels),
        "multiple" => {
            let count = |bound: Option<u64>, otherwise: usize| {
                bound.map_or(otherwise, |bound| usize::try_from(bound).unwrap_or(usize::MAX))
            };
            let min = count(selection.min_selections, 1);
            let max = count(selection.max_selections, labels.len());
            if min > max || min > labels.len() {
                return None;
            }
            Kind::Multiple { labels, min, max }
        }
        _ => return None,
    };
    let title = if question.header.is_empty() { &question.question } else { &question.header };
    Some(Field {
        id: question.id.clone(),
        title: title.clone(),
        description: question.question.clone(),
        kind,
    })
}

/// ELI-4.
fn property(field: &Field) -> acp::ElicitationPropertySchema {
    let (title, description) = (field.title.clone(), field.description.clone());
    match &field.kind {
        Kind::Single(labels) => acp::ElicitationPropertySchema::String(
            acp::StringPropertySchema::new()
                .title(title)
                .description(description)
                .enum_values(labels.clone()),
        ),
        Kind::Multiple { labels, min, max } => acp::ElicitationPropertySchema::Array(
            acp::MultiSelectPropertySchema::new(labels.clone())
                .title(title)
                .description(description)
                .min_items(*min as u64)
                .max_items(*max as u64),
        ),
        Kind::Text => acp::ElicitationPropertySchema::String(
            acp::StringPropertySchema::new()
                .title(title)
                .description(description)
                .max_length(FREE_TEXT_MAX as u32),
        ),
    }
}

impl Field {
    /// ELI-5. `None`: no valid answer to this question.
    fn answer(&self, value: Option<&Value>) -> Option<Answer> {
        let value = match &self.kind {
            Kind::Single(labels) => {
                let label = value?.as_str()?;
                labels.iter().find(|known| *known == label)?;
                AnswerValue::SelectedLabel(label.to_owned())
            }
            Kind::Multiple { labels, min, max } => {
                let list = value?.as_array()?;
                let chosen: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
                let chosen = chosen?;
                let distinct: BTreeSet<&str> = chosen.iter().copied().collect();
                let known = chosen.iter().all(|label| labels.iter().any(|known| known == label));
                let fits = (*min..=*max).contains(&chosen.len());
                if !known || !fits || distinct.len() != chosen.len() {
                    return None;
                }
                AnswerValue::SelectedLabels(chosen.into_iter().map(str::to_owned).collect())
            }
            Kind::Text => {
                let text = value?.as_str()?;
                if text.is_empty() || text.chars().count() > FREE_TEXT_MAX {
                    return None;
                }
                AnswerValue::FreeText(text.to_owned())
            }
        };
        Some(Answer { question_id: self.id.clone(), value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(questions: Value) -> Option<Form> {
        let questions: Vec<Question> =
            serde_json::from_str(&questions.to_string()).expect("decodes");
        Form::new(&questions)
    }

    fn multiple(min: u64, max: u64) -> Value {
        json!([{ "id": "q", "question": "Which?",
                 "selection": { "mode": "multiple", "minSelections": min, "maxSelections": max },
                 "options": [{ "label": "a" }, { "label": "b" }, { "label": "c" }] }])
    }

    fn read(form: &Form, value: Value) -> Reply {
        form.read(&json!({ "action": "accept", "content": { "q": value } }).to_string())
    }

    /// ELI-5, SCN-UIN-03.
    #[test]
    fn a_multiple_answer_outside_of_its_bounds_is_invalid() {
        let form = form(multiple(2, 2)).expect("a form");
        let chosen = AnswerValue::SelectedLabels(vec!["c".into(), "a".into()]);
        let expected = Reply::Answer(vec![Answer { question_id: "q".into(), value: chosen }]);
        assert_eq!(read(&form, json!(["c", "a"])), expected, "in the order of the person");
        for wrong in [
            json!(["a"]),
            json!(["a", "b", "c"]),
            json!(["a", "a"]),
            json!(["a", "x"]),
            json!("a"),
            json!(["a", 1]),
            json!(null),
        ] {
            assert_eq!(read(&form, wrong.clone()), Reply::Invalid, "{wrong}");
        }
    }

    /// ELI-5, SCN-UIN-04: characters, not bytes, and nothing is cut.
    #[test]
    fn a_free_text_has_at_most_five_hundred_characters() {
        let form = form(json!([{ "id": "q", "question": "Why?" }])).expect("a form");
        let whole = "ä".repeat(FREE_TEXT_MAX);
        let Reply::Answer(answers) = read(&form, json!(whole)) else { panic!("an answer") };
        assert_eq!(answers[0].value, AnswerValue::FreeText(whole));
        for wrong in [json!("ä".repeat(FREE_TEXT_MAX + 1)), json!(""), json!(7), json!(["x"])] {
            assert_eq!(read(&form, wrong), Reply::Invalid);
        }
    }

    #[test]
    fn only_a_known_label_answers_a_single_question() {
        let form = form(json!([{ "id": "q", "question": "Which?", "header": "Colour",
            "options": [{ "label": "red" }, { "label": "blue" }] }]))
        .expect("a form");
        assert!(matches!(read(&form, json!("blue")), Reply::Answer(_)));
        for wrong in [json!("Blue"), json!(""), json!(["blue"]), json!(null)] {
            assert_eq!(read(&form, wrong), Reply::Invalid);
        }
        assert_eq!(form.read(r#"{"action":"accept"}"#), Reply::Invalid);
        assert_eq!(form.read(r#"{"content":{}}"#), Reply::Invalid);
        assert_eq!(form.read("[]"), Reply::Invalid);
        for action in ["decline", "cancel", "later"] {
            assert_eq!(form.read(&json!({ "action": action }).to_string()), Reply::Cancel);
        }
    }

    /// PO-38, and what no answer could satisfy.
    #[test]
    fn what_a_form_cannot_ask_is_no_form() {
        let option = json!([{ "label": "a" }, { "label": "a" }]);
        for questions in [
            json!([]),
            json!([{ "id": "", "question": "?" }]),
            json!([{ "id": "q" }, { "id": "q" }]),
            json!([{ "id": "q", "selection": { "mode": "ranked" }, "options": [{ "label": "a" }] }]),
            json!([{ "id": "q", "selection": { "mode": "ranked" } }]),
            json!([{ "id": "q", "selection": { "mode": "single" }, "options": option }]),
            multiple(3, 2),
            multiple(4, 9),
        ] {
            assert!(form(questions.clone()).is_none(), "{questions}");
        }
    }
}
