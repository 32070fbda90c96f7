//! What is wrong with a file, told so that the reader knows what to type instead.
//!
//! Inputs: a problem found by the parser. Outputs: a self-contained [`Diagnostic`], drawn for people
//! by [`render`] or written as a JSON line by [`json_line`].
//! Invariants: a diagnostic has a stable code, a place, what was found, what is allowed there and one
//! line of help; it carries its own excerpt, so no file has to be read again to show it.
//! It does not know how problems are found. Rules: MSG-1, MSG-2, MSG-3, MSG-5.

mod json;
mod render;

pub use json::json_line;
pub use render::{Style, count, render, render_all, summary};

use super::codes::Code;
use super::limits::PROBLEMS_MAX;
use super::source::{Source, Span};

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code.
    pub code: Code,
    /// The file as it was named by the caller.
    pub path: String,
    /// Place of what was found.
    pub place: Place,
    /// What was found, as a title without a full stop.
    pub found: String,
    /// What is allowed there; stands beside the carets.
    pub allowed: String,
    /// What to do, in one line.
    pub help: String,
    /// A second place that explains the first.
    pub related: Option<(Place, String)>,
}

/// One stretch of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Number of characters, at least 1.
    pub width: u32,
    /// The line, without its end.
    pub excerpt: String,
    /// Byte offset of the stretch in the excerpt.
    pub offset: usize,
}

/// A finding before it is known where its bytes are in lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    code: Code,
    span: Span,
    found: String,
    allowed: String,
    help: String,
    related: Option<(Span, String)>,
}

impl Problem {
    /// `found` says what is wrong; `allowed` what may stand there; `help` what to type.
    pub(crate) fn new(
        code: Code,
        span: Span,
        found: impl Into<String>,
        allowed: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let (found, allowed, help) = (found.into(), allowed.into(), help.into());
        Self(Box::new(Parts { code, span, found, allowed, help, related: None }))
    }

    /// Points at a second place.
    pub(crate) fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.0.related = Some((span, text.into()));
        self
    }

    /// Says what else is allowed where fewer words are than usual, if the problem has this code.
    pub(crate) fn narrowed(mut self, code: Code, allowed: impl Into<String>) -> Self {
        if self.0.code == code {
            self.0.allowed = allowed.into();
        }
        self
    }

    fn place(self, source: &Source) -> Diagnostic {
        let Parts { code, span, found, allowed, help, related } = *self.0;
        Diagnostic {
            code,
            path: source.path().to_owned(),
            place: Place::new(source, span),
            found,
            allowed,
            help,
            related: related.map(|(span, text)| (Place::new(source, span), text)),
        }
    }
}

impl Place {
    /// The part of `span` that is on its first line. An empty stretch is shown as one caret.
    fn new(source: &Source, span: Span) -> Self {
        let at = source.at(span);
        let line = source.line_span(at.line as usize - 1);
        let text = &source.text()[line.start..line.end];
        let offset = span.start.clamp(line.start, line.end) - line.start;
        let end = span.end.clamp(line.start, line.end) - line.start;
        let width = text.get(offset..end.max(offset)).map_or(1, |part| part.chars().count());
        Self {
            line: at.line,
            column: at.column,
            width: u32::try_from(width).unwrap_or(u32::MAX).max(1),
            excerpt: text.to_owned(),
            offset,
        }
    }

    /// Byte range in the excerpt.
    fn range(&self) -> std::ops::Range<usize> {
        let rest = self.excerpt.get(self.offset..).unwrap_or_default();
        let length = rest.chars().take(self.width as usize).map(char::len_utf8).sum::<usize>();
        self.offset..self.offset + length
    }
}

/// Collects problems in the order of the file.
#[derive(Debug)]
pub(crate) struct Sink<'s> {
    source: &'s Source,
    list: Vec<Diagnostic>,
    total: usize,
}

impl<'s> Sink<'s> {
    pub(crate) fn new(source: &'s Source) -> Self {
        Self { source, list: Vec::new(), total: 0 }
    }

    pub(crate) fn push(&mut self, problem: Problem) {
        self.total += 1;
        if self.list.len() < PROBLEMS_MAX {
            self.list.push(problem.place(self.source));
        }
    }

    /// Nothing was found so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// In the order of lines and columns, with a last one that says how many are left out.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|one| (one.place.line, one.place.column));
        if self.total > self.list.len() {
            let end = self.source.text().len();
            let problem = Problem::new(
                super::codes::TOO_MANY_PROBLEMS,
                Span::new(end, end),
                format!("{} problems in one file", self.total),
                format!("only the first {PROBLEMS_MAX} are kept"),
                "check that this is a scenario file; its first line begins with `scenario`",
            );
            self.list.push(problem.place(self.source));
        }
        self.list
    }
}
