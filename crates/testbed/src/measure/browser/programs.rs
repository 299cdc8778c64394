//! Where the browsers and their drivers are.

use super::{BrowserError, BrowserKind};
use std::path::{Path, PathBuf};

/// A program that a measurement calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The browser.
    Chromium,
    /// Chromium's WebDriver.
    Chromedriver,
    /// The browser.
    Firefox,
    /// Firefox's WebDriver.
    Geckodriver,
}

/// Debian's launcher, and the browser that it starts with flags of its own (`/etc/chromium.d`).
const LAUNCHER: (&str, &str) = ("/usr/bin/chromium", "/usr/lib/chromium/chromium");

impl Program {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Chromium, Self::Chromedriver, Self::Firefox, Self::Geckodriver];

    /// What it is called, on one system or another.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &["chromium", "chromium-browser", "google-chrome"],
            Self::Chromedriver => &["chromedriver", "chromium.chromedriver"],
            Self::Firefox => &["firefox-esr", "firefox"],
            Self::Geckodriver => &["geckodriver"],
        }
    }

    /// The environment variable that names its file instead of a search.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Chromium => "WEIR_CHROMIUM",
            Self::Chromedriver => "WEIR_CHROMEDRIVER",
            Self::Firefox => "WEIR_FIREFOX",
            Self::Geckodriver => "WEIR_GECKODRIVER",
        }
    }

    /// How to get it.
    #[must_use]
    pub fn suggestion(self) -> &'static str {
        match self {
            Self::Chromium => "install Chromium (Debian: apt-get install chromium)",
            Self::Chromedriver => {
                "install Chromium's driver (Debian: apt-get install chromium-driver)"
            }
            Self::Firefox => "install Firefox (Debian: apt-get install firefox-esr)",
            Self::Geckodriver => "install geckodriver (cargo install geckodriver --locked)",
        }
    }

    /// Its file: the one that its variable names, or the first of its names in `PATH` and in
    /// cargo's folder of programs.
    #[must_use]
    pub fn find(self) -> Option<PathBuf> {
        if let Some(named) = std::env::var_os(self.variable()) {
            return which::which(named).ok();
        }
        let cargo = std::env::home_dir().map(|home| home.join(".cargo/bin"));
        let beside = |name| cargo.as_ref().and_then(|folder| which::which(folder.join(name)).ok());
        self.names().iter().find_map(|name| which::which(name).ok().or_else(|| beside(name)))
    }

    fn need(self) -> Result<PathBuf, BrowserError> {
        self.find().ok_or(BrowserError::Missing(self))
    }
}

/// A browser and its driver.
pub(super) struct Programs {
    pub(super) browser: PathBuf,
    pub(super) driver: PathBuf,
}

impl Programs {
    /// Finds both.
    pub(super) fn find(kind: BrowserKind) -> Result<Self, BrowserError> {
        let (browser, driver) = match kind {
            BrowserKind::Chromium => (Program::Chromium, Program::Chromedriver),
            BrowserKind::Firefox => (Program::Firefox, Program::Geckodriver),
        };
        Ok(Self { browser: unwrapped(browser.need()?), driver: driver.need()? })
    }
}

/// The browser itself, where this is Debian's launcher of it.
fn unwrapped(path: PathBuf) -> PathBuf {
    let (launcher, browser) = (Path::new(LAUNCHER.0), Path::new(LAUNCHER.1));
    if path == launcher && browser.exists() { browser.to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_mend_and_its_variable() {
        for program in Program::ALL {
            let said = BrowserError::Missing(program).to_string();
            for part in [program.names()[0], program.suggestion(), program.variable()] {
                assert!(said.contains(part), "{part} in {said}");
            }
        }
    }
}
