//! The quality of a run for the call and for the other traffic.

use super::score::{MIN_RATE, delay_factor};
use super::situation::{Beside, Measure, Section, Situation};
use metrics::{MetricError, Request, SILENCE, mean};
use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};
use sim::tcp::TcpApplication;
use sim::{CallConfig, VideoConfig};
use units::{Duration, Time};

/// The quality of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The judged call.
    pub call: Call,
    /// The other traffic, in the order of [`Situation::beside`].
    pub beside: Vec<Others>,
    /// The time from the end of the other traffic until the call has 80 % of its rate again (metric
    /// `recovery_time`), seconds. Infinite if the call never has; not-a-number if no traffic ends.
    pub recovery_time: f64,
    /// Jain's index of the video and TCP rates while two or more of them are active; not-a-number
    /// if there are never two.
    pub jain: f64,
}

/// The calls of a section together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The rate of decodable frames (metric `goodput`), bit/s: the mean over the videos and the
    /// time in which other traffic shares the network.
    pub goodput: f64,
    /// The 95th percentile of the time from capture to decodability (metric `frame_delay_p95`),
    /// seconds, of the worst video; infinite if a video has no frame.
    pub frame_delay_p95: f64,
    /// The share of the time in which the picture is frozen.
    pub freeze_share: f64,
    /// The mean of the maximum rates of the videos, bit/s.
    pub wanted_rate: f64,
    /// The useful rate, bit/s: the geometric mean over the videos of goodput × [`delay_factor`] ×
    /// (1 − freeze share), because a conversation needs both directions. A video counts as at least
    /// [`MIN_RATE`].
    pub useful_rate: f64,
}

/// The other traffic of a section.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// The measured quantity.
    pub measure: Measure,
    /// The value that is shown: bit/s for a call or an unlimited flow, otherwise seconds. Infinite
    /// if the transfer is not complete, or nothing arrives.
    pub shown: f64,
    /// The speed, where more is better: bit/s, pages per second, or the useful share of a voice.
    pub speed: f64,
}

/// The least time that is judged. It keeps a short transfer from deciding by a single frame. Our
/// choice: as long as a call of today needs to find its rate.
const LEAST: Duration = Duration::from_secs(10);

/// The time in which the call and other traffic share the network: from the beginning of the first
/// other traffic to the end of the last, as it was in the run. The rates of this time do not depend
/// on how long the file lets the call go on alone.
#[derive(Clone, Copy)]
struct Shared {
    from: Time,
    to: Time,
}

impl Shared {
    fn of(situation: &Situation, recording: &Recording) -> Self {
        let streams = |beside: &Beside| names(situation, &beside.section, beside.measure);
        let others: Vec<String> = situation.beside.iter().flat_map(streams).collect();
        let active = recording.streams.iter().filter(|stream| others.contains(&stream.name));
        let (starts, ends): (Vec<Time>, Vec<Time>) = active.map(|stream| stream.active).unzip();
        let planned = situation.beside.iter().filter_map(|beside| begins(situation, beside));
        // The run with the call alone lacks these streams: its call is judged from when they begin
        // in the other runs.
        let from = starts.into_iter().min().or(planned.min()).unwrap_or(Time::ZERO);
        Self { from, to: ends.into_iter().max().unwrap_or(Time::MAX).max(from + LEAST) }
    }

    /// The part of a call that lies in this time; the whole call if none does.
    fn part(self, call: &CallConfig) -> (Time, Time) {
        let (from, to) = (self.from.max(call.start), self.to.min(call.stop));
        if from < to { (from, to) } else { (call.start, call.stop) }
    }
}

/// When the first flow or call of a section begins.
fn begins(situation: &Situation, beside: &Beside) -> Option<Time> {
    let members = beside.section.members.iter();
    let begins = |index: &usize| match beside.measure.is_call() {
        true => situation.scenario.calls[*index].start,
        false => situation.scenario.tcp[*index].start,
    };
    members.map(begins).min()
}

impl Judgement {
    /// Judges a run of a situation, with or without a remedy.
    ///
    /// # Errors
    /// If a required record is missing.
    pub fn of(situation: &Situation, recording: &Recording) -> Result<Self, MetricError> {
        let shared = Shared::of(situation, recording);
        let call = call(situation, &situation.call, shared, recording)?;
        let mut beside = Vec::with_capacity(situation.beside.len());
        for other in &situation.beside {
            // The run with the call alone lacks these streams.
            let names = names(situation, &other.section, other.measure);
            if names.iter().any(|name| !recording.streams.iter().any(|stream| stream.name == *name))
            {
                continue;
            }
            beside.push(match other.measure {
                Measure::Call => {
                    let call = self::call(situation, &other.section, shared, recording)?;
                    Others { measure: Measure::Call, shown: call.goodput, speed: call.useful_rate }
                }
                Measure::Voice => voices(situation, &other.section, recording)?,
                measure => flows(measure, situation, &other.section, recording)?,
            });
        }
        let recovery_time = recovery_time(situation, recording)?;
        Ok(Self { call, beside, recovery_time, jain: jain(recording)? })
    }
}

