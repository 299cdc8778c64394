//! Browsers on the hosts, controlled through WebDriver.
//!
//! ```text
//! this process                       the host's namespace
//! Browser ─▶ runtime ── its thread lives there ─▶ chromedriver, geckodriver ─▶ browser ─▶ http://127.0.0.1:PORT (the page)
//!                                                                                └▶ eth0: the call's packets and no others
//! ```

mod chromium;
mod driver;
mod error;
mod firefox;
mod network;
mod programs;
mod session;

pub use error::{Action, BrowserError, BrowserFailure};
pub use network::NetworkError;
pub use programs::Program;

use super::media::Media;
use driver::Driver;
use emulator::Host;
use experiment::Browser as BrowserKind;
use programs::Programs;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use session::Session;
pub use session::SessionError;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use thirtyfour::error::WebDriverResult;
use thirtyfour::{Capabilities, WebDriver};

/// The time in which a driver must listen, and then the time in which a browser must open its
/// session.
const START: Duration = Duration::from_secs(20);
/// The time in which a page must load.
const LOAD: Duration = Duration::from_secs(20);
/// The time in which a picture of the page must be taken.
const PICTURE: Duration = Duration::from_secs(10);
/// The time between two checks of whether the driver listens.
const TICK: Duration = Duration::from_millis(5);
/// For short requests, which are not cancelled.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Checks that a browser and its driver are installed.
///
/// # Errors
/// Names the missing program and how to get it.
pub fn check(kind: BrowserKind) -> Result<(), BrowserError> {
    Programs::find(kind).map(drop)
}

/// The files that Chromium plays as camera and microphone.
#[derive(Clone, Copy, Debug)]
struct Camera<'a> {
    /// YUV4MPEG2, played in a loop.
    video: &'a Path,
    /// WAVE, played in a loop.
    audio: &'a Path,
}

/// The options of a browser.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// The browser.
    pub kind: BrowserKind,
    /// Its host.
    pub host: &'a Host,
    /// The files for Chromium's camera and microphone. `None`: the browser's own fake devices.
    pub media: Option<&'a Media>,
    /// The folder for Chromium's own logs of its peer connections. Firefox has no such logs.
    pub event_logs: Option<&'a Path>,
    /// The SHA-256 of a public key in base64. Chromium trusts its certificate without checking who
    /// signed it.
    pub trusted_key: Option<&'a str>,
    /// Whether the host keeps its IPv6 address. With both, browsers call over IPv6 (RFC 8421,
    /// section 4), whose headers are 20 bytes longer than those that the simulator counts.
    pub ipv6: bool,
    /// Set from outside to cancel.
    pub cancel: &'a AtomicBool,
}

/// A running browser. Dropping it ends it, its driver, and all processes that these have started.
pub struct Browser {
    name: String,
    version: String,
    /// Dropped before the driver, so that no request goes to a driver that has ended.
    session: Session,
    /// The browser's first process; readable when it has ended (pidfd_open(2)).
    process: OwnedFd,
    pid: u32,
    driver: Driver,
    is_open: bool,
}

impl Browser {
    /// Starts a browser with an empty profile.
    ///
    /// # Errors
    /// When a program is missing, does not start within 20 s, or refuses the session. All its
    /// processes are then ended.
    pub fn launch(launch: Launch<'_>) -> Result<Self, BrowserError> {
        let programs = Programs::find(launch.kind)?;
        let name = format!("{} on {}", launch.kind.name(), launch.host.name());
        let failed = |failure: BrowserFailure, log| BrowserError::Failed {
            browser: name.clone(),
            failure: Box::new(failure),
            log,
        };
        network::prepare(launch).map_err(|error| failed(error.into(), Vec::new()))?;
        let start = || {
            Driver::start(launch.kind, launch.host, &programs)
                .map_err(|error| failed(error.into(), Vec::new()))
        };
        let mut driver = start()?;
        if let Err(error) = until_it_listens(&mut driver, launch, &name) {
            // Another program may have taken the port; try once more.
            if driver.ended().is_none() {
                return Err(error);
            }
            driver = start()?;
            until_it_listens(&mut driver, launch, &name)?;
        }
        let wanted = capabilities(launch, &programs, &driver)
            .map_err(|error| failed(BrowserFailure::Capabilities(Box::new(error)), Vec::new()))?;
        let opened = Session::open(launch.host, driver.port, wanted, START, launch.cancel);
        let session =
            opened.map_err(|error| error.of_browser(&name, Action::Start, &driver.tail))?;
        let ended = |failure| failed(failure, driver.tail.last());
        let pid = session.process().ok_or_else(|| ended(BrowserFailure::NoProcess))?;
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let process = number.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let process = process.ok_or_else(|| ended(BrowserFailure::EndedAtStart))?;
        let version = format!("{} {}", launch.kind.name(), session.version());
        Ok(Self { name, version, session, process, pid, driver, is_open: false })
    }

