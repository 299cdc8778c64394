//! The plan of a measured run: the browsers of the hosts, and the settings of each endpoint of each
//! call.

use super::feedback::check_feedback;
use super::media::MediaSpec;
use experiment::{Browser, Cell, Endpoint, Measure};
use net::{Dscp, HostId};
use server::signalling::{CallSettings, Priority, Source, VideoSettings};
use sim::codec::{Codec, SourceSize};
use sim::{CallConfig, Scenario};
use std::fmt;

/// A host with a browser.
#[derive(Clone, Debug)]
pub(super) struct BrowserHost {
    pub(super) host: HostId,
    pub(super) name: String,
    pub(super) browser: Browser,
    /// Its picture and sound; `None` if it sends no media.
    pub(super) media: Option<MediaSpec>,
}

/// A call, and the settings of its two endpoints, the caller first.
#[derive(Clone, Debug)]
pub(super) struct PlannedCall {
    pub(super) config: CallConfig,
    pub(super) settings: [CallSettings; 2],
    /// `None` for a forwarding unit.
    pub(super) endpoints: [Option<Endpoint>; 2],
}

/// Why the calls of an experiment cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The controller of a call cannot be built.
    #[error(transparent)]
    Controller(#[from] cc::BuildError),
    /// The receiver half of a controller sends feedback that the sender does not understand.
    #[error(
        "call.{call}.controller: only a native peer understands the feedback of the receiver half \
         of {profile}; use the endpoint \"peer\" at both ends, or another controller"
    )]
    ReceiverHalf {
        /// The call.
        call: String,
        /// The controller's profile.
        profile: String,
    },
}

/// A DSCP that browsers do not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{medium} is not marked: browsers do not use DSCP {}; they use {}",
    .mark.0, .medium.code_points()
)]
struct UnsupportedMark {
    medium: Medium,
    mark: Dscp,
}

/// The plan of a run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) browser_hosts: Vec<BrowserHost>,
    pub(super) calls: Vec<PlannedCall>,
    /// Parts of the experiment that browsers do not support, one sentence each.
    pub(super) warnings: Vec<String>,
}

impl Plan {
    /// Plans the calls of a cell.
    ///
    /// # Errors
    /// When the endpoints of a call would not understand each other's feedback.
    pub(super) fn new(cell: &Cell, scenario: &Scenario) -> Result<Self, PlanError> {
        let measure = cell.measure();
        let mut plan = Self { browser_hosts: Vec::new(), calls: Vec::new(), warnings: Vec::new() };
        for config in &scenario.calls {
            let ends = [config.from, config.to];
            // A forwarding unit has no endpoint of its own.
            let endpoints = ends.map(|host| {
                (config.unit() != Some(host)).then(|| measure.endpoint_of(scenario.name(host)))
            });
            let settings = [0, 1].map(|end| {
                let (host, sends) = (ends[end], end == 0 || config.two_way);
                let Some(endpoint) = endpoints[end] else { return CallSettings::default() };
                if let Endpoint::Browser(browser) = endpoint {
                    plan.add_browser(
                        host,
                        scenario.name(host),
                        browser,
                        sends.then_some(config),
                        measure,
                    );
                }
                settings(config, sends, endpoint, measure)
            });
            check_feedback(config, endpoints)?;
            plan.warn(config, endpoints);
            plan.calls.push(PlannedCall { config: config.clone(), settings, endpoints });
        }
        plan.share_film();
        Ok(plan)
    }

    /// Adds the browser of a host, with a picture that is large enough for the call that it sends.
    fn add_browser(
        &mut self,
        host: HostId,
        name: &str,
        browser: Browser,
        sends: Option<&CallConfig>,
        measure: &Measure,
    ) {
        let found = self.browser_hosts.iter().position(|browser_host| browser_host.host == host);
        let index = found.unwrap_or_else(|| {
            self.browser_hosts.push(BrowserHost {
                host,
                name: name.to_owned(),
                browser,
                media: None,
            });
            self.browser_hosts.len() - 1
        });
        let Some(call) = sends else { return };
        let wanted = spec(call, measure);
        let media = &mut self.browser_hosts[index].media;
        *media = Some(media.take().map_or(wanted.clone(), |media| larger(media, &wanted)));
    }

