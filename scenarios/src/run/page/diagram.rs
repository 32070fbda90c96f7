//! The conversation: lanes from left to right, time from top to bottom.
//!
//! Each frame is a row that opens to its JSON. Rows that no line mentions are folded together where there are
//! several, and so is the opening, because a reader looks for the story first; all of them can be unfolded.

use std::fmt::Write as _;
use std::time::Duration;

use super::text::{Escaped, pretty};
use super::{Page, culprit};
use crate::run::render::label;
use crate::run::transcript::{Entry, Lane, Mark, What};

/// Fewest frames that are worth folding.
const FOLD_MIN: usize = 3;

/// Why rows stand in one fold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// The opening.
    Opening,
    /// No line mentions them.
    Unmentioned,
    /// After the story.
    Aftermath,
    /// They stand for themselves.
    No,
}

/// The diagram.
pub(super) fn write(out: &mut String, page: &Page<'_>) {
    let hosts = hosts(page);
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<section class=\"run\" aria-labelledby=\"run\" style=\"--lanes: {}\">\n<h2 id=\"run\">The run</h2>\n\
         <div class=\"lanes\" aria-hidden=\"true\"><span>editor</span><span>adapter</span>",
        hosts + 2
    );
    for host in 1..=hosts {
        let name = if hosts == 1 { "host".to_owned() } else { format!("host{host}") };
        let _ = write!(out, "<span>{name}</span>");
    }
    out.push_str("</div>\n<div class=\"rows\">\n");
    let mut rows = Rows {
        out,
        page,
        fold: Fold::No,
        clock: None,
        waiting: Vec::new(),
        culprit: culprit(page),
    };
    let entries = &page.run.transcript.entries;
    let mut marks = page.run.transcript.marks.iter().peekable();
    let opening = page.file.given.as_ref().map(|given| given.at.line);
    let mut ended = false;
    for index in 0..=entries.len() {
        while let Some(mark) = marks.next_if(|mark| mark.before <= index) {
            ended |= mark.what == What::Ended;
            if Some(mark.line) != opening || mark.what == What::Ended {
                rows.mark(mark);
            }
        }
        let Some(entry) = entries.get(index) else { break };
        let fold = if ended {
            Fold::Aftermath
        } else if entry.line.is_some() && entry.line == opening {
            Fold::Opening
        } else if rows.culprit == Some(index) {
            Fold::No
        } else if entry.line.is_none() {
            // What happens while the opening is played belongs to it.
            let after = entries[index..].iter().find_map(|entry| entry.line);
            if opening.is_some() && after == opening { Fold::Opening } else { Fold::Unmentioned }
        } else {
            Fold::No
        };
        rows.frame(index, entry, fold);
    }
    rows.flush();
    out.push_str("</div>\n</section>\n");
}

/// How many hosts the run had.
fn hosts(page: &Page<'_>) -> usize {
    let entries = page.run.transcript.entries.iter().map(|entry| entry.lane);
    let most = entries.filter_map(|lane| match lane {
        Lane::Host(index) => Some(index + 1),
        Lane::Editor => None,
    });
    most.max().unwrap_or(0)
}

struct Rows<'o, 'p> {
    out: &'o mut String,
    page: &'o Page<'p>,
    fold: Fold,
    clock: Option<Duration>,
    /// The frame that came instead.
    culprit: Option<usize>,
    /// Frames of the fold that is open.
    waiting: Vec<(usize, &'o Entry)>,
}

impl<'o> Rows<'o, '_> {
    fn frame(&mut self, index: usize, entry: &'o Entry, fold: Fold) {
        if fold != self.fold {
            self.flush();
        }
        self.fold = fold;
        self.waiting.push((index, entry));
        if fold == Fold::No {
            self.flush();
        }
    }

    /// Writes what waits, folded if there is enough of it.
    fn flush(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let fold = std::mem::replace(&mut self.fold, Fold::No);
        let folded = fold != Fold::No && waiting.len() >= FOLD_MIN;
        if folded {
            let what = match fold {
                Fold::Opening => "of the opening",
                Fold::Unmentioned => "that no line mentions",
                Fold::Aftermath | Fold::No => "while everything ends",
            };
            let _ = writeln!(
                self.out,
                "<details class=\"fold\"><summary><span>{} frames {what}</span></summary>",
                waiting.len()
            );
        }
        for (index, entry) in waiting {
            self.row(index, entry);
        }
        if folded {
            self.out.push_str("</details>\n");
            // The row below is seen without those above.
            self.clock = None;
        }
    }

