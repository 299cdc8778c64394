//! The setting `hint.buffer = path` of a controller: the smallest buffer on the path of its call.

use cc::ControllerConfig;
use net::{Direction, HostId};
use sim::{CallConfig, Scenario};

/// The name of the setting.
const HINT: &str = "hint.buffer";

/// Replaces `hint.buffer = path` by the size of the smallest buffer in every controller that has
/// the setting. In a two-way call the buffers of both directions count.
pub(super) fn fill_in(scenario: &mut Scenario) {
    let Scenario { network, calls, .. } = scenario;
    // Most calls have the same controller as the call before.
    let mut previous: Option<(ControllerConfig, bool)> = None;
    for call in calls {
        let Some(video) = &call.video else { continue };
        let needed = match &previous {
            Some((controller, needed)) if *controller == video.controller => *needed,
            _ => needs_hint(&video.controller),
        };
        previous = Some((video.controller.clone(), needed));
        if needed {
            let sizes = path(call).filter_map(|(host, direction)| network.buffer(host, direction));
            let size = sizes.min().map_or("none".to_owned(), |size| size.to_string());
            let settings = call.video.iter_mut().map(|video| &mut video.controller.settings);
            settings.for_each(|settings| {
                settings.retain(|(name, _)| name != HINT);
                settings.push((HINT.to_owned(), size.clone()));
            });
        }
    }
}

fn needs_hint(controller: &ControllerConfig) -> bool {
    let settings = cc::settings_of(controller).unwrap_or_default();
    settings.iter().any(|setting| setting.name == HINT && setting.value == "path")
}

/// The directions of hosts' accesses that the packets of a call pass, those of its relay included;
/// for a two-way call in both directions.
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

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use units::Seed;

    /// The hint of the call's controller in an experiment with these lines; empty without a hint.
    fn hint(hosts: &str, call: &str) -> String {
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

    /// The hint of a controller that takes it from the path.
    fn improved(hosts: &str) -> String {
        hint(hosts, "controller = \"gcc:draft-02+buffer-hint\"")
    }

    #[test]
    fn the_hint_is_the_smallest_buffer_on_the_path() {
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
        assert_eq!(improved(both), "75kB", "a queue that the call does not pass does not count");
        assert_eq!(
            hint(both, "two_way = true\ncontroller = \"gcc:draft-02+buffer-hint\""),
            "1.5kB"
        );
        assert_eq!(
            improved("[host.a]\nup = { queue = \"pfifo limit 9\" }\n[host.b]"),
            "none",
            "nothing waits for an unlimited line"
        );
        let wifi = "[wifi.home]\n[host.a]\nwifi = { cell = \"home\", distance = \"5m\" }\n[host.b]";
        assert_eq!(improved(wifi), "1.692MB", "1000 packets and 128 in the driver");
        let lte =
            "[lte.city]\n[host.a]\nlte = { network = \"city\", distance = \"100m\" }\n[host.b]";
        assert_eq!(improved(lte), "1.5MB");
    }

    #[test]
    fn only_a_controller_with_the_setting_gets_the_hint() {
        let hosts = "[host.a]\nup = { rate = \"1Mbit/s\", queue = \"bfifo limit 16kB\" }\n[host.b]";
        assert_eq!(hint(hosts, "controller = \"gcc:draft-02\""), "");
        let given =
            "controller = \"gcc:libwebrtc+buffer-hint\"\nsettings = { \"hint.buffer\" = \"9kB\" }";
        assert_eq!(hint(hosts, given), "9kB");
        let set = "controller = \"gcc:libwebrtc\"\nsettings = { \"hint.buffer\" = \"path\" }";
        assert_eq!(hint(hosts, set), "16kB");
    }
}
