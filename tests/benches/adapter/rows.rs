//! What is measured, row by row. Runs of the two agents alternate, so that a busy machine meets both.

use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tests::outside::{NODE_FOR_SDK, Outside};

use crate::client::Client;
use crate::proc::Process;
use crate::stamp;
use crate::table::{
    head, mebibytes, median, microseconds, milliseconds, percentile, row, skipped, times,
};

const ADAPTER: &str = env!("CARGO_BIN_EXE_adapter-under-test");
pub(crate) const FAKE_HOST: &str = env!("CARGO_BIN_EXE_fake-msp-under-test");

const STARTS: usize = 20;
const BURSTS: usize = 5;
const DELTAS: usize = 100_000;

/// The two agents and a scratch home.
pub(crate) struct Lab {
    pub(crate) home: TempDir,
    node: Option<Outside>,
}

/// Prints the whole table.
pub(crate) fn measure_all() {
    let home = TempDir::new().expect("a scratch folder");
    let node = Outside::find("the Node column", "@agentclientprotocol/sdk", NODE_FOR_SDK);
    let lab = Lab { home, node };
    println!("{}", machine());
    head();
    lab.start_up();
    lab.burst();
    lab.growing_item();
    lab.latency();
    lab.memory();
    lab.approvals();
    lab.sessions();
}

impl Lab {
    pub(crate) fn adapter(&self) -> Command {
        let mut command = Command::new(ADAPTER);
        command.env("HOME", self.home.path()).env("MUSE_CODE_EXECUTABLE", FAKE_HOST);
        for name in ["RUST_LOG", "MUSE_AGENT_LOGS", "FAKE_MSP_FRAME_LOG", "FAKE_MSP_FAULT"] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn node(&self) -> Option<Command> {
        let outside = self.node.as_ref()?;
        let mut command = Command::new(&outside.node);
        command.arg(outside.clients.join("bench-agent.mjs")).env("HOME", self.home.path());
        Some(command)
    }

    fn start_up(&self) {
        let (mut ours, mut nodes) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let time = |command: Command, times: &mut Vec<Duration>| {
                let (client, elapsed) = Client::start(command);
                client.close();
                times.push(elapsed);
            };
            time(self.adapter(), &mut ours);
            if let Some(command) = self.node() {
                time(command, &mut nodes);
            }
        }
        let budget = "at least 50 times";
        compare("spawn to `initialize` answered, median of 20", ours, nodes, budget);
    }

    /// Wall time, processor time and memory of [`DELTAS`] chunks of 16 bytes.
    fn burst(&self) {
        let (mut ours, mut nodes) = (Vec::new(), Vec::new());
        for _ in 0..BURSTS {
            ours.push(self.one_burst(self.adapter()));
            nodes.extend(self.node().map(|command| self.one_burst(command)));
        }
        let walls = |bursts: &[Burst]| bursts.iter().map(|burst| burst.wall).collect::<Vec<_>>();
        let cpus = |bursts: &[Burst]| bursts.iter().map(|burst| burst.cpu).collect::<Vec<_>>();
        let name = "100,000 deltas, wall, median of 5";
        compare(name, walls(&ours), walls(&nodes), "at least 4 times");
        compare("100,000 deltas, processor time of the agent", cpus(&ours), cpus(&nodes), "");
        let peak = |bursts: &[Burst]| bursts.iter().map(|burst| burst.peak_kib).max();
        let (ours, node) = (peak(&ours).unwrap_or_default(), peak(&nodes));
        row(
            "100,000 deltas, peak resident memory, largest of 5",
            &mebibytes(ours),
            &node.map(mebibytes).unwrap_or_default(),
            &node.map(|node| memory_ratio(ours, node)).unwrap_or_default(),
            "a tenth",
        );
    }

    fn one_burst(&self, command: Command) -> Burst {
        let (mut client, _) = Client::start(command);
        let session = client.new_session(self.home.path());
        client.prompt(&session, "hello", |_| {}); // the host is up, the code is warm
        let (process, mut chunks) = (client.process(), 0);
        let (started, cpu) = (Instant::now(), process.cpu());
        client.prompt(&session, &format!("burst {DELTAS} 16"), |_| chunks += 1);
        let burst = Burst {
            wall: started.elapsed(),
            cpu: process.cpu().saturating_sub(cpu),
            peak_kib: process.peak_kib(),
        };
        // The fake host cuts a text of this size at its end, and the adapter says so in one more chunk.
        assert!((DELTAS..=DELTAS + 1).contains(&chunks), "lost or joined: {chunks}");
        client.close();
        burst
    }

