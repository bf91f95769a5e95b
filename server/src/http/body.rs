//! The body of a request, read without trust: whole, of a bounded size, as the fields that the route knows.

use super::problem::{Code, Problem};
use axum::body::{Body, Bytes};
use axum::extract::FromRequest;
use axum::http::{Request, header};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::time::Duration;
use tokio::time::timeout;

/// The largest body, in bytes.
pub const BODY_BYTES_MAX: usize = 64 * 1024;
/// How long a body may take to arrive.
pub const BODY: Duration = Duration::from_secs(15);
/// How alike two names must be for one to be suggested, on the scale of Jaro and Winkler.
const ALIKE: f64 = 0.8;
/// How much of a name from outside is repeated, in characters.
const NAME_SHOWN_MAX: usize = 64;

/// A body as it was sent. Receipts name its digest, so that it is kept as it is.
#[derive(Clone, Debug)]
pub struct Sent(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, Problem> {
        let said = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        let media = said.split(';').next().unwrap_or("").trim();
        if !media.eq_ignore_ascii_case("application/json") {
            return Err(Problem::new(Code::UnsupportedMediaType, "expected the header content-type: application/json"));
        }
        let whole = timeout(BODY, axum::body::to_bytes(request.into_body(), BODY_BYTES_MAX)).await;
        let whole = whole.map_err(|_| Problem::new(Code::TooSlow, "the body did not arrive within 15 seconds"))?;
        whole.map(Self).map_err(|error| {
            let too_large = std::error::Error::source(&error).is_some_and(|source| source.is::<LengthLimit>());
            if too_large {
                Problem::new(Code::BodyTooLarge, format!("a body has at most {BODY_BYTES_MAX} bytes"))
            } else {
                Problem::new(Code::MalformedJson, "the body ended early")
            }
        })
    }
}

type LengthLimit = http_body_util::LengthLimitError;

impl Sent {
    /// Reads the fields. `known`: their names, for "did you mean".
    pub fn read<T: DeserializeOwned>(&self, known: &[&str]) -> Result<T, Problem> {
        let mut json = serde_json::Deserializer::from_slice(&self.0);
        let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().to_string();
            problem(&path, error.inner(), known)
        });
        read.and_then(|fields| json.end().map(|()| fields).map_err(|error| problem(".", &error, known)))
    }
}

fn problem(path: &str, error: &serde_json::Error, known: &[&str]) -> Problem {
    let said = said(error);
    if error.is_syntax() || error.is_eof() {
        return Problem::new(Code::MalformedJson, format!("the body is not JSON: {said}"));
    }
    if let Some(rest) = said.strip_prefix("unknown field `") {
        let name = rest.split('`').next().unwrap_or("");
        return Problem::unknown_field(name, known);
    }
    let named = ["missing field `", "duplicate field `"]
        .iter()
        .find_map(|prefix| said.strip_prefix(prefix).and_then(|rest| rest.split('`').next()));
    match named.or((path != ".").then_some(path)) {
        Some(field) => Problem::field(&shown(field), said.clone()),
        None => Problem::new(Code::InvalidField, format!("expected an object of fields: {said}")),
    }
}

impl Problem {
    /// A field that is not known.
    pub(crate) fn unknown_field(name: &str, known: &[&str]) -> Self {
        let hint = match alike(name, known) {
            Some(other) => format!("did you mean {other}?"),
            None if known.is_empty() => "there are none".into(),
            None => format!("the fields are {}", known.join(", ")),
        };
        let message = format!("there is no field {}; {hint}", shown(name));
        Self { field: Some(shown(name)), ..Self::new(Code::UnknownField, message) }
    }
}

/// An error of the JSON reader, escaped, and without the number of the line.
fn said(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let shown: String = said.chars().take(4 * NAME_SHOWN_MAX).collect();
    escaped(&shown)
}

fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A name from outside, at a length that can be repeated.
fn shown(name: &str) -> String {
    match name.char_indices().nth(NAME_SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    }
}

fn alike<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let likeness = |other: &&str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (name.chars().count() <= NAME_SHOWN_MAX && likeness(&best) >= ALIKE).then_some(best)
}

/// Reads a field that may be absent, but not null: what is there must be usable.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(field: D) -> Result<Option<T>, D::Error> {
    T::deserialize(field).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct Fields {
        actor_did: String,
        #[serde(default, deserialize_with = "given")]
        ttl_ms: Option<f64>,
    }

    const KNOWN: [&str; 2] = ["actorDid", "ttlMs"];

    fn read(text: &str) -> Result<Fields, Problem> {
        Sent(Bytes::copy_from_slice(text.as_bytes())).read(&KNOWN)
    }

    fn refused(text: &str) -> (Code, Option<String>, String) {
        let Problem { error, field, message, .. } = read(text).unwrap_err();
        (error, field, message)
    }

    #[test]
    fn what_is_usable_is_read() {
        let fields = Fields { actor_did: "did:web:a".into(), ttl_ms: Some(5.0) };
        assert_eq!(read(r#" {"actorDid":"did:web:a","ttlMs":5} "#), Ok(fields));
    }

    #[test]
    fn a_typo_is_an_error_that_names_the_field_meant() {
        let (code, field, message) = refused(r#"{"actorDid":"a","ttlms":5}"#);
        assert_eq!((code, field.as_deref()), (Code::UnknownField, Some("ttlms")));
        assert_eq!(message, "there is no field ttlms; did you mean ttlMs?");
    }

    #[test]
    fn every_fault_names_its_field() {
        for (body, field) in [
            (r#"{"actorDid":"a","ttlMs":"5"}"#, "ttlMs"),
            (r#"{"actorDid":"a","ttlMs":null}"#, "ttlMs"),
            (r#"{"actorDid":7}"#, "actorDid"),
            (r#"{"ttlMs":5}"#, "actorDid"),
            (r#"{"actorDid":"a","actorDid":"b"}"#, "actorDid"),
        ] {
            let (code, found, message) = refused(body);
            assert_eq!((code, found.as_deref()), (Code::InvalidField, Some(field)), "{body}: {message}");
        }
    }

    #[test]
    fn what_is_no_json_is_said_to_be_none() {
        let deep = "[".repeat(60_000);
        for body in ["", "{", "nonsense", r#"{"actorDid":"a"} x"#, "{\"actorDid\":\"\u{1}\"}", "\u{feff}{}"] {
            assert_eq!(refused(body).0, Code::MalformedJson, "{body}");
        }
        for body in ["[]", "7", &deep, r#"{"actorDid":"a","ttlMs":1e999}"#] {
            let code = refused(body).0;
            assert!(matches!(code, Code::MalformedJson | Code::InvalidField), "{code:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_is_not_waited_for() {
        let never = Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>());
        let request = Request::post("/").header("content-type", "application/json").body(never).unwrap();
        let problem = Sent::from_request(request, &()).await.unwrap_err();
        assert_eq!(problem.error, Code::TooSlow);
    }

    #[test]
    fn a_long_name_is_not_repeated_whole() {
        let (_, field, message) = refused(&format!(r#"{{"{}":1}}"#, "x".repeat(50_000)));
        assert!(field.unwrap().len() < 80 && message.len() < 400);
    }
}
