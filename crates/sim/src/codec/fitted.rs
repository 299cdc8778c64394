//! Fitted from real encodes with ffmpeg 5.1.9-0+deb12u1; written by `testbed::fit` from the same
//! run as `data/codecs.toml`, which has the commands and every encode. Do not edit.

use super::config::Fit;

pub(super) const VP8: Fit = Fit {
    size_noise: 0.1317,
    correlation: -0.3834,
    key_frame_ratio: 1.957,
    payback_ms: 439,
    floor_bits_per_pixel: 0.010029,
    down_bits_per_pixel: 0.012016,
    up_bits_per_pixel: 0.095453,
};

pub(super) const VP9: Fit = Fit {
    size_noise: 0.1391,
    correlation: -0.2744,
    key_frame_ratio: 4.320,
    payback_ms: 736,
    floor_bits_per_pixel: 0.005277,
    down_bits_per_pixel: 0.009992,
    up_bits_per_pixel: 0.105252,
};

pub(super) const H264: Fit = Fit {
    size_noise: 0.0802,
    correlation: 0.6957,
    key_frame_ratio: 4.498,
    payback_ms: 2461,
    floor_bits_per_pixel: 0.012385,
    down_bits_per_pixel: 0.012583,
    up_bits_per_pixel: 0.119652,
};
