//! The servers of a run: each a process of its own, on a port of loopback that was free, ended with the run.

use super::Given;
use anyhow::{Context as _, Result, bail};
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(20);

/// A process that ends when it is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended by itself needs no end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Leasebook {
    pub address: SocketAddr,
    data: PathBuf,
    pub key: String,
    pub actor: String,
    _server: Server,
}

pub struct Empty {
    pub address: SocketAddr,
    _server: Server,
}

#[cfg(feature = "etcd")]
pub struct Etcd {
    pub address: SocketAddr,
    _server: Server,
}

pub struct Redis {
    pub address: SocketAddr,
    _server: Server,
}

impl Leasebook {
    /// Keys of agents, and whom they speak for.
    pub fn agents(&self, given: &Given, count: usize) -> Result<Vec<(String, String)>> {
        let agent = |n| {
            let actor = format!("did:web:agent-{n}.invalid");
            let mut command = Command::new(&given.command);
            let made = command.args(["key", "create", "--actor", &actor, "--data"]).arg(&self.data).output()?;
            anyhow::ensure!(made.status.success(), "no key: {}", String::from_utf8_lossy(&made.stderr));
            Ok((String::from_utf8(made.stdout)?.trim().to_owned(), actor))
        };
        (0..count).map(agent).collect()
    }
}

/// The service, on a store of its own.
pub fn leasebook(given: &Given, folder: &Path, name: &str, more: &[&str]) -> Result<Leasebook> {
    let mut command = Command::new(&given.command);
    command.args(["serve", "--dev", "--listen", "127.0.0.1:0", "--log", "warn"]).args(more);
    let data = folder.join(name).with_extension("sqlite");
    command.arg("--data").arg(&data);
    command.arg("--ledger").arg(folder.join(name).with_extension("ledger"));
    let (server, said) = spoken(command, "data")?;
    let after = |word: &str| {
        let line = said.iter().find_map(|line| line.strip_prefix(word));
        line.map(str::trim).with_context(|| format!("the service did not say its {word}"))
    };
    let address = after("listening")?.trim_start_matches("http://").parse()?;
    Ok(Leasebook { address, data, key: after("key")?.into(), actor: "did:web:dev.invalid".into(), _server: server })
}

/// This program again, as the empty route.
pub fn empty() -> Result<Empty> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("empty-route");
    let (server, said) = spoken(command, "")?;
    Ok(Empty { address: said[0].parse()?, _server: server })
}

#[cfg(feature = "etcd")]
pub fn etcd(folder: &Path) -> Result<Etcd> {
    let (address, peer) = (free()?, free()?);
    let mut command = Command::new("etcd");
    command.arg("--data-dir").arg(folder.join("etcd"));
    for (flag, address) in [
        ("--listen-client-urls", address),
        ("--advertise-client-urls", address),
        ("--listen-peer-urls", peer),
        ("--initial-advertise-peer-urls", peer),
    ] {
        command.arg(flag).arg(format!("http://{address}"));
    }
    command.arg("--initial-cluster").arg(format!("default=http://{peer}"));
    Ok(Etcd { address, _server: quiet(command, address)? })
}

pub fn redis(folder: &Path) -> Result<Redis> {
    let address = free()?;
    let data = folder.join("redis");
    std::fs::create_dir(&data)?;
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port"]).arg(address.port().to_string());
    command.args(["--save", "", "--appendonly", "yes", "--appendfsync", "always", "--dir"]).arg(data);
    Ok(Redis { address, _server: quiet(command, address)? })
}

/// Starts a server that says where it listens; its lines until one that begins with a word.
fn spoken(mut command: Command, last: &str) -> Result<(Server, Vec<String>)> {
    let doing = || format!("start {:?}", command.get_program());
    let doing = doing();
    let mut server = Server(command.stdout(Stdio::piped()).spawn().with_context(|| doing.clone())?);
    let out = server.0.stdout.take().context("it has a standard output")?;
    let mut said = Vec::new();
    for line in BufReader::new(out).lines() {
        said.push(line?);
        if said.last().is_some_and(|line| line.starts_with(last)) {
            return Ok((server, said));
        }
    }
    bail!("{doing}: it ended after saying {said:?}")
}

/// Starts a server that says nothing of use, and waits until it listens.
fn quiet(mut command: Command, address: SocketAddr) -> Result<Server> {
    let doing = format!("start {:?}", command.get_program());
    let server = Server(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().with_context(|| doing.clone())?);
    let end = Instant::now() + START;
    while TcpStream::connect(address).is_err() {
        if Instant::now() > end {
            bail!("{doing}: it does not listen on {address}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(server)
}

/// A port that is free now.
fn free() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Serves an empty route until it is killed, and says where.
pub fn empty_route() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        let answer = || async { ([("content-type", "application/json")], r#"{"ok":true}"#) };
        let router = axum::Router::new().route("/", axum::routing::post(answer));
        axum::serve(listener, router).await?;
        Ok(())
    })
}
