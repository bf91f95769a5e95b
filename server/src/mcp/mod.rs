//! MCP: the same leases as tools that a model calls, with the same fields and answers as REST.
//!
//! A service offers them over streamable HTTP. Where a client only speaks over standard streams, the same tools run
//! there and ask a service.

mod front;
mod http;
mod tools;

pub use front::{over, stdio};
pub use http::SESSIONS_MAX;
pub(crate) use http::routes;
