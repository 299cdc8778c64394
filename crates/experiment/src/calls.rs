use super::TODAY;
use super::audio;
use super::conferences::{self, CallSection};
use super::files::Files;
use super::name::check_name;
use super::traffic;
use super::values::positive;
use crate::controllers::ControllerError;
use cc::ControllerConfig;
use document::{Fault, Node, Reader, Table, Value, read as read_value};
use net::{HostId, NetworkConfig};
use sim::codec::{Codec, EncoderConfig, FrameSizes, LadderSteps, ModelParameters, SourceSize};
use sim::{CallConfig, Estimate, Fec, Marks, VideoConfig};
use std::sync::Arc;
use units::{Bitrate, Duration, Time};

/// libwebrtc `call/rtp_transport_controller_send.cc`, `kDefaultStartBitrate`. The experiments of
/// all papers start at this rate.
const START_RATE: Bitrate = Bitrate::from_kbps(300);
/// libwebrtc `goog_cc/send_side_bandwidth_estimation.cc`: `kCongestionControllerMinBitrate`,
/// `kDefaultMaxBitrate`.
const MIN_RATE: Bitrate = Bitrate::from_kbps(5);
const MAX_RATE: Bitrate = Bitrate::from_mbps(1_000);
/// libwebrtc `video/config/encoder_stream_factory.cc`, `GetMaxDefaultVideoBitrateKbps`, for 720p
/// and above.
const MAX_VIDEO_RATE: Bitrate = Bitrate::from_kbps(2_500);
/// libwebrtc `modules/rtp_rtcp/source/rtcp_sender.cc`, `kDefaultVideoReportInterval`.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// libwebrtc `modules/remote_bitrate_estimator/transport_sequence_number_feedback_generator.cc`.
const FEEDBACK_INTERVAL: Duration = Duration::from_millis(100);
/// The largest width and height in pixels and the highest frame rate that are modelled: 8K at 240
/// frames per second.
const MAX_SIZE: u32 = 8_192;
const MAX_FPS: u32 = 240;

/// The video of a call with this encoder and the default of every other key.
pub(super) fn default_video(encoder: EncoderConfig) -> VideoConfig {
    let controller = ControllerConfig {
        profile: TODAY.to_owned(),
        settings: Vec::new(),
        start_rate: START_RATE,
        min_rate: MIN_RATE,
        max_rate: MAX_RATE,
    };
    VideoConfig {
        encoder,
        controller,
        burst_time: None,
        nack: true,
        circuit_breaker: false,
        fec: Fec::Off,
        estimate: Estimate::default(),
        report_interval: REPORT_INTERVAL,
        feedback_interval: FEEDBACK_INTERVAL,
        ideal_feedback: false,
    }
}

/// The calls of a document, those of conferences last, and the path of each call's section. Missing
/// keys are taken from `[defaults.call]`.
pub(super) fn read(
    top: &mut Reader<'_>,
    defaults: &Table,
    network: &NetworkConfig,
    duration: Duration,
    files: &Files,
) -> Result<(Vec<CallConfig>, Vec<String>), Fault> {
    let mut sections = Vec::new();
    for (name, node) in top.entries("call")? {
        let path = format!("call.{name}");
        check_name(node.location, &path, name)?;
        sections.push(CallSection { name: name.to_owned(), path, node: node.clone(), sfu: None });
    }
    sections.extend(conferences::read(top, network)?);
    let paths = sections.iter().map(|section| section.path.clone()).collect();
    let mut calls: Vec<CallConfig> = Vec::new();
    for mut section in sections {
        let CallSection { name, path, .. } = &section;
        if calls.iter().any(|call| call.name == *name) {
            let reason = format!("there are two calls '{name}'");
            return Err(Fault::new(section.node.location, path, reason, "give one another name"));
        }
        if let Value::Table(table) = &mut section.node.value {
            table.merge_defaults(defaults);
        }
        calls.push(CallReader { section: &section, network, duration, files }.read()?);
    }
    Ok((calls, paths))
}

struct CallReader<'a> {
    section: &'a CallSection,
    network: &'a NetworkConfig,
    duration: Duration,
    files: &'a Files,
}

