//! Panels of several runs as one: the mean, its confidence interval and the single runs.

use metrics::{Estimate, mean};
use report::{Panel, Role, Series, SeriesStyle};

/// The greatest number of steps in which a mean over time is drawn. Our choice: a step is then
/// about four pixels of a wide plot.
pub(super) const STEPS: usize = 240;
/// The least number of steps. Our choice.
const LEAST_STEPS: usize = 30;
/// The greatest number of single runs that are drawn behind their mean. Our choice: more lines
/// cannot be told apart.
const MAX_RUNS: usize = 20;

/// The greatest number of cells whose single runs are drawn: these are most of the bytes of a page.
/// Our choice.
pub(super) const MAX_CELLS_WITH_RUNS: usize = 4;

/// The panels without their single runs.
pub(super) fn without_runs(mut panels: Vec<Panel>) -> Vec<Panel> {
    for series in panels.iter_mut().flat_map(|panel| &mut panel.series) {
        series.runs.clear();
    }
    panels
}

/// The panels of several runs as one: each series is the mean over the runs, with its interval and
/// the single runs. Panels are the same if they have the same heading, series if they have the same
/// name. The panels of a single run are not changed.
pub(super) fn over_runs(runs: &[&Vec<Panel>]) -> Vec<Panel> {
    if let [only] = runs {
        return (*only).clone();
    }
    let mut all: Vec<Panel> = Vec::new();
    for panel in runs.iter().copied().flatten() {
        let known = all.iter().any(|other| is_same(other, panel));
        if !known {
            all.push(Panel { series: Vec::new(), ..panel.clone() });
        }
    }
    let end = runs.iter().copied().flatten().flat_map(|panel| &panel.series);
    let end = end.flat_map(|series| series.points.last()).map(|(x, _)| *x).fold(0.0, f64::max);
    for panel in &mut all {
        let same: Vec<&Panel> = runs
            .iter()
            .filter_map(|panels| panels.iter().find(|other| is_same(other, panel)))
            .collect();
        let mut names: Vec<&str> = Vec::new();
        for series in same.iter().flat_map(|panel| &panel.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        let of = |name: &str| -> Vec<&Series> {
            same.iter()
                .filter_map(|panel| panel.series.iter().find(|series| series.name == name))
                .collect()
        };
        panel.series = names.iter().filter_map(|name| mean_of(&of(name), end)).collect();
    }
    all
}

fn is_same(one: &Panel, other: &Panel) -> bool {
    one.title == other.title && one.y_label == other.y_label
}

/// The mean of a series over the runs until the time `end`, where at least half of them have a
/// value: elsewhere a few runs would stand for all.
fn mean_of(runs: &[&Series], end: f64) -> Option<Series> {
    let first = *runs.first()?;
    if first.role == Role::Reference || end <= 0.0 {
        return Some(first.clone());
    }
    let stepped = stepped(runs, end);
    let at = |step: usize| {
        let values: Vec<f64> =
            stepped.iter().map(|run| run[step].1).filter(|value| value.is_finite()).collect();
        let x = stepped[0][step].0;
        if 2 * values.len() < runs.len() {
            return (x, f64::NAN, f64::NAN, f64::NAN);
        }
        let Estimate { mean, half_width, .. } = Estimate::of(&values);
        // What is never negative has no negative interval.
        let floor = if values.iter().all(|value| *value >= 0.0) { 0.0 } else { f64::NEG_INFINITY };
        match half_width {
            Some(half) => (x, mean, (mean - half).max(floor), mean + half),
            None => (x, mean, f64::NAN, f64::NAN),
        }
    };
    let all: Vec<(f64, f64, f64, f64)> = (0..stepped[0].len()).map(at).collect();
    let has_value = |run: &[(f64, f64)]| run.iter().rposition(|(_, value)| value.is_finite());
    let faint = |run: Vec<(f64, f64)>| {
        let end = has_value(&run).map_or(0, |last| last + 1);
        run.into_iter().take(end).collect()
    };
    let points: Vec<(f64, f64)> = all.iter().map(|(x, mean, ..)| (*x, *mean)).collect();
    let end = has_value(&points).map_or(0, |last| last + 1);
    Some(Series {
        points: points.into_iter().take(end).collect(),
        band: all.iter().take(end).map(|(x, _, low, high)| (*x, *low, *high)).collect(),
        runs: stepped.into_iter().take(MAX_RUNS).map(faint).collect(),
        style: SeriesStyle::Line,
        ..first.clone()
    })
}

/// The runs of a series in steps, the same in all: the shortest steps of which most have a value in
/// each run.
fn stepped(runs: &[&Series], end: f64) -> Vec<Vec<(f64, f64)>> {
    let in_steps = |count: usize| -> Vec<Vec<(f64, f64)>> {
        runs.iter().map(|series| steps(&series.points, end, count)).collect()
    };
    let mut count = STEPS;
    loop {
        let stepped = in_steps(count);
        if count <= LEAST_STEPS || stepped.iter().all(|run| is_filled(run)) {
            return stepped;
        }
        count /= 2;
    }
}

/// Whether nine tenths of the steps between the first and the last value have a value.
fn is_filled(run: &[(f64, f64)]) -> bool {
    let is_finite = |(_, value): &(f64, f64)| value.is_finite();
    let (Some(first), Some(last)) =
        (run.iter().position(is_finite), run.iter().rposition(is_finite))
    else {
        return true;
    };
    let inner = &run[first..=last];
    10 * inner.iter().filter(|point| is_finite(point)).count() >= 9 * inner.len()
}

/// The means of the values in each of `count` steps until `end`, at the middle of the step;
/// not-a-number in a step without a value.
pub(super) fn steps(points: &[(f64, f64)], end: f64, count: usize) -> Vec<(f64, f64)> {
    let width = end / count as f64;
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); count];
    for (x, y) in points.iter().filter(|(_, y)| y.is_finite()) {
        // A sample at the end of a step belongs to it: it is taken over the interval before.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below count")]
        let step = (libm::ceil(x / width - 1e-9) - 1.0).clamp(0.0, (count - 1) as f64) as usize;
        values[step].push(*y);
    }
    let middle = |step: usize| (step as f64 + 0.5) * width;
    values.iter().enumerate().map(|(step, values)| (middle(step), mean(values))).collect()
}

