//! Corrections of a running turn: one at the host, the others wait in the order in which they came
//! (adapter-turns.md §15).
//!
//! In: admitted corrections, acknowledgements, the clock. Out: which one is sent next, whom to answer.
//! Invariants: at most one is at the host (STE-5); none is sent twice or to another turn than the one it
//! was admitted for (STE-7, STE-8); content is a copy made at arrival. It does not know what a turn is
//! doing, what a refusal says, or who performs a send.

use std::collections::VecDeque;
use std::time::Duration;

use super::io::Tick;
use crate::msp::TurnId;
use crate::msp::command::InputPart;
use crate::wire::Id;

/// Corrections that may wait behind the one at the host (STE-6).
pub const WAITING_MAX: usize = 16;
/// From a send to its acknowledgement (STE-11, DL-10).
pub const ACK_BUDGET: Duration = Duration::from_secs(10);

/// The words in which the editor asked, and is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `_muse/steer` (STE-1).
    Muse,
    /// `_session/steering` (STE-14).
    Compatible,
}

/// One correction, bound to the turn that ran when it came.
#[derive(Clone, Debug)]
pub struct Correction {
    /// The editor's request.
    pub request: Id,
    /// How it is answered.
    pub form: Form,
    /// Which turn it corrects, by our count and by the host's id (STE-5).
    pub generation: u64,
    /// See above.
    pub turn: TurnId,
    /// Its content, converted at arrival.
    pub parts: Vec<InputPart>,
}

/// The correction at the host.
#[derive(Clone, Debug)]
struct Flight {
    number: u64,
    correction: Correction,
    deadline: Tick,
}

/// The queue is full (STE-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Steering {
    waiting: VecDeque<Correction>,
    flight: Option<Flight>,
    /// Sends so far; an answer carries its number, so that an old one finds nothing.
    sent: u64,
    /// The turn ended before the host acknowledged a correction (STE-13).
    unsettled: bool,
}

impl Steering {
    /// Whether another correction can wait.
    ///
    /// # Errors
    /// [`Full`] at [`WAITING_MAX`].
    pub fn room(&self) -> Result<(), Full> {
        if self.waiting.len() < WAITING_MAX { Ok(()) } else { Err(Full) }
    }

    /// Takes a correction.
    ///
    /// # Errors
    /// As [`Steering::room`].
    pub fn admit(&mut self, correction: Correction) -> Result<(), Full> {
        self.room()?;
        self.waiting.push_back(correction);
        Ok(())
    }

    /// The next correction, if none is at the host. The caller either sends it with
    /// [`Steering::send`] or answers it.
    pub fn take_next(&mut self) -> Option<Correction> {
        if self.flight.is_some() { None } else { self.waiting.pop_front() }
    }

    /// The correction goes to the host now. Gives the number of the send.
    pub fn send(&mut self, correction: Correction, now: Tick) -> u64 {
        debug_assert!(self.flight.is_none(), "one at a time (STE-5)");
        self.sent += 1;
        let deadline = now.after(ACK_BUDGET);
        self.flight = Some(Flight { number: self.sent, correction, deadline });
        self.sent
    }

    /// The host answered send `number`: whom to answer. `None` for an answer that nobody waits for.
    pub fn answered(&mut self, number: u64) -> Option<Correction> {
        let flight = self.flight.take_if(|flight| flight.number == number)?;
        Some(flight.correction)
    }

    /// Takes the correction whose acknowledgement is overdue.
    pub fn overdue(&mut self, now: Tick) -> Option<Correction> {
        let flight = self.flight.take_if(|flight| flight.deadline <= now)?;
        Some(flight.correction)
    }

    /// When [`Steering::overdue`] has something.
    #[must_use]
    pub fn deadline(&self) -> Option<Tick> {
        self.flight.as_ref().map(|flight| flight.deadline)
    }

    /// The host was not read for a while: the bound begins anew (PO-19).
    pub fn restart_budget(&mut self, now: Tick) {
        if let Some(flight) = &mut self.flight {
            flight.deadline = now.after(ACK_BUDGET);
        }
    }

    /// The turn takes no more corrections: those that wait, in order, to be refused (STE-9).
    pub fn drain(&mut self) -> VecDeque<Correction> {
        std::mem::take(&mut self.waiting)
    }

    /// The turn has ended. From now on the host is not to be used again if it owes an acknowledgement.
    pub fn turn_ended(&mut self) {
        self.unsettled |= self.flight.is_some();
    }

