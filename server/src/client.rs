//! A client of a running service: for commands, and for MCP over standard streams.

use crate::http::{Code, Problem};
use reqwest::{Method, Url};
use serde_json::{Value, json};
use std::time::Duration;

/// How long a service may take to answer, beyond the time that a request waits there.
const ANSWER: Duration = Duration::from_secs(30);
/// The longest wait that any service can be configured to allow: 24 hours.
const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// The largest answer that is read, in bytes: a workspace has at most a million leases, and a list of all is not read
/// whole by anybody.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A service, and the key that it is asked with.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: String,
}

/// What a service answered: a status, and an object of fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// 200 where it did what was asked.
    pub status: u16,
    /// The fields; `ok` is among them.
    pub body: Value,
}

/// A service that cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is none.
    #[error("{server:?} is no address of a service: expected one like http://127.0.0.1:7878")]
    Address {
        /// What was given.
        server: String,
    },
    /// The client cannot be made.
    #[error("make a client: {0}")]
    Client(reqwest::Error),
    /// The service is not there, or did not answer in time.
    #[error("{server} cannot be reached: {why}")]
    Unreachable {
        /// Its address.
        server: String,
        /// Why, as far as that is known.
        why: String,
    },
    /// Something answered that is no such service.
    #[error("{server} did not answer as a service of leases: status {status}")]
    Stranger {
        /// Its address.
        server: String,
        /// The status it answered with.
        status: u16,
    },
}

impl ClientError {
    /// The same as an answer, for those who must give one.
    pub fn answered(&self) -> Answered {
        let problem = Problem::new(Code::Unavailable, self.to_string());
        Answered { status: 503, body: json!({ "ok": false, "error": problem.error, "message": problem.message }) }
    }
}

impl Client {
    /// A client of the service at an address, like `http://127.0.0.1:7878`. It connects when it is asked something.
    pub fn new(server: &str, key: &str) -> Result<Self, ClientError> {
        let wrong = || ClientError::Address { server: server.into() };
        let base = Url::parse(server).map_err(|_| wrong())?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() || !matches!(base.path(), "" | "/") {
            return Err(wrong());
        }
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            // A key must not follow to where a stranger sends it.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(ClientError::Client)?;
        Ok(Self { http, base, key: key.into() })
    }

    /// Asks for leases, with the fields of `LeaseRequest`.
    pub async fn lease(&self, fields: &Value) -> Result<Answered, ClientError> {
        let waits = Duration::from_millis(fields["waitMs"].as_u64().unwrap_or(0)).min(WAIT_MAX);
        self.ask(Method::POST, "/api/v1/acp/coordination/lease", Some(fields), waits).await
    }

    /// Gives leases back, with the fields of `ReleaseRequest`.
    pub async fn release(&self, fields: &Value) -> Result<Answered, ClientError> {
        self.ask(Method::POST, "/api/v1/acp/coordination/release", Some(fields), Duration::ZERO).await
    }

    /// Whom the key speaks for: `actorDid` and `workspace`.
    pub async fn own(&self) -> Result<Answered, ClientError> {
        self.ask(Method::GET, "/api/v1/acp/keys/own", None, Duration::ZERO).await
    }

    /// The queues.
    pub async fn wait(&self) -> Result<Answered, ClientError> {
        self.ask(Method::GET, "/api/v1/acp/coordination/wait", None, Duration::ZERO).await
    }

    /// The standing leases.
    pub async fn leases(&self) -> Result<Answered, ClientError> {
        self.ask(Method::GET, "/api/v1/acp/coordination/leases", None, Duration::ZERO).await
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        fields: Option<&Value>,
        waits: Duration,
    ) -> Result<Answered, ClientError> {
        let server = || self.base.origin().ascii_serialization();
        let unreachable = |error: reqwest::Error| ClientError::Unreachable { server: server(), why: root(&error) };
        let mut url = self.base.clone();
        url.set_path(path);
        let mut request = self.http.request(method, url).bearer_auth(&self.key).timeout(waits + ANSWER);
        if let Some(fields) = fields {
            request = request.json(fields);
        }
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status().as_u16();
        let stranger = || ClientError::Stranger { server: server(), status };
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MAX {
                return Err(stranger());
            }
        }
        let body: Value = serde_json::from_slice(&bytes).map_err(|_| stranger())?;
        if body["ok"].is_boolean() { Ok(Answered { status, body }) } else { Err(stranger()) }
    }
}

/// The deepest reason: what a person can do something about.
fn root(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_a_service_is_one() {
        for good in ["http://127.0.0.1:7878", "https://leases.example/", "http://[::1]:9"] {
            assert!(Client::new(good, "k").is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:7878", "ftp://x", "http://", "http://x/api", "mailto:a@b"] {
            assert!(matches!(Client::new(bad, "k"), Err(ClientError::Address { .. })), "{bad}");
        }
    }
}
