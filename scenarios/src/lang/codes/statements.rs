//! `S01xx`: statements.

use super::{
    BAD_CHECK, BAD_DURATION, BAD_LOST, BAD_NAME, BAD_NUMBER, EXTRA, Entry, INCOMPLETE, NO_SCENARIO,
    NOTHING_ASSERTED, OUT_OF_PLACE, RACE_ALONE, RACE_MIXED, SECOND_SCENARIO, UNKNOWN_FAULT,
    UNKNOWN_KEYWORD, UNKNOWN_LANE, UNKNOWN_METHOD, UNKNOWN_OPENING, WRONG_DIRECTION, entry,
};

/// A story around the lines that an example is about.
macro_rules! story {
    ($($line:literal)*) => {
        concat!("scenario \"t\"\n  id SCN-STR-01\n\n", $($line, "\n",)*)
    };
}
pub(super) use story;

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        NO_SCENARIO,
        "the file does not begin with `scenario`",
        "The first statement is `scenario \"title\"`, with the header below it. The title says what the \
         story shows.",
        "given turn running\nhost -> turn/completed\neditor <- ok prompt\n",
        story!("given turn running" "host -> turn/completed" "editor <- ok prompt"),
    ),
    entry(
        SECOND_SCENARIO,
        "a second `scenario` in one file",
        "One file holds one story, and the name of the file is the name of the case.",
        story!("given turn running" "editor <- ok prompt" "scenario \"another\"" "  id SCN-STR-02"),
        story!("given turn running" "editor <- ok prompt"),
    ),
    entry(
        UNKNOWN_METHOD,
        "unknown method or reply",
        "Behind an arrow stands a method of the wire, `ok NAME`, `error NAME CODE`, `raw` or `bytes`. What \
         is in no schema is sent as `raw`.",
        story!("given turn running" "host -> turn/complete" "editor <- ok prompt"),
        story!("given turn running" "host -> turn/completed" "editor <- ok prompt"),
    ),
    entry(
        UNKNOWN_KEYWORD,
        "unknown keyword",
        "A line in column one begins with a keyword or a lane. There is no sleep, no loop and no condition.",
        story!("given turn running" "sleep 10s" "editor <- ok prompt"),
        story!("given turn running" "after 10s" "editor <- ok prompt"),
    ),
    entry(
        UNKNOWN_LANE,
        "unknown lane",
        "The lanes are `editor` and `host`; `host1` to `host9` name one of several hosts in the order of \
         their start. The adapter is the other end of every lane and is never named.",
        story!("given turn running" "edtor <- ok prompt"),
        story!("given turn running" "editor <- ok prompt"),
    ),
    entry(
        WRONG_DIRECTION,
        "a method that goes the other way",
        "`->` is what the script does and `<-` what the adapter must do.",
        story!("given session ready" "editor -> session/prompt" "host -> turn/start"),
        story!("given session ready" "editor -> session/prompt" "host <- turn/start"),
    ),
    entry(
        INCOMPLETE,
        "something is missing",
        "The line ends too early, or something else stands where a word is needed.",
        story!("given turn running" "host -> turn/completed" "editor <- error prompt"),
        story!("given turn running" "host -> turn/completed" "editor <- error prompt -32603"),
    ),
    entry(
        EXTRA,
        "something is left over",
        "A line holds one act or one expectation. Members go on indented lines below it.",
        story!("given turn running" "host -> turn/completed" "editor <- ok prompt end_turn"),
        story!("given turn running" "host -> turn/completed" "editor <- ok prompt" "  stopReason = \"end_turn\""),
    ),
    entry(
        BAD_NAME,
        "not a name",
        "A name is a letter, then letters, digits and `_`. It is bound without `$` and used in values with \
         `$`; `vary` and `stages` bind it with `$`.",
        story!("given turn running" "host -> item/started as $tool" "editor <- ok prompt"),
        story!("given turn running" "host -> item/started as tool" "editor <- ok prompt"),
    ),
    entry(
        BAD_NUMBER,
        "not a number in range",
        "An error code is a whole number of 32 bits, an exit code one of 0 to 255. Both may be a name that \
         `vary` binds to whole numbers.",
        story!("given turn running" "host ! exit 256" "editor <- error prompt -32603"),
        story!("given turn running" "host ! exit 255" "editor <- error prompt -32603"),
    ),
    entry(
        BAD_DURATION,
        "not a duration",
        "A duration is a whole number directly followed by `ms`, `s` or `min`, at most one day.",
        story!("given turn running" "after 1.5s" "editor <- ok prompt"),
        story!("given turn running" "after 1500ms" "editor <- ok prompt"),
    ),
    entry(
        UNKNOWN_FAULT,
        "unknown fault",
        "A host can `eof`, `exit CODE`, `kill`, `stderr \"…\"`, `stall-read`, `resume-read` and \
         `close-stdin`; an editor can `eof`, `stall-read` and `resume-read`. On the stage `sim` both can \
         `hold`, `release`, `delay DURATION` and `crash`, and a host can `bounce`.",
        story!("given turn running" "host ! explode" "editor <- error prompt -32603"),
        story!("given turn running" "host ! kill" "editor <- error prompt -32603"),
    ),
    entry(
        RACE_ALONE,
        "`race` with nothing to race with",
        "`race` joins a line to the one directly before it, which must have an arrow. Time does not race.",
        story!("given turn running" "race host -> turn/completed" "editor <- ok prompt"),
        story!("given turn running" "host -> item/started" "race host -> turn/completed" "editor <- ok prompt"),
    ),
    entry(
        RACE_MIXED,
        "`race` between two kinds of line",
        "The lines of a race are all acts (`->`, `!`), which run in every order, or all expectations \
         (`<-`), of which any order is accepted.",
        story!("given turn running" "host -> turn/completed" "race editor <- ok prompt"),
        story!("given turn running" "host -> turn/completed" "race host ! eof" "editor <- ok prompt"),
    ),
    entry(
        BAD_LOST,
        "`lost` before something that cannot be lost",
        "`lost` writes an event to the host's log without delivering it. Requests, answers and the \
         protected events (such as `approval/resolved`) are never lost by a host.",
        story!("given turn running" "lost host -> view/gap" "editor <- ok prompt"),
        story!("given turn running" "lost host -> item/completed" "editor <- ok prompt"),
    ),
    entry(
        UNKNOWN_OPENING,
        "unknown opening",
        "The openings are a fixed list: `session ready`, `turn running`, `approval open`. `scenario explain` \
         prints them. Another beginning is written out.",
        story!("given turn runing" "editor <- ok prompt"),
        story!("given turn running" "editor <- ok prompt"),
    ),
    entry(
        OUT_OF_PLACE,
        "a statement in the wrong place",
        "`stages`, `vary` and one `given` come before the first line of the timeline.",
        story!("editor -> initialize as first" "given session ready" "editor <- ok first"),
        story!("editor -> initialize as first" "editor <- ok first"),
    ),
    entry(
        BAD_CHECK,
        "a `check` that says nothing",
        "The forms are `check LANE <- METHOD = N [where path = VALUE]`, `check host process reaped` and \
         `check file PATH = \"…\"` (or `contains`, `absent`, `present`).",
        story!("given turn running" "check host <- turn/start"),
        story!("given turn running" "check host <- turn/start = 1"),
    ),
    entry(
        NOTHING_ASSERTED,
        "the scenario asserts nothing",
        "Without a line with `<-`, a `check` or a `never` a story passes whatever the adapter does. What \
         the opening expects does not count.",
        story!("given turn running" "host -> turn/completed"),
        story!("given turn running" "host -> turn/completed" "editor <- ok prompt"),
    ),
];