impl CallReader<'_> {
    fn read(&self) -> Result<CallConfig, Fault> {
        let CallSection { name, path, node, sfu } = self.section;
        let mut table = Reader::new(node, path)?;
        let (from, to) = traffic::from_and_to(&mut table, self.network, "call")?;
        let relay = self.relay(&mut table, [from, to])?;
        let (start, stop) = traffic::start_and_stop(&mut table, self.duration, "call")?;
        let pauses = pauses(&mut table)?;
        let two_way = table.or("two_way", false)?;
        let dscp = marks(&mut table)?;
        let media_timeout = table.optional::<Duration>("media_timeout")?;
        at_least_a_millisecond(&table, "media_timeout", media_timeout.unwrap_or(Duration::MAX))?;
        let audio = audio::read(&mut table)?;
        let video = self.video(&mut table)?;
        table.finish()?;
        if audio.is_none() && video.is_none() {
            let reason = "the call has neither audio nor video";
            return Err(Fault::new(node.location, path, reason, "add one of them"));
        }
        Ok(CallConfig {
            name: name.clone(),
            from,
            to,
            relay,
            start,
            stop,
            pauses,
            two_way,
            dscp,
            media_timeout,
            video,
            audio,
            sfu: sfu.clone(),
        })
    }

    /// The host under `relay`, which must not be an end of the call.
    fn relay(&self, table: &mut Reader<'_>, ends: [HostId; 2]) -> Result<Option<HostId>, Fault> {
        let Some(wanted) = table.optional::<String>("relay")? else { return Ok(None) };
        let relay = traffic::find_host(self.network, &wanted)
            .map_err(|problem| table.problem("relay", problem))?;
        if ends.contains(&relay) {
            let reason = format!("'{wanted}' is an end of the call");
            return Err(table.fault("relay", reason, "name a host between them, or add one"));
        }
        Ok(Some(relay))
    }

    fn video(&self, table: &mut Reader<'_>) -> Result<Option<VideoConfig>, Fault> {
        let inner = switch(table, "video")?;
        let controller = controller(table)?;
        let burst_time = table.optional::<Duration>("burst_time")?;
        let nack = table.or("nack", true)?;
        let circuit_breaker = table.or("circuit_breaker", false)?;
        let fec = fec(table)?;
        let estimate = estimate(table)?;
        let report_interval = table.or("report_interval", REPORT_INTERVAL)?;
        let feedback_interval = table.or("feedback_interval", FEEDBACK_INTERVAL)?;
        let ideal_feedback = ideal_feedback(table)?;
        positive(table, "burst_time", burst_time != Some(Duration::ZERO))?;
        at_least_a_millisecond(table, "report_interval", report_interval)?;
        at_least_a_millisecond(table, "feedback_interval", feedback_interval)?;
        let empty = Node { value: Value::Table(Table::default()), location: table.location() };
        let node = match inner {
            Some(Switch::None) => return Ok(None),
            Some(Switch::Table(node)) => node,
            Some(Switch::Default) | None => &empty,
        };
        let encoder = self.encoder(node, &table.path("video"))?;
        Ok(Some(VideoConfig {
            encoder,
            controller,
            burst_time,
            nack,
            circuit_breaker,
            fec,
            estimate,
            report_interval,
            feedback_interval,
            ideal_feedback,
        }))
    }

    fn encoder(&self, node: &Node, path: &str) -> Result<EncoderConfig, Fault> {
        let mut table = Reader::new(node, path)?;
        let source = SourceSize {
            width: within(&mut table, "width", 1280, MAX_SIZE)?,
            height: within(&mut table, "height", 720, MAX_SIZE)?,
            fps: within(&mut table, "fps", 30, MAX_FPS)?,
        };
        let max_rate = table.or("max_rate", MAX_VIDEO_RATE)?;
        positive(&table, "max_rate", max_rate > Bitrate::ZERO)?;
        let sizes = self.frame_sizes(&mut table)?;
        let default = if sizes.is_some() { "csv" } else { "vp8" };
        let codec = table.or("codec", default.to_owned())?.parse::<Codec>();
        let codec = codec.map_err(|error| table.fault("codec", error.to_string(), ""))?;
        if (codec == Codec::Csv) != sizes.is_some() {
            let reason =
                "codec csv needs a file of frame sizes under frames, and the file needs codec csv";
            return Err(table.fault("codec", reason, "write both, or neither"));
        }
        let mut encoder = EncoderConfig { sizes, ..EncoderConfig::new(codec, source, max_rate) };
        encoder.min_rate = table.or("min_rate", encoder.min_rate)?;
        if encoder.min_rate > max_rate {
            let reason = format!("{} is above max_rate, {max_rate}", encoder.min_rate);
            return Err(table.fault("min_rate", reason, "write a lower rate"));
        }
        match table.or("model", "fitted".to_owned())?.as_str() {
            "fitted" => {}
            "rfc8593" => encoder.model = ModelParameters::rfc8593(),
            other => {
                return Err(table.fault(
                    "model",
                    format!("there is no model '{other}'"),
                    "write fitted or rfc8593",
                ));
            }
        }
        match table.optional::<String>("ladder")?.as_deref() {
            None => {}
            Some("none") => encoder.ladder.enabled = false,
            Some("alternating") => encoder.ladder.steps = LadderSteps::Alternating,
            Some("halves") => encoder.ladder.steps = LadderSteps::Halves,
            Some(other) => {
                let suggestion = "write alternating, halves or none";
                return Err(table.fault(
                    "ladder",
                    format!("there is no ladder '{other}'"),
                    suggestion,
                ));
            }
        }
        table.finish()?;
        Ok(encoder)
    }

    fn frame_sizes(&self, table: &mut Reader<'_>) -> Result<Option<Arc<FrameSizes>>, Fault> {
        let Some(name) = table.optional::<String>("frames")? else { return Ok(None) };
        let fault = |reason: String| table.fault("frames", reason, "");
        let text = self.files.text(&name).map_err(|error| fault(error.to_string()))?;
        FrameSizes::parse(&text)
            .map(Arc::new)
            .map(Some)
            .map_err(|error| fault(format!("{name}: {error}")))
    }
}

