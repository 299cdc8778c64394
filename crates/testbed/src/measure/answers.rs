//! Whether the ends of a measured call understand each other.

use super::plan::PlanError;
use experiment::{Endpoint, Native};
use sim::CallConfig;

/// Whether who sends knows what the receiver's half of the call's controller says, if an end has
/// that controller: all senders obey REMB, what else there is only the other half of the same.
pub(super) fn understood(
    call: &CallConfig,
    endpoints: [Option<Endpoint>; 2],
) -> Result<(), PlanError> {
    const PEER: Option<Endpoint> = Some(Endpoint::Native(Native::Peer));
    let Some(video) =
        call.video.as_ref().filter(|_| endpoints.contains(&PEER) && endpoints != [PEER; 2])
    else {
        return Ok(());
    };
    let built = cc::build(&video.controller)?;
    if built.receiver.is_none_or(|receiver| receiver.speaks_remb()) {
        return Ok(());
    }
    Err(PlanError::ReceiverHalf {
        call: call.name.clone(),
        profile: video.controller.profile.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::plan::Plan;
    use experiment::Experiment;
    use units::Seed;

    const TEXT: &str = r#"
title = "A call"
duration = "60s"

[host.alice]

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "CONTROLLER"

"#;

    #[test]
    fn a_controller_that_browsers_do_not_understand_needs_two_peers() {
        let plan = |controller: &str, endpoints: &str| {
            let text = TEXT.replace("CONTROLLER", controller);
            let text = format!("{text}[measure.endpoints]\n{endpoints}\n");
            let experiment = Experiment::parse(&text, "x.toml").unwrap();
            let cell = &experiment.cells()[0];
            Plan::new(cell, &cell.scenario(Seed(1))).map(drop)
        };
        let error = plan("kilinc-andersson", "bob = \"peer\"").unwrap_err().to_string();
        assert!(
            error.starts_with("call.main.controller: only a native peer understands the feedback"),
            "{error}"
        );
        assert!(plan("kilinc-andersson", "alice = \"peer\"\nbob = \"str0m\"").is_err());
        for understood in ["alice = \"peer\"\nbob = \"peer\"", "bob = \"chromium\""] {
            assert_eq!(plan("kilinc-andersson", understood), Ok(()));
        }
        assert_eq!(plan("gcc:carlucci-2017", "bob = \"peer\""), Ok(()));
    }
}
