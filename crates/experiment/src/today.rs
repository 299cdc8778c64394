//! An experiment with its calls as today's Chromium makes them, for comparison with a measured run.

use super::{Browser, Cell, Endpoint, Experiment, ExperimentError, Measure, Native, calls};
use document::{Location, Node, Value};
use sim::codec::{AudioConfig, Codec, EncoderConfig, LadderConfig, ModelParameters};
use sim::{CallConfig, Estimate, Fec, Scenario, Sfu, VideoConfig};
use units::{Bitrate, Duration};

/// The controller of today's Chromium.
pub const TODAY: &str = "gcc:libwebrtc";
/// The audio rate of today's Chromium: Opus with one channel in packets of 20 ms (libwebrtc
/// `modules/audio_coding/codecs/opus/audio_encoder_opus.cc`, `kOpusBitrateFbBps`).
const AUDIO_RATE: Bitrate = Bitrate::from_kbps(32);
/// The minimum rate of a video (libwebrtc `rtc_base/experiments/min_video_bitrate_experiment.cc`,
/// `kDefaultMinVideoBitrateBps`).
const MIN_VIDEO_RATE: Bitrate = Bitrate::from_kbps(30);
/// The interval of transport-wide feedback packets, as Chromium 156 sends them at 300 kbit/s to
/// 4 Mbit/s (`scripts/chromium-frames`): 50 ms (libwebrtc
/// `modules/remote_bitrate_estimator/transport_sequence_number_feedback_generator.cc`, at most 5 %
/// of an estimate that starts with 300 kbit/s), rounded up to ticks of 1/64 s.
const FEEDBACK_INTERVAL: Duration = Duration::from_micros(62_500);
/// The interval of transport-wide feedback packets of Janus 1.1 (`janus --help`, `--twcc-period`).
const JANUS_FEEDBACK_INTERVAL: Duration = Duration::from_millis(200);
/// The controller of Chromium with the field trials of SCReAM v2, and its setting that all packets
/// are ECT(1) (libwebrtc `modules/congestion_controller/scream/scream_network_controller.h`,
/// SupportsEcnAdaptation).
const SCREAM: (&str, [&str; 2]) = ("scream-v2", ["ecn", "ect1"]);
/// The least interval of messages of RFC 8888 (libwebrtc
/// `modules/remote_bitrate_estimator/congestion_control_feedback_generator.h`).
const SCREAM_FEEDBACK_INTERVAL: Duration = Duration::from_millis(25);

impl Experiment {
    /// The experiment with every call of every cell as today's Chromium makes it. Chromium's are:
    /// the controller with its rates and intervals, the audio, one estimate for audio and video,
    /// the source of a measurement ([`Measure::source`](super::Measure::source)), parity packets
    /// under loss (Chromium negotiates ULPFEC), the resolution steps and the bitrate adjuster of
    /// today's libwebrtc. The file's are: whether there is audio and video, the codec, the maximum
    /// rate of the video, and whether its resolution adapts. A call that a native peer makes with
    /// the file's controller does not change. If Chromium with the field trials of SCReAM v2 sends,
    /// the call has that controller. The text of the experiment has `today = true`.
    ///
    /// # Errors
    /// Those of the experiment itself.
    pub fn as_today(&self) -> Result<Self, ExperimentError> {
        self.edited(|document| {
            document.insert(
                "today",
                Node { value: Value::Bool(true), location: Location::CommandLine },
            );
        })
    }
}

/// Whether native peers make all calls of the experiment with the controllers of the file.
pub fn peers_make_all_calls(experiment: &Experiment) -> bool {
    experiment.cells().iter().all(|Cell { scenario, measure, .. }| {
        scenario.calls.iter().all(|call| is_made_by_peer(call, scenario, measure))
    })
}

/// Changes the calls of a cell to those of today's Chromium.
pub(super) fn apply(cell: &mut Cell) {
    let Cell { scenario, measure, .. } = cell;
    let kept: Vec<bool> =
        scenario.calls.iter().map(|call| is_made_by_peer(call, scenario, measure)).collect();
    let scream = Endpoint::Browser(Browser::ChromiumScream);
    let sends_scream = |call: &CallConfig| measure.endpoint_of(scenario.name(call.from)) == scream;
    let trials: Vec<bool> = scenario.calls.iter().map(sends_scream).collect();
    let calls = scenario.calls.iter_mut().zip(kept).zip(trials);
    for ((call, _), has_scream) in calls.filter(|((_, kept), _)| !kept) {
        call.media_timeout = None;
        call.audio =
            call.audio.as_ref().map(|_| AudioConfig { rate: AUDIO_RATE, ..AudioConfig::opus() });
        call.video = call.video.take().map(|video| {
            let encoder = encoder(video.encoder, measure);
            let mut video = VideoConfig {
                fec: Fec::Hybrid,
                estimate: Estimate::Transport,
                feedback_interval: FEEDBACK_INTERVAL,
                ..calls::default_video(encoder)
            };
            if let Some(Sfu::Publish { .. }) = call.sfu {
                video.feedback_interval = JANUS_FEEDBACK_INTERVAL;
            }
            if has_scream {
                let (profile, [name, value]) = SCREAM;
                video.controller.profile = profile.to_owned();
                video.controller.settings = vec![(name.to_owned(), value.to_owned())];
                video.feedback_interval = SCREAM_FEEDBACK_INTERVAL;
            }
            video
        });
    }
}

