//! Progress of the jobs as server-sent events.

use super::Shared;
use super::problem::{Answer, Refusal};
use crate::messages::Progress;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream;
use std::convert::Infallible;
use std::time::Duration;

/// The least time between two events. Our choice: eyes see no more.
const INTERVAL: Duration = Duration::from_millis(100);

/// The time after which a page connects again.
const RETRY: Duration = Duration::from_millis(500);

/// All jobs at once, and then those that change.
pub(super) async fn events(State(dashboard): Shared) -> Answer<impl IntoResponse> {
    let place = dashboard.listeners.take(None).map_err(|_| {
        let message = "too many pages are open; close some, then reload this one";
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, message)
    })?;
    let changes = dashboard.jobs.board().watch();
    let begin = (dashboard, changes, None::<u64>, place);
    let events = stream::unfold(begin, async |(dashboard, mut changes, seen, place)| {
        if seen.is_some() {
            // The sender lives as long as the dashboard.
            changes.changed().await.ok()?;
            tokio::time::sleep(INTERVAL).await;
        }
        let now = *changes.borrow_and_update();
        let jobs = dashboard.jobs.board().since(seen.unwrap_or(0));
        let progress = Progress { instance: dashboard.facts.instance.clone(), jobs };
        let event = Event::default().retry(RETRY).json_data(progress).ok()?;
        Some((Ok::<_, Infallible>(event), (dashboard, changes, Some(now), place)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}
