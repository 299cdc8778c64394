//! Tests of the whole encoder.

use super::*;
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Seed, Time};

const HD: SourceSize = SourceSize { width: 1280, height: 720, fps: 30 };
const CODECS: [Codec; 3] = [Codec::Vp8, Codec::Vp9, Codec::H264];

fn encoder(codec: Codec, kbps: u64, seed: u64) -> Encoder {
    let config = EncoderConfig::new(codec, HD, Bitrate::from_kbps(2_500));
    Encoder::new(config, Seed(seed).stream("camera"), Bitrate::from_kbps(kbps))
}

/// Captures until `end` and returns the encoded frames.
fn until(encoder: &mut Encoder, end: Time) -> Vec<Frame> {
    let mut frames = Vec::new();
    while encoder.next_capture() < end {
        frames.extend(encoder.capture(encoder.next_capture()));
    }
    frames
}

fn total(frames: &[Frame]) -> Bytes {
    frames.iter().map(|frame| frame.size).sum()
}

#[test]
fn the_mean_rate_over_a_minute_is_the_target() {
    for codec in CODECS {
        for kbps in [60, 150, 400, 1_000, 2_500] {
            let mut encoder = encoder(codec, kbps, kbps);
            until(&mut encoder, Time::from_secs(10));
            let rate = total(&until(&mut encoder, Time::from_secs(70)))
                .per(Duration::from_secs(60))
                .unwrap();
            let share = rate.as_bps_f64() / Bitrate::from_kbps(kbps).as_bps_f64();
            assert!(
                (share - 1.0).abs() < 0.01,
                "{codec} at {kbps} kbit/s sends {share} of its target"
            );
        }
    }
}

#[test]
fn the_first_seconds_keep_to_the_target_except_for_the_key_frame() {
    for codec in CODECS {
        let rate = total(&until(&mut encoder(codec, 1_500, 3), Time::from_secs(10)))
            .per(Duration::from_secs(10))
            .unwrap();
        let share = rate.as_bps_f64() / 1_500_000.0;
        assert!((0.98..1.03).contains(&share), "{codec} sends {share} of its target");
    }
}

#[test]
fn noise_has_the_fitted_scale_and_correlation() {
    for codec in CODECS {
        let model = ModelParameters::fitted(codec);
        let mut encoder = encoder(codec, 2_000, 9);
        until(&mut encoder, Time::from_secs(60));
        let sizes: Vec<f64> = until(&mut encoder, Time::from_secs(3_060))
            .iter()
            .map(|frame| frame.size.get() as f64)
            .collect();
        let count = sizes.len() as f64;
        let mean = sizes.iter().sum::<f64>() / count;
        let deviations: Vec<f64> = sizes.iter().map(|size| size / mean - 1.0).collect();
        let scale = deviations.iter().map(|x| x.abs()).sum::<f64>() / count;
        let squares = deviations.iter().map(|x| x * x).sum::<f64>();
        let correlation = deviations.windows(2).map(|x| x[0] * x[1]).sum::<f64>() / squares;
        assert!(
            (scale / model.size_noise - 1.0).abs() < 0.06,
            "{codec}: {scale} for {}",
            model.size_noise
        );
        assert!(
            (correlation - model.correlation).abs() < 0.05,
            "{codec}: {correlation} for {}",
            model.correlation
        );
    }
}

#[test]
fn the_target_is_limited_to_the_configured_range() {
    let mut encoder = encoder(Codec::Vp8, 1_000, 1);
    encoder.set_target(Time::from_secs(1), Bitrate::from_kbps(10));
    assert_eq!(encoder.target(), Bitrate::from_kbps(50), "never below the minimum rate");
    encoder.set_target(Time::from_secs(2), Bitrate::from_mbps(30));
    assert_eq!(encoder.target(), Bitrate::from_kbps(2_500));
    encoder.set_target(Time::from_secs(3), Bitrate::ZERO);
    assert_eq!(encoder.target(), Bitrate::from_kbps(50));
}

