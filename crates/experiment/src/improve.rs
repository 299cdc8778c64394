//! An experiment with the same improvements for each of its controllers.

use super::{Cell, Experiment, ExperimentError};
use crate::controllers::{self, ControllerError};
use document::{Fault, Location, Node, Value};
use std::collections::BTreeSet;

/// The key at the top of a file.
pub(super) const KEY: &str = "improvement";

impl Experiment {
    /// The experiment with these improvements (`short-hold`, `short-hold+aqm-loss`) appended to
    /// every controller that they change. The text of the experiment has `improvement =
    /// "short-hold"`.
    ///
    /// # Errors
    /// If there is no such improvement, or it changes no controller.
    pub fn with_improvement(&self, names: &str) -> Result<Self, ExperimentError> {
        let names = self.improvement_with(names).unwrap_or_else(|| names.to_owned());
        let node = Node { value: Value::Text(names), location: Location::CommandLine };
        self.edited(|document| document.insert(KEY, node))
    }

    /// The value of the key `improvement` with this improvement added; `None` if the file has
    /// neither that key nor `today = true`, so that the calls name their controllers.
    pub fn improvement_with(&self, name: &str) -> Option<String> {
        match (
            self.document.get(KEY).map(|node| &node.value),
            self.document.get("today").map(|node| &node.value),
        ) {
            (Some(Value::Text(own)), _) => Some(format!("{own}+{name}")),
            (None, Some(Value::Bool(true))) => Some(name.to_owned()),
            _ => None,
        }
    }

    /// Why these improvements change none of the controllers; `None` if they change one.
    #[must_use]
    pub fn why_not_improved(&self, names: &str) -> Option<ControllerError> {
        let mut errors: Vec<ControllerError> = Vec::new();
        let controllers: BTreeSet<&str> = self.controllers().collect();
        for controller in controllers {
            match controllers::improved(controller, names) {
                Ok(_) => return None,
                Err(error) => errors.push(error),
            }
        }
        Some(if errors.is_empty() {
            ControllerError::NoController
        } else {
            ControllerError::NoImprovement(errors)
        })
    }
}

/// Appends the improvements to every controller of the cells that they change.
pub(super) fn apply(cells: &mut [Cell], names: &str, location: Location) -> Result<(), Fault> {
    let fault = |error: ControllerError| Fault::of(location, KEY, error.into());
    names.split('+').try_for_each(controllers::check_improvement).map_err(fault)?;
    let (mut improved, mut reason) = (false, ControllerError::NoController);
    let calls = cells.iter_mut().flat_map(|cell| &mut cell.scenario.calls);
    for controller in
        calls.filter_map(|call| call.video.as_mut()).map(|video| &mut video.controller)
    {
        match controllers::improved(&controller.profile, names) {
            Ok(profile) => {
                controller.profile = profile;
                improved = true;
                cc::build(controller)
                    .map_err(|error| fault(ControllerError::of(&controller.profile, error)))?;
            }
            Err(error) => reason = error,
        }
    }
    if improved {
        Ok(())
    } else {
        Err(Fault::new(location, KEY, reason.to_string(), "leave it out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
title = "Three calls"
duration = "9s"

[host.a]
[host.b]

[call.one]
from = "a"
to = "b"
controller = "gcc:draft-02"
settings = { "loss.low" = 0.03 }

[call.two]
from = "a"
to = "b"
controller = "fixed:1Mbit/s"

[call.three]
from = "a"
to = "b"
audio = true
video = false

[grid]
"call.one.controller" = ["gcc:draft-02", "gcc:jansen-2016"]
"#;

    #[test]
    fn every_controller_that_changes_is_improved_in_every_cell() {
        let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
        let improved = experiment.with_improvement("aqm-loss").unwrap();
        let controllers: Vec<&str> = improved.controllers().collect();
        let one = ["gcc:draft-02+aqm-loss", "fixed:1Mbit/s"];
        assert_eq!(controllers, [one, ["gcc:jansen-2016+aqm-loss", "fixed:1Mbit/s"]].concat());
        assert_eq!(
            improved.cells()[0].label(),
            "call.one.controller=gcc:draft-02",
            "the axis does not change"
        );
        assert!(Experiment::parse(&improved.text, "x.toml").unwrap().simulates(&improved));
        let both = improved.with_improvement("short-hold").unwrap();
        assert_eq!(both.controllers().next(), Some("gcc:draft-02+aqm-loss+short-hold"));
        let plain = both.with_overrides(&[("improvement".into(), "packet-groups".into())]).unwrap();
        let controllers: Vec<&str> = plain.controllers().collect();
        assert_eq!(controllers[0], "gcc:draft-02", "it has packet groups already");
        assert_eq!(controllers[2], "gcc:jansen-2016+packet-groups");
    }

    #[test]
    fn improvements_that_change_nothing_are_refused() {
        let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
        let error = |names| experiment.with_improvement(names).unwrap_err().to_string();
        assert!(error("shorthold").contains("did you mean short-hold?"), "{}", error("shorthold"));
        let fixed = TEXT.split("[grid]").next().unwrap().replace("settings =", "# ");
        let fixed = Experiment::parse(&fixed.replace("gcc:draft-02", "kilinc-andersson"), "x.toml")
            .unwrap();
        let reason = fixed.why_not_improved("short-hold").unwrap().to_string();
        let both = "improvement 'short-hold' does not apply to fixed:1Mbit/s: only gcc profiles have improvements; \
                    improvement 'short-hold' does not apply to kilinc-andersson: only gcc profiles have improvements";
        assert_eq!(reason, both);
        assert!(
            fixed
                .with_improvement("short-hold")
                .unwrap_err()
                .to_string()
                .contains("does not apply")
        );
        assert_eq!(experiment.why_not_improved("packet-groups"), None, "jansen-2016 is in a cell");
    }
}
