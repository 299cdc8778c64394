//! What a run was like, for the call and for what was beside it.

use super::score::delay_factor;
use super::situation::{Measure, Section, Situation};
use metrics::{MetricError, Request, SILENCE, mean};
use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};
use sim::tcp::TcpApplication;
use sim::{CallConfig, VideoConfig};
use units::Time;

/// A run, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The call that is to live.
    pub call: Call,
    /// What was beside it, in the order of [`Situation::beside`].
    pub beside: Vec<Others>,
    /// From the end of the traffic beside it until the call was back at 80 % of its rate (metric
    /// `recovery_time`), seconds; infinite if it never was, not-a-number where nothing ended.
    pub recovery_time: f64,
    /// Jain's index of the video and TCP rates, at each sample while two or more are there;
    /// not-a-number if there never are.
    pub jain: f64,
}

/// The calls of a section, together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// What a decoder could use of what was received (metric `goodput`), bit/s, as a mean over its
    /// videos and the time that they are planned to last.
    pub goodput: f64,
    /// 95th percentile of the time from capture to decodable (metric `frame_delay_p95`), seconds,
    /// of the video that fares worst; infinite if a video had no frame.
    pub frame_delay_p95: f64,
    /// The share of the time in which the picture stood.
    pub freeze_share: f64,
    /// What its videos take at most, bit/s, as a mean.
    pub wanted_rate: f64,
    /// What of the rate is of use, bit/s: each video's rate times what its frames' delay leaves
    /// ([`delay_factor`]) and what does not stand, as a mean.
    pub useful_rate: f64,
}

/// Traffic beside the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// What is measured of it.
    pub measure: Measure,
    /// What is shown, by its measure: bit/s received of a call or a flow without end, seconds else;
    /// infinite if it was not complete, or nothing came.
    pub shown: f64,
    /// How well it went, the more the better: bit/s, pages a second, or of a voice the share that
    /// is of use.
    pub speed: f64,
}