#[test]
fn a_target_within_the_reaction_lag_waits_and_the_newest_wins() {
    let mut encoder = encoder(Codec::Vp8, 1_000, 1);
    until(&mut encoder, Time::from_millis(990));
    encoder.set_target(Time::from_secs(1), Bitrate::from_kbps(800));
    encoder.set_target(Time::from_millis(1_050), Bitrate::from_kbps(600));
    encoder.set_target(Time::from_millis(1_150), Bitrate::from_kbps(700));
    assert_eq!(encoder.target(), Bitrate::from_kbps(800));
    until(&mut encoder, Time::from_millis(1_199));
    assert_eq!(encoder.target(), Bitrate::from_kbps(800), "τ_v is 200 ms");
    until(&mut encoder, Time::from_millis(1_250));
    assert_eq!(encoder.target(), Bitrate::from_kbps(700));
}

#[test]
fn key_frames_are_first_or_requested_and_are_compensated() {
    let mut encoder = encoder(Codec::Vp9, 2_000, 2);
    let before = until(&mut encoder, Time::from_secs(30));
    encoder.request_key_frame();
    let after = until(&mut encoder, Time::from_secs(32));
    let keys = |frames: &[Frame]| frames.iter().filter(|frame| frame.key).count();
    let resized = before.windows(2).filter(|pair| pair[0].height != pair[1].height).count();
    assert_eq!((before[0].key, keys(&before)), (true, 1 + resized));
    assert_eq!((after[0].key, keys(&after)), (true, 1));
    let share = 2_000_000.0 / 8.0 / 30.0;
    let ratio = ModelParameters::fitted(Codec::Vp9).burst_ratio;
    assert!((after[0].size.get() as f64 / share - ratio).abs() < 0.01);
    let rest = total(&after[1..]).get() as f64 / share / (after.len() - 1) as f64;
    assert!(rest < 0.98, "the following frames have {rest} of their share");
}

#[test]
fn equal_seeds_give_equal_frames_and_other_seeds_others() {
    let frames = |seed| until(&mut encoder(Codec::Vp8, 700, seed), Time::from_secs(20));
    assert_eq!(frames(1), frames(1));
    assert_ne!(frames(1), frames(2));
}

#[test]
fn timestamps_count_ninety_thousand_per_second() {
    let frames = until(&mut encoder(Codec::Vp8, 1_000, 1), Time::from_secs(10));
    assert_eq!(frames[0].rtp_timestamp, 0);
    assert_eq!(frames.len(), 301, "30 per second, each a third of a nanosecond early");
    assert!(
        frames
            .windows(2)
            .all(|pair| (2_999..=3_000).contains(&(pair[1].rtp_timestamp - pair[0].rtp_timestamp)))
    );
}

#[test]
fn vp8_reduces_its_resolution_with_hysteresis() {
    let mut encoder = encoder(Codec::Vp8, 2_500, 5);
    let mut settled = |kbps: u64| {
        let now = encoder.next_capture();
        encoder.set_target(now, Bitrate::from_kbps(kbps));
        until(&mut encoder, now + Duration::from_secs(30));
        encoder.resolution().1
    };
    assert_eq!(
        settled(600),
        720,
        "0.022 bits per pixel are between the thresholds of 0.012 and 0.096"
    );
    assert_eq!(
        settled(150),
        360,
        "0.005 at 720 lines and 0.010 at 540 are too few; 0.022 at 360 are enough"
    );
    assert_eq!(settled(600), 360, "0.087 at 360 lines are too few for a step up");
    assert_eq!(settled(800), 540);
    assert_eq!(settled(2_500), 720);
}

#[test]
fn h264_keeps_its_resolution_and_drops_frames() {
    let mut encoder = encoder(Codec::H264, 100, 5);
    until(&mut encoder, Time::from_secs(10));
    let frames = until(&mut encoder, Time::from_secs(40));
    assert!(frames.iter().all(|frame| (frame.width, frame.height) == (1280, 720)));
    let rate = frames.len() as f64 / 30.0;
    assert!(
        (rate / encoder.frame_rate() - 1.0).abs() < 0.1,
        "{rate} frames/s for {}",
        encoder.frame_rate()
    );
    assert!(rate < 15.0);
}

