//! `[advise]`: the call that `weir advise` judges, and the parts of the network that it may change.

use super::ExperimentError;
use document::{Fault, Location, Reader};

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
        let advise = Self {
            location: node.location,
            call: table.optional("call")?,
            lines: table.optional("lines")?,
            dscp: table.or("dscp", true)?,
            radio: table.or("radio", true)?,
            controller: table.or("controller", true)?,
        };
        table.finish()?;
        Ok(advise)
    }
}