    /// Whether the host owed an acknowledgement when the turn ended (STE-13), even if it came since.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        self.unsettled
    }

    /// The host is gone, and the correction that it had with it (STE-9).
    pub fn host_gone(&mut self) -> Option<Correction> {
        self.unsettled = false;
        self.flight.take().map(|flight| flight.correction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correction(number: u64) -> Correction {
        let request = Id::from_raw(&number.to_string()).expect("an id");
        let (form, turn) = (Form::Muse, TurnId::from("t"));
        Correction { request, form, generation: 1, turn, parts: Vec::new() }
    }

    fn number(correction: Option<Correction>) -> Option<u64> {
        correction.map(|correction| correction.request.as_raw().parse().expect("a number"))
    }

    #[test]
    fn sixteen_wait_behind_one_and_the_next_is_refused() {
        let mut steering = Steering::default();
        steering.admit(correction(0)).expect("room");
        let first = steering.take_next().expect("the first");
        steering.send(first, Tick::default());
        for next in 1..=16 {
            steering.admit(correction(next)).expect("room");
        }
        assert_eq!(steering.admit(correction(17)), Err(Full));
        assert_eq!(number(steering.take_next()), None, "one is at the host");
    }

    #[test]
    fn an_answer_counts_once_and_for_its_own_send_only() {
        let mut steering = Steering::default();
        let first = steering.send(correction(1), Tick::default());
        assert_eq!(number(steering.answered(first + 1)), None);
        assert_eq!(number(steering.answered(first)), Some(1));
        let second = steering.send(correction(2), Tick::default());
        assert_eq!(number(steering.answered(first)), None, "from before");
        assert_eq!(number(steering.answered(second)), Some(2));
        assert_eq!(number(steering.answered(second)), None, "twice");
    }

    #[test]
    fn the_bound_is_reached_at_its_instant_and_begins_anew_when_the_host_was_not_read() {
        let (start, mut steering) = (Tick::default(), Steering::default());
        steering.send(correction(1), start);
        let almost = start.after(ACK_BUDGET - Duration::from_millis(1));
        assert_eq!(number(steering.overdue(almost)), None);
        steering.restart_budget(almost);
        assert_eq!(number(steering.overdue(start.after(ACK_BUDGET))), None);
        assert_eq!(number(steering.overdue(almost.after(ACK_BUDGET))), Some(1));
        assert_eq!(steering.deadline(), None);
    }

    #[test]
    fn a_debt_at_the_end_of_the_turn_is_remembered_until_the_host_is_gone() {
        let mut steering = Steering::default();
        steering.turn_ended();
        assert!(!steering.is_unsettled());
        let sent = steering.send(correction(1), Tick::default());
        steering.turn_ended();
        assert_eq!(number(steering.answered(sent)), Some(1));
        assert!(steering.is_unsettled());
        assert_eq!(number(steering.host_gone()), None);
        assert!(!steering.is_unsettled());
    }

    /// Every sequence of seven operations: what is admitted is answered once and in order, one at a
    /// time.
    #[test]
    fn every_short_sequence_gives_each_correction_back_once_and_in_order() {
        const OPERATIONS: u32 = 6;
        for sequence in 0..OPERATIONS.pow(7) {
            let (mut steering, mut given, mut back) = (Steering::default(), 0, Vec::new());
            let mut at_host = None;
            for place in 0..7 {
                match sequence / OPERATIONS.pow(place) % OPERATIONS {
                    0 | 1 => {
                        steering.admit(correction(given)).expect("room");
                        given += 1;
                    }
                    2 => {
                        if let Some(next) = steering.take_next() {
                            assert_eq!(at_host, None);
                            at_host = Some(steering.send(next, Tick::default()));
                        }
                    }
                    3 => {
                        if let Some(sent) = at_host.take() {
                            back.extend(number(steering.answered(sent)));
                        }
                    }
                    4 => {
                        at_host = None;
                        back.extend(number(steering.host_gone()));
                    }
                    _ => {
                        at_host = None;
                        back.extend(number(steering.host_gone()));
                        back.extend(
                            steering.drain().into_iter().map(|c| number(Some(c)).expect("some")),
                        );
                    }
                }
            }
            back.extend(number(steering.host_gone()));
            back.extend(steering.drain().into_iter().map(|c| number(Some(c)).expect("some")));
            assert_eq!(back, (0..given).collect::<Vec<_>>());
        }
    }
}