/// The names of the video records of a call, or of its audio records if it has no video.
fn media(call: &CallConfig) -> Vec<String> {
    let kind = if call.video.is_some() { "video" } else { "audio" };
    let forward = format!("{}.{kind}", call.name);
    if call.two_way { vec![forward.clone(), forward + ".back"] } else { vec![forward] }
}

/// The names of the records of a section.
fn names(situation: &Situation, section: &Section, measure: Measure) -> Vec<String> {
    if measure.is_call() {
        return situation.calls(section).flat_map(media).collect();
    }
    section
        .members
        .iter()
        .map(|index| format!("{}.tcp", situation.scenario.tcp[*index].name))
        .collect()
}

fn metric(name: &str, streams: &[&str]) -> Result<Request, MetricError> {
    Request::new(name, streams, None)
}

/// The calls of a section.
fn call(
    situation: &Situation,
    section: &Section,
    shared: Shared,
    recording: &Recording,
) -> Result<Call, MetricError> {
    let mut videos = Vec::new();
    for config in situation.calls(section) {
        let Some(encoded) = &config.video else { continue };
        for name in media(config) {
            videos.push(video(encoded, &name, shared.part(config), recording)?);
        }
    }
    let of = |value: fn(&Call) -> f64| mean(&videos.iter().map(value).collect::<Vec<_>>());
    Ok(Call {
        goodput: of(|video| video.goodput),
        frame_delay_p95: videos.iter().map(|video| video.frame_delay_p95).fold(0.0, f64::max),
        freeze_share: of(|video| video.freeze_share),
        wanted_rate: of(|video| video.wanted_rate),
        useful_rate: libm::exp(of(|video| libm::log(video.useful_rate.max(MIN_RATE)))),
    })
}

/// One video between two times.
fn video(
    video: &VideoConfig,
    name: &str,
    (from, to): (Time, Time),
    recording: &Recording,
) -> Result<Call, MetricError> {
    let of = |metric_name| metric(metric_name, &[name])?.between(from, to).compute(recording);
    let (goodput, freeze_share) = (of("goodput")?, of("freeze_share")?);
    let frame_delay_p95 = infinite_if_missing(of("frame_delay_p95")?);
    let wanted_rate = video.encoder.max_rate.min(video.controller.max_rate).as_bps_f64();
    let useful_rate = goodput * delay_factor(frame_delay_p95) * (1.0 - freeze_share);
    Ok(Call { goodput, frame_delay_p95, freeze_share, wanted_rate, useful_rate })
}

/// The voices of a section, each over its planned duration. The useful share of a voice is the
/// share of its packets that arrive, times [`delay_factor`], because the codec sets its rate.
fn voices(
    situation: &Situation,
    section: &Section,
    recording: &Recording,
) -> Result<Others, MetricError> {
    let (mut delays, mut shares) = (Vec::new(), Vec::new());
    for config in situation.calls(section) {
        for name in media(config) {
            let Some((until, heard)) = heard(config, &name, recording) else {
                delays.push(f64::INFINITY);
                shares.push(0.0);
                continue;
            };
            let of = |name_of| {
                metric(name_of, &[&name])?.between(config.start, until).compute(recording)
            };
            let (delay, loss) = (of("frame_delay_p95")?, of("loss")?);
            delays.push(if heard < 1.0 { f64::INFINITY } else { delay });
            shares.push(heard * (1.0 - loss) * delay_factor(delay));
        }
    }
    Ok(Others {
        measure: Measure::Voice,
        shown: delays.into_iter().fold(0.0, f64::max),
        speed: mean(&shares),
    })
}

/// The time until which a voice is received, and its share of the planned duration. The share is 1
/// unless no packet arrives in the last [`SILENCE`] of the planned duration. `None` if no packet
/// arrives at all.
fn heard(config: &CallConfig, name: &str, recording: &Recording) -> Option<(Time, f64)> {
    let stream = recording.streams.iter().find(|stream| stream.name == name)?;
    let (last, _) = *stream.points("frameDelay")?.last()?;
    if config.stop.saturating_since(last) <= SILENCE {
        return Some((config.stop, 1.0));
    }
    let planned = config.stop.saturating_since(config.start);
    Some((last, last.saturating_since(config.start).as_secs_f64() / planned.as_secs_f64()))
}

