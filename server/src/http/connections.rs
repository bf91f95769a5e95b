//! Connections: accepted up to a bound, given a bounded time to say what they want, and ended in order at shutdown.

use super::problem::{Code, Problem};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The most connections at one time. Each takes a few kilobytes and one file descriptor.
pub const CONNECTIONS_MAX: usize = 12_000;
/// How long a client may take for the head of a request, and how long a connection may be idle between two.
pub const HEAD: Duration = Duration::from_secs(15);
/// The largest head of a request, in bytes: its headers are read into memory.
pub const HEAD_BYTES_MAX: usize = 32 * 1024;
/// The most headers of a request.
pub const HEADERS_MAX: usize = 64;
/// How long requests that are being answered may go on after shutdown was asked for.
pub const SHUTDOWN: Duration = Duration::from_secs(10);
/// How long to wait where the system has no descriptor left for one more connection.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// Serves connections until `ending` is done; then no new one is accepted, and those that are being answered get
/// [`SHUTDOWN`] to end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections_max: usize,
    ending: impl Future<Output = ()>,
) -> io::Result<()> {
    let full: Arc<[u8]> = full().into();
    let room = Arc::new(Semaphore::new(connections_max));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
    tokio::pin!(ending);
    loop {
        let stream = tokio::select! {
            biased;
            () = &mut ending => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) if is_of_one_connection(&error) => continue,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(EXHAUSTED).await;
                    continue;
                }
            },
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else {
            refuse(stream, Arc::clone(&full));
            continue;
        };
        // Answers are small and waited for.
        let _ = stream.set_nodelay(true);
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
            drop(permit);
        });
    }
    drop(listener);
    if tokio::time::timeout(SHUTDOWN, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests were still being answered at the end of the time for shutdown");
    }
    Ok(())
}

/// Errors of a connection that went away before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn refuse(mut stream: TcpStream, full: Arc<[u8]>) {
    tokio::spawn(async move {
        // A client that does not read it gets nothing.
        let _ = tokio::time::timeout(Duration::from_secs(1), async {
            stream.write_all(&full).await?;
            stream.shutdown().await
        })
        .await;
    });
}

/// What a connection beyond the bound is told. It is written without reading the request, which may never come.
fn full() -> Vec<u8> {
    let body = Problem::new(Code::Unavailable, "too many connections are open; nothing was granted").to_json();
    let head =
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close";
    let mut answer = format!("{head}\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
    answer.extend(body);
    answer
}
