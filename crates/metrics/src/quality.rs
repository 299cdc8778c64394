use super::MetricError;
use super::input::Input;
use units::Duration;

/// When nothing has arrived for this long, the packets sent since then count as lost. Our choice:
/// well above any round-trip time and queuing delay of an experiment.
pub const SILENCE: Duration = Duration::from_secs(2);

/// Retransmissions and parity packets are not counted, neither as sent nor as lost. A receiver
/// detects a loss by the packet after it; packets sent after the last arrival count as lost if
/// nothing arrived for [`SILENCE`].
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
    growth(input, "controller.overuse_count")
}

pub(super) fn freeze_count(input: &Input<'_>) -> Result<f64, MetricError> {
    growth(input, "freezeCount")
}

pub(super) fn freeze_time(input: &Input<'_>) -> Result<f64, MetricError> {
    growth(input, "totalFreezesDuration")
}

/// The packets that left with ECT(1): those that arrived with it or with a mark.
pub(super) fn ect1_share(input: &Input<'_>) -> Result<f64, MetricError> {
    let marked = growth(input, "packetsReceivedWithCe")?;
    Ok((growth(input, "packetsReceivedWithEct1")? + marked) / growth(input, "packetsReceived")?)
}

pub(super) fn ce_share(input: &Input<'_>) -> Result<f64, MetricError> {
    Ok(growth(input, "packetsReceivedWithCe")? / growth(input, "packetsReceived")?)
}

pub(super) fn feedback_overhead(input: &Input<'_>) -> Result<f64, MetricError> {
    let below = sim::wire::UDP_IPV4_OVERHEAD.get() as f64;
    let rtcp = growth(input, "rtcpBytesSent")? + below * growth(input, "rtcpPacketsSent")?;
    let headers = growth(input, "headerBytesReceived")? + below * growth(input, "packetsReceived")?;
    Ok(rtcp / (growth(input, "bytesReceived")? + headers))
}

/// The mean of the streams' shares.
pub(super) fn freeze_share(input: &Input<'_>) -> Result<f64, MetricError> {
    let mut shares = Vec::with_capacity(input.streams.len());
    for stream in &input.streams {
        let silent = input.since_last_step(stream, "framesDecoded").seconds();
        let stalled = if silent >= SILENCE.as_secs_f64() { silent } else { 0.0 };
        let frozen = input.growth(stream, "totalFreezesDuration")? + stalled;
        shares.push((frozen / input.seconds()).min(1.0));
    }
    Ok(super::mean(&shares))
}

fn growth(input: &Input<'_>, counter: &str) -> Result<f64, MetricError> {
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
