//! The service as its clients meet it: over real connections, on loopback.

mod desk;
mod leases;
mod mcp;
mod misuse;
mod receipts;
mod restart;
mod waiting;
