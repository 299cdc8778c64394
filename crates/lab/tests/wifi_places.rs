//! The places of the Wi-Fi experiments after Guerrero Viveros 2019 have the signal and the MCS bit
//! rates that the thesis gives (§ 6.3).

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use experiment::{Cell, Experiment};
use metrics::{Request, mean};
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
    /// The ways of PC3, and the mean MCS bit rate there in Mbit/s.
    rates: &'static [(&'static str, f64)],
}

const fn place(
    experiment: &'static str,
    scenario: &'static str,
    signal: f64,
    rates: &'static [(&'static str, f64)],
) -> Published {
    Published { experiment, scenario, signal, rates }
}

const PLACES: [Published; 11] = [
    place("table6-4", "scenario 1", -41.96, &[("pc3.up", 130.0)]),
    place("table6-4", "scenario 2", -61.43, &[("pc3.up", 43.4)]),
    place("table6-5", "scenario 1", -42.09, &[("pc3.down", 144.4)]),
    place("table6-5", "scenario 2", -65.47, &[("pc3.down", 78.0)]),
    place("table6-5", "scenario 2 uplink", -61.43, &[("pc3.up", 43.4)]),
    place("table6-6", "scenario 1", -42.0, &[("pc3.up", 130.0), ("pc3.down", 144.4)]),
    place("table6-6", "scenario 2", -63.03, &[("pc3.up", 43.4), ("pc3.down", 78.0)]),
    place("table6-6", "scenario 3", -63.03, &[("pc3.up", 43.4), ("pc3.down", 78.0)]),
    place("table6-7", "scenario 1", -42.0, &[("pc3.up", 130.0), ("pc3.down", 144.4)]),
    place("table6-7", "scenario 2", -63.03, &[("pc3.up", 43.4), ("pc3.down", 78.0)]),
    place("table6-7", "scenario 3", -63.03, &[("pc3.up", 43.4), ("pc3.down", 78.0)]),
];

/// The mean over the runs of metrics of lines, with the main call alone.
fn measure(place: &Published, metrics: &[(&str, &str)]) -> Vec<f64> {
    let experiment =
        Experiment::open(&format!("guerrero-viveros-2019/{}", place.experiment)).unwrap();
    let is_place = |cell: &&Cell| cell.params.iter().any(|(_, value)| value == place.scenario);
    let cell = experiment.cells().iter().find(is_place).unwrap();
    let run = |seed: u64| {
        let mut scenario = cell.scenario(Seed(seed));
        scenario.calls.retain(|call| call.name == "main");
        scenario.calls[0].stop = Time::ZERO + LENGTH;
        scenario.tcp.clear();
        scenario.duration = LENGTH;
        let recording = sim::run(&scenario, Options::default()).unwrap();
        let of = |(metric, line): &(&str, &str)| {
            Request::new(metric, &[], Some(line))?.compute(&recording)
        };
        metrics.iter().map(of).collect::<Result<Vec<_>, _>>().unwrap()
    };
    let runs: Vec<Vec<f64>> = (1..=SEEDS).map(run).collect();
    (0..metrics.len())
        .map(|index| mean(&runs.iter().map(|run| run[index]).collect::<Vec<_>>()))
        .collect()
}

#[test]
fn places_have_the_published_signal_and_rates() {
    for place in PLACES {
        let name = format!("{}, {}", place.experiment, place.scenario);
        let rates = place.rates.iter().map(|(line, _)| ("phy_rate_mean", *line));
        let metrics: Vec<_> =
            std::iter::once(("signal_strength_mean", "pc3.down")).chain(rates).collect();
        let measured = measure(&place, &metrics);
        let signal = measured[0];
        println!("{name}: {signal:.2} dBm, published {}", place.signal);
        assert!(
            (signal - place.signal).abs() <= 1.5,
            "{name}: {signal} dBm, published {}",
            place.signal
        );
        for ((line, published), rate) in place.rates.iter().zip(&measured[1..]) {
            let rate = rate / 1e6;
            println!("{name}: {line} {rate:.1} Mbit/s, published {published}");
            assert!(
                (rate / published - 1.0).abs() <= 0.1,
                "{name}: {line} {rate} Mbit/s, published {published}"
            );
        }
    }
}