/// The delay; infinite if nothing arrived and the delay is not-a-number.
fn infinite_if_missing(delay: f64) -> f64 {
    if delay.is_nan() { f64::INFINITY } else { delay }
}

/// The flows of a section, each while it is active and the judged call too.
fn flows(
    measure: Measure,
    situation: &Situation,
    section: &Section,
    recording: &Recording,
) -> Result<Others, MetricError> {
    let names = names(situation, section, measure);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rate = 0.0;
    let calls = situation.calls(&situation.call);
    let until = calls.map(|call| call.stop).max().unwrap_or(Time::MAX);
    let streams = recording.streams.iter().filter(|stream| names.contains(&stream.name.as_str()));
    for StreamRecord { name, active: (from, to), .. } in streams {
        // A flow that begins after the call keeps its whole time.
        let to = if until > *from { until.min(*to) } else { *to };
        let request = metric("received_rate", &[name])?.between(*from, to);
        rate += request.compute(recording)?;
    }
    let time = |name| Ok(infinite_if_missing(metric(name, &names)?.compute(recording)?));
    Ok(match measure {
        Measure::CompletionTime => Others { measure, shown: time("completion_time")?, speed: rate },
        Measure::PageLoadTime => {
            let shown = time("page_load_time_mean")?;
            let waited = page_wait(situation, section, recording)?;
            let wait = if shown.is_finite() { shown.max(waited) } else { waited };
            Others { measure, shown, speed: 1.0 / wait }
        }
        Measure::Call | Measure::Voice | Measure::Rate => {
            Others { measure, shown: rate, speed: rate }
        }
    })
}

/// The mean time that a reader waits for a page, seconds, including the page that is not complete
/// at the end: (duration of the session − pages × mean reading time) / (pages + 1).
fn page_wait(
    situation: &Situation,
    section: &Section,
    recording: &Recording,
) -> Result<f64, MetricError> {
    let mut waits = Vec::with_capacity(section.members.len());
    for flow in section.members.iter().map(|index| &situation.scenario.tcp[*index]) {
        let TcpApplication::Pages(pages) = flow.application else { continue };
        let name = format!("{}.tcp", flow.name);
        let stream = recording.streams.iter().find(|stream| stream.name == name);
        let Some(stream) = stream else {
            return Err(MetricError::UnknownStream { name, known: Vec::new() });
        };
        let pages_loaded = stream.points("pageLoadTime").map_or(0, <[_]>::len) as f64;
        let active = stream.active.1.saturating_since(stream.active.0).as_secs_f64();
        let reading = pages.reading.mean().as_secs_f64();
        waits.push(((active - pages_loaded * reading) / (pages_loaded + 1.0)).max(0.0));
    }
    Ok(mean(&waits))
}

/// The longest recovery time of a video of the call after a flow ends.
fn recovery_time(situation: &Situation, recording: &Recording) -> Result<f64, MetricError> {
    let flows = situation.beside.iter().filter(|beside| !beside.measure.is_call());
    let mut longest = f64::NAN;
    for beside in flows {
        let names = names(situation, &beside.section, beside.measure);
        let streams = recording.streams.iter().filter(|stream| names.contains(&stream.name));
        // The traffic of a section ends with its last flow.
        let Some(flow) = streams.max_by_key(|stream| stream.active.1).map(|stream| &stream.name)
        else {
            continue;
        };
        for config in situation.calls(&situation.call).filter(|call| call.video.is_some()) {
            let (from, to) = (config.start, config.stop);
            for video in media(config) {
                let time = metric("recovery_time", &[&video, flow])?
                    .between(from, to)
                    .compute(recording)?;
                longest = longest.max(time);
            }
        }
    }
    Ok(longest)
}

/// Jain's index while two or more streams are active. A single stream is always fair.
fn jain(recording: &Recording) -> Result<f64, MetricError> {
    let counts =
        |stream: &&StreamRecord| matches!(stream.kind, StreamKind::Video | StreamKind::Tcp);
    let streams: Vec<&StreamRecord> = recording.streams.iter().filter(counts).collect();
    let (mut starts, mut ends): (Vec<Time>, Vec<Time>) =
        streams.iter().map(|stream| stream.active).unzip();
    starts.sort_unstable();
    ends.sort_unstable();
    let (Some(from), Some(to)) =
        (starts.get(1), ends.len().checked_sub(2).map(|index| ends[index]))
    else {
        return Ok(f64::NAN);
    };
    if to <= *from {
        return Ok(f64::NAN);
    }
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    metric("jain", &names)?.between(*from, to).compute(recording)
}