    /// Name and version, as the browser reports them: `Chromium 156.0.8078.79`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The browser's first process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Opens a page and waits until it is loaded: in the first tab, then each in a new tab. The
    /// fragment of the address is kept secret: it is removed from errors and from the log.
    ///
    /// # Errors
    /// When the page cannot be reached or loaded within 20 s, the browser has ended, or `cancel` is
    /// set.
    pub fn open(&mut self, url: &str, cancel: &AtomicBool) -> Result<(), BrowserError> {
        let (page, fragment) = url.split_once('#').unwrap_or((url, ""));
        self.driver.tail.hide(fragment);
        let action = Action::Open(page.split('?').next().unwrap_or(page).to_owned());
        let (url, is_open) = (url.to_owned(), std::mem::replace(&mut self.is_open, true));
        self.ask(action.clone(), LOAD, cancel, |driver| async move {
            if is_open {
                let tab = driver.new_tab().await?;
                driver.switch_to_window(tab).await?;
            }
            driver.goto(&url).await
        })?;
        // Chromium's driver does not always report an error page.
        if self.run("return location.protocol")? == "chrome-error:" {
            return Err(self.failed(BrowserFailure::ErrorPage(action)));
        }
        Ok(())
    }

    /// The title of the page that was opened last.
    ///
    /// # Errors
    /// When the browser does not answer, or has ended.
    pub fn title(&mut self) -> Result<String, BrowserError> {
        self.ask(Action::Title, PICTURE, &NEVER, |driver| async move { driver.title().await })
    }

    /// A PNG picture of the page that was opened last.
    ///
    /// # Errors
    /// When the browser does not answer, or has ended.
    pub fn screenshot(&mut self) -> Result<Vec<u8>, BrowserError> {
        self.ask(Action::Screenshot, PICTURE, &NEVER, |driver| async move {
            driver.screenshot_as_png().await
        })
    }

    /// Runs a script, as the body of a function, in the page that was opened last, and returns its
    /// result.
    ///
    /// # Errors
    /// When the script throws, the browser does not answer, or has ended.
    pub fn run(&mut self, script: &str) -> Result<serde_json::Value, BrowserError> {
        let script = script.to_owned();
        self.ask(Action::Script, PICTURE, &NEVER, |driver| async move {
            Ok(driver.execute(script, Vec::new()).await?.json().clone())
        })
    }

    /// Checks that browser and driver run: two system calls.
    ///
    /// # Errors
    /// Names the one that has ended, with the last lines of output.
    pub fn is_alive(&mut self) -> Result<(), BrowserError> {
        if has_ended(&self.process) {
            Err(self.failed(BrowserFailure::Ended))
        } else if let Some(status) = self.driver.ended() {
            Err(self.failed(BrowserFailure::DriverEnded(status)))
        } else {
            Ok(())
        }
    }

    fn failed(&self, failure: BrowserFailure) -> BrowserError {
        let (browser, log) = (self.name.clone(), self.driver.tail.last());
        BrowserError::Failed { browser, failure: Box::new(failure), log }
    }

    /// The last lines, at most 200, that the browser, the consoles of its pages and its driver
    /// wrote.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.driver.tail.lines()
    }

    /// Ends the browser and removes its files.
    pub fn quit(self) {
        drop(self);
    }

    /// Sends a request to the browser. If the browser has ended, the error says so.
    fn ask<T: Send + 'static, F: Future<Output = WebDriverResult<T>> + Send + 'static>(
        &mut self,
        action: Action,
        limit: Duration,
        cancel: &AtomicBool,
        job: impl FnOnce(WebDriver) -> F,
    ) -> Result<T, BrowserError> {
        self.is_alive()?;
        match self.session.ask(limit, cancel, job) {
            Ok(answer) => Ok(answer),
            Err(error) => {
                self.is_alive()?;
                Err(error.of_browser(&self.name, action, &self.driver.tail))
            }
        }
    }
}

fn capabilities(
    launch: Launch<'_>,
    programs: &Programs,
    driver: &Driver,
) -> WebDriverResult<Capabilities> {
    match launch.kind {
        BrowserKind::Chromium | BrowserKind::ChromiumScream => {
            let camera = launch.media.map(|media| Camera { video: &media.y4m, audio: &media.wav });
            let trials = (launch.kind == BrowserKind::ChromiumScream).then_some(chromium::SCREAM);
            let files = (driver.home(), launch.event_logs);
            chromium::capabilities(&programs.browser, files, camera, trials, launch.trusted_key)
        }
        BrowserKind::Firefox => firefox::capabilities(&programs.browser),
    }
}

fn until_it_listens(
    driver: &mut Driver,
    launch: Launch<'_>,
    name: &str,
) -> Result<(), BrowserError> {
    let mut waited = Duration::ZERO;
    while !launch.host.listens(driver.port) {
        let failure = match driver.ended() {
            Some(status) => BrowserFailure::DriverEndedAtStart(status),
            None if waited > START => BrowserFailure::DriverNotListening(START),
            None if launch.cancel.load(Ordering::Relaxed) => return Err(BrowserError::Cancelled),
            None => {
                sleep(TICK);
                waited += TICK;
                continue;
            }
        };
        let (browser, log) = (name.to_owned(), driver.tail.last());
        return Err(BrowserError::Failed { browser, failure: Box::new(failure), log });
    }
    Ok(())
}

/// Whether the process has ended.
fn has_ended(process: &OwnedFd) -> bool {
    let mut files = [PollFd::new(process, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut files, Some(&now)), Ok(1..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_process_is_detected() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let process = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        assert!(!has_ended(&process));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_ended(&process));
    }
}
