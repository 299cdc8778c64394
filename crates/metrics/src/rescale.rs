use units::Time;

/// The time in a shortened schedule at which something happens that the full schedule has at `at`:
/// `at` times `scale`, in whole milliseconds and never 0 unless `at` is. A `scale` of 1 or more
/// changes nothing.
#[must_use]
pub fn rescaled(at: Time, scale: f64) -> Time {
    if scale < 1.0 { Time::from_nanos(scaled_nanos(at.as_nanos(), scale)) } else { at }
}

/// A span of `nanos` nanoseconds times `scale`, in whole milliseconds; at least one unless the span
/// is 0.
#[must_use]
pub fn scaled_nanos(nanos: u64, scale: f64) -> u64 {
    const MILLI: u64 = 1_000_000;
    if nanos == 0 { 0 } else { scaled(nanos / MILLI, scale).max(1) * MILLI }
}

/// `number` times `scale`, rounded to the nearest whole number.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "lengths and sizes of runs are far below 2^53"
)]
pub fn scaled(number: u64, scale: f64) -> u64 {
    (number as f64 * scale + 0.5) as u64
}
