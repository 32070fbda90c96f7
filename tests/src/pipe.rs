//! An output of a child, read to its end whoever waits for what.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::agent::BOUND;

/// One output of the child, read to its end in a task of its own.
#[derive(Debug)]
pub(crate) struct Pipe {
    bytes: Arc<Mutex<Vec<u8>>>,
    task: Option<JoinHandle<()>>,
}

impl Pipe {
    /// Keeps all bytes, and passes on each complete line that is JSON.
    pub(crate) fn read(
        mut from: impl AsyncRead + Unpin + Send + 'static,
        frames: Option<mpsc::UnboundedSender<Value>>,
    ) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let task = tokio::spawn(async move {
            let (mut chunk, mut line) = (vec![0; 64 * 1024], Vec::new());
            while let Ok(length @ 1..) = from.read(&mut chunk).await {
                kept.lock().unwrap_or_else(PoisonError::into_inner).extend(&chunk[..length]);
                let Some(frames) = &frames else { continue };
                for byte in &chunk[..length] {
                    if *byte != b'\n' {
                        line.push(*byte);
                    } else if let Ok(frame) = serde_json::from_slice(&std::mem::take(&mut line)) {
                        let _ = frames.send(frame);
                    }
                }
            }
        });
        Self { bytes, task: Some(task) }
    }

    pub(crate) async fn close(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await; // its end drops the pipe
        }
    }

    pub(crate) async fn drain(&mut self) -> Vec<u8> {
        if let Some(task) = self.task.take() {
            let ended = tokio::time::timeout(BOUND, task).await;
            let ended = ended.expect("a pipe that nobody holds open ends");
            ended.expect("the reading task does not panic");
        }
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = &bytes[bytes.len().saturating_sub(8 * 1024)..];
        String::from_utf8_lossy(tail).into_owned()
    }
}
