//! Every legal order of what the neighbours of the adapter say in a story, on the pure core.
//!
//! In: a file, a point, bounds. Out: how many orders were tried, and the first that breaks what must hold in
//! every run, made as short as it can be. The told run gives the words (`program`); `world` is one state,
//! `search` goes through the orders. Lines `<-` of the story bind what they take and are not tested: they
//! describe the told order only. Decision 0019.

mod program;
mod rules;
mod search;
mod story;
mod world;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lang::ast::File;
use crate::lang::point::{Axis, Point};
use crate::run::transcript::{Entry, Lane, Transcript};
use crate::run::{Options, StageKind, machine, run_point};
use program::Program;
use search::Search;
use world::{Action, World};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most orders that are tried one after the other; a quarter as many are drawn when that is not all.
    pub orders: u64,
    /// Most interferences (a deadline, a cancel, the death of a host, an editor that leaves or does not read)
    /// in one order.
    pub interferences: usize,
    /// What the drawn orders depend on.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { orders: 20_000, interferences: 2, seed: 0 }
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Explored {
    /// Orders that were tried one after the other.
    pub orders: u64,
    /// Orders that were drawn by seed, because the bound came first.
    pub drawn: u64,
    /// With how many interferences every order was tried; `None`: not even without any.
    pub complete: Option<usize>,
    /// What must not be.
    pub violation: Option<Violation>,
}

/// An order that breaks a rule.
#[derive(Debug)]
pub struct Violation {
    /// Which rule, and what is wrong, without content.
    pub text: String,
    /// The order as a story.
    pub story: String,
    /// Every frame of it.
    pub transcript: String,
}

/// Explores one point of a file. `source` is its text.
///
/// # Errors
/// Why the story cannot be explored.
pub fn explore(
    file: &File,
    source: &str,
    axes: &[Axis<'_>],
    point: &Point,
    limits: Limits,
) -> Result<Explored, String> {
    let options = Options::default();
    if let Some(reason) = StageKind::Pipe.refuses(file) {
        return Err(reason);
    }
    let told = run_point(file, axes, point, options)?;
    if let Some(failure) = &told.failure {
        return Err(format!("the told order is red already (line {})", failure.line));
    }
    let program = Program::new(&told.transcript, file.given.as_ref().map(|given| given.at.line))?;
    let (machine, config) = machine(file, options)?;
    let begin = World::new(&program, &machine, config);
    repeats(&program, &begin)?;

    let (mut start, mut record) = (begin, Vec::new());
    for index in 0..program.opening {
        if !start.may(Action::Say(index)) {
            return Err("the opening cannot be repeated on the core alone".into());
        }
        start.act(Action::Say(index), &mut record);
    }
    let mut search = Search::new(&program, limits, record);
    let violation = search.run(&start).map(|wrong| {
        let wrong = story::shrink(&mut search, &start, wrong);
        let entries = search.record(&start, &wrong);
        let transcript = Transcript { entries, marks: Vec::new() };
        Violation {
            text: format!("{}: {}", wrong.finding.invariant, wrong.finding.text),
            story: story::write(&program, source, &start, &wrong),
            transcript: transcript.to_text(),
        }
    });
    let Search { orders, complete, drawn, .. } = search;
    Ok(Explored { orders, drawn, complete, violation })
}

/// The told order, played on the core alone, must give what it gave on the stage; otherwise the program
/// says something else than the story.
fn repeats(program: &Program, begin: &World<'_>) -> Result<(), String> {
    // A host that is closed or exits is gone at once on a stage, or it says its last words first: the record
    // does not tell which.
    let at_once = repeats_with(program, begin.clone(), true);
    at_once.or_else(|reason| repeats_with(program, begin.clone(), false).map_err(|_| reason))
}

fn repeats_with(program: &Program, mut world: World<'_>, gone_at_once: bool) -> Result<(), String> {
    let mut record = Vec::new();
    let end_all = |world: &mut World<'_>, record: &mut Vec<Entry>| {
        let ends: Vec<Action> = world.ends().collect();
        ends.into_iter().for_each(|end| world.act(end, record));
    };
    for index in 0..program.stimuli.len() {
        world.wait(program.stimuli[index].waits, &mut record);
        while !world.has_said(index) {
            let told = Some(Action::Say(index)).filter(|told| world.may(*told));
            // A stage tells of its streams one after the other, so a cause may stand behind its effect.
            let next = told
                .or_else(|| world.ends().next())
                .or_else(|| world.words().next().map(Action::Say));
            let Some(action) = next else {
                let line = program.stimuli[index]
                    .line
                    .map_or_else(String::new, |line| format!("line {line}: "));
                return Err(format!("{line}the told order cannot be repeated on the core alone"));
            };
            world.act(action, &mut record);
            if gone_at_once {
                end_all(&mut world, &mut record);
            }
        }
    }
    end_all(&mut world, &mut record);
    world.wait(program.rest, &mut record);
    let lanes: BTreeSet<Lane> = program.told.iter().map(|(lane, _)| *lane).collect();
    for lane in lanes {
        let told: Vec<&Value> =
            program.told.iter().filter(|(of, _)| *of == lane).map(|(_, frame)| frame).collect();
        let here = record.iter().filter(|entry| entry.from_adapter && entry.lane == lane);
        if !told.iter().copied().eq(here.map(|entry| &entry.frame).take(told.len())) {
            return Err("the core alone says something else than on the stage".into());
        }
    }
    Ok(())
}