/// The pauses under `pauses`, in order of time: begin and end of each.
fn pauses(table: &mut Reader<'_>) -> Result<Vec<(Time, Time)>, Fault> {
    let path = table.path("pauses");
    let mut pauses: Vec<(Time, Time)> = Vec::new();
    for node in table.items("pauses")?.unwrap_or_default() {
        let ends = match &node.value {
            Value::List(ends) => ends.as_slice(),
            _ => &[],
        };
        let [begin, end] = ends else {
            let reason = format!("{} where begin and end of a pause belong", node.value.what());
            return Err(table.fault("pauses", reason, "write for example [[\"40s\", \"60s\"]]"));
        };
        let (begin, end): (Time, Time) = (read_value(begin, &path)?, read_value(end, &path)?);
        if end <= begin || pauses.last().is_some_and(|(_, before)| begin < *before) {
            let reason = format!("{begin} to {end} is not after the times before");
            return Err(table.fault("pauses", reason, "put all times in order"));
        }
        pauses.push((begin, end));
    }
    Ok(pauses)
}

/// The marks under `dscp`: one mark for audio and video, or a table with one for each.
pub(super) fn marks(table: &mut Reader<'_>) -> Result<Marks, Fault> {
    let path = table.path("dscp");
    let Some(node @ Node { value: Value::Table(_), .. }) = table.node("dscp") else {
        let mark = traffic::dscp(table, "dscp")?;
        return Ok(Marks { audio: mark, video: mark });
    };
    let mut inner = Reader::new(node, &path)?;
    let marks = Marks {
        audio: traffic::dscp(&mut inner, "audio")?,
        video: traffic::dscp(&mut inner, "video")?,
    };
    inner.finish()?;
    Ok(marks)
}

/// The value of a key that is `true`, `false` or a table.
pub(super) enum Switch<'a> {
    /// `false`.
    None,
    /// `true`.
    Default,
    /// A table.
    Table(&'a Node),
}

