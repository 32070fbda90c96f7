//! How long the host has waited for a decision without moving (adapter-turns.md §11).
//!
//! In: what is pending now and is not in front of the person. Out: when the bound is reached and by
//! what. Invariants: a changed state and a first sighting begin a new clock (STL-2); what is not
//! reported is forgotten, so an open dialog, a hole in the view and an editor that does not read each
//! give a full bound when they end (STL-3, STL-5, PO-19). It does not know what a decision is.

use std::time::Duration;

use indexmap::IndexMap;

use super::io::Tick;

/// One pending interaction that nobody is being asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The approval or the user input. Both kinds of ids are the host's and never equal.
    pub id: String,
    /// The host's last frame about it.
    pub frame: &'static str,
    /// Of an approval: where it is. A user input has no state but that it is there.
    pub stage: Option<Stage>,
}

/// The state of an approval (STL-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The stage that is open.
    pub source_index: u64,
    /// Ids of the offered choices, in order.
    pub choices: Vec<String>,
    /// What is known of each stage, in order; empty when nothing was reported.
    pub resolutions: Vec<String>,
    /// Position and number of stages, when both are known.
    pub position: Option<(u64, u64)>,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Stall {
    clocks: IndexMap<String, (Waiting, Tick)>,
}

impl Stall {
    /// Everything that waits now.
    pub fn observe(&mut self, waiting: Vec<Waiting>, now: Tick) {
        let mut old = std::mem::take(&mut self.clocks);
        for one in waiting {
            let since = match old.swap_remove(&one.id) {
                Some((before, since)) if before.stage == one.stage => since,
                _ => now,
            };
            self.clocks.insert(one.id.clone(), (one, since));
        }
    }

    /// When the first one has waited for `bound`.
    #[must_use]
    pub fn deadline(&self, bound: Duration) -> Option<Tick> {
        self.clocks.values().map(|(_, since)| since.after(bound)).min()
    }

    /// The one that has waited for `bound`, and for how long.
    #[must_use]
    pub fn due(&self, bound: Duration, now: Tick) -> Option<(&Waiting, Duration)> {
        let late = self.clocks.values().find(|(_, since)| since.after(bound) <= now)?;
        Some((&late.0, now.since(late.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(id: &str, source_index: u64, choice: &str) -> Waiting {
        Waiting {
            id: id.to_owned(),
            frame: "approval/requested",
            stage: Some(Stage {
                source_index,
                choices: vec![choice.to_owned()],
                resolutions: Vec::new(),
                position: None,
            }),
        }
    }

    fn at(seconds: u64) -> Tick {
        Tick(Duration::from_secs(seconds))
    }

    const BOUND: Duration = Duration::from_secs(10);

    /// STL-2: the frame may be new, the state is not.
    #[test]
    fn the_clock_goes_on_while_the_state_is_the_same() {
        let mut stall = Stall::default();
        stall.observe(vec![waiting("a", 0, "yes")], at(0));
        let again = Waiting { frame: "approval/updated", ..waiting("a", 0, "yes") };
        stall.observe(vec![again, waiting("b", 0, "yes")], at(9));
        assert_eq!(stall.deadline(BOUND), Some(at(10)));
        let (late, waited) = stall.due(BOUND, at(10)).expect("due");
        assert_eq!((late.id.as_str(), waited), ("a", BOUND));
    }

    #[test]
    fn another_stage_other_choices_and_a_second_sighting_begin_a_new_clock() {
        for next in [waiting("a", 1, "yes"), waiting("a", 0, "no")] {
            let mut stall = Stall::default();
            stall.observe(vec![waiting("a", 0, "yes")], at(0));
            stall.observe(vec![next], at(9));
            assert_eq!(stall.deadline(BOUND), Some(at(19)));
        }
        let mut stall = Stall::default();
        stall.observe(vec![waiting("a", 0, "yes")], at(0));
        stall.observe(Vec::new(), at(5));
        assert_eq!(stall.deadline(BOUND), None);
        stall.observe(vec![waiting("a", 0, "yes")], at(6));
        assert_eq!(stall.deadline(BOUND), Some(at(16)));
    }
}
