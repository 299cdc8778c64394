use super::{Mark, Scale};
use metrics::{Better, Estimate, Unit};

/// Points with names in a plane, such as what each of several costs and gains.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Across.
    pub x: Dimension,
    /// Upwards.
    pub y: Dimension,
    /// The points. One whose place is not finite is named beside the plot instead.
    pub points: Vec<Point>,
    /// Published values and references, in the units in which the axes are shown.
    pub marks: Vec<Mark>,
}

/// What an axis shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// Its name, without the unit.
    pub label: String,
    /// The unit of the values.
    pub unit: Unit,
    /// The unit in which they are shown; one that fits them all if `None`.
    pub scale: Option<Scale>,
    /// Which way they improve, which is said at the axis' end.
    pub better: Better,
    /// Logarithmic.
    pub log: bool,
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Its name, written beside it.
    pub label: String,
    /// Points of one series have one colour, named in the legend; empty for no legend.
    pub series: String,
    /// Where it lies across, in the dimension's unit.
    pub x: Estimate,
    /// How high it lies.
    pub y: Estimate,
}

impl Scatter {
    /// The units in which both axes are shown.
    pub(crate) fn scales(&self) -> (Scale, Scale) {
        let of = |dimension: &Dimension, value: fn(&Point) -> f64| {
            dimension
                .scale
                .unwrap_or_else(|| Scale::of(dimension.unit, self.points.iter().map(value)))
        };
        (of(&self.x, |point| point.x.mean), of(&self.y, |point| point.y.mean))
    }

    /// The series in the order in which they first come.
    pub(crate) fn series(&self) -> Vec<&str> {
        let mut series: Vec<&str> = Vec::new();
        for point in &self.points {
            if !series.contains(&point.series.as_str()) {
                series.push(&point.series);
            }
        }
        series
    }

    /// Whether there are so many points that a number beside each stands for its name.
    pub(crate) const fn is_numbered(&self) -> bool {
        self.points.len() > MAX_NAMES
    }
}

impl Point {
    /// Whether it has a place in the plane.
    pub(crate) const fn is_drawn(&self) -> bool {
        self.x.mean.is_finite() && self.y.mean.is_finite()
    }

    /// Its name with that of its series.
    pub(crate) fn full_name(&self) -> String {
        if self.series.is_empty() {
            self.label.clone()
        } else {
            format!("{}, {}", self.label, self.series)
        }
    }
}

/// The most points that have their names beside them. Ours: as many fit into the plot with names of
/// 20 letters.
const MAX_NAMES: usize = 14;
