//! `S03xx`: the header.

use super::{BAD_HEADER_VALUE, Entry, HEADER_KEY_TWICE, NO_ID, UNKNOWN_HEADER_KEY, entry};

/// A story with other header lines.
macro_rules! header {
    ($($line:literal)*) => {
        concat!("scenario \"t\"\n", $("  ", $line, "\n",)* "\ngiven turn running\neditor <- ok prompt\n")
    };
}

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        UNKNOWN_HEADER_KEY,
        "unknown header key",
        "The keys are `id`, `hosts`, `dialect`, `watch`, `model`, `budget`, `recorded`, `live` and `format`.",
        header!("id SCN-STR-01" "host fake"),
        header!("id SCN-STR-01" "hosts fake"),
    ),
    entry(
        BAD_HEADER_VALUE,
        "a header value that cannot be",
        "`id` has rows of the catalogue with blanks between them; `hosts`, `dialect`, `watch` and `budget` \
         have entries with commas between them; `format` is 1.",
        header!("id SCN-STR-01" "hosts fake, proxy >= 1.2"),
        header!("id SCN-STR-01" "hosts fake, proxy >= 1.2.0"),
    ),
    entry(
        HEADER_KEY_TWICE,
        "a header key twice",
        "Each key is written once.",
        header!("id SCN-STR-01" "id SCN-STR-02"),
        header!("id SCN-STR-01 SCN-STR-02"),
    ),
    entry(
        NO_ID,
        "a scenario without `id`",
        "The `id` names the rows of the catalogue that the story proves, so that coverage can be listed.",
        header!("hosts fake"),
        header!("id SCN-STR-01" "hosts fake"),
    ),
];
