//! Metrics against values computed by hand.

use super::*;
use sim::Recording;
use sim::recording::{Column, Points, StreamKind, StreamRecord};
use units::{Duration, Time};

fn secs(seconds: u64) -> Time {
    Time::from_secs(seconds)
}

fn video(
    name: &str,
    columns: &[(&'static str, &[f64])],
    points: &[(&'static str, &[f64])],
) -> StreamRecord {
    let point = |(index, value): (usize, &f64)| (secs(index as u64 + 1), *value);
    StreamRecord {
        name: name.to_owned(),
        kind: StreamKind::Video,
        active: (Time::ZERO, secs(columns.first().map_or(4, |(_, values)| values.len()) as u64)),
        columns: columns
            .iter()
            .map(|(name, values)| Column { name, values: values.to_vec() })
            .collect(),
        points: points
            .iter()
            .map(|(name, values)| Points {
                name,
                values: values.iter().enumerate().map(point).collect(),
            })
            .collect(),
    }
}

/// One sample per second.
fn recording(streams: Vec<StreamRecord>) -> Recording {
    let length = streams.iter().map(|stream| stream.active.1).max().unwrap();
    let duration = Duration::from_nanos(length.as_nanos());
    Recording { interval: Duration::from_secs(1), duration, streams, events: Vec::new() }
}

fn line(name: &str, columns: &[(&'static str, &[f64])]) -> StreamRecord {
    StreamRecord { kind: StreamKind::Line, ..video(name, columns, &[]) }
}

fn compute(metric: &str, recording: &Recording, window: Option<(u64, u64)>) -> f64 {
    let request = Request::new(metric, &["*.video"], Some("a.up")).unwrap();
    let request = match window {
        Some((from, to)) => request.between(secs(from), secs(to)),
        None => request,
    };
    request.compute(recording).unwrap()
}

fn of_streams(metric: &str, recording: &Recording) -> f64 {
    Request::new(metric, &["*.video"], None).unwrap().compute(recording).unwrap()
}

#[test]
fn percentiles_are_those_of_type_7() {
    let samples = [1.0, 2.0, 3.0, 4.0];
    assert_eq!(percentile(&samples, 50.0), 2.5);
    assert_eq!(percentile(&samples, 25.0), 1.75);
    assert!((percentile(&samples, 95.0) - 3.85).abs() < 1e-12);
    assert_eq!((percentile(&samples, 0.0), percentile(&samples, 100.0)), (1.0, 4.0));
    assert_eq!(percentile(&[7.0], 95.0), 7.0);
    assert!(percentile(&[], 50.0).is_nan());
    assert!(
        (deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]) - (32.0f64 / 7.0).sqrt()).abs()
            < 1e-12
    );
}

#[test]
fn jain_is_one_for_equal_shares_and_one_nth_for_one_stream_alone() {
    assert_eq!(jain_index(&[3.0, 3.0, 3.0]), 1.0);
    assert_eq!(jain_index(&[5.0, 0.0, 0.0, 0.0]), 0.25);
    assert!(jain_index(&[0.0, 0.0]).is_nan());
}

#[test]
fn utilization_uses_the_capacity_at_the_beginning_of_each_interval() {
    // 100, 100, 300, 300 bytes per second; the capacity goes from 1000 to 4000 bit/s at 2 s.
    let media = video(
        "m.video",
        &[
            ("bytesReceived", &[90.0, 180.0, 450.0, 720.0]),
            ("headerBytesReceived", &[10.0, 20.0, 50.0, 80.0]),
        ],
        &[],
    );
    let run = recording(vec![media, line("a.up", &[("rate", &[1000.0, 4000.0, 4000.0, 4000.0])])]);
    assert_eq!(compute("received_rate", &run, None), 1600.0);
    assert_eq!(compute("media_rate", &run, None), 1440.0);
    assert_eq!(compute("utilization", &run, None), 1600.0 / 2500.0);
    assert_eq!(compute("utilization", &run, Some((0, 2))), 0.8);
    assert_eq!(compute("utilization", &run, Some((2, 4))), 0.6);
    assert_eq!(compute("received_rate_max", &run, None), 2400.0);
    assert_eq!(compute("received_rate_std", &run, Some((2, 4))), 0.0);
}

#[test]
fn loss_does_not_count_retransmissions_and_parity() {
    let counters: [(&str, &[f64]); 4] = [
        ("packetsSent", &[10.0, 25.0, 35.0, 47.0]),
        ("fecPacketsSent", &[0.0, 0.0, 0.0, 2.0]),
        ("retransmittedPacketsSent", &[0.0, 5.0, 5.0, 5.0]),
        ("packetsLost", &[0.0, 5.0, 5.0, 6.0]),
    ];
    let run =
        recording(vec![video("m.video", &counters, &[("fractionLost", &[0.0, 0.5, 0.0, 0.1])])]);
    let request =
        |from, to| Request::new("loss", &["m.video"], None).unwrap().between(secs(from), secs(to));
    assert_eq!(request(0, 4).compute(&run), Ok(6.0 / 40.0));
    assert_eq!(request(1, 2).compute(&run), Ok(0.5));
    assert_eq!(request(2, 3).compute(&run), Ok(0.0));
    let dead: [(&str, &[f64]); 3] = [
        ("packetsSent", &[10.0, 20.0, 30.0, 40.0]),
        ("packetsReceived", &[9.0, 9.0, 9.0, 9.0]),
        ("packetsLost", &[1.0, 1.0, 1.0, 1.0]),
    ];
    let dead = recording(vec![video("m.video", &dead, &[])]);
    assert_eq!(
        request(0, 4).compute(&dead),
        Ok(31.0 / 40.0),
        "packets sent after the last arrival are lost"
    );
    assert_eq!(request(1, 4).compute(&dead), Ok(1.0));
    let peak = Request::new("loss_peak", &["m.video"], None).unwrap();
    assert_eq!(peak.compute(&run), Ok(0.5));
    assert_eq!(peak.between(secs(2), secs(4)).compute(&run), Ok(0.1));
}

#[test]
fn queuing_delay_is_relative_to_the_minimum_rtt_of_the_whole_run() {
    let rtt: &[f64] = &[0.050, 0.060, 0.080, 0.070];
    let run = recording(vec![
        video("m.video", &[], &[("roundTripTime", rtt)]),
        line("a.up", &[("queueDelay", &[0.0, 0.1, 0.3, 0.2])]),
    ]);
    let close = |metric, window, expected: f64| {
        let value = compute(metric, &run, window);
        assert!((value - expected).abs() < 1e-12, "{metric}: {value}");
    };
    close("rtt_mean", None, 0.065);
    close("rtt_median", None, 0.065);
    close("queuing_delay_max", None, 0.030);
    close("queuing_delay_min", Some((2, 4)), 0.020);
    close("true_queue_delay_median", None, 0.15);
}

#[test]
fn audio_has_frame_delays_as_video_has() {
    let audio =
        |name: &str, points| StreamRecord { kind: StreamKind::Audio, ..video(name, &[], points) };
    let run = recording(vec![
        video("m.video", &[], &[("frameDelay", &[0.1, 0.2, 0.3, 0.4])]),
        audio("m.audio", &[("frameDelay", &[0.01, 0.02, 0.06, 0.03])]),
        audio("browser.audio", &[]),
    ]);
    let of = |metric: &str, stream: &str| Request::new(metric, &[stream], None).unwrap();
    let value = |metric, stream| of(metric, stream).compute(&run).unwrap();
    assert_eq!(value("frame_delay_mean", "m.audio"), 0.03);
    assert_eq!(value("frame_delay_max", "m.audio"), 0.06);
    assert_eq!(
        of("frame_delay_median", "m.audio").between(secs(1), secs(4)).compute(&run),
        Ok(0.03)
    );
    assert_eq!(value("frame_delay_max", "m.*"), 0.4, "of both streams if both are named");
    assert_eq!(value("frame_delay_max", "*.video"), 0.4);
    // A browser does not report frame delays.
    let error = of("frame_delay_mean", "browser.audio").compute(&run).unwrap_err().to_string();
    assert_eq!(error, "frame_delay_mean: browser.audio has no frameDelay");
    let p95 = |stream: usize| {
        let summary = summary(&run);
        summary[stream].values.iter().find(|(name, ..)| *name == "frame_delay_p95").unwrap().2
    };
    assert!((p95(1) - 0.0555).abs() < 1e-12 && p95(2).is_nan(), "{} and {}", p95(1), p95(2));
}

#[test]
fn fairness_counts_the_active_streams() {
    let nan = f64::NAN;
    let run = recording(vec![
        video("x.video", &[("bytesReceived", &[10.0, 20.0, 50.0, 60.0])], &[]),
        video("y.video", &[("bytesReceived", &[nan, nan, 10.0, 20.0])], &[]),
        line("a.up", &[("rate", &[1.0; 4])]),
    ]);
    // x alone, x alone, 30 to 10, 10 to 10.
    let third = 1600.0 / (2.0 * 1000.0);
    assert_eq!(compute("jain", &run, None), (1.0 + 1.0 + third + 1.0) / 4.0);
    assert_eq!(compute("jain", &run, Some((2, 4))), (third + 1.0) / 2.0);
    assert_eq!(compute("jain_of_means", &run, Some((2, 4))), jain_index(&[20.0, 10.0]));
}

#[test]
fn a_rate_converges_when_it_reaches_its_final_mean_and_stays() {
    let rates =
        [1.0, 2.0, 4.0, 8.0, 9.5, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0];
    let total: Vec<f64> = rates
        .iter()
        .scan(0.0, |sum, rate| {
            *sum += rate;
            Some(*sum)
        })
        .collect();
    let run = recording(vec![
        video("m.video", &[("bytesSent", &total), ("bytesReceived", &total)], &[]),
        line("a.up", &[]),
    ]);
    assert_eq!(
        compute("convergence_time", &run, None),
        4.0,
        "the fifth second is the first within 10 % of 10"
    );
    assert_eq!(compute("ramp_time", &run, None), 5.0, "90 % of 10 is reached in the fifth second");
    assert_eq!(compute("ramp_time", &run, Some((3, 15))), 2.0);
}

#[test]
fn the_time_constant_of_a_known_rise_is_measured() {
    let rise =
        |from: f64, count: usize| (0..count).map(move |step| from * libm::exp(step as f64 / 20.0));
    let rates: Vec<f64> = rise(100.0, 30).chain(rise(50.0, 25)).chain(rise(80.0, 2)).collect();
    let run = recording(vec![
        video("m.video", &[("availableOutgoingBitrate", &rates)], &[]),
        line("a.up", &[]),
    ]);
    assert!((compute("tau", &run, None) - 20.0).abs() < 1e-9);
    let flat = recording(vec![
        video("m.video", &[("availableOutgoingBitrate", &[5.0; 9])], &[]),
        line("a.up", &[]),
    ]);
    assert!(compute("tau", &flat, None).is_nan());
}

#[test]
fn counters_are_summed_over_the_window_and_the_streams() {
    let counts: &[f64] = &[0.0, 1.0, 3.0, 3.0];
    let columns: [(&str, &[f64]); 3] = [
        ("controller.overuse_count", counts),
        ("freezeCount", counts),
        ("framesPerSecond", &[30.0, 10.0, 20.0, 20.0]),
    ];
    let run = recording(vec![
        video("x.video", &columns, &[]),
        video("y.video", &columns, &[]),
        line("a.up", &[]),
    ]);
    assert_eq!(compute("overuse_count", &run, None), 6.0);
    assert_eq!(compute("freeze_count", &run, Some((2, 4))), 4.0);
    assert_eq!(compute("fps_mean", &run, None), 20.0);
}

#[test]
fn errors_name_what_is_missing() {
    let run = recording(vec![video("main.video", &[], &[]), line("a.up", &[])]);
    let error = |metric, stream, line| {
        Request::new(metric, &[stream], line).unwrap().compute(&run).unwrap_err().to_string()
    };
    assert_eq!(
        error("loss", "mian.video", None),
        "loss: there is no stream 'mian.video'; there are main.video"
    );
    assert_eq!(error("loss", "main.video", None), "loss: main.video has no packetsLost");
    assert_eq!(
        error("utilization", "main.video", Some("b.up")),
        "utilization: there is no stream 'b.up'; there are a.up"
    );
    assert_eq!(
        error("true_queue_delay_p95", "main.video", None),
        "true_queue_delay_p95: it needs line = \"HOST.up\" or \"HOST.down\""
    );
    let unknown = Request::new("rtt_p59", &[], None).unwrap_err().to_string();
    assert!(unknown.starts_with("there is no metric 'rtt_p59': did you mean rtt_p"), "{unknown}");
}

#[test]
fn metrics_of_a_wifi_station() {
    let columns: [(&'static str, &[f64]); 4] = [
        ("rate", &[0.0, 65e6, 130e6, 130e6]),
        ("signalStrength", &[-40.0, -42.0, -44.0, -43.0]),
        ("airtime", &[0.0, 0.25, 0.5, 0.75]),
        ("queueDelay", &[0.0, 0.0, 0.0, 0.0]),
    ];
    let run = recording(vec![line("a.up", &columns), line("b.up", &[("rate", &[1e6; 4])])]);
    let of =
        |metric: &str, line: &str| Request::new(metric, &[], Some(line)).unwrap().compute(&run);
    assert_eq!(of("signal_strength_mean", "a.up").unwrap(), -42.25);
    assert_eq!(of("phy_rate_mean", "a.up").unwrap(), 325e6 / 3.0);
    assert_eq!(of("airtime", "a.up").unwrap(), 0.75 / 4.0);
    let error = |metric: &str, line: &str| of(metric, line).unwrap_err().to_string();
    for metric in ["signal_strength_mean", "phy_rate_mean"] {
        let suggestion = "name one direction of a Wi-Fi station or an LTE terminal";
        assert_eq!(error(metric, "b.up"), format!("{metric}: b.up is wired; {suggestion}"));
    }
    assert_eq!(
        error("airtime", "b.up"),
        "airtime: b.up is wired; name one direction of a Wi-Fi station"
    );
    assert_eq!(
        error("cqi_mean", "a.up"),
        "cqi_mean: a.up is one direction of a Wi-Fi station; name one direction of an LTE terminal"
    );
    let error = of("utilization", "a.up").unwrap_err().to_string();
    assert!(error.contains("not its capacity") && error.contains("airtime"), "{error}");
    assert_eq!(Unit::Dbm.show(-42.25), "-42.2 dBm");
}

#[test]
fn metrics_of_an_lte_terminal() {
    let columns: [(&'static str, &[f64]); 7] = [
        ("rate", &[0.0, 4e6, 6e6, 8e6]),
        ("signalStrength", &[-90.0, -92.0, -91.0, -91.0]),
        ("sinr", &[f64::NAN, 10.0, 12.5, 15.0]),
        ("cqi", &[9.0, 10.0, 11.0, 12.0]),
        ("resourceBlocks", &[0.0, 5_000.0, 20_000.0, 40_000.0]),
        ("handovers", &[0.0, 1.0, 1.0, 3.0]),
        ("queueDelay", &[0.0; 4]),
    ];
    let run = recording(vec![line("a.down", &columns), line("b.up", &[("rate", &[1e6; 4])])]);
    let of =
        |metric: &str, line: &str| Request::new(metric, &[], Some(line)).unwrap().compute(&run);
    assert_eq!(of("signal_strength_mean", "a.down").unwrap(), -91.0);
    assert_eq!(of("phy_rate_mean", "a.down").unwrap(), 6e6);
    assert_eq!(
        of("sinr_mean", "a.down").unwrap(),
        12.5,
        "there is no value before the first transport block"
    );
    assert_eq!(of("cqi_max", "a.down").unwrap(), 12.0);
    // 4 s of 1000 subframes each.
    assert_eq!(of("resource_blocks", "a.down").unwrap(), 10.0);
    assert_eq!(of("handovers", "a.down").unwrap(), 3.0);
    for metric in ["sinr_mean", "cqi_mean", "resource_blocks", "handovers"] {
        let error = of(metric, "b.up").unwrap_err().to_string();
        assert_eq!(
            error,
            format!("{metric}: b.up is wired; name one direction of an LTE terminal")
        );
    }
    let error = of("utilization", "a.down").unwrap_err().to_string();
    assert!(error.contains("not its capacity") && error.contains("resource_blocks"), "{error}");
    assert_eq!(Unit::Decibels.show(12.5), "12.5 dB");
}

#[test]
fn names_are_unique_and_found() {
    let all = all();
    for metric in &all {
        assert!(find(&metric.name).is_some(), "{}", metric.name);
        assert_eq!(
            all.iter().filter(|other| other.name == metric.name).count(),
            1,
            "{}",
            metric.name
        );
    }
}

#[test]
fn a_summary_has_every_stream_and_not_a_number_for_unrecorded_metrics() {
    let run = recording(vec![
        video("m.video", &[("bytesSent", &[100.0, 200.0])], &[]),
        line("a.up", &[]),
    ]);
    let summary = summary(&run);
    assert_eq!(
        (summary.len(), summary[0].stream.as_str(), summary[0].values.len()),
        (1, "m.video", 9)
    );
    assert_eq!(summary[0].values[0], ("sent_rate", Unit::BitsPerSecond, 800.0));
    assert!(summary[0].values[1].2.is_nan());
}

#[test]
fn many_streams_whose_names_differ_in_a_number_are_shown_as_one() {
    let of = |name: String, sent: f64| video(&name, &[("bytesSent", &[0.0, sent])], &[]);
    let mut streams = vec![of("one.video".into(), 100.0), of("flow1.video".into(), 100.0)];
    streams.extend((1..=12).map(|user| of(format!("user{user:03}.video"), f64::from(user))));
    streams.push(of("flow2.video".into(), 300.0));
    let all = summary(&recording(streams));
    let shown = condensed(all.clone());
    let names: Vec<_> = shown.iter().map(|stream| stream.stream.as_str()).collect();
    assert_eq!(names, ["one.video", "flow1.video", "user*.video × 12", "flow2.video"]);
    assert_eq!(shown[3].values[0], all[14].values[0]);
    let rates = all[2..14].iter().map(|stream| stream.values[0].2);
    assert_eq!(shown[2].values[0], ("sent_rate", Unit::BitsPerSecond, rates.sum::<f64>() / 12.0));
    assert!(shown[2].values[1].2.is_nan(), "a metric that no stream has");
}

#[test]
fn metrics_of_tcp_flows() {
    let flow = |name: &str, sent: &[f64], again: &[f64], received: &[f64]| StreamRecord {
        kind: StreamKind::Tcp,
        ..video(
            name,
            &[
                ("packetsSent", sent),
                ("retransmittedPacketsSent", again),
                ("bytesReceived", received),
                ("timeouts", &[0.0, 0.0, 1.0, 1.0]),
                ("congestionWindow", &[10.0, 20.0, 10.0, 20.0]),
            ],
            &[],
        )
    };
    let mut run = recording(vec![
        flow(
            "a.tcp",
            &[10.0, 20.0, 40.0, 40.0],
            &[0.0, 0.0, 5.0, 5.0],
            &[100.0, 200.0, 300.0, 300.0],
        ),
        flow(
            "b.tcp",
            &[10.0, 20.0, 20.0, 20.0],
            &[0.0, 5.0, 5.0, 5.0],
            &[100.0, 100.0, 100.0, 100.0],
        ),
        video("m.video", &[("bytesReceived", &[100.0, 200.0, 300.0, 400.0])], &[]),
    ]);
    let of = |metric: &str, streams: &[&str], run: &Recording| {
        Request::new(metric, streams, None).unwrap().between(secs(1), secs(4)).compute(run)
    };
    // 10 of 40 segments in the last three seconds.
    assert_eq!(of("retransmissions", &["*.tcp"], &run).unwrap(), 0.25);
    assert_eq!(of("timeouts", &["*.tcp"], &run).unwrap(), 2.0);
    assert_eq!(of("congestion_window_mean", &["a.tcp"], &run).unwrap(), 50.0 / 3.0);
    // The call received 300 bytes, the flows 200 and 0.
    assert_eq!(of("share", &["m.video", "a.tcp", "b.tcp"], &run).unwrap(), 0.6);
    let event = |stream: &str, value| sim::recording::Event {
        at: secs(3),
        stream: stream.to_owned(),
        what: "completed",
        value,
    };
    run.events = vec![event("a.tcp", 2.5)];
    assert_eq!(of("completion_time", &["a.tcp"], &run).unwrap(), 2.5);
    assert!(of("completion_time", &["*.tcp"], &run).unwrap().is_nan(), "b is not complete");
    run.events.push(event("b.tcp", 1.5));
    assert_eq!(of("completion_time", &["*.tcp"], &run).unwrap(), 2.5);
    let error = of("retransmissions", &["m.video"], &run).unwrap_err().to_string();
    assert_eq!(error, "retransmissions: m.video is not a TCP flow");
}

/// A call of 40 s at 100 B/s and a flow from 10 to 20 s. The call's rate is 20 B/s from 10 s until
/// `recovered`, in seconds.
fn disturbed(recovered: usize) -> Recording {
    let rate = |second: usize| if (10..recovered).contains(&second) { 20.0 } else { 100.0 };
    let mut bytes = 0.0;
    let received: Vec<f64> = (0..40)
        .map(|second| {
            bytes += rate(second);
            bytes
        })
        .collect();
    let flow = StreamRecord {
        kind: StreamKind::Tcp,
        active: (secs(10), secs(40)),
        ..video("up.tcp", &[("bytesReceived", &[0.0; 40])], &[])
    };
    let mut run = recording(vec![video("m.video", &[("bytesReceived", &received)], &[]), flow]);
    let event = |at, stream: &str, what, value| sim::recording::Event {
        at: secs(at),
        stream: stream.to_owned(),
        what,
        value,
    };
    run.events =
        vec![event(20, "up.tcp", "completed", 10.0), event(30, "m.video", "mediaTimeout", 5.0)];
    run
}

#[test]
fn a_call_has_recovered_when_its_rate_is_back_and_stays() {
    let of = |run: &Recording, from: u64, to: u64| {
        let request = Request::new("recovery_time", &["m.video", "up.tcp"], None).unwrap();
        request.between(secs(from), secs(to)).compute(run).unwrap()
    };
    assert_eq!(of(&disturbed(20), 0, 40), 0.0);
    assert_eq!(of(&disturbed(27), 0, 40), 7.0);
    assert_eq!(of(&disturbed(36), 0, 40), f64::INFINITY, "the rate does not stay for 5 s");
    assert!(of(&disturbed(27), 0, 15).is_nan(), "the flow has not ended in the window");
    assert!(of(&disturbed(27), 10, 40).is_nan(), "there is no rate before the flow");
    let request = Request::new("recovery_time", &["m.video"], None).unwrap();
    assert!(request.compute(&disturbed(27)).is_err());
}

#[test]
fn an_abandoned_call_counts_for_each_of_its_streams() {
    let run = disturbed(20);
    let of = |stream: &str, to: u64| {
        let request = Request::new("disconnections", &[stream], None).unwrap();
        request.between(secs(0), secs(to)).compute(&run).unwrap()
    };
    assert_eq!((of("m.video", 40), of("m.video", 29), of("up.tcp", 40)), (1.0, 0.0, 0.0));
}

#[test]
fn a_stream_that_only_other_runs_have_is_not_a_number() {
    let run = recording(vec![video("m.video", &[("bytesReceived", &[1.0, 2.0])], &[])]);
    let request = Request::new("received_rate", &["up.tcp"], None).unwrap();
    let known = ["m.video".to_owned(), "up.tcp".to_owned()];
    assert!(request.compute_among(&run, &known).unwrap().is_nan());
    assert!(request.compute_among(&run, &known[..1]).is_err(), "no run has it");
}

#[test]
fn growth_across_missing_samples_is_spread_evenly() {
    let nan = f64::NAN;
    let counter = [nan, 100.0, 200.0, nan, nan, 500.0, nan];
    let run = recording(vec![video("x.video", &[("bytesReceived", &counter)], &[])]);
    let rates =
        Request::new("received_rate_max", &["x.video"], None).unwrap().samples(&run).unwrap();
    assert_eq!(rates, [800.0; 5]);
    assert_eq!(compute_of("received_rate", &run), 500.0 * 8.0 / 7.0);
}

fn compute_of(metric: &str, run: &Recording) -> f64 {
    Request::new(metric, &["x.video"], None).unwrap().compute(run).unwrap()
}

#[test]
fn statistics_objects_are_not_streams() {
    let object = StreamRecord {
        kind: StreamKind::Stats,
        ..video("x.video", &[("bytesReceived", &[1.0, 2.0])], &[])
    };
    let run = recording(vec![object, video("y.video", &[], &[])]);
    let error =
        Request::new("received_rate", &["x.video"], None).unwrap().compute(&run).unwrap_err();
    assert_eq!(error.to_string(), "received_rate: there is no stream 'x.video'; there are y.video");
    let run = recording(vec![run.streams[0].clone()]);
    assert!(summary(&run).is_empty() && lines(&run).is_empty());
}

#[test]
fn streams_without_a_value_do_not_count_in_a_percentile() {
    let delays: [&[f64]; 6] = [&[0.1], &[0.2], &[0.3], &[0.4], &[], &[0.9]];
    let streams = delays.iter().enumerate().map(|(number, delays)| {
        video(
            &format!("city{number}.video"),
            &[("bytesSent", &[0.0; 4])],
            &[("frameDelay", delays)],
        )
    });
    let mut recording = recording(streams.collect());
    // All streams but the last end before the run.
    recording.duration = Duration::from_secs(5);
    recording.streams[5].active.1 = secs(5);
    let of = |more: &str| {
        let text =
            format!("{{ metric = \"frame_delay_mean\", streams = [\"city*.video\"], {more} }}");
        let node = document::parse_value(&text);
        Request::read(&node, "value").unwrap_or_else(|fault| panic!("{}", fault.in_file("x.toml")))
    };
    let value = |more: &str| of(more).compute(&recording).unwrap();
    assert_eq!([value("reduce = \"p50\""), value("reduce = \"p99\"")], [0.3, 0.4 + 0.5 * 0.96]);
    assert!((value("reduce = \"p25\", whole = true") - 0.175).abs() < 1e-12);
    assert_eq!(value("reduce = \"max\", whole = true"), 0.4);
    assert!(value("reduce = \"mean\"").is_nan(), "one stream has no value");
    assert!(
        value("reduce = \"p5\", whole = true, from = \"4s\"").is_nan(),
        "no stream has a value"
    );
    assert_eq!(of("whole = true").of_streams(&recording).unwrap(), [0.1, 0.2, 0.3, 0.4]);
    assert_eq!(value("whole = true"), 0.25);
}

#[test]
fn a_ratio_is_that_of_the_mean_rates_and_oscillations_cross_both_watermarks() {
    // 1 kB and 3 kB in each of four seconds.
    let run = recording(vec![
        video("one.video", &[("bytesReceived", &[1e3, 2e3, 3e3, 4e3])], &[]),
        video("two.video", &[("bytesReceived", &[3e3, 6e3, 9e3, 12e3])], &[]),
    ]);
    assert_eq!(of_streams("rate_ratio", &run), 3.0);
    // 1, 9, 2, 1, 9 and 2 kB: a mean of 4 kB, so up at 8 kB and down at 2 kB.
    let sent = [1e3, 10e3, 12e3, 13e3, 22e3, 24e3];
    let run = recording(vec![video("one.video", &[("bytesSent", &sent)], &[])]);
    assert_eq!(of_streams("oscillations", &run), 4.0);
}

#[test]
fn feedback_overhead_counts_the_headers_of_udp_and_ip_on_both_sides() {
    let run = recording(vec![video(
        "one.video",
        &[
            ("bytesReceived", &[5_000.0, 9_040.0]),
            ("headerBytesReceived", &[120.0, 240.0]),
            ("packetsReceived", &[5.0, 10.0]),
            ("rtcpBytesSent", &[72.0, 144.0]),
            ("rtcpPacketsSent", &[2.0, 4.0]),
        ],
        &[],
    )]);
    // (144 + 4 · 28) ÷ (9040 + 240 + 10 · 28)
    assert!((of_streams("feedback_overhead", &run) - 256.0 / 9_560.0).abs() < 1e-9);
}

#[test]
fn shares_of_ecn_are_those_of_the_packets_that_arrived() {
    let run = recording(vec![video(
        "one.video",
        &[
            ("packetsReceived", &[50.0, 100.0]),
            ("packetsReceivedWithEct1", &[40.0, 70.0]),
            ("packetsReceivedWithCe", &[5.0, 20.0]),
            ("availableOutgoingBitrate", &[1e6, 2e6]),
        ],
        &[],
    )]);
    assert!((of_streams("ect1_share", &run) - 0.9).abs() < 1e-9);
    assert!((of_streams("ce_share", &run) - 0.2).abs() < 1e-9);
    assert_eq!(of_streams("target_rate_max", &run), 2e6);
}
