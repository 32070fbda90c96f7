//! Texts for people.

use std::fmt::Write;

use super::levers::{ALLOWED, COMMANDS_HELP};
use crate::engine::WORDS_HELP;
use crate::profiles::{PROFILES, Profile};

/// `--help`.
pub(super) fn help() -> String {
    let versions: Vec<&str> = PROFILES.iter().map(|profile| profile.version).collect();
    let (versions, newest) = (versions.join(", "), Profile::newest().version);
    let levers: String = ALLOWED.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "\
fake-msp: a deterministic fake Muse host. Point any MSP client at it as if it were `muse`.

Usage:
  fake-msp serve [FLAGS]     speak MSP on stdin and stdout (also without arguments, when stdin is
                             not a terminal)
  fake-msp serve --help      flags of the emulated host
  fake-msp exec --json PROMPT        one prompt as a stream of events; `exec --help` says more
  fake-msp export --session ID       a session's history as a document
  fake-msp skills list [--json]      skills
  fake-msp login, logout             always succeed, keep nothing
  fake-msp --version                 version line of the emulated host
  fake-msp profiles                  emulated hosts and what each row is known from

Flags that the fake adds to every command:
  --profile VERSION          {versions} (default {newest})
  --seed N                   colours the ids; the same seed gives the same ids
  --fault LIST               levers, below
  --frame-log FILE           serve: JSON lines {{\"dir\":\"client\"|\"server\",\"ms\":…,\"raw\":…}}, in order,
                             secrets masked
  --store DIR                serve keeps sessions in DIR/sessions, in Muse's layout, beyond the process,
                             and export reads them; not your own Muse folder, unless you want made-up
                             sessions in it
and to serve:
  --strict                   exit code 1 when the client broke a rule
  --transcript DIR           plays a recording: DIR/transcript.ndjson, or a file, in the form of the
                             frame log; a client that says something else gets a report
  --scenario FILE            plays the host of a story (docs/scenarios.md) with the program `scenario`
                             beside this one; --at POINT chooses its point

Environment, for clients that cannot pass flags (flags win):
  FAKE_MSP_PROFILE  FAKE_MSP_SEED  FAKE_MSP_FRAME_LOG  FAKE_MSP_FAULT  FAKE_MSP_STORE
  FAKE_MSP_STRICT=1  FAKE_MSP_TRANSCRIPT  FAKE_MSP_SCENARIO
  FAKE_MSP_CONTROL           a socket: serve is the pipes of an engine at its other end

{WORDS_HELP}
Levers, a comma list:
{levers}{COMMANDS_HELP}
Exit codes:
  0  done     1  failed, or rules were broken under --strict     2  usage
  3  a file cannot be used     6  the client departed from the transcript

What a client does wrong is written to stderr as `fake-msp: oracle: RULE: MEMBER: what`.

Examples:
  a handshake by hand
    {{ echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"clientInfo\":{{\"name\":\"me\",\"version\":\"1\"}}}}}}'
      echo '{{\"jsonrpc\":\"2.0\",\"method\":\"initialized\"}}'; }} | fake-msp serve
  does my client survive a host that dies in the middle of a prompt?
    FAKE_MSP_FAULT=crash:turn/start my-client --muse fake-msp
  does it keep the rules? the log shows both sides
    fake-msp serve --strict --frame-log frames.ndjson
  does it still say what it said? the log is a recording
    fake-msp serve --transcript frames.ndjson
"
    )
}

/// `COMMAND --help`.
pub(super) fn of(command: &str) -> &'static str {
    match command {
        "exec" => {
            "\
Run one prompt and print what happens

Usage: muse exec [OPTIONS] [PROMPT]        without PROMPT, or with -, it is read from stdin

Options:
  --json                     events, one JSON envelope a line, instead of text
  --session-id <UUID>        session to use; not together with --no-session-log
  --provider <NAME>          meta or echo (echo answers with the prompt)
  --model <ID>               model
  --reasoning-effort <WORD>  effort
  --image <FILE>             an image, may be repeated; it is not read
  --disable-write            do not let tools write files
  --disable-shell            do not let tools run commands
  --disable-approval         run tools without asking
  --yolo                     the same, without a sandbox
  --no-session-log           keep nothing
  -h, --help                 print help

Exit codes: 0 completed, 1 failed, 2 usage. A tool that must be asked for waits until a signal comes.
"
        }
        "export" => {
            "\
Write the complete history of a session

Usage: muse export --session <ID> [--out <FILE>]        without --out, to stdout

With --store it is that session's history, else a short one that is always the same.
"
        }
        "skills" => {
            "\
List skills

Usage: muse skills list [--json] [--workspace <DIR>]
"
        }
        _ => {
            "\
Log in and out

Usage: muse login
       muse logout
"
        }
    }
}

/// `serve --help` of the emulated host.
/// Flags that a lever took away are not listed.
pub(super) fn serve_help(profile: &Profile, without: &[String]) -> String {
    let mut text = String::from("Serve the Muse session protocol on stdin and stdout\n\n");
    text.push_str("Usage: muse serve [OPTIONS]\n\nOptions:\n");
    let is_there =
        |flag: &str| !without.iter().any(|name| flag.split(' ').next() == Some(name.as_str()));
    for (flag, meaning) in profile.serve_flags.iter().filter(|(flag, _)| is_there(flag)) {
        let _ = writeln!(text, "  {flag:<28} {meaning}");
    }
    let _ = writeln!(text, "  {:<28} print help", "-h, --help");
    text
}
