//! `[measure]`: the endpoints and the sources of the calls when the experiment is measured. A
//! simulation ignores the section.

use super::endpoint::{Endpoint, UnknownEndpoint};
use super::files::Files;
use super::traffic::find_host;
use document::{Fault, Reader, read as read_value};
use net::NetworkConfig;
use sim::codec::SourceSize;
use std::path::PathBuf;
use units::Duration;

/// The largest source that is used unless `[measure]` sets another: two cores encode and decode it
/// without becoming the bottleneck.
const MAX_SOURCE: SourceSize = SourceSize { width: 1280, height: 720, fps: 30 };
/// The largest width and height of a source, in pixels; the page's constraints have the same limit.
pub const MAX_SIZE: u32 = 4_096;
/// The highest frame rate of a source, in frames per second.
pub const MAX_FRAME_RATE: u32 = 120;
/// The shortest interval between two calls of `getStats`: browsers answer from a cache that is up
/// to 50 ms old.
const MIN_STATS_INTERVAL: Duration = Duration::from_millis(50);

/// The keys for all hosts and for single hosts, and their former names, which stored experiments
/// have.
const KEYS: [(&str, &str); 2] = [("endpoint", "endpoints"), ("browser", "browsers")];

/// How the calls of a cell are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The endpoint of every host that is not in `endpoints`.
    pub endpoint: Endpoint,
    /// Hosts with another endpoint, by name.
    pub endpoints: Vec<(String, Endpoint)>,
    /// The source's width in pixels; `None`: that of the call.
    pub width: Option<u32>,
    /// The source's height in pixels; `None`: that of the call.
    pub height: Option<u32>,
    /// The source's frames per second; `None`: those of the call.
    pub frame_rate: Option<u32>,
    /// The video file that is sent; `None`: generated video.
    pub video: Option<PathBuf>,
    /// The audio file that is sent; `None`: generated audio.
    pub audio: Option<PathBuf>,
    /// The time between two calls of `getStats`.
    pub stats_interval: Duration,
    /// Whether the pages show the video, which costs a third of a core per call.
    pub render: bool,
}

impl Measure {
    /// The endpoint of the host of this name.
    #[must_use]
    pub fn endpoint_of(&self, host: &str) -> Endpoint {
        self.endpoints
            .iter()
            .find(|(name, _)| name == host)
            .map_or(self.endpoint, |(_, endpoint)| *endpoint)
    }

    /// The source of a call whose simulated source is `modelled`: `[measure]`'s, or else the
    /// simulated one, reduced to at most 1280×720 at 30 frames per second with its aspect ratio
    /// kept.
    #[must_use]
    pub fn source(&self, modelled: SourceSize) -> SourceSize {
        let SourceSize { width, height, fps } = modelled;
        let (most_wide, most_high) = (u64::from(MAX_SOURCE.width), u64::from(MAX_SOURCE.height));
        let (wide, high) = (u64::from(width.max(1)), u64::from(height.max(1)));
        // The side that exceeds its limit more decides. Sides are even, as 4:2:0 sampling needs.
        let fit = |side: u64| {
            let fitted = if wide <= most_wide && high <= most_high {
                side
            } else if wide * most_high >= high * most_wide {
                side * most_wide / wide
            } else {
                side * most_high / high
            };
            u32::try_from(fitted & !1).unwrap_or(MAX_SIZE).max(2)
        };
        SourceSize {
            width: self.width.unwrap_or_else(|| fit(wide)),
            height: self.height.unwrap_or_else(|| fit(high)),
            fps: self.frame_rate.unwrap_or_else(|| fps.clamp(1, MAX_SOURCE.fps)),
        }
    }
}

