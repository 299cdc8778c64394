//! An experiment with its calls as today's Chromium makes them: what a measured run is held
//! against.

use super::{Cell, Endpoint, Experiment, ExperimentError, Measure, Native, calls};
use document::{Location, Node, Value};
use sim::codec::{AudioConfig, EncoderConfig, LadderConfig};
use sim::{CallConfig, Estimate, Fec, Scenario, Sfu, VideoConfig};
use units::{Bitrate, Duration};

/// The controller of today's Chromium.
pub const TODAY: &str = "gcc:libwebrtc";
/// Its audio: Opus of one channel in packets of 20 ms (libwebrtc
/// `modules/audio_coding/codecs/opus/audio_encoder_opus.cc`, `kOpusBitrateFbBps`).
const AUDIO_RATE: Bitrate = Bitrate::from_kbps(32);
/// Between two transport-wide feedback packets of Janus 1.1 (`janus --help`, `--twcc-period`).
const JANUS_FEEDBACK_INTERVAL: Duration = Duration::from_millis(200);

impl Experiment {
    /// The experiment with every call of every cell as today's Chromium makes it, whatever the file
    /// and its axes say of it: its controller with its own rates and intervals, its audio, one
    /// estimate for all that it sends, the source that a measurement sends
    /// ([`Measure::source`](super::Measure::source)), parity packets when many are lost (it
    /// negotiates ULPFEC), the picture in the steps of today's libwebrtc, and its bitrate adjuster,
    /// and no improvement. Whether there is audio and video, the codec, the most that the video
    /// takes and whether its size adapts are as in the file. A call that a native peer makes under
    /// the file's controller stays what it is. Its text says `today = true`.
    ///
    /// # Errors
    /// None that the experiment itself has not.
    pub fn as_today(&self) -> Result<Self, ExperimentError> {
        self.edited(|document| {
            document.insert(
                "today",
                Node { value: Value::Bool(true), location: Location::CommandLine },
            );
        })
    }
}

/// Whether native peers make all of its calls as the file says.
pub fn is_as_filed(experiment: &Experiment) -> bool {
    experiment.cells().iter().all(|Cell { scenario, measure, .. }| {
        scenario.calls.iter().all(|call| is_filed(call, scenario, measure))
    })
}

/// Makes the calls of a cell those of today's Chromium.
pub(super) fn make(cell: &mut Cell) {
    let Cell { scenario, measure, .. } = cell;
    let kept: Vec<bool> =
        scenario.calls.iter().map(|call| is_filed(call, scenario, measure)).collect();
    for (call, _) in scenario.calls.iter_mut().zip(kept).filter(|(_, kept)| !kept) {
        call.media_timeout = None;
        call.audio =
            call.audio.as_ref().map(|_| AudioConfig { rate: AUDIO_RATE, ..AudioConfig::opus() });
        call.video = call.video.take().map(|video| {
            let encoder = encoder(video.encoder, measure);
            let mut video = VideoConfig {
                fec: Fec::Hybrid,
                estimate: Estimate::Transport,
                ..calls::usual(encoder)
            };
            if let Some(Sfu::Publish { .. }) = call.sfu {
                video.feedback_interval = JANUS_FEEDBACK_INTERVAL;
            }
            video
        });
    }
}

/// Whether a native peer makes the call as the file says: one that sends, or one whose REMB governs
/// what a browser sends.
fn is_filed(call: &CallConfig, scenario: &Scenario, measure: &Measure) -> bool {
    let is_peer = |host| measure.endpoint_of(scenario.name(host)) == Endpoint::Native(Native::Peer);
    let answers = || {
        let built = call.video.as_ref().and_then(|video| cc::build(&video.controller).ok());
        built
            .and_then(|controllers| controllers.receiver)
            .is_some_and(|receiver| receiver.speaks_remb())
    };
    let all_sent = is_peer(call.from) && (!call.two_way || is_peer(call.to));
    all_sent || (is_peer(call.to) && !call.two_way && answers())
}

