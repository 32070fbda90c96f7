//! `serve` whose engine lives in another process: this one is its pipes, its exit code and its signals.
//!
//! A test that plays a story on real binaries has to act on the model line by line. It keeps the engine
//! and listens on a Unix socket; the variable names the socket, and a `serve` that finds it set carries
//! bytes instead of thinking. So everything that the client sees of the process is real.
//!
//! Frames on the socket, both ways: one byte of kind, four bytes of length (big endian), payload.
//!
//! | kind | from | payload |
//! |---|---|---|
//! | `h` | process | its pid in decimal; first and once |
//! | `i` | process | bytes of stdin |
//! | `e` | process | none: stdin has ended |
//! | `o` | controller | bytes for stdout |
//! | `r` | controller | bytes for stderr |
//! | `c` | controller | none: close stdout and stay |
//! | `x` | controller | none: close stdin and stay |
//! | `q` | controller | one byte: exit with this code |
//! | `k` | controller | none: die by SIGKILL |
//!
//! The end of the socket ends the process with code 0: a controller that is gone leaves nothing behind.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};

/// Names the controller's socket.
pub(super) const VARIABLE: &str = "FAKE_MSP_CONTROL";
/// Longest payload that is believed, in bytes: a line of the protocol and its frame.
const PAYLOAD_MAX: usize = 64 * 1024 * 1024;
/// Most that is read of stdin at once.
const CHUNK: usize = 64 * 1024;
/// The socket cannot be used, or says what nobody understands.
const EXIT_CONFIGURATION: u8 = 3;

/// Serves as the pipes of the engine at the other end of `path`.
pub(super) fn serve(path: &str, stderr: &mut dyn Write) -> u8 {
    match relay(path, stderr) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(stderr, "fake-msp: {VARIABLE}: {error}");
            EXIT_CONFIGURATION
        }
    }
}

fn relay(path: &str, stderr: &mut dyn Write) -> io::Result<u8> {
    let mut socket = UnixStream::connect(path)?;
    send(&mut socket, b'h', std::process::id().to_string().as_bytes())?;
    let (mut stdin, mut stdout) = (Some(io::stdin().lock()), Some(io::stdout().lock()));
    let mut chunk = vec![0; CHUNK];
    loop {
        let ready = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        let (mut input, mut orders) = (false, false);
        {
            let mut fds = vec![PollFd::new(&socket, PollFlags::IN)];
            if let Some(stdin) = &stdin {
                fds.push(PollFd::new(stdin, PollFlags::IN));
            }
            match poll(&mut fds, None) {
                Err(rustix::io::Errno::INTR) => continue,
                result => result.map(drop)?,
            }
            orders |= fds[0].revents().intersects(ready);
            input |= fds.get(1).is_some_and(|fd| fd.revents().intersects(ready));
        }
        if orders {
            match receive(&mut socket)? {
                None => return Ok(0),
                Some((b'o', bytes)) => {
                    if let Some(out) = &mut stdout
                        && out.write_all(&bytes).and_then(|()| out.flush()).is_err()
                    {
                        stdout = None; // nobody reads: the controller decides what that means
                    }
                }
                Some((b'r', bytes)) => drop(stderr.write_all(&bytes)),
                Some((b'c', _)) => {
                    stdout = None;
                    rustix::stdio::dup2_stdout(File::open("/dev/null")?)?;
                }
                Some((b'x', _)) => {
                    stdin = None;
                    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
                }
                Some((b'q', bytes)) => return Ok(bytes.first().copied().unwrap_or(1)),
                Some((b'k', _)) => {
                    let me = rustix::process::getpid();
                    rustix::process::kill_process(me, rustix::process::Signal::KILL)?;
                }
                Some((kind, _)) => {
                    let text = format!("an order of unknown kind {kind}");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
            }
        }
        if input && let Some(source) = &mut stdin {
            // What std keeps in its buffer would be invisible to `poll`: a read takes all that is there.
            let count = source.read(&mut chunk).unwrap_or(0);
            if count == 0 {
                stdin = None;
                send(&mut socket, b'e', &[])?;
            } else {
                send(&mut socket, b'i', &chunk[..count])?;
            }
        }
    }
}

fn send(socket: &mut UnixStream, kind: u8, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(payload.len() + 5);
    frame.push(kind);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(payload);
    socket.write_all(&frame)
}

/// The next order; `None` at the end of the socket.
fn receive(socket: &mut UnixStream) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 5];
    match socket.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if length > PAYLOAD_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "an order that is too long"));
    }
    let mut payload = vec![0; length];
    socket.read_exact(&mut payload)?;
    Ok(Some((head[0], payload)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_the_socket_and_its_end_is_no_error() {
        let (mut near, mut far) = UnixStream::pair().expect("a pair of sockets");
        send(&mut near, b'o', b"hello").expect("sent");
        send(&mut near, b'c', &[]).expect("sent");
        drop(near);
        assert_eq!(receive(&mut far).expect("a frame"), Some((b'o', b"hello".to_vec())));
        assert_eq!(receive(&mut far).expect("a frame"), Some((b'c', Vec::new())));
        assert_eq!(receive(&mut far).expect("the end"), None);
    }

    #[test]
    fn a_length_that_nobody_means_is_refused() {
        let (mut near, mut far) = UnixStream::pair().expect("a pair of sockets");
        near.write_all(&[b'o', 255, 255, 255, 255]).expect("sent");
        assert!(receive(&mut far).is_err());
    }

    #[test]
    fn a_controller_that_is_not_there_is_a_configuration_error() {
        let mut said = Vec::new();
        assert_eq!(serve("/nowhere/socket", &mut said), EXIT_CONFIGURATION);
        let said = String::from_utf8(said).expect("utf-8");
        assert!(said.starts_with("fake-msp: FAKE_MSP_CONTROL: "), "{said}");
    }
}
