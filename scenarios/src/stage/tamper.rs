//! What may go wrong between hosts and the adapter in any story: frames that come twice, that do not come,
//! answers that refuse, or a neighbour that vanishes after so many of them.
//!
//! In: the frames of all hosts of a run in the order in which they are sent. Out: how often each one goes
//! onto the wire, and whether everything ends there. It knows nothing of what a frame says but whether it
//! is a notification.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

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
    /// The frame with this number, from 0, is a refusal instead, if it is an answer that grants something.
    Refuse(u32),
    /// The editor leaves when so many frames have come.
    LeaveAfter(u32),
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
    /// What did not come as it was, once it was its turn.
    lost: Option<Vec<u8>>,
}

impl Tampering {
    /// A run at its beginning.
    #[must_use]
    pub fn new(tamper: Tamper) -> Self {
        let cut = tamper == Tamper::CutAfter(0);
        Self(Rc::new(RefCell::new(State { tamper, frames: 0, cut, lost: None })))
    }

    /// What goes onto the wire for the next frame.
    pub(super) fn lines(&self, line: &[u8]) -> Vec<Vec<u8>> {
        let mut state = self.0.borrow_mut();
        if state.cut {
            return Vec::new();
        }
        let number = state.frames;
        state.frames += 1;
        let copies = match state.tamper {
            Tamper::Twice if is_notification(line) => 2,
            Tamper::AnswersTwice if is_answer(line) => 2,
            Tamper::Drop(dropped) if dropped == number => {
                state.lost = Some(line.to_vec());
                0
            }
            Tamper::Refuse(refused) if refused == number => {
                state.lost = Some(line.to_vec());
                return vec![refusal(line).unwrap_or_else(|| line.to_vec())];
            }
            Tamper::CutAfter(last) => {
                state.cut = number + 1 >= last;
                1
            }
            _ => 1,
        };
        vec![line.to_vec(); copies]
    }

    /// Frames so far.
    #[must_use]
    pub fn frames(&self) -> u32 {
        self.0.borrow().frames
    }

    /// The method of the frame that did not come as it was; empty for an answer.
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        let frame: Value = serde_json::from_slice(self.0.borrow().lost.as_deref()?).ok()?;
        Some(frame["method"].as_str().unwrap_or_default().to_owned())
    }

    /// The story ends here: the machine has vanished, or the editor leaves.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let state = self.0.borrow();
        state.cut || matches!(state.tamper, Tamper::LeaveAfter(last) if state.frames >= last)
    }

    /// The machine has vanished.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.0.borrow().cut
    }
}

fn is_notification(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|frame| frame.get("id").is_none())
}

fn is_answer(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line)
        .is_ok_and(|frame| frame.get("id").is_some() && frame.get("method").is_none())
}

/// The same answer as a refusal.
fn refusal(line: &[u8]) -> Option<Vec<u8>> {
    let frame: Value = serde_json::from_slice(line).ok()?;
    frame.get("result").filter(|_| frame.get("method").is_none())?;
    let error = json!({ "code": -32603, "message": "no", "data": { "kind": "internalError" } });
    let refusal = json!({ "jsonrpc": "2.0", "id": frame["id"], "error": error });
    Some(refusal.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of three frames comes; the second is an answer.
    fn copies(tamper: Tamper) -> [usize; 3] {
        let tampering = Tampering::new(tamper);
        [r#"{"method":"a"}"#, r#"{"id":1,"result":{}}"#, r#"{"method":"b"}"#]
            .map(|line| tampering.lines(line.as_bytes()).len())
    }

    #[test]
    fn each_tampering_does_what_it_says() {
        assert_eq!(copies(Tamper::Nothing), [1, 1, 1]);
        assert_eq!(copies(Tamper::Twice), [2, 1, 2]);
        assert_eq!(copies(Tamper::AnswersTwice), [1, 2, 1]);
        assert_eq!(copies(Tamper::Drop(1)), [1, 0, 1]);
        assert_eq!(copies(Tamper::CutAfter(2)), [1, 1, 0]);
        assert_eq!(copies(Tamper::CutAfter(0)), [0, 0, 0]);
        assert_eq!(copies(Tamper::LeaveAfter(1)), [1, 1, 1]);
        let tampering = Tampering::new(Tamper::Drop(0));
        assert_eq!(tampering.lost(), None);
        assert!(tampering.lines(br#"{"method":"a"}"#).is_empty());
        assert_eq!(tampering.lost().as_deref(), Some("a"));
        let tampering = Tampering::new(Tamper::Refuse(0));
        let refused = tampering.lines(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert!(String::from_utf8_lossy(&refused[0]).contains("-32603"));
        assert_eq!(Tampering::new(Tamper::Refuse(0)).lines(b"{}"), [b"{}"]);
    }
}
