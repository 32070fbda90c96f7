//! `S1xxx`: names.

use super::statements::story;
use super::{
    ANSWERED_TWICE, BOUND_TWICE, Entry, NEVER_USED, NOT_A_REQUEST, NOT_SAME_ENTITY, UNBOUND,
    WRONG_USE, entry,
};

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        UNBOUND,
        "a name that is not bound",
        "A name is bound by `as NAME`, `vary`, `stages` or the opening, before it is used. The lines of one \
         race see each other's names; an expectation does not see its own.",
        story!("given turn running" "host -> item/started as tool" "host -> item/completed of tol" "editor <- ok prompt"),
        story!("given turn running" "host -> item/started as tool" "host -> item/completed of tool" "editor <- ok prompt"),
    ),
    entry(
        BOUND_TWICE,
        "a name that is bound twice",
        "All names of a file share one space, those of the opening included.",
        story!("given turn running" "host -> item/started as turn" "editor <- ok prompt"),
        story!("given turn running" "host -> item/started as tool" "editor <- ok prompt"),
    ),
    entry(
        NOT_A_REQUEST,
        "an answer to something that is no request",
        "`LANE -> ok NAME` answers a request that the adapter sent on this lane, `LANE <- ok NAME` expects \
         the answer to a request that the script sent on it.",
        story!("given turn running" "host -> turn/completed as done" "editor <- ok done"),
        story!("given turn running" "host -> turn/completed as done" "editor <- ok prompt"),
    ),
    entry(
        ANSWERED_TWICE,
        "a request that is answered twice",
        "A request has one answer. The opening may have given it already. A second answer on the wire is a \
         lie and is sent as `raw`.",
        story!("given turn running" "host -> ok start" "editor <- ok prompt"),
        story!("given turn running" "host -> turn/completed" "editor <- ok prompt"),
    ),
    entry(
        NOT_SAME_ENTITY,
        "`of` with something else",
        "`of NAME` sends the next frame of the same item, approval, question, turn or session, so both \
         methods have the same word before the `/`.",
        story!("given turn running" "host -> item/started as tool" "host -> approval/updated of tool" "editor <- ok prompt"),
        story!("given turn running" "host -> approval/requested as apr" "host -> approval/updated of apr" "editor <- ok prompt"),
    ),
    entry(
        WRONG_USE,
        "a name used for what it is not",
        "Durations stand only behind `after`, whole numbers of a `vary` line may be codes, and a `stages` \
         table is used whole.",
        story!("vary $lag in 0, 1" "given turn running" "after $lag" "editor <- ok prompt"),
        story!("vary $lag in 0ms, 1ms" "given turn running" "after $lag" "editor <- ok prompt"),
    ),
    entry(
        NEVER_USED,
        "a `vary` or `stages` name that nothing uses",
        "An unused `vary` repeats the same run; an unused table is a stage that nobody asks.",
        story!("vary $lag in 0ms, 1ms" "given turn running" "editor <- ok prompt"),
        story!("vary $lag in 0ms, 1ms" "given turn running" "after $lag" "editor <- ok prompt"),
    ),
];