    /// All Firefox browsers share one film: the largest that one of them needs.
    fn share_film(&mut self) {
        let films = self
            .browser_hosts
            .iter()
            .filter(|browser_host| browser_host.browser == Browser::Firefox);
        let Some(film) = films
            .filter_map(|browser_host| browser_host.media.clone())
            .reduce(|one, other| larger(one, &other))
        else {
            return;
        };
        for browser_host in self
            .browser_hosts
            .iter_mut()
            .filter(|browser_host| browser_host.browser == Browser::Firefox)
        {
            browser_host.media = browser_host.media.take().map(|_| film.clone());
        }
    }

    /// The highest frame rate that an endpoint sends, frames/s.
    pub(super) fn frame_rate(&self) -> f64 {
        let videos = self
            .calls
            .iter()
            .flat_map(|call| &call.settings)
            .filter_map(|page| page.video.as_ref());
        videos.map(|video| f64::from(video.frame_rate)).fold(0.0, f64::max)
    }

    fn warn(&mut self, call: &CallConfig, endpoints: [Option<Endpoint>; 2]) {
        let is_native = |endpoint: &Option<Endpoint>| matches!(endpoint, Some(Endpoint::Native(_)));
        if call.video.as_ref().is_some_and(|video| video.ideal_feedback) {
            let reason = "feedback crosses the network; ideal feedback exists only in simulations";
            self.warnings.push(format!("{}: {reason}", call.name));
        }
        if !call.pauses.is_empty() {
            let reason = "media does not pause; pauses exist only in simulations";
            self.warnings.push(format!("{}: {reason}", call.name));
        }
        if call.audio.is_some()
            && call.dscp.audio != call.dscp.video
            && endpoints.iter().any(is_native)
        {
            let reason = "a native peer uses the DSCP of video for audio too";
            self.warnings.push(format!("{}: {reason}", call.name));
        }
        if !endpoints.iter().any(|endpoint| matches!(endpoint, Some(Endpoint::Browser(_)))) {
            return;
        }
        for (medium, mark) in [(Medium::Audio, call.dscp.audio), (Medium::Video, call.dscp.video)] {
            if let Err(error) = priority(medium, mark) {
                self.warnings.push(format!("{}: {error}", call.name));
            }
        }
    }
}

/// A picture with the larger size and frame rate of both.
fn larger(one: MediaSpec, other: &MediaSpec) -> MediaSpec {
    MediaSpec {
        width: one.width.max(other.width),
        height: one.height.max(other.height),
        frame_rate: one.frame_rate.max(other.frame_rate),
        ..one
    }
}

/// The picture and sound for a call.
fn spec(call: &CallConfig, measure: &Measure) -> MediaSpec {
    // A call without video has a small picture that is not shown.
    let none = SourceSize { width: 320, height: 180, fps: 15 };
    let modelled = call.video.as_ref().map_or(none, |video| video.encoder.source);
    let size = measure.source(modelled);
    MediaSpec {
        width: size.width,
        height: size.height,
        frame_rate: size.fps,
        video: measure.video.clone(),
        audio: measure.audio.clone(),
    }
}

/// The settings of one endpoint.
fn settings(call: &CallConfig, sends: bool, endpoint: Endpoint, measure: &Measure) -> CallSettings {
    let video = call.video.as_ref().map(|video| {
        let size = measure.source(video.encoder.source);
        VideoSettings {
            width: size.width,
            height: size.height,
            frame_rate: size.fps,
            codec: (video.encoder.codec != Codec::Csv).then(|| video.encoder.codec.to_string()),
            max_bitrate: Some(video.encoder.max_rate.as_bps()),
            priority: priority(Medium::Video, call.dscp.video).unwrap_or_default(),
        }
    });
    CallSettings {
        sends,
        audio: call.audio.is_some(),
        video,
        audio_priority: priority(Medium::Audio, call.dscp.audio).unwrap_or_default(),
        // The camera of Firefox cannot be fed from a file.
        source: if endpoint == Endpoint::Browser(Browser::Firefox) {
            Source::Film
        } else {
            Source::Devices
        },
        ice_servers: Vec::new(),
        relay: false,
        render: measure.render,
        ims: None,
        stats_interval: u32::try_from(measure.stats_interval.as_millis_f64() as u64)
            .unwrap_or(u32::MAX),
    }
}

/// The kind of media in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    Audio,
    Video,
}

impl Medium {
    /// The code points that browsers use for it, besides 0.
    fn code_points(self) -> &'static str {
        match self {
            Self::Audio => "ef and cs1",
            Self::Video => "af41, af42 and cs1",
        }
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Audio => "audio",
            Self::Video => "video",
        })
    }
}

