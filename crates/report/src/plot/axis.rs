//! Axes: the range, the ticks and where a value lies.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// Decades below the greatest value that a logarithmic axis shows at most. Our choice: a queuing
/// delay of a few nanoseconds, a rounding error, must not squeeze the milliseconds into the top of
/// the panel.
const MAX_DECADES: f64 = 6.0;
/// Range of a logarithmic axis without any positive value. Our choice: 0.1 ms or 0.1 kbit/s is
/// smaller than what is measured.
const EMPTY_LOG: (f64, f64) = (0.1, 10.0);
/// Ticks closer than this are written out (`1500` kbit/s); larger ones have a prefix (`500 k`
/// bit/s).
const WRITTEN_OUT: f64 = 1e4;
/// The numbers that are written without an exponent.
const PLAIN: Range<f64> = 1e-4..1e15;

/// How an axis is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AxisOptions {
    /// Logarithmic.
    pub(crate) log: bool,
    /// A fixed range; `None` fits the values.
    pub(crate) fixed: Option<(f64, f64)>,
    /// Zero is on the axis, whatever the values are.
    pub(crate) from_zero: bool,
    /// About the greatest number of steps between ticks.
    pub(crate) steps: f64,
}

impl AxisOptions {
    pub(crate) const LINEAR: Self = Self { log: false, fixed: None, from_zero: false, steps: 5.0 };
}

/// An axis. Positions are in units of the plot: the value itself, or its decimal logarithm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Vec<f64>,
    log: bool,
    step: f64,
    clamped: bool,
}

impl Axis {
    /// An axis that shows all of `values`.
    pub(crate) fn new(values: impl Iterator<Item = f64>, shape: AxisOptions) -> Self {
        let AxisOptions { log, fixed, .. } = shape;
        let finite = values.filter(|v| v.is_finite());
        let fixed =
            fixed.filter(|(a, b)| a.is_finite() && b.is_finite() && a < b && (!log || *a > 0.0));
        if log {
            Self::logarithmic(finite, fixed)
        } else {
            Self::linear(finite, AxisOptions { fixed, ..shape })
        }
    }

    fn linear(
        values: impl Iterator<Item = f64>,
        AxisOptions { fixed, from_zero, steps, .. }: AxisOptions,
    ) -> Self {
        let (mut low, mut high) = fixed.or_else(|| extent(values)).unwrap_or((0.0, 1.0));
        if fixed.is_none() {
            // Zero belongs to an axis of quantities unless the data lie far from it.
            if low > 0.0 && (from_zero || low < 0.6 * high) {
                low = 0.0;
            } else if high < 0.0 && from_zero {
                high = 0.0;
            }
            if high <= low {
                let pad = if low == 0.0 { 1.0 } else { low.abs() * 0.5 };
                // What is always zero, such as a loss, is not negative.
                let from_zero = from_zero || low == 0.0;
                (low, high) = (if from_zero { low.min(0.0) } else { low - pad }, low + pad);
            }
        }
        let step = nice_step(high / steps - low / steps);
        if fixed.is_none() {
            (low, high) = (libm::floor(low / step) * step, libm::ceil(high / step - 1e-9) * step);
        }
        let first = libm::ceil(low / step - 1e-9);
        let count = libm::floor(high / step + 1e-9) - first;
        let ticks =
            (0..=count.clamp(0.0, 20.0) as usize).map(|i| (first + i as f64) * step).collect();
        Self { low, high, ticks, log: false, step, clamped: false }
    }

    fn logarithmic(values: impl Iterator<Item = f64>, fixed: Option<(f64, f64)>) -> Self {
        let values: Vec<f64> = values.collect();
        let found = fixed.or_else(|| extent(values.iter().copied().filter(|&v| v > 0.0)));
        let (least, greatest) = found.unwrap_or(EMPTY_LOG);
        let high = libm::log10(greatest);
        let low = libm::log10(least).max(high - MAX_DECADES);
        let (low, high) = if fixed.is_some() { (low, high) } else { round_out(low, high) };
        let clamped = values.iter().any(|&v| v <= 0.0 || libm::log10(v) < low - 1e-9);
        // Values below the range get a decade of their own, so that they are not drawn on the
        // least value of the range.
        let low = if clamped && fixed.is_none() && found.is_some() {
            libm::floor(low - 1e-9)
        } else {
            low
        };
        Self { low, high, ticks: log_ticks(low, high), log: true, step: 0.0, clamped }
    }

    /// The position of a value, limited to `low..=high`; `None` if the value is not finite.
    pub(crate) fn position(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let position = match (self.log, value > 0.0) {
            (true, true) => libm::log10(value),
            (true, false) => self.low,
            (false, _) => value,
        };
        Some(position.clamp(self.low, self.high))
    }

    /// The text at a tick.
    pub(crate) fn tick_label(&self, position: f64) -> String {
        if !self.log {
            return si(position, self.step);
        }
        let value = libm::exp10(position);
        let label = si(value, libm::exp10(libm::floor(position + 1e-9)));
        if self.clamped && position - self.low < 1e-9 { format!("≤ {label}") } else { label }
    }
}

/// The library's view of an axis: it maps what [`Axis::position`] returns to pixels.
impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, position: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (position - self.low) / (self.high - self.low);
        from + libm::round(share * f64::from(to - from)) as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // One grid only: the light lines of the library would be a second one.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, position: &f64) -> String {
        self.tick_label(*position)
    }
}

/// Least and greatest.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, v| {
        Some(range.map_or((v, v), |(a, b): (f64, f64)| (a.min(v), b.max(v))))
    })
}

