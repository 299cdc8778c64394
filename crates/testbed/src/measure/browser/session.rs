//! A WebDriver session. Its connections start in the host's namespace.

use super::error::{Action, BrowserError, BrowserFailure};
use crate::measure::output_tail::OutputTail;
use emulator::Host;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use thirtyfour::error::{WebDriverError, WebDriverResult};
use thirtyfour::{Capabilities, WebDriver};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The time between two checks for cancellation.
const TICK: Duration = Duration::from_millis(5);

/// Why a request to the driver failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The answer took longer than this.
    #[error("no answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// The driver, or the connection to it, reported this.
    #[error("{0}")]
    Driver(String),
}

impl SessionError {
    /// The error of a browser that was asked for `action`. Secrets are removed.
    pub(super) fn of_browser(
        self,
        browser: &str,
        action: Action,
        tail: &OutputTail,
    ) -> BrowserError {
        let error = match self {
            Self::Cancelled => return BrowserError::Cancelled,
            Self::Driver(message) => Self::Driver(tail.without_secrets(&message)),
            timeout @ Self::Timeout(_) => timeout,
        };
        BrowserError::Failed {
            browser: browser.to_owned(),
            failure: Box::new(BrowserFailure::Request { action, error }),
            log: tail.last(),
        }
    }
}

/// A session. Dropping it does not end the browser, whose process is ended instead.
pub(super) struct Session {
    driver: WebDriver,
    runtime: Runtime,
}

impl Session {
    /// Opens a session with the driver that listens on this port of the host's loopback.
    pub(super) fn open(
        host: &Host,
        port: u16,
        wanted: Capabilities,
        limit: Duration,
        cancel: &AtomicBool,
    ) -> Result<Self, SessionError> {
        let said = |error: &dyn std::fmt::Display| SessionError::Driver(error.to_string());
        // The runtime's thread is started from the host's thread, so that its sockets are in the
        // host's namespace.
        let runtime =
            host.within(|| Builder::new_multi_thread().worker_threads(1).enable_all().build());
        let runtime = runtime.map_err(|error| said(&error))?.map_err(|error| said(&error))?;
        // A proxy of this machine does not lead to the host's loopback.
        let client = reqwest::Client::builder().no_proxy().timeout(limit).build();
        let client = client.map_err(|error| said(&error))?;
        let opening = WebDriver::builder(format!("http://127.0.0.1:{port}"), wanted).client(client);
        let task = spawn(&runtime, limit, opening.connect());
        let driver = answer(&runtime, task, limit, cancel)?;
        Ok(Self { driver, runtime })
    }

    /// Sends a request to the driver and waits for the answer, unless `cancel` is set.
    pub(super) fn ask<
        T: Send + 'static,
        F: Future<Output = WebDriverResult<T>> + Send + 'static,
    >(
        &self,
        limit: Duration,
        cancel: &AtomicBool,
        job: impl FnOnce(WebDriver) -> F,
    ) -> Result<T, SessionError> {
        let task = spawn(&self.runtime, limit, job(self.driver.clone()));
        answer(&self.runtime, task, limit, cancel)
    }

    /// The browser's version.
    pub(super) fn version(&self) -> &str {
        self.capability("browserVersion")
            .and_then(serde_json::Value::as_str)
            .unwrap_or("of unknown version")
    }

    /// The browser's first process, from the capabilities of chromedriver and geckodriver.
    pub(super) fn process(&self) -> Option<u32> {
        let id =
            ["goog:processID", "moz:processID"].into_iter().find_map(|name| self.capability(name));
        id.and_then(serde_json::Value::as_u64).and_then(|pid| u32::try_from(pid).ok())
    }

    fn capability(&self, name: &str) -> Option<&serde_json::Value> {
        self.driver.capabilities().get(name)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Otherwise the drop would ask the browser to end, and wait for the answer.
        let _ = self.driver.clone().leak();
    }
}

type Answer<T> = Result<WebDriverResult<T>, tokio::time::error::Elapsed>;

/// Runs a future on the runtime's thread, which has its sockets and clock.
fn spawn<T: Send + 'static>(
    runtime: &Runtime,
    limit: Duration,
    job: impl Future<Output = WebDriverResult<T>> + Send + 'static,
) -> JoinHandle<Answer<T>> {
    runtime.spawn(async move { tokio::time::timeout(limit, job).await })
}

/// Waits for the result of a task.
fn answer<T: Send + 'static>(
    runtime: &Runtime,
    task: JoinHandle<Answer<T>>,
    limit: Duration,
    cancel: &AtomicBool,
) -> Result<T, SessionError> {
    while !task.is_finished() {
        if cancel.load(Ordering::Relaxed) {
            task.abort();
            return Err(SessionError::Cancelled);
        }
        std::thread::sleep(TICK);
    }
    match runtime.block_on(task) {
        Ok(Ok(answer)) => answer.map_err(|error| SessionError::Driver(first_line(&error))),
        Ok(Err(_)) => Err(SessionError::Timeout(limit)),
        Err(error) => Err(SessionError::Driver(error.to_string())),
    }
}

/// The message of the driver, without its state and stack trace.
fn first_line(error: &WebDriverError) -> String {
    let text = error.to_string();
    let said = text.split_once("Additional info:").map_or(text.as_str(), |(_, said)| said);
    said.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("no reason is given")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_driver_are_shown_without_secrets() {
        let tail = OutputTail::default();
        tail.hide("5ec4e7");
        let said = "Reached error page: about:neterror?u=http%3A//127.0.0.1%3A1/call%3Froom%3Da%235ec4e7&c=UTF-8";
        let error = SessionError::Driver(said.to_owned())
            .of_browser("Firefox on bob", Action::Open("a page".to_owned()), &tail)
            .to_string();
        assert!(error.contains("%3Froom%3Da%23…&c") && !error.contains("5ec4e7"), "{error}");
    }
}
