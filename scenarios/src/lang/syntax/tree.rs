//! Lines into statements.
//!
//! Inputs: a source. Outputs: the tree. Invariant: a line that cannot be read is still in the tree, marked
//! as broken, with the words that could be read, so that what comes behind it is understood.

use super::lex::{Cursor, Mode};
use super::value::Value;
use crate::lang::codes;
use crate::lang::diagnostic::{Problem, Sink};
use crate::lang::limits::STATEMENTS_MAX;
use crate::lang::source::{Source, Span};

/// A file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// In order.
    pub items: Vec<Item>,
}

/// One thing in column one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// One or more blank lines.
    Blank,
    /// A comment line that belongs to no statement.
    Comment(Comment),
    /// A statement.
    Statement(Statement),
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From `#`, without blanks at the end.
    pub text: String,
    /// Place.
    pub span: Span,
}

/// A line in column one and the lines that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The line in column one.
    pub head: Line,
    /// What is indented below it.
    pub body: Vec<Entry>,
}

/// One thing that belongs to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One or more blank lines.
    Blank,
    /// A comment line.
    Comment(Comment),
    /// A member line, header row or table row.
    Member(Line),
}

/// A line, or several if a value goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its pieces, at least one unless it is broken.
    pub pieces: Vec<Piece>,
    /// A comment behind them.
    pub comment: Option<Comment>,
    /// From the first piece to the last.
    pub span: Span,
    /// It could not be read; this was reported.
    pub broken: bool,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Where it is.
    pub span: Span,
}

/// Kinds of piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Anything without blanks that is none of the others.
    Word(String),
    /// A separator of a list.
    Comma,
    /// JSON, strings included.
    Value(Value),
    /// The string behind `bytes`.
    Bytes(Vec<u8>),
}

impl Piece {
    /// It is this word.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, PieceKind::Word(text) if text == word)
    }

    /// The word, if it is one.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match &self.kind {
            PieceKind::Word(text) => Some(text),
            PieceKind::Comma | PieceKind::Value(_) | PieceKind::Bytes(_) => None,
        }
    }
}

/// Reads a source into statements.
pub(crate) fn read(source: &Source, sink: &mut Sink<'_>) -> Tree {
    Reader { source, sink, tree: Tree::default(), waiting: Vec::new(), statements: 0, run: (0, 0) }
        .run()
}

/// Comments and blank lines whose owner is not known before the next line.
enum Waiting {
    Blank,
    Comment { comment: Comment, indented: bool },
}

struct Reader<'s, 'k, 'd> {
    source: &'s Source,
    sink: &'k mut Sink<'d>,
    tree: Tree,
    waiting: Vec<Waiting>,
    statements: usize,
    /// The last run of lines that was found to go on, first and last: looked for once, not per line.
    run: (usize, usize),
}

