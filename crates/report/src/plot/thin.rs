//! Fewer points for the same picture: within one column of the plot only the least and the greatest
//! value are visible.

use std::collections::BTreeSet;

/// The runs of consecutive finite points. A value that is not finite ends a run.
pub(crate) fn runs(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    points
        .split(|(x, y)| !x.is_finite() || !y.is_finite())
        .filter(|run| !run.is_empty())
        .map(<[(f64, f64)]>::to_vec)
        .collect()
}

/// Thins a run that is drawn over `low..high` in `columns` columns: keeps the least and the
/// greatest value of each column, in order, and both ends. A run whose x decreases is not changed.
pub(crate) fn columns(run: &[(f64, f64)], low: f64, high: f64, columns: usize) -> Vec<(f64, f64)> {
    let rising = run.windows(2).all(|w| w[0].0 <= w[1].0);
    if run.len() <= 2 * columns || !rising || columns == 0 {
        return run.to_vec();
    }
    let width = (high - low) / columns as f64;
    let column = |x: f64| libm::floor((x - low) / width) as i64;
    let last = run.len() - 1;
    let mut kept = Vec::with_capacity(2 * columns + 2);
    let mut start = 0;
    while start <= last {
        let here = column(run[start].0);
        let end =
            start + run[start..].iter().take_while(|(x, _)| column(*x) == here).count().max(1);
        let least = (start..end).min_by(|a, b| run[*a].1.total_cmp(&run[*b].1)).unwrap_or(start);
        let most = (start..end).max_by(|a, b| run[*a].1.total_cmp(&run[*b].1)).unwrap_or(start);
        let ends = [0, last].into_iter().filter(|i| (start..end).contains(i));
        let indices: BTreeSet<usize> = ends.chain([least, most]).collect();
        kept.extend(indices.into_iter().map(|i| run[i]));
        start = end;
    }
    kept
}

/// The corners of a staircase in which each value holds until the next one.
pub(crate) fn stairs(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(2 * run.len());
    for &(x, y) in run {
        if let Some(&(_, before)) = out.last()
            && before != y
        {
            out.push((x, before));
        }
        out.push((x, y));
    }
    level(&out)
}

/// Removes the inner points of horizontal stretches.
pub(crate) fn level(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(run.len());
    for &point in run {
        if let [.., a, b] = out[..]
            && a.1 == b.1
            && b.1 == point.1
            && (a.0 <= b.0) == (b.0 <= point.0)
        {
            out.pop();
        }
        out.push(point);
    }
    out
}

/// Keeps one point per cell of a grid over the plot; `cell` is the cell's width and height.
pub(crate) fn one_per_cell(points: Vec<(f64, f64)>, cell: (f64, f64)) -> Vec<(f64, f64)> {
    let mut seen = BTreeSet::new();
    let key = |(x, y): (f64, f64)| (libm::round(x / cell.0) as i64, libm::round(y / cell.1) as i64);
    points.into_iter().filter(|p| seen.insert(key(*p))).collect()
}

#[cfg(test)]
mod tests {
    use super::{columns, level, runs, stairs};
    use proptest::prelude::*;

    #[test]
    fn a_value_that_is_not_finite_ends_a_run() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 3.0), (3.0, f64::INFINITY)];
        assert_eq!(runs(&points), [vec![(0.0, 1.0)], vec![(2.0, 3.0)]]);
    }

    #[test]
    fn a_staircase_has_two_corners_per_change() {
        assert_eq!(
            stairs(&[(0.0, 1.0), (5.0, 1.0), (10.0, 2.0)]),
            [(0.0, 1.0), (10.0, 1.0), (10.0, 2.0)]
        );
    }

    proptest! {
        #[test]
        fn thinning_keeps_the_extremes_of_every_column(
            ys in prop::collection::vec(-1e6f64..1e6, 1..2000),
            count in 1usize..200,
        ) {
            let run: Vec<(f64, f64)> = ys.iter().enumerate().map(|(i, &y)| (i as f64 * 0.1, y)).collect();
            let high = run.len() as f64 * 0.1;
            let thin = columns(&run, 0.0, high, count);
            prop_assert!(thin.len() <= run.len().min(2 * count + 2));
            prop_assert_eq!(thin.first(), run.first());
            prop_assert_eq!(thin.last(), run.last());
            prop_assert!(thin.windows(2).all(|w| w[0].0 < w[1].0));
            prop_assert!(thin.iter().all(|p| run.contains(p)));
            let extremes = |points: &[(f64, f64)], c: usize| {
                let width = high / count as f64;
                let here = points.iter().filter(|p| libm::floor(p.0 / width) as usize == c).map(|p| p.1);
                here.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)))
            };
            for c in 0..count {
                prop_assert_eq!(extremes(&run, c), extremes(&thin, c));
            }
        }

        #[test]
        fn removing_inner_points_changes_no_value(ys in prop::collection::vec(0u8..3, 1..60)) {
            let run: Vec<(f64, f64)> = ys.iter().enumerate().map(|(i, &y)| (i as f64, f64::from(y))).collect();
            let thin = level(&run);
            for &(x, y) in &run {
                let after = thin.iter().position(|p| p.0 >= x).expect("the last point stays");
                let same = thin[after] == (x, y) || (thin[after].1 == y && thin[after - 1].1 == y);
                prop_assert!(same, "{:?} {:?}", run, thin);
            }
        }
    }
}
