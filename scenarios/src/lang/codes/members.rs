//! `S02xx`: the lines below a statement.

use super::statements::story;
use super::{
    BAD_MEMBER, BAD_PATH, BAD_STAGE, BAD_STRING, BAD_VALUE, Entry, INDENTATION, KEY_TWICE,
    MEMBER_TWICE, NO_MEMBERS_HERE, NOT_ON_ACT, STRAY_MEMBER, UNCLOSED, entry,
};

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        INDENTATION,
        "wrong indentation",
        "A statement begins in column one. Lines that belong to it are indented by two or more blanks, \
         never by tabs.",
        story!("given turn running" "editor <- ok prompt" " stopReason = \"end_turn\""),
        story!("given turn running" "editor <- ok prompt" "  stopReason = \"end_turn\""),
    ),
    entry(
        STRAY_MEMBER,
        "an indented line that belongs to nothing",
        "Above an indented line there must be a statement.",
        "  id SCN-STR-01\nscenario \"t\"\n  id SCN-STR-01\n\ngiven turn running\neditor <- ok prompt\n",
        story!("given turn running" "editor <- ok prompt"),
    ),
    entry(
        NO_MEMBERS_HERE,
        "an indented line below a statement that has none",
        "Only frames, `scenario` and `stages` have lines of their own. `raw` and `bytes` say everything in \
         their own line, and `check` takes `where`.",
        story!("given turn running" "editor <- text \"one\"" "  stopReason = \"end_turn\""),
        story!("given turn running" "editor <- text \"one\"" "editor <- ok prompt" "  stopReason = \"end_turn\""),
    ),
    entry(
        BAD_MEMBER,
        "not a member line",
        "A member line is `path = VALUE`, with blanks around `=`. Where the adapter acts it may also be \
         `path contains \"…\"`, `path absent` or `path present`.",
        story!("given turn running" "editor <- ok prompt" "  stopReason=\"end_turn\""),
        story!("given turn running" "editor <- ok prompt" "  stopReason = \"end_turn\""),
    ),
    entry(
        BAD_PATH,
        "not a path",
        "A path is keys joined by `.`; `[0]` is an element of a list; a key with other characters than \
         letters, digits, `_`, `-` and `/` is written `[\"…\"]`.",
        story!("given turn running" "host -> item/started" "  item..kind = \"toolCall\"" "editor <- ok prompt"),
        story!("given turn running" "host -> item/started" "  item.kind = \"toolCall\"" "editor <- ok prompt"),
    ),
    entry(
        BAD_VALUE,
        "not a value",
        "A value is JSON: text in double quotes, numbers, `true`, `false`, `null`, lists and objects \
         without a comma at the end. `$name` and, where frames are compared, `_` may stand for a value.",
        story!("given turn running" "editor <- ok prompt" "  stopReason = end_turn"),
        story!("given turn running" "editor <- ok prompt" "  stopReason = \"end_turn\""),
    ),
    entry(
        UNCLOSED,
        "a bracket that is never closed",
        "A value goes on over indented lines while a bracket is open. A line in column one ends it.",
        story!("given turn running" "host -> raw {\"method\": \"x\"" "editor <- ok prompt"),
        story!("given turn running" "host -> raw {\"method\": \"x\"}" "editor <- ok prompt"),
    ),
    entry(
        NOT_ON_ACT,
        "a test where the script acts",
        "What the script sends has definite values: no `_`, `contains`, `absent` or `present`. Members that \
         are not said are filled by the model; a frame without a member that it needs is sent as `raw`.",
        story!("given turn running" "host -> item/started" "  item.kind = _" "editor <- ok prompt"),
        story!("given turn running" "host -> item/started" "editor <- ok prompt"),
    ),
    entry(
        MEMBER_TWICE,
        "a path twice in one statement",
        "Each path is said once. Only `contains` may be repeated, since a text can have several parts.",
        story!("given turn running" "editor <- ok prompt" "  stopReason = \"end_turn\"" "  stopReason present"),
        story!("given turn running" "editor <- ok prompt" "  stopReason = \"end_turn\""),
    ),
    entry(
        BAD_STAGE,
        "not a row of a `stages` table",
        "A row is `INDEX RESOLUTION COMMAND…`. Indices count from 0. A resolution that is not known is \
         written in quotes; words of the command with blanks or quotes are JSON text.",
        story!("stages $run" "  0 unresolved echo one" "  1 knownSave ls" "given turn running"
            "host -> approval/requested" "  subject.stages = $run" "editor <- session/request_permission"),
        story!("stages $run" "  0 unresolved echo one" "  1 knownSafe ls" "given turn running"
            "host -> approval/requested" "  subject.stages = $run" "editor <- session/request_permission"),
    ),
    entry(
        BAD_STRING,
        "not a string",
        "A string is JSON text on one line. `\\xHH` is known only behind `bytes`.",
        story!("given turn running" "editor <- text \"C:\\dir\""),
        story!("given turn running" "editor <- text \"C:\\\\dir\""),
    ),
    entry(
        KEY_TWICE,
        "a key twice in one object",
        "Readers of JSON disagree about such an object. To send one on purpose, use `bytes`.",
        story!("given turn running" "host -> raw {\"id\": 1, \"id\": 2}" "editor <- ok prompt"),
        story!("given turn running" "host -> bytes \"{\\\"id\\\": 1, \\\"id\\\": 2}\\n\"" "editor <- ok prompt"),
    ),
];
