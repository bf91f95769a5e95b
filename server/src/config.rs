//! How a service is set up: from a file, the environment and flags, each stronger than the one before.

use leasebook::Limits;
use leasebook::coordination::{self, Class, Options, Pattern};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The port where none is named.
pub const PORT: u16 = 7878;
/// How many events of one turn are kept for observers and the ledger. A turn has at most 1 024 commands, and each ends
/// a bounded number of leases and waits; what is beyond this is counted and said.
const EVENTS_MAX: usize = 1 << 20;

/// All settings of a service, with their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Where it listens. On loopback unless told otherwise.
    pub listen: SocketAddr,
    /// The SQLite file that keeps everything.
    pub data: PathBuf,
    /// The folder of the ledgers: one file for each workspace.
    pub ledger: PathBuf,
    /// Names by which clients may call the service, beside those of loopback: hosts with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Anybody may make a test key, good for 35 calls in 7 days.
    pub test_keys: bool,
    /// Answers to requests for leases carry a signed receipt.
    pub receipts: bool,
    /// The most connections at one time.
    pub connections_max: usize,
    /// The most requests that wait for a grant at one time.
    pub polls_max: usize,
    /// The ttl of a lease whose asker names none, in milliseconds.
    pub default_ttl_ms: u64,
    /// The longest ttl, in milliseconds.
    pub ttl_ms_max: u64,
    /// The longest wait of a request, in milliseconds.
    pub wait_ms_max: u64,
    /// The most standing leases of a workspace: locations, not requests.
    pub leases_max: usize,
    /// The most standing leases of one actor.
    pub leases_per_actor_max: usize,
    /// Which resources may be read concurrently: the first pattern that covers one says its class.
    pub class: Vec<ClassRule>,
}

/// The class of the resources that a pattern covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassRule {
    /// A name, which covers everything below it; `*` stands for any one segment.
    pub pattern: String,
    /// `exclusive` or `concurrent-read`.
    pub class: ClassName,
}

/// The name of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassName {
    /// Everything conflicts.
    Exclusive,
    /// Reads do not exclude each other.
    ConcurrentRead,
}

impl Default for Config {
    fn default() -> Self {
        let options = Options::default();
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT),
            data: "leasebook.sqlite".into(),
            ledger: "leasebook.ledger".into(),
            allowed_hosts: Vec::new(),
            test_keys: false,
            receipts: true,
            connections_max: crate::http::CONNECTIONS_MAX,
            polls_max: 4_096,
            default_ttl_ms: options.default_ttl_ms,
            ttl_ms_max: options.ttl_ms_max,
            wait_ms_max: options.wait_ms_max,
            leases_max: options.limits.leases,
            leases_per_actor_max: options.limits.leases_per_holder,
            class: Vec::new(),
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: expected {expected}")]
pub struct InvalidConfig {
    /// Which.
    pub setting: String,
    /// What was expected.
    pub expected: String,
}

impl Config {
    /// Reads a configuration file: TOML. What it does not name has its default.
    pub fn from_toml(text: &str) -> Result<Self, InvalidConfig> {
        let wrong = |error: toml::de::Error| InvalidConfig {
            setting: "the configuration file".into(),
            expected: format!("usable settings; {}", error.to_string().trim_end()),
        };
        toml::from_str(text).map_err(wrong)
    }

    /// The configuration as a file.
    pub fn to_toml(&self) -> String {
        match toml::to_string_pretty(self) {
            Ok(text) => text,
            // Every setting is a number, a text or a list of tables.
            Err(error) => unreachable!("a configuration is no TOML: {error}"),
        }
    }

    /// How every authority starts.
    pub(crate) fn options(&self) -> Result<Options, InvalidConfig> {
        let mut classes = Vec::new();
        for rule in &self.class {
            let pattern = Pattern::new(&rule.pattern).ok_or_else(|| InvalidConfig {
                setting: format!("class, pattern {:?}", rule.pattern),
                expected: "the name of a resource, with * for any one segment".into(),
            })?;
            let class = match rule.class {
                ClassName::Exclusive => Class::Exclusive,
                ClassName::ConcurrentRead => Class::ConcurrentRead,
            };
            classes.push((pattern, class));
        }
        let limits = Limits {
            leases: self.leases_max,
            leases_per_holder: self.leases_per_actor_max.min(self.leases_max),
            ..Limits::default()
        };
        let options = Options {
            default_ttl_ms: self.default_ttl_ms,
            ttl_ms_max: self.ttl_ms_max,
            wait_ms_max: self.wait_ms_max,
            classes,
            limits,
            events: EVENTS_MAX,
            journal: true,
            ..Options::default()
        };
        let checked = coordination::Authority::new(options.clone());
        let wrong = |error: leasebook::InvalidOptions| InvalidConfig {
            setting: error.field.into(),
            expected: error.expected.into(),
        };
        checked.map(|_| options).map_err(wrong)
    }

    /// Refuses settings that cannot be used.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        self.options().map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_configuration_is_read_back() {
        let class = ClassRule { pattern: "docs/*".into(), class: ClassName::ConcurrentRead };
        let config = Config { class: vec![class], allowed_hosts: vec!["leases.example".into()], ..Config::default() };
        assert_eq!(Config::from_toml(&config.to_toml()), Ok(config.clone()));
        assert_eq!(Config::from_toml(""), Ok(Config::default()));
        assert!(config.options().is_ok());
    }

    #[test]
    fn a_setting_that_cannot_be_used_is_named() {
        for (text, named) in [
            ("lisen = 1", "lisen"),
            ("listen = \"nowhere\"", "listen"),
            ("[[class]]\npattern = \"a\"\nclass = \"sharing\"", "class"),
            ("ttl-ms-max = -1", "ttl-ms-max"),
        ] {
            let error = Config::from_toml(text).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
        let wrong = |text: &str| Config::from_toml(text).unwrap().options().unwrap_err().to_string();
        assert!(wrong("default-ttl-ms = 0").contains("default-ttl-ms"));
        assert!(wrong("[[class]]\npattern = \"/a\"\nclass = \"exclusive\"").contains("/a"));
    }
}
