//! The places of the Wi-Fi experiments after Guerrero Viveros 2019 have the signal and the MCS bit rates that the thesis gives (§ 6.3).

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use lab::experiment::{Cell, Experiment};
use lab::metrics::{Request, mean};
use sim::Options;
use units::{Duration, Seed, Time};

/// How long the light call is, and how many are averaged over: shadowing has a coherence of 10 s.
const LENGTH: Duration = Duration::from_secs(60);
const SEEDS: u64 = 5;

/// What the thesis gives of a place.
struct Published {
    experiment: &'static str,
    scenario: &'static str,
    /// The mean at PC3, in dBm.
    signal: f64,
    /// Which way of PC3, and the mean MCS bit rate there in bit/s.
    rate: Option<(&'static str, f64)>,
}

const PLACES: [Published; 6] = [
    Published {
        experiment: "table6-4",
        scenario: "scenario 1",
        signal: -41.96,
        rate: Some(("pc3.up", 130e6)),
    },
    Published {
        experiment: "table6-4",
        scenario: "scenario 2",
        signal: -61.43,
        rate: Some(("pc3.up", 43.4e6)),
    },
    Published {
        experiment: "table6-5",
        scenario: "scenario 1",
        signal: -42.09,
        rate: Some(("pc3.down", 144.4e6)),
    },
    Published {
        experiment: "table6-5",
        scenario: "scenario 2",
        signal: -65.47,
        rate: Some(("pc3.down", 78e6)),
    },
    Published { experiment: "table6-6", scenario: "scenario 2", signal: -63.03, rate: None },
    Published { experiment: "table6-6", scenario: "scenario 3", signal: -63.03, rate: None },
];

/// The mean over the runs of metrics of lines, with the main call alone.
fn measure(place: &Published, metrics: &[(&str, &str)]) -> Vec<f64> {
    let experiment = Experiment::open(&format!("guerrero-viveros-2019/{}", place.experiment)).unwrap();
    let is_place = |cell: &&Cell| cell.params.iter().any(|(_, value)| value == place.scenario);
    let cell = experiment.cells().iter().find(is_place).unwrap();
    let run = |seed: u64| {
        let mut scenario = cell.scenario(Seed(seed));
        scenario.calls.retain(|call| call.name == "main");
        scenario.calls[0].stop = Time::ZERO + LENGTH;
        scenario.tcp.clear();
        scenario.duration = LENGTH;
        let recording = sim::run(&scenario, Options::default()).unwrap();
        let of = |(metric, line): &(&str, &str)| Request::new(metric, &[], Some(line))?.compute(&recording);
        metrics.iter().map(of).collect::<Result<Vec<_>, _>>().unwrap()
    };
    let runs: Vec<Vec<f64>> = (1..=SEEDS).map(run).collect();
    (0..metrics.len()).map(|index| mean(&runs.iter().map(|run| run[index]).collect::<Vec<_>>())).collect()
}

#[test]
fn places_have_the_published_signal_and_rate() {
    for place in PLACES {
        let name = format!("{}, {}", place.experiment, place.scenario);
        let (line, published) = place.rate.unwrap_or(("pc3.down", f64::NAN));
        let measured = measure(&place, &[("signal_strength_mean", "pc3.down"), ("phy_rate_mean", line)]);
        let (signal, rate) = (measured[0], measured[1]);
        println!(
            "{name}: {signal:.2} dBm ({}), {line} {:.1} Mbit/s ({:.1})",
            place.signal,
            rate / 1e6,
            published / 1e6
        );
        assert!((signal - place.signal).abs() <= 1.5, "{name}: {signal} dBm, published {}", place.signal);
        if place.rate.is_some() {
            assert!(
                (rate / published - 1.0).abs() <= 0.1,
                "{name}: {rate} bit/s on {line}, published {published}"
            );
        }
    }
}
