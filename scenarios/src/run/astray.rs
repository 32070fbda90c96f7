//! A story in which something goes wrong that its author did not write down: what must hold all the same.
//!
//! In: one point of a file, and what is done to the frames of its hosts ([`Tamper`]). Out: the transcript
//! and what is wrong. The story is followed as far as it can be: a line that is not fulfilled binds nothing,
//! an act that has lost its sense is left out. Only what holds in every run is judged: the invariants of
//! [`watch`], that every prompt settles (by itself once its host is gone, at the latest by a cancel
//! otherwise), that the failure says what is true of the submission, and that nothing was granted which
//! the person did not choose.

use std::time::Duration;

use serde_json::{Value, json};

use super::play::Play;
use super::report::Code;
use super::transcript::{Lane, Transcript};
use super::{AFTERMATH, Options, config, ending, setting, watch};
use crate::lang::ast::{Act, Expect, File, Step};
use crate::lang::point::{Axis, Point};
use crate::stage::pipe::Pipe;
use crate::stage::tamper::{Tamper, Tampering};

/// Longer than all deadlines of one prompt together: start, preparing, submission, a page, the stall bound.
const DEADLINES: Duration = Duration::from_secs(400);
/// Longer than the grace of a cancel and the ladder that ends a host.
const CANCEL: Duration = Duration::from_secs(20);

/// What came of a run.
#[derive(Debug)]
pub struct Astray {
    /// What was said.
    pub transcript: Transcript,
    /// Frames that the hosts sent or would have sent.
    pub frames: u32,
    /// What is wrong, in words without content. Empty: all is well.
    pub wrong: Vec<String>,
    /// Prompts that ended only when the editor cancelled them.
    pub cancelled: usize,
    /// [`Tampering::lost`].
    pub lost: Option<String>,
}

/// Plays one point of a file on `pipe` with a fault that the story does not know of.
///
/// # Errors
/// When the file cannot be played; the text says why.
pub fn run(
    file: &File,
    axes: &[Axis<'_>],
    point: &Point,
    tamper: Tamper,
) -> Result<Astray, String> {
    let options = Options::default();
    if let Some(reason) = options.stage.refuses(file) {
        return Err(reason);
    }
    let tampering = Tampering::new(tamper);
    let mut stage = Pipe::tampered(setting(file, options)?, config(file), Some(tampering.clone()))
        .map_err(|error| format!("no runtime: {}", error.kind()))?;
    let mut play = Play::new(file, axes, point, &mut stage);
    play.follow(&tampering);
    play.stage.calm();
    play.settle();
    let mut wrong = Vec::new();
    let settles = |play: &mut Play<'_>, limit| play.await_answers(limit);
    // Who leaves waits for nothing.
    let stays = !matches!(tamper, Tamper::LeaveAfter(_));
    let mut open = if stays { settles(&mut play, DEADLINES) } else { Vec::new() };
    if tampering.is_cut() && !open.is_empty() {
        wrong.push(format!("{} requests are open although every host is gone", open.len()));
    }
    let cancelled = open.len();
    for (_, session) in &open {
        let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel",
                             "params": { "sessionId": session } });
        play.stage.editor_write(format!("{cancel}\n").as_bytes());
    }
    if !open.is_empty() {
        open = settles(&mut play, CANCEL);
        wrong.extend(open.iter().map(|(id, _)| format!("request {id} outlives its cancel")));
    }
    play.stage.editor_close();
    play.wind_down(AFTERMATH);
    // A frame that was dropped or replaced was said by the model all the same: it is no yardstick for texts.
    play.lied |= matches!(tamper, Tamper::Drop(_) | Tamper::Refuse(_));
    let ending = ending(&mut play);
    let transcript = std::mem::take(&mut play.transcript);
    let mut findings = watch::judge(&transcript, &ending);
    if matches!(tamper, Tamper::Drop(_) | Tamper::Refuse(_)) {
        findings.retain(|finding| !needs_every_frame(finding));
    }
    wrong.extend(findings.iter().map(|finding| format!("{}: {}", finding.invariant, finding.text)));
    wrong.extend(untrue(&transcript));
    let (frames, lost) = (tampering.frames(), tampering.lost());
    Ok(Astray { transcript, frames, wrong, cancelled, lost })
}

