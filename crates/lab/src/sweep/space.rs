//! The space of the parameters, and the points that a sweep visits in it.

use units::Seed;

/// A parameter: keys of the experiments that have the same value at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name, by which objectives refer to it.
    pub name: String,
    /// The name in figures.
    pub label: String,
    /// The keys that it sets, as for `--set`.
    pub keys: Vec<String>,
    /// The published optimum, which figures mark.
    pub published: Option<f64>,
    pub(super) values: Values,
}

/// The values that a parameter may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// These, as TOML.
    List(Vec<Setting>),
    /// The numbers of a range, with this unit behind them.
    Range { from: f64, to: f64, points: usize, log: bool, unit: String },
}

/// The value of a parameter at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// As TOML or plain text, as for `--set`.
    pub text: String,
    /// As a number, without its unit; `None` if it is none.
    pub number: Option<f64>,
}

impl Setting {
    /// The value in words: a number with three significant digits.
    #[must_use]
    pub fn short(&self) -> String {
        match self.number {
            Some(number) if self.text.parse::<f64>().is_ok() => {
                let rounded: f64 = format!("{number:.2e}").parse().unwrap_or(number);
                format!("{rounded:?}")
            }
            _ => self.text.clone(),
        }
    }
}

/// A quantity with four significant digits: a rate, for example, has whole bits per second.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// How the points are chosen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Method {
    /// Every combination of the values; the last parameter varies fastest.
    Grid,
    /// These places in the unit cube, by point and parameter.
    Samples(Vec<Vec<f64>>),
}

impl Parameter {
    /// The number of its values in a grid.
    #[must_use]
    pub fn count(&self) -> usize {
        match &self.values {
            Values::List(list) => list.len(),
            Values::Range { points, .. } => *points,
        }
    }

    /// The label of its axis, with the unit if its numbers have one.
    #[must_use]
    pub fn axis_label(&self) -> String {
        match &self.values {
            Values::Range { unit, .. } if !unit.is_empty() => format!("{} ({unit})", self.label),
            _ => self.label.clone(),
        }
    }

    /// The number with this index in a grid; `None` if the value is no number.
    #[must_use]
    pub fn number(&self, index: usize) -> Option<f64> {
        self.at_index(index).number
    }

    /// Whether its axis is logarithmic.
    #[must_use]
    pub fn is_log(&self) -> bool {
        matches!(self.values, Values::Range { log: true, .. })
    }

    /// The value with this index in a grid.
    pub(super) fn at_index(&self, index: usize) -> Setting {
        match &self.values {
            Values::List(list) => list[index].clone(),
            Values::Range { points: 1, .. } => self.at(0.0),
            Values::Range { points, .. } => self.at(index as f64 / (points - 1) as f64),
        }
    }

    /// The value at this share of the range, from 0 to 1.
    pub(super) fn at(&self, share: f64) -> Setting {
        match &self.values {
            Values::List(list) => {
                let index = (share * list.len() as f64) as usize;
                list[index.min(list.len() - 1)].clone()
            }
            Values::Range { from, to, log, unit, .. } => {
                let value = if *log {
                    from * libm::pow(to / from, share)
                } else {
                    from + (to - from) * share
                };
                // The ends are exact.
                let value = if share >= 1.0 { *to } else { value };
                if unit.is_empty() {
                    return Setting { text: format!("{value:?}"), number: Some(value) };
                }
                let value = rounded(value);
                Setting { text: format!("{value}{unit}"), number: Some(value) }
            }
        }
    }

    /// With another number of values in a grid; a list has no other.
    pub(super) fn resized(mut self, count: usize) -> Self {
        if let Values::Range { points, .. } = &mut self.values {
            *points = count;
        }
        self
    }
}

impl Method {
    pub(super) fn points(&self, parameters: &[Parameter]) -> usize {
        match self {
            Self::Grid => parameters.iter().map(Parameter::count).product(),
            Self::Samples(points) => points.len(),
        }
    }

    pub(super) fn settings(&self, parameters: &[Parameter], point: usize) -> Vec<Setting> {
        match self {
            Self::Samples(points) => {
                parameters.iter().zip(&points[point]).map(|(one, share)| one.at(*share)).collect()
            }
            Self::Grid => {
                let mut rest = point;
                let mut settings: Vec<Setting> = parameters
                    .iter()
                    .rev()
                    .map(|parameter| {
                        let index = rest % parameter.count();
                        rest /= parameter.count();
                        parameter.at_index(index)
                    })
                    .collect();
                settings.reverse();
                settings
            }
        }
    }

    /// A Latin hypercube: each of `count` equal parts of every axis has one point (McKay, Beckman
    /// and Conover 1979).
    pub(super) fn latin_hypercube(dimensions: usize, count: usize, seed: Seed) -> Self {
        let mut points = vec![Vec::with_capacity(dimensions); count];
        for dimension in 0..dimensions {
            let mut random = seed.stream(&format!("sweep.hypercube.{dimension}"));
            let mut parts: Vec<usize> = (0..count).collect();
            // Fisher and Yates.
            for last in (1..count).rev() {
                parts.swap(last, random.below(last as u64 + 1) as usize);
            }
            for (point, part) in points.iter_mut().zip(parts) {
                point.push((part as f64 + random.uniform()) / count as f64);
            }
        }
        Self::Samples(points)
    }

    /// The first points of a Sobol sequence with Owen's scrambling.
    pub(super) fn sobol(dimensions: usize, count: usize, seed: Seed) -> Self {
        Self::Samples((0..count).map(|index| sobol(dimensions, index, seed)).collect())
    }
}

/// A point of the Sobol sequence; `index` is below [`MAX_SOBOL`].
pub(super) fn sobol(dimensions: usize, index: usize, seed: Seed) -> Vec<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "limited by the reader")]
    let at = |dimension: usize| {
        f64::from(sobol_burley::sample(index as u32, dimension as u32, seed.0 as u32))
    };
    (0..dimensions).map(at).collect()
}

/// The most points of a Sobol sequence, and its most dimensions (the crate `sobol_burley`).
pub(super) const MAX_SOBOL: (usize, usize) = (1 << 16, sobol_burley::NUM_DIMENSIONS as usize);
