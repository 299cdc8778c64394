//! An experiment from a few words about a line at home and what it is used for.

use crate::{Bottleneck, Experiment, ExperimentError};
use std::fmt::Write as _;
use std::str::FromStr;
use units::Bitrate;

/// A line at home and its uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The rates of the line.
    pub line: HomeLine,
    /// Where packets wait for the line.
    pub bottleneck: Bottleneck,
    /// The traffic beside the call, each kind once.
    pub beside: Vec<Use>,
}

/// The two rates of a line: `5Mbit/1Mbit` is 5 Mbit/s down and 1 Mbit/s up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HomeLine {
    /// The rate towards the home.
    pub down: Bitrate,
    /// The rate from the home.
    pub up: Bitrate,
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HomeLineError {
    /// It is not two rates.
    #[error("'{0}' is not two rates; write DOWN/UP, such as 5Mbit/1Mbit")]
    Rates(String),
    /// A rate is zero.
    #[error("a line of 0 bit/s carries nothing; write DOWN/UP, such as 5Mbit/1Mbit")]
    Zero,
}

impl FromStr for HomeLine {
    type Err = HomeLineError;

    /// Reads `5Mbit/1Mbit` or `5Mbit/s/1Mbit/s`.
    fn from_str(text: &str) -> Result<Self, HomeLineError> {
        let wrong = || HomeLineError::Rates(text.to_owned());
        let words: Vec<&str> = text.split('/').filter(|word| *word != "s").collect();
        let [down, up] = words[..] else { return Err(wrong()) };
        let rate = |word: &str| format!("{}/s", word.trim()).parse().map_err(|_| wrong());
        let line = Self { down: rate(down)?, up: rate(up)? };
        let is_zero = line.down == Bitrate::ZERO || line.up == Bitrate::ZERO;
        if is_zero { Err(HomeLineError::Zero) } else { Ok(line) }
    }
}

/// Traffic beside a call at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// A file that goes up.
    Upload,
    /// A file that comes down.
    Download,
}

impl Use {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Upload, Self::Download];

    /// The word for it, and the name of its section in the experiment.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Download => "download",
        }
    }

    /// The hosts that send and receive it.
    const fn ends(self) -> (&'static str, &'static str) {
        match self {
            Self::Upload => ("home", "net"),
            Self::Download => ("net", "home"),
        }
    }
}

impl Home {
    /// The experiment as a file: a call both ways of today's browsers for 90 s, and the other
    /// traffic from 20 s to 80 s. The modem and the provider have 125 kB of buffer each
    /// (Janczukowicz 2017, Table 6.2), and 20 ms of delay are between the home and the other end,
    /// one way, as in `situations/adsl-upload`.
    #[must_use]
    pub fn text(&self) -> String {
        let HomeLine { down, up } = self.line;
        let uses: Vec<&str> = self.beside.iter().map(|one| one.as_str()).collect();
        let beside = match &uses[..] {
            [] => "alone".to_owned(),
            uses => format!("beside: {}", uses.join(", ")),
        };
        let line = |rate| {
            format!("{{ rate = \"{rate}\", delay = \"20ms\", queue = \"bfifo limit 125kB\" }}")
        };
        let mut text = format!(
            "title = \"A call at home, {beside}\"\n\
             about = \"\"\"\nA line of {down} down and {up} up. Written by 'weir advise --line'.\n\"\"\"\n\
             duration = \"90s\"\nruns = 5\ntoday = true\n\n\
             [host.home]\nup = {}\ndown = {}\n\n[host.net]\n\n\
             [call.main]\nfrom = \"home\"\nto = \"net\"\ntwo_way = true\naudio = true\nvideo = true\n",
            line(up),
            line(down),
        );
        for one in &self.beside {
            let ((from, to), name) = (one.ends(), one.as_str());
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "\n[tcp.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nstart = \"20s\"\nstop = \"80s\"\n"
            );
        }
        let _ = write!(
            text,
            "\n[advise]\nlines = [\"home.up\", \"home.down\"]\nbottleneck = \"{}\"\n",
            self.bottleneck
        );
        text
    }

    /// The experiment.
    ///
    /// # Errors
    /// If [`Experiment::parse`] refuses it, for example because a rate is too high.
    pub fn experiment(&self) -> Result<Experiment, ExperimentError> {
        Experiment::parse(&self.text(), "home")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_two_rates() {
        let line = HomeLine { down: Bitrate::from_mbps(5), up: Bitrate::from_kbps(1_000) };
        for text in ["5Mbit/1Mbit", "5Mbit/s/1000kbit/s", "5 Mbit/ 1Mbit"] {
            assert_eq!(text.parse(), Ok(line), "{text}");
        }
        for text in ["5Mbit", "5/1", "", "a/b", "5Mbit/1Mbit/1Mbit"] {
            assert_eq!(text.parse::<HomeLine>(), Err(HomeLineError::Rates(text.into())), "{text}");
        }
        assert_eq!("5Mbit/0Mbit".parse::<HomeLine>(), Err(HomeLineError::Zero));
    }

    #[test]
    fn every_home_is_an_experiment() {
        let line = "50Mbit/10Mbit".parse().unwrap();
        for bottleneck in [Bottleneck::Interface, Bottleneck::Modem] {
            for beside in [vec![], vec![Use::Upload], Use::ALL.to_vec()] {
                let home = Home { line, bottleneck, beside };
                let experiment = home.experiment().unwrap();
                assert_eq!(experiment.advise.bottleneck, bottleneck);
                let origins = experiment.cells()[0].origins();
                assert_eq!((origins.calls.len(), origins.tcp.len()), (1, home.beside.len()));
            }
        }
    }
}
