//! The formatter keeps meaning, is stable, and leaves comments where they are.

use super::generate::story;
use super::story::{DEADLINE, GAP, STAGES};
use crate::lang::diagnostic::{Style, render, render_all};
use crate::lang::fmt::format;
use crate::lang::syntax::Item;
use crate::lang::{Reading, parse, read};

/// Stories a run; each is a few dozen lines.
const STORIES: u64 = 400;

/// The properties of the formatter for one file.
fn check(text: &str) {
    let before = read("before.scn", text.as_bytes());
    let problems = render_all(&before.diagnostics, Style::Plain);
    assert!(before.diagnostics.is_empty(), "{problems}\n{text}");
    let once = format("once.scn", text.as_bytes()).unwrap();
    let after = read("after.scn", once.as_bytes());
    let problems = render_all(&after.diagnostics, Style::Plain);
    assert!(after.diagnostics.is_empty(), "{problems}\n{text}\n--- formatted\n{once}");
    assert_eq!(before.file, after.file, "the meaning changed\n{text}\n--- formatted\n{once}");
    assert_eq!(
        comments(&before),
        comments(&after),
        "a comment moved\n{text}\n--- formatted\n{once}"
    );
    let twice = format("twice.scn", once.as_bytes()).unwrap();
    assert_eq!(once, twice, "formatting is not stable\n{text}");
    for line in once.lines() {
        assert_eq!(line, line.trim_end(), "blanks at the end of a line\n{once}");
    }
    assert!(
        !once.contains("\n\n\n") && once.ends_with('\n') && !once.ends_with("\n\n"),
        "{once:?}"
    );
}

/// Every comment with the number of statements that begin before it. In generated stories comments are
/// the words `#c1`, `#c2`, … and nothing else holds a `#c`.
fn comments(reading: &Reading) -> Vec<(String, usize)> {
    let starts: Vec<usize> = reading
        .tree
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Statement(statement) => Some(statement.head.span.start),
            Item::Blank | Item::Comment(_) => None,
        })
        .collect();
    let text = reading.source.text();
    text.match_indices("#c")
        .map(|(at, _)| {
            let word = text[at..].split_whitespace().next().unwrap_or_default().to_owned();
            (word, starts.partition_point(|start| *start < at))
        })
        .collect()
}

#[test]
fn generated_stories_keep_their_meaning_and_their_comments() {
    for seed in 0..STORIES {
        check(&story(seed));
    }
}

#[test]
fn the_design_stories_are_already_in_canonical_form() {
    for text in [STAGES, GAP, DEADLINE] {
        check(text);
        assert_eq!(format("story.scn", text.as_bytes()).as_deref(), Ok(text));
    }
}

#[test]
fn the_corpus_is_in_canonical_form() {
    let files = crate::lang::catalogue::files(&super::expect::package("corpus")).unwrap();
    let wild = files.iter().filter(|path| {
        let bytes = std::fs::read(path).unwrap();
        // What is wrong with a file is told by the test that plays it.
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        format("corpus", text.as_bytes()).is_ok_and(|canonical| canonical != text)
    });
    let wild: Vec<_> = wild.collect();
    assert!(wild.is_empty(), "write them with `scenario fmt`: {wild:#?}");
}

#[test]
fn a_wild_layout_becomes_the_canonical_one() {
    let wild = concat!(
        "\n\n#c1 first\nscenario    \"t\"   #c2\n   hosts fake ,host  >=  1.2.0\n",
        "    id  SCN-A-01   SCN-A-02\n\n\n\nvary $x in 1,2 ,\"a\"\ngiven   turn   running\n",
        "   #c3 belongs to given\n\n#c4\nhost -> item/started as a\n",
        "  item.kind   =  \"toolCall\"\n\n  #c5\n  item.text = \"\\u0041\\/\"\n",
        "  x = {\n   \"a\":1,#c6\n\n     \"b\" : [ ] }\n  y = $x\n",
        "host2   ->   item/completed of a\nrace   host ! exit 3\nafter 1s\n",
        "editor <- ok prompt\n  a = 1\n  long.path = 2\n  c absent\n\n\n",
    );
    check(wild);
    let expected = r##"#c1 first
scenario "t" #c2
  hosts    fake, host >= 1.2.0
  id       SCN-A-01 SCN-A-02

vary $x in 1, 2, "a"
given  turn running
  #c3 belongs to given

#c4
host   -> item/started as a
  item.kind = "toolCall"

  #c5
  item.text = "A/"
  x         = {
    "a": 1, #c6

    "b": []
  }
  y         = $x
host2  -> item/completed of a
race host ! exit 3
after  1s
editor <- ok prompt
  a         = 1
  long.path = 2
  c absent
"##;
    assert_eq!(format("wild.scn", wild.as_bytes()).unwrap(), expected);
}

#[test]
fn a_broken_file_is_not_formatted() {
    let found = format("a.scn", b"scenario \"t\"\n  id SCN-A-01\nhello\n").unwrap_err();
    assert_eq!(found.len(), 1);
}

#[test]
fn no_part_of_a_file_makes_the_reader_fall() {
    for text in [STAGES, GAP, DEADLINE, &story(7)] {
        for end in (0..=text.len()).step_by(3) {
            let _ = parse("part.scn", &text.as_bytes()[..end]);
        }
        // One byte changed, at many places, to each byte that means something.
        let bytes = text.as_bytes();
        for at in (0..bytes.len()).step_by(61) {
            for with in *b"\"{}[]$#=,_ \t\n\\\xff0" {
                let mut changed = bytes.to_vec();
                changed[at] = with;
                let (_, found) = parse("changed.scn", &changed);
                let _ = found.first().map(|first| render(first, Style::Plain));
            }
        }
    }
}

#[test]
fn a_large_file_is_read_in_one_pass() {
    let head = "scenario \"t\"\n  id SCN-A-01\ngiven turn running\neditor <- ok prompt\n";
    let fill = |line: &str| line.repeat((256 * 1024 - head.len()) / line.len());
    for (line, problems) in [("  x contains \"a\"\n", 0), ("\n", 0), ("# c\n", 0), ("  # c\n", 0)] {
        let (_, found) = parse("large.scn", format!("{head}{}", fill(line)).as_bytes());
        assert_eq!(found.len(), problems, "{line:?}");
    }
    // Each of these lines is wrong, and each is looked at once.
    for line in ["  x = {\n", "  $\n", " x\n", "x\n", "  x = \"\n", "}\n", "race host -> ok x\n"] {
        let (_, found) = parse("large.scn", format!("{head}{}", fill(line)).as_bytes());
        assert!(!found.is_empty(), "{line:?}");
    }
}

#[test]
fn lines_in_any_order_are_read_and_told_the_same_twice() {
    let lines: Vec<&str> = STAGES.lines().chain(DEADLINE.lines()).collect();
    for step in (1..lines.len()).step_by(3) {
        let mixed: Vec<&str> = (0..lines.len()).map(|n| lines[n * step % lines.len()]).collect();
        let text = mixed.join("\n");
        let (first, found) = parse("mixed.scn", text.as_bytes());
        let (second, again) = parse("mixed.scn", text.as_bytes());
        assert_eq!((first, &found), (second, &again));
        let lines = found.iter().map(|one| one.place.line);
        assert!(lines.is_sorted(), "{found:?}");
    }
}
