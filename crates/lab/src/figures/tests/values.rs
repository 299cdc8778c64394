//! Tables and scatter plots over the grid.

use super::{body, message, section};
use metrics::Unit;
use report::{Scatter, Table};

const RATE: &str = "metric = \"received_rate\", stream = \"main.video\"";
const LOSS: &str = "metric = \"loss\", stream = \"main.video\"";

fn table(more: &str) -> Table {
    let section = section(&format!(
        "[[figure]]\nkind = \"table\"\ntitle = \"t\"\nvalues = [{{ name = \"rate\", unit = \"kbit/s\", {RATE} }}, {{ {LOSS} }}]\n{more}"
    ));
    body::<Table>(&section, 0).clone()
}

fn scatter(more: &str) -> Scatter {
    let axes = format!("x = {{ label = \"rate\", {RATE} }}\ny = {{ {LOSS}, log = true }}\n");
    let section = section(&format!("[[figure]]\nkind = \"scatter\"\ntitle = \"s\"\n{axes}{more}"));
    body::<Scatter>(&section, 0).clone()
}

#[test]
fn a_table_has_one_row_per_cell_and_one_column_per_metric() {
    let table = table("group = \"host.alice.up.rate\"\nreference = \"1Mbit/s\"\n");
    let labels: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
    let expected = [
        "500kbit/s, droptail limit 150ms",
        "1Mbit/s, droptail limit 150ms",
        "500kbit/s, droptail limit 350ms",
        "1Mbit/s, droptail limit 350ms",
    ];
    assert_eq!(labels, expected, "other axes that vary are in the name");
    assert_eq!(table.label, "host.alice.up.rate, host.alice.up.queue");
    let references: Vec<_> = table.rows.iter().map(|row| row.reference).collect();
    assert_eq!(references, [Some(1), Some(1), Some(3), Some(3)], "with the same queue");
    let columns: Vec<_> =
        table.columns.iter().map(|column| (column.name.as_str(), column.unit)).collect();
    assert_eq!(columns, [("rate", Unit::BitsPerSecond), ("loss", Unit::Share)]);
    assert_eq!(table.columns[0].scale.map(|scale| scale.name), Some("kbit/s"));
    let rate = table.value(1, 0).unwrap();
    assert!(rate.mean > 1e5 && rate.runs == 2 && rate.half_width.is_some(), "{rate:?}");
}

#[test]
fn a_table_shows_the_cells_of_its_filter() {
    let one = table("label = \"queue\"\ncell = { \"host.alice.up.rate\" = \"1Mbit/s\" }\n");
    let labels: Vec<&str> = one.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(
        (one.label.as_str(), labels),
        ("queue", vec!["droptail limit 150ms", "droptail limit 350ms"])
    );
    assert!(one.rows.iter().all(|row| row.reference.is_none()) && one.reference.is_empty());
}

#[test]
fn points_are_absolute_or_relative_to_a_reference() {
    let groups = "group = \"host.alice.up.queue\"\nseries = \"host.alice.up.rate\"\n";
    let plain = scatter(groups);
    let named: Vec<_> =
        plain.points.iter().map(|point| (point.label.as_str(), point.series.as_str())).collect();
    assert_eq!(named[1], ("droptail limit 150ms", "1Mbit/s"));
    assert_eq!(
        (plain.x.unit, plain.y.label.as_str(), plain.y.log),
        (Unit::BitsPerSecond, "loss", true)
    );
    let relative = scatter(&format!("{groups}relative = \"droptail limit 150ms\"\n"));
    assert_eq!(relative.x.label, "rate, relative to droptail limit 150ms");
    let xs: Vec<f64> = relative.points.iter().map(|point| point.x.mean).collect();
    assert_eq!(xs[..2], [1.0, 1.0], "the reference itself, at both rates");
    assert!((xs[2] - plain.points[2].x.mean / plain.points[0].x.mean).abs() < 1e-12);
}

#[test]
fn an_unknown_reference_is_reported_with_a_suggestion() {
    let values = format!("values = [{{ {LOSS} }}]\n");
    let of = |more: &str| message(&format!("kind = \"table\"\ntitle = \"t\"\n{values}{more}"));
    assert!(
        of("group = \"nosuch\"")
            .contains("figure 't': group = 'nosuch' is not an axis; name an axis")
    );
    let error = of("group = \"host.alice.up.rate\"\nreference = \"1Mbits\"");
    assert!(
        error.contains("reference = '1Mbits' is not a value of host.alice.up.rate")
            && error.contains("did you mean 1Mbit/s?"),
        "{error}"
    );
    assert!(of("reference = \"1Mbit/s\"").contains("has no axis; name its axis: group = …"));
    let axes = format!("x = {{ {LOSS} }}\ny = {{ {RATE} }}\n");
    let plot = message(&format!(
        "kind = \"scatter\"\ntitle = \"s\"\n{axes}group = \"host.alice.up.rate\"\nrelative = \"2Mbit/s\""
    ));
    assert!(
        plot.contains("figure 's': relative = '2Mbit/s' is not a value of host.alice.up.rate"),
        "{plot}"
    );
}
