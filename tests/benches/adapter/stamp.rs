//! The host of the latency rows: the fake host behind a wire that paces and stamps.
//!
//! MSP carries no time that the adapter passes on, so the time is in the text. This program, started by the
//! adapter as its Muse, runs the fake host, copies both directions, and for each text delta waits for the
//! next slot, writes the monotonic clock into the delta's text and hands the line on at once. The editor
//! reads the same clock when it has the chunk. The final text is set to what was really sent, so the
//! adapter sees a host that agrees with itself. An approval of the command [`HOLE`] is stamped in the same way.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write, stdin, stdout};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Path of the fake host; its presence makes this program a host.
const FAKE: &str = "BENCH_FAKE_HOST";
/// How many lines to write without any agent; its presence makes this program that writer.
const ALONE: &str = "BENCH_WRITE_ALONE";
/// Time between two deltas. Slow enough that no queue forms: latency is measured, not throughput.
const PACE: Duration = Duration::from_micros(200);
/// Digits of a stamp.
const DIGITS: usize = 16;
/// The command of an approval that is to be stamped; as long as a stamp.
pub(crate) const HOLE: &str = "HHHHHHHHHHHHHHHH";

/// What the command of an adapter needs so that this executable is its host.
pub(crate) fn host_variables(fake: &str) -> [(&'static str, OsString); 2] {
    let this = std::env::current_exe().expect("the path of this program");
    [("MUSE_CODE_EXECUTABLE", this.into_os_string()), (FAKE, fake.into())]
}

/// The clock that both ends read, in nanoseconds.
pub(crate) fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or_default()
}

/// How long ago the stamp in this line was made; `None` when it has none.
pub(crate) fn age(line: &[u8]) -> Option<Duration> {
    let now = now();
    let at = line.windows(8).position(|window| window == b"\"text\":\"")? + 8;
    let digits = std::str::from_utf8(line.get(at..at + DIGITS)?).ok()?;
    now.checked_sub(digits.parse().ok()?).map(Duration::from_nanos)
}

/// How long ago the stamp was made that a question about [`HOLE`] carries.
pub(crate) fn age_of_question(line: &[u8]) -> Option<Duration> {
    let now = now();
    let digits = line.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let mut digits = digits.filter(|run| run.len() == DIGITS && run[0].is_ascii_digit());
    let stamp = std::str::from_utf8(digits.next()?).ok()?;
    now.checked_sub(stamp.parse().ok()?).map(Duration::from_nanos)
}

/// The same lines over one pipe without an adapter: what the clock, the pipe and the reader cost alone.
/// Sorted.
pub(crate) fn through_a_pipe(count: usize) -> Vec<Duration> {
    let this = std::env::current_exe().expect("the path of this program");
    let mut child = Command::new(this)
        .env(ALONE, count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts again");
    let lines = BufReader::new(child.stdout.take().expect("piped")).split(b'\n');
    let mut ages: Vec<_> = lines.map_while(Result::ok).filter_map(|line| age(&line)).collect();
    child.wait().expect("the writer ends");
    ages.sort_unstable();
    ages
}

/// Writes `count` paced and stamped lines that look like the adapter's updates.
fn write_alone(count: usize) {
    let mut slot = Instant::now();
    let mut out = stdout();
    for _ in 0..count {
        std::thread::sleep(slot.saturating_duration_since(Instant::now()));
        slot = Instant::now() + PACE;
        let line = format!("{{\"update\":\"{:200}\",\"text\":\"{:0DIGITS$}\"}}\n", "", now());
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Runs as host or as the lone writer when this process was started as one.
pub(crate) fn main_as_host() -> Option<ExitCode> {
    if let Some(count) = std::env::var(ALONE).ok().and_then(|count| count.parse().ok()) {
        write_alone(count);
        return Some(ExitCode::SUCCESS);
    }
    let fake = std::env::var_os(FAKE)?;
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let serving = arguments.first().is_some_and(|word| word == "serve")
        && !arguments.iter().any(|word| word == "--help");
    let mut command = Command::new(fake);
    command.args(&arguments);
    if !serving {
        let status = command.status().expect("the fake host runs");
        return Some(ExitCode::from(if status.success() { 0 } else { 1 }));
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the fake host starts");
    let mut to_fake = child.stdin.take().expect("piped");
    let from_fake = child.stdout.take().expect("piped");
    std::thread::spawn(move || forward(&mut stdin(), &mut to_fake));
    copy_stamped(BufReader::new(from_fake));
    let _ = child.wait();
    Some(ExitCode::SUCCESS)
}

/// Passes on what comes, when it comes; closes the far end when the near end closes.
fn forward(from: &mut impl Read, to: &mut impl Write) {
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut chunk) {
        if to.write_all(&chunk[..length]).is_err() {
            return;
        }
    }
}

fn copy_stamped(mut from: impl BufRead) {
    let (mut line, mut sent, mut slot) = (Vec::new(), String::new(), Instant::now());
    let mut out = stdout();
    while from.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        if let Ok(mut frame) = serde_json::from_slice::<Value>(&line) {
            if frame["method"] == "item/delta" && frame["params"]["field"] == "text" {
                let hole = "#".repeat(DIGITS);
                frame["params"]["delta"] = hole.clone().into();
                let text = format!("{frame}\n");
                let at = text.find(&hole).expect("just put there");
                std::thread::sleep(slot.saturating_duration_since(Instant::now()));
                slot = Instant::now() + PACE;
                let stamp = format!("{:0DIGITS$}", now());
                line = text.into_bytes();
                line[at..at + DIGITS].copy_from_slice(stamp.as_bytes());
                sent.push_str(&stamp);
            } else if frame["params"]["item"]["kind"] == "agentMessage"
                && frame["method"] == "item/completed"
            {
                frame["params"]["item"]["text"] = std::mem::take(&mut sent).into();
                line = format!("{frame}\n").into_bytes();
            } else if frame["method"] == "approval/requested"
                || frame["method"] == "approval/request"
            {
                let text = format!("{frame}\n");
                line = text.replace(HOLE, &format!("{:0DIGITS$}", now())).into_bytes();
            }
        }
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            return;
        }
        line.clear();
    }
}
