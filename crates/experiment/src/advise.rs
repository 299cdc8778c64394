//! `[advise]`: the call that `weir advise` judges, and the parts of the network that it may change.

use super::ExperimentError;
use document::{Fault, Location, Problem, Reader};
use std::fmt;
use units::Ratio;

/// Where the packets wait that the lines of `[advise]` cannot send yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// In the device to which a remedy gives a queue: its interface sends at the rate of the line.
    Interface,
    /// In a modem or at the provider, behind or before the device: packets wait in that device
    /// only if it shapes.
    Modem,
}

impl Bottleneck {
    const ALL: [Self; 2] = [Self::Interface, Self::Modem];

    /// The word in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interface => "interface",
            Self::Modem => "modem",
        }
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The share of a line's rate at which a shaper in front of it sends (tc-cake(8) and the guide to
/// SQM of OpenWrt begin with 95 %; docs/guides/advise.md, 'Behind a modem', measures others).
const SHARE: Ratio = Ratio::from_percent(95);

/// The keys of `[advise]`.
#[derive(Clone, Debug)]
pub struct Advise {
    /// Where the section was written.
    location: Location,
    /// The name of the section of the judged call, in `[call]`, `[conference]` or `[users]`;
    /// `None`: the first one with video.
    pub call: Option<String>,
    /// The lines whose queues may be changed; `None`: every line with a rate that the call passes.
    pub lines: Option<Vec<String>>,
    /// Where packets wait for these lines.
    pub bottleneck: Bottleneck,
    /// The share of a line's rate at which a shaper sends.
    pub share: Ratio,
    /// Whether DSCP marks reach these lines.
    pub dscp: bool,
    /// Whether the access point or the base station may be changed.
    pub radio: bool,
    /// Whether the application and its controller may be changed.
    pub controller: bool,
}

impl Default for Advise {
    fn default() -> Self {
        Self {
            location: Location::Line(1),
            call: None,
            lines: None,
            bottleneck: Bottleneck::Interface,
            share: SHARE,
            dscp: true,
            radio: true,
            controller: true,
        }
    }
}

impl Advise {
    /// An error about one of the section's keys.
    pub fn fault(
        &self,
        path: &str,
        key: &str,
        reason: String,
        suggestion: String,
    ) -> ExperimentError {
        Fault::new(self.location, format!("advise.{key}"), reason, suggestion).in_file(path)
    }

    pub(super) fn read(top: &mut Reader<'_>) -> Result<Self, Fault> {
        let Some(node) = top.node("advise") else { return Ok(Self::default()) };
        let mut table = Reader::new(node, "advise")?;
        let bottleneck = bottleneck(&mut table)?;
        let share = table.or("share", SHARE)?;
        if share == Ratio::ZERO {
            return Err(table.fault("share", "a shaper at 0 % sends nothing", "write 95%"));
        }
        let advise = Self {
            location: node.location,
            call: table.optional("call")?,
            lines: table.optional("lines")?,
            bottleneck,
            share,
            dscp: table.or("dscp", true)?,
            radio: table.or("radio", true)?,
            controller: table.or("controller", true)?,
        };
        table.finish()?;
        Ok(advise)
    }
}

fn bottleneck(table: &mut Reader<'_>) -> Result<Bottleneck, Fault> {
    let Some(word) = table.optional::<String>("bottleneck")? else {
        return Ok(Bottleneck::Interface);
    };
    let found = Bottleneck::ALL.into_iter().find(|known| known.as_str() == word);
    let known = Bottleneck::ALL.map(Bottleneck::as_str);
    let unknown = || Problem::unknown("bottleneck", &word, known.into_iter(), "write");
    found.ok_or_else(|| table.problem("bottleneck", unknown()))
}
