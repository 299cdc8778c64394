use super::MetricError;
use super::input::Input;
use units::Duration;

/// How long a receiver is silent before what it was sent is taken for lost: well above any round
/// trip and queue here. Ours.
pub const SILENCE: Duration = Duration::from_secs(2);

/// A retransmission that is lost is not counted, nor one that is sent. A receiver sees a loss by
/// the packet after it; what was sent since nothing came any more counts as lost too.
pub(super) fn loss(input: &Input<'_>) -> Result<f64, MetricError> {
    let (mut lost, mut sent) = (0.0, 0.0);
    for stream in &input.streams {
        let media = |input: &Input<'_>| -> Result<f64, MetricError> {
            let retransmitted = input.growth_or_zero(stream, "retransmittedPacketsSent");
            let parity = input.growth_or_zero(stream, "fecPacketsSent");
            Ok(input.growth(stream, "packetsSent")? - retransmitted - parity)
        };
        lost += input.growth(stream, "packetsLost")?;
        sent += media(input)?;
        let silent = input.since_last_step(stream, "packetsReceived");
        if silent.seconds() >= SILENCE.as_secs_f64() {
            lost += media(&silent)?;
        }
    }
    Ok(lost.max(0.0) / sent)
}

pub(super) fn loss_peak(input: &Input<'_>) -> Result<f64, MetricError> {
    Ok(input.points("fractionLost")?.into_iter().fold(0.0, f64::max))
}

pub(super) fn overuse_count(input: &Input<'_>) -> Result<f64, MetricError> {
    grown(input, "controller.overuse_count")
}

pub(super) fn freeze_count(input: &Input<'_>) -> Result<f64, MetricError> {
    grown(input, "freezeCount")
}

pub(super) fn freeze_time(input: &Input<'_>) -> Result<f64, MetricError> {
    grown(input, "totalFreezesDuration")
}

/// The mean over the streams.
pub(super) fn freeze_share(input: &Input<'_>) -> Result<f64, MetricError> {
    let mut shares = Vec::with_capacity(input.streams.len());
    for stream in &input.streams {
        let silent = input.since_last_step(stream, "framesDecoded").seconds();
        let stands = if silent >= SILENCE.as_secs_f64() { silent } else { 0.0 };
        let frozen = input.growth(stream, "totalFreezesDuration")? + stands;
        shares.push((frozen / input.seconds()).min(1.0));
    }
    Ok(super::mean(&shares))
}

fn grown(input: &Input<'_>, counter: &str) -> Result<f64, MetricError> {
    input.streams.iter().map(|stream| input.growth(stream, counter)).sum()
}

pub(super) fn fps(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    input.values("framesPerSecond")
}

pub(super) fn width(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    input.values("frameWidth")
}

pub(super) fn height(input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
    input.values("frameHeight")
}
