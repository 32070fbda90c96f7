//! Lines with an arrow: `LANE -> …`, `LANE <- …`, `LANE ! …`.
//!
//! Inputs: the words of the line. Outputs: an act or an expectation without its member lines.
//! Invariant: a method is known for its lane and direction. Rules: DSL-2, DSL-3, DSL-5, DSL-8, DSL-11.

use super::Parser;
use super::member;
use super::value::{Place, convert};
use super::words::{Outcome, Words, duration};
use crate::lang::ast::{Act, ActKind, Expect, ExpectKind, Fault, Lane, Name};
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::source::Span;
use crate::lang::suggest::nearest;
use crate::lang::syntax::{PieceKind, Statement};
use crate::lang::tables::{self, Direction, EDITOR_FAULTS, FAULTS, FrameKind};

/// What a line with an arrow is.
#[derive(Clone, Debug)]
pub(super) enum Arrow {
    Act(Act),
    Expect(Expect),
}

/// `editor`, `host`, `host1` to `host9`.
pub(super) fn lane(word: &str) -> Option<Lane> {
    match word {
        "editor" => Some(Lane::Editor),
        "host" => Some(Lane::Host),
        _ => {
            let digit = word.strip_prefix("host")?;
            let number = digit.parse::<u8>().ok().filter(|n| (1..=9).contains(n))?;
            (digit.len() == 1).then_some(Lane::HostNumber(number))
        }
    }
}

impl Parser<'_, '_, '_> {
    /// `[race] [lost] LANE …` with its member lines.
    pub(super) fn frame_line(
        &mut self,
        statement: &Statement,
        mut words: Words<'_>,
    ) -> Outcome<()> {
        let line = words.line();
        self.timeline.get_or_insert(line);
        let race = words.peek().map(|piece| piece.span).filter(|_| words.eat("race"));
        let lost = words.peek().map(|piece| piece.span).filter(|_| words.eat("lost"));
        if let Some(piece) = words.peek().filter(|piece| piece.is_word("race")) {
            let help = "write `race lost host -> …`";
            return Err(bad_lost(piece.span, "`race` behind `lost`", help));
        }
        let mut arrow = arrow(&mut words, race.is_some() || lost.is_some())?;
        if let Some(span) = lost {
            lose(&mut arrow, span)?;
        }
        self.members(statement, &mut arrow);
        self.steps.push(arrow, race).or_else(|problem| {
            self.report(problem);
            Ok(())
        })
    }

    fn members(&mut self, statement: &Statement, arrow: &mut Arrow) {
        let what = match arrow {
            Arrow::Act(Act { kind: ActKind::Raw(_), .. }) => Some("`raw`"),
            Arrow::Act(Act { kind: ActKind::Bytes(_), .. }) => Some("`bytes`"),
            Arrow::Act(Act { kind: ActKind::Fault(_), .. }) => Some("a fault"),
            Arrow::Expect(Expect { kind: ExpectKind::Text(_), .. }) => Some("`text`"),
            Arrow::Expect(Expect { kind: ExpectKind::Thought(_), .. }) => Some("`thought`"),
            Arrow::Expect(Expect { kind: ExpectKind::Close, .. }) => Some("`close`"),
            Arrow::Act(_) | Arrow::Expect(_) => None,
        };
        if let Some(what) = what {
            return self.no_members(statement, what);
        }
        let mut seen = member::Seen::default();
        for line in member::lines(statement) {
            self.failed |= line.broken;
            if line.broken {
                continue;
            }
            let words = Words::new(self.source, line);
            let outcome = match arrow {
                Arrow::Act(act) => member::set(words, &mut seen).map(|set| act.sets.push(set)),
                Arrow::Expect(expect) => {
                    member::matching(words, &mut seen).map(|one| expect.matches.push(one))
                }
            };
            if let Err(problem) = outcome {
                self.report(problem);
            }
        }
    }
}

