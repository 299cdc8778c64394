use super::MetricError;
use super::input::Input;

/// A retransmission that is lost is not counted, nor one that is sent.
pub(super) fn loss(input: &Input<'_>) -> Result<f64, MetricError> {
    let (mut lost, mut sent) = (0.0, 0.0);
    for stream in &input.streams {
        lost += input.growth(stream, "packetsLost")?;
        sent +=
            input.growth(stream, "packetsSent")? - input.growth_or_zero(stream, "retransmittedPacketsSent");
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
