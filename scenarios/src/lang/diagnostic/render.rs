//! Diagnostics for people, in the look of the Rust compiler.
//!
//! Inputs: diagnostics. Output: text. Invariants: the plain form has no control bytes; the first two
//! lines carry code, path, line and column. Rules: MSG-1, MSG-2, GRM-4.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{Diagnostic, Place};
use crate::lang::codes;
use crate::lang::limits::PROBLEMS_SHOWN;

/// How to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Text only: files, pipes, tests.
    #[default]
    Plain,
    /// With the colours of a terminal.
    Coloured,
}

/// Wide enough that short lines are never cut, and bounded so that pasted frames are.
const WIDTH: usize = 140;

/// One diagnostic, without a newline at its end.
#[must_use]
pub fn render(one: &Diagnostic, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let excerpt = visible(&one.place);
    let mut snippet = snippet(&one.path, &one.place, &excerpt)
        .annotation(AnnotationKind::Primary.span(one.place.range()).label(&one.allowed));
    let related = one.related.as_ref().map(|(place, text)| (place, text, visible(place)));
    let mut second = None;
    if let Some((place, text, excerpt)) = &related {
        let note = AnnotationKind::Context.span(place.range()).label(text.as_str());
        if place.line == one.place.line {
            snippet = snippet.annotation(note);
        } else {
            second = Some(self::snippet(&one.path, place, excerpt).annotation(note));
        }
    }
    let error = Level::ERROR.primary_title(one.found.as_str()).id(one.code.as_str());
    let error = error.element(snippet).elements(second);
    let help = annotate_snippets::Group::with_title(Level::HELP.secondary_title(&one.help));
    renderer.term_width(WIDTH).render(&[error, help])
}

fn snippet<'a>(
    path: &'a str,
    place: &Place,
    excerpt: &'a str,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    Snippet::source(excerpt).line_start(place.line as usize).path(path)
}

/// The excerpt with control bytes replaced, one byte by one byte, so that offsets still fit and a
/// terminal is not steered by a file.
fn visible(place: &Place) -> String {
    place.excerpt.chars().map(|c| if c.is_ascii_control() && c != '\t' { '?' } else { c }).collect()
}

/// The first [`PROBLEMS_SHOWN`] diagnostics and how many are not shown, each followed by a blank line.
#[must_use]
pub fn render_all(all: &[Diagnostic], style: Style) -> String {
    let mut text = String::new();
    for one in all.iter().take(PROBLEMS_SHOWN) {
        text.push_str(&render(one, style));
        text.push_str("\n\n");
    }
    if let Some(hidden) = count(all).checked_sub(PROBLEMS_SHOWN).filter(|hidden| *hidden > 0) {
        text.push_str(&format!("{hidden} more not shown; correct these first\n\n"));
    }
    text
}

/// How many problems a file has. The diagnostic that says that some were not kept is none of them, but it
/// knows how many there are.
#[must_use]
pub fn count(all: &[Diagnostic]) -> usize {
    match all.last() {
        Some(last) if last.code == codes::TOO_MANY_PROBLEMS => {
            let number = last.found.split(' ').next().and_then(|number| number.parse().ok());
            number.unwrap_or(all.len())
        }
        _ => all.len(),
    }
}

/// `3 problems in 2 files`, or nothing if there are none.
#[must_use]
pub fn summary(problems: usize, files: usize) -> Option<String> {
    let word = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    (problems > 0).then(|| format!("{} in {}", word(problems, "problem"), word(files, "file")))
}