/// `LANE ARROW …` to the end of the line.
fn arrow(words: &mut Words<'_>, prefixed: bool) -> Outcome<Arrow> {
    let at = words.source.at(words.line());
    let lane = take_lane(words, prefixed)?;
    let (text, span) = words.word("expected `->`, `<-` or `!`", ARROWS)?;
    match text {
        "->" => {
            let (kind, bind) = act(words, lane)?;
            Ok(Arrow::Act(Act { lane, lost: false, kind, bind, sets: Vec::new(), at }))
        }
        "<-" => {
            let (kind, bind) = expectation(words, lane)?;
            Ok(Arrow::Expect(Expect { lane, kind, bind, matches: Vec::new(), at }))
        }
        "!" => {
            let kind = ActKind::Fault(fault(words, lane)?);
            Ok(Arrow::Act(Act { lane, lost: false, kind, bind: None, sets: Vec::new(), at }))
        }
        _ => {
            let found = format!("`{text}` where an arrow should be");
            Err(Problem::new(codes::INCOMPLETE, span, found, "expected `->`, `<-` or `!`", ARROWS))
        }
    }
}

const ARROWS: &str = "`->` the script acts, `<-` the adapter must act, `!` a fault of the process";

/// The lane of a line, behind `race`, `lost`, `check` or `never`.
pub(super) fn take_lane(words: &mut Words<'_>, prefixed: bool) -> Outcome<Lane> {
    let (text, span) = words.word("expected a lane: `editor` or `host`", ARROWS)?;
    lane(text).ok_or_else(|| {
        let help = match nearest(text, tables::LANES.iter().copied()) {
            Some(lane) => format!("did you mean `{lane}`?"),
            None if prefixed && text.contains('/') => "name the lane before the method".to_owned(),
            None if text == "after" || text == "quiet" => {
                "time does not race: only lines with an arrow can be joined".to_owned()
            }
            None => "write `editor` or `host`, then an arrow".to_owned(),
        };
        let allowed = "expected `editor`, `host`, or `host1` to `host9` for one of several hosts";
        Problem::new(codes::UNKNOWN_LANE, span, format!("unknown lane `{text}`"), allowed, help)
    })
}

const ANSWER: &str =
    "`NAME` is what `as NAME` bound; a line such as `host <- turn/start as start` binds it";
const NOTHING_MORE: &str = "write one act a line; members go on indented lines below it";

fn act(words: &mut Words<'_>, lane: Lane) -> Outcome<(ActKind, Option<Name>)> {
    let (text, span) = words.word(
        &allowed(lane, Direction::Script),
        &format!(
            "say what the {lane} does, for example `{lane} -> {}`",
            example(lane, Direction::Script)
        ),
    )?;
    let done = match text {
        "ok" => (ActKind::Ok { request: words.bound_name(ANSWER)? }, None),
        "error" => {
            let (request, code) = error(words)?;
            (ActKind::Error { request, code }, None)
        }
        "raw" => {
            let bind = bind(words)?;
            let value =
                words.value("write the whole frame: `host -> raw {\"jsonrpc\": \"2.0\", …}`")?;
            (ActKind::Raw(convert(words.source, value, Place::Act)?), bind)
        }
        "bytes" => (ActKind::Bytes(bytes(words)?), None),
        _ => {
            let kind = method(lane, Direction::Script, text, span)?;
            let bind = bind(words)?;
            let of = words
                .eat("of")
                .then(|| words.bound_name("`of NAME` continues what `as NAME` bound"));
            let of = of.transpose()?;
            if words.peek().is_some_and(|piece| piece.is_word("as")) {
                return Err(
                    words.missing("expected `as NAME` before `of NAME`", "write `as NEW of OLD`")
                );
            }
            (ActKind::Send { method: text.to_owned(), kind, of }, bind)
        }
    };
    words.end(NOTHING_MORE)?;
    Ok(done)
}

fn bytes(words: &mut Words<'_>) -> Outcome<Vec<u8>> {
    let help = "write the bytes as text: `host -> bytes \"{not json\\n\"`; `\\xHH` is any byte";
    match words.peek().map(|piece| &piece.kind) {
        Some(PieceKind::Bytes(bytes)) => {
            words.next();
            Ok(bytes.clone())
        }
        _ => Err(words.missing("expected text in double quotes", help)),
    }
}

