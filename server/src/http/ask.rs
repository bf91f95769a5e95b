//! The bodies of requests, as they are documented and read.

use super::body::given;
use super::problem::Problem;
use serde::Deserialize;
use utoipa::ToSchema;

/// Asks for leases on one or several resources: all of them, or none.
#[derive(Clone, Debug, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LeaseRequest {
    /// The resource: a name like lock:deploy/production, relative, without empty segments, `.` and `..`. It contains
    /// whatever is named below it. Either this or `resources`.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "lock:deploy/production", min_length = 1, max_length = 4096)]
    pub resource: Option<String>,
    /// Several resources, 1 to 1024.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_items = 1, max_items = 1024)]
    pub resources: Option<Vec<String>>,
    /// Who asks: the DID that the key belongs to.
    #[schema(example = "did:web:agent-a.example", max_length = 256)]
    pub actor_did: String,
    /// For how long, in milliseconds: 1 to 3600000. 30000 where it is absent.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<u64>, minimum = 1, maximum = 3_600_000)]
    pub ttl_ms: Option<f64>,
    /// How: exclusive where it is absent. Shared counts only on resources that are configured as concurrent-read.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, inline)]
    pub mode: Option<Mode>,
    /// How long the request waits for a grant, in milliseconds: 0 to 60000. It does not where this is absent.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<u64>, maximum = 60_000)]
    pub wait_ms: Option<f64>,
    /// A key of the asker's choice, 1 to 256 bytes: the same key with the same body gets the same grant for 10 minutes.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_length = 1, max_length = 256)]
    pub idempotency_key: Option<String>,
}

/// The names of the fields of [`LeaseRequest`].
pub const LEASE_FIELDS: [&str; 7] = ["resource", "resources", "actorDid", "ttlMs", "mode", "waitMs", "idempotencyKey"];

/// Gives leases back.
#[derive(Clone, Debug, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ReleaseRequest {
    /// The resource. Either this or `resources`; neither where `leaseId` is given back whole.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "lock:deploy/production", min_length = 1, max_length = 4096)]
    pub resource: Option<String>,
    /// Several resources, 1 to 1024.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_items = 1, max_items = 1024)]
    pub resources: Option<Vec<String>>,
    /// Who gives: the DID that the key belongs to.
    #[schema(example = "did:web:agent-a.example", max_length = 256)]
    pub actor_did: String,
    /// The lease, as the grant named it. An obsolete one is refused.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "lease-7")]
    pub lease_id: Option<String>,
}

/// The names of the fields of [`ReleaseRequest`].
pub const RELEASE_FIELDS: [&str; 4] = ["resource", "resources", "actorDid", "leaseId"];

/// How resources are leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Alone.
    Exclusive,
    /// Beside other shared ones.
    Shared,
}

impl From<Mode> for leasebook::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Exclusive => Self::Exclusive,
            Mode::Shared => Self::Shared,
        }
    }
}

/// The resources of a request: one, or several, but not both.
pub(crate) fn resources(one: Option<String>, several: Option<Vec<String>>) -> Result<Vec<String>, Problem> {
    match (one, several) {
        (Some(_), Some(_)) => Err(Problem::field("resources", "expected either resource or resources, not both")),
        (Some(one), None) => Ok(vec![one]),
        (None, several) => Ok(several.unwrap_or_default()),
    }
}
