//! The default stage: the adapter's library and the engine of the fake host over in-memory pipes, on a
//! paused clock.
//!
//! Nothing runs by itself. [`Pipe::settle`] polls the driver and pumps the hosts until nothing moves;
//! that is the proof of absence (STY-38). Time moves by [`Pipe::advance`] only, from deadline to
//! deadline, so timers fire in order and at their own instant.

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use muse_code_acp::core::Config;
use muse_code_acp::shell::Driver;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::host::HostProc;
use super::memory::{Reader, Writer, pipe};
use super::tamper::Tampering;
use super::world::{Counted, Hosts, Machine, MadeUp, Setting};
use super::{Landing, LinkFault, Party, Stage};

/// Passes of [`Pipe::settle`] after which a story is called a livelock: a run of an honest story needs a
/// few dozen, a burst of a megabyte some ten thousand.
const PASSES_MAX: u32 = 4_000_000;

/// See the module.
pub struct Pipe {
    driver: Option<Driver<MadeUp>>,
    hosts: Hosts,
    editor_in: Option<Writer>,
    editor_out: Reader,
    received: Vec<u8>,
    unsent: VecDeque<u8>,
    stalled: bool,
    start: Instant,
    /// Last: the driver's timers live in it.
    runtime: Runtime,
}

impl Pipe {
    /// A stage on which nothing has happened.
    ///
    /// # Errors
    /// When the machine cannot give a runtime (no more file descriptors).
    pub fn new(setting: Setting, config: Config) -> std::io::Result<Self> {
        Self::tampered(setting, config, None)
    }

    /// A stage on which something goes wrong with what hosts say.
    ///
    /// # Errors
    /// As [`Pipe::new`].
    pub fn tampered(
        setting: Setting,
        config: Config,
        tampering: Option<Tampering>,
    ) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        let guard = runtime.enter();
        let start = Instant::now();
        let (editor_in, agent_in) = pipe(setting.pipe);
        let (agent_out, editor_out) = pipe(setting.pipe);
        let hosts = Hosts::default();
        let machine = Machine { setting, hosts: Rc::clone(&hosts) };
        let world = MadeUp { machine, start, ids: Counted(0), tampering };
        let driver = Driver::new(config, world, agent_in, agent_out, std::future::pending());
        drop(guard);
        Ok(Self {
            driver: Some(driver),
            hosts,
            editor_in: Some(editor_in),
            editor_out,
            received: Vec::new(),
            unsent: VecDeque::new(),
            stalled: false,
            start,
            runtime,
        })
    }

    fn next_deadline(&self) -> Option<Duration> {
        let adapter = self.driver.as_ref().and_then(Driver::deadline);
        let adapter = adapter.map(|at| at.saturating_duration_since(self.start));
        let hosts = self.hosts.borrow().iter().filter_map(HostProc::deadline).min();
        [adapter, hosts].into_iter().flatten().min()
    }

    /// One pass over everything. True when anything moved.
    fn pass(&mut self, buffer: &mut Vec<u8>) -> bool {
        let before = self.moves();
        let now = self.start.elapsed();
        if let Some(input) = &mut self.editor_in {
            let (front, _) = self.unsent.as_slices();
            match input.put(front) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(_) => self.unsent.clear(),
            }
        }
        if let Some(driver) = &mut self.driver
            && driver.poll(&mut Context::from_waker(Waker::noop())).is_ready()
        {
            self.driver = None;
        }
        let mut moved = false;
        for host in self.hosts.borrow().iter() {
            moved |= host.pump(now);
        }
        if !self.stalled {
            buffer.append(&mut self.editor_out.take());
        }
        moved || self.moves() != before
    }

    fn moves(&self) -> u64 {
        let input = self.editor_in.as_ref().map_or(0, Writer::moves);
        input + self.editor_out.moves()
    }
}

impl Stage for Pipe {
    fn now(&self) -> Duration {
        let _guard = self.runtime.enter();
        self.start.elapsed()
    }

    fn editor_write(&mut self, bytes: &[u8]) {
        self.unsent.extend(bytes);
    }

    fn editor_close(&mut self) {
        self.settle();
        self.editor_in = None;
    }

    fn editor_stall(&mut self, stalled: bool) {
        self.stalled = stalled;
    }

    fn editor_read(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.received)
    }

    fn settle(&mut self) {
        let handle = self.runtime.handle().clone();
        let _guard = handle.enter();
        let mut buffer = std::mem::take(&mut self.received);
        let mut passes = 0;
        while self.pass(&mut buffer) {
            passes += 1;
            assert!(passes < PASSES_MAX, "the story never comes to rest: a livelock");
        }
        self.received = buffer;
    }

    fn advance(&mut self, by: Duration, _: Landing) {
        self.settle();
        let target = self.now() + by;
        loop {
            let next = self.next_deadline().filter(|at| *at <= target);
            let step = next.unwrap_or(target).saturating_sub(self.now());
            self.runtime.block_on(tokio::time::advance(step));
            self.settle();
            if next.is_none() {
                return;
            }
        }
    }

    fn hosts(&mut self) -> Vec<HostProc> {
        self.hosts.borrow().clone()
    }

    fn link(&mut self, _: Party, _: LinkFault) -> Result<(), &'static str> {
        Err("`pipe` has no network: this line needs `sim`")
    }

    fn adapter_ended(&self) -> bool {
        self.driver.is_none()
    }

    fn pending_timer(&self) -> Option<Duration> {
        self.next_deadline().map(|at| at.saturating_sub(self.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fake_msp::engine::Mode;
    use fake_msp::profiles::Profile;

    fn stage(pipe: usize) -> Pipe {
        let setting = Setting {
            profile: Profile::newest(),
            mode: Mode::Obliging,
            staged: None,
            asked: Vec::new(),
            seed: 1,
            pipe,
            missing: None,
        };
        Pipe::new(setting, Config::default()).expect("a runtime")
    }

    fn talk(stage: &mut Pipe) -> String {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#,
        ] {
            stage.editor_write(format!("{line}\n").as_bytes());
        }
        stage.settle();
        let text = String::from_utf8(stage.editor_read()).expect("utf-8");
        let last: serde_json::Value =
            serde_json::from_str(text.lines().last().expect("lines")).expect("json");
        last["result"]["sessionId"].as_str().expect("an id").to_owned()
    }

    #[test]
    fn a_conversation_is_the_same_every_time_and_for_every_pipe_size() {
        let play = |size: usize| {
            let mut stage = stage(size);
            let session = talk(&mut stage);
            stage.editor_write(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"{session}\",\"prompt\":[{{\"type\":\"text\",\"text\":\"hello\"}}]}}}}\n"
            ).as_bytes());
            stage.advance(Duration::from_secs(5), Landing::After);
            String::from_utf8(stage.editor_read()).expect("utf-8")
        };
        let whole = play(65_536);
        assert!(whole.ends_with("{\"stopReason\":\"end_turn\"}}\n"), "{whole}");
        assert_eq!(play(65_536), whole);
        assert_eq!(play(16), whole);
    }

    #[test]
    fn a_deadline_of_two_minutes_passes_without_waiting() {
        let mut stage = stage(65_536);
        talk(&mut stage);
        assert_eq!(stage.pending_timer(), None);
        stage.advance(Duration::from_secs(120), Landing::After);
        assert_eq!(stage.now(), Duration::from_secs(120));
    }

    #[test]
    fn the_end_of_the_editor_ends_the_adapter_and_its_hosts() {
        let mut stage = stage(65_536);
        talk(&mut stage);
        stage.editor_close();
        stage.settle();
        assert!(stage.adapter_ended());
    }
}
