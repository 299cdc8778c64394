//! `[advise]`: what of the experiment is one's own to change, for those who ask for advice.

use super::ExperimentError;
use document::{Fault, Location, Reader};

/// What advice may touch, and whom it is for.
#[derive(Clone, Debug)]
pub struct Advise {
    /// Where it was written.
    location: Location,
    /// The section of the call that is to live: of `[call]`, `[conference]` or `[users]`; the first
    /// with video if left out.
    pub call: Option<String>,
    /// The lines whose queue is one's own; every line with a rate that the call passes if left out,
    /// none if empty.
    pub lines: Option<Vec<String>>,
    /// Whether marks stay on the packets as far as these lines.
    pub dscp: bool,
    /// Whether the access point or the base station is one's own.
    pub radio: bool,
    /// Whether the application is one's own, with its controller.
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
    /// What is wrong with a key of it.
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
