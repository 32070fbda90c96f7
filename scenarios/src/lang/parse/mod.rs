//! Statements into a scenario, without stopping at the first error.
//!
//! Inputs: path and bytes of a file. Outputs: what could be understood, and every problem in the order of
//! the file. Invariants: a statement that cannot be understood is left out of the tree, names that it would
//! have bound count as bound, and problems that only follow from it are not reported; without diagnostics
//! the tree keeps the promises of [`super::ast`].
//! It does not know how a scenario runs, nor what a host would refuse (`S2xxx`). Rules: MSG-2, DSL-1..14.

mod bind;
mod frame;
mod header;
mod member;
mod outcome;
mod preamble;
mod steps;
mod value;
mod words;

use std::collections::BTreeSet;

use super::ast::{Check, File, Given, Header, Never, StageTable, Vary};
use super::codes;
use super::diagnostic::{Diagnostic, Problem, Sink};
use super::limits::{FILE_BYTES_MAX, LINE_BYTES_MAX};
use super::openings::Opening;
use super::source::{Source, Span};
use super::suggest::nearest;
use super::syntax::{self, Item, Line, Piece, Statement, Tree};
use super::tables::{self, KEYWORDS, LANES};
use steps::Steps;
use words::{Outcome, Words};

/// Everything known about one file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The text; what is no UTF-8 is replaced.
    pub source: Source,
    /// The form; what the formatter prints.
    pub tree: Tree,
    /// The meaning, as far as it was understood. `None` without a `scenario` line.
    pub file: Option<File>,
    /// What is wrong, in the order of the file. Empty means the file may run.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a scenario. `path` is only shown.
#[must_use]
pub fn parse(path: &str, bytes: &[u8]) -> (Option<File>, Vec<Diagnostic>) {
    let reading = read(path, bytes);
    (reading.file, reading.diagnostics)
}

/// Reads a scenario and keeps its form.
#[must_use]
pub fn read(path: &str, bytes: &[u8]) -> Reading {
    let (source, refused) = open(path, bytes);
    let mut sink = Sink::new(&source);
    let (tree, file) = match refused {
        Some(problem) => {
            sink.push(problem);
            (Tree::default(), None)
        }
        None => {
            let tree = syntax::read(&source, &mut sink);
            let file = Parser::new(&source, &mut sink, true).run(&tree);
            (tree, file)
        }
    };
    let diagnostics = sink.finish();
    Reading { source, tree, file, diagnostics }
}

/// The text of a file, or why it is not read at all.
fn open(path: &str, bytes: &[u8]) -> (Source, Option<Problem>) {
    if bytes.len() > FILE_BYTES_MAX {
        let problem = Problem::new(
            codes::FILE_TOO_LARGE,
            Span::new(0, 0),
            "the file is too large",
            format!("expected at most 1 MiB ({FILE_BYTES_MAX} bytes)"),
            "tell one story a file; large payloads belong in a Rust test",
        );
        return (Source::new(path, ""), Some(problem));
    }
    // A mark that some editors write at the start says nothing.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let source = Source::new(path, String::from_utf8_lossy(bytes));
            let at = error.valid_up_to();
            let problem = Problem::new(
                codes::NOT_UTF8,
                Span::new(at, at + '\u{fffd}'.len_utf8()),
                format!("byte 0x{:02X} is not UTF-8", bytes[at]),
                "expected UTF-8 text",
                "save the file as UTF-8; to send such a byte write `-> bytes \"\\xHH\"`",
            );
            return (source, Some(problem));
        }
    };
    let source = Source::new(path, text);
    if let Some(at) = text.find('\0') {
        let problem = Problem::new(
            codes::NOT_UTF8,
            Span::new(at, at + 1),
            "a zero byte: this is no text file",
            "expected text",
            "name a .scn file; to send such a byte write `-> bytes \"\\x00\"`",
        );
        return (source, Some(problem));
    }
    let long = (0..source.line_count())
        .map(|line| source.line_span(line))
        .find(|span| span.end - span.start > LINE_BYTES_MAX);
    let problem = long.map(|span| {
        Problem::new(
            codes::LINE_TOO_LONG,
            Span::new(
                span.start,
                span.start + source.text()[span.start..].chars().next().map_or(0, char::len_utf8),
            ),
            format!("a line of {} bytes", span.end - span.start),
            format!("expected at most {LINE_BYTES_MAX} bytes a line"),
            "break the value over several indented lines, one element each",
        )
    });
    (source, problem)
}

