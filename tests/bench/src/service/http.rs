//! Clients over HTTP: of the service, and of the empty route. Both send the same bytes.

use super::load::Worker;
use super::servers::{Empty, Leasebook};
use anyhow::{Context as _, Result, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode, header};
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

pub const LEASE: &str = "/api/v1/acp/coordination/lease";
pub const RELEASE: &str = "/api/v1/acp/coordination/release";

/// One connection that is kept.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    authorization: String,
}

impl Connection {
    pub async fn open(address: SocketAddr, key: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connect to {address}"))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends with the sender.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, authorization: format!("Bearer {key}") })
    }

    pub async fn post(&mut self, path: &str, body: Bytes) -> Result<(StatusCode, Bytes)> {
        let request = Request::post(path)
            .header(header::HOST, "localhost")
            .header(header::AUTHORIZATION, &self.authorization)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}

struct Pairs {
    connection: Connection,
    paths: [&'static str; 2],
    bodies: [Bytes; 2],
}

impl Worker for Pairs {
    fn pair(&mut self) -> Pin<Box<dyn Future<Output = Result<Duration>> + Send + '_>> {
        Box::pin(async {
            let start = Instant::now();
            let (status, body) = self.connection.post(self.paths[0], self.bodies[0].clone()).await?;
            let grant = start.elapsed();
            ensure!(status == StatusCode::OK, "not granted: {}", String::from_utf8_lossy(&body));
            let (status, body) = self.connection.post(self.paths[1], self.bodies[1].clone()).await?;
            ensure!(status == StatusCode::OK, "not released: {}", String::from_utf8_lossy(&body));
            Ok(grant)
        })
    }
}

async fn pairs(
    address: SocketAddr,
    key: &str,
    actor: &str,
    paths: [&'static str; 2],
    count: usize,
) -> Result<Vec<Box<dyn Worker>>> {
    let mut workers: Vec<Box<dyn Worker>> = Vec::new();
    for n in 0..count {
        let connection = Connection::open(address, key).await?;
        let body = format!(r#"{{"resource":"repo/src/file-{n}.rs","actorDid":"{actor}"}}"#);
        let body = Bytes::from(body);
        workers.push(Box::new(Pairs { connection, paths, bodies: [body.clone(), body] }));
    }
    Ok(workers)
}

/// Clients that lease and release, each a file of its own.
pub async fn leases(server: &Leasebook, count: usize) -> Result<Vec<Box<dyn Worker>>> {
    pairs(server.address, &server.key, &server.actor, [LEASE, RELEASE], count).await
}

/// Clients that ask the empty route twice a pair.
pub async fn empties(server: &Empty, count: usize) -> Result<Vec<Box<dyn Worker>>> {
    pairs(server.address, "none", "did:web:dev.invalid", ["/", "/"], count).await
}
