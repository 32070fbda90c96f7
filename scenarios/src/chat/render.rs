//! From updates to text for people.
//!
//! Input: updates and questions, in order. Output: text to append to what was printed before.
//! Invariants: everything from the agent passes [`safe`]; a card's output is bounded, and what was
//! left out is counted; a block (answer, thought, card) starts on a line of its own. No I/O: the
//! renderer only remembers what it has said. It does not know whether anyone reads it.

mod card;
mod style;

use std::collections::VecDeque;

use card::Card;
pub use style::Style;

use super::client::RpcError;
use super::permission::{Outcome, Question};
use super::safe;
use super::update::{PlanEntry, ToolChange, Update, Usage};

/// Remembers what was printed, so that the next piece of text fits to it.
#[derive(Debug)]
pub struct Renderer {
    style: Style,
    block: Block,
    mid_line: bool,
    cards: VecDeque<Card>,
    usage: Option<Usage>,
}

/// What was printed last.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    None,
    Message,
    Thought,
    Card(String),
}

impl Renderer {
    /// A renderer that has said nothing yet.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self { style, block: Block::None, mid_line: false, cards: VecDeque::new(), usage: None }
    }

    /// Shows an update; empty when there is nothing to show (yet).
    pub fn update(&mut self, update: &Update) -> String {
        match update {
            Update::Message(text) => self.chunk(Block::Message, text),
            Update::Thought(text) => self.chunk(Block::Thought, text),
            Update::Tool(change) => self.tool(change),
            Update::Plan(entries) => self.plan(entries),
            Update::Usage(usage) => {
                self.usage = Some(usage.clone()); // it comes often: shown once, by `turn_end`
                String::new()
            }
            Update::Other(_) => String::new(),
        }
    }

    /// Shows a question with its numbered options.
    pub fn question(&mut self, question: &Question) -> String {
        let mut out = self.question_head(&question.tool);
        for (at, option) in question.options.iter().enumerate() {
            let name = safe::line(&option.name, TITLE_MAX);
            out.push_str(&format!("  {}  {name}\n", self.style.bold(&(at + 1).to_string())));
        }
        out
    }

    /// Shows a question that a policy has answered.
    pub fn answered(&mut self, question: &Question, outcome: &Outcome, by: &str) -> String {
        let answer = match outcome {
            Outcome::Cancelled => "cancelled, no option for it".to_owned(),
            Outcome::Selected(id) => {
                let name = question.options.iter().find(|option| option.id == *id);
                name.map_or_else(String::new, |option| safe::line(&option.name, TITLE_MAX))
            }
        };
        let head = self.question_head(&question.tool);
        format!("{head}  {}\n", self.style.dim(&format!("{answer} ({by})")))
    }

    /// Shows a prompt for a line of input; the cursor stays behind it.
    pub fn prompt(&mut self, text: &str) -> String {
        let out = self.start(Block::None);
        self.mid_line = true;
        out + text
    }

    /// The person pressed Enter: the terminal is on a fresh line.
    pub fn line_was_entered(&mut self) {
        self.mid_line = false;
    }

    /// The terminal has shown a key: whatever comes next needs a line of its own.
    pub fn keys_were_echoed(&mut self) {
        self.mid_line = true;
    }

    /// Ends the turn: completes the line and shows how full the window is.
    pub fn turn_end(&mut self) -> String {
        let mut out = self.start(Block::None);
        if let Some(usage) = self.usage.take() {
            out.push_str(&self.style.dim(&usage_line(&usage)));
            out.push('\n');
        }
        out
    }

    /// Completes the line, for text of others that comes next.
    pub fn fresh_line(&mut self) -> String {
        self.start(Block::None)
    }

    /// Begins or continues `block` and returns the line end that is due before it.
    fn start(&mut self, block: Block) -> String {
        let due = self.mid_line && (block == Block::None || self.block != block);
        self.block = block;
        if due {
            self.mid_line = false;
            return "\n".into();
        }
        String::new()
    }

    fn chunk(&mut self, block: Block, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let dim = block == Block::Thought;
        let begins = self.block != block;
        let mut out = self.start(block);
        if dim && begins && self.style == Style::Plain {
            out.push_str("(thought) "); // where dimming cannot tell it from the answer
        }
        let text = safe::text(text);
        self.mid_line = !text.ends_with('\n');
        out + &if dim { self.style.dim(&text) } else { text.into_owned() }
    }

    fn tool(&mut self, change: &ToolChange) -> String {
        let at = self.card(&change.id);
        let announce = self.cards[at].merge(change);
        let continued = self.block == Block::Card(change.id.clone());
        let body = self.cards[at].fresh_output(self.style);
        if !announce && body.is_empty() {
            return String::new();
        }
        let mut out = self.start(Block::Card(change.id.clone()));
        if announce || !continued {
            out.push_str(&self.cards[at].headline(self.style));
        }
        self.mid_line = false;
        out + &body
    }

    fn question_head(&mut self, tool: &ToolChange) -> String {
        let at = self.card(&tool.id);
        self.cards[at].merge(tool);
        let mut out = self.start(Block::None);
        out.push_str(&self.cards[at].question(tool, self.style));
        out
    }

    fn plan(&mut self, entries: &[PlanEntry]) -> String {
        let mut out = self.start(Block::None);
        out.push_str(&self.style.bold("plan"));
        out.push('\n');
        for entry in entries.iter().take(PLAN_MAX) {
            let mark = match entry.status.as_str() {
                "completed" => "x",
                "in_progress" => ">",
                _ => " ",
            };
            out.push_str(&format!("  [{mark}] {}\n", safe::line(&entry.text, TITLE_MAX)));
        }
        if let Some(more) = entries.len().checked_sub(PLAN_MAX).filter(|more| *more > 0) {
            out.push_str(&format!("  … {more} more\n"));
        }
        out
    }

    /// Position of the card, made on first sight: an update may come without its `tool_call`, for
    /// instance after this list had to forget it.
    fn card(&mut self, id: &str) -> usize {
        if let Some(at) = self.cards.iter().rposition(|card| card.id == id) {
            return at;
        }
        if self.cards.len() == CARDS_MAX {
            self.cards.pop_front();
        }
        self.cards.push_back(Card::new(id));
        self.cards.len() - 1
    }
}

