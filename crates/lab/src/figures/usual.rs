//! The usual plots, for an experiment without figures.

use super::kind::{FigureKind, Runs};
use super::time::{PanelSpec, SeriesSpec, TimePlot, figures_per_cell};
use crate::runner::Job;
use document::{Fault, Reader};
use metrics::MetricError;
use report::Panel;
use sim::Recording;
use sim::recording::StreamKind;

/// The greatest number of cells that are shown.
const MAX_CELLS: usize = 4;

/// Rates, loss, congestion windows and round-trip times of all video streams and TCP flows, in the
/// first run of the first cells.
#[derive(Debug)]
pub(super) struct UsualPlots;

impl FigureKind for UsualPlots {
    type Extract = Vec<Panel>;

    fn read(_: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(Self)
    }

    fn extract(
        &self,
        job: Job,
        recording: &Recording,
        streams: &[String],
    ) -> Result<Option<Vec<Panel>>, MetricError> {
        if !self.may_show(job) {
            return Ok(None);
        }
        plot(recording).panels(recording, streams).map(Some)
    }

    fn assemble(&self, runs: &Runs<'_, Vec<Panel>>) -> Vec<report::Figure> {
        let mut figures = figures_per_cell(runs);
        let all = runs.cells().count();
        if let Some(last) = figures.last_mut().filter(|_| all > MAX_CELLS) {
            last.caption = format!(
                "Shown: the first {MAX_CELLS} of {all} cells. A [[figure]] in the experiment file \
                 shows all of them, for example as a table."
            );
        }
        figures
    }

    fn may_show(&self, job: Job) -> bool {
        job.run == 0 && job.cell < MAX_CELLS
    }
}

fn plot(recording: &Recording) -> TimePlot {
    let panel = |label: &str, unit: &str, value: &str, kinds: &[StreamKind]| PanelSpec {
        label: label.to_owned(),
        unit: super::unit::parse(unit).unwrap_or(report::Scale::NONE),
        log: false,
        series: recording
            .streams
            .iter()
            .filter(|stream| kinds.contains(&stream.kind))
            .map(|stream| SeriesSpec {
                stream: stream.name.clone(),
                value: value.to_owned(),
                name: stream.name.clone(),
                reference: false,
                dots: false,
            })
            .collect(),
        marks: Vec::new(),
    };
    let panels = [
        panel("received", "kbit/s", "received_rate", &[StreamKind::Video, StreamKind::Tcp]),
        panel("fraction lost", "%", "fractionLost", &[StreamKind::Video]),
        panel("congestion window", "kB", "congestionWindow", &[StreamKind::Tcp]),
        panel("RTT", "ms", "roundTripTime", &[StreamKind::Video, StreamKind::Tcp]),
    ];
    TimePlot {
        run: 0,
        series_axis: None,
        reference: None,
        panels: panels.into_iter().filter(|panel| !panel.series.is_empty()).collect(),
    }
}
