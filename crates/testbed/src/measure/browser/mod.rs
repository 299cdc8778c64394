//! Browsers on the hosts, driven by WebDriver.
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

/// How long a driver may take until it listens, and then a browser until its session is there,
/// each.
const START: Duration = Duration::from_secs(20);
/// How long a page may take to load.
const LOAD: Duration = Duration::from_secs(20);
/// How long a picture of the page may take.
const PICTURE: Duration = Duration::from_secs(10);
/// Between looks at whether it listens.
const TICK: Duration = Duration::from_millis(5);
/// Of what is over so soon that nobody would cancel it.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Sees whether a browser and its driver are installed.
///
/// # Errors
/// Which program is missing, and how to get it.
pub fn check(kind: BrowserKind) -> Result<(), BrowserError> {
    Programs::find(kind).map(drop)
}

/// What Chromium takes for camera and microphone.
#[derive(Clone, Copy, Debug)]
struct Camera<'a> {
    /// YUV4MPEG2, played in a loop.
    video: &'a Path,
    /// WAVE, played in a loop.
    audio: &'a Path,
}

/// What a browser is started with.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    /// Which.
    pub kind: BrowserKind,
    /// Where.
    pub host: &'a Host,
    /// Sound and picture: Chromium's camera and microphone. `None`: the browser's own fake ones.
    pub media: Option<&'a Media>,
    /// Whether the host keeps its IPv6 address. Where there are both, browsers call over IPv6 (RFC
    /// 8421, section 4), whose headers are 20 bytes longer than those that the simulator counts.
    pub ipv6: bool,
    /// Set from outside to give up.
    pub cancel: &'a AtomicBool,
}

/// A browser under way. Dropping it ends it, its driver, and all that these have started.
pub struct Browser {
    name: String,
    version: String,
    /// Before the driver: what it asks for must not be asked of a driver that has ended.
    session: Session,
    /// The browser's first process, readable when it has ended (pidfd_open(2)).
    process: OwnedFd,
    pid: u32,
    driver: Driver,
    is_open: bool,
}

impl Browser {
    /// Starts a browser with an empty profile.
    ///
    /// # Errors
    /// When a program is missing, does not start within 20 s, or refuses the session; then nothing
    /// is left of it.
    pub fn launch(launch: Launch<'_>) -> Result<Self, BrowserError> {
        let programs = Programs::find(launch.kind)?;
        let name = format!("{} on {}", launch.kind.name(), launch.host.name());
        let failed = |failure: BrowserFailure, log| BrowserError::Failed {
            browser: name.clone(),
            failure,
            log,
        };
        network::prepare(launch).map_err(|error| failed(error.into(), Vec::new()))?;
        let start = || {
            Driver::start(launch.kind, launch.host, &programs)
                .map_err(|error| failed(error.into(), Vec::new()))
        };
        let mut driver = start()?;
        if let Err(error) = until_it_listens(&mut driver, launch, &name) {
            // Another may have taken its port; not twice.
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

    /// Name and version, as the browser tells it: `Chromium 156.0.8078.79`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The browser's first process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Opens a page and waits until it is loaded: in the first tab, then each in a tab of its own.
    /// The address's fragment is kept secret: no error and no line of the log shows it.
    ///
    /// # Errors
    /// When the page cannot be reached or loaded within 20 s, the browser has ended, or `cancel` is
    /// set from outside.
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
        // Chromium's driver does not always say so.
        if self.run("return location.protocol")? == "chrome-error:" {
            return Err(self.failed(BrowserFailure::ErrorPage(action)));
        }
        Ok(())
    }

    /// The title of the page opened last.
    ///
    /// # Errors
    /// When the browser does not answer, or has ended.
    pub fn title(&mut self) -> Result<String, BrowserError> {
        self.ask(Action::Title, PICTURE, &NEVER, |driver| async move { driver.title().await })
    }

    /// A picture of the page opened last, PNG.
    ///
    /// # Errors
    /// When the browser does not answer, or has ended.
    pub fn screenshot(&mut self) -> Result<Vec<u8>, BrowserError> {
        self.ask(Action::Screenshot, PICTURE, &NEVER, |driver| async move {
            driver.screenshot_as_png().await
        })
    }

    /// Runs a script in the page opened last, as the body of a function, and gives what it returns.
    ///
    /// # Errors
    /// When the script throws, the browser does not answer, or has ended.
    pub fn run(&mut self, script: &str) -> Result<serde_json::Value, BrowserError> {
        let script = script.to_owned();
        self.ask(Action::Script, PICTURE, &NEVER, |driver| async move {
            Ok(driver.execute(script, Vec::new()).await?.json().clone())
        })
    }

    /// Sees whether browser and driver are still there: two system calls.
    ///
    /// # Errors
    /// Which of them has ended, with the last lines that they wrote.
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
        BrowserError::Failed { browser: self.name.clone(), failure, log: self.driver.tail.last() }
    }

    /// The last lines, 200 at most, that the browser, its pages' consoles and its driver wrote.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.driver.tail.lines()
    }

    /// Ends it. Nothing of it is left, neither process nor file.
    pub fn quit(self) {
        drop(self);
    }

    /// Asks the browser for something, and says it more clearly if it has ended.
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
        BrowserKind::Chromium => {
            let camera = launch.media.map(|media| Camera { video: &media.y4m, audio: &media.wav });
            chromium::capabilities(&programs.browser, driver.home(), camera)
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
        return Err(BrowserError::Failed { browser, failure, log });
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
    fn the_end_of_a_process_is_seen() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        let process = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        assert!(!has_ended(&process));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_ended(&process));
    }
}