impl Judgement {
    /// Judges a run of a situation, with or without a remedy.
    ///
    /// # Errors
    /// When a record that it needs is not there.
    pub fn of(situation: &Situation, recording: &Recording) -> Result<Self, MetricError> {
        let call = call(situation, &situation.call, recording)?;
        let mut beside = Vec::with_capacity(situation.beside.len());
        for other in &situation.beside {
            // Not there when the call is alone.
            let names = names(situation, &other.section, other.measure);
            if names.iter().any(|name| !recording.streams.iter().any(|stream| stream.name == *name))
            {
                continue;
            }
            beside.push(match other.measure {
                Measure::Call => {
                    let call = self::call(situation, &other.section, recording)?;
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

/// The names of the video records of a call, or of the audio's if it has no video.
fn media(call: &CallConfig) -> Vec<String> {
    let kind = if call.video.is_some() { "video" } else { "audio" };
    let forward = format!("{}.{kind}", call.name);
    if call.two_way { vec![forward.clone(), forward + ".back"] } else { vec![forward] }
}

/// The names of a section's records.
fn names(situation: &Situation, section: &Section, measure: Measure) -> Vec<String> {
    if measure.is_call() {
        return situation.calls(section).flat_map(media).collect();
    }
    section
        .members
        .iter()
        .map(|place| format!("{}.tcp", situation.scenario.tcp[*place].name))
        .collect()
}

fn metric(name: &str, streams: &[&str]) -> Result<Request, MetricError> {
    Request::new(name, streams, None)
}

/// The calls of a section.
fn call(
    situation: &Situation,
    section: &Section,
    recording: &Recording,
) -> Result<Call, MetricError> {
    let mut videos = Vec::new();
    for config in situation.calls(section) {
        let Some(encoded) = &config.video else { continue };
        for name in media(config) {
            videos.push(video(encoded, &name, (config.start, config.stop), recording)?);
        }
    }
    let of = |value: fn(&Call) -> f64| mean(&videos.iter().map(value).collect::<Vec<_>>());
    Ok(Call {
        goodput: of(|video| video.goodput),
        frame_delay_p95: videos.iter().map(|video| video.frame_delay_p95).fold(0.0, f64::max),
        freeze_share: of(|video| video.freeze_share),
        wanted_rate: of(|video| video.wanted_rate),
        useful_rate: of(|video| video.useful_rate),
    })
}

/// One video over the time that it is planned to last.
fn video(
    video: &VideoConfig,
    name: &str,
    (from, to): (Time, Time),
    recording: &Recording,
) -> Result<Call, MetricError> {
    let of = |metric_name| metric(metric_name, &[name])?.between(from, to).compute(recording);
    let (goodput, freeze_share) = (of("goodput")?, of("freeze_share")?);
    let frame_delay_p95 = or_never(of("frame_delay_p95")?);
    let wanted_rate = video.encoder.max_rate.min(video.controller.max_rate).as_bps_f64();
    let useful_rate = goodput * delay_factor(frame_delay_p95) * (1.0 - freeze_share);
    Ok(Call { goodput, frame_delay_p95, freeze_share, wanted_rate, useful_rate })
}

/// The voices of a section, each over the time that it is planned to last. What is of use of a
/// voice is what arrives of its packets, times what their delay leaves ([`delay_factor`]): its rate
/// is the codec's.
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

/// Until when a voice was heard, and what share that is of its planned time: all of it, unless
/// nothing came for longer before its end than a picture may stand there ([`SILENCE`]). `None` if
/// nothing came at all.
fn heard(config: &CallConfig, name: &str, recording: &Recording) -> Option<(Time, f64)> {
    let stream = recording.streams.iter().find(|stream| stream.name == name)?;
    let (last, _) = *stream.points("frameDelay")?.last()?;
    if config.stop.saturating_since(last) <= SILENCE {
        return Some((config.stop, 1.0));
    }
    let planned = config.stop.saturating_since(config.start);
    Some((last, last.saturating_since(config.start).as_secs_f64() / planned.as_secs_f64()))
}

/// A delay of what never came is infinite.
fn or_never(delay: f64) -> f64 {
    if delay.is_nan() { f64::INFINITY } else { delay }
}

/// The flows of a section, each over the time that it was there.
fn flows(
    measure: Measure,
    situation: &Situation,
    section: &Section,
    recording: &Recording,
) -> Result<Others, MetricError> {
    let names = names(situation, section, measure);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut rate = 0.0;
    for name in &names {
        rate += metric("received_rate", &[name])?.compute(recording)?;
    }
    let time = |name| Ok(or_never(metric(name, &names)?.compute(recording)?));
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

/// How long a reader waited for a page, seconds, with the one that was still on its way at the end,
/// which the pages that came do not tell of: the time that the session was there, less the mean
/// time of reading those, over one page more.
fn page_wait(
    situation: &Situation,
    section: &Section,
    recording: &Recording,
) -> Result<f64, MetricError> {
    let mut waits = Vec::with_capacity(section.members.len());
    for flow in section.members.iter().map(|place| &situation.scenario.tcp[*place]) {
        let TcpApplication::Pages(pages) = flow.application else { continue };
        let name = format!("{}.tcp", flow.name);
        let stream = recording.streams.iter().find(|stream| stream.name == name);
        let Some(stream) = stream else {
            return Err(MetricError::UnknownStream { name, known: Vec::new() });
        };
        let came = stream.points("pageLoadTime").map_or(0, <[_]>::len) as f64;
        let there = stream.active.1.saturating_since(stream.active.0).as_secs_f64();
        let reading = (pages.reading.0 + pages.reading.1).as_secs_f64() / 2.0;
        waits.push(((there - came * reading) / (came + 1.0)).max(0.0));
    }
    Ok(mean(&waits))
}

/// The longest that a video of the call took after a flow had ended.
fn recovery_time(situation: &Situation, recording: &Recording) -> Result<f64, MetricError> {
    let flows = situation.beside.iter().filter(|beside| !beside.measure.is_call());
    let mut longest = f64::NAN;
    for beside in flows {
        let names = names(situation, &beside.section, beside.measure);
        let streams = recording.streams.iter().filter(|stream| names.contains(&stream.name));
        // The traffic is over when the last of them is.
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

/// While two or more streams are there: one alone is always fair.
fn jain(recording: &Recording) -> Result<f64, MetricError> {
    let counts =
        |stream: &&StreamRecord| matches!(stream.kind, StreamKind::Video | StreamKind::Tcp);
    let streams: Vec<&StreamRecord> = recording.streams.iter().filter(counts).collect();
    let (mut starts, mut ends): (Vec<Time>, Vec<Time>) =
        streams.iter().map(|stream| stream.active).unzip();
    starts.sort_unstable();
    ends.sort_unstable();
    let (Some(from), Some(to)) =
        (starts.get(1), ends.len().checked_sub(2).map(|place| ends[place]))
    else {
        return Ok(f64::NAN);
    };
    if to <= *from {
        return Ok(f64::NAN);
    }
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    metric("jain", &names)?.between(*from, to).compute(recording)
}