/// A failed call as one block: what happened, which kind it is, what to do.
#[must_use]
pub fn failure(what: &str, error: &RpcError) -> String {
    let message = safe::line(&error.message, MESSAGE_MAX);
    let mut out = format!("{what}: {message} (code {})\n", error.code);
    let failure = &error.data["failure"];
    let word = |name: &str| failure[name].as_str().map(|word| safe::line(word, TITLE_MAX));
    if let Some(kind) = word("kind") {
        out.push_str(&format!("  kind: {kind}"));
        for name in ["source", "phase", "execution", "outcome"] {
            if let Some(value) = word(name) {
                out.push_str(&format!(", {name} {value}"));
            }
        }
        out.push('\n');
    } else if !error.data.is_null() {
        out.push_str(&format!("  data: {}\n", safe::line(&error.data.to_string(), MESSAGE_MAX)));
    }
    if let Some(retryable) = failure["retryable"].as_bool() {
        out.push_str(if retryable { "  retryable: yes\n" } else { "  retryable: no\n" });
    }
    if let Some(hint) = failure["recovery"].as_str() {
        out.push_str(&format!("  what to do: {}\n", safe::line(hint, MESSAGE_MAX)));
    }
    out
}

fn usage_line(usage: &Usage) -> String {
    let Usage { used, size, cost } = usage;
    let percent = match *size {
        0 => String::new(),
        // u128, because a hundredfold u64 may not fit one.
        size => format!(" ({}%)", u128::from(*used) * 100 / u128::from(size)),
    };
    let cost = cost.as_ref().map_or_else(String::new, |(amount, currency)| {
        format!(", {amount} {}", safe::line(currency, CURRENCY_MAX))
    });
    format!("context: {used} of {size} tokens{percent}{cost}")
}

/// Cards kept for later updates; a card beyond it starts anew, with a headline of its own.
const CARDS_MAX: usize = 256;
/// Characters of a title, an option or a plan entry; the adapter's own bound is the same.
const TITLE_MAX: usize = 1024;
/// Characters of an error's text.
const MESSAGE_MAX: usize = 4096;
/// Entries of a plan, about a screen.
const PLAN_MAX: usize = 50;
/// Characters of a currency; codes have three.
const CURRENCY_MAX: usize = 16;

#[cfg(test)]
mod tests;