/// Reads the statements of an opening; they are written here and have no problems.
pub(super) fn opening_steps(opening: Opening) -> Vec<super::ast::Step> {
    let source = Source::new(opening.name(), opening.text());
    let mut sink = Sink::new(&source);
    let tree = syntax::read(&source, &mut sink);
    let mut parser = Parser::new(&source, &mut sink, false);
    parser.statements(&tree);
    let steps = parser.steps.finish();
    assert!(sink.is_empty(), "opening `{}`: {:?}", opening.name(), sink.finish());
    steps
}

struct Parser<'s, 'k, 'd> {
    source: &'s Source,
    sink: &'k mut Sink<'d>,
    /// A file needs a `scenario` line, an opening has none.
    whole: bool,
    title: Option<(String, Span)>,
    header: Header,
    /// Keys that were written, even if their value was refused.
    keys: BTreeSet<String>,
    stages: Vec<StageTable>,
    varies: Vec<Vary>,
    given: Option<Given>,
    steps: Steps,
    checks: Vec<Check>,
    nevers: Vec<Never>,
    /// Names that lines bind which were not understood.
    lenient: BTreeSet<String>,
    /// Some statement was not understood.
    failed: bool,
    /// A preamble comes before this.
    timeline: Option<Span>,
}

impl<'s, 'k, 'd> Parser<'s, 'k, 'd> {
    fn new(source: &'s Source, sink: &'k mut Sink<'d>, whole: bool) -> Self {
        Self {
            source,
            sink,
            whole,
            title: None,
            header: Header::default(),
            keys: BTreeSet::new(),
            stages: Vec::new(),
            varies: Vec::new(),
            given: None,
            steps: Steps::default(),
            checks: Vec::new(),
            nevers: Vec::new(),
            lenient: BTreeSet::new(),
            failed: false,
            timeline: None,
        }
    }

    fn run(mut self, tree: &Tree) -> Option<File> {
        self.statements(tree);
        let (title, span) = self.title.take()?;
        if !self.keys.contains("id") && !self.failed {
            self.sink.push(header::no_id(span));
        }
        let file = File {
            title,
            at: self.source.at(span),
            header: self.header,
            stages: self.stages,
            varies: self.varies,
            given: self.given,
            steps: self.steps.finish(),
            checks: self.checks,
            nevers: self.nevers,
        };
        if !self.failed {
            outcome::asserts_something(&file, span, self.sink);
            steps::bounded(&file, self.sink);
        }
        bind::check(&file, &self.lenient, self.failed, self.sink);
        Some(file)
    }

    fn statements(&mut self, tree: &Tree) {
        let mut first = self.whole;
        for item in &tree.items {
            let Item::Statement(statement) = item else { continue };
            if std::mem::take(&mut first) && !begins_with(&statement.head, "scenario") {
                self.report(no_scenario(self.source, statement));
                // Everything else is still looked at, under a title of its own.
                self.title = Some((String::new(), statement.head.span));
                // A misspelt `scenario` is no other statement, and its lines were not cut as a header.
                let word = statement.head.pieces.first().and_then(Piece::word).unwrap_or_default();
                if nearest(word, ["scenario"]).is_some() {
                    continue;
                }
            }
            self.failed |= statement.head.broken;
            let outcome = if statement.head.broken {
                self.broken_head(statement);
                Ok(())
            } else {
                self.statement(statement)
            };
            if let Err(problem) = outcome {
                self.report(problem);
                self.broken_head(statement);
            }
        }
        if first {
            let span = Span::new(0, 0);
            self.sink.push(Problem::new(
                codes::NO_SCENARIO,
                span,
                "a file without statements",
                "expected `scenario \"title\"`",
                "begin with `scenario \"what the story shows\"` and an indented `id` line",
            ));
        }
    }

    fn report(&mut self, problem: Problem) {
        self.failed = true;
        self.sink.push(problem);
    }

