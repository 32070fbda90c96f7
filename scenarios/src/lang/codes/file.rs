//! `S00xx`: the file as a whole.

use super::{
    Entry, Example, FILE_TOO_LARGE, LINE_TOO_LONG, NOT_UTF8, TOO_DEEP, TOO_MANY_POINTS,
    TOO_MANY_PROBLEMS, TOO_MANY_STATEMENTS, entry,
};
use crate::lang::limits::{
    DEPTH_MAX, FILE_BYTES_MAX, LINE_BYTES_MAX, PROBLEMS_MAX, STATEMENTS_MAX,
};

const SMALL: &str = "\
scenario \"a prompt is answered\"
  id SCN-STR-01

given turn running
host -> turn/completed
editor <- ok prompt
";

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        code: FILE_TOO_LARGE,
        title: "the file is too large",
        text: "A scenario is at most 1 MiB, because a person has to review it. Tell one story a file, and \
               put large payloads into a Rust test.",
        wrong: Example::Made(too_large, "a file of more than 1,048,576 bytes"),
        right: SMALL,
    },
    Entry {
        code: NOT_UTF8,
        title: "the file is not UTF-8",
        text: "Scenario files are UTF-8 text without zero bytes. To send a byte that is no text, write it \
               as `\\xHH` in a `bytes` string.",
        wrong: Example::Made(not_utf8, "a file with the byte 0xFF in its title"),
        right: "\
scenario \"a broken byte between two good frames\"
  id SCN-FUZ-02

given turn running
host -> bytes \"{\\xff}\\n\"
host -> turn/completed
editor <- ok prompt
",
    },
    Entry {
        code: LINE_TOO_LONG,
        title: "a line is too long",
        text: "A line is at most 16 KiB. A long value can go on over indented lines while its brackets are \
               open.",
        wrong: Example::Made(long_line, "a file with a line of more than 16,384 bytes"),
        right: "\
scenario \"a value over several lines\"
  id SCN-PRM-12

given session ready
editor -> session/prompt as prompt
  prompt = [
    {\"type\": \"text\", \"text\": \"one\"},
    {\"type\": \"text\", \"text\": \"two\"}
  ]
host <- turn/start
",
    },
    Entry {
        code: TOO_MANY_STATEMENTS,
        title: "there are too many statements",
        text: "A file has at most 5,000 statements. Split the story.",
        wrong: Example::Made(many_statements, "a file with 5,001 statements"),
        right: SMALL,
    },
    Entry {
        code: TOO_DEEP,
        title: "a value is nested too deep",
        text: "Brackets nest at most 64 deep. Frames that are deeper are made by a Rust test.",
        wrong: Example::Made(too_deep, "a file with a value of 65 nested lists"),
        right: "\
scenario \"a nested value\"
  id SCN-FUZ-08

given turn running
host -> raw {\"deep\": [[[[1]]]]}
host -> turn/completed
editor <- ok prompt
",
    },
    entry(
        TOO_MANY_POINTS,
        "`vary` and `race` span too many runs",
        "Every value of every `vary` is combined with every order of every `race`. A race has at most five \
         lines, and the product is at most 100,000 runs.",
        "\
scenario \"six answers at once\"
  id SCN-FUZ-14

given turn running
host -> item/started as one
race host -> item/started as two
race host -> item/started as three
race host -> item/started as four
race host -> item/started as five
race host -> item/started as six
host -> turn/completed
editor <- ok prompt
",
        "\
scenario \"three answers at once, then three more\"
  id SCN-FUZ-14

given turn running
host -> item/started as one
race host -> item/started as two
race host -> item/started as three
host -> item/started as four
race host -> item/started as five
race host -> item/started as six
host -> turn/completed
editor <- ok prompt
",
    ),
    Entry {
        code: TOO_MANY_PROBLEMS,
        title: "there are too many problems to keep",
        text: "Of one file 1,000 problems are kept and 20 are shown. So many mean that the file is something \
               else.",
        wrong: Example::Made(many_problems, "a file with 1,001 problems, reported last"),
        right: SMALL,
    },
];

fn too_large() -> Vec<u8> {
    let line = format!("# {}\n", "x".repeat(997));
    (SMALL.to_owned() + &line.repeat(FILE_BYTES_MAX / line.len() + 1)).into_bytes()
}

fn not_utf8() -> Vec<u8> {
    let mut bytes = b"scenario \"".to_vec();
    bytes.push(0xff);
    bytes.extend(b"\"\n  id SCN-FUZ-02\n");
    bytes
}

fn long_line() -> Vec<u8> {
    format!("{SMALL}# {}\n", "x".repeat(LINE_BYTES_MAX)).into_bytes()
}

fn many_statements() -> Vec<u8> {
    let head = "scenario \"t\"\n  id SCN-FUZ-01\ngiven turn running\neditor <- ok prompt\n";
    format!("{head}{}", "quiet\n".repeat(STATEMENTS_MAX)).into_bytes()
}

fn too_deep() -> Vec<u8> {
    let value = format!("{}1{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
    format!(
        "scenario \"t\"\n  id SCN-FUZ-08\ngiven turn running\nhost -> raw {{\"deep\": {value}}}\neditor <- ok prompt\n"
    )
    .into_bytes()
}

fn many_problems() -> Vec<u8> {
    format!("{SMALL}{}", "hello\n".repeat(PROBLEMS_MAX + 1)).into_bytes()
}
