//! Pages of small stories.

use super::{Page, html};
use crate::lang::tests::expect::{package, same};
use crate::lang::{parse, point};
use crate::run::{Options, Run, run_point};

/// `given turn running`, one text, an answer.
fn story(last: &str) -> String {
    format!(
        "scenario \"a <turn> ends & is told\"\n  id SCN-A-01\n\ngiven  turn running\n\n# What the host says.\n\
         host   -> item/completed\n  item.kind = \"agentMessage\"\n  item.text = \"<b>hi</b>\"\n\
         host   -> turn/completed\neditor <- text \"<b>hi</b>\"\n{last}"
    )
}

fn page(story: &str) -> String {
    let (file, found) = parse("a.scn", story.as_bytes());
    assert!(found.is_empty(), "{found:?}");
    let file = file.expect("a story");
    let axes = point::axes(&file);
    let first = point::at(&axes, 0);
    let run: Run = run_point(&file, &axes, &first, Options::default()).expect("playable");
    let point = point::label(&axes, &first);
    html(&Page { path: "a.scn", source: story, file: &file, point: &point, seed: 0, run: &run })
}

const GREEN: &str =
    "editor <- ok prompt\n  stopReason = \"end_turn\"\ncheck host <- turn/start = 1\n";
const RED: &str =
    "editor <- ok prompt\n  stopReason = \"max_tokens\"\ncheck host <- turn/start = 1\n";

/// The classes of the lines of the story.
fn lines(page: &str) -> Vec<&str> {
    let items = page.split("<li ").skip(1);
    items
        .map(|item| match item.split_once('>') {
            Some((attributes, _)) => {
                attributes.split("class=\"").nth(1).unwrap_or("").trim_end_matches('"')
            }
            None => "",
        })
        .collect()
}

#[test]
fn a_red_run_marks_the_line_says_what_differs_and_how_to_play_it_again() {
    let page = page(&story(RED));
    let expected = [
        "", "", "", "passed", "", "", "passed", "passed", "passed", "passed", "passed", "broke",
        "broke", "later",
    ];
    assert_eq!(lines(&page), expected);
    for part in [
        "<strong>red</strong>",
        "<code>R0003</code> the frame has other members",
        "<code class=\"expected\">&quot;max_tokens&quot;</code>",
        "<code class=\"found\">&quot;end_turn&quot;</code>",
        "<code>stopReason</code> is <code class=\"found\">",
        "<a href=\"#L11\">line 11</a>",
        "scenario run a.scn</code>",
        "id=\"broke\"",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

/// What a reader hears: the text of the page without frames' JSON, one line a row.
#[test]
fn a_page_reads_well_without_its_looks() {
    let page = page(&story(RED));
    let body = page.split("<body").nth(1).expect("a body");
    let frames = body.split("<pre>").map(|part| part.split_once("</pre>").unwrap_or(("", part)).1);
    let shown: String = std::iter::once(body.split("<pre>").next().expect("a head"))
        .chain(frames.skip(1))
        .collect();
    // What is folded is the handshake, which is nothing of this test.
    let open = shown.split("<details class=\"fold\">").map(|part| {
        let (fold, rest) = part.split_once("</details>\n</details>").unwrap_or(("", part));
        fold.split("<details").next().unwrap_or_default().to_owned() + rest
    });
    let shown: String = open.collect();
    let shown = shown.replace("</dt>", ": ").replace("</th>", " | ").replace("</td>", " | ");
    let text: String = shown.split('<').filter_map(|tag| Some(tag.split_once('>')?.1)).collect();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let counted = |line: &str| line.contains(" frames ") || line.starts_with("frames: ");
    let lines: Vec<&str> = lines.into_iter().filter(|line| !counted(line)).collect();
    same(&package("tests/golden/page.txt"), &(lines.join("\n") + "\n"));
}

#[test]
fn a_green_run_shows_the_same_without_a_failure() {
    let page = page(&story(GREEN));
    assert!(!lines(&page).contains(&"broke") && !lines(&page).contains(&"later"), "{page}");
    assert!(page.contains("<strong>green</strong>") && !page.contains("class=\"failure\""));
    assert!(page.contains("frames of the opening"), "{page}");
}

#[test]
fn a_page_asks_for_nothing_and_holds_no_markup_of_a_story() {
    for last in [GREEN, RED] {
        let page = page(&story(last));
        assert!(!page.contains("<b>hi") && page.contains("&lt;b&gt;hi&lt;/b&gt;"));
        assert!(page.contains("a &lt;turn&gt; ends &amp; is told"));
        for outside in ["<script", "http:", "https:", "url(", "@import", "src=", " on"] {
            let found = page.match_indices(outside).any(|(at, _)| {
                // ` on` begins an attribute such as `onclick=` only within a tag.
                outside != " on"
                    || page[at..].split(['>', ' ', '\n']).nth(1).is_some_and(|w| w.contains('='))
            });
            assert!(!found, "{outside}");
        }
        // Every tag that is opened is closed, in the order of a tree.
        well_formed(&page);
    }
}

#[test]
fn what_no_line_expects_is_said_behind_the_last_line() {
    let page = page(&story("quiet\n").replace("quiet\n", "never editor <- thought \"x\"\n"));
    assert!(page.contains("<li class=\"broke\"><span class=\"number\"></span>"), "{page}");
}

/// Refuses a tag that closes another one than the last that was opened.
fn well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default();
        if ["!DOCTYPE", "meta", "wbr"].contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closed in the wrong order");
        } else {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
}
