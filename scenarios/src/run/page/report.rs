//! Why the run is red: the first thing on the page.

use std::fmt::Write as _;

use super::text::{Escaped, pretty_text};
use super::{Page, culprit};
use crate::run::StageKind;
use crate::run::report::{Failure, Replay};

/// The failure and how to play it again.
pub(super) fn write(out: &mut String, page: &Page<'_>, failure: &Failure) {
    let place = match failure.line {
        0 => Escaped(page.path).to_string(),
        line => format!("<a href=\"#L{line}\">line {line}</a>"),
    };
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<section class=\"failure\" aria-labelledby=\"why\">\n<h2 id=\"why\"><code>{code}</code> {text}</h2>\n\
         <p class=\"where\">{place}, at {at} ms of virtual time</p>\n",
        code = failure.code.as_str(),
        text = Escaped(&failure.text),
        at = failure.at.as_millis(),
    );
    if let Some(text) = line_of(page.source, failure.line) {
        let line = failure.line;
        let _ = writeln!(
            out,
            "<pre class=\"culprit\"><span class=\"number\">{line}</span>{}</pre>",
            Escaped(text)
        );
    }
    if !failure.mismatches.is_empty() {
        out.push_str(
            "<table>\n<thead><tr><th scope=\"col\">member</th><th scope=\"col\">expected</th>\
             <th scope=\"col\">found</th></tr></thead>\n<tbody>\n",
        );
        for one in &failure.mismatches {
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\"><code>{}</code></th><td><code class=\"expected\">{}</code></td>\
                 <td><code class=\"found\">{}</code></td></tr>",
                Escaped(&one.path),
                Escaped(&one.expected),
                Escaped(&one.found)
            );
        }
        out.push_str("</tbody>\n</table>\n");
    }
    out.push_str("<dl class=\"report\">\n");
    if let Some(instead) = &failure.instead {
        let text = pretty_text(instead);
        let shown = if text.lines().count() > 1 {
            let head = muse_code_acp::core::redact::cut(instead, 120);
            format!(
                "<details><summary><code>{}</code></summary><pre>{}</pre></details>",
                Escaped(&head),
                Escaped(&text)
            )
        } else {
            format!("<code>{}</code>", Escaped(&text))
        };
        let link = culprit(page)
            .map_or_else(String::new, |frame| format!("<a href=\"#F{frame}\">in the run</a> "));
        let _ = writeln!(out, "<div><dt>next on this lane</dt><dd>{link}{shown}</dd></div>");
    }
    if let Some(line) = failure.last_matched
        && let Some(text) = line_of(page.source, line)
    {
        let _ = writeln!(
            out,
            "<div><dt>last matched</dt><dd><a href=\"#L{line}\">line {line}</a> <code>{}</code></dd></div>",
            Escaped(text.trim())
        );
    }
    let timer = failure.pending.map_or_else(
        || "none is pending".to_owned(),
        |pending| format!("in {} ms", pending.as_millis()),
    );
    let _ = writeln!(out, "<div><dt>next timer</dt><dd>{timer}</dd></div>");
    let _ = writeln!(
        out,
        "<div><dt>replay</dt><dd><code class=\"command\">{}</code></dd></div>",
        Escaped(&command(page))
    );
    out.push_str("</dl>\n</section>\n");
}

/// How to play a green run again.
pub(super) fn replay(out: &mut String, page: &Page<'_>) {
    let _ = writeln!(
        out,
        "<footer>replay: <code class=\"command\">{}</code></footer>",
        Escaped(&command(page))
    );
}

fn command(page: &Page<'_>) -> String {
    let stage = StageKind::fitting(page.file);
    let how = Replay { point: page.point, stage, seed: page.seed };
    format!("scenario run {}{how}", page.path)
}

/// The line of this number, from 1.
pub(super) fn line_of(source: &str, line: u32) -> Option<&str> {
    source.lines().nth(usize::try_from(line.checked_sub(1)?).ok()?)
}
