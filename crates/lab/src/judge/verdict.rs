//! The comparison of two controllers over a suite.
//!
//! A run of the candidate and the run of the baseline with the same cell and seed are a pair. The
//! differences of the pairs are tested with Student's paired t-test: those of each cell, and those
//! of all cells of an area together, each in units of the least difference that counts in its cell.
//! Holm's method (1979) corrects for the number of tests, so that the chance of even one false
//! alarm in the suite is [`ERROR_RATE`].

use super::suite::{CRITERIA, Criterion, Measured, Suite, Values};
use metrics::{Better, Unit, deviation, half_width, mean};
use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The chance of a false alarm of a whole suite. Our choice: 100 suites without a change give about
/// 0.1 alarms.
const ERROR_RATE: f64 = 0.001;
/// The fewest pairs that are tested. Our choice: with fewer the interval says nothing.
const MIN_PAIRS: usize = 3;

/// What a comparison found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Better beyond the least difference that counts, and not by chance.
    Better,
    /// Worse beyond the least difference that counts, and not by chance.
    Worse,
    /// No such difference was found.
    Same,
    /// Fewer than three pairs of runs have a value.
    Unknown,
}

/// A metric of a cell, or of all cells of an area.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// The area: the title of the experiment.
    pub area: String,
    /// The name of the experiment.
    pub experiment: String,
    /// The cell; `null` for all cells of the area together.
    pub cell: Option<String>,
    /// The metric.
    pub metric: &'static str,
    /// The unit of the values; `null` for an area, whose difference is in units of the least
    /// difference that counts.
    pub unit: Option<Unit>,
    /// The mean of the baseline; `null` for an area.
    pub baseline: Option<f64>,
    /// The mean of the candidate; `null` for an area.
    pub candidate: Option<f64>,
    /// The mean of the differences of the pairs, candidate minus baseline.
    pub difference: f64,
    /// Half the width of its 95 % confidence interval.
    pub half_width: Option<f64>,
    /// The least difference that counts.
    pub least: f64,
    /// The probability of such a difference without a cause, corrected for all tests of the suite.
    pub p: f64,
    /// The number of pairs.
    pub pairs: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict with its size in words.
    pub words: String,
}

/// The grade of an area: A if nothing is worse, F if more than half of its tests are.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Grade {
    /// The area.
    pub area: String,
    /// A to F.
    pub grade: char,
    /// The numbers of better, worse and equal metrics of cells.
    pub better: usize,
    /// See `better`.
    pub worse: usize,
    /// See `better`.
    pub same: usize,
}

/// All findings about a candidate.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Per area: the area together, then its cells.
    pub findings: Vec<Finding>,
    /// Per area.
    pub grades: Vec<Grade>,
}

impl Judged {
    /// The findings with this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.verdict == verdict)
    }

    /// Compares two controllers. Only differences of at least `size` times the least ones count.
    #[must_use]
    pub fn of(suite: &Suite, baseline: &Measured, candidate: &Measured, size: f64) -> Self {
        let mut findings = Vec::new();
        for (place, experiment) in suite.experiments().iter().enumerate() {
            for (index, criterion) in CRITERIA.iter().enumerate() {
                let mut pooled = Vec::new();
                let mut cells = Vec::new();
                for cell in experiment.cells() {
                    let runs = |measured: &Measured| measured.runs[place][cell.index].clone();
                    let pairs = pairs(&runs(baseline), &runs(candidate), index);
                    if pairs.is_empty() {
                        continue;
                    }
                    let finding = finding_of_cell(criterion, size, &pairs);
                    let differences = pairs.iter().map(|(before, after)| after - before);
                    pooled.extend(differences.map(|difference| difference / finding.least));
                    cells.push(Finding { cell: Some(cell.label()), ..finding });
                }
                if cells.is_empty() {
                    continue;
                }
                let whole = tested(criterion, &pooled, 1.0);
                for finding in std::iter::once(whole).chain(cells) {
                    let (area, name) = (experiment.title.clone(), experiment.name.clone());
                    findings.push(Finding { area, experiment: name, ..finding });
                }
            }
        }
        correct(&mut findings);
        findings.iter_mut().for_each(decide);
        let grades = suite.areas().map(|area| Grade::of(area, &findings)).collect();
        Self { findings, grades }
    }
}

/// The finite values of the pairs: (baseline, candidate).
fn pairs(
    baseline: &[Option<Values>],
    candidate: &[Option<Values>],
    index: usize,
) -> Vec<(f64, f64)> {
    let both = baseline.iter().zip(candidate);
    both.filter_map(|(before, after)| Some(((*before)?[index], (*after)?[index])))
        .filter(|(before, after)| before.is_finite() && after.is_finite())
        .collect()
}

fn finding_of_cell(criterion: &Criterion, size: f64, pairs: &[(f64, f64)]) -> Finding {
    let (before, after): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let differences: Vec<f64> = pairs.iter().map(|(before, after)| after - before).collect();
    let baseline = mean(&before);
    let least = size * (criterion.relative * baseline.abs()).max(criterion.absolute);
    let finding = tested(criterion, &differences, least);
    let (unit, candidate) = (Some(criterion.unit), Some(mean(&after)));
    Finding { unit, baseline: Some(baseline), candidate, ..finding }
}

