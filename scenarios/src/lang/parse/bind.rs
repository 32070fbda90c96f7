//! Names: each is bound once, before it is used, and used for what it is (`S1xxx`).
//!
//! Inputs: a scenario. Outputs: problems. Invariants: all names share one space; the lines of one race see
//! each other's names, because any of them may come first; an act sees its own name (the id is made before
//! the frame goes out), an expectation does not; `check` and `never` see all names.
//! It does not know values. Rules: DSL-3, DSL-4, DSL-12, DSL-14.

mod scope;

use std::collections::BTreeSet;

use scope::{Binding, Scope};

use crate::lang::ast::{
    Act, ActKind, CheckKind, Expect, ExpectKind, Fault, File, FrameKind, Lane, Name, NamePath,
    Number, Step, Test, Unwanted, Wait,
};
use crate::lang::diagnostic::Sink;
use crate::lang::tables::Direction;

/// Reports every misuse of a name. Names in `lenient` are not known well enough to be judged.
pub(super) fn check(file: &File, lenient: &BTreeSet<String>, failed: bool, sink: &mut Sink<'_>) {
    let mut binder = Binder { scope: Scope::new(file, lenient), sink };
    for table in &file.stages {
        binder.bind(&table.name, Binding::Stages);
    }
    for vary in &file.varies {
        binder.bind(&vary.name, Binding::vary(&vary.values));
    }
    if let Some(given) = &file.given {
        binder.scope.enter_given(given.at);
        for step in &given.steps {
            binder.step(step);
        }
        binder.scope.leave_given();
    }
    for step in &file.steps {
        binder.step(step);
    }
    binder.outcome(file);
    if !failed {
        binder.scope.unused(file).into_iter().for_each(|problem| binder.sink.push(problem));
    }
}

struct Binder<'f, 'k, 'd> {
    scope: Scope<'f>,
    sink: &'k mut Sink<'d>,
}

impl<'f> Binder<'f, '_, '_> {
    fn step(&mut self, step: &'f Step) {
        match step {
            Step::Act(act) => self.acts(std::slice::from_ref(act)),
            Step::ActRace(race) => self.acts(&race.lines),
            Step::Expect(expect) => self.expects(std::slice::from_ref(expect)),
            Step::ExpectRace(race) => self.expects(&race.lines),
            Step::After(after) => {
                if let Wait::Name(name) = &after.wait {
                    let outcome = self.scope.duration(name);
                    self.report(outcome);
                }
            }
            Step::Quiet(_) => {}
        }
    }

    fn acts(&mut self, lines: &'f [Act]) {
        for act in lines {
            let Some(name) = &act.bind else { continue };
            let host = act.lane.is_host();
            let (method, kind) = match &act.kind {
                ActKind::Send { method, kind, .. } => (Some(method.as_str()), Some(*kind)),
                _ => (None, None),
            };
            self.bind(name, Binding::Frame { host, from: Direction::Script, method, kind });
        }
        for act in lines {
            match &act.kind {
                ActKind::Send { method, of: Some(of), .. } => {
                    let outcome = self.scope.same_entity(of, method);
                    self.report(outcome);
                }
                ActKind::Ok { request } => self.answer(act.lane, Direction::Adapter, request),
                ActKind::Error { request, code } => {
                    self.answer(act.lane, Direction::Adapter, request);
                    self.number(code);
                }
                ActKind::Fault(Fault::Exit(code)) => self.number(code),
                ActKind::Send { .. } | ActKind::Raw(_) | ActKind::Bytes(_) | ActKind::Fault(_) => {}
            }
            let mut names = Vec::new();
            act.each_value_name(&mut |name| names.push(name));
            self.values(&names, None);
        }
    }

    fn expects(&mut self, lines: &'f [Expect]) {
        for expect in lines {
            if let (Some(name), ExpectKind::Frame { method, kind }) = (&expect.bind, &expect.kind) {
                let (host, from) = (expect.lane.is_host(), Direction::Adapter);
                let (method, kind) = (Some(method.as_str()), Some(*kind));
                self.bind(name, Binding::Frame { host, from, method, kind });
            }
        }
        for expect in lines {
            match &expect.kind {
                ExpectKind::Ok { request } => self.answer(expect.lane, Direction::Script, request),
                ExpectKind::Error { request, code } => {
                    self.answer(expect.lane, Direction::Script, request);
                    self.number(code);
                }
                _ => {}
            }
            let mut names = Vec::new();
            expect.each_value_name(&mut |name| names.push(name));
            self.values(&names, expect.bind.as_ref());
        }
    }

    fn outcome(&mut self, file: &'f File) {
        let mut conditions = Vec::new();
        for check in &file.checks {
            if let CheckKind::Count { condition: Some(condition), .. } = &check.kind {
                conditions.push(condition);
            }
        }
        for never in &file.nevers {
            match &never.what {
                Unwanted::Frame { condition, .. } => conditions.extend(condition),
                Unwanted::Ok { request } => self.request(never.lane, request),
                Unwanted::Error { request, code } => {
                    self.request(never.lane, request);
                    code.iter().for_each(|code| self.number(code));
                }
                Unwanted::Text(_) | Unwanted::Thought(_) | Unwanted::Close => {}
            }
        }
        for condition in conditions {
            if let Test::Equals(value) = &condition.test {
                let mut names = Vec::new();
                value.each_name(&mut |name| names.push(name));
                self.values(&names, None);
            }
        }
    }

    fn bind(&mut self, name: &'f Name, binding: Binding<'f>) {
        let outcome = self.scope.bind(name, binding);
        self.report(outcome);
    }

    /// `own` is the name that the line itself binds and must not use.
    fn values(&mut self, names: &[&'f NamePath], own: Option<&Name>) {
        for name in names {
            let outcome = self.scope.value(name, own);
            self.report(outcome);
        }
    }

    fn number(&mut self, number: &'f Number) {
        if let Number::Name(name) = number {
            let outcome = self.scope.integer(name);
            self.report(outcome);
        }
    }

    fn answer(&mut self, lane: Lane, from: Direction, request: &'f Name) {
        let outcome = self.scope.request(lane, from, request);
        let outcome = outcome.and_then(|()| self.scope.answered(request));
        self.report(outcome);
    }

    fn request(&mut self, lane: Lane, request: &'f Name) {
        let outcome = self.scope.request(lane, Direction::Script, request);
        self.report(outcome);
    }

    fn report(&mut self, outcome: super::Outcome<()>) {
        if let Err(problem) = outcome {
            self.sink.push(problem);
        }
    }
}

/// Whether a frame of this kind can be answered; frames sent as `raw` may be anything.
fn answerable(kind: Option<FrameKind>) -> bool {
    kind != Some(FrameKind::Notification)
}
