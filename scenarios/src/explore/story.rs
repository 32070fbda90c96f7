//! A wrong order made as short as it can be, and written as a story.
//!
//! In: the order that was found. Out: the shortest that is wrong in the same way, found by leaving out and by
//! moving back towards the told order; as text, the lines of the file in that order. Whether a stage shows the
//! same is for the reader to try: there a stream may not be read when the order needs it.

use std::fmt::Write as _;

use super::program::Program;
use super::search::{Search, Talk, Wrong};
use super::world::{Action, World};

/// Makes an order as short as it can be.
pub(super) fn shrink<'p>(search: &mut Search<'p>, start: &World<'p>, mut wrong: Wrong) -> Wrong {
    let name = wrong.finding.invariant;
    wrong = in_whole(search, start, wrong);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for candidate in smaller(&wrong.path) {
            let mut talk = if wrong.whole { Talk::None } else { Talk::All };
            let found = search.replay(start, &candidate, &mut talk);
            if let Some(finding) = found.filter(|finding| finding.invariant == name) {
                wrong = Wrong { finding, path: candidate, ..wrong };
                changed = true;
                break;
            }
        }
    }
    wrong
}

/// The order with everything that its ending said, so that no word of it is left unsaid in the story.
fn in_whole<'p>(search: &mut Search<'p>, start: &World<'p>, wrong: Wrong) -> Wrong {
    let mut talk = Talk::Noted(Vec::new());
    search.replay(start, &wrong.path, &mut talk);
    let Talk::Noted(ending) = talk else { return wrong };
    let path = [wrong.path.as_slice(), &ending].concat();
    match search.replay(start, &path, &mut Talk::None) {
        Some(finding) if finding.invariant == wrong.finding.invariant => {
            Wrong { finding, path, whole: true }
        }
        _ => wrong,
    }
}

/// Shorter orders, then orders nearer to the told one.
fn smaller(path: &[Action]) -> Vec<Vec<Action>> {
    let mut all = Vec::new();
    for end in 0..path.len() {
        all.push(path[..end].to_vec());
    }
    for out in 0..path.len() {
        let mut less = path.to_vec();
        less.remove(out);
        all.push(less);
    }
    for at in 1..path.len() {
        let told = |action: &Action| match action {
            Action::Say(index) => Some(*index),
            _ => None,
        };
        if let (Some(first), Some(second)) = (told(&path[at - 1]), told(&path[at]))
            && second < first
        {
            let mut nearer = path.to_vec();
            nearer.swap(at - 1, at);
            all.push(nearer);
        }
    }
    all
}

/// The order as a story. `source` is the file that was explored.
pub(super) fn write(program: &Program, source: &str, start: &World<'_>, wrong: &Wrong) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let first = first_line(program, &lines);
    let mut text = String::new();
    let _ = writeln!(text, "# {}: {}", wrong.finding.invariant, wrong.finding.text);
    for line in &lines[..first] {
        let _ = writeln!(text, "{line}");
    }
    let (mut world, mut record) = (start.clone(), Vec::new());
    let mut taken: Vec<bool> =
        (0..program.asked.len()).map(|asked| world.has_sent(asked)).collect();
    let requests = |world: &World<'_>, taken: &mut Vec<bool>, text: &mut String| {
        for (index, asked) in program.asked.iter().enumerate() {
            if let (false, true, Some(line)) = (taken[index], world.has_sent(index), asked.line) {
                taken[index] = true;
                text.push_str(&head(&lines, line));
            }
        }
    };
    for action in &wrong.path {
        match action {
            Action::Say(index) => match program.stimuli[*index].line {
                // The opening is said already.
                Some(line) if line as usize <= first => {}
                Some(line) => text.push_str(&block(&lines, line)),
                None => text.push_str("# the model says something by itself\n"),
            },
            Action::Gone(_) => text.push_str("# the host that was closed ends\n"),
            Action::Timer => text.push_str("# the next deadline comes\nafter  30s\n"),
            Action::Cancel => text.push_str("editor -> session/cancel\n"),
            Action::Die => text.push_str("host   ! kill\n"),
            Action::Leave => text.push_str("editor ! eof\n"),
            Action::Stall => text.push_str("editor ! stall-read\n"),
            Action::Resume => text.push_str("editor ! resume-read\n"),
        }
        world.act(*action, &mut record);
        requests(&world, &mut taken, &mut text);
    }
    text
}

/// Where the timeline begins: at the first line that says or takes something, comments before it excluded.
fn first_line(program: &Program, lines: &[&str]) -> usize {
    let own = program.stimuli[program.opening..].iter().filter_map(|stimulus| stimulus.line);
    let first = own.min().map_or(lines.len(), |line| line as usize - 1);
    let head = lines[..first.min(lines.len())].iter();
    let statement = |line: &&str| line.contains(" <- ") || line.contains(" -> ");
    head.clone().position(statement).unwrap_or(first.min(lines.len()))
}

/// A line and its members.
fn block(lines: &[&str], line: u32) -> String {
    let mut text = head(lines, line);
    let members = lines.iter().skip(line as usize).take_while(|line| line.starts_with("  "));
    for member in members {
        let _ = writeln!(text, "{member}");
    }
    text
}

/// A line without its members: of an expectation, only that it comes.
fn head(lines: &[&str], line: u32) -> String {
    let text = lines.get(line as usize - 1).copied().unwrap_or_default();
    format!("{}\n", text.strip_prefix("race ").unwrap_or(text))
}