/// Reads `[measure]`. Every missing key has a default.
pub(super) fn read(
    top: &mut Reader<'_>,
    network: &NetworkConfig,
    sample_interval: Duration,
    files: &Files,
) -> Result<Measure, Fault> {
    let empty = Measure {
        endpoint: Endpoint::default(),
        endpoints: Vec::new(),
        width: None,
        height: None,
        frame_rate: None,
        video: None,
        audio: None,
        stats_interval: sample_interval,
        render: false,
    };
    let Some(node) = top.node("measure") else { return Ok(empty) };
    let mut table = Reader::new(node, "measure")?;
    let file = |table: &mut Reader<'_>, key| {
        Ok(table.optional::<String>(key)?.map(|name| files.path(&name)))
    };
    let stats_interval = table.or("stats_interval", sample_interval)?;
    if stats_interval < MIN_STATS_INTERVAL {
        let reason = format!("{stats_interval} is below {MIN_STATS_INTERVAL}");
        return Err(table.fault("stats_interval", reason, "write a time from 50ms up"));
    }
    if stats_interval > sample_interval {
        let reason = format!("{stats_interval} is longer than sample_interval, {sample_interval}");
        return Err(table.fault("stats_interval", reason, "make sample_interval as long too"));
    }
    let measure = Measure {
        endpoint: endpoint(&mut table)?,
        endpoints: endpoints(&mut table, network)?,
        width: even(&mut table, "width")?,
        height: even(&mut table, "height")?,
        frame_rate: within(&mut table, "frame_rate", MAX_FRAME_RATE)?,
        video: file(&mut table, "video")?,
        audio: file(&mut table, "audio")?,
        stats_interval,
        render: table.or("render", empty.render)?,
    };
    table.finish()?;
    Ok(measure)
}

fn endpoint(table: &mut Reader<'_>) -> Result<Endpoint, Fault> {
    let key = KEYS
        .map(|(one, _)| one)
        .into_iter()
        .find(|key| table.node(key).is_some())
        .unwrap_or(KEYS[0].0);
    let Some(word) = table.optional::<String>(key)? else { return Ok(Endpoint::default()) };
    word.parse().map_err(|error: UnknownEndpoint| table.problem(key, error))
}

/// Reads `[measure.endpoints]`, in which each key is a host.
fn endpoints(
    table: &mut Reader<'_>,
    network: &NetworkConfig,
) -> Result<Vec<(String, Endpoint)>, Fault> {
    let key = KEYS
        .map(|(_, all)| all)
        .into_iter()
        .find(|key| table.node(key).is_some())
        .unwrap_or(KEYS[0].1);
    let path = table.path(key);
    let one = |(host, node)| {
        let path = format!("{path}.{host}");
        let word: String = read_value(node, &path)?;
        let fault = |problem| Fault::of(node.location, path.clone(), problem);
        find_host(network, host).map_err(fault)?;
        let endpoint = word.parse().map_err(|error: UnknownEndpoint| fault(error.into()))?;
        Ok((host.to_owned(), endpoint))
    };
    table.entries(key)?.into_iter().map(one).collect()
}

/// The number under `key`, from 1 to `most`.
fn within(table: &mut Reader<'_>, key: &'static str, most: u32) -> Result<Option<u32>, Fault> {
    let value: Option<u32> = table.optional(key)?;
    match value {
        Some(wrong) if !(1..=most).contains(&wrong) => {
            Err(table.fault(key, format!("{wrong} is out of range"), format!("write 1 to {most}")))
        }
        value => Ok(value),
    }
}

