//! Rows about turns that are unlike one stream of text: decisions in a row, many sessions at once.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::rows::{FAKE_HOST, Lab, compare};
use crate::stamp;
use crate::table::{mebibytes, microseconds, percentile, row};

const APPROVALS: usize = 1_000;
const SESSIONS: usize = 100;
const DELTAS: usize = 1_000;
const ROUNDS: usize = 3;

impl Lab {
    /// One turn of [`APPROVALS`] commands, each asked for: the time from the host's event to the editor's
    /// question, and whether the last decision costs more than the first.
    pub(crate) fn approvals(&self) {
        let mut command = self.adapter();
        command.envs(stamp::host_variables(FAKE_HOST));
        let (mut client, _) = Client::start(command);
        let session = client.new_session(self.home.path());
        client.prompt(&session, "hello", |_| {});
        let prompt = format!("repeat {APPROVALS} {}", stamp::HOLE);
        let (mut ages, mut arrivals) = (Vec::new(), Vec::new());
        client.prompt_allowing(&session, &prompt, |line| {
            ages.extend(stamp::age_of_question(line));
            arrivals.push(Instant::now());
        });
        client.close();
        assert_eq!(
            (ages.len(), arrivals.len()),
            (APPROVALS, APPROVALS),
            "each is asked and stamped"
        );
        ages.sort_unstable();
        for (share, word, budget) in [(0.5, "p50", ""), (0.99, "p99", "1 ms")] {
            let name = format!("host's approval event to editor's question, {word}");
            row(&name, &microseconds(percentile(&ages, share)), "", "", budget);
        }
        let tenth = APPROVALS / 10;
        let each = |from: usize, to: usize| {
            let time = arrivals[to].duration_since(arrivals[from]);
            time.as_secs_f64() * 1e6 / f64::from(u32::try_from(to - from).expect("a few"))
        };
        let (first, last) = (each(0, tenth), each(APPROVALS - tenth - 1, APPROVALS - 1));
        row(
            "one of 1,000 approvals, first / last tenth",
            &format!("{first:.0} / {last:.0} µs"),
            "",
            &format!("{:.2}", last / first),
            "flat",
        );
    }

    /// [`SESSIONS`] sessions, each with a host process of its own, that stream at the same time.
    pub(crate) fn sessions(&self) {
        let (mut ours, mut nodes) = (Vec::new(), Vec::new());
        let (mut cpu, mut node_cpu, mut peak) = (Vec::new(), Vec::new(), 0);
        for _ in 0..ROUNDS {
            let crowd = self.crowd(self.adapter());
            peak = peak.max(crowd.peak_kib);
            ours.push(crowd.wall);
            cpu.push(crowd.cpu);
            if let Some(crowd) = self.node().map(|command| self.crowd(command)) {
                nodes.push(crowd.wall);
                node_cpu.push(crowd.cpu);
            }
        }
        compare("100 sessions of 1,000 deltas at once, wall", ours, nodes, "");
        compare("100 sessions of 1,000 deltas, processor time", cpu, node_cpu, "");
        row("100 sessions with a host each, peak memory", &mebibytes(peak), "", "", "");
    }

    fn crowd(&self, command: Command) -> Crowd {
        let (mut client, _) = Client::start(command);
        let sessions: Vec<String> =
            (0..SESSIONS).map(|_| client.new_session(self.home.path())).collect();
        let warm = sessions.iter().map(|session| client.send_prompt(session, "burst 1")).collect();
        client.finish(warm);
        let process = client.process();
        let (started, cpu) = (Instant::now(), process.cpu());
        let prompt = format!("burst {DELTAS}");
        let prompts = sessions.iter().map(|session| client.send_prompt(session, &prompt)).collect();
        let chunks = client.finish(prompts);
        let crowd = Crowd {
            wall: started.elapsed(),
            cpu: process.cpu().saturating_sub(cpu),
            peak_kib: process.peak_kib(),
        };
        assert_eq!(chunks, SESSIONS * DELTAS, "lost or joined");
        client.close();
        crowd
    }
}

/// What one round of all sessions took.
struct Crowd {
    wall: Duration,
    cpu: Duration,
    peak_kib: u64,
}
