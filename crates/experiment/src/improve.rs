//! An experiment with its controllers improved, each by the same improvements.

use super::{Cell, Experiment, ExperimentError};
use document::{Fault, Location, Node, Value};
use std::collections::BTreeSet;

/// The key at the top of a file.
pub(super) const KEY: &str = "improvement";

impl Experiment {
    /// The experiment with these improvements (`short-hold`, `short-hold+aqm-loss`) appended to the
    /// controller of every call, where they change something in it; its text says `improvement =
    /// "short-hold"`.
    ///
    /// # Errors
    /// When there is no such improvement, or no call's controller is any other with them.
    pub fn with_improvement(&self, names: &str) -> Result<Self, ExperimentError> {
        let names = self.improvement_with(names).unwrap_or_else(|| names.to_owned());
        let node = Node { value: Value::Text(names), location: Location::CommandLine };
        self.edited(|document| document.insert(KEY, node))
    }

    /// What its key `improvement` would be with this one more, if calls have their controllers from
    /// the top of the file: by that key, or by `today`.
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

    /// Why none of its controllers can have these improvements, or why none would be any other with
    /// them; `None`, if one can.
    #[must_use]
    pub fn no_better_with(&self, names: &str) -> Option<String> {
        let mut reasons: Vec<String> = Vec::new();
        let controllers: BTreeSet<&str> = self.controllers().collect();
        for controller in controllers {
            match crate::controllers::improved(controller, names) {
                Ok(_) => return None,
                Err(reason) => reasons.push(reason),
            }
        }
        Some(if reasons.is_empty() {
            "no call has a controller".to_owned()
        } else {
            reasons.join("; ")
        })
    }
}

/// Improves the controllers of the cells, those that can be.
pub(super) fn apply(cells: &mut [Cell], names: &str, location: Location) -> Result<(), Fault> {
    if let Some(unknown) =
        names.split('+').find_map(|name| crate::controllers::check_improvement(name).err())
    {
        return Err(Fault::new(location, KEY, unknown, ""));
    }
    let (mut improved, mut reason) = (false, "no call has a controller".to_owned());
    let calls = cells.iter_mut().flat_map(|cell| &mut cell.scenario.calls);
    for controller in
        calls.filter_map(|call| call.video.as_mut()).map(|video| &mut video.controller)
    {
        match crate::controllers::improved(&controller.profile, names) {
            Ok(profile) => {
                controller.profile = profile;
                improved = true;
                cc::build(controller)
                    .map_err(|error| Fault::new(location, KEY, error.to_string(), ""))?;
            }
            Err(why) => reason = why,
        }
    }
    if improved { Ok(()) } else { Err(Fault::new(location, KEY, reason, "leave it out")) }
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
    fn those_that_can_be_are_improved_under_every_cell() {
        let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
        let improved = experiment.with_improvement("aqm-loss").unwrap();
        let controllers: Vec<&str> = improved.controllers().collect();
        let one = ["gcc:draft-02+aqm-loss", "fixed:1Mbit/s"];
        assert_eq!(controllers, [one, ["gcc:jansen-2016+aqm-loss", "fixed:1Mbit/s"]].concat());
        assert_eq!(
            improved.cells()[0].label(),
            "call.one.controller=gcc:draft-02",
            "the axis is what it was"
        );
        assert!(Experiment::parse(&improved.text, "x.toml").unwrap().simulates(&improved));
        let both = improved.with_improvement("short-hold").unwrap();
        assert_eq!(both.controllers().next(), Some("gcc:draft-02+aqm-loss+short-hold"));
        let plain = both.with_overrides(&[("improvement".into(), "packet-groups".into())]).unwrap();
        let controllers: Vec<&str> = plain.controllers().collect();
        assert_eq!(controllers[0], "gcc:draft-02", "its groups are of packets");
        assert_eq!(controllers[2], "gcc:jansen-2016+packet-groups");
    }

    #[test]
    fn what_improves_nothing_is_refused_with_the_reason() {
        let experiment = Experiment::parse(TEXT, "x.toml").unwrap();
        let error = |names| experiment.with_improvement(names).unwrap_err().to_string();
        assert!(error("shorthold").contains("did you mean short-hold?"), "{}", error("shorthold"));
        let fixed = TEXT.split("[grid]").next().unwrap().replace("settings =", "# ");
        let fixed = Experiment::parse(&fixed.replace("gcc:draft-02", "kilinc-andersson"), "x.toml")
            .unwrap();
        let reason = fixed.no_better_with("short-hold").unwrap();
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
        assert_eq!(experiment.no_better_with("packet-groups"), None, "jansen-2016 is in a cell");
    }
}