fn encoder(file: EncoderConfig, measure: &Measure) -> EncoderConfig {
    let EncoderConfig { codec, source, max_rate, model, ladder, sizes, .. } = file;
    let ladder = LadderConfig { enabled: ladder.enabled, ..LadderConfig::fitted(codec) };
    let adjusts_bitrate = true;
    EncoderConfig {
        model,
        ladder,
        sizes,
        adjusts_bitrate,
        ..EncoderConfig::new(codec, measure.source(source), max_rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;
    use sim::codec::LadderSteps;
    use units::Seed;

    #[test]
    fn calls_become_those_of_a_measurement() {
        let experiment = Experiment::open("jansen-2016/fig8-10").unwrap().as_today().unwrap();
        let scenario = experiment.cells()[0].scenario(Seed(1));
        assert_eq!(scenario.calls.len(), 3);
        for call in &scenario.calls {
            let video = call.video.as_ref().unwrap();
            assert_eq!((video.controller.profile.as_str(), video.fec), (TODAY, Fec::Hybrid));
            assert_eq!(
                video.encoder.source,
                experiment.cells()[0].measure().source(video.encoder.source)
            );
            assert_eq!(video.encoder.ladder.steps, LadderSteps::Alternating);
            assert_eq!(
                video.encoder.max_rate,
                Bitrate::from_kbps(2_500),
                "the file's cap is the page's too"
            );
        }
    }

    /// As today's Chromium makes it, of a call with these lines.
    fn today(lines: &str) -> Experiment {
        let text = format!(
            "title = \"t\"\nduration = \"9s\"\n[host.a]\n[host.b]\n[call.main]\nfrom = \"a\"\nto = \"b\"\n{lines}\n"
        );
        let today = Experiment::parse(&text, "x.toml").unwrap().as_today().unwrap();
        let again = Experiment::parse(&today.text, "x.toml").unwrap();
        assert!(again.simulates(&today), "its text says all of it");
        today
    }

    #[test]
    fn what_is_the_browsers_own_is_not_the_files() {
        let plain = today("video = true");
        for own in [
            "media_timeout = \"5s\"\nnack = false\nburst_time = \"9ms\"\ncircuit_breaker = true",
            "report_interval = \"9s\"\nfeedback_interval = \"9ms\"\nstart_rate = \"1Mbit/s\"",
            "estimate = \"video\"\ncontroller = \"gcc:draft-02\"\nsettings = { 'pacing.factor' = 2.5 }",
            "video = { min_rate = \"9kbit/s\", ladder = \"halves\", fps = 60 }",
        ] {
            assert!(today(own).simulates(&plain), "{own}");
        }
        for kept in
            ["audio = true", "video = { max_rate = \"1Mbit/s\" }", "video = { ladder = \"none\" }"]
        {
            assert!(!today(kept).simulates(&plain), "{kept}");
        }
    }

    #[test]
    fn what_a_native_peer_makes_stays_as_filed() {
        let filed = |profile: &str, endpoints: &str| {
            let lines =
                format!("controller = \"{profile}\"\n[measure]\nendpoints = {{ {endpoints} }}");
            today(&lines).controllers().all(|controller| controller == profile)
        };
        assert!(filed("gcc:draft-02", "a = \"peer\""));
        assert!(filed("gcc:carlucci-2017", "b = \"peer\""), "its REMB governs the browser");
        assert!(
            !filed("fixed:1Mbit/s", "b = \"peer\""),
            "and one without a receiving half does not"
        );
        assert!(!filed("gcc:carlucci-2017", "a = \"str0m\""), "its own estimator");
        assert!(filed("kilinc-andersson", "a = \"peer\", b = \"peer\""));
    }

    #[test]
    fn a_unit_of_today_answers_at_its_own_interval() {
        let today = Experiment::open("jansen-2016/fig8-9").unwrap().as_today().unwrap();
        let calls = today.cells()[0].scenario(Seed(1)).calls;
        let intervals =
            calls.iter().map(|call| call.video.as_ref().unwrap().feedback_interval.as_millis_f64());
        assert_eq!(intervals.collect::<Vec<_>>(), [200.0, 200.0, 100.0, 100.0]);
    }

    #[test]
    fn every_cell_has_its_own_source_and_none_its_own_controller() {
        let axes = "[grid]\n\"measure.width\" = [320, 640]\n\"call.main.start_rate\" = [\"1Mbit/s\", \"2Mbit/s\"]\n\
                    \"call.main.settings.'pacing.factor'\" = [1, 2]";
        let today = today(axes);
        let videos: Vec<_> =
            today.cells().iter().filter_map(|cell| cell.scenario.calls[0].video.as_ref()).collect();
        let widths: Vec<u32> = videos.iter().map(|video| video.encoder.source.width).collect();
        assert_eq!(widths, [320, 320, 320, 320, 640, 640, 640, 640]);
        assert!(videos.iter().all(|video| video.controller == videos[0].controller));
        assert!(videos[0].controller.settings.is_empty());
    }

    #[test]
    fn every_built_in_experiment_has_a_form_of_today() {
        for name in names() {
            let experiment = Experiment::open(name).unwrap();
            let today = experiment.as_today().unwrap();
            let params = |of: &Experiment| of.cells().iter().map(Cell::label).collect::<Vec<_>>();
            assert_eq!(params(&today), params(&experiment), "{name}");
            let has_peers = experiment.cells().iter().any(|cell| {
                let hosts = cell.scenario.network.hosts.iter();
                hosts
                    .map(|host| cell.measure.endpoint_of(&host.name))
                    .any(|of| of == Endpoint::Native(Native::Peer))
            });
            assert!(
                has_peers || today.controllers().all(|controller| controller == TODAY),
                "{name}"
            );
        }
    }
}
