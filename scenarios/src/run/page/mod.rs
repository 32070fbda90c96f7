//! A run as one HTML page: what broke, the story with what became of each line, and the conversation.
//!
//! In: a story, its source, a run. Out: a page that needs nothing else: no script, no network, no font. It is
//! for eyes and for screen readers, in light and dark, and every frame opens to its JSON by the keyboard.
//! Invariants: everything that a story or a program said is escaped; a policy in the page forbids scripts
//! and requests even so; the same run gives the same bytes.

mod diagram;
mod fate;
mod report;
mod story;
mod text;

use std::fmt::Write as _;

use super::{Run, StageKind};
use crate::lang::ast::File;
use text::Escaped;

const STYLE: &str = include_str!("style.css");

/// What the page shows.
#[derive(Debug)]
pub struct Page<'a> {
    /// The file as messages name it.
    pub path: &'a str,
    /// Its text.
    pub source: &'a str,
    /// What it says.
    pub file: &'a File,
    /// The point as `--at` reads it; empty without axes.
    pub point: &'a str,
    /// Seed of the hosts' ids.
    pub seed: u64,
    /// What came of it.
    pub run: &'a Run,
}

/// The page.
#[must_use]
pub fn html(page: &Page<'_>) -> String {
    let failure = page.run.failure.as_ref();
    let (verdict, class) = if failure.is_some() { ("red", "red") } else { ("green", "green") };
    let title = Escaped(&page.file.title);
    let ids: Vec<&str> = page.file.header.ids.iter().map(|id| id.text.as_str()).collect();
    let frames = page.run.transcript.entries.len();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{verdict}: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body class=\"{class}\">\n\
         <header>\n<p class=\"verdict\"><strong>{verdict}</strong> <span>{path}</span></p>\n\
         <h1>{title}</h1>\n<dl class=\"facts\">\n<div><dt>proves</dt><dd>{ids}</dd></div>\n",
        path = Escaped(page.path),
        ids = Escaped(&ids.join(" ")),
    );
    if !page.point.is_empty() {
        // A value of `vary` may be a whole page of text.
        let point = muse_code_acp::core::redact::cut(page.point, 200);
        let _ = writeln!(out, "<div><dt>point</dt><dd>{}</dd></div>", Escaped(&point));
    }
    let _ = write!(
        out,
        "<div><dt>stage</dt><dd>{}</dd></div>\n<div><dt>seed</dt><dd>{}</dd></div>\n\
         <div><dt>frames</dt><dd>{frames}</dd></div>\n</dl>\n</header>\n<main>\n",
        StageKind::fitting(page.file).name(),
        page.seed
    );
    if let Some(failure) = failure {
        report::write(&mut out, page, failure);
    }
    out.push_str("<div class=\"columns\">\n");
    story::write(&mut out, page);
    diagram::write(&mut out, page);
    out.push_str("</div>\n");
    if failure.is_none() {
        report::replay(&mut out, page);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The frame that came instead of what the failing line expects.
fn culprit(page: &Page<'_>) -> Option<usize> {
    let instead = page.run.failure.as_ref()?.instead.as_ref()?;
    let instead: serde_json::Value = serde_json::from_str(instead).ok()?;
    page.run
        .transcript
        .entries
        .iter()
        .rposition(|entry| entry.from_adapter && entry.frame == instead)
}

#[cfg(test)]
mod tests;