impl Play<'_> {
    /// The timeline, as far as it goes.
    fn follow(&mut self, tampering: &Tampering) {
        let steps: Vec<&Step> = self.file.timeline().collect();
        for index in 0..steps.len() {
            if tampering.is_over() {
                return;
            }
            self.begin(index);
            match steps[index] {
                Step::Expect(expect) => {
                    self.settle();
                    self.seek(expect);
                }
                Step::ExpectRace(race) => {
                    self.settle();
                    race.lines.iter().for_each(|line| self.seek(line));
                }
                // An act without a sense is one that says so by failing.
                Step::Act(Act { .. }) | Step::ActRace(_) | Step::After(_) => {
                    drop(self.step(&steps, index));
                }
                Step::Quiet(_) => self.settle(),
            }
        }
        self.settle();
    }

    /// Takes what the line expects, passing over what it does not.
    fn seek(&mut self, expect: &Expect) {
        while let Err(failure) = self.expect(expect) {
            let astray = matches!(failure.code, Code::WrongFrame | Code::Members);
            let queue =
                if expect.lane.is_host() { &mut self.lanes.hosts } else { &mut self.lanes.editor };
            if !astray || queue.pop_front().is_none() {
                return;
            }
        }
    }

    /// Waits until every request of the editor has its answer, at most `limit`: what is left, with its
    /// session.
    fn await_answers(&mut self, limit: Duration) -> Vec<(String, String)> {
        let (mut waited, mut step) = (Duration::ZERO, Duration::from_millis(10));
        loop {
            let open = unanswered(&self.transcript);
            if open.is_empty() || waited >= limit {
                return open;
            }
            self.wait(step);
            waited += step;
            step *= 2;
        }
    }
}

/// What must not be shown, and what a host offers, may hang on the frame that was lost.
fn needs_every_frame(finding: &watch::Finding) -> bool {
    finding.invariant == "I5"
        || (finding.invariant == "I7" && finding.text.ends_with("is not offered"))
}

/// Requests of the editor without an answer, with their session.
fn unanswered(transcript: &Transcript) -> Vec<(String, String)> {
    let mut open: Vec<(String, String)> = Vec::new();
    for entry in transcript.entries.iter().filter(|entry| entry.lane == Lane::Editor) {
        let id = entry.frame["id"].to_string();
        if entry.from_adapter && entry.is_response() {
            open.retain(|(asked, _)| *asked != id);
        } else if !entry.from_adapter && entry.method().is_some() && entry.frame.get("id").is_some()
        {
            let session = entry.frame["params"]["sessionId"].as_str().unwrap_or_default();
            open.push((id, session.to_owned()));
        }
    }
    open
}

/// PRM-26: `notSubmitted` is said only of prompts that no host has heard of. The other word is a
/// possibility: what was written to a host that is gone may have been read.
fn untrue(transcript: &Transcript) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut prompts: Vec<(&Value, &str, bool)> = Vec::new();
    for entry in &transcript.entries {
        let session = entry.frame["params"]["sessionId"].as_str().unwrap_or_default();
        match (entry.lane, entry.from_adapter, entry.method()) {
            (Lane::Editor, false, Some("session/prompt")) => {
                prompts.push((&entry.frame["id"], session, false));
            }
            (Lane::Host(_), true, Some("turn/start")) => {
                let prompt = prompts.iter_mut().rev().find(|(_, of, _)| *of == session);
                if let Some((.., submitted)) = prompt {
                    *submitted = true;
                }
            }
            (Lane::Editor, true, None) => {
                let prompt = prompts.iter().find(|(id, ..)| **id == entry.frame["id"]);
                let execution = &entry.frame["error"]["data"]["failure"]["execution"];
                if prompt.is_some_and(|(.., submitted)| *submitted) && execution == "notSubmitted" {
                    wrong.push("notSubmitted is said of a prompt that was submitted".to_owned());
                }
            }
            _ => {}
        }
    }
    wrong
}
