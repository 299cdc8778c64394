//! Fitted from real encodes with ffmpeg 5.1.9-0+deb12u1; written by `lab::fit` from the same run as
//! `data/codecs.toml`, which has the commands and every encode. Do not edit.

use super::config::Fit;

pub(super) const VP8: Fit = Fit {
    size_noise: 0.1284,
    correlation: -0.3350,
    key_frame_ratio: 1.957,
    payback_ms: 769,
    floor_bits_per_pixel: 0.011947,
    down_bits_per_pixel: 0.014032,
    up_bits_per_pixel: 0.095515,
};

pub(super) const VP9: Fit = Fit {
    size_noise: 0.1346,
    correlation: -0.2799,
    key_frame_ratio: 4.104,
    payback_ms: 1434,
    floor_bits_per_pixel: 0.005331,
    down_bits_per_pixel: 0.010114,
    up_bits_per_pixel: 0.105019,
};

pub(super) const H264: Fit = Fit {
    size_noise: 0.0802,
    correlation: 0.6957,
    key_frame_ratio: 4.498,
    payback_ms: 2702,
    floor_bits_per_pixel: 0.012272,
    down_bits_per_pixel: 0.012766,
    up_bits_per_pixel: 0.119072,
};