    fn row(&mut self, index: usize, entry: &Entry) {
        let time = self.time(entry.at);
        let (peer, lane) = match entry.lane {
            Lane::Editor => ("editor".to_owned(), 0),
            Lane::Host(host) => (format!("host{}", host + 1), host + 2),
        };
        // The adapter is the second lane.
        let (left, right) = if lane == 0 { (0, 1) } else { (1, lane) };
        let to_right = (lane == 0) != entry.from_adapter;
        let mut classes = String::from(if to_right { "right" } else { "left" });
        for (is, class) in [
            (entry.is_response(), " answer"),
            (entry.lie, " lie"),
            (entry.line.is_none(), " quietly"),
            (entry.frame.get("error").is_some(), " error"),
            (self.culprit == Some(index), " culprit"),
        ] {
            classes.push_str(if is { class } else { "" });
        }
        let (from, to) = if entry.from_adapter {
            ("adapter", peer.as_str())
        } else {
            (peer.as_str(), "adapter")
        };
        let line = line_link(entry.line);
        let lie = match (entry.lie, self.culprit == Some(index)) {
            (true, _) => "<em>lie</em> ",
            (_, true) => "<em>came instead</em> ",
            _ => "",
        };
        let shown = label(entry);
        // The mark beside the label says it.
        let shown = shown.trim_end_matches(" (lie)");
        let (head, rest) = shown.split_once(' ').unwrap_or((shown, ""));
        let rest = match answered(&self.page.run.transcript.entries[..index], entry) {
            Some(method) => format!("{method} {rest}"),
            None => rest.to_owned(),
        };
        let _ = write!(
            self.out,
            "<details class=\"frame\" id=\"F{index}\"><summary>{time}\
             <span class=\"arrow {classes}\" style=\"--from: {left}; --to: {right}\">\
             <span class=\"spoken\">{from} to {to}: </span>\
             <span class=\"label\">{lie}<b>{}</b> {}</span></span> {line}</summary>\n<pre>{}</pre></details>\n",
            breakable(head),
            breakable(&rest),
            Escaped(&pretty(&entry.frame))
        );
    }

    fn mark(&mut self, mark: &Mark) {
        let (class, lane, text) = match &mark.what {
            What::Passed => return,
            What::Ended => {
                self.flush();
                return self.ending(mark);
            }
            What::Fault(lane, text) => ("fault", Some(*lane), format!("! {text}")),
            What::Bytes(lane, text) => {
                let bytes = muse_code_acp::core::redact::cut(text, 80);
                ("lie", Some(*lane), format!("lie: bytes {bytes:?}"))
            }
            What::Lost(lane, method) => ("lost", Some(*lane), format!("lost: {method}")),
            What::Closed(lane) => ("closed", Some(*lane), "closed by the adapter".to_owned()),
            What::Waited(by) => ("waited", None, format!("{} ms pass", by.as_millis())),
            What::Quiet => ("waited", None, "quiet".to_owned()),
        };
        self.flush();
        let time = self.time(mark.at);
        let place = match lane {
            None => String::new(),
            Some(Lane::Editor) => " style=\"--at: 0\"".to_owned(),
            Some(Lane::Host(host)) => format!(" style=\"--at: {}\"", host + 2),
        };
        let _ = writeln!(
            self.out,
            "<p class=\"mark {class}\">{time}<span class=\"chip\"{place}>{}</span>{}</p>",
            Escaped(&muse_code_acp::core::redact::cut(&text, 120)),
            line_link(Some(mark.line))
        );
    }

    /// Where the story is over: its failure, or that it held.
    fn ending(&mut self, mark: &Mark) {
        let time = self.time(mark.at);
        let _ = match &self.page.run.failure {
            Some(failure) => writeln!(
                self.out,
                "<p class=\"mark broke\" id=\"broke\">{time}<span class=\"chip\"><strong>{}</strong> {}</span>{}</p>",
                failure.code.as_str(),
                Escaped(&failure.text),
                line_link(Some(failure.line).filter(|line| *line > 0))
            ),
            None => writeln!(
                self.out,
                "<p class=\"mark ended\">{time}<span class=\"chip\">the story is told; the editor goes</span></p>"
            ),
        };
    }

    /// The time, where it is another one than in the row above.
    fn time(&mut self, at: Duration) -> String {
        if self.clock == Some(at) {
            return "<span class=\"time\"></span>".to_owned();
        }
        self.clock = Some(at);
        format!("<span class=\"time\">{} ms</span> ", at.as_millis())
    }
}

/// The method of the request that a response answers.
fn answered<'e>(before: &'e [Entry], entry: &Entry) -> Option<&'e str> {
    let id = entry.frame.get("id").filter(|_| entry.is_response())?;
    before
        .iter()
        .rfind(|one| {
            one.lane == entry.lane
                && one.from_adapter != entry.from_adapter
                && one.frame.get("id") == Some(id)
        })?
        .method()
}

/// A label that may be broken where its words end.
fn breakable(label: &str) -> String {
    Escaped(label).to_string().replace('/', "/<wbr>").replace('_', "_<wbr>")
}

fn line_link(line: Option<u32>) -> String {
    match line {
        Some(line) => format!("<a class=\"line\" href=\"#L{line}\">line {line}</a>"),
        None => "<span class=\"line\"></span>".to_owned(),
    }
}
