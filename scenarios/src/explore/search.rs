//! Which orders are tried, and what must hold at the end of each.
//!
//! Depth first from the end of the opening, the told order first, a clone of the state at each fork: first all
//! orders of the story's own words, then those with one interference at any place, then those with two. When
//! the bound is reached inside one of these, as many again are drawn by seed. No order is left out as equal to
//! another one. Each order is played to its end: what can still be said is said, closed hosts end, deadlines
//! come, then living hosts die and the editor leaves; after that everything must be settled.

use std::ops::ControlFlow;

use super::Limits;
use super::program::Program;
use super::world::{Action, World};
use crate::run::transcript::{Entry, Transcript};
use crate::run::watch::{self, Finding};

/// Steps of one ending; an adapter that needs more never comes to rest.
const ENDING_MAX: usize = 500;
/// What may interfere.
const INTERFERENCES: [Action; 5] =
    [Action::Timer, Action::Cancel, Action::Die, Action::Leave, Action::Stall];

/// What was found wrong, and how to get there from the end of the opening.
#[derive(Clone, Debug)]
pub(super) struct Wrong {
    pub(super) finding: Finding,
    pub(super) path: Vec<Action>,
    /// Nothing has to be said after the path.
    pub(super) whole: bool,
}

/// The state of a search.
pub(super) struct Search<'p> {
    program: &'p Program,
    limits: Limits,
    /// Everything said on the present path.
    record: Vec<Entry>,
    path: Vec<Action>,
    pub(super) orders: u64,
    /// Most interferences of which every order was tried.
    pub(super) complete: Option<usize>,
    pub(super) drawn: u64,
}

impl<'p> Search<'p> {
    /// `record` is what was said up to the end of the opening.
    pub(super) fn new(program: &'p Program, limits: Limits, record: Vec<Entry>) -> Self {
        Self { program, limits, record, path: Vec::new(), orders: 0, complete: None, drawn: 0 }
    }

    /// Tries orders until the bound or the first that is wrong.
    pub(super) fn run(&mut self, start: &World<'p>) -> Option<Wrong> {
        for interferences in 0..=self.limits.interferences {
            match self.descend(start.clone(), interferences) {
                ControlFlow::Break(Some(wrong)) => return Some(wrong),
                ControlFlow::Break(None) => return self.draw(start, interferences),
                ControlFlow::Continue(()) => self.complete = Some(interferences),
            }
        }
        None
    }

