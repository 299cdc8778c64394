//! How often the rules are right: simulated calls whose truth is known.
//!
//! The networks are drawn from a seed. The rules and their thresholds were written with seed 1; the
//! figures of the guide are those of seed 2.

use super::{Cause, Explanation, explain, network};
use crate::parse;
use std::fmt::Write;
use units::{Bitrate, Seed};

/// A call with what is true of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The experiment.
    pub text: String,
    /// Causes that must be found.
    pub causes: Vec<Cause>,
    /// Causes that may be found: what follows from the others, or is true only in part.
    pub allowed: Vec<Cause>,
    /// The capacity of the line from each time on, s and bit/s.
    pub capacity: Vec<(f64, f64)>,
}

/// How often a cause was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Calls that have it, and in which it was found.
    pub right: u32,
    /// Calls that do not have it, and in which it was found.
    pub wrong: u32,
    /// Calls that have it, and in which it was not found.
    pub missed: u32,
}

impl Score {
    /// The share of findings that are right; `None` without findings.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        let all = self.right + self.wrong;
        (all > 0).then(|| f64::from(self.right) / f64::from(all))
    }

    /// The share of the calls with the cause in which it was found; `None` without such calls.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        let all = self.right + self.missed;
        (all > 0).then(|| f64::from(self.right) / f64::from(all))
    }
}

/// The result of all calls.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// By cause, in the order of [`Cause::ALL`].
    pub scores: [Score; Cause::ALL.len()],
    /// Calls.
    pub calls: u32,
    /// Steps in which a call used more than 70 % of the capacity, and those of them in which the
    /// fitted capacity is within 10 %.
    pub used: u64,
    /// See `used`.
    pub fitted: u64,
    /// Calls with such steps, and those in which at least 80 % of them are fitted.
    pub fit_calls: u32,
    /// See `fit_calls`.
    pub well_fitted: u32,
}

/// The share of the capacity from which the fit is judged, its tolerance, and the share of the
/// steps that make a good fit.
const USED: f64 = 0.7;
const TOLERANCE: f64 = 0.1;
const GOOD: f64 = 0.8;

impl Judgement {
    /// Adds a call.
    pub fn add(&mut self, case: &Case, explanation: &Explanation) {
        self.calls += 1;
        for (score, cause) in self.scores.iter_mut().zip(Cause::ALL) {
            match (case.causes.contains(&cause), explanation.has(cause)) {
                (true, true) => score.right += 1,
                (true, false) => score.missed += 1,
                (false, true) if !case.allowed.contains(&cause) => score.wrong += 1,
                (false, _) => {}
            }
        }
        let fitted = network::capacity(explanation);
        let (mut used, mut good) = (0, 0);
        for (step, fit) in fitted.iter().enumerate() {
            let at = step as f64 + 0.5;
            let truth = case.capacity.iter().rev().find(|(from, _)| *from <= at);
            let Some(truth) = truth.map(|(_, rate)| *rate).filter(|rate| *rate > 0.0) else {
                continue;
            };
            if explanation.signals.carried[step] > USED * truth {
                used += 1;
                good += u64::from((fit / truth - 1.0).abs() <= TOLERANCE);
            }
        }
        self.used += used;
        self.fitted += good;
        if used > 0 {
            self.fit_calls += 1;
            self.well_fitted += u32::from(good as f64 >= GOOD * used as f64);
        }
    }

    /// The score of a cause.
    #[must_use]
    pub fn score(&self, cause: Cause) -> Score {
        let all = Cause::ALL.iter().zip(&self.scores);
        all.into_iter()
            .find(|(other, _)| **other == cause)
            .map(|(_, score)| *score)
            .unwrap_or_default()
    }
}

/// Simulates a call and explains it.
///
/// # Errors
/// If the experiment is not valid, which is a fault of this module.
pub fn run(case: &Case, seed: u64) -> Result<Explanation, String> {
    let experiment = parse(&case.text, "case.toml").map_err(|error| error.to_string())?;
    let scenario = experiment.cells()[0].scenario(Seed(seed));
    let recording = sim::run(&scenario, sim::Options::default());
    let mut recording = recording.map_err(|error| error.to_string())?;
    // The truth is not an endpoint's.
    recording.streams.retain(|stream| stream.name.starts_with("main"));
    let explanation = explain(&recording).into_iter().next();
    explanation.ok_or_else(|| "it has no video".to_owned())
}

/// The names of the kinds of calls, which take turns.
const KINDS: usize = 10;

/// The calls of a seed.
#[must_use]
pub fn cases(count: usize, seed: u64) -> Vec<Case> {
    (0..count).map(|index| case(index, Seed(seed))).collect()
}

