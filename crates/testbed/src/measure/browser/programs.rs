//! The programs of browsers and their drivers.

use super::{BrowserError, BrowserKind};
use std::path::{Path, PathBuf};

/// A program that a measurement needs.
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

/// Debian's launcher, and the browser that it starts with additional flags (`/etc/chromium.d`).
const LAUNCHER: (&str, &str) = ("/usr/bin/chromium", "/usr/lib/chromium/chromium");

impl Program {
    /// All programs.
    pub const ALL: [Self; 4] =
        [Self::Chromium, Self::Chromedriver, Self::Firefox, Self::Geckodriver];

    /// Its names on different systems.
    #[must_use]
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &["chromium", "chromium-browser", "google-chrome"],
            Self::Chromedriver => &["chromedriver", "chromium.chromedriver"],
            Self::Firefox => &["firefox-esr", "firefox"],
            Self::Geckodriver => &["geckodriver"],
        }
    }

    /// The environment variable that overrides its path.
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

    /// The path of the program: the one in its variable, or the first of its names in `PATH` and in
    /// `~/.cargo/bin`.
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
    /// Finds both programs.
    pub(super) fn find(kind: BrowserKind) -> Result<Self, BrowserError> {
        let (browser, driver) = match kind {
            BrowserKind::Chromium | BrowserKind::ChromiumScream => {
                (Program::Chromium, Program::Chromedriver)
            }
            BrowserKind::Firefox => (Program::Firefox, Program::Geckodriver),
        };
        Ok(Self { browser: unwrapped(browser.need()?), driver: driver.need()? })
    }
}

/// The browser behind Debian's launcher, or the path itself.
fn unwrapped(path: PathBuf) -> PathBuf {
    let (launcher, browser) = (Path::new(LAUNCHER.0), Path::new(LAUNCHER.1));
    if path == launcher && browser.exists() { browser.to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_a_suggestion_and_its_variable() {
        for program in Program::ALL {
            let said = BrowserError::Missing(program).to_string();
            for part in [program.names()[0], program.suggestion(), program.variable()] {
                assert!(said.contains(part), "{part} in {said}");
            }
        }
    }
}
