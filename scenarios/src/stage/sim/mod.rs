//! Editor, adapter and hosts as three machines of a simulated network, on one seeded clock (turmoil).
//!
//! The engine of each host process and the adapter's driver are those of `pipe`; between them lie
//! connections whose messages take time, can be held, and break when a machine vanishes. Seed 0 has no
//! latency; any other seed draws each message's latency from 0 to [`LATENCY_MAX`].
//!
//! Coming to rest takes time here, a tick per hop, while on `pipe` it takes none. The story's clock
//! therefore runs behind the simulation's, and a wait ends on the side of its target that the next line
//! needs ([`Landing`]): before `quiet` and acts the simulation has not passed the story's instant as
//! measured without any hop; before an expectation it has passed it with all hops added. What needs
//! two timers told apart that lie closer together than the hops took belongs on `pipe`.

mod adapter;
mod editor;
mod muse;
mod net;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

use muse_code_acp::core::Config;
use muse_code_acp::shell::{Driver, HostExit};
use tokio::sync::Notify;

use super::host::HostProc;
use super::memory::{Reader, Writer};
use super::world::{Hosts, Machine, Setting};
use super::{Landing, LinkFault, Party, Stage};
use net::Moves;

/// Longest that a message takes under a seed.
pub const LATENCY_MAX: Duration = Duration::from_millis(5);
/// Ticks without anything after which the simulation is at rest: one in which nothing moved, and one more
/// for what became deliverable at its end.
const QUIET_TICKS: u32 = 2;
/// Ticks of one settling after which a story is called a livelock.
const TICKS_MAX: u32 = 200_000;
/// Any date will do, as long as it is always the same (DET-5).
const EPOCH: Duration = Duration::from_secs(1_767_225_600);

/// The far ends of a process's pipes, for the machine that runs it.
struct Far {
    host: HostProc,
    to_host: Option<Writer>,
    from_host: Option<Reader>,
    from_stderr: Option<Reader>,
    wake: Rc<Notify>,
}

/// What the nodes and the runner share. One thread holds all of it.
#[derive(Default)]
struct Shared {
    moves: Moves,
    hosts: Hosts,
    /// Processes that the adapter has started and whose connections are not there yet.
    far: RefCell<BTreeMap<u32, Far>>,
    wakes: RefCell<Vec<Rc<Notify>>>,
    driver: RefCell<Option<Driver<adapter::Remote>>>,
    /// The adapter's clock and the simulation's at one moment.
    clock: Cell<Option<(tokio::time::Instant, Duration)>>,
    ended: Cell<bool>,
    /// The machine of hosts has vanished: a process that the adapter starts there never exists.
    down: Cell<bool>,
    desk: RefCell<editor::Desk>,
    editor_wake: Notify,
    panics: Rc<Cell<u32>>,
}

impl Shared {
    fn start(&self, host: HostProc, to: Writer, from: Reader, stderr: Reader) -> u32 {
        if self.down.get() {
            host.with(|process| process.die(HostExit::default()));
        }
        let wake = Rc::new(Notify::new());
        self.wakes.borrow_mut().push(Rc::clone(&wake));
        self.hosts.borrow_mut().push(host.clone());
        let number = u32::try_from(self.hosts.borrow().len()).unwrap_or(u32::MAX);
        let far =
            Far { host, to_host: Some(to), from_host: Some(from), from_stderr: Some(stderr), wake };
        self.far.borrow_mut().insert(number, far);
        number
    }

    /// Spawns a task whose panic is not swallowed (DET-8).
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        tokio::task::spawn_local(counted(Rc::clone(&self.panics), task));
    }
}

/// Ends a task that panics and counts it.
async fn counted<T: Default>(panics: Rc<Cell<u32>>, task: impl Future<Output = T> + 'static) -> T {
    let mut task = Box::pin(task);
    std::future::poll_fn(move |cx| {
        let task: Pin<&mut _> = task.as_mut();
        catch_unwind(AssertUnwindSafe(|| task.poll(cx))).unwrap_or_else(|_| {
            panics.set(panics.get() + 1);
            std::task::Poll::Ready(T::default())
        })
    })
    .await
}

