//! Events, live: server-sent events of a workspace.

use super::Service;
use super::auth::Caller;
use super::problem::{Code, Problem};
use crate::feed::{Told, Watch};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use std::convert::Infallible;
use std::time::Duration;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;

/// The most who watch at one time.
pub const WATCHERS_MAX: usize = 512;
/// How often a line is sent where nothing happens, so that a broken connection is noticed.
const ALIVE: Duration = Duration::from_secs(15);

/// Watch what happens in the workspace, as server-sent events.
///
/// Each event has a number as its id and JSON as its data: `kind`, `atMs` and the fields of the kind. Whoever comes
/// back with `Last-Event-ID` is given what it missed; an event `lost` says that it is not at hand any more.
#[utoipa::path(
    get,
    path = "/api/v1/acp/coordination/events",
    tag = "leases",
    params(("Last-Event-ID" = Option<u64>, Header, description = "the last event that was seen")),
    responses(
        (status = 200, description = "events", content_type = "text/event-stream", body = String),
        (status = 400, description = "Last-Event-ID is no number", body = Problem),
        (status = 401, description = "the key is not good", body = Problem),
        (status = 429, description = "all calls of the key are used", body = Problem),
        (status = 503, description = "too many watch", body = Problem),
    ),
    security(("key" = []))
)]
pub(crate) async fn events(
    State(service): State<Service>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = match headers.get("last-event-id") {
        None => None,
        Some(value) => {
            let number = value.to_str().ok().and_then(|text| text.parse::<u64>().ok());
            Some(number.ok_or_else(|| Problem::field("Last-Event-ID", "expected the number of an event"))?)
        }
    };
    let Ok(place) = service.watchers.clone().try_acquire_owned() else {
        return Err(Problem::new(Code::Unavailable, "too many watch already"));
    };
    let Watch { missed, lost, coming } = service.feeds.watch(&caller.workspace, after);
    let first = lost.then(lost_some).into_iter().chain(missed.iter().map(event)).map(Ok::<_, Infallible>);
    let coming = BroadcastStream::new(coming).map(move |told| {
        // Held as long as the stream is.
        let _ = &place;
        Ok(match told {
            Ok(told) => event(&told),
            Err(BroadcastStreamRecvError::Lagged(_)) => lost_some(),
        })
    });
    let mut ending = service.ending.clone();
    let stream = tokio_stream::iter(first.collect::<Vec<_>>()).chain(coming);
    let stream = until(stream, async move { drop(ending.wait_for(|ending| *ending).await) });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE)).into_response())
}

fn event(told: &Told) -> Event {
    Event::default().id(told.number.to_string()).data(&told.body)
}

fn lost_some() -> Event {
    Event::default().event("lost").data("{}")
}

/// A stream that ends when a future is done.
fn until<S: tokio_stream::Stream>(
    stream: S,
    end: impl Future<Output = ()>,
) -> impl tokio_stream::Stream<Item = S::Item> {
    let mut stream = Box::pin(stream);
    let mut end = Box::pin(end);
    futures_util::stream::poll_fn(move |context| {
        if end.as_mut().poll(context).is_ready() {
            return std::task::Poll::Ready(None);
        }
        stream.as_mut().poll_next(context)
    })
}
