use units::Time;

/// The time in a shortened schedule that corresponds to `time` in the full one: `time` times
/// `scale`, rounded to milliseconds and at least 1 ms unless `time` is 0. A `scale` of 1 or more
/// changes nothing.
#[must_use]
pub fn rescaled(time: Time, scale: f64) -> Time {
    if scale < 1.0 { Time::from_nanos(scaled_nanos(time.as_nanos(), scale)) } else { time }
}

/// A duration of `nanos` nanoseconds times `scale`, rounded to milliseconds; at least 1 ms unless
/// the duration is 0.
#[must_use]
pub fn scaled_nanos(nanos: u64, scale: f64) -> u64 {
    const MILLI: u64 = 1_000_000;
    if nanos == 0 { 0 } else { scaled(nanos / MILLI, scale).max(1) * MILLI }
}

/// `number` times `scale`, rounded to the nearest integer.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "durations and sizes of runs are far below 2^53"
)]
pub fn scaled(number: u64, scale: f64) -> u64 {
    (number as f64 * scale + 0.5) as u64
}
