//! The names that are bound so far, and what they can be used for.
//!
//! Invariants: a name that was refused once is not reported again as unbound; names of an opening point at
//! the `given` line.

use std::collections::{BTreeMap, BTreeSet};

use super::answerable;
use crate::lang::ast::{At, File, FrameKind, Lane, Name, NamePath, Step, ValueKind, VaryValues};
use crate::lang::codes;
use crate::lang::diagnostic::Problem;
use crate::lang::openings::Opening;
use crate::lang::parse::words::Outcome;
use crate::lang::suggest::nearest;
use crate::lang::tables::Direction;

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding<'f> {
    /// A frame.
    Frame {
        /// On the host's lane.
        host: bool,
        /// Who sent it.
        from: Direction,
        /// Wire name; `None` for `raw`.
        method: Option<&'f str>,
        /// Whether it is answered; `None` for `raw`.
        kind: Option<FrameKind>,
    },
    /// A `stages` table.
    Stages,
    /// A `vary` line of durations.
    Durations,
    /// A `vary` line of JSON values; true if all are whole numbers.
    Json(bool),
}

impl Binding<'_> {
    pub(super) fn vary(values: &VaryValues) -> Self {
        match values {
            VaryValues::Durations(_) => Self::Durations,
            VaryValues::Json(list) => Self::Json(list.iter().all(|value| match &value.kind {
                ValueKind::Number(text) => text.parse::<i32>().is_ok(),
                _ => false,
            })),
        }
    }
}

pub(super) struct Scope<'f> {
    names: BTreeMap<&'f str, (Binding<'f>, At)>,
    lenient: &'f BTreeSet<String>,
    /// Lines of names that are bound anywhere in the file, for "further down".
    later: BTreeMap<&'f str, At>,
    used: BTreeSet<&'f str>,
    answered: BTreeMap<&'f str, At>,
    reported: BTreeSet<&'f str>,
    /// Inside an opening all places are the `given` line.
    given: Option<At>,
    /// The file has an opening.
    opened: bool,
}