/// The priority at which a browser sets this DSCP (RFC 8837, section 5, as in Chromium 156).
fn priority(medium: Medium, mark: Dscp) -> Result<Option<Priority>, UnsupportedMark> {
    const AF42: Dscp = Dscp(36);
    const CS1: Dscp = Dscp(8);
    match (medium, mark) {
        (_, Dscp::DEFAULT) => Ok(None),
        (_, CS1) => Ok(Some(Priority::VeryLow)),
        (Medium::Audio, Dscp::EF) | (Medium::Video, Dscp::AF41) => Ok(Some(Priority::High)),
        (Medium::Video, AF42) => Ok(Some(Priority::Medium)),
        (medium, mark) => Err(UnsupportedMark { medium, mark }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Experiment;
    use units::Seed;

    const TEXT: &str = r#"
title = "Calls"
duration = "60s"

[host.alice]

[host.bob]

[host.carol]

[call.main]
from = "alice"
to = "bob"
audio = true
dscp = { audio = "ef", video = "af41" }
video = { width = 1920, height = 1080, fps = 50, codec = "vp9", max_rate = "2Mbit/s" }

[call.small]
from = "carol"
to = "alice"
two_way = true
video = { width = 640, height = 360 }
"#;

    fn plan(more: &str) -> Plan {
        let experiment = Experiment::parse(&format!("{TEXT}{more}"), "x.toml").unwrap();
        let cell = &experiment.cells()[0];
        Plan::new(cell, &cell.scenario(Seed(1))).unwrap()
    }

    #[test]
    fn a_host_has_one_browser_with_a_picture_for_its_largest_call() {
        let plan = plan("");
        let seats: Vec<_> = plan
            .browser_hosts
            .iter()
            .map(|browser_host| {
                (browser_host.name.as_str(), browser_host.media.as_ref().map(|media| media.width))
            })
            .collect();
        assert_eq!(seats, [("alice", Some(1280)), ("bob", None), ("carol", Some(640))]);
        assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
    }

    #[test]
    fn pages_get_the_settings_of_the_file() {
        let calls = plan("").calls;
        let [caller, callee] = &calls[0].settings;
        let video = caller.video.as_ref().unwrap();
        assert_eq!((video.width, video.height, video.frame_rate), (1280, 720, 30));
        assert_eq!((video.codec.as_deref(), video.max_bitrate), (Some("vp9"), Some(2_000_000)));
        assert_eq!(
            (caller.audio_priority, video.priority),
            (Some(Priority::High), Some(Priority::High))
        );
        assert!(caller.sends && !callee.sends && caller.audio && !caller.render);
        let [one, other] = &calls[1].settings;
        assert!(one.sends && other.sends && !one.audio);
        assert_eq!(one.video.as_ref().unwrap().priority, None);
    }

    #[test]
    fn firefox_plays_a_film_instead_of_a_camera() {
        let plan = plan("[measure.endpoints]\nbob = \"firefox\"\n");
        let [caller, callee] = &plan.calls[0].settings;
        assert_eq!((caller.source, callee.source), (Source::Devices, Source::Film));
    }

    #[test]
    fn a_dscp_that_no_browser_sets_is_a_warning() {
        let warnings = plan("").warnings.len();
        let text = TEXT.replace("video = \"af41\"", "video = \"af33\"");
        let experiment = Experiment::parse(&text, "x.toml").unwrap();
        let cell = &experiment.cells()[0];
        let plan = Plan::new(cell, &cell.scenario(Seed(1))).unwrap();
        assert_eq!((warnings, plan.warnings.len()), (0, 1));
        assert!(plan.warnings[0].starts_with("main: video is not marked"), "{:?}", plan.warnings);
        assert_eq!(plan.calls[0].settings[0].video.as_ref().unwrap().priority, None);
    }

    #[test]
    fn ideal_feedback_is_a_warning() {
        let text = TEXT.replace("audio = true", "feedback = \"ideal\"");
        let experiment = Experiment::parse(&text, "x.toml").unwrap();
        let cell = &experiment.cells()[0];
        let warnings = Plan::new(cell, &cell.scenario(Seed(1))).unwrap().warnings;
        assert!(
            warnings.iter().any(|warning| warning.starts_with("main: feedback crosses")),
            "{warnings:?}"
        );
    }
}