/// A side of the source, which must be even: colours are sampled at half the size (4:2:0).
fn even(table: &mut Reader<'_>, key: &'static str) -> Result<Option<u32>, Fault> {
    match within(table, key, MAX_SIZE)? {
        Some(odd) if odd % 2 == 1 => {
            Err(table.fault(key, format!("{odd} is odd"), "write an even number"))
        }
        value => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Browser, Experiment, ExperimentError, Native};

    const CHROMIUM: Endpoint = Endpoint::Browser(Browser::Chromium);
    const TEXT: &str = r#"
title = "A call"
duration = "60s"
sample_interval = "1s"

[host.alice]

[host.bob]

[call.main]
from = "alice"
to = "bob"
"#;

    fn parse(more: &str) -> Result<Measure, ExperimentError> {
        let experiment = Experiment::parse(&format!("{TEXT}{more}"), "some/x.toml");
        experiment.map(|experiment| experiment.cells()[0].measure().clone())
    }

    #[test]
    fn missing_keys_have_defaults() {
        let measure = parse("").unwrap();
        assert_eq!((measure.endpoint_of("alice"), measure.render), (CHROMIUM, false));
        assert_eq!((measure.stats_interval, measure.video), (Duration::from_secs(1), None));
    }

    #[test]
    fn a_host_may_have_another_endpoint() {
        let text = "[measure]\nvideo = \"film.y4m\"\naudio = \"/sound.wav\"\nstats_interval = \"500ms\"\n[measure.endpoints]\nbob = \"str0m\"\n";
        let measure = parse(text).unwrap();
        assert_eq!(
            (measure.endpoint_of("alice"), measure.endpoint_of("bob")),
            (CHROMIUM, Endpoint::Native(Native::Str0m))
        );
        assert_eq!(measure.video.unwrap(), PathBuf::from("some/film.y4m"));
        assert_eq!(measure.audio.unwrap(), PathBuf::from("/sound.wav"));
        assert_eq!(measure.stats_interval, Duration::from_millis(500));
    }

    #[test]
    fn an_axis_may_vary_what_is_measured() {
        let text = format!("{TEXT}[grid]\n\"measure.endpoint\" = [\"chromium\", \"peer\"]\n");
        let experiment = Experiment::parse(&text, "x.toml").unwrap();
        let endpoints: Vec<_> =
            experiment.cells().iter().map(|cell| cell.measure().endpoint).collect();
        assert_eq!(endpoints, [CHROMIUM, Endpoint::Native(Native::Peer)]);
    }

    #[test]
    fn the_former_key_browser_is_read() {
        let measure =
            parse("[measure]\nbrowser = \"firefox\"\nbrowsers = { bob = \"chromium\" }\n").unwrap();
        assert_eq!(measure.endpoint_of("alice"), Endpoint::Browser(Browser::Firefox));
        assert_eq!(measure.endpoint_of("bob"), CHROMIUM);
    }

    #[test]
    fn a_source_is_reduced_with_its_aspect_ratio() {
        let size = |width, height, fps| SourceSize { width, height, fps };
        let measure = parse("").unwrap();
        for (modelled, source) in [
            (size(1920, 1080, 50), size(1280, 720, 30)),
            (size(704, 576, 25), size(704, 576, 25)),
            (size(1080, 1920, 30), size(404, 720, 30)),
            (size(1280, 720, 60), size(1280, 720, 30)),
        ] {
            assert_eq!(measure.source(modelled), source);
        }
        let own = parse("[measure]\nwidth = 640\nheight = 360\nframe_rate = 50\n").unwrap();
        assert_eq!(own.source(size(1920, 1080, 25)), size(640, 360, 50));
    }

    #[test]
    fn errors_name_the_key_and_a_suggestion() {
        for (line, part) in [
            (
                "endpoint = \"firefx\"",
                "measure.endpoint: there is no endpoint 'firefx'; did you mean firefox?",
            ),
            ("endpoints = { bop = \"firefox\" }", "measure.endpoints.bop: there is no host 'bop'"),
            (
                "endpoints = { bob = \"lynx\" }",
                "measure.endpoints.bob: there is no endpoint 'lynx'; there are chromium, chromium+scream, firefox, peer, rtc, str0m",
            ),
            ("width = 641", "measure.width: 641 is odd; write an even number"),
            ("frame_rate = 0", "measure.frame_rate: 0 is out of range; write 1 to 120"),
            ("stats_interval = \"5ms\"", "measure.stats_interval: 5ms is below 50ms"),
            ("rendr = true", "did you mean render?"),
        ] {
            let error = parse(&format!("[measure]\n{line}\n")).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