/// The range, widened on both sides to 1, 2 or 5 times a power of ten. Both are decimal logarithms.
fn round_out(low: f64, high: f64) -> (f64, f64) {
    let marks = [0.0, libm::log10(2.0), libm::log10(5.0), 1.0];
    let (base, top) = (libm::floor(low), libm::floor(high));
    let down = marks.iter().rev().find(|&&m| base + m <= low + 1e-9).map_or(base, |m| base + m);
    let up = marks.iter().find(|&&m| top + m >= high - 1e-9).map_or(top + 1.0, |m| top + m);
    if up - down < 0.5 { (base, base + 1.0_f64.max(libm::ceil(up) - base)) } else { (down, up) }
}

/// Ticks at the powers of ten, and at 2 and 5 times these if there are few.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let within: &[f64] = if high - low <= 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let decades = libm::floor(low) as i32..=libm::ceil(high) as i32;
    let ticks = decades.flat_map(|d| within.iter().map(move |m| f64::from(d) + libm::log10(*m)));
    let mut ticks: Vec<f64> = ticks.filter(|t| *t >= low - 1e-9 && *t <= high + 1e-9).collect();
    if ticks.first().is_none_or(|t| t - low > 1e-9) {
        ticks.insert(0, low);
    }
    ticks
}

/// The least of 1, 2 and 5 times a power of ten that is at least `rough`.
fn nice_step(rough: f64) -> f64 {
    if !(rough > 0.0 && rough.is_finite()) {
        return 1.0;
    }
    let power = libm::exp10(libm::floor(libm::log10(rough)));
    let mantissa = rough / power;
    let nice = [1.0, 2.0, 5.0].into_iter().find(|n| mantissa <= n * (1.0 + 1e-9)).unwrap_or(10.0);
    nice * power
}

/// A number with the decimals that `step` needs, and an SI prefix if steps are large (`500 k`,
/// `1 M`). Numbers below one are written out (`0.05`): a prefix would collide with the unit in the
/// label (ms).
pub(crate) fn si(value: f64, step: f64) -> String {
    let size = value.abs();
    if size < step.abs() * 1e-6 || size == 0.0 {
        return "0".to_owned();
    }
    if !PLAIN.contains(&size) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let prefixes = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let prefix = prefixes
        .into_iter()
        .find(|(unit, _)| step.abs() >= WRITTEN_OUT && size >= unit * (1.0 - 1e-9));
    let (unit, suffix) = prefix.unwrap_or((1.0, ""));
    let decimals = libm::ceil(-libm::log10(step.abs() / unit) - 1e-9).clamp(0.0, 6.0) as usize;
    let text = format!("{:.decimals$}", value / unit);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{suffix}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::{Axis, AxisOptions, si};

    const LOG: AxisOptions = AxisOptions { log: true, ..AxisOptions::LINEAR };

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|t| axis.tick_label(*t)).collect()
    }

    #[test]
    fn ticks_are_round_numbers_with_prefixes() {
        let axis = Axis::new([0.0, 2_130_000.0].into_iter(), AxisOptions::LINEAR);
        assert_eq!(labels(&axis), ["0", "500 k", "1 M", "1.5 M", "2 M", "2.5 M"]);
        let axis = Axis::new([0.0, 0.21].into_iter(), AxisOptions::LINEAR);
        assert_eq!(labels(&axis), ["0", "0.05", "0.1", "0.15", "0.2", "0.25"]);
    }

    #[test]
    fn a_logarithmic_axis_shows_zero_and_negative_values_at_its_floor() {
        let axis = Axis::new([0.0, 1.0, 350.0].into_iter(), LOG);
        assert_eq!(labels(&axis).first().map(String::as_str), Some("≤ 0.1"));
        assert_eq!(axis.position(0.0), Some(-1.0));
        assert_eq!(axis.position(-4.0), Some(-1.0));
        assert_eq!(axis.position(1.0), Some(0.0));
        let tiny = Axis::new([1e-300, 100.0].into_iter(), LOG);
        assert!(tiny.high - tiny.low <= 7.0 + 1e-9, "{tiny:?}");
        let none = Axis::new([0.0, 0.0].into_iter(), LOG);
        assert_eq!(none.position(0.0), Some(none.low));
    }

    #[test]
    fn unusual_values_still_give_an_axis() {
        let cases: [&[f64]; 8] = [
            &[],
            &[f64::NAN],
            &[5.0],
            &[-5.0],
            &[0.0],
            &[1e300, -1e300],
            &[f64::MAX, -f64::MAX],
            &[1e-310],
        ];
        for (values, log) in cases.iter().flat_map(|v| [(v, false), (v, true)]) {
            for from_zero in [false, true] {
                let axis = Axis::new(
                    values.iter().copied(),
                    AxisOptions { log, from_zero, ..AxisOptions::LINEAR },
                );
                assert!(axis.low < axis.high, "{values:?} {axis:?}");
                assert!((1..=21).contains(&axis.ticks.len()), "{values:?} {axis:?}");
                assert_eq!(axis.position(f64::NAN), None);
                for v in values.iter().filter(|v| v.is_finite()) {
                    assert!(axis.position(*v).is_some_and(|p| (axis.low..=axis.high).contains(&p)));
                }
            }
        }
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(si(1_500_000.0, 500_000.0), "1.5 M");
        assert_eq!(si(-20.0, 10.0), "−20");
        assert_eq!(si(0.05, 0.05), "0.05");
        assert_eq!(si(1e300, 1e300), "1e300");
        assert_eq!(si(100.0, 50.0), "100");
        assert_eq!(si(1500.0, 500.0), "1500");
    }
}
