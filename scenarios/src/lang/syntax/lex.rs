//! Cuts lines into words, commas, strings and values.
//!
//! Inputs: the text of one statement. Outputs: pieces with spans. Invariants: a word never holds a blank
//! or begins a comment; a value may go on over lines that are indented, empty, comments or
//! begin with a closing bracket, and nothing else may. It does not know the grammar of statements.

use super::tree::{Comment, Piece, PieceKind};
use super::{string, value};
use crate::lang::diagnostic::Problem;
use crate::lang::source::{Source, Span};

/// How a line is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A statement: words, strings, values; what follows a word `=` is a value.
    Head,
    /// A header row or a `vary` line: commas are pieces of their own.
    List,
    /// A `stages` row: words and strings, brackets are letters.
    Row,
    /// A member line: a path, then as in [`Mode::Head`].
    Member,
}

/// A place in the text of one statement.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'s> {
    source: &'s Source,
    pos: usize,
    /// End of the statement: of the last line that may belong to it.
    end: usize,
}

impl<'s> Cursor<'s> {
    pub(crate) fn new(source: &'s Source, pos: usize, end: usize) -> Self {
        Self { source, pos, end }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn source(&self) -> &'s Source {
        self.source
    }

    /// What is left of the statement.
    pub(super) fn rest(&self) -> &'s str {
        &self.source.text()[self.pos..self.end]
    }

    /// What is left of the line, without its end.
    pub(super) fn rest_of_line(&self) -> &'s str {
        let rest = self.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        if line.len() < rest.len() { line.strip_suffix('\r').unwrap_or(line) } else { line }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.pos += next.len_utf8();
        Some(next)
    }

    /// The next character unless the line ends here.
    pub(super) fn bump_in_line(&mut self) -> Option<char> {
        if self.rest_of_line().is_empty() { None } else { self.bump() }
    }

    /// Skips `text` if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest_of_line().starts_with(text);
        if found {
            self.pos += text.len();
        }
        found
    }

    /// Skips bytes that are known to be whole characters; stays in the line.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.pos += bytes.min(self.rest_of_line().len());
    }

    /// Skips blanks of this line.
    pub(super) fn blanks(&mut self) {
        let rest = self.rest_of_line();
        self.pos += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Goes on behind the end of this line.
    pub(super) fn next_line(&mut self) {
        let rest = self.rest();
        self.pos += rest.find('\n').map_or(rest.len(), |end| end + 1);
    }

    /// A comment from here to the end of the line, if one begins here.
    pub(super) fn comment(&mut self) -> Option<Comment> {
        let line = self.rest_of_line();
        if !line.starts_with('#') {
            return None;
        }
        let span = Span::new(self.pos, self.pos + line.len());
        self.pos = span.end;
        Some(Comment { text: tidy_comment(line), span })
    }

    /// A run of characters up to a blank, or up to a comma if they separate.
    fn word(&mut self, commas: bool) -> Piece {
        let rest = self.rest_of_line();
        let stop = |c: char| c == ' ' || c == '\t' || (commas && c == ',');
        let length = rest.find(stop).unwrap_or(rest.len());
        self.piece_of(length)
    }

    /// A run of characters up to a blank, where `["…"]` may hold blanks.
    fn path(&mut self) -> Piece {
        let rest = self.rest_of_line();
        let (mut quoted, mut escaped, mut length) = (false, false, rest.len());
        for (at, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' if quoted || rest[..at].ends_with('[') => quoted = !quoted,
                ' ' | '\t' if !quoted => {
                    length = at;
                    break;
                }
                _ => {}
            }
        }
        self.piece_of(length)
    }

    fn piece_of(&mut self, length: usize) -> Piece {
        let text = self.rest_of_line()[..length].to_owned();
        let span = Span::new(self.pos, self.pos + length);
        self.pos = span.end;
        Piece { kind: PieceKind::Word(text), span }
    }

    /// All pieces of a line and the comment behind them. The cursor ends behind the last line of it.
    pub(super) fn pieces(&mut self, mode: Mode) -> Result<(Vec<Piece>, Option<Comment>), Problem> {
        let mut pieces: Vec<Piece> = Vec::new();
        loop {
            self.blanks();
            if let Some(comment) = self.comment() {
                return Ok((pieces, Some(comment)));
            }
            let Some(next) = self.rest_of_line().chars().next() else { return Ok((pieces, None)) };
            let start = self.pos;
            let value_due = mode != Mode::List
                && mode != Mode::Row
                && pieces.last().is_some_and(|last| last.is_word("="));
            let first_of_member = mode == Mode::Member && pieces.is_empty();
            let piece = match next {
                _ if value_due => self.value_piece()?,
                _ if first_of_member => self.path(),
                '"' if pieces.last().is_some_and(|last| last.is_word("bytes")) => {
                    let kind = PieceKind::Bytes(string::bytes(self)?);
                    Piece { kind, span: Span::new(start, self.pos) }
                }
                '"' => self.value_piece()?,
                '{' | '[' if mode != Mode::Row => self.value_piece()?,
                ',' if mode == Mode::List => {
                    self.bump();
                    Piece { kind: PieceKind::Comma, span: Span::new(start, self.pos) }
                }
                _ if pieces.last().is_some_and(|last| last.is_word("where")) => self.path(),
                _ => self.word(mode == Mode::List),
            };
            pieces.push(piece);
        }
    }

    fn value_piece(&mut self) -> Result<Piece, Problem> {
        let value = value::read(self)?;
        let span = value.span;
        Ok(Piece { kind: PieceKind::Value(value), span })
    }
}

/// A comment as it is kept: without blanks at its end.
fn tidy_comment(text: &str) -> String {
    text.trim_end().chars().map(|c| if c == '\t' { ' ' } else { c }).collect()
}
