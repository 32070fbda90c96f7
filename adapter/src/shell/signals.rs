//! The signals that end the adapter as the end of its input does (PROC-7, PO-41).

/// Ready at the first SIGTERM, SIGINT or SIGHUP (Ctrl-C elsewhere).
pub async fn first() {
    #[cfg(unix)]
    {
        use std::task::Poll;
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let mut streams: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        std::future::poll_fn(|cx| {
            let arrived = streams.iter_mut().any(|stream| stream.poll_recv(cx).is_ready());
            if arrived { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
