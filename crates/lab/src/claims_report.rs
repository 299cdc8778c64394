//! The report of a verification.

use crate::claims::{Status, Verdict};
use report::{ClaimRow, PrintedRow, Report, Section};

impl From<Status> for report::Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Reproduced => Self::Reproduced,
            Status::NotReproduced => Self::NotReproduced,
            Status::NotRun => Self::NotRun,
        }
    }
}

/// The report of a verification: the claims, then one section per experiment. `facts` say where the
/// numbers come from.
#[must_use]
pub fn claims_report(
    title: &str,
    facts: Vec<(String, String)>,
    verdicts: &[Verdict],
    sections: Vec<Section>,
) -> Report {
    let row = |verdict: &Verdict| ClaimRow {
        id: verdict.id.clone(),
        paper: verdict.paper.clone(),
        source: verdict.location.clone(),
        setting: verdict.setting.clone(),
        published: verdict.published.clone(),
        check: verdict.check.clone(),
        status: report::Status::from(verdict.status),
        measured: verdict.measured.clone(),
        note: verdict.note.clone(),
        as_printed: verdict.as_printed.as_ref().map(|printed| PrintedRow {
            holds: printed.holds,
            measured: printed.measured.clone(),
            note: printed.note.clone(),
        }),
        beside: verdict
            .beside
            .iter()
            .map(|other| (other.controller.clone(), other.holds, other.measured.clone()))
            .collect(),
        anchor: sections
            .iter()
            .any(|section| section.id == verdict.experiment)
            .then(|| verdict.experiment.clone()),
    };
    Report {
        title: title.to_owned(),
        subtitle: String::new(),
        facts,
        claims: verdicts.iter().map(row).collect(),
        sections,
    }
}
