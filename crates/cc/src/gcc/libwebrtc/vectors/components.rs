//! Components alone.

use super::super::aimd::Aimd;
use super::super::alr::AlrDetector;
use super::super::inter_arrival::InterArrival;
use super::super::loss_based::LossBased;
use super::super::overuse::OveruseDetector;
use super::super::probe_controller::{LimitCause, ProbeController};
use super::super::robust_throughput::RobustThroughput;
use super::super::rounding::whole_millis;
use super::super::trendline::Trendline;
use super::super::{LibwebrtcConfig, Signal};
use super::trace::{aimd, signal, state};
use super::*;
use crate::{PacketResult, SentPacket};

/// Replays a component. `input` handles an input row; `output` gives a column of an output row.
fn replay<T>(
    name: &str,
    component: &mut T,
    input: impl Fn(&mut T, char, &[String]),
    output: impl Fn(&T, &str) -> Option<f64>,
) {
    let vectors = Vectors::read(name);
    let mut comparison = Comparison::new(name);
    for (index, (kind, fields)) in vectors.rows.iter().enumerate() {
        let Some(columns) = vectors.columns.get(kind) else {
            input(component, *kind, fields);
            continue;
        };
        comparison.rows += 1;
        // The sizes of groups are not used by the trend line and not computed here.
        let columns = columns.iter().zip(fields).filter(|(column, _)| *column != "size_delta");
        for (column, expected) in columns {
            let got = output(component, column);
            comparison.value(column, &format!("row {index}"), number(expected), got);
        }
    }
    comparison.finish().unwrap();
}

/// A packet of the form `send:arrival:size`. Sending times are unique.
fn result(text: &str) -> PacketResult {
    let fields: Vec<_> = text.split(':').collect();
    let (sent, size) = (time(fields[0]), size(fields[2]));
    let packet = SentPacket { sequence: sent.as_micros(), sent, size, probe: None };
    PacketResult { packet, arrival: optional(fields[1], time), ecn: crate::Ecn::NotEct }
}

#[test]
fn the_throughput_agrees() {
    let mut robust = RobustThroughput::new(&LibwebrtcConfig::default());
    let input = |robust: &mut RobustThroughput, _, fields: &[String]| {
        for packet in fields[0].split(' ').filter(|text| !text.is_empty()) {
            let result = result(packet);
            let arrival = result.arrival.unwrap();
            robust.on_packet(result.packet.sent, arrival, result.packet.size);
        }
        robust.on_feedback_end();
    };
    replay("component-throughput.csv.gz", &mut robust, input, |robust, _| bps(robust.rate()));
}

#[test]
fn the_rate_control_agrees() {
    let config = LibwebrtcConfig::default();
    let mut control = (Aimd::new(&config, Bitrate::ZERO, Bitrate::ZERO), false);
    let input = |(control, in_alr): &mut (Aimd, bool), kind, fields: &[String]| match kind {
        'C' => *control = Aimd::new(&config, rate(&fields[0]), rate(&fields[1])),
        'T' => control.on_rtt(span(&fields[0])),
        'A' => *in_alr = fields[0] == "1",
        'E' => control.set_rate(time(&fields[0]), rate(&fields[1])),
        'U' => {
            let signal = match fields[1].as_str() {
                "1" => Signal::Overuse { excess: 0.0 },
                "-1" => Signal::Underuse,
                _ => Signal::Normal,
            };
            control.update(time(&fields[0]), signal, optional(&fields[2], rate), *in_alr);
        }
        other => panic!("unknown row {other}"),
    };
    replay("component-aimd.csv.gz", &mut control, input, |(control, _), column| {
        Some(match column {
            "rate" => control.rate().as_bps_f64(),
            "valid" => 1.0,
            "aimd" => aimd(control.state()),
            "link_capacity" => return bps(control.capacity()),
            _ => control.additive_slope().as_bps_f64(),
        })
    });
}

#[test]
fn the_loss_based_estimator_agrees() {
    for name in ["component-loss.csv.gz", "component-loss-10.csv.gz"] {
        let bounds = (Bitrate::from_kbps(5), Bitrate::from_mbps(1000));
        let loss = LossBased::new(&LibwebrtcConfig::default(), bounds);
        let mut loss = (loss, None);
        let input = |(loss, acknowledged): &mut (LossBased, _), kind, fields: &[String]| match kind
        {
            'M' => loss.set_bounds((rate(&fields[0]), rate(&fields[1]))),
            'W' => loss.set_estimate(rate(&fields[0])),
            'K' => *acknowledged = Some(rate(&fields[0])),
            'U' => {
                let results: Vec<_> = fields[2].split(' ').map(result).collect();
                loss.update(&results, *acknowledged, Some(rate(&fields[0])), fields[1] == "1");
            }
            other => panic!("unknown row {other}"),
        };
        replay(name, &mut loss, input, |(loss, _), column| {
            Some(match column {
                "estimate" => loss.rate().map_or(loss.delay_based(), Bitrate::as_bps_f64),
                "state" => loss.rate().map_or(0.0, |_| state(loss.state())),
                "inherent_loss" => loss.inherent_loss(),
                "average_loss" => loss.average_loss(),
                _ => f64::from(u8::from(loss.rate().is_some())),
            })
        });
    }
}