fn case(index: usize, seed: Seed) -> Case {
    use Cause::{Application, Capacity, Delay, Loss, Outage, Rival, Start, Step};
    let mut draw = seed.stream(&format!("explain.{index}"));
    let mut between = |low: f64, high: f64| low + (high - low) * draw.uniform();
    let controller =
        ["gcc:libwebrtc", "gcc:libwebrtc", "gcc:chrome-72", "nada"][(index / KINDS) % 4];
    let delay = between(10.0, 60.0);
    let buffer = between(100.0, 500.0);
    let narrow = between(300.0, 1_500.0);
    let wide = between(4_000.0, 10_000.0);
    let mut line = Line { rate: vec![(0.0, narrow)], delay, buffer, loss: 0.0 };
    let (mut video, mut start, mut more) = (2_000.0, None, String::new());
    let mut profile = controller;
    let (causes, allowed) = match index % KINDS {
        // Nothing but the application, which has enough at 2 Mbit/s or less.
        0 => {
            line.rate = vec![(0.0, wide)];
            video = between(200.0, 1_200.0);
            (vec![Application], vec![])
        }
        1 => (vec![Capacity], vec![]),
        2 => {
            line.rate = vec![(0.0, wide)];
            line.loss = between(3.0, 15.0);
            (vec![Loss], vec![Application, Start])
        }
        3 => {
            line.delay = between(170.0, 300.0);
            (vec![Delay, Capacity], vec![Start])
        }
        4 | 5 => {
            let control = if between(0.0, 1.0) < 0.5 { "cubic" } else { "reno" };
            let (from, to) = (between(15.0, 25.0), between(45.0, 70.0));
            let _ = write!(
                more,
                "[tcp.rival]\nfrom = \"alice\"\nto = \"bob\"\ncongestion_control = \"{control}\"\n\
                 start = \"{from:.1}s\"\nstop = \"{to:.1}s\"\n"
            );
            (vec![Rival], vec![Capacity, Delay, Loss])
        }
        6 => {
            let lower = narrow * between(0.3, 0.6);
            line.rate = vec![(0.0, narrow), (between(25.0, 35.0), lower)];
            (vec![Step, Capacity], vec![Delay])
        }
        7 => {
            let higher = narrow * between(1.8, 3.0);
            line.rate = vec![(0.0, narrow), (between(25.0, 35.0), higher)];
            (vec![Step, Capacity], vec![Application])
        }
        8 => {
            let (from, length) = (between(25.0, 35.0), between(3.0, 8.0));
            line.rate = vec![(0.0, narrow), (from, 0.0), (from + length, narrow)];
            (vec![Outage, Capacity], vec![Delay, Start])
        }
        _ => {
            line.rate = vec![(0.0, wide)];
            start = Some(between(50.0, 100.0));
            // Without probes the rate grows by 8 % per second at most.
            profile = ["gcc:carlucci-2017", "gcc:chromium-2014"][(index / KINDS) % 2];
            (vec![Start], vec![Application])
        }
    };
    let start = start.map_or(String::new(), |rate| format!("start_rate = \"{rate:.0}kbit/s\"\n"));
    let text = format!(
        "title = \"Case {index}\"\nduration = \"80s\"\n[host.alice]\n{}[host.bob]\nup.delay = \
         \"{:.1}ms\"\n[call.main]\nfrom = \"alice\"\nto = \"bob\"\ncontroller = \"{profile}\"\n\
         {start}video = {{ max_rate = \"{video:.0}kbit/s\" }}\n{more}",
        line.text(),
        line.delay
    );
    let capacity = line.rate.iter().map(|(at, rate)| (*at, kbps(*rate))).collect();
    Case { text, causes, allowed, capacity }
}

fn kbps(rate: f64) -> f64 {
    Bitrate::from_bps_f64(rate * 1e3).as_bps_f64()
}

struct Line {
    /// Seconds and kbit/s.
    rate: Vec<(f64, f64)>,
    /// Milliseconds.
    delay: f64,
    buffer: f64,
    /// Per cent.
    loss: f64,
}

impl Line {
    fn text(&self) -> String {
        let rates: Vec<String> = self
            .rate
            .iter()
            .map(|(at, rate)| format!("{{ at = \"{at:.1}s\", value = \"{rate:.0}kbit/s\" }}"))
            .collect();
        let loss = if self.loss > 0.0 {
            format!("up.loss = \"{:.1}%\"\n", self.loss)
        } else {
            String::new()
        };
        format!(
            "up.rate = [{}]\nup.delay = \"{:.1}ms\"\nup.queue = \"droptail limit {:.0}ms\"\n{loss}",
            rates.join(", "),
            self.delay,
            self.buffer
        )
    }
}