fn expectation(words: &mut Words<'_>, lane: Lane) -> Outcome<(ExpectKind, Option<Name>)> {
    let (text, span) = words.word(
        &allowed(lane, Direction::Adapter),
        &format!(
            "say what must come, for example `{lane} <- {}`",
            example(lane, Direction::Adapter)
        ),
    )?;
    let done = match text {
        "ok" => (ExpectKind::Ok { request: words.bound_name(ANSWER)? }, None),
        "error" => {
            let (request, code) = error(words)?;
            (ExpectKind::Error { request, code }, None)
        }
        "close" => (ExpectKind::Close, None),
        "text" if lane == Lane::Editor => (ExpectKind::Text(words.text(TEXT)?), None),
        "thought" if lane == Lane::Editor => (ExpectKind::Thought(words.text(TEXT)?), None),
        _ => {
            let kind = method(lane, Direction::Adapter, text, span)?;
            let bind = bind(words)?;
            (ExpectKind::Frame { method: text.to_owned(), kind }, bind)
        }
    };
    let help = match words.peek().and_then(|piece| piece.word()) {
        Some("of") => {
            "`of` continues an entity where the script acts; compare an id with `path = $name`"
        }
        _ => "write one expectation a line; members go on indented lines below it",
    };
    words.end(help)?;
    Ok(done)
}

pub(super) const TEXT: &str = "write the text that must come next: `editor <- text \"one \"`";

/// `NAME CODE` behind `error`.
pub(super) fn error(words: &mut Words<'_>) -> Outcome<(Name, crate::lang::ast::Number)> {
    let help = "`error NAME CODE` answers the frame bound with `as NAME`, for example `error start -32603`";
    let request = words.bound_name(help)?;
    Ok((request, words.number("an error code", (i64::from(i32::MIN), i64::from(i32::MAX)), help)?))
}

fn bind(words: &mut Words<'_>) -> Outcome<Option<Name>> {
    let name =
        words.eat("as").then(|| words.bound_name("write `as NAME`; later lines say `$NAME`"));
    name.transpose()
}

fn fault(words: &mut Words<'_>, lane: Lane) -> Outcome<Fault> {
    let allowed = if lane.is_host() { FAULTS } else { EDITOR_FAULTS };
    let expected = format!("expected {}", tables::list(allowed));
    let (text, span) = words.word(&expected, "name the fault, for example `host ! eof`")?;
    let fault = match text {
        _ if !allowed.contains(&text) => {
            let help = match nearest(text, allowed.iter().copied()) {
                Some(word) => format!("did you mean `{word}`?"),
                None if FAULTS.contains(&text) => {
                    format!("only a host can do this: `host ! {text}`")
                }
                None => "`eof` ends the output, `exit CODE` and `kill` end the host".to_owned(),
            };
            let found = format!("unknown fault `{text}`");
            return Err(Problem::new(codes::UNKNOWN_FAULT, span, found, expected, help));
        }
        "exit" => Fault::Exit(words.number("an exit code", (0, 255), "write `host ! exit 5`")?),
        "kill" => Fault::Kill,
        "stderr" => Fault::Stderr(words.text("write the line: `host ! stderr \"not logged in\"`")?),
        "stall-read" => Fault::StallRead,
        "resume-read" => Fault::ResumeRead,
        "close-stdin" => Fault::CloseStdin,
        "hold" => Fault::Hold,
        "release" => Fault::Release,
        "delay" => {
            let help = "write how long each message takes: `host ! delay 20ms`";
            let (text, span) = words.word("expected a duration", help)?;
            Fault::Delay(duration(text, span)?)
        }
        "crash" => Fault::Crash,
        "bounce" => Fault::Bounce,
        _ => Fault::Eof,
    };
    words.end("write one fault a line")?;
    Ok(fault)
}

/// What may stand behind an arrow besides methods.
const fn replies(lane: Lane, direction: Direction) -> &'static [&'static str] {
    match (direction, lane.is_host()) {
        (Direction::Script, _) => &["ok", "error", "raw", "bytes"],
        (Direction::Adapter, true) => &["ok", "error", "close"],
        (Direction::Adapter, false) => &["ok", "error", "close", "text", "thought"],
    }
}

/// A method that stands often behind this arrow.
const fn example(lane: Lane, direction: Direction) -> &'static str {
    match (lane.is_host(), direction) {
        (true, Direction::Script) => "approval/updated",
        (false, Direction::Script) => "session/prompt",
        (true, Direction::Adapter) => "turn/start",
        (false, Direction::Adapter) => "session/request_permission",
    }
}

