//! The source with line numbers, and at each line what became of it.

use std::fmt::Write as _;

use super::Page;
use super::fate::{Fate, fates};
use super::text::Escaped;
use crate::run::report::Failure;

/// The story.
pub(super) fn write(out: &mut String, page: &Page<'_>) {
    out.push_str(
        "<section class=\"story\" aria-labelledby=\"story\">\n<h2 id=\"story\">The story</h2>\n\
         <ol class=\"source\">\n",
    );
    let failure = page.run.failure.as_ref();
    let fates = fates(page);
    let mut broken_at = None;
    for ((number, line), fate) in (1u32..).zip(page.source.lines()).zip(&fates) {
        let (class, word) = match fate {
            Fate::None => ("", ""),
            Fate::Passed => (" class=\"passed\"", "held"),
            Fate::Broke if broken_at.is_none() => (" class=\"broke\"", "broke here"),
            Fate::Broke => (" class=\"broke\"", ""),
            Fate::NotReached => (" class=\"later\"", "not reached"),
        };
        let first = *fate == Fate::Broke && broken_at.is_none();
        if *fate == Fate::Broke {
            broken_at = Some(number);
        }
        let number_text = match frame_of(page, number) {
            Some(frame) => format!("<a href=\"#F{frame}\" title=\"its frame\">{number}</a>"),
            None => number.to_string(),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "<li id=\"L{number}\"{class}><span class=\"number\">{number_text}</span> \
             <span class=\"fate\">{word}</span> <code>{}</code>",
            Escaped(line)
        );
        if first && let Some(failure) = failure {
            let _ = write!(out, " <strong class=\"why\">{}</strong>", Escaped(&failure.text));
        }
        out.push_str(&differences(failure.filter(|_| *fate == Fate::Broke), line));
        out.push_str("</li>\n");
    }
    // What belongs to no line is said behind the last one.
    if let Some(failure) = failure.filter(|failure| failure.line == 0) {
        let _ = writeln!(
            out,
            "<li class=\"broke\"><span class=\"number\"></span><span class=\"fate\">broke here</span>\
             <strong class=\"why\">{}</strong></li>",
            Escaped(&failure.text)
        );
    }
    out.push_str("</ol>\n</section>\n");
}

/// What the frame had instead, below the member line that it belongs to.
fn differences(failure: Option<&Failure>, line: &str) -> String {
    let mut out = String::new();
    let (Some(failure), Some(path)) = (failure, line.split_whitespace().next()) else { return out };
    if !line.starts_with(' ') {
        return out;
    }
    let below = |found: &str| {
        found.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    for one in failure.mismatches.iter().filter(|one| below(&one.path)) {
        let _ = write!(
            out,
            " <span class=\"differs\"><code>{}</code> is <code class=\"found\">{}</code></span>",
            Escaped(&one.path),
            Escaped(&one.found)
        );
    }
    out
}

/// The first frame that a line of the file itself sent or took.
fn frame_of(page: &Page<'_>, line: u32) -> Option<usize> {
    page.run.transcript.entries.iter().position(|entry| entry.line == Some(line))
}