/// Whether a native peer makes the call with the controller of the file: the peer sends, or its
/// REMB limits the rate that a browser sends.
fn is_made_by_peer(call: &CallConfig, scenario: &Scenario, measure: &Measure) -> bool {
    let is_peer = |host| measure.endpoint_of(scenario.name(host)) == Endpoint::Native(Native::Peer);
    let sends_remb = || {
        let built = call.video.as_ref().and_then(|video| cc::build(&video.controller).ok());
        built
            .and_then(|controllers| controllers.receiver)
            .is_some_and(|receiver| receiver.speaks_remb())
    };
    let peers_send = is_peer(call.from) && (!call.two_way || is_peer(call.to));
    peers_send || (is_peer(call.to) && !call.two_way && sends_remb())
}

/// The encoder of today's Chromium for a call whose encoder in the file is `file`.
fn encoder(file: EncoderConfig, measure: &Measure) -> EncoderConfig {
    let EncoderConfig { codec, source, max_rate, model, ladder, sizes, .. } = file;
    let ladder = LadderConfig { enabled: ladder.enabled, ..LadderConfig::fitted(codec) };
    let model = if codec == Codec::Vp8 { vp8(&model) } else { model };
    let adjusts_bitrate = true;
    EncoderConfig {
        model,
        ladder,
        sizes,
        adjusts_bitrate,
        min_rate: MIN_VIDEO_RATE.min(max_rate),
        ..EncoderConfig::new(codec, measure.source(source), max_rate)
    }
}

/// SCALE_B of Chromium 156's VP8 by rate in kbit/s: the mean deviation that
/// `scripts/chromium-frames` measured on 2026-11-23 (of a Laplace distribution it is the scale).
const CHROMIUM_NOISE: [(u64, f64); 5] =
    [(300, 0.32), (600, 0.27), (1_000, 0.25), (2_000, 0.20), (4_000, 0.23)];

/// The encoder of Chromium 156 for VP8. Its frames vary twice as much as those of the encodes that
/// [`ModelParameters::fitted`] describes. The correlation is the mean of those measured at the same
/// rates: −0.43, −0.34, −0.41, −0.34 and −0.44.
fn vp8(fitted: &ModelParameters) -> ModelParameters {
    let at = |(kbps, noise)| (Bitrate::from_kbps(kbps), noise);
    ModelParameters {
        size_noise: 0.25,
        size_noise_at: CHROMIUM_NOISE.map(at).to_vec(),
        correlation: -0.39,
        ..fitted.clone()
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
                "the file's maximum applies to the page too"
            );
        }
    }

    /// An experiment with a call that has these lines, as today's Chromium makes it.
    fn today(lines: &str) -> Experiment {
        let text = format!(
            "title = \"t\"\nduration = \"9s\"\n[host.a]\n[host.b]\n[call.main]\nfrom = \"a\"\nto = \"b\"\n{lines}\n"
        );
        let today = Experiment::parse(&text, "x.toml").unwrap().as_today().unwrap();
        let again = Experiment::parse(&today.text, "x.toml").unwrap();
        assert!(again.simulates(&today), "its text describes it completely");
        today
    }

    #[test]
    fn keys_that_the_browser_decides_have_no_effect() {
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
    fn a_call_of_a_native_peer_does_not_change() {
        let unchanged = |profile: &str, endpoints: &str| {
            let lines =
                format!("controller = \"{profile}\"\n[measure]\nendpoints = {{ {endpoints} }}");
            today(&lines).controllers().all(|controller| controller == profile)
        };
        assert!(unchanged("gcc:draft-02", "a = \"peer\""));
        assert!(unchanged("gcc:carlucci-2017", "b = \"peer\""), "its REMB limits the browser");
        assert!(
            !unchanged("fixed:1Mbit/s", "b = \"peer\""),
            "a controller without a receiver sends no REMB"
        );
        assert!(!unchanged("gcc:carlucci-2017", "a = \"str0m\""), "its own estimator");
        assert!(unchanged("kilinc-andersson", "a = \"peer\", b = \"peer\""));
    }

    #[test]
    fn an_sfu_of_today_sends_feedback_at_its_own_interval() {
        let today = Experiment::open("jansen-2016/fig8-9").unwrap().as_today().unwrap();
        let calls = today.cells()[0].scenario(Seed(1)).calls;
        let intervals =
            calls.iter().map(|call| call.video.as_ref().unwrap().feedback_interval.as_millis_f64());
        assert_eq!(intervals.collect::<Vec<_>>(), [200.0, 200.0, 62.5, 62.5]);
    }

    #[test]
    fn cells_differ_in_source_and_not_in_controller() {
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
    fn every_built_in_experiment_can_be_run_as_today() {
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
            let known = |controller: &str| controller == TODAY || controller == SCREAM.0;
            assert!(has_peers || today.controllers().all(known), "{name}");
        }
    }
}
