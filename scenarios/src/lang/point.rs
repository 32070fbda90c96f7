//! Points of a scenario: one value for every `vary`, one order for every race of acts.
//!
//! Inputs: a scenario. Outputs: its axes, its points in a fixed order, and the text that `--at` replays.
//! Invariants: point 0 takes every first value and keeps the order of the file; the last axis moves
//! fastest; the text of a point reads back to it. It does not know how many points are worth a run.
//! Rules: DSL-12, DEC-5.

use super::ast::{At, File, Step, Value, VaryValues};
use super::fmt;

/// One dimension.
#[derive(Clone, Debug)]
pub struct Axis<'f> {
    /// `lag` of `vary $lag`, or `race1`.
    pub name: String,
    /// The line.
    pub at: At,
    kind: Kind<'f>,
}

#[derive(Clone, Debug)]
enum Kind<'f> {
    Vary(&'f VaryValues),
    Race(usize),
}

/// What an axis is at a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice<'f> {
    /// This duration.
    Duration(std::time::Duration),
    /// This value.
    Value(&'f Value),
    /// The lines of the race in this order: indices into [`Race::lines`](super::ast::Race).
    Order(Vec<usize>),
}

impl Axis<'_> {
    /// Number of choices, at least 1.
    #[must_use]
    pub fn size(&self) -> usize {
        match self.kind {
            Kind::Vary(values) => values.len().max(1),
            Kind::Race(lines) => (1..=lines).product(),
        }
    }

    /// Whether it is the order of a race.
    #[must_use]
    pub const fn is_race(&self) -> bool {
        matches!(self.kind, Kind::Race(_))
    }

    /// The choice of this index, below [`Axis::size`].
    #[must_use]
    pub fn choice(&self, index: usize) -> Option<Choice<'_>> {
        match self.kind {
            Kind::Vary(VaryValues::Durations(list)) => {
                list.get(index).copied().map(Choice::Duration)
            }
            Kind::Vary(VaryValues::Json(list)) => list.get(index).map(Choice::Value),
            Kind::Race(lines) => (index < self.size()).then(|| Choice::Order(order(lines, index))),
        }
    }

    /// The choice as `--at` writes it: `1ms`, `"a"`, `BA`.
    #[must_use]
    pub fn label(&self, index: usize) -> String {
        match self.choice(index) {
            None => String::new(),
            Some(Choice::Duration(duration)) => fmt::duration(duration),
            Some(Choice::Value(value)) => fmt::value_line(value),
            Some(Choice::Order(order)) => order
                .iter()
                .map(|line| char::from(b'A' + u8::try_from(*line).unwrap_or(25)))
                .collect(),
        }
    }
}

/// The `index`-th permutation of `0..lines` in the order of a dictionary.
fn order(lines: usize, mut index: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..lines).collect();
    let mut order = Vec::with_capacity(lines);
    while !left.is_empty() {
        let block: usize = (1..left.len()).product();
        order.push(left.remove(index / block % left.len()));
        index %= block;
    }
    order
}

/// All axes: `vary` lines, then races of acts, in the order of the file.
#[must_use]
pub fn axes(file: &File) -> Vec<Axis<'_>> {
    let varies = file.varies.iter().map(|vary| Axis {
        name: vary.name.text.clone(),
        at: vary.at,
        kind: Kind::Vary(&vary.values),
    });
    let races = file.steps.iter().filter_map(|step| match step {
        Step::ActRace(race) => Some(Axis {
            name: format!("race{}", race.number),
            at: race.lines.last().map_or(step.at(), |line| line.at),
            kind: Kind::Race(race.lines.len()),
        }),
        _ => None,
    });
    varies.chain(races).collect()
}

/// Indices of choices, one per axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point(pub Vec<usize>);

/// Number of points.
#[must_use]
pub fn count(axes: &[Axis<'_>]) -> u64 {
    axes.iter().fold(1, |all: u64, axis| all.saturating_mul(axis.size() as u64))
}

/// The `index`-th point; beyond [`count`] it begins again.
#[must_use]
pub fn at(axes: &[Axis<'_>], mut index: u64) -> Point {
    let mut choices: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| {
            let size = axis.size() as u64;
            let choice = usize::try_from(index % size).unwrap_or(0);
            index /= size;
            choice
        })
        .collect();
    choices.reverse();
    Point(choices)
}

/// `lag=1ms,race1=BA`; empty without axes.
#[must_use]
pub fn label(axes: &[Axis<'_>], point: &Point) -> String {
    let parts =
        axes.iter().zip(&point.0).map(|(axis, n)| format!("{}={}", axis.name, axis.label(*n)));
    parts.collect::<Vec<_>>().join(",")
}

/// Reads what [`label`] writes. Axes that are not named take their first choice.
///
/// # Errors
/// A sentence that says which axes and values there are.
pub fn parse(axes: &[Axis<'_>], text: &str) -> Result<Point, String> {
    let mut point = Point(vec![0; axes.len()]);
    let mut rest = text;
    while !rest.is_empty() {
        let (name, tail) = rest.split_once('=').ok_or_else(|| unknown_axis(axes, rest))?;
        let index = axes.iter().position(|axis| axis.name == name);
        let index = index.ok_or_else(|| unknown_axis(axes, name))?;
        let axis = &axes[index];
        // Values may hold commas, so the longest label that fits is taken.
        let fits = |n: &usize| {
            tail.strip_prefix(axis.label(*n).as_str())
                .is_some_and(|r| r.is_empty() || r.starts_with(','))
        };
        let choice = (0..axis.size()).filter(fits).max_by_key(|n| axis.label(*n).len());
        let choice = choice.ok_or_else(|| {
            let all: Vec<String> = (0..axis.size()).map(|n| axis.label(n)).collect();
            let found = tail.split(',').next().unwrap_or_default();
            format!("`{found}` is no value of `{name}`; there are: {}", all.join(", "))
        })?;
        point.0[index] = choice;
        rest = &tail[axis.label(choice).len()..];
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    Ok(point)
}

fn unknown_axis(axes: &[Axis<'_>], found: &str) -> String {
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    if names.is_empty() {
        return format!("`{found}`: this scenario has one point only, leave `--at` out");
    }
    format!("`{found}` is no axis; write NAME=VALUE with one of: {}", names.join(", "))
}