/// The test of these differences, before the correction.
fn tested(criterion: &Criterion, differences: &[f64], least: f64) -> Finding {
    let difference = mean(differences);
    Finding {
        area: String::new(),
        experiment: String::new(),
        cell: None,
        metric: criterion.metric,
        unit: None,
        baseline: None,
        candidate: None,
        difference,
        half_width: half_width(differences, 0.95),
        least,
        p: if differences.len() < MIN_PAIRS { f64::NAN } else { p_value(differences) },
        pairs: differences.len(),
        verdict: Verdict::Unknown,
        words: String::new(),
    }
}

/// The two-sided probability of Student's paired t-test that the mean is 0.
fn p_value(differences: &[f64]) -> f64 {
    let (difference, deviation) = (mean(differences), deviation(differences));
    if difference == 0.0 {
        return 1.0;
    }
    let count = differences.len() as f64;
    match StudentsT::new(0.0, 1.0, count - 1.0) {
        // Equal differences in all pairs have no deviation, and the probability is 0.
        Ok(student) => 2.0 * student.sf((difference / (deviation / count.sqrt())).abs()),
        Err(_) => f64::NAN,
    }
}

/// Holm's method: the i-th smallest of m probabilities times m − i, and at least the one before
/// (S. Holm, A simple sequentially rejective multiple test procedure, 1979).
fn correct(findings: &mut [Finding]) {
    let mut order: Vec<usize> =
        (0..findings.len()).filter(|index| !findings[*index].p.is_nan()).collect();
    order.sort_by(|one, other| findings[*one].p.total_cmp(&findings[*other].p));
    let (count, mut before) = (order.len(), 0.0_f64);
    for (rank, index) in order.into_iter().enumerate() {
        before = before.max(findings[index].p * (count - rank) as f64).min(1.0);
        findings[index].p = before;
    }
}

impl Finding {
    /// Whether more of the metric is better.
    #[must_use]
    pub fn wants_more(&self) -> bool {
        let criterion = CRITERIA.iter().find(|criterion| criterion.metric == self.metric);
        criterion.is_some_and(|criterion| criterion.better == Better::Higher)
    }
}

fn decide(finding: &mut Finding) {
    let size = (finding.difference / finding.least).abs();
    let rises = finding.difference > 0.0;
    finding.verdict = match finding.p {
        p if p.is_nan() => Verdict::Unknown,
        p if p >= ERROR_RATE || size < 1.0 => Verdict::Same,
        _ if rises == finding.wants_more() => Verdict::Better,
        _ => Verdict::Worse,
    };
    let much = match size {
        size if size < 2.0 => "a little",
        size if size < 5.0 => "clearly",
        _ => "much",
    };
    finding.words = match finding.verdict {
        Verdict::Better => format!("{much} better"),
        Verdict::Worse => format!("{much} worse"),
        Verdict::Same if size >= 1.0 => "the seeds differ too much to tell".to_owned(),
        Verdict::Same => "no difference that counts".to_owned(),
        Verdict::Unknown => "too few runs have a value".to_owned(),
    };
}

impl Grade {
    fn of(area: &str, findings: &[Finding]) -> Self {
        let count = |verdict| {
            let of_area = findings.iter().filter(|finding| finding.area == area);
            of_area.filter(|finding| finding.verdict == verdict).count()
        };
        let (better, worse, same) =
            (count(Verdict::Better), count(Verdict::Worse), count(Verdict::Same));
        let grade = match worse as f64 / (better + worse + same).max(1) as f64 {
            0.0 => 'A',
            share if share <= 0.1 => 'B',
            share if share <= 0.25 => 'C',
            share if share <= 0.5 => 'D',
            _ => 'F',
        };
        Self { area: area.to_owned(), grade, better, worse, same }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(p: f64) -> Finding {
        Finding { p, ..tested(&CRITERIA[0], &[1.0, 2.0, 3.0], 1.0) }
    }

    #[test]
    fn the_probability_is_that_of_students_t() {
        // R 4.3: t.test(c(1, 2, 3, 4, 5))$p.value = 0.01324; of three, 0.0742.
        assert!((p_value(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 0.01324).abs() < 1e-5);
        assert!((p_value(&[1.0, 2.0, 3.0]) - 0.0742).abs() < 1e-4);
        assert_eq!((p_value(&[0.0; 5]), p_value(&[1.0; 5])), (1.0, 0.0));
    }

    #[test]
    fn probabilities_are_corrected_as_by_holm() {
        // R 4.3: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03 0.06 0.06 0.02.
        let mut findings = [0.01, 0.04, 0.03, 0.005, f64::NAN].map(finding);
        correct(&mut findings);
        let corrected = findings.each_ref().map(|finding| (finding.p * 1e6).round() / 1e6);
        assert_eq!(corrected[..4], [0.03, 0.06, 0.06, 0.02]);
        assert!(corrected[4].is_nan());
    }

    #[test]
    fn a_difference_counts_if_it_is_large_and_not_by_chance() {
        let decided = |difference, p| {
            let mut finding = Finding { difference, least: 10.0, ..finding(p) };
            decide(&mut finding);
            (finding.verdict, finding.words)
        };
        assert_eq!(decided(25.0, 1e-6), (Verdict::Better, "clearly better".to_owned()));
        assert_eq!(decided(-12.0, 1e-6), (Verdict::Worse, "a little worse".to_owned()));
        assert_eq!(decided(9.0, 1e-6).0, Verdict::Same);
        assert_eq!(decided(25.0, 0.01).0, Verdict::Same);
    }
}