/// What may stand behind an arrow, for messages.
fn allowed(lane: Lane, direction: Direction) -> String {
    let words: Vec<String> =
        replies(lane, direction).iter().map(|word| format!("`{word}`")).collect();
    let example = example(lane, direction);
    format!("expected {} or a method such as `{example}`", words.join(", "))
}

/// The kind of a method, or why it cannot stand here.
pub(super) fn method(
    lane: Lane,
    direction: Direction,
    text: &str,
    span: Span,
) -> Outcome<FrameKind> {
    let host = lane.is_host();
    if let Some(kind) = tables::frame_kind(host, direction, text) {
        return Ok(kind);
    }
    let (other, arrow) = match direction {
        Direction::Script => (Direction::Adapter, "<-"),
        Direction::Adapter => (Direction::Script, "->"),
    };
    if tables::frame_kind(host, other, text).is_some() {
        let (found, help) = match direction {
            Direction::Script => ("is sent by the adapter", format!("write `{lane} <- {text}`")),
            Direction::Adapter => ("is sent to the adapter", format!("write `{lane} -> {text}`")),
        };
        let found = format!("`{text}` {found}");
        let allowed = format!("expected `{arrow}` for this method");
        return Err(Problem::new(codes::WRONG_DIRECTION, span, found, allowed, help));
    }
    let names = tables::method_names(host, direction);
    let what = if text.contains('/') { "method" } else { "reply" };
    let help = match nearest(text, replies(lane, direction).iter().copied().chain(names)) {
        Some("error") => {
            "did you mean `error`? `error NAME CODE` answers the frame bound with `as NAME`"
                .to_owned()
        }
        Some("ok") => {
            "did you mean `ok`? `ok NAME` answers the frame bound with `as NAME`".to_owned()
        }
        Some(word) => format!("did you mean `{word}`?"),
        None => elsewhere(lane, direction, text),
    };
    let found = format!("unknown {what} `{text}`");
    Err(Problem::new(codes::UNKNOWN_METHOD, span, found, allowed(lane, direction), help))
}

fn elsewhere(lane: Lane, direction: Direction, text: &str) -> String {
    let (other, name) = if lane.is_host() { (false, "editor") } else { (true, "host") };
    for (way, arrow) in [(Direction::Script, "->"), (Direction::Adapter, "<-")] {
        if tables::frame_kind(other, way, text).is_some() {
            return format!("this is a method of the other lane: write `{name} {arrow} {text}`");
        }
    }
    match direction {
        Direction::Script => {
            format!(
                "to send what is in no schema write `{lane} -> raw {{\"method\": \"{text}\", …}}`"
            )
        }
        Direction::Adapter if matches!(text, "text" | "thought") => {
            format!("only an editor reads text: write `editor <- {text} \"…\"`")
        }
        Direction::Adapter => "the adapter sends only methods of the two protocols".to_owned(),
    }
}

fn lose(arrow: &mut Arrow, span: Span) -> Outcome<()> {
    match arrow {
        Arrow::Act(Act { lane, kind: ActKind::Send { kind, method, .. }, lost, .. })
            if lane.is_host() && *kind == FrameKind::Notification =>
        {
            if fake_msp::profiles::PROTECTED.contains(&method.as_str()) {
                let found = format!("`lost` before `{method}`");
                let help = "a host never loses it; lose the `item/…` or `turn/…` event before it";
                return Err(bad_lost(span, found, help));
            }
            *lost = true;
            Ok(())
        }
        Arrow::Act(_) => {
            let help = "only events can be lost; to leave an answer out, write no line for it";
            Err(bad_lost(span, "`lost` before a line that is no event of the host", help))
        }
        Arrow::Expect(_) => {
            let help = "the adapter loses nothing; write `never …` for what must not come";
            Err(bad_lost(span, "`lost` before an expectation", help))
        }
    }
}

fn bad_lost(span: Span, found: impl Into<String>, help: &str) -> Problem {
    let allowed = "expected `lost host -> EVENT`, for example `lost host -> item/completed`";
    Problem::new(codes::BAD_LOST, span, found, allowed, help)
}
