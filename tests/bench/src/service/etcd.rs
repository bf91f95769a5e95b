//! Clients of etcd, over gRPC: a lease is granted, a key made under it unless it is there, and the lease revoked.

use super::load::Worker;
use super::servers::Etcd;
use anyhow::{Result, ensure};
use etcd_client::{Client, Compare, CompareOp, PutOptions, Txn, TxnOp};
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

struct Pairs {
    client: Client,
    key: String,
}

impl Worker for Pairs {
    fn pair(&mut self) -> Pin<Box<dyn Future<Output = Result<Duration>> + Send + '_>> {
        Box::pin(async {
            let start = Instant::now();
            let lease = self.client.lease_grant(30, None).await?.id();
            let free = Compare::version(self.key.as_str(), CompareOp::Equal, 0);
            let put = TxnOp::put(self.key.as_str(), "holder", Some(PutOptions::new().with_lease(lease)));
            let made = self.client.txn(Txn::new().when([free]).and_then([put])).await?;
            let grant = start.elapsed();
            ensure!(made.succeeded(), "not granted by etcd");
            self.client.lease_revoke(lease).await?;
            Ok(grant)
        })
    }
}

pub async fn workers(server: &Etcd, count: usize) -> Result<Vec<Box<dyn Worker>>> {
    let mut workers: Vec<Box<dyn Worker>> = Vec::new();
    for n in 0..count {
        let client = Client::connect([server.address.to_string()], None).await?;
        workers.push(Box::new(Pairs { client, key: format!("repo/src/file-{n}.rs") }));
    }
    Ok(workers)
}
