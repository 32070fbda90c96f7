//! The node `adapter`: the driver of the adapter, whose processes run on another node.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use muse_code_acp::core::io::{Facts, SpawnSpec};
use muse_code_acp::core::{Config, Effect, EffectResult, IdSource};
use muse_code_acp::shell::world::BoxFuture;
use muse_code_acp::shell::{Driver, HostControl, HostExit, HostProcess, World};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::TcpListener;

use super::Shared;
use super::net::{CONTROL, Lazy, PORT, STDERR, STDIN, STDOUT, Tap};
use crate::stage::HostProc;
use crate::stage::memory::pipe;
use crate::stage::world::{Counted, Machine, STDERR_PIPE};

/// The world of an adapter whose processes are reached over the network.
pub(super) struct Remote {
    machine: Machine,
    shared: Rc<Shared>,
    ids: Counted,
}

impl World for Remote {
    fn spawn(&mut self, spec: &SpawnSpec) -> io::Result<HostProcess> {
        self.machine.check(spec)?;
        let size = self.machine.setting.pipe;
        let (to_host, host_in) = pipe(size);
        let (host_out, from_host) = pipe(size);
        let (host_err, from_stderr) = pipe(STDERR_PIPE);
        let started = turmoil::sim_elapsed().unwrap_or_default();
        let host = HostProc::new(self.machine.engine(), started, host_in, host_out, host_err);
        let number = self.shared.start(host, to_host, from_host, from_stderr);
        let lazy = |port| Lazy::new(port, number, Rc::clone(&self.shared.moves));
        Ok(HostProcess {
            stdin: Box::pin(lazy(STDIN)),
            stdout: Box::pin(lazy(STDOUT)),
            stderr: Box::pin(lazy(STDERR)),
            control: Box::new(Control {
                wire: lazy(CONTROL),
                received: Vec::new(),
                signals: Vec::new(),
                waker: None,
            }),
        })
    }

    fn perform(&mut self, effect: Effect) -> BoxFuture<EffectResult> {
        Box::pin(std::future::ready(self.machine.perform(effect)))
    }

    fn facts(&self) -> Facts {
        self.machine.facts()
    }

    fn ids(&mut self) -> &mut dyn IdSource {
        &mut self.ids
    }
}

/// Towards the process: one byte per signal, its number. From it: two bytes, code and signal, 255 for
/// none. A connection that ends before is a machine that vanished: nobody knows how the process ended.
struct Control {
    wire: Lazy,
    received: Vec<u8>,
    signals: Vec<u8>,
    waker: Option<Waker>,
}

/// No code, or no signal.
pub(super) const NONE: u8 = 255;

impl HostControl for Control {
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<HostExit> {
        self.waker = Some(cx.waker().clone());
        while let Some(&signal) = self.signals.first() {
            match Pin::new(&mut self.wire).poll_write(cx, &[signal]) {
                Poll::Pending => break,
                Poll::Ready(_) => drop(self.signals.remove(0)),
            }
        }
        let mut bytes = [0; 2];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.wire).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    self.received.extend_from_slice(buffer.filled());
                }
                Poll::Ready(_) => return Poll::Ready(HostExit::default()),
            }
            if let [code, signal] = self.received[..] {
                let number = |byte: u8| (byte != NONE).then_some(i32::from(byte));
                return Poll::Ready(HostExit { code: number(code), signal: number(signal) });
            }
        }
    }

    fn terminate(&mut self) {
        self.signals.push(15);
        self.waker.iter().for_each(Waker::wake_by_ref);
    }

    fn kill(&mut self) {
        self.signals.push(9);
        self.waker.iter().for_each(Waker::wake_by_ref);
    }
}

/// Serves the one editor.
pub(super) async fn adapter(
    shared: Rc<Shared>,
    machine: Machine,
    config: Config,
) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    let (stream, _) = listener.accept().await?;
    let (read, write) = tokio::io::split(Tap::new(stream, Rc::clone(&shared.moves)));
    let world = Remote { machine, shared: Rc::clone(&shared), ids: Counted(0) };
    let driver = Driver::new(config, world, read, write, std::future::pending());
    shared
        .clock
        .set(Some((tokio::time::Instant::now(), turmoil::sim_elapsed().unwrap_or_default())));
    *shared.driver.borrow_mut() = Some(driver);
    // The driver stands in the open, so that a report can name its next timer.
    std::future::poll_fn(|cx| poll(&shared.driver, cx)).await;
    *shared.driver.borrow_mut() = None;
    shared.ended.set(true);
    super::net::moved(&shared.moves);
    Ok(())
}

fn poll(driver: &RefCell<Option<Driver<Remote>>>, cx: &mut Context<'_>) -> Poll<()> {
    match driver.borrow_mut().as_mut() {
        Some(driver) => driver.poll(cx),
        None => Poll::Ready(()),
    }
}