#[test]
fn the_application_limited_region_agrees() {
    let mut alr = AlrDetector::new(&LibwebrtcConfig::default());
    let input = |alr: &mut AlrDetector, kind, fields: &[String]| match kind {
        'E' => alr.set_estimate(rate(&fields[0])),
        _ => {
            let (sent, size) = (time(&fields[0]), size(&fields[1]));
            alr.on_sent(&SentPacket { sequence: 0, sent, size, probe: None });
        }
    };
    replay("component-alr.csv.gz", &mut alr, input, |alr, column| match column {
        "start" => alr.since().map(|since| since.as_micros() as f64),
        _ => Some(alr.level()),
    });
}

/// Groups, trend and detector, and the newest delta.
struct Trend {
    groups: InterArrival,
    line: Trendline,
    detector: OveruseDetector,
    delta: (f64, f64),
}

#[test]
fn the_trend_agrees() {
    let config = LibwebrtcConfig::default();
    for name in ["component-trend.csv.gz", "component-trend-lte.csv.gz"] {
        let mut trend = Trend {
            groups: InterArrival::new(&config),
            line: Trendline::new(&config),
            detector: OveruseDetector::new(&config),
            delta: (0.0, 0.0),
        };
        let input = |trend: &mut Trend, _, fields: &[String]| {
            let (sent, arrival) = (time(&fields[0]), time(&fields[1]));
            if let Some(delta) = trend.groups.on_packet(sent, arrival, time(&fields[3])) {
                let micros = |delta: units::TimeDelta| delta.as_nanos() as f64 / 1e3;
                trend.delta = (micros(delta.sent), micros(delta.arrival));
                let arrival = whole_millis(arrival);
                let newest = trend.line.update(&delta, arrival);
                trend.detector.detect(&newest, &delta, arrival);
            }
        };
        replay(name, &mut trend, input, |trend, column| {
            Some(match column {
                "send_delta" => trend.delta.0,
                "arrival_delta" => trend.delta.1,
                "trend" => return trend.line.compared(),
                "slope" => trend.line.trend().slope,
                "threshold" => trend.detector.threshold(),
                _ => signal(trend.detector.state()),
            })
        });
    }
}

#[test]
fn the_probe_controller_agrees() {
    let vectors = Vectors::read("component-probe.csv.gz");
    let mut comparison = Comparison::new("component-probe.csv.gz");
    let config =
        LibwebrtcConfig { alr_interval: Duration::from_secs(5), ..LibwebrtcConfig::default() };
    let mut probes = ProbeController::new(&config);
    let (mut asked, mut compared) = (Vec::new(), 0);
    for (kind, fields) in &vectors.rows {
        if *kind == 'Q' {
            let got: Option<&crate::ProbeCluster> = asked.get(compared);
            compared += 1;
            let mut value = |column, expected: &str, got: Option<f64>| {
                comparison.value(column, &fields[0], number(expected), got);
            };
            value("id", &fields[1], got.map(|cluster| f64::from(cluster.id)));
            value("rate", &fields[2], got.map(|cluster| cluster.rate.as_bps_f64()));
            continue;
        }
        let (expected, got) = (compared as f64, asked.len() as f64);
        comparison.value("probes", &fields[0], Some(expected * 1e6), Some(got * 1e6));
        probe_input(&mut probes, *kind, fields);
        asked.extend(probes.take_fresh().into_iter().flatten());
    }
    comparison.finish().unwrap();
}

fn probe_input(probes: &mut ProbeController, kind: char, fields: &[String]) {
    let now = || time(&fields[0]);
    match kind {
        'N' => {}
        'C' => {
            let max = optional(&fields[3], rate).unwrap_or(Bitrate::MAX);
            probes.set_rates(Some(now()), rate(&fields[2]), max);
        }
        'L' => probes.set_periodic(fields[0] == "1"),
        'A' => probes.set_allocated(now(), rate(&fields[1])),
        'S' => probes.set_alr(optional(&fields[0], time)),
        'X' => probes.on_alr_ended(now()),
        'E' => {
            let cause = [
                LimitCause::LossIncreasing,
                LimitCause::Loss,
                LimitCause::Delay,
                LimitCause::DelayChanges,
                LimitCause::RoundTripTime,
            ];
            let cause = cause[usize::try_from(integer(&fields[2])).unwrap()];
            probes.set_estimate(now(), rate(&fields[1]), cause);
        }
        'R' => probes.on_recovered(now()),
        'P' => probes.process(now()),
        other => panic!("unknown row {other}"),
    }
}
