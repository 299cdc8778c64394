//! What a controller with `hint.buffer = path` is told: the smallest buffer on its call's path.

use cc::ControllerConfig;
use net::{Direction, HostId, NetworkConfig};
use sim::{CallConfig, Scenario};
use units::Bytes;

/// The setting of a controller.
const HINT: &str = "hint.buffer";

/// Tells the controllers that want to know.
pub(super) fn tell(scenario: &mut Scenario) {
    let Scenario { network, calls, .. } = scenario;
    // Most calls have the controller of the one before.
    let mut before: Option<(ControllerConfig, bool)> = None;
    for call in calls {
        let Some(video) = &call.video else { continue };
        let wants = match &before {
            Some((controller, wants)) if *controller == video.controller => *wants,
            _ => wants_to_know(&video.controller),
        };
        before = Some((video.controller.clone(), wants));
        if wants {
            let size = smallest(network, call).map_or("none".to_owned(), |size| size.to_string());
            let settings = call.video.iter_mut().map(|video| &mut video.controller.settings);
            settings.for_each(|settings| {
                settings.retain(|(name, _)| name != HINT);
                settings.push((HINT.to_owned(), size.clone()));
            });
        }
    }
}

fn wants_to_know(controller: &ControllerConfig) -> bool {
    let settings = cc::settings_of(controller).unwrap_or_default();
    settings.iter().any(|setting| setting.name == HINT && setting.value == "path")
}

/// The ways of hosts that a call passes, those of a relay among them; of both directions, if it has
/// two.
pub fn path(call: &CallConfig) -> impl Iterator<Item = (HostId, Direction)> + use<> {
    let ends = [(call.from, call.to), (call.to, call.from)];
    let relay = call.relay;
    ends.into_iter().take(if call.two_way { 2 } else { 1 }).flat_map(move |(from, to)| {
        let relayed = relay.map(|relay| [(relay, Direction::Down), (relay, Direction::Up)]);
        [(from, Direction::Up), (to, Direction::Down)]
            .into_iter()
            .chain(relayed.into_iter().flatten())
    })
}

/// The least limit on the call's path; of both directions, for both ends have the same controller.
fn smallest(network: &NetworkConfig, call: &CallConfig) -> Option<Bytes> {
    path(call).filter_map(|(host, direction)| network.buffer(host, direction)).min()
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use units::Seed;

    /// What the call's controller is told, with these lines of the file.
    fn told(hosts: &str, call: &str) -> String {
        let text = format!(
            "title = \"t\"\nduration = \"9s\"\n{hosts}\n[call.main]\nfrom = \"a\"\nto = \"b\"\n{call}\n"
        );
        let experiment = Experiment::parse(&text, "x.toml").unwrap();
        let calls = experiment.cells()[0].scenario(Seed(1)).calls;
        let settings = &calls[0].video.as_ref().unwrap().controller.settings;
        settings
            .iter()
            .find(|(name, _)| name == "hint.buffer")
            .map_or(String::new(), |(_, value)| value.clone())
    }

    fn improved(hosts: &str) -> String {
        told(hosts, "controller = \"gcc:draft-02+buffer-hint\"")
    }

    #[test]
    fn it_is_the_least_limit_of_what_the_call_passes() {
        let up = |queue| {
            format!("[host.a]\nup = {{ rate = \"1Mbit/s\", queue = \"{queue}\" }}\n[host.b]")
        };
        for (queue, size) in [
            ("bfifo limit 16kB", "16kB"),
            ("pfifo limit 10", "15kB"),
            ("droptail limit 128ms", "16kB"),
            ("fq_codel limit 20", "30kB"),
            ("sfq limit 127 depth 8", "12kB"),
            ("unlimited", "none"),
        ] {
            assert_eq!(improved(&up(queue)), size, "{queue}");
        }
        let both = "[host.a]\nup = { rate = \"1Mbit/s\", queue = \"pfifo limit 100\" }\ndown = { rate = \"1Mbit/s\", queue = \
                    \"pfifo limit 1\" }\n[host.b]\ndown = { rate = \"1Mbit/s\", queue = \"pfifo limit 50\" }";
        assert_eq!(improved(both), "75kB", "not what the call does not pass");
        assert_eq!(
            told(both, "two_way = true\ncontroller = \"gcc:draft-02+buffer-hint\""),
            "1.5kB"
        );
        assert_eq!(
            improved("[host.a]\nup = { queue = \"pfifo limit 9\" }\n[host.b]"),
            "none",
            "it never waits"
        );
        let wifi = "[wifi.home]\n[host.a]\nwifi = { cell = \"home\", distance = \"5m\" }\n[host.b]";
        assert_eq!(improved(wifi), "1.692MB", "1000 packets and 128 of the driver");
        let lte =
            "[lte.city]\n[host.a]\nlte = { network = \"city\", distance = \"100m\" }\n[host.b]";
        assert_eq!(improved(lte), "1.5MB");
    }

    #[test]
    fn only_who_wants_to_know_is_told() {
        let hosts = "[host.a]\nup = { rate = \"1Mbit/s\", queue = \"bfifo limit 16kB\" }\n[host.b]";
        assert_eq!(told(hosts, "controller = \"gcc:draft-02\""), "");
        let given =
            "controller = \"gcc:libwebrtc+buffer-hint\"\nsettings = { \"hint.buffer\" = \"9kB\" }";
        assert_eq!(told(hosts, given), "9kB");
        let set = "controller = \"gcc:libwebrtc\"\nsettings = { \"hint.buffer\" = \"path\" }";
        assert_eq!(told(hosts, set), "16kB");
    }
}
