//! One tool card: what is known of it and how much of its output was shown.
//!
//! An update replaces the whole content, and a running command sends it again and again as it
//! grows. So a card remembers the lines it has shown and adds only the ones after them.
//! Invariants: at most [`OUTPUT_LINES`] lines are shown while it runs and when it ends; a line that
//! may still grow waits for its end or the card's.

use serde_json::Value;

use super::super::safe;
use super::super::update::{Content, ToolChange};
use super::{Style, TITLE_MAX};

/// See the module.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: String,
    title: String,
    kind: String,
    status: String,
    locations: Vec<String>,
    content: Vec<Content>,
    /// Lines shown so far, undecorated.
    shown: Vec<String>,
    /// The final count was given: nothing is added any more.
    closed: bool,
}

impl Card {
    pub(super) fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: String::new(),
            kind: String::new(),
            status: String::new(),
            locations: Vec::new(),
            content: Vec::new(),
            shown: Vec::new(),
            closed: false,
        }
    }

    /// Takes what was given. Returns whether the headline changed.
    pub(super) fn merge(&mut self, change: &ToolChange) -> bool {
        let before = self.headline(Style::Plain);
        let set = |mine: &mut String, given: &Option<String>| {
            if let Some(given) = given {
                given.clone_into(mine);
            }
        };
        set(&mut self.title, &change.title);
        set(&mut self.kind, &change.kind);
        set(&mut self.status, &change.status);
        if let Some(locations) = &change.locations {
            locations.clone_into(&mut self.locations);
        }
        if let Some(content) = &change.content {
            content.clone_into(&mut self.content);
        }
        self.headline(Style::Plain) != before
    }

    /// `● execute: ls -la [completed]`
    pub(super) fn headline(&self, style: Style) -> String {
        let status = safe::line(&self.status, WORD_MAX);
        let status = match status.as_str() {
            "" => String::new(),
            "completed" => format!(" {}", style.green("[completed]")),
            "failed" => format!(" {}", style.red("[failed]")),
            other => format!(" {}", style.dim(&format!("[{other}]"))),
        };
        format!("● {}{status}\n", self.name(style))
    }

    /// The card as something to decide about: everything that helps to judge it, under larger
    /// bounds than output has, and every cut marked.
    pub(super) fn question(&self, change: &ToolChange, style: Style) -> String {
        let mut out = format!("{} {}\n", style.yellow("?"), self.name(style));
        let mut lines = Vec::new();
        lines.extend(raw_input(&change.raw_input));
        lines.extend(self.locations.iter().map(|place| ("@ ", safe::line(place, TITLE_MAX))));
        for part in change.content.as_deref().unwrap_or_default() {
            lines.extend(flatten(part, QUESTION_WIDTH));
        }
        for line in lines.iter().take(QUESTION_LINES) {
            out.push_str(&output_line(line, style));
        }
        out.push_str(&left_out(lines.len().saturating_sub(QUESTION_LINES), style));
        out
    }

    /// Output that was not shown yet.
    pub(super) fn fresh_output(&mut self, style: Style) -> String {
        let ended = matches!(self.status.as_str(), "completed" | "failed");
        if self.closed {
            return String::new();
        }
        let mut lines: Vec<Line> =
            self.content.iter().flat_map(|part| flatten(part, OUTPUT_WIDTH)).collect();
        let may_grow = matches!(self.content.last(), Some(Content::Text(t)) if !t.ends_with('\n'));
        if !ended && may_grow {
            lines.pop();
        }
        let same = lines.iter().zip(&self.shown).all(|(line, shown)| line.1 == *shown);
        if !same || lines.len() < self.shown.len() {
            // Rewritten, not grown. Whole again at the end rather than a patchwork now.
            if !ended {
                return String::new();
            }
            self.shown.clear();
        }
        let mut out = String::new();
        for line in lines.iter().take(OUTPUT_LINES).skip(self.shown.len()) {
            out.push_str(&output_line(line, style));
        }
        self.shown = lines.iter().take(OUTPUT_LINES).map(|line| line.1.clone()).collect();
        if ended {
            self.closed = !lines.is_empty();
            out.push_str(&left_out(lines.len().saturating_sub(OUTPUT_LINES), style));
        }
        out
    }

    fn name(&self, style: Style) -> String {
        let kind = safe::line(&self.kind, WORD_MAX);
        let title = safe::line(&self.title, TITLE_MAX);
        match (kind.as_str(), title.as_str()) {
            ("", "") => style.bold("tool"),
            ("", title) => style.bold(title),
            (kind, "") => style.bold(kind),
            (kind, title) => format!("{}: {title}", style.bold(kind)),
        }
    }
}

/// Marker and text of one line.
type Line = (&'static str, String);

fn flatten(part: &Content, width: usize) -> Vec<Line> {
    let lines = |marker: &'static str, text: &str| -> Vec<Line> {
        safe::text(text).lines().map(|line| (marker, safe::line(line, width))).collect()
    };
    match part {
        Content::Text(text) => lines("", text),
        Content::Diff { path, old, new } => {
            let heading = if old.is_none() { "new file " } else { "changes " };
            let mut all = vec![("", format!("{heading}{}", safe::line(path, width)))];
            let (removed, added) = changed_lines(old.as_deref().unwrap_or_default(), new);
            removed.iter().for_each(|line| all.push(("- ", safe::line(line, width))));
            added.iter().for_each(|line| all.push(("+ ", safe::line(line, width))));
            all
        }
    }
}

/// The lines between the common beginning and the common end: not the smallest difference, but
/// always a true one.
fn changed_lines<'a>(old: &'a str, new: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    (old[..old.len() - tail].to_vec(), new[..new.len() - tail].to_vec())
}

/// The command of a tool call as it will run, or everything the tool was called with.
fn raw_input(input: &Value) -> Vec<Line> {
    match (input, input["command"].as_str()) {
        (Value::Null, _) => Vec::new(),
        // Whole and line by line: a command must not hide behind its beginning.
        (_, Some(command)) => flatten(&Content::Text(command.to_owned()), QUESTION_WIDTH)
            .into_iter()
            .map(|(_, line)| ("$ ", line))
            .collect(),
        (other, None) => vec![("", safe::line(&other.to_string(), QUESTION_WIDTH))],
    }
}

fn output_line((marker, text): &Line, style: Style) -> String {
    let text = match *marker {
        "- " => style.red(&format!("- {text}")),
        "+ " => style.green(&format!("+ {text}")),
        other => format!("{other}{text}"),
    };
    format!("  {} {text}\n", style.dim("│"))
}

fn left_out(lines: usize, style: Style) -> String {
    match lines {
        0 => String::new(),
        1 => format!("  {}\n", style.dim("… 1 more line")),
        more => format!("  {}\n", style.dim(&format!("… {more} more lines"))),
    }
}

/// Lines of output shown per card: a screen's half.
const OUTPUT_LINES: usize = 20;
/// Characters of a line of output.
const OUTPUT_WIDTH: usize = 200;
/// Lines shown with a question: more, because somebody decides by them.
const QUESTION_LINES: usize = 60;
/// Characters of a line shown with a question.
const QUESTION_WIDTH: usize = 2000;
/// Characters of a kind or a status.
const WORD_MAX: usize = 40;