/// See the module.
pub struct Sim {
    sim: turmoil::Sim<'static>,
    shared: Rc<Shared>,
    tick: Duration,
    /// The story's clock.
    story: Duration,
    /// The most that the simulation was ahead of it.
    ahead_max: Duration,
    held: [bool; 2],
    /// Nothing has happened since the simulation came to rest.
    at_rest: bool,
}

impl Sim {
    /// A stage on which nothing has happened. `seed` draws the latencies; `coarse` makes ticks of 10 ms
    /// instead of 1 ms, for stories that wait long (TUR-4).
    #[must_use]
    pub fn new(setting: Setting, config: Config, seed: u64, coarse: bool) -> Self {
        let tick = Duration::from_millis(if coarse { 10 } else { 1 });
        let latency = if seed == 0 { Duration::ZERO } else { LATENCY_MAX };
        let mut builder = turmoil::Builder::new();
        builder
            .rng_seed(seed)
            .epoch(UNIX_EPOCH + EPOCH)
            .tick_duration(tick)
            .simulation_duration(Duration::from_secs(30 * 86_400))
            .tcp_capacity(1024)
            .min_message_latency(Duration::ZERO)
            .max_message_latency(latency);
        if seed % 2 == 1 {
            builder.enable_random_order(); // TUR-6
        }
        let mut sim = builder.build();
        let shared = Rc::<Shared>::default();
        // The order of registration is the order within a tick (TUR-6).
        let to_muse = Rc::clone(&shared);
        sim.host("muse", move || node(Rc::clone(&to_muse.panics), muse::muse(Rc::clone(&to_muse))));
        let to_adapter = Rc::clone(&shared);
        sim.host("adapter", move || {
            let hosts = Rc::clone(&to_adapter.hosts);
            let machine = Machine { setting: setting.clone(), hosts };
            let task = adapter::adapter(Rc::clone(&to_adapter), machine, config.clone());
            node(Rc::clone(&to_adapter.panics), task)
        });
        // Whoever connects finds everybody listening, in whatever order nodes run.
        let _ = sim.step();
        let to_editor = Rc::clone(&shared);
        sim.host("editor", move || {
            node(Rc::clone(&to_editor.panics), editor::editor(Rc::clone(&to_editor)))
        });
        Self {
            sim,
            shared,
            tick,
            story: Duration::ZERO,
            ahead_max: Duration::ZERO,
            held: [false; 2],
            at_rest: false,
        }
    }

    fn step(&mut self) {
        self.at_rest = false;
        if let Err(error) = self.sim.step() {
            // A node that ends with an error has no way to go on; the story shows what is missing.
            tracing::warn!(%error, "a node of the simulation ended");
        }
    }

    /// Messages on links that are not held.
    fn in_flight(&self) -> bool {
        let [editor, muse] = ["editor", "muse"].map(|name| self.sim.lookup(name));
        let mut found = false;
        self.sim.links(|links| {
            for mut link in links {
                let (a, b) = link.pair();
                let held = (self.held[0] && (a == editor || b == editor))
                    || (self.held[1] && (a == muse || b == muse));
                found |= !held && link.next().is_some();
            }
        });
        found
    }

    fn wake_all(&self) {
        self.shared.editor_wake.notify_one();
        for wake in self.shared.wakes.borrow().iter() {
            wake.notify_one();
        }
    }
}

/// A node is a task like any other: its panic counts.
async fn node(
    panics: Rc<Cell<u32>>,
    task: impl Future<Output = turmoil::Result> + 'static,
) -> turmoil::Result {
    // An error is a machine that cannot go on, for example a connection refused after a crash.
    counted(panics, async move { task.await.is_ok() }).await;
    Ok(())
}

impl Stage for Sim {
    fn now(&self) -> Duration {
        self.story
    }