impl Reader<'_, '_, '_> {
    fn run(mut self) -> Tree {
        let mut line = 0;
        while line < self.source.line_count() {
            let text = self.source.line(line);
            let words = text.trim_start_matches([' ', '\t']);
            let indent = text.len() - words.len();
            line = if words.is_empty() {
                self.wait_blank();
                line + 1
            } else if words.starts_with('#') {
                let span = self.source.line_span(line);
                let start = span.start + indent;
                let comment = Cursor::new(self.source, start, span.end).comment();
                let indented = indent > 0;
                self.waiting.extend(comment.map(|comment| Waiting::Comment { comment, indented }));
                line + 1
            } else if indent == 0 {
                self.settle_outside();
                self.statements += 1;
                if self.statements > STATEMENTS_MAX {
                    self.sink.push(too_many(self.source.line_span(line)));
                    break;
                }
                self.statement(line)
            } else {
                self.member(line, indent)
            };
        }
        self.settle_outside();
        self.tree
    }

    fn wait_blank(&mut self) {
        if !matches!(self.waiting.last(), Some(Waiting::Blank)) {
            self.waiting.push(Waiting::Blank);
        }
    }

    /// A statement or the end comes next: what is indented belongs to the statement before.
    fn settle_outside(&mut self) {
        let indented = |one: &Waiting| matches!(one, Waiting::Comment { indented: true, .. });
        let inside = self.waiting.iter().rposition(indented).map_or(0, |last| last + 1);
        let outside = self.waiting.split_off(inside);
        self.settle_inside();
        for one in outside {
            self.tree.items.push(match one {
                Waiting::Blank => Item::Blank,
                Waiting::Comment { comment, .. } => Item::Comment(comment),
            });
        }
    }

    /// A member comes next: everything belongs to the statement before.
    fn settle_inside(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for one in waiting {
            let body = self.tree.items.iter_mut().rev().find_map(|item| match item {
                Item::Statement(statement) => Some(&mut statement.body),
                Item::Blank | Item::Comment(_) => None,
            });
            match (body, one) {
                (Some(body), Waiting::Blank) => body.push(Entry::Blank),
                (Some(body), Waiting::Comment { comment, .. }) => {
                    body.push(Entry::Comment(comment));
                }
                (None, Waiting::Blank) => self.tree.items.push(Item::Blank),
                (None, Waiting::Comment { comment, .. }) => {
                    self.tree.items.push(Item::Comment(comment));
                }
            }
        }
    }

    /// Reads a head line; returns the index of the line behind it.
    fn statement(&mut self, line: usize) -> usize {
        let mode = if self.source.line(line).split([' ', '\t']).next() == Some("vary") {
            Mode::List
        } else {
            Mode::Head
        };
        let (head, next) = self.line(line, self.source.line_span(line).start, mode);
        self.tree.items.push(Item::Statement(Statement { head, body: Vec::new() }));
        next
    }

    /// Reads an indented line; returns the index of the line behind it.
    fn member(&mut self, line: usize, indent: usize) -> usize {
        let span = self.source.line_span(line);
        let start = span.start + indent;
        let blanks = &self.source.text()[span.start..start];
        if indent < 2 || blanks.contains('\t') {
            self.sink.push(indentation(Span::new(span.start, start), blanks));
        }
        let keyword = self.tree.items.iter().rev().find_map(|item| match item {
            Item::Statement(statement) => Some(statement.head.pieces.first()),
            Item::Blank | Item::Comment(_) => None,
        });
        let Some(first) = keyword else {
            self.settle_outside();
            self.sink.push(stray(Span::new(start, span.end)));
            return line + 1;
        };
        let mode = match first.and_then(Piece::word) {
            Some("scenario") => Mode::List,
            Some("stages") => Mode::Row,
            _ => Mode::Member,
        };
        let (member, next) = self.line(line, start, mode);
        self.settle_inside();
        // Blank lines between the head and this member stay inside the statement.
        if let Some(Item::Statement(statement)) = self.tree.items.last_mut() {
            statement.body.push(Entry::Member(member));
        }
        next
    }

    fn line(&mut self, line: usize, start: usize, mode: Mode) -> (Line, usize) {
        let end = self.source.line_span(self.last_line_of(line)).end;
        let mut cursor = Cursor::new(self.source, start, end);
        match cursor.pieces(mode) {
            Ok((pieces, comment)) => {
                let last = pieces.last().map_or(start, |piece| piece.span.end);
                let next = self.source.line_of(cursor.pos()) + 1;
                (Line { pieces, comment, span: Span::new(start, last), broken: false }, next)
            }
            Err(problem) => {
                self.sink.push(problem);
                let next = line_behind(self.source, start, end);
                (broken(self.source, line, start), next)
            }
        }
    }

    /// The last line that a value which begins on `line` may reach.
    fn last_line_of(&mut self, line: usize) -> usize {
        let (first, last) = self.run;
        if line < first || line >= last {
            let more = (line + 1..self.source.line_count()).take_while(|index| {
                let text = self.source.line(*index);
                text.is_empty() || text.starts_with([' ', '\t', '#', '}', ']'])
            });
            self.run = (line, line + more.count());
        }
        self.run.1
    }
}

/// The words of a line that could not be read, for the names in it.
fn broken(source: &Source, line: usize, start: usize) -> Line {
    let span = Span::new(start, source.line_span(line).end);
    let text = &source.text()[start..span.end];
    let mut pieces = Vec::new();
    let mut at = start;
    for word in text.split([' ', '\t']) {
        if !word.is_empty() {
            let span = Span::new(at, at + word.len());
            pieces.push(Piece { kind: PieceKind::Word(word.to_owned()), span });
        }
        at += word.len() + 1;
    }
    Line { pieces, comment: None, span, broken: true }
}

/// The line behind a value that could not be read: behind its brackets if they close, else the next one.
fn line_behind(source: &Source, start: usize, end: usize) -> usize {
    let (mut depth, mut quoted, mut escaped, mut comment) = (0_usize, false, false, false);
    for (offset, c) in source.text()[start..end].char_indices() {
        match c {
            '\n' => {
                (quoted, escaped, comment) = (false, false, false);
                if depth == 0 {
                    return source.line_of(start + offset) + 1;
                }
            }
            _ if comment => {}
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '#' if !quoted => comment = true,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    source.line_of(end) + 1
}

fn too_many(span: Span) -> Problem {
    Problem::new(
        codes::TOO_MANY_STATEMENTS,
        span,
        format!("more than {STATEMENTS_MAX} statements"),
        "reading stops here",
        "tell one story a file: split it into several scenarios",
    )
}

fn indentation(span: Span, blanks: &str) -> Problem {
    let found = if blanks.contains('\t') {
        "a tab in the indentation"
    } else {
        "a line indented by one blank"
    };
    Problem::new(
        codes::INDENTATION,
        span,
        found,
        "expected no blank, or two and more",
        "begin statements in column one, and lines that belong to them with two blanks",
    )
}

fn stray(span: Span) -> Problem {
    Problem::new(
        codes::STRAY_MEMBER,
        span,
        "an indented line with no statement above it",
        "expected a statement in column one, such as `scenario \"…\"`",
        "remove the blanks before it, or write the statement that it belongs to above it",
    )
}