#[test]
fn sizes_from_a_file_are_scaled_and_repeat() {
    let sizes = Arc::new(FrameSizes::parse("4000,1\n1000\n1000\n2000").unwrap());
    let config = EncoderConfig::from_sizes(sizes, HD, Bitrate::from_kbps(960));
    let mut encoder = Encoder::new(config, Seed(1).stream("file"), Bitrate::from_kbps(960));
    let frames = until(&mut encoder, Time::from_secs(60));
    assert!(frames.iter().enumerate().skip(1).all(|(index, frame)| frame.key == (index % 4 == 0)));
    let ratio = frames[401].size.get() as f64 / frames[400].size.get() as f64;
    assert!((0.2..0.3).contains(&ratio), "about a quarter, changed by the rate control: {ratio}");
    let rate = total(&frames).per(Duration::from_secs(60)).unwrap().as_bps_f64();
    assert!((rate / 960_000.0 - 1.0).abs() < 0.01, "{rate} bit/s");
}

#[test]
fn rfc_8593_starts_a_reaction_with_a_burst_of_the_same_mean() {
    let config = EncoderConfig {
        model: ModelParameters {
            size_noise: 0.0,
            interval_noise: 0.0,
            ..ModelParameters::rfc8593()
        },
        ladder: LadderConfig { enabled: false, ..LadderConfig::fitted(Codec::Vp8) },
        ..EncoderConfig::new(Codec::Vp8, HD, Bitrate::from_mbps(2))
    };
    let mut encoder = Encoder::new(config, Seed(1).stream("rfc"), Bitrate::from_kbps(500));
    until(&mut encoder, Time::from_secs(10));
    encoder.set_target(encoder.next_capture(), Bitrate::from_mbps(1));
    let frames = until(&mut encoder, Time::from_secs(13));
    assert!(
        (frames[0].size.get() as f64 - 13_500.0).abs() < 30.0,
        "K_B is 13.5 kB at 1 Mbit/s: {}",
        frames[0].size
    );
    assert!(!frames[0].key && frames[1].size < Bytes::new(4_170));
    let rate = total(&frames).per(Duration::from_secs(3)).unwrap().as_bps_f64();
    assert!((rate / 1e6 - 1.0).abs() < 0.02, "{rate} bit/s");
}

#[test]
fn the_constants_are_those_of_the_committed_fit() {
    let data = include_str!("../../data/codecs.toml");
    let source = include_str!("fitted.rs");
    let mut checked = 0;
    for codec in CODECS {
        let table = data.split(&format!("\n[{codec}]\n")).nth(1).unwrap();
        let constant =
            source.split(&format!("const {}: Fit", codec.name().to_uppercase())).nth(1).unwrap();
        let constant = constant.split("};").next().unwrap();
        for line in table.lines().take_while(|line| !line.starts_with("payback_source")) {
            let field = format!("    {},", line.replace(" = ", ": "));
            assert!(
                constant.contains(&field),
                "{codec}: {field:?} is in data/codecs.toml and not in fitted.rs"
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 3 * 7);
}

#[test]
fn noise_between_two_rates_is_interpolated() {
    let kbps = Bitrate::from_kbps;
    let mut model = ModelParameters::fitted(Codec::Vp8);
    assert_eq!(model.relative_noise(kbps(100)), 1.0);
    model.size_noise = 0.2;
    model.size_noise_at = vec![(kbps(100), 0.4), (kbps(400), 0.2), (kbps(1600), 0.1)];
    let noises = [50, 100, 200, 400, 1600, 9000].map(|rate| model.relative_noise(kbps(rate)));
    for (noise, expected) in noises.into_iter().zip([2.0, 2.0, 1.5, 1.0, 0.5, 0.5]) {
        assert!((noise - expected).abs() < 1e-9, "{noises:?}");
    }
    model.size_noise = 0.0;
    assert_eq!(model.relative_noise(kbps(100)), 1.0);
}
