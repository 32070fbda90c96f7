//! One tool card: what the editor sees of an item that is neither a message nor a thought.
//!
//! In: whole items and output deltas. Out: `tool_call` once, then `tool_call_update`s whose content
//! replaces what was there. Invariants: the card's id never changes (TOL-1); `tool_call` comes before
//! any update (TOL-2); at most 64 KiB of text is kept and sent (TOL-11); the bytes sent for a growing
//! output are linear in its length (see [`Card::wants_update`]).

use std::path::Path;

use serde_json::Value;

use super::present::{self, Presentation, TITLE_MAX};
use super::redact::cut;
use super::text::prefix;
use crate::acp::schema as acp;
use crate::msp::{Item, Kind, Status};

/// Longest text of a card in bytes (TOL-11).
pub const CARD_TEXT_MAX: usize = 64 * 1024;
/// Below this size every output delta is shown at once.
const SMALL: usize = 1024;

/// See the module.
#[derive(Clone, Debug)]
pub struct Card {
    /// `toolCallId`.
    id: acp::ToolCallId,
    item: Item,
    /// Output from deltas, until a snapshot brings its own (TOL-9).
    streamed: Option<String>,
    /// Output bytes beyond the bound.
    dropped: usize,
    /// Length of the streamed output when the card was last sent.
    sent: usize,
}

impl Card {
    /// A card for the first sight of an item.
    #[must_use]
    pub fn new(item: Item) -> Self {
        let id = item.call_id.clone().unwrap_or_else(|| item.item_id.as_str().to_owned());
        Self { id: acp::ToolCallId::new(id), item, streamed: None, dropped: 0, sent: 0 }
    }

