//! What may go wrong between hosts and the adapter in any story: frames that come twice, that do not come,
//! or a machine that vanishes after so many of them.
//!
//! In: the frames of all hosts of a run in the order in which they are sent. Out: how often each one goes
//! onto the wire, and whether everything ends there. It knows nothing of what a frame says but whether it
//! is a notification.

use std::cell::RefCell;
use std::rc::Rc;

/// What is done to a run, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tamper {
    /// Nothing: for counting the frames of a run.
    Nothing,
    /// Each notification comes twice.
    Twice,
    /// Each answer of a host comes twice.
    AnswersTwice,
    /// The frame with this number, from 0, does not come.
    Drop(u32),
    /// So many frames come; then every host exits, and none of those that are started later says a word.
    CutAfter(u32),
}

/// One tampering, shared by the hosts of a run.
#[derive(Clone, Debug)]
pub struct Tampering(Rc<RefCell<State>>);

#[derive(Debug)]
struct State {
    tamper: Tamper,
    frames: u32,
    cut: bool,
}

impl Tampering {
    /// A run at its beginning.
    #[must_use]
    pub fn new(tamper: Tamper) -> Self {
        Self(Rc::new(RefCell::new(State { tamper, frames: 0, cut: tamper == Tamper::CutAfter(0) })))
    }

    /// How often the next frame goes onto the wire.
    pub(super) fn copies(&self, line: &[u8]) -> usize {
        let mut state = self.0.borrow_mut();
        if state.cut {
            return 0;
        }
        let number = state.frames;
        state.frames += 1;
        match state.tamper {
            Tamper::Twice if is_notification(line) => 2,
            Tamper::AnswersTwice if is_answer(line) => 2,
            Tamper::Drop(dropped) if dropped == number => 0,
            Tamper::CutAfter(last) => {
                state.cut = number + 1 >= last;
                1
            }
            Tamper::Nothing | Tamper::Twice | Tamper::AnswersTwice | Tamper::Drop(_) => 1,
        }
    }

    /// Frames so far.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.0.borrow().frames
    }

    /// The machine has vanished.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.0.borrow().cut
    }
}

fn is_notification(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line).is_ok_and(|frame| frame.get("id").is_none())
}

fn is_answer(line: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(line)
        .is_ok_and(|frame| frame.get("id").is_some() && frame.get("method").is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of three frames comes; the second is an answer.
    fn copies(tamper: Tamper) -> [usize; 3] {
        let tampering = Tampering::new(tamper);
        [r#"{"method":"a"}"#, r#"{"id":1,"result":{}}"#, r#"{"method":"b"}"#]
            .map(|line| tampering.copies(line.as_bytes()))
    }

    #[test]
    fn each_tampering_does_what_it_says() {
        assert_eq!(copies(Tamper::Nothing), [1, 1, 1]);
        assert_eq!(copies(Tamper::Twice), [2, 1, 2]);
        assert_eq!(copies(Tamper::AnswersTwice), [1, 2, 1]);
        assert_eq!(copies(Tamper::Drop(1)), [1, 0, 1]);
        assert_eq!(copies(Tamper::CutAfter(2)), [1, 1, 0]);
        assert_eq!(copies(Tamper::CutAfter(0)), [0, 0, 0]);
    }
}
