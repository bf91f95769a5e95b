//! Clients of Redis, by its own protocol: a key is set with an expiry unless it is there, and deleted where it is the
//! holder's. That protocol is leaner than HTTP.

use super::load::Worker;
use super::servers::Redis;
use anyhow::{Result, ensure};
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// Deletes the key where it is the holder's.
const COMPARE_AND_DELETE: &str =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

struct Pairs {
    stream: BufReader<TcpStream>,
    set: Vec<u8>,
    delete: Vec<u8>,
}

impl Pairs {
    async fn ask(&mut self, what: bool) -> Result<String> {
        let command = if what { &self.set } else { &self.delete };
        self.stream.get_mut().write_all(command).await?;
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        Ok(line)
    }
}

impl Worker for Pairs {
    fn pair(&mut self) -> Pin<Box<dyn Future<Output = Result<Duration>> + Send + '_>> {
        Box::pin(async {
            let start = Instant::now();
            let set = self.ask(true).await?;
            let grant = start.elapsed();
            ensure!(set.starts_with("+OK"), "not granted by Redis: {set}");
            let deleted = self.ask(false).await?;
            ensure!(deleted.starts_with(":1"), "not released by Redis: {deleted}");
            Ok(grant)
        })
    }
}

fn command(words: &[&str]) -> Vec<u8> {
    let words = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    let words: Vec<String> = words.collect();
    format!("*{}\r\n{}", words.len(), words.concat()).into_bytes()
}

pub async fn workers(server: &Redis, count: usize) -> Result<Vec<Box<dyn Worker>>> {
    let mut workers: Vec<Box<dyn Worker>> = Vec::new();
    for n in 0..count {
        let stream = TcpStream::connect(server.address).await?;
        stream.set_nodelay(true)?;
        let (key, holder) = (format!("repo/src/file-{n}.rs"), "did:web:dev.invalid");
        let set = command(&["SET", &key, holder, "NX", "PX", "30000"]);
        let delete = command(&["EVAL", COMPARE_AND_DELETE, "1", &key, holder]);
        workers.push(Box::new(Pairs { stream: BufReader::new(stream), set, delete }));
    }
    Ok(workers)
}
