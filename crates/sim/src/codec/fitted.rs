//! placeholder until the first fit: RFC 8593 Table 1
pub(super) struct Fit {
    pub(super) size_noise: f64,
    pub(super) correlation: f64,
    pub(super) key_frame_ratio: f64,
    pub(super) payback_ms: u64,
    pub(super) floor_bits_per_pixel: f64,
    pub(super) down_bits_per_pixel: f64,
    pub(super) up_bits_per_pixel: f64,
}
pub(super) const VP8: Fit = Fit {
    size_noise: 0.15,
    correlation: 0.0,
    key_frame_ratio: 3.24,
    payback_ms: 1200,
    floor_bits_per_pixel: 0.01,
    down_bits_per_pixel: 0.02,
    up_bits_per_pixel: 0.1,
};
pub(super) const VP9: Fit = Fit {
    size_noise: 0.15,
    correlation: 0.0,
    key_frame_ratio: 3.24,
    payback_ms: 1200,
    floor_bits_per_pixel: 0.01,
    down_bits_per_pixel: 0.02,
    up_bits_per_pixel: 0.1,
};
pub(super) const H264: Fit = Fit {
    size_noise: 0.15,
    correlation: 0.0,
    key_frame_ratio: 3.24,
    payback_ms: 1200,
    floor_bits_per_pixel: 0.01,
    down_bits_per_pixel: 0.02,
    up_bits_per_pixel: 0.1,
};