    /// All orders from here with exactly `left` more interferences.
    fn descend(&mut self, world: World<'p>, left: usize) -> ControlFlow<Option<Wrong>> {
        let own = choices(&world, 0);
        if left == 0 && own.is_empty() {
            return self.leaf(world);
        }
        for action in own {
            self.follow(&world, action, left)?;
        }
        if left > 0 {
            for action in INTERFERENCES {
                if world.may(action) {
                    self.follow(&world, action, left - 1)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn follow(
        &mut self,
        world: &World<'p>,
        action: Action,
        left: usize,
    ) -> ControlFlow<Option<Wrong>> {
        let said = self.record.len();
        let mut next = world.clone();
        next.act(action, &mut self.record);
        self.path.push(action);
        let flow = self.descend(next, left);
        self.path.pop();
        self.record.truncate(said);
        flow
    }

    fn leaf(&mut self, world: World<'p>) -> ControlFlow<Option<Wrong>> {
        if self.orders >= self.limits.orders {
            return ControlFlow::Break(None);
        }
        self.orders += 1;
        let said = self.record.len();
        let finding = ending(self.program, world, &mut self.record, &mut Talk::All);
        self.record.truncate(said);
        match finding {
            None => ControlFlow::Continue(()),
            Some(finding) => {
                let path = self.path.clone();
                ControlFlow::Break(Some(Wrong { finding, path, whole: false }))
            }
        }
    }

    /// Orders by seed, each with up to `interferences`.
    fn draw(&mut self, start: &World<'p>, interferences: usize) -> Option<Wrong> {
        let mut dice = Dice(self.limits.seed);
        let begun = self.record.len();
        for _ in 0..self.limits.orders / 4 {
            let (mut world, mut path, mut left) = (start.clone(), Vec::new(), interferences);
            loop {
                let all = choices(&world, left);
                let Some(action) = dice.pick(&all) else { break };
                left -= usize::from(INTERFERENCES.contains(&action));
                world.act(action, &mut self.record);
                path.push(action);
            }
            self.drawn += 1;
            let finding = ending(self.program, world, &mut self.record, &mut Talk::All);
            self.record.truncate(begun);
            if let Some(finding) = finding {
                return Some(Wrong { finding, path, whole: false });
            }
        }
        None
    }

    /// Everything that is said in this order, its ending included.
    pub(super) fn record(&mut self, start: &World<'p>, wrong: &Wrong) -> Vec<Entry> {
        let (mut world, mut record) = (start.clone(), self.record.clone());
        wrong.path.iter().for_each(|action| world.act(*action, &mut record));
        let mut talk = if wrong.whole { Talk::None } else { Talk::All };
        ending(self.program, world, &mut record, &mut talk);
        record
    }

    /// What is wrong with this order, if it can be played.
    pub(super) fn replay(
        &mut self,
        start: &World<'p>,
        path: &[Action],
        talk: &mut Talk,
    ) -> Option<Finding> {
        let begun = self.record.len();
        let mut world = start.clone();
        let possible = path.iter().all(|action| {
            let may = world.may(*action);
            if may {
                world.act(*action, &mut self.record);
            }
            may
        });
        let finding =
            if possible { ending(self.program, world, &mut self.record, talk) } else { None };
        self.record.truncate(begun);
        finding
    }
}

/// Whether the words that are left are said in the ending of an order.
pub(super) enum Talk {
    /// All of them.
    All,
    /// All of them, and everything that happens is noted here.
    Noted(Vec<Action>),
    /// None.
    None,
}

/// What can happen: words in the order of the story, ends of hosts, interferences while some are left.
fn choices(world: &World<'_>, interferences: usize) -> Vec<Action> {
    let resume = Some(Action::Resume).filter(|resume| world.may(*resume));
    let mut all: Vec<Action> =
        world.words().map(Action::Say).chain(world.ends()).chain(resume).collect();
    if interferences > 0 {
        all.extend(INTERFERENCES.into_iter().filter(|action| world.may(*action)));
    }
    all
}

/// Plays an order to its end and judges it.
fn ending(
    program: &Program,
    mut world: World<'_>,
    record: &mut Vec<Entry>,
    talk: &mut Talk,
) -> Option<Finding> {
    let (says, mut noted) = (!matches!(talk, Talk::None), Vec::new());
    let rest = |world: &mut World<'_>, record: &mut Vec<Entry>, noted: &mut Vec<Action>| {
        for _ in 0..ENDING_MAX {
            let word = world.words().next().map(Action::Say).filter(|_| says);
            let resume = Some(Action::Resume).filter(|resume| world.may(*resume));
            let next = resume.or(word).or_else(|| world.ends().next());
            let timer = Some(Action::Timer).filter(|timer| world.may(*timer));
            let Some(action) = next.or(timer) else { return true };
            world.act(action, record);
            noted.push(action);
        }
        false
    };
    let mut calm = rest(&mut world, record, &mut noted);
    while calm && world.open_prompts() > 0 && world.may(Action::Die) {
        world.act(Action::Die, record);
        noted.push(Action::Die);
        calm = rest(&mut world, record, &mut noted);
    }
    let outlived = world.open_prompts();
    if world.may(Action::Leave) {
        world.act(Action::Leave, record);
        noted.push(Action::Leave);
        calm &= rest(&mut world, record, &mut noted);
    }
    if let Talk::Noted(actions) = talk {
        *actions = noted;
    }
    let mut violations = Vec::new();
    if !calm {
        violations.push("the adapter never comes to rest".to_owned());
    }
    if outlived > 0 {
        violations.push("a prompt is open although its hosts are gone".to_owned());
    }
    if !world.exited {
        violations.push("the adapter does not end after its editor".to_owned());
    }
    let ending = watch::Ending {
        hosts_left: world.hosts_left(),
        violations,
        // A planted text marks what must not be seen in the told order; in another it may be due.
        secrets: Vec::new(),
        lies: program.lies,
        editor_lost: false,
    };
    let transcript = Transcript { entries: std::mem::take(record), marks: Vec::new() };
    let mut findings = watch::judge(&transcript, &ending);
    *record = transcript.entries;
    if findings.is_empty() {
        findings.extend(super::rules::judge(record));
    }
    findings.into_iter().next()
}

/// Numbers that look random and are the same for the same seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn pick(&mut self, all: &[Action]) -> Option<Action> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let length = u64::try_from(all.len()).ok().filter(|length| *length > 0)?;
        usize::try_from(mixed % length).ok().and_then(|index| all.get(index)).copied()
    }
}
