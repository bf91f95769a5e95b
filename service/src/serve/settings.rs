//! The settings of a service, from a file, the environment and flags.

use anyhow::Context as _;
use leasebook_server::config::Config;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Settings that are given on the command line or in the environment; what is absent is taken from the file.
#[derive(clap::Args, Debug)]
pub struct Settings {
    /// A configuration file; `--print-config` prints one
    #[arg(long, value_name = "FILE", env = "LEASEBOOK_CONFIG")]
    config: Option<PathBuf>,
    /// The SQLite file that keeps everything [default: leasebook.sqlite]
    #[arg(long, value_name = "FILE", env = "LEASEBOOK_DATA")]
    data: Option<PathBuf>,
    /// The folder of the ledgers [default: leasebook.ledger]
    #[arg(long, value_name = "DIR", env = "LEASEBOOK_LEDGER")]
    ledger: Option<PathBuf>,
    /// Where to listen [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS", env = "LEASEBOOK_LISTEN")]
    listen: Option<SocketAddr>,
    /// A name by which clients call the service, beside those of loopback
    #[arg(long = "allowed-host", value_name = "HOST", env = "LEASEBOOK_ALLOWED_HOSTS", value_delimiter = ',')]
    allowed_hosts: Vec<String>,
    /// Let anybody make test keys, good for 35 calls in 7 days
    #[arg(long)]
    test_keys: bool,
    /// Answer without signed receipts
    #[arg(long)]
    no_receipts: bool,
}

impl Settings {
    /// All settings.
    pub fn config(&self) -> anyhow::Result<Config> {
        let mut config = match &self.config {
            None => Config::default(),
            Some(path) => read(path)?,
        };
        config.data = self.data.clone().unwrap_or(config.data);
        config.ledger = self.ledger.clone().unwrap_or(config.ledger);
        config.listen = self.listen.unwrap_or(config.listen);
        config.allowed_hosts.extend(self.allowed_hosts.iter().cloned());
        config.test_keys |= self.test_keys;
        config.receipts &= !self.no_receipts;
        config.check()?;
        Ok(config)
    }
}

fn read(path: &Path) -> anyhow::Result<Config> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    Ok(Config::from_toml(&text)?)
}
