//! By which names a service may be called from a browser.
//!
//! A page of a stranger can have its own name lead to loopback, and so reach a service there as if it were its own. It
//! cannot choose the headers Host and Origin, which tell that name.

use super::problem::{Code, Problem};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};
use std::net::SocketAddr;

/// The names.
#[derive(Clone, Debug)]
pub struct Sites {
    allowed: Vec<String>,
}

impl Sites {
    /// Those of loopback, those that were configured, and the address that is listened on.
    pub fn new(configured: &[String], address: SocketAddr) -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(String::from);
        let listened = if address.ip().is_unspecified() { None } else { Some(host_of(address)) };
        let configured = configured.iter().map(|name| name.to_ascii_lowercase());
        Self { allowed: loopback.into_iter().chain(configured).chain(listened).collect() }
    }

    /// Refuses a request that was sent to, or by a page of, another site.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let forbidden = |header: &str| {
            let message = format!(
                "the {header} header names a site that is not this service; expected loopback, or one of allowed-hosts"
            );
            Problem { field: Some(header.into()), ..Problem::new(Code::ForbiddenHost, message) }
        };
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.and_then(|host| host.parse::<Authority>().ok());
        if !host.is_some_and(|host| self.allows(&host)) {
            return Err(forbidden("Host"));
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        let site = origin.as_ref().and_then(Uri::authority);
        if site.is_some_and(|site| self.allows(site)) { Ok(()) } else { Err(forbidden("Origin")) }
    }

    /// A name that is allowed without a port is allowed with any.
    fn allows(&self, site: &Authority) -> bool {
        let whole = site.as_str().to_ascii_lowercase();
        let host = site.host().to_ascii_lowercase();
        !site.as_str().contains('@') && self.allowed.iter().any(|allowed| *allowed == whole || *allowed == host)
    }
}

fn host_of(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: Option<&str>, origin: Option<&str>) -> bool {
        let sites = Sites::new(&["Leases.example".into(), "other.example:8443".into()], ([192, 0, 2, 7], 7878).into());
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if let Some(value) = value {
                headers.insert(name, value.parse().unwrap());
            }
        }
        sites.check(&headers).is_ok()
    }

    #[test]
    fn only_names_of_this_service_are_good() {
        for host in ["localhost", "localhost:7878", "127.0.0.1:1", "[::1]:7878", "LEASES.example:80", "192.0.2.7:7878"]
        {
            assert!(check(Some(host), None), "{host}");
            assert!(check(Some("localhost"), Some(&format!("http://{host}"))), "{host}");
        }
        assert!(check(Some("other.example:8443"), None));
        for host in
            ["evil.example", "other.example", "localhost.evil.example", "", "localhost@evil.example", "127.0.0.2"]
        {
            assert!(!check(Some(host), None), "{host}");
            assert!(!check(Some("localhost"), Some(&format!("http://{host}"))), "{host}");
        }
        assert!(!check(None, None));
        assert!(!check(Some("localhost"), Some("null")));
    }
}
