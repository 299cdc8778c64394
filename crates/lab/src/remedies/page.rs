//! The advice as text: the table, the scatter plot, and the commands for the best remedy.

use super::advice::Advice;
use super::catalogue::{Remedy, Settled, Unfit};
use super::rank::Rank;
use super::score::{Standing, change};
use super::situation::{Beside, Measure};
use experiment::{Bottleneck, GatewayQueue};
use metrics::{Better, Estimate, Unit};
use report::{
    Cell, Cells, Column, Dimension, Figure, Mark, MarkAt, MarkKind, Point, Row, Scatter, Section,
    Table, TextTable,
};
use std::fmt::Write as _;

/// The name of the network without a remedy.
pub const AS_IT_STANDS: &str = "as it stands";

impl Measure {
    /// The name of the shown metric.
    #[must_use]
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Call => "goodput",
            Self::Voice => "frame_delay_p95",
            Self::Rate => "received_rate",
            Self::CompletionTime => "completion_time",
            Self::PageLoadTime => "page_load_time_mean",
        }
    }

    const fn unit(self) -> Unit {
        match self {
            Self::Call | Self::Rate => Unit::BitsPerSecond,
            Self::Voice | Self::CompletionTime | Self::PageLoadTime => Unit::Seconds,
        }
    }

    const fn better(self) -> Better {
        match self {
            Self::Call | Self::Rate => Better::Higher,
            Self::Voice | Self::CompletionTime | Self::PageLoadTime => Better::Lower,
        }
    }
}

impl Beside {
    /// The heading of its column: the name, and for a voice the word "delay".
    fn heading(&self) -> String {
        if self.measure == Measure::Voice {
            format!("{} delay", self.name)
        } else {
            self.name.clone()
        }
    }
}

impl Advice {
    /// The remedy of a rank; `None` without a remedy.
    #[must_use]
    pub fn remedy(&self, rank: &Rank) -> Option<&Remedy> {
        rank.remedy.map(|remedy| &self.remedies[remedy])
    }