    /// Whether the card may still change.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.item.status.is_terminal()
    }

    /// Whether it is work that may go on after its turn (END-8).
    #[must_use]
    pub fn is_work(&self) -> bool {
        self.is_open()
            && match &self.item.kind {
                Kind::ToolCall | Kind::UserShell => true,
                Kind::Other(kind) => matches!(kind.as_str(), "subagent" | "workflow"),
                _ => false,
            }
    }

    /// Whether PO-14 lets this item be shown at all.
    #[must_use]
    pub fn is_displayable(item: &Item) -> bool {
        match &item.kind {
            Kind::ToolCall | Kind::UserShell => true,
            Kind::Other(kind) => {
                matches!(
                    kind.as_str(),
                    "subagent" | "workflow" | "reminderChild" | "compaction" | "webSearch"
                ) || item.fallback_text.as_deref().is_some_and(|text| !text.trim().is_empty())
            }
            Kind::UserMessage | Kind::AgentMessage | Kind::Reasoning => false,
        }
    }

    /// Takes the next revision. Members that it lacks keep their last value.
    pub fn revise(&mut self, next: Item) {
        let Item { tool, args, visible_output, .. } = std::mem::replace(&mut self.item, next);
        self.item.tool = self.item.tool.take().or(tool);
        self.item.args = self.item.args.take().or(args);
        match self.item.visible_output {
            Some(_) => (self.streamed, self.dropped) = (None, 0),
            None => self.item.visible_output = visible_output,
        }
    }

    /// Appends output. False: nothing visible changed.
    pub fn append(&mut self, delta: &str) -> bool {
        let output = self
            .streamed
            .get_or_insert_with(|| self.item.visible_output.take().unwrap_or_default());
        let room = CARD_TEXT_MAX.saturating_sub(output.len());
        let kept = if self.dropped > 0 { "" } else { prefix(delta, room) };
        let first_cut = self.dropped == 0 && kept.len() < delta.len();
        output.push_str(kept);
        self.dropped += delta.len() - kept.len();
        !kept.is_empty() || first_cut
    }

    /// Whether a grown output is worth sending at once: it is small, or it grew by an eighth. The rest
    /// waits for the next flush, so that a long output costs a constant factor of its length and not
    /// its square (design.md §7).
    #[must_use]
    pub fn wants_update(&self) -> bool {
        let length = self.streamed.as_ref().map_or(0, String::len);
        length <= SMALL || length - self.sent >= self.sent / 8 || self.dropped > 0
    }

    /// Whether output was appended since the card was last sent.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.streamed.as_ref().is_some_and(|output| output.len() != self.sent)
    }

    /// The card as its first message.
    pub fn open(&mut self, workspace: &str) -> acp::SessionUpdate {
        let shown = self.render(workspace);
        let mut call = acp::ToolCall::new(self.id.clone(), shown.title)
            .kind(self.kind())
            .status(self.status())
            .content(shown.content)
            .locations(shown.locations);
        call.name = Some(self.name());
        call.raw_input = shown.raw_input;
        call.raw_output = shown.raw_output;
        acp::SessionUpdate::ToolCall(call)
    }

    /// The card again. `whole` repeats everything; output deltas leave the unchanged input out.
    pub fn update(&mut self, workspace: &str, whole: bool) -> acp::SessionUpdate {
        let shown = self.render(workspace);
        let mut fields = acp::ToolCallUpdateFields::new()
            .title(shown.title)
            .status(self.status())
            .content(shown.content);
        if whole {
            fields.kind = Some(self.kind());
            fields.name = Some(self.name());
            fields.locations = Some(shown.locations);
            fields.raw_input = shown.raw_input;
            fields.raw_output = shown.raw_output;
        }
        acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(self.id.clone(), fields))
    }

    /// The last word on a card whose host ended first (BKG-3).
    #[must_use]
    pub fn lost(&self) -> acp::SessionUpdate {
        let text =
            "This was not finished when the connection to Muse ended; its outcome is unknown.";
        let fields = acp::ToolCallUpdateFields::new()
            .status(acp::ToolCallStatus::Failed)
            .content(vec![text_block(text.to_owned())]);
        acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(self.id.clone(), fields))
    }

    fn kind(&self) -> acp::ToolKind {
        present::tool_kind(&self.item.kind, self.item.tool.as_deref())
    }

    fn name(&self) -> String {
        self.item.tool.clone().unwrap_or_else(|| self.item.kind.as_str().to_owned())
    }

    /// TOL-3.
    fn status(&self) -> acp::ToolCallStatus {
        match self.item.status {
            Status::InProgress => acp::ToolCallStatus::InProgress,
            Status::Completed => acp::ToolCallStatus::Completed,
            Status::Ended(_) => acp::ToolCallStatus::Failed,
        }
    }

    fn render(&mut self, workspace: &str) -> Rendered {
        self.sent = self.streamed.as_ref().map_or(0, String::len);
        let args = self.item.args.as_deref().map(arguments);
        let mut result = present::result(self.item.tool.as_deref(), self.text());
        let title = result.title.take().unwrap_or_else(|| self.title(args.as_ref()));
        let mut content = Vec::new();
        let text = self.with_notices(std::mem::take(&mut result.text));
        if !text.is_empty() {
            content.push(text_block(text));
        }
        let Presentation { raw_output, raw_input, path, .. } = result;
        Rendered {
            title,
            content,
            raw_input: args.or(raw_input),
            raw_output,
            locations: path
                .map(|path| acp::ToolCallLocation::new(absolute(workspace, &path)))
                .into_iter()
                .collect(),
        }
    }

    /// TOL-7: the first text that is there.
    fn text(&self) -> &str {
        let item = &self.item;
        [&self.streamed, &item.visible_output, &item.failure_reason, &item.fallback_text]
            .into_iter()
            .flatten()
            .next()
            .or(item.text.as_ref().filter(|_| item.kind == Kind::ToolCall))
            .map_or("", String::as_str)
    }

    /// TOL-8: cut, failure reason, host truncation; after the result was read (TOL-12).
    fn with_notices(&self, text: String) -> String {
        let mut shown = prefix(&text, CARD_TEXT_MAX).to_owned();
        let dropped = self.dropped + text.len() - shown.len();
        let mut add = |line: &str| {
            if !shown.is_empty() && !shown.ends_with('\n') {
                shown.push('\n');
            }
            shown.push_str(line);
        };
        if dropped > 0 {
            add(&format!("[cut by the adapter at {CARD_TEXT_MAX} bytes; {dropped} more]"));
        }
        if let Some(reason) = self.item.failure_reason.as_deref().filter(|r| !text.contains(*r)) {
            add(prefix(reason, CARD_TEXT_MAX));
        }
        if self.item.truncated {
            add("[truncated by Muse]");
        }
        if shown.is_empty() && !matches!(self.item.kind, Kind::ToolCall | Kind::UserShell) {
            shown = format!(
                "{} is {}; Muse gave no further detail.",
                self.item.kind.as_str(),
                self.item.status.as_str()
            );
        }
        shown
    }

    /// TOL-6.
    fn title(&self, args: Option<&Value>) -> String {
        let argument = |name: &str| args?.get(name)?.as_str().filter(|text| !text.is_empty());
        let tool = self.item.tool.as_deref();
        let searched = match tool {
            Some("search") => argument("pattern").map(|pattern| format!("search: {pattern}")),
            Some("web_search") => argument("query").map(|query| format!("web_search: {query}")),
            _ => None,
        };
        let title = searched
            .or_else(|| {
                ["description", "command", "path"]
                    .into_iter()
                    .find_map(argument)
                    .or(self.item.command_text.as_deref())
                    .or(tool)
                    .map(str::to_owned)
            })
            .unwrap_or_else(|| {
                format!("{}: {}", self.item.kind.as_str(), self.item.status.as_str())
            });
        cut(&title, TITLE_MAX)
    }
}

struct Rendered {
    title: String,
    content: Vec<acp::ToolCallContent>,
    raw_input: Option<Value>,
    raw_output: Option<Value>,
    locations: Vec<acp::ToolCallLocation>,
}

/// TOL-5, APR-8: the arguments as an object, else their bounded text.
#[must_use]
pub fn arguments(raw: &str) -> Value {
    if raw.len() <= CARD_TEXT_MAX
        && let Ok(value @ Value::Object(_)) = serde_json::from_str(raw)
    {
        return value;
    }
    serde_json::json!({ "arguments": prefix(raw, CARD_TEXT_MAX) })
}

fn text_block(text: String) -> acp::ToolCallContent {
    acp::ToolCallContent::from(acp::ContentBlock::Text(acp::TextContent::new(text)))
}

/// TOL-13.
pub(super) fn absolute(workspace: &str, path: &str) -> std::path::PathBuf {
    Path::new(workspace).join(path)
}
