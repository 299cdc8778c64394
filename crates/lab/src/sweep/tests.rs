use super::space::{Method, Parameter, Values};
use super::*;
use std::collections::BTreeSet;

fn range(points: usize, log: bool) -> Parameter {
    Parameter {
        name: "k".to_owned(),
        label: "k".to_owned(),
        keys: vec!["call.main.start_rate".to_owned()],
        published: None,
        values: Values::Range { from: 1e-3, to: 10.0, points, log, unit: String::new() },
    }
}

fn numbers(method: &Method, parameters: &[Parameter]) -> Vec<Vec<f64>> {
    let of = |point| method.settings(parameters, point);
    (0..method.points(parameters))
        .map(|point| of(point).into_iter().map(|setting| setting.number.unwrap()).collect())
        .collect()
}

#[test]
fn a_grid_has_every_combination_and_exact_ends() {
    let parameters = [range(5, true), range(3, false)];
    let points = numbers(&Method::Grid, &parameters);
    assert_eq!(points.len(), 15);
    assert_eq!(
        (points[0].as_slice(), points[14].as_slice()),
        (&[1e-3, 1e-3][..], &[10.0, 10.0][..])
    );
    let is = |point: usize, values: [f64; 2]| {
        points[point].iter().zip(values).all(|(found, value)| (found / value - 1.0).abs() < 1e-9)
    };
    assert!(is(1, [1e-3, 5.0005]), "the last parameter varies fastest: {:?}", points[1]);
    assert!(is(3, [0.01, 1e-3]) && is(6, [0.1, 1e-3]), "logarithmic: {points:?}");
}

#[test]
fn a_latin_hypercube_has_one_point_in_each_part_of_every_axis() {
    let parameters = [range(2, false), range(2, false)];
    let points = numbers(&Method::latin_hypercube(2, 50, Seed(3)), &parameters);
    for axis in 0..2 {
        let part = |point: &Vec<f64>| ((point[axis] - 1e-3) / 9.999 * 50.0) as usize;
        assert_eq!(points.iter().map(part).collect::<BTreeSet<_>>().len(), 50);
    }
    assert_ne!(Method::latin_hypercube(2, 50, Seed(4)), Method::latin_hypercube(2, 50, Seed(3)));
}

#[test]
fn a_sobol_sequence_fills_the_space_evenly() {
    let parameters = [range(2, false), range(2, false)];
    let points = numbers(&Method::sobol(2, 64, Seed(1)), &parameters);
    // Each of 8 × 8 squares has one of the first 64 points: a (0, 6, 2)-net.
    let square = |point: &Vec<f64>| {
        let part = |value: f64| ((value - 1e-3) / 9.999 * 8.0) as usize;
        (part(point[0]), part(point[1]))
    };
    assert_eq!(points.iter().map(square).collect::<BTreeSet<_>>().len(), 64);
}

#[test]
fn a_quantity_keeps_four_digits() {
    let values =
        Values::Range { from: 1.0, to: 2.0, points: 7, log: false, unit: "Mbit/s".to_owned() };
    let rate = Parameter { values, ..range(2, false) };
    let setting = rate.at(1.0 / 3.0);
    assert_eq!((setting.text.as_str(), setting.number), ("1.333Mbit/s", Some(1.333)));
    assert!(setting.text.parse::<units::Bitrate>().is_ok());
}

#[test]
fn the_built_in_sweeps_are_valid() {
    for name in names() {
        let sweep = Sweep::open(&name).unwrap_or_else(|error| panic!("{error}"));
        assert!(sweep.points() > 0);
    }
    let fig5 = Sweep::open("carlucci-2017/fig5").unwrap();
    assert_eq!((fig5.points(), fig5.total_runs()), (40_000, 120_000));
    let last = fig5.place(119_999);
    assert_eq!(last, Place { point: 39_999, scenario: 2, run: 0 });
    for scenario in &fig5.scenarios {
        let duration = scenario.experiment.cells()[0].scenario(Seed(1)).duration;
        assert!(duration >= units::Duration::from_secs(120), "{}: {duration}", scenario.name);
    }
}

#[test]
fn wrong_sweeps_are_refused_with_line_and_key() {
    const TEXT: &str = include_str!("../../../../sweeps/carlucci-2017/fig5.toml");
    assert!(Sweep::parse(TEXT, "x.toml").is_ok());
    for (from, to, message) in [
        ("points = 200", "points = 1", "parameter.k_u.points: out of range"),
        ("from = 1e-5", "from = 0.0", "parameter.k_u.from: a logarithmic scale begins above 0"),
        (
            "scale = \"log\"",
            "scale = \"lag\"",
            "parameter.k_u.scale: there is no scale 'lag'; the scales are linear, log",
        ),
        ("threshold.k_up", "threshold.k_upp", "threshold.k_upp"),
        ("fig10", "fig99", "scenario.variable.experiment"),
        (
            "cell = { bottleneck = \"tbf\" }",
            "",
            "scenario.variable.cell: 2 cells of carlucci-2017/fig10 are chosen",
        ),
        ("title", "objective = \"variable.normalized\"\ntitle", "x.toml:1: objective: "),
        ("title", "method = \"sobol\"\ntitle", "x.toml:1: samples: it is missing"),
        ("title", "runs = 0\ntitle", "x.toml:1: runs: 0 is out of range"),
        (
            "title",
            "scenarios = 1\ntitle",
            "x.toml:1: scenarios: there is no such key; did you mean scenario?",
        ),
    ] {
        let error = Sweep::parse(&TEXT.replacen(from, to, 1), "x.toml").unwrap_err().to_string();
        assert!(error.contains(message), "{to}: {error}");
    }
}