    /// The name of a rank.
    #[must_use]
    pub fn name(&self, rank: &Rank) -> &'static str {
        self.remedy(rank).map_or(AS_IT_STANDS, |remedy| remedy.name)
    }

    /// The remedy in the only situation; `None` with several situations.
    #[must_use]
    pub fn settled_once(&self, remedy: Option<usize>) -> Option<&Settled> {
        let [settled] = &self.settled[remedy?][..] else { return None };
        settled.as_ref().ok()
    }

    /// The number of situations in which a remedy can be applied.
    #[must_use]
    pub fn applied(&self, remedy: Option<usize>) -> usize {
        let situations = self.group.situations.len();
        remedy.map_or(situations, |remedy| {
            self.settled[remedy].iter().filter(|one| one.is_ok()).count()
        })
    }

    /// The remedies that cannot be applied, by reason. If a reason holds in some of the situations
    /// only, their number is added: `wmm (in 3)`.
    #[must_use]
    pub fn unfit(&self) -> Vec<(Vec<String>, &Unfit)> {
        let mut reasons: Vec<(Vec<String>, &Unfit)> = Vec::new();
        for (remedy, settled) in self.remedies.iter().zip(&self.settled) {
            let mut counts: Vec<(&Unfit, usize)> = Vec::new();
            for unfit in settled.iter().filter_map(|settled| settled.as_ref().err()) {
                match counts.iter_mut().find(|(other, _)| *other == unfit) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((unfit, 1)),
                }
            }
            for (unfit, count) in counts {
                let name = match count {
                    count if count == settled.len() => remedy.name.to_owned(),
                    count => format!("{} (in {count})", remedy.name),
                };
                match reasons.iter_mut().find(|(_, reason)| *reason == unfit) {
                    Some((names, _)) => names.push(name),
                    None => reasons.push((vec![name], unfit)),
                }
            }
        }
        reasons
    }

    /// Whether the network does not carry the call even alone: less than half of its goodput is
    /// useful.
    #[must_use]
    pub fn is_poor_alone(&self) -> bool {
        let alone = self.alone();
        let useful: f64 = alone.clone().map(|call| call.useful_rate).sum();
        useful < 0.5 * alone.map(|call| call.goodput).sum::<f64>()
    }

    /// What is judged, in one line.
    #[must_use]
    pub fn heading(&self) -> String {
        match &self.group.situations[..] {
            [one] => {
                let cell =
                    if one.label.is_empty() { String::new() } else { format!(", {}", one.label) };
                format!("{}{cell}: {} ({})", self.group.name, one.experiment.title, one.summary())
            }
            many => format!("{}: {} situations", self.group.name, many.len()),
        }
    }

    /// Where packets wait for the lines whose queues may be changed, in one sentence; `None`
    /// without such lines, or with several situations.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let [one] = &self.group.situations[..] else { return None };
        if one.lines.is_empty() {
            return None;
        }
        let names: Vec<&str> = one.lines.iter().map(|line| line.name.as_str()).collect();
        let (names, share) = (names.join(", "), one.advise.share);
        Some(match one.advise.bottleneck {
            Bottleneck::Modem => format!(
                "{names}: packets wait in the modem, so each queue shapes at {share} of the line (--set advise.share=90%)."
            ),
            Bottleneck::Interface => format!(
                "{names}: packets wait where the queue is set, not in a modem behind it (--set advise.bottleneck=modem)."
            ),
        })
    }

    /// The remedies as rows, best first. With one situation the columns have its values, with
    /// several the changes against the network without a remedy.
    #[must_use]
    pub fn table(&self, ranks: &[Rank]) -> Table {
        let columns = self.columns(ranks);
        let row = |rank: &Rank| Row {
            label: format!(
                "{}{} {}",
                rank.position,
                if rank.as_good && rank.position > 1 { "=" } else { "." },
                self.name(rank)
            ),
            cells: Cells::Each(columns.iter().map(|(_, cell)| cell(self, rank)).collect()),
            reference: ranks.iter().position(|other| other.remedy.is_none()),
        };
        let unfit = self.unfit().into_iter().map(|(names, reason)| Row {
            label: names.join(", "),
            cells: Cells::Inapplicable(reason.to_string()),
            reference: None,
        });
        Table {
            label: "remedy".to_owned(),
            rows: ranks.iter().map(row).chain(unfit).collect(),
            columns: columns.into_iter().map(|(column, _)| column).collect(),
            reference: AS_IT_STANDS.to_owned(),
        }
    }

    fn columns(&self, ranks: &[Rank]) -> Vec<(Column, CellOf)> {
        use Better::{Higher, Lower, Neither};
        use Unit::{BitsPerSecond, Count, Seconds, Share};
        let text = |name, cell: fn(&Self, &Rank) -> String| -> (Column, CellOf) {
            (Column::text(name), Box::new(move |advice, rank| Cell::Text(cell(advice, rank))))
        };
        let value = |name: &str, unit, better, of: fn(&Standing) -> Estimate| -> (Column, CellOf) {
            let column = Column { name: name.to_owned(), unit, scale: None, better };
            (column, Box::new(move |_, rank| Cell::Value(of(&rank.standing))))
        };
        let mut columns = vec![text("kind", |advice, rank| {
            advice.remedy(rank).map_or(String::new(), |remedy| remedy.kind.to_string())
        })];
        let single = self.group.situations.len() == 1;
        if !single {
            columns.push(text("in", |advice, rank| advice.applied(rank.remedy).to_string()));
        }
        columns.push(value("score", Count, Higher, |one| Estimate::of(&one.scores)));
        columns.push(value("call", Share, Higher, |one| one.quality));
        if single {
            columns.push(value("goodput", BitsPerSecond, Higher, |one| one.goodput));
            columns.push(value("frame delay p95", Seconds, Lower, |one| one.frame_delay_p95));
            columns.push(value("frozen", Share, Lower, |one| one.freeze_share));
        } else {
            columns
                .push(value("goodput, change", Share, Higher, |one| change(&one.goodput_change)));
            columns.push(value("frame delay p95, change", Share, Lower, |one| {
                change(&one.frame_delay_change)
            }));
            columns.push(value("frozen, change", Share, Lower, |one| one.freeze_change));
        }
        // No recovery time if no other traffic ends.
        if ranks.iter().any(|rank| !rank.standing.recovery_time.mean.is_nan()) {
            columns.push(value("recovery", Seconds, Lower, |one| one.recovery_time));
        }
        if let [one] = &self.group.situations[..] {
            for (index, beside) in one.beside.iter().enumerate() {
                let (unit, better) = (beside.measure.unit(), beside.measure.better());
                let column = Column { name: beside.heading(), unit, scale: None, better };
                let cell = move |_: &Self, rank: &Rank| {
                    Cell::Value(rank.standing.beside.get(index).copied().unwrap_or_default())
                };
                columns.push((column, Box::new(cell)));
            }
        }
        columns.push(value("others keep", Share, Higher, |one| one.kept));
        columns.push(value("Jain", Count, Neither, |one| one.jain));
        columns
    }

    /// The quality of the call over the cost for the other traffic, one point per remedy.
    #[must_use]
    pub fn scatter(&self, ranks: &[Rank]) -> Scatter {
        let point = |rank: &Rank| Point {
            label: self.name(rank).to_owned(),
            series: self.remedy(rank).map_or(String::new(), |remedy| remedy.kind.to_string()),
            x: Estimate { mean: rank.standing.cost(), ..rank.standing.kept },
            y: rank.standing.quality,
        };
        let dimension = |label: &str, better| Dimension {
            label: label.to_owned(),
            unit: Unit::Share,
            scale: None,
            better,
            log: false,
        };
        Scatter {
            x: dimension("share of their speed that the others lose", Better::Lower),
            y: dimension("quality of the call, relative to the call alone", Better::Higher),
            points: ranks.iter().map(point).collect(),
            marks: vec![Mark {
                at: MarkAt::X(0.0),
                label: String::new(),
                kind: MarkKind::Reference,
            }],
        }
    }

    /// The best remedy as text: its description, gain and cost, and the remedies that do not differ
    /// significantly.
    #[must_use]
    pub fn verdict(&self, ranks: &[Rank]) -> String {
        let Some(best) = ranks.first() else { return String::new() };
        let mut text = match self.remedy(best) {
            None => "Best: change nothing.".to_owned(),
            Some(remedy) => format!("Best: {}, {}.", remedy.name, remedy.about),
        };
        let plain = ranks.iter().find(|rank| rank.remedy.is_none());
        if let Some(plain) = plain.filter(|_| best.remedy.is_some()) {
            let (with, without) = (&best.standing, &plain.standing);
            let share = |estimate: &Estimate| format!("{:.0} %", 100.0 * estimate.mean);
            let (now, before) = (share(&with.quality), share(&without.quality));
            let _ = write!(text, " The call has {now} of its quality alone, instead of {before}");
            if let [one] = &self.group.situations[..] {
                for ((beside, now), before) in
                    one.beside.iter().zip(&with.beside).zip(&without.beside)
                {
                    let show = |estimate: &Estimate| {
                        let value = beside.measure.unit().show(estimate.mean);
                        estimate
                            .incomplete()
                            .map_or(value.clone(), |words| format!("{value} ({words})"))
                    };
                    let _ = write!(
                        text,
                        "; {}: {} instead of {}",
                        beside.heading(),
                        show(now),
                        show(before)
                    );
                }
            } else {
                let _ = write!(text, "; the others keep {} of their speed", share(&with.kept));
            }
            text.push('.');
        }
        if best.standing.quality.mean < POOR {
            text += " That is not a good call yet.";
        }
        if self.is_poor_alone() {
            text += " This network does not carry the call well even alone: reduce its video rate, or use a faster line.";
        }
        for left_out in self.left_out() {
            let _ = write!(text, " Left out: {left_out}.");
        }
        let tied: Vec<&str> =
            ranks.iter().skip(1).filter(|rank| rank.as_good).map(|rank| self.name(rank)).collect();
        if tied.len() + 1 == ranks.len() && ranks.len() > 1 {
            text += " None of the others differs significantly: use more seeds with --runs.";
        } else if !tied.is_empty() {
            let _ = write!(text, " Not significantly worse: {}.", tied.join(", "));
        }
        text
    }

    /// The tc commands of a remedy in the only situation, for each of its queues and the device
    /// `dev`.
    #[must_use]
    pub fn tc(&self, remedy: Option<usize>, dev: &str) -> Vec<GatewayQueue> {
        let Some(settled) = self.settled_once(remedy) else { return Vec::new() };
        let queues = settled.experiment.cells()[0].gateway_queues(dev);
        queues.into_iter().filter(|queue| settled.lines.contains(&queue.line)).collect()
    }

    /// The changes of a remedy in the only situation apart from queues: (path, value), as for
    /// `--set`.
    #[must_use]
    pub fn other_edits(&self, remedy: Option<usize>) -> Vec<&(String, String)> {
        let Some(settled) = self.settled_once(remedy) else { return Vec::new() };
        let is_queue = |path: &str| {
            let line = path.strip_suffix(".queue").or_else(|| path.strip_suffix(".shaper"));
            line.is_some_and(|path| settled.lines.iter().any(|line| path.ends_with(line.as_str())))
        };
        settled.set.iter().filter(|(path, _)| !is_queue(path)).collect()
    }

    /// Whether the remedy in the only situation needs marks of the call that the file lacks.
    #[must_use]
    pub fn marks_the_call(&self, remedy: Option<usize>) -> bool {
        self.other_edits(remedy).iter().any(|(path, _)| path.ends_with(".dscp"))
    }

    /// The advice as a section of a report page.
    #[must_use]
    pub fn section(&self, ranks: &[Rank], dev: &str) -> Section {
        let text = self.verdict(ranks);
        let id = |what: &str| format!("{}-{what}", self.group.name);
        let figures = vec![
            Figure {
                id: id("table"),
                title: "Gain and cost of each remedy".to_owned(),
                caption: "'call' is the useful rate of the call relative to the call alone: goodput × delay factor \
                          (ITU-T G.107) × share of the time without a frozen picture, while other traffic shares the \
                          network. 'others keep' is the speed of the other traffic relative to that without \
                          the remedy. The score is the weighted geometric mean of both; '=' marks remedies that do not differ significantly from the best."
                    .to_owned(),
                body: Box::new(self.table(ranks)),
            },
            Figure {
                id: id("picture"),
                title: "Quality of the call against the cost for the others".to_owned(),
                caption: String::new(),
                body: Box::new(self.scatter(ranks)),
            },
        ];
        let best = ranks.first().and_then(|rank| rank.remedy);
        let queues =
            self.tc(best, dev).into_iter().map(|queue| vec![queue.line.clone(), queue.commands()]);
        let others =
            self.other_edits(best).into_iter().map(|(key, value)| vec![key.clone(), value.clone()]);
        let rows: Vec<Vec<String>> = queues.chain(others).collect();
        let table = (!rows.is_empty()).then(|| TextTable {
            caption: "The best remedy: the commands for each line, and other changes of the file"
                .to_owned(),
            columns: vec!["where".to_owned(), "what".to_owned()],
            rows,
        });
        Section {
            id: self.group.name.clone(),
            title: self.heading(),
            text,
            compared: Vec::new(),
            figures,
            table,
        }
    }
}

/// Below this share of the quality alone, the verdict says that the call is not good. Our choice.
const POOR: f64 = 0.25;

/// The cell of a column for a rank.
type CellOf = Box<dyn Fn(&Advice, &Rank) -> Cell>;
