//! The offset and the drift between the clocks of two endpoints, from one-way times of both
//! directions (the method of RFC 5905 § 8, over many exchanges).

/// The length of the windows whose least delays are compared, s. Short enough that drift is small
/// within one (100 ppm make 1 ms), long enough that most windows have a packet without queuing. Our
/// choice.
const WINDOW: f64 = 10.0;
/// Windows whose round trip exceeds the least one by more than this share are left out, because
/// their delays contain queuing; the least quarter is always used. Our choice.
const QUEUED: f64 = 0.02;
/// The shortest time over which drift is estimated, s: the noise of 1 ms is then 17 ppm. Our
/// choice.
const DRIFT_TIME: f64 = 60.0;

/// The clock of the second endpoint against that of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// The second clock minus the first at the first's zero, s.
    pub offset: f64,
    /// Growth of the offset per second; `None` if the recordings are too short to tell.
    pub drift: Option<f64>,
    /// The offset is wrong by at most this, s: half of the least round-trip time, because nothing
    /// tells how the round trip divides between the two directions.
    pub uncertainty: f64,
}

impl Clock {
    /// A time of the second clock on the first.
    #[must_use]
    pub fn on_first(&self, second: f64) -> f64 {
        (second - self.offset) / (1.0 + self.drift.unwrap_or(0.0))
    }

    /// Estimates from one-way times. `there` are packets from the first to the second endpoint:
    /// when each was sent, and its arrival on the second clock minus that, both on the first clock,
    /// s. `back` are packets from the second to the first: when each arrived on the first clock,
    /// and that minus the time at which it was sent on the second clock. `None` if a direction has
    /// none.
    #[must_use]
    pub fn estimate(there: &[(f64, f64)], back: &[(f64, f64)]) -> Option<Self> {
        let (there, back) = (minima(there), minima(back));
        // (time, offset, round trip) of each window that has both directions.
        let mut windows: Vec<(f64, f64, f64)> = there
            .iter()
            .filter_map(|(window, out)| {
                let returned = back.iter().find(|(other, _)| other == window)?.1;
                let time = middle(*window);
                Some((time, (out - returned) / 2.0, out + returned))
            })
            .collect();
        if windows.is_empty() {
            // The directions were never active together: their least delays of all times.
            let least = |minima: &[(i64, f64)]| {
                minima.iter().map(|(_, least)| *least).min_by(f64::total_cmp)
            };
            let (out, returned) = (least(&there)?, least(&back)?);
            windows.push((0.0, (out - returned) / 2.0, out + returned));
        }
        windows.sort_by(|one, other| one.2.total_cmp(&other.2));
        let least = windows[0].2;
        let free = windows.partition_point(|window| window.2 <= least + QUEUED * least.abs());
        windows.truncate(free.max(windows.len().div_ceil(4)));
        let uncertainty = (least / 2.0).max(0.0);
        let line = line(windows.iter().map(|(time, offset, _)| (*time, *offset)));
        let (time, offset) = line.mean;
        let Some(drift) = line.slope else {
            return Some(Self { offset, drift: None, uncertainty });
        };
        Some(Self { offset: offset - drift * time, drift: Some(drift), uncertainty })
    }
}

/// A line through points by least squares.
struct Line {
    /// Mean time and mean value.
    mean: (f64, f64),
    /// Growth per second; `None` if the points span less than [`DRIFT_TIME`].
    slope: Option<f64>,
}

fn line(points: impl Iterator<Item = (f64, f64)> + Clone) -> Line {
    let count = points.clone().count() as f64;
    let time = points.clone().map(|point| point.0).sum::<f64>() / count;
    let value = points.clone().map(|point| point.1).sum::<f64>() / count;
    let (first, last, product, square) =
        points.fold((f64::MAX, f64::MIN, 0.0, 0.0), |(first, last, product, square), (at, of)| {
            let from_mean = at - time;
            let (product, square) =
                (product + from_mean * (of - value), square + from_mean * from_mean);
            (at.min(first), at.max(last), product, square)
        });
    let slope = (last - first >= DRIFT_TIME).then(|| product / square);
    Line { mean: (time, value), slope }
}

/// The middle of a window, s.
fn middle(window: i64) -> f64 {
    (window as f64 + 0.5) * WINDOW
}

/// The line below all values that touches the least ones, as its value at time zero and its growth
/// per second: for values of one direction, the offset of two clocks plus the least delay, and
/// their drift. Drift is zero if the values are too short to tell; `None` without values.
pub(crate) fn least_line(values: &[(f64, f64)]) -> Option<(f64, f64)> {
    let windows = minima(values).into_iter().map(|(window, least)| (middle(window), least));
    let drift = line(windows).slope.unwrap_or(0.0);
    let offset = values.iter().map(|(at, value)| value - drift * at).min_by(f64::total_cmp)?;
    Some((offset, drift))
}

/// The least value of each window, in order of time.
fn minima(values: &[(f64, f64)]) -> Vec<(i64, f64)> {
    let mut minima = std::collections::BTreeMap::new();
    for (time, value) in values {
        #[expect(clippy::cast_possible_truncation, reason = "a number of windows")]
        let window = (time / WINDOW).floor() as i64;
        let least: &mut f64 = minima.entry(window).or_insert(*value);
        *least = least.min(*value);
    }
    minima.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (time of sending, difference of the clocks), in seconds.
    type Packets = Vec<(f64, f64)>;

    /// One packet per 100 ms in each direction for `seconds`: 20 ms there, 30 ms back, with a queue
    /// of up to 100 ms there, and a second clock that is 5 s ahead and drifts.
    fn packets(seconds: u64, drift: f64) -> (Packets, Packets) {
        let second = |first: f64| 5.0 + first * (1.0 + drift);
        let times = (0..seconds * 10).map(|tick| tick as f64 / 10.0);
        let there = times.clone().map(|sent| {
            let queue = (sent % 25.0) / 250.0;
            (sent, second(sent + 0.02 + queue) - sent)
        });
        let back = times.map(|sent| (sent + 0.03, sent + 0.03 - second(sent)));
        (there.collect(), back.collect())
    }

    #[test]
    fn offset_and_drift_are_found_within_the_uncertainty() {
        let (there, back) = packets(300, 50e-6);
        let clock = Clock::estimate(&there, &back).unwrap();
        assert!((clock.offset - 5.0).abs() <= clock.uncertainty, "{clock:?}");
        assert!((clock.uncertainty - 0.025).abs() < 2e-3, "{clock:?}");
        assert!((clock.drift.unwrap() - 50e-6).abs() < 15e-6, "{clock:?}");
        assert!((clock.on_first(5.0 + 100.0 * (1.0 + 50e-6)) - 100.0).abs() < 0.01);
    }

    #[test]
    fn short_recordings_tell_no_drift() {
        let (there, back) = packets(30, 0.0);
        let clock = Clock::estimate(&there, &back).unwrap();
        assert_eq!(clock.drift, None);
        assert!((clock.offset - 5.0).abs() <= clock.uncertainty, "{clock:?}");
        assert_eq!(Clock::estimate(&there, &[]), None);
    }
}