    fn editor_write(&mut self, bytes: &[u8]) {
        self.at_rest = false;
        self.shared.desk.borrow_mut().outbox.extend(bytes);
    }

    fn editor_close(&mut self) {
        self.settle();
        self.at_rest = false;
        self.shared.desk.borrow_mut().closing = true;
    }

    fn editor_stall(&mut self, stalled: bool) {
        self.at_rest = false;
        self.shared.desk.borrow_mut().stalled = stalled;
    }

    fn editor_read(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.shared.desk.borrow_mut().inbox)
    }

    fn settle(&mut self) {
        // Rest that is already there costs no time.
        if self.at_rest
            && !self.shared.hosts.borrow().iter().any(|host| host.is_touched() && !host.is_gone())
        {
            return;
        }
        self.wake_all();
        let (mut quiet, mut ticks) = (0, 0);
        while quiet < QUIET_TICKS {
            let before = self.shared.moves.get();
            self.step();
            let still = self.shared.moves.get() == before && !self.in_flight();
            quiet = if still { quiet + 1 } else { 0 };
            ticks += 1;
            assert!(ticks < TICKS_MAX, "the story never comes to rest: a livelock");
        }
        let ahead = self.sim.elapsed().saturating_sub(self.story);
        self.ahead_max = self.ahead_max.max(ahead);
        self.at_rest = true;
    }

    fn advance(&mut self, by: Duration, landing: Landing) {
        self.settle();
        self.story += by;
        let target = match landing {
            // Coming to rest there takes the rest.
            Landing::Before | Landing::Quiet => self.story.saturating_sub(self.tick * QUIET_TICKS),
            Landing::After => self.story + self.ahead_max,
        };
        while self.sim.elapsed() + self.tick <= target {
            self.step();
        }
        if landing == Landing::After {
            // A timer at the target itself fires within the tick that contains it.
            self.step();
        }
        self.settle();
    }

    fn link(&mut self, party: Party, fault: LinkFault) -> Result<(), &'static str> {
        // What was said before is on no link any more: a story holds what it says next.
        self.settle();
        self.at_rest = false;
        let name = match party {
            Party::Editor => "editor",
            Party::Host => "muse",
        };
        match fault {
            LinkFault::Hold => self.sim.hold("adapter", name),
            LinkFault::Release => self.sim.release("adapter", name),
            LinkFault::Delay(by) => self.sim.set_link_latency("adapter", name, by),
            LinkFault::Crash => {
                self.sim.crash(name);
                if party == Party::Host {
                    self.shared.down.set(true);
                    for host in self.shared.hosts.borrow().iter().filter(|host| !host.is_gone()) {
                        host.with(|process| process.die(HostExit::default()));
                    }
                }
            }
            LinkFault::Bounce => {
                self.sim.bounce(name);
                self.shared.down.set(false);
                self.step();
            }
        }
        if let LinkFault::Hold | LinkFault::Release = fault {
            self.held[usize::from(party == Party::Host)] = fault == LinkFault::Hold;
        }
        Ok(())
    }

    fn calm(&mut self) {
        self.editor_stall(false);
        for (party, held) in [Party::Editor, Party::Host].into_iter().zip(self.held) {
            if held {
                // A link that is held can be released.
                let _ = self.link(party, LinkFault::Release);
            }
        }
    }

    fn hosts(&mut self) -> Vec<HostProc> {
        self.shared.hosts.borrow().clone()
    }

    fn adapter_ended(&self) -> bool {
        self.shared.ended.get()
    }

    fn pending_timer(&self) -> Option<Duration> {
        let driver = self.shared.driver.borrow();
        let (instant, elapsed) = self.shared.clock.get()?;
        let now = instant + self.sim.elapsed().saturating_sub(elapsed);
        Some(driver.as_ref()?.deadline()?.saturating_duration_since(now))
    }

    fn findings(&mut self) -> Vec<String> {
        // turmoil swallows the panic of a task (DET-8).
        match self.shared.panics.get() {
            0 => Vec::new(),
            count => vec![format!("{count} tasks panicked")],
        }
    }
}