pub(super) fn switch<'a>(
    table: &mut Reader<'a>,
    key: &'static str,
) -> Result<Option<Switch<'a>>, Fault> {
    Ok(match table.node(key) {
        None => None,
        Some(Node { value: Value::Bool(false), .. }) => Some(Switch::None),
        Some(Node { value: Value::Bool(true), .. }) => Some(Switch::Default),
        Some(node) if matches!(node.value, Value::Table(_)) => Some(Switch::Table(node)),
        Some(node) => {
            let reason = format!("{} where true, false or a table belongs", node.value.what());
            return Err(table.fault(key, reason, ""));
        }
    })
}

fn controller(table: &mut Reader<'_>) -> Result<ControllerConfig, Fault> {
    let config = ControllerConfig {
        profile: table.or("controller", TODAY.to_owned())?,
        settings: settings(table)?,
        start_rate: table.or("start_rate", START_RATE)?,
        min_rate: table.or("min_rate", MIN_RATE)?,
        max_rate: table.or("max_rate", MAX_RATE)?,
    };
    positive(table, "start_rate", config.start_rate > Bitrate::ZERO)?;
    match cc::check(&config) {
        Ok(()) => Ok(config),
        Err(error) => {
            let error = ControllerError::of(&config.profile, error);
            Err(table.problem(error.key(), error))
        }
    }
}

fn fec(table: &mut Reader<'_>) -> Result<Fec, Fault> {
    match table.or("fec", "off".to_owned())?.as_str() {
        "off" => Ok(Fec::Off),
        "hybrid" => Ok(Fec::Hybrid),
        other => {
            let reason = format!("there is no error correction '{other}'");
            Err(table.fault("fec", reason, "write hybrid or off"))
        }
    }
}

fn estimate(table: &mut Reader<'_>) -> Result<Estimate, Fault> {
    match table.or("estimate", "video".to_owned())?.as_str() {
        "video" => Ok(Estimate::Video),
        "transport" => Ok(Estimate::Transport),
        other => Err(table.fault(
            "estimate",
            format!("there is no estimate '{other}'"),
            "write video or transport",
        )),
    }
}

fn ideal_feedback(table: &mut Reader<'_>) -> Result<bool, Fault> {
    match table.or("feedback", "rtcp".to_owned())?.as_str() {
        "rtcp" => Ok(false),
        "ideal" => Ok(true),
        other => {
            let reason = format!("there is no feedback '{other}'");
            Err(table.fault("feedback", reason, "write rtcp or ideal"))
        }
    }
}

/// The settings of a controller: names with dots and nested tables mean the same.
fn settings(table: &mut Reader<'_>) -> Result<Vec<(String, String)>, Fault> {
    let mut settings = Vec::new();
    let path = table.path("settings");
    for (name, node) in table.entries("settings")? {
        flatten(name, node, &path, &mut settings)?;
    }
    Ok(settings)
}

fn flatten(
    name: &str,
    node: &Node,
    path: &str,
    settings: &mut Vec<(String, String)>,
) -> Result<(), Fault> {
    let text = match &node.value {
        Value::Table(table) => {
            return table.iter().try_for_each(|(key, inner)| {
                flatten(&format!("{name}.{key}"), inner, path, settings)
            });
        }
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::List(_) => return read_value::<String>(node, &format!("{path}.{name}")).map(drop),
    };
    settings.push((name.to_owned(), text));
    Ok(())
}

/// The number under `key`, from 1 to `most`.
fn within(
    table: &mut Reader<'_>,
    key: &'static str,
    default: u32,
    most: u32,
) -> Result<u32, Fault> {
    let value = table.or(key, default)?;
    if (1..=most).contains(&value) {
        Ok(value)
    } else {
        Err(table.fault(key, format!("{value} is out of range"), format!("write 1 to {most}")))
    }
}

/// Refuses an interval below 1 ms, which is probably a typo and would take very long to simulate.
pub(super) fn at_least_a_millisecond(
    table: &Reader<'_>,
    key: &str,
    interval: Duration,
) -> Result<(), Fault> {
    if interval >= Duration::from_millis(1) {
        return Ok(());
    }
    Err(table.fault(key, format!("{interval} is below 1ms"), "write a time from 1ms up"))
}
