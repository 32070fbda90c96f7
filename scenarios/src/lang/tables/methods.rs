//! Methods of both protocols by lane and direction.
//!
//! Inputs: a lane, a direction, a name. Outputs: whether the frame wants an answer; the names that are
//! allowed there, sorted. Invariant: a name has one kind per lane and direction.
//! It does not know params. Sources: ACP schema 1.20.0 (acp.md 3.1 to 3.3), the adapter's own methods,
//! the tables of the fake host (msp.md appendices A and B).

use fake_msp::profiles::{METHODS, NOTIFICATIONS, NotificationKind};

/// Who sends a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// `->`: the script.
    Script,
    /// `<-`: the adapter.
    Adapter,
}

/// Whether an answer is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// It has an id and is answered by `ok` or `error`.
    Request,
    /// It is not answered.
    Notification,
}

use Direction::{Adapter, Script};
use FrameKind::{Notification, Request};

/// The editor's lane.
const EDITOR: &[(Direction, FrameKind, &str)] = &[
    (Script, Request, "initialize"),
    (Script, Request, "authenticate"),
    (Script, Request, "logout"),
    (Script, Request, "auth/status"),
    (Script, Request, "session/new"),
    (Script, Request, "session/load"),
    (Script, Request, "session/resume"),
    (Script, Request, "session/list"),
    (Script, Request, "session/close"),
    (Script, Request, "session/delete"),
    (Script, Request, "session/fork"),
    (Script, Request, "session/set_mode"),
    (Script, Request, "session/set_config_option"),
    (Script, Request, "session/prompt"),
    (Script, Request, "session/set_title"),
    (Script, Request, "session/archive"),
    (Script, Request, "session/unarchive"),
    (Script, Request, "session/status"),
    (Script, Request, "session/options"),
    (Script, Request, "providers/list"),
    (Script, Request, "providers/set"),
    (Script, Request, "providers/disable"),
    (Script, Request, "_muse/steer"),
    (Script, Request, "_session/steering"),
    (Script, Request, "_muse/task"),
    (Script, Request, "_muse/readOutput"),
    (Script, Notification, "session/cancel"),
    (Script, Notification, "$/cancel_request"),
    (Adapter, Notification, "session/update"),
    (Adapter, Request, "session/request_permission"),
    (Adapter, Request, "elicitation/create"),
    (Adapter, Notification, "elicitation/complete"),
    (Adapter, Notification, "auth/status_update"),
    (Adapter, Request, "fs/read_text_file"),
    (Adapter, Request, "fs/write_text_file"),
    (Adapter, Request, "terminal/create"),
    (Adapter, Request, "terminal/output"),
    (Adapter, Request, "terminal/wait_for_exit"),
    (Adapter, Request, "terminal/kill"),
    (Adapter, Request, "terminal/release"),
    (Adapter, Notification, "$/cancel_request"),
];

/// Requests of a host (end of msp.md appendix A).
const HOST_REQUESTS: &[&str] = &["approval/request", "userInput/request", "admission/request"];

/// Whether `method` exists on this side of this lane, and whether it wants an answer.
#[must_use]
pub fn frame_kind(host: bool, direction: Direction, method: &str) -> Option<FrameKind> {
    rows(host, direction).find(|(name, _)| *name == method).map(|(_, kind)| kind)
}

/// All methods of this side of this lane, sorted.
#[must_use]
pub fn method_names(host: bool, direction: Direction) -> Vec<&'static str> {
    let mut names: Vec<_> = rows(host, direction).map(|(name, _)| name).collect();
    names.sort_unstable();
    names
}

fn rows(host: bool, direction: Direction) -> impl Iterator<Item = (&'static str, FrameKind)> {
    let to_host = direction == Adapter;
    let editor = EDITOR
        .iter()
        .filter(move |(whose, _, _)| !host && *whose == direction)
        .map(|(_, kind, name)| (*name, *kind));
    let notices = NOTIFICATIONS
        .iter()
        .filter(move |row| host && (row.kind == NotificationKind::ToHost) == to_host)
        .map(|row| (row.name, Notification));
    let commands = METHODS.iter().filter(move |_| host && to_host).map(|row| (row.name, Request));
    let questions =
        HOST_REQUESTS.iter().filter(move |_| host && !to_host).map(|name| (*name, Request));
    editor.chain(notices).chain(commands).chain(questions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_of_each_lane_has_its_methods() {
        assert_eq!(frame_kind(true, Adapter, "turn/start"), Some(Request));
        assert_eq!(frame_kind(true, Script, "turn/start"), None);
        assert_eq!(frame_kind(true, Script, "turn/started"), Some(Notification));
        assert_eq!(frame_kind(true, Script, "approval/request"), Some(Request));
        assert_eq!(frame_kind(true, Adapter, "initialized"), Some(Notification));
        assert_eq!(frame_kind(false, Script, "session/prompt"), Some(Request));
        assert_eq!(frame_kind(false, Adapter, "session/update"), Some(Notification));
    }

    #[test]
    fn names_are_sorted_and_unique() {
        for host in [false, true] {
            for direction in [Script, Adapter] {
                let names = method_names(host, direction);
                assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
            }
        }
    }
}
