//! What is answered where a request is not granted: a status, a code that programs read, a sentence that people read.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// How long a client is asked to stay away when the service cannot answer, in seconds.
const RETRY_AFTER_S: u64 = 1;

/// Every code of an error with its status: the list of the documentation, and the only place where a code gets one.
pub const CODES: [(Code, u16, &str); 22] = [
    (Code::MalformedJson, 400, "the body is not JSON"),
    (Code::UnknownField, 400, "the body has a field that the route does not know"),
    (Code::InvalidField, 400, "a field is missing, has another type, or a value out of its bounds"),
    (Code::Unauthorized, 401, "the key is missing, unknown, expired or revoked"),
    (Code::WrongActor, 403, "the key belongs to another actor than the one named"),
    (Code::ForbiddenHost, 403, "the Host or Origin header names another site than this service"),
    (Code::NotFound, 404, "there is no such route or thing"),
    (Code::MethodNotAllowed, 405, "the route does not know this method"),
    (Code::TooSlow, 408, "the body did not arrive within 15 seconds"),
    (Code::LeaseHeld, 409, "leases of others are in the way"),
    (Code::Queued, 409, "no lease is in the way, but others wait and come first"),
    (Code::Deadlock, 409, "waiting would close a cycle of waits"),
    (Code::StaleLease, 409, "the lease is over, or is not the caller's, or does not have the resource"),
    (Code::NotHeld, 409, "the caller does not hold the resource"),
    (Code::Superseded, 409, "a later request of the same actor asks for something else"),
    (Code::IdempotencyMismatch, 409, "the idempotency key was used with another body"),
    (Code::BodyTooLarge, 413, "the body is larger than 64 KiB"),
    (Code::UnsupportedMediaType, 415, "the body is not said to be application/json"),
    (Code::QuotaExhausted, 429, "all calls of the key are used"),
    (Code::QueueFull, 429, "too many wait for the resource already"),
    (Code::LimitExceeded, 429, "a bound of the workspace is reached"),
    (Code::Unavailable, 503, "the authority cannot be reached or is overloaded; nothing was granted"),
];

/// The code of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // said in `CODES`
pub enum Code {
    MalformedJson,
    UnknownField,
    InvalidField,
    Unauthorized,
    WrongActor,
    ForbiddenHost,
    NotFound,
    MethodNotAllowed,
    TooSlow,
    LeaseHeld,
    Queued,
    Deadlock,
    StaleLease,
    NotHeld,
    Superseded,
    IdempotencyMismatch,
    BodyTooLarge,
    UnsupportedMediaType,
    QuotaExhausted,
    QueueFull,
    LimitExceeded,
    Unavailable,
}

impl Code {
    /// The status it is answered with.
    pub fn status(self) -> StatusCode {
        let found = CODES.iter().find(|(code, ..)| *code == self);
        found.and_then(|(_, status, _)| StatusCode::from_u16(*status).ok()).unwrap_or(StatusCode::BAD_REQUEST)
    }
}

/// An error, as it is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// Always false.
    pub ok: bool,
    /// The code.
    pub error: Code,
    /// What is wrong, and what was expected, in one sentence.
    pub message: String,
    /// The field at fault, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl Problem {
    /// An error that is nobody's field.
    pub fn new(error: Code, message: impl Into<String>) -> Self {
        Self { ok: false, error, message: message.into(), field: None }
    }

    /// The body that says it.
    pub fn to_json(&self) -> Vec<u8> {
        bytes(self)
    }

    /// An error in a field.
    pub fn field(field: &str, message: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::new(Code::InvalidField, message) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = json(self.error.status(), &self);
        if self.error == Code::Unavailable {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER_S.into());
        }
        if self.error == Code::Unauthorized {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A value as the body of an answer.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let mut response = Response::new(Body::from(bytes(value)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn bytes(value: &impl Serialize) -> Vec<u8> {
    match serde_json::to_vec(value) {
        Ok(bytes) => bytes,
        // Only a map with keys that are no texts fails, and no answer has one.
        Err(error) => unreachable!("an answer is not JSON: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_of_its_kind() {
        for (n, (code, status, said)) in CODES.iter().enumerate() {
            assert_eq!(code.status().as_u16(), *status);
            assert!((400..600).contains(status) && !said.is_empty());
            assert!(CODES[..n].iter().all(|(earlier, ..)| earlier != code), "{code:?} is there twice");
        }
    }
}