    fn statement(&mut self, statement: &Statement) -> Outcome<()> {
        let head = &statement.head;
        let words = Words::new(self.source, head);
        match head.pieces.first().and_then(Piece::word) {
            Some("scenario") => self.scenario(statement, words),
            Some("stages") => self.stage_table(statement, words),
            Some("vary") => self.vary(statement, words),
            Some("given") => self.given(statement, words),
            Some("check") => self.check(statement, words),
            Some("never") => self.never(statement, words),
            Some("after") => self.after(statement, words),
            Some("quiet") => self.quiet(statement, words),
            Some("race" | "lost") => self.frame_line(statement, words),
            Some(word) if frame::lane(word).is_some() => self.frame_line(statement, words),
            _ => Err(unknown_start(&words, head)),
        }
    }

    /// Keeps what a statement that was not understood would have bound.
    fn broken_head(&mut self, statement: &Statement) {
        let words: Vec<&str> = statement.head.pieces.iter().filter_map(Piece::word).collect();
        for pair in words.windows(2) {
            if matches!(pair[0], "as" | "stages" | "vary") {
                self.lenient.insert(pair[1].trim_start_matches('$').to_owned());
            }
        }
        match words.first().copied() {
            Some("scenario") => {
                self.title.get_or_insert((String::new(), statement.head.span));
                self.header_rows(statement);
            }
            Some("given") => {
                for opening in Opening::ALL {
                    self.lenient.extend(opening.names().iter().map(|(name, _)| (*name).to_owned()));
                }
                self.steps.interrupt();
            }
            Some("stages" | "vary" | "check" | "never") => {}
            _ => {
                self.timeline.get_or_insert(statement.head.span);
                self.steps.interrupt();
            }
        }
    }

    /// The statement has no lines of its own.
    fn no_members(&mut self, statement: &Statement, what: &str) {
        for line in member::lines(statement) {
            self.failed |= line.broken;
            // A line in the wrong column was reported for that.
            let start = self.source.line_span(self.source.line_of(line.span.start)).start;
            let indent = &self.source.text()[start..line.span.start];
            if !line.broken && indent.len() >= 2 && !indent.contains('\t') {
                self.report(member::none_here(line.span, what));
                return;
            }
        }
    }
}

fn begins_with(head: &Line, word: &str) -> bool {
    head.pieces.first().is_some_and(|piece| piece.is_word(word))
}

fn no_scenario(source: &Source, statement: &Statement) -> Problem {
    let words = Words::new(source, &statement.head);
    let first = statement.head.pieces.first().and_then(Piece::word).unwrap_or_default();
    let help = match nearest(first, ["scenario"]) {
        Some(_) => "did you mean `scenario`? The first line is `scenario \"title\"`",
        None => "put `scenario \"what the story shows\"` and an indented `id` line above it",
    };
    let found = format!("the file begins with {}", words.found());
    Problem::new(codes::NO_SCENARIO, words.here(), found, "expected `scenario \"title\"`", help)
}

/// The first word is neither a keyword nor a lane.
fn unknown_start(words: &Words<'_>, head: &Line) -> Problem {
    let found = words.found();
    let first = head.pieces.first().and_then(Piece::word).unwrap_or_default();
    let arrow = head
        .pieces
        .get(1)
        .is_some_and(|piece| ["->", "<-", "!"].iter().any(|arrow| piece.is_word(arrow)));
    if arrow {
        let help = match nearest(first, LANES.iter().copied()) {
            Some(lane) => format!("did you mean `{lane}`?"),
            None => {
                "the adapter is the other end of every lane: name the neighbour, `editor` or `host`"
                    .into()
            }
        };
        let allowed = "expected `editor`, `host`, or `host1` to `host9` for one of several hosts";
        let found = format!("unknown lane {found}");
        return Problem::new(codes::UNKNOWN_LANE, words.here(), found, allowed, help);
    }
    let known = || KEYWORDS.iter().chain(LANES).copied();
    let help = match first {
        "sleep" | "wait" | "delay" => {
            "there is no sleep: `after 30s` moves the virtual clock".to_owned()
        }
        "expect" | "assert" => {
            "write `editor <- …` or `host <- …` for what the adapter must do".into()
        }
        glued if glued.contains("->") || glued.contains("<-") => {
            "put blanks around the arrow: `host -> turn/started`".into()
        }
        _ => match nearest(first, known()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => {
                "a line that belongs to the statement above it is indented by two blanks".into()
            }
        },
    };
    let allowed = format!("expected {}", tables::list(&known().collect::<Vec<_>>()));
    Problem::new(
        codes::UNKNOWN_KEYWORD,
        words.here(),
        format!("unknown keyword {found}"),
        allowed,
        help,
    )
}