impl<'f> Scope<'f> {
    pub(super) fn new(file: &'f File, lenient: &'f BTreeSet<String>) -> Self {
        let mut later = BTreeMap::new();
        let mut note = |name: &'f Option<Name>| {
            if let Some(name) = name {
                later.entry(name.text.as_str()).or_insert(name.at);
            }
        };
        for step in &file.steps {
            match step {
                Step::Act(act) => note(&act.bind),
                Step::ActRace(race) => race.lines.iter().for_each(|act| note(&act.bind)),
                Step::Expect(expect) => note(&expect.bind),
                Step::ExpectRace(race) => race.lines.iter().for_each(|expect| note(&expect.bind)),
                Step::After(_) | Step::Quiet(_) => {}
            }
        }
        Self {
            names: BTreeMap::new(),
            lenient,
            later,
            used: BTreeSet::new(),
            answered: BTreeMap::new(),
            reported: BTreeSet::new(),
            given: None,
            opened: file.given.is_some(),
        }
    }

    pub(super) fn enter_given(&mut self, at: At) {
        self.given = Some(at);
    }

    pub(super) fn leave_given(&mut self) {
        self.given = None;
    }

    pub(super) fn bind(&mut self, name: &'f Name, binding: Binding<'f>) -> Outcome<()> {
        let at = self.given.unwrap_or(name.at);
        let Some((_, first)) = self.names.get(name.text.as_str()) else {
            self.names.insert(&name.text, (binding, at));
            return Ok(());
        };
        let found = format!("the name `{}` is bound twice", name.text);
        let help = format!("choose another name, for example `{}2`", name.text);
        let problem = Problem::new(codes::BOUND_TWICE, at.span, found, "expected a new name", help);
        Err(problem.related(first.span, "it is bound here"))
    }

    /// The binding of a name that is used; `None` if nothing can be said about it.
    fn get(&mut self, text: &'f str, at: At) -> Outcome<Option<(Binding<'f>, At)>> {
        self.used.insert(text);
        if let Some(known) = self.names.get(text) {
            return Ok(Some(*known));
        }
        if self.lenient.contains(text) || !self.reported.insert(text) {
            return Ok(None);
        }
        let opening = Opening::ALL
            .into_iter()
            .filter(|_| !self.opened)
            .find(|opening| opening.names().iter().any(|(name, _)| *name == text));
        let help = match (self.later.get(text), nearest(text, self.names.keys().copied())) {
            (Some(later), _) => {
                format!("it is bound further down, in line {}: move that line up", later.line)
            }
            (None, Some(name)) => format!("did you mean `{name}`?"),
            (None, None) => match opening {
                Some(opening) => format!("`given {}` binds it", opening.name()),
                None => format!("add `as {text}` to the line that brings it"),
            },
        };
        let found = format!("the name `{text}` is not bound");
        let allowed = if self.names.is_empty() {
            "no name is bound before this line".to_owned()
        } else {
            format!("bound here: {}", few(self.names.keys().copied()))
        };
        Err(Problem::new(codes::UNBOUND, at.span, found, allowed, help))
    }

    /// A name in a value.
    pub(super) fn value(&mut self, name: &'f NamePath, own: Option<&Name>) -> Outcome<()> {
        if own.is_some_and(|own| own.text == name.name) {
            let found = format!("`${}` in the line that binds it", name.name);
            let help = "compare with a frame that came before, or leave the member out";
            let allowed = "expected a name that is bound above";
            return Err(Problem::new(codes::UNBOUND, name.at.span, found, allowed, help));
        }
        match self.get(&name.name, name.at)? {
            Some((Binding::Durations, _)) => {
                let found = format!("the duration `${}` in a value", name.name);
                let help =
                    "a duration stands only behind `after`; a value needs `vary` without units";
                Err(wrong_use(name.at, found, "expected a value", help))
            }
            Some((Binding::Stages, _)) if name.path.is_some() => {
                let found = format!("a part of the table `${}`", name.name);
                let help = format!("use the whole table: `subject.stages = ${}`", name.name);
                Err(wrong_use(name.at, found, "expected the name alone", &help))
            }
            _ => Ok(()),
        }
    }

    /// A name behind `after`.
    pub(super) fn duration(&mut self, name: &'f Name) -> Outcome<()> {
        match self.get(&name.text, name.at)? {
            None | Some((Binding::Durations, _)) => Ok(()),
            Some(_) => {
                let found = format!("`${}` is no duration", name.text);
                let help = format!("bind it with units: `vary ${} in 0ms, 1ms`", name.text);
                Err(wrong_use(name.at, found, "expected a `vary` name of durations", &help))
            }
        }
    }

    /// A name where a code or exit code stands.
    pub(super) fn integer(&mut self, name: &'f Name) -> Outcome<()> {
        match self.get(&name.text, name.at)? {
            None | Some((Binding::Json(true), _)) => Ok(()),
            Some(_) => {
                let found = format!("`${}` is no whole number", name.text);
                let help = format!("bind it with numbers: `vary ${} in 1, 5`", name.text);
                Err(wrong_use(name.at, found, "expected a `vary` name of whole numbers", &help))
            }
        }
    }

    /// `of NAME` continues an entity of the same family.
    pub(super) fn same_entity(&mut self, of: &'f Name, method: &str) -> Outcome<()> {
        let Some((binding, first)) = self.get(&of.text, of.at)? else { return Ok(()) };
        let family = |method: &str| method.split('/').next().unwrap_or_default().to_owned();
        let wanted = family(method);
        let is = match binding {
            Binding::Frame { method: Some(bound), .. } if family(bound) == wanted => return Ok(()),
            Binding::Frame { method: Some(bound), .. } => format!("a `{bound}`"),
            Binding::Frame { method: None, .. } => "a raw frame".to_owned(),
            Binding::Stages => "a table of stages".to_owned(),
            Binding::Durations | Binding::Json(_) => "a `vary` value".to_owned(),
        };
        let found = format!("`{}` is {is}, which `{method}` cannot continue", of.text);
        let allowed = format!("expected a name bound to a `{wanted}/…` frame");
        let help = format!("name the frame that began it, or bind it there with `as {}`", of.text);
        Err(Problem::new(codes::NOT_SAME_ENTITY, of.at.span, found, allowed, help)
            .related(first.span, "bound here"))
    }

    /// The name of a request that this side of the lane may answer.
    pub(super) fn request(
        &mut self,
        lane: Lane,
        asked_by: Direction,
        name: &'f Name,
    ) -> Outcome<()> {
        let Some((binding, first)) = self.get(&name.text, name.at)? else { return Ok(()) };
        let why = match binding {
            Binding::Frame { host, .. } if host != lane.is_host() => "is a frame of the other lane",
            Binding::Frame { from, .. } if from != asked_by => "was sent by the same side",
            Binding::Frame { kind, .. } if answerable(kind) => return Ok(()),
            Binding::Frame { .. } => "is a notification, which has no answer",
            Binding::Stages => "is a table of stages",
            Binding::Durations | Binding::Json(_) => "is a `vary` value",
        };
        let (found, arrow) = (
            format!("`{}` {why}", name.text),
            match asked_by {
                Direction::Script => "->",
                Direction::Adapter => "<-",
            },
        );
        let allowed = format!("expected a request bound by `{lane} {arrow} METHOD as NAME`");
        let help = match self.candidates(lane, asked_by).as_slice() {
            [] => format!("bind the request first: `{lane} {arrow} METHOD as {}2`", name.text),
            names => {
                format!("requests that can be answered here: {}", few(names.iter().copied()))
            }
        };
        let at = self.given.unwrap_or(name.at);
        Err(Problem::new(codes::NOT_A_REQUEST, at.span, found, allowed, help)
            .related(first.span, "bound here"))
    }

    fn candidates(&self, lane: Lane, asked_by: Direction) -> Vec<&'f str> {
        let fits = |binding: &Binding<'_>| match binding {
            Binding::Frame { host, from, kind, .. } => {
                *host == lane.is_host() && *from == asked_by && answerable(*kind)
            }
            _ => false,
        };
        let open = self
            .names
            .iter()
            .filter(|(name, (binding, _))| fits(binding) && !self.answered.contains_key(**name));
        open.map(|(name, _)| *name).collect()
    }

    /// Each request is answered once.
    pub(super) fn answered(&mut self, name: &'f Name) -> Outcome<()> {
        let at = self.given.unwrap_or(name.at);
        let Some(first) = self.answered.insert(&name.text, at) else { return Ok(()) };
        let found = format!("`{}` is answered twice", name.text);
        let help = "remove one of the answers; a second answer on the wire is a lie: send it with `-> raw`";
        let allowed = "expected a request that is not answered yet";
        Err(Problem::new(codes::ANSWERED_TWICE, at.span, found, allowed, help)
            .related(first.span, "the first answer is here"))
    }

    /// Tables and axes that nothing uses.
    pub(super) fn unused(&self, file: &File) -> Vec<Problem> {
        let tables = file.stages.iter().map(|table| (&table.name, "stages", "subject.stages = "));
        let varies = file.varies.iter().map(|vary| (&vary.name, "vary", ""));
        let all =
            tables.chain(varies).filter(|(name, _, _)| !self.used.contains(name.text.as_str()));
        all.map(|(name, what, before)| {
            let found = format!("`{what} ${}` is never used", name.text);
            let help = format!("use it: `{before}${}`, or remove the line", name.text);
            let allowed = "expected a line that uses this name";
            Problem::new(codes::NEVER_USED, name.at.span, found, allowed, help)
        })
        .collect()
    }
}

fn wrong_use(at: At, found: String, allowed: &str, help: &str) -> Problem {
    Problem::new(codes::WRONG_USE, at.span, found, allowed, help)
}

/// The first names of a list, and how many more there are.
fn few<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match all.len().checked_sub(NAMES_MAX).filter(|more| *more > 0) {
        Some(more) => format!("{} and {more} more", all[..NAMES_MAX].join(", ")),
        None => all.join(", "),
    }
}

/// Most names that a message lists.
const NAMES_MAX: usize = 12;