/// What the lines of a plot over time of this number of runs are, for the note below it.
/// `has_runs`: whether the single runs are drawn.
pub(super) fn note(runs: usize, has_runs: bool) -> String {
    if runs <= 1 {
        return String::new();
    }
    let faint = match (has_runs, runs > MAX_RUNS) {
        (true, true) => format!("; faint: the first {MAX_RUNS} runs"),
        (true, false) => "; faint: the single runs".to_owned(),
        (false, _) => format!("; single runs are drawn for at most {MAX_CELLS_WITH_RUNS} cells"),
    };
    format!(
        "Lines: mean of {runs} runs, where half of them have values; bands: 95 % confidence \
         interval of the mean (Student's t){faint}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(offset: f64) -> Vec<Panel> {
        let points = (1..=480).map(|i| (f64::from(i) / 4.0, f64::from(i % 7) + offset)).collect();
        let series = Series { name: "a".to_owned(), points, ..Series::default() };
        vec![Panel {
            y_label: "rate (kbit/s)".to_owned(),
            series: vec![series],
            ..Panel::default()
        }]
    }

    #[test]
    fn several_runs_are_a_mean_with_an_interval_and_the_single_runs() {
        let (one, other) = (run(10.0), run(14.0));
        let panels = over_runs(&[&one, &other]);
        let [Panel { series, .. }] = panels.as_slice() else { panic!("{panels:?}") };
        let [Series { points, band, runs, .. }] = series.as_slice() else { panic!("{series:?}") };
        assert_eq!((points.len(), band.len(), runs.len()), (STEPS, STEPS, 2));
        // The first two samples, of 1 and 2, are in the first step of half a second.
        assert_eq!(points[0], (0.25, 13.5));
        assert_eq!((runs[0][0].1, runs[1][0].1), (11.5, 15.5));
        // t(0.975, 1) = 12.706; the standard error of 11.5 and 15.5 is 2.
        assert!((band[0].2 - 13.5 - 12.706 * 2.0).abs() < 0.01, "{:?}", band[0]);
        assert_eq!(band[0].1.total_cmp(&0.0), std::cmp::Ordering::Equal, "not below zero");
        assert!(note(2, true).contains("mean of 2 runs") && note(1, true).is_empty());
        assert_eq!(over_runs(&[&one]), one);
    }

    #[test]
    fn a_series_that_some_runs_lack_is_the_mean_of_the_others() {
        let (one, other) = (run(10.0), vec![Panel { series: Vec::new(), ..run(0.0).remove(0) }]);
        let panels = over_runs(&[&one, &other]);
        assert_eq!(panels[0].series[0].runs.len(), 1);
        assert!(
            panels[0].series[0].band.iter().all(|(_, low, high)| low.is_nan() && high.is_nan())
        );
    }

    #[test]
    fn rare_values_are_averaged_over_longer_steps_and_a_few_runs_do_not_stand_for_all() {
        // One value per two seconds; two of the five runs are longer.
        let run = |end: u32| Series {
            points: (0..end).map(|i| (f64::from(2 * i) + 0.5, 1.0)).collect(),
            ..Series::default()
        };
        let runs = [run(30), run(30), run(30), run(60), run(60)];
        let mean = mean_of(&runs.iter().collect::<Vec<_>>(), 120.0).unwrap();
        assert_eq!((mean.points.len(), mean.runs[0].len(), mean.runs[4].len()), (30, 30, 60));
        assert!(mean.points.iter().all(|(_, value)| *value == 1.0), "{:?}", mean.points);
    }
}
