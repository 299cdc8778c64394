//! Whether the endpoints of a measured call understand each other's feedback.

use super::plan::PlanError;
use experiment::{Endpoint, Native};
use sim::CallConfig;

/// Checks that the sender understands the feedback of the receiver half of the controller, if one
/// endpoint is a native peer with that controller. All senders understand REMB; other messages are
/// only understood by the sender half of the same controller.
pub(super) fn check_feedback(
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
    fn a_controller_with_its_own_feedback_needs_two_native_peers() {
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
        for check_feedback in ["alice = \"peer\"\nbob = \"peer\"", "bob = \"chromium\""] {
            assert_eq!(plan("kilinc-andersson", check_feedback), Ok(()));
        }
        assert_eq!(plan("gcc:carlucci-2017", "bob = \"peer\""), Ok(()));
    }
}
