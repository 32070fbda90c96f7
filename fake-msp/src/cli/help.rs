//! Texts for people.

use std::fmt::Write;

use super::levers::ALLOWED;
use crate::engine::WORDS_HELP;
use crate::profiles::{METHODS, NOTIFICATIONS, PROFILES, Profile};

/// `--help`.
pub(super) fn help() -> String {
    let versions: Vec<&str> = PROFILES.iter().map(|profile| profile.version).collect();
    format!(
        "\
fake-msp: a deterministic fake Muse host. Point any MSP client at it as if it were `muse`.

Usage:
  fake-msp serve [FLAGS]     speak MSP on stdin and stdout (also without arguments, when stdin is
                             not a terminal)
  fake-msp serve --help      flags of the emulated host
  fake-msp --version         version line of the emulated host
  fake-msp profiles          emulated hosts and what each row is known from

Flags of serve that only the fake has:
  --profile VERSION          {} (default {})
  --seed N                   colours the ids; the same seed gives the same ids
  --fault LIST               levers, below
  --frame-log FILE           JSON lines {{\"dir\":\"client\"|\"server\",\"ms\":…,\"raw\":…}}, secrets masked
  --strict                   exit code 1 when the client broke a rule
  --transcript DIR           plays a recording: DIR/transcript.ndjson, or a file, in the form of the frame
                             log; exit code 6 with a report when the client says something else

Environment, for clients that cannot pass flags (flags win):
  FAKE_MSP_PROFILE  FAKE_MSP_SEED  FAKE_MSP_FRAME_LOG  FAKE_MSP_FAULT

{WORDS_HELP}
Levers, a comma list:
{ALLOWED}
What a client does wrong is written to stderr as `fake-msp: oracle: …`.

Try it by hand:
  {{ echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"clientInfo\":{{\"name\":\"me\",\"version\":\"1\"}}}}}}'
    echo '{{\"jsonrpc\":\"2.0\",\"method\":\"initialized\"}}'; }} | fake-msp serve
",
        versions.join(", "),
        Profile::newest().version,
    )
}

/// `serve --help` of the emulated host.
pub(super) fn serve_help(profile: &Profile) -> String {
    let mut text = String::from("Serve the Muse session protocol on stdin and stdout\n\n");
    text.push_str("Usage: muse serve [OPTIONS]\n\nOptions:\n");
    for (flag, meaning) in profile.serve_flags {
        let _ = writeln!(text, "  {flag:<28} {meaning}");
    }
    let _ = writeln!(text, "  {:<28} print help", "-h, --help");
    text
}

/// `profiles`.
pub(super) fn profiles() -> String {
    let mut text = String::new();
    for profile in PROFILES {
        let methods = METHODS.iter().filter(|row| profile.method(row.name).is_some()).count();
        let notices =
            NOTIFICATIONS.iter().filter(|row| profile.notification(row.name).is_some()).count();
        let _ = writeln!(text, "{}  {}", profile.version, profile.version_line);
        let _ = writeln!(text, "  fingerprint        {}", profile.fingerprint);
        let _ = writeln!(text, "  methods            {methods}, notifications {notices}");
        let _ = writeln!(text, "  extra methods      {}", list(profile.extra_methods));
        let _ = writeln!(text, "  extra notifications {}", list(profile.extra_notifications));
        let _ = writeln!(text, "  grants             {}", list(profile.grantable));
        let _ = writeln!(text, "  staged approvals   {:?}", profile.staged);
        let _ = writeln!(text, "  default mode       {}", profile.default_mode);
        let _ = writeln!(text, "  allowAll asks not  {}", profile.allow_all_runs);
        let _ = writeln!(text, "  known from");
        for (row, source) in profile.evidence {
            let _ = writeln!(text, "    {row}: {source}");
        }
        text.push('\n');
    }
    text
}

fn list(words: &[&str]) -> String {
    if words.is_empty() { "none".into() } else { words.join(", ") }
}