    /// Is the last delta of a 10 MiB message dearer than the first?
    fn growing_item(&self) {
        const KIB: usize = 10 * 1024;
        let (mut client, _) = Client::start(self.adapter());
        let session = client.new_session(self.home.path());
        client.prompt(&session, "hello", |_| {});
        let mut arrivals = Vec::with_capacity(KIB);
        client.prompt(&session, &format!("burst {KIB} 1024"), |_| arrivals.push(Instant::now()));
        client.close();
        let tenth = arrivals.len() / 10;
        let per_delta = |from: usize, to: usize| {
            let time = arrivals[to].duration_since(arrivals[from]);
            time / u32::try_from(to - from).expect("a few thousand")
        };
        let (first, last) =
            (per_delta(0, tenth), per_delta(arrivals.len() - tenth - 1, arrivals.len() - 1));
        row(
            "per delta of 1 KiB, first / last tenth of 10 MiB",
            &format!("{:.1} / {:.1} µs", first.as_secs_f64() * 1e6, last.as_secs_f64() * 1e6),
            "",
            &format!("{:.2}", last.as_secs_f64() / first.as_secs_f64()),
            "flat",
        );
    }

    fn latency(&self) {
        let mut command = self.adapter();
        command.envs(stamp::host_variables(FAKE_HOST));
        let (mut client, _) = Client::start(command);
        let session = client.new_session(self.home.path());
        client.prompt(&session, "hello", |_| {});
        let mut ages = Vec::new();
        client.prompt(&session, "burst 20000 16", |line| ages.extend(stamp::age(line)));
        client.close();
        ages.sort_unstable();
        let alone = stamp::through_a_pipe(ages.len());
        for (share, word, budget) in [(0.5, "p50", "50 µs added"), (0.99, "p99", "1 ms added")] {
            let (through, bare) = (percentile(&ages, share), percentile(&alone, share));
            let added = format!("{} added", microseconds(through.saturating_sub(bare)));
            let name = format!("host to editor, one delta, {word}");
            row(&name, &microseconds(through), "", &added, budget);
            let name = format!("  the same over one pipe without an adapter, {word}");
            row(&name, &microseconds(bare), "", "", "");
        }
    }

    fn memory(&self) {
        let (mut client, _) = Client::start(self.adapter());
        let session = client.new_session(self.home.path());
        let fresh = client.process().resident_kib();
        client.prompt(&session, "hello", |_| {});
        let idle = client.process().resident_kib();
        row("resident memory idle, no host yet", &mebibytes(fresh), "", "", "8 MiB");
        row("resident memory idle, one host", &mebibytes(idle), "", "", "8 MiB");
        client.prompt(&session, "burst 16384 65536", |_| {});
        let peak = client.process().peak_kib();
        row("peak memory, 1 GiB in deltas of 64 KiB", &mebibytes(peak), "", "", "24 MiB");
        client.close();

        let (mut client, _) = Client::start(self.adapter());
        let session = client.new_session(self.home.path());
        client.send_prompt(&session, "burst 3000000 16");
        wait_until_idle(client.process());
        let peak = client.process().peak_kib();
        let name = "peak memory, 3,000,000 deltas, editor does not read";
        row(name, &mebibytes(peak), "", "", "24 MiB");
        client.close();
    }
}

/// One measured burst.
struct Burst {
    wall: Duration,
    cpu: Duration,
    peak_kib: u64,
}

pub(crate) fn compare(name: &str, ours: Vec<Duration>, nodes: Vec<Duration>, budget: &str) {
    let ours = median(ours);
    if nodes.is_empty() {
        row(name, &milliseconds(ours), "", "", budget);
        skipped(name, "no Node agent to compare with");
        return;
    }
    let node = median(nodes);
    let ratio = times(ours.as_secs_f64(), node.as_secs_f64());
    row(name, &milliseconds(ours), &milliseconds(node), &ratio, budget);
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn memory_ratio(ours: u64, node: u64) -> String {
    times(ours as f64, node as f64)
}

/// Returns when the process has not run for a while: it waits for its reader.
fn wait_until_idle(process: Process) {
    let mut last = process.cpu();
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let cpu = process.cpu();
        if cpu.saturating_sub(last) < Duration::from_millis(1) {
            return;
        }
        last = cpu;
    }
}

/// The kind of machine, without its name.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches(['\t', ' ', ':']);
    format!("{cores} cores, {model}, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}
