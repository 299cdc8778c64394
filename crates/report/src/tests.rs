//! The page as a browser sees it: the HTML is parsed again.

mod values;

use super::{
    Bar, Bars, BoxStats, Boxes, Cdf, ClaimRow, Compared, Drawable, Figure, FigureFile, FileFormat,
    Finding, Group, Grouped, Mark, MarkAt, MarkKind, Panel, PrintedRow, Report, Role, Rows,
    Section, Series, SeriesStyle, Status, TextTable, TimePlot, figure_files, html, merge_by_source,
};
use scraper::{ElementRef, Html, Selector};
use std::collections::BTreeSet;
use values::{point, scatter};

const HOSTILE: &str =
    r##"</title></style></script><script>alert('x')</script>" onload="y" fill="#0072B2" & <b>"##;

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).expect("a selector")).collect()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn series(points: Vec<(f64, f64)>, style: SeriesStyle) -> Series {
    Series { name: "sent".to_owned(), points, style, ..Series::default() }
}

fn time(series: Vec<Series>, log_y: bool) -> TimePlot {
    let panel = Panel {
        title: "Rate".to_owned(),
        y_label: "bit/s".to_owned(),
        series,
        log_y,
        ..Panel::default()
    };
    TimePlot {
        panels: vec![panel.clone(), panel],
        x_label: "time (s)".to_owned(),
        ..TimePlot::default()
    }
}

fn figure(id: &str, body: impl Drawable) -> Figure {
    Figure {
        id: id.to_owned(),
        title: format!("Title of {id}"),
        caption: "Caption".to_owned(),
        body: Box::new(body),
    }
}

fn of_figures(figures: Vec<Figure>) -> Report {
    let section =
        Section { id: "s".to_owned(), title: "Section".to_owned(), figures, ..Section::default() };
    Report { title: "Report".to_owned(), sections: vec![section], ..Report::default() }
}

fn drawn(body: impl Drawable) -> (String, Html) {
    let page = html(&of_figures(vec![figure("f", body)])).unwrap();
    let parsed = Html::parse_document(&page);
    (page, parsed)
}

fn claim(id: &str, paper: &str, status: Status) -> ClaimRow {
    let anchor = Some("f".to_owned());
    ClaimRow { id: id.to_owned(), paper: paper.to_owned(), status, anchor, ..ClaimRow::default() }
}

fn grouped(items: Vec<Option<Bar>>) -> Grouped<Bar> {
    Grouped {
        series: vec![
            ("1 Mbit/s".to_owned(), Role::Series(0)),
            ("2 Mbit/s".to_owned(), Role::Series(1)),
        ],
        groups: vec![Group { label: "150".to_owned(), items }],
        x_label: "T_q (ms)".to_owned(),
        y_label: "Utilisation".to_owned(),
        ..Grouped::default()
    }
}

#[test]
fn the_page_has_summary_claims_contents_and_figures() {
    let claims = vec![
        claim("C-1", "Carlucci", Status::Reproduced),
        claim("V-1", "Guerrero", Status::NotReproduced),
        claim("C-2", "Carlucci", Status::NotRun),
    ];
    let mut report = of_figures(vec![figure(
        "f",
        time(vec![series(vec![(0.0, 1.0), (1.0, 2.0)], SeriesStyle::Line)], false),
    )]);
    report.claims = claims;
    report.sections.push(Section {
        id: "t".to_owned(),
        title: "Second".to_owned(),
        ..Section::default()
    });
    let page = Html::parse_document(&html(&report).unwrap());
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert_eq!(
        text(select(&page, ".verdict")[0]),
        "1 of 3 claims reproduced; 1 not reproduced, 1 not run."
    );
    let rows = select(&page, "table.claims tr[data-status]");
    let ids: Vec<String> = rows
        .iter()
        .map(|r| text(r.select(&Selector::parse("th").unwrap()).next().unwrap()))
        .collect();
    assert_eq!(ids, ["C-1", "C-2", "V-1"], "grouped by paper");
    let states: Vec<String> = select(&page, ".status").into_iter().map(text).collect();
    assert_eq!(states, ["✓ reproduced", "– not run", "✗ not reproduced"]);
    assert_eq!(select(&page, "nav li a").len(), 2);
    assert_eq!(
        select(&page, "figure figcaption b").into_iter().map(text).collect::<Vec<_>>(),
        ["Figure 1. Title of f."]
    );
    assert_eq!(select(&page, "#filter[hidden]").len(), 1, "without the script there is no filter");
}

#[test]
fn every_link_and_label_has_a_target_and_ids_are_unique() {
    let figures = ["f", "f", "ü/<>", ""].map(|id| figure(id, Bars(grouped(vec![]))));
    let mut report = of_figures(figures.to_vec());
    report.claims = vec![claim("C-1", "p", Status::NotRun)];
    report
        .claims
        .push(ClaimRow { anchor: Some("nowhere".to_owned()), ..claim("C-2", "p", Status::NotRun) });
    report.sections.extend(report.sections.clone());
    let page = Html::parse_document(&html(&report).unwrap());
    let ids: Vec<&str> = select(&page, "[id]").iter().filter_map(|e| e.attr("id")).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "{ids:?}");
    for link in select(&page, "a[href]") {
        let target = link.attr("href").unwrap();
        assert!(unique.contains(target.trim_start_matches('#')), "{target}");
    }
    for labelled in select(&page, "[aria-labelledby]") {
        for id in labelled.attr("aria-labelledby").unwrap().split(' ') {
            assert!(unique.contains(id), "{id}");
        }
    }
    assert_eq!(select(&page, "table.claims a").len(), 1, "a claim without a figure has no link");
}

#[test]
fn nothing_is_fetched() {
    let (page, parsed) = drawn(Bars(grouped(vec![Some(Bar { value: 1.0, ..Bar::default() })])));
    assert!(select(&parsed, "[src], img, iframe, object, link[rel=stylesheet]").is_empty());
    // The name of SVG is no address: in the plots, and in the script that saves these.
    let rest = page.replace("\"http://www.w3.org/2000/svg\"", "");
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("@import"));
    let policy = select(&parsed, "meta[http-equiv]")[0].attr("content").unwrap();
    assert!(policy.starts_with("default-src 'none'"));
}

#[test]
fn a_figure_over_time_zooms_and_keeps_its_picture() {
    let line = series(vec![(0.0, 1.0), (1.0, 2.0)], SeriesStyle::Line);
    let marks = vec![Mark::published(MarkAt::Y(1.5), "1.5")];
    let panel = Panel { title: HOSTILE.to_owned(), series: vec![line], marks, ..Panel::default() };
    let (_, parsed) = drawn(TimePlot { panels: vec![panel.clone()], ..TimePlot::default() });
    assert_eq!(select(&parsed, "script[type=module]").len(), 1);
    assert_eq!(select(&parsed, "svg.plot").len(), 2, "for wide and for narrow screens");
    let zoomed = select(&parsed, "figure")[0].attr("data-zoom").unwrap();
    let zoomed: serde_json::Value = serde_json::from_str(zoomed).unwrap();
    let shown = &zoomed["panels"][0];
    assert_eq!(shown["label"], HOSTILE);
    assert_eq!(shown["series"][0]["rows"], 2);
    assert_eq!(shown["marks"][0]["y"], 1.5);
    assert_eq!(shown["marks"][0]["published"], true);
    // The script draws no logarithmic axis.
    let panel = Panel { log_y: true, ..panel };
    let (_, parsed) = drawn(TimePlot { panels: vec![panel], ..TimePlot::default() });
    assert!(select(&parsed, "script[type=module], [data-zoom]").is_empty());
}

#[test]
fn hostile_texts_are_escaped() {
    let h = || HOSTILE.to_owned();
    let hostile_series =
        Series { name: h(), ..series(vec![(0.0, 1.0), (1.0, 2.0)], SeriesStyle::Line) };
    let marks =
        vec![Mark::published(MarkAt::Y(1.0), HOSTILE), Mark::published(MarkAt::X(0.5), HOSTILE)];
    let panel = Panel {
        title: h(),
        y_label: h(),
        series: vec![hostile_series.clone()],
        marks: marks.clone(),
        ..Panel::default()
    };
    let item = Bar { value: 1.0, published: Some(2.0), ..Bar::default() };
    let grouped = Grouped {
        series: vec![(h(), Role::Series(0))],
        groups: vec![Group { label: h(), items: vec![Some(item)] }],
        x_label: h(),
        y_label: h(),
        marks: marks.clone(),
        ..Grouped::default()
    };
    let bodies: [Box<dyn Drawable>; 5] = [
        Box::new(TimePlot { panels: vec![panel.clone()], x_label: h(), note: h() }),
        Box::new(Bars(grouped)),
        Box::new(Cdf {
            series: vec![hostile_series],
            marks,
            x_label: h(),
            log_x: false,
            legend: h(),
            note: h(),
        }),
        Box::new(scatter(vec![point(HOSTILE, 1.0, 2.0), point(HOSTILE, f64::NAN, 1.0)])),
        Box::new(values::hostile(HOSTILE)),
    ];
    let figures: Vec<Figure> =
        bodies.into_iter().map(|body| Figure { id: h(), title: h(), caption: h(), body }).collect();
    let table = TextTable { caption: h(), columns: vec![h()], rows: vec![vec![h(), h()]] };
    let row = ClaimRow {
        id: h(),
        paper: h(),
        source: h(),
        setting: h(),
        published: h(),
        check: h(),
        status: Status::Reproduced,
        measured: h(),
        note: h(),
        as_printed: Some(PrintedRow { holds: Some(true), measured: h(), note: h() }),
        beside: vec![(h(), Some(true), h())],
        anchor: Some(h()),
    };
    let finding = Finding { who: h(), status: Status::NotReproduced, measured: h(), caveat: h() };
    let compared =
        Compared { id: h(), source: h(), published: h(), check: h(), findings: vec![finding] };
    let report = Report {
        title: h(),
        subtitle: h(),
        facts: vec![(h(), h())],
        claims: vec![row],
        sections: vec![Section {
            id: h(),
            title: h(),
            text: h(),
            compared: vec![compared],
            figures,
            table: Some(table),
        }],
    };
    let page = Html::parse_document(&html(&report).unwrap());
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert_eq!(select(&page, "script").len(), 2, "the filter and what saves figures");
    assert!(select(&page, "[onload]").is_empty());
    assert!(select(&page, "script").iter().all(|script| !text(*script).contains("alert")));
    let texts: Vec<String> =
        select(&page, "svg.broad text").iter().map(|t| t.text().collect::<String>()).collect();
    assert!(texts.iter().any(|t| t.trim().contains(HOSTILE)), "unchanged: {texts:?}");
}

#[test]
fn the_same_report_is_the_same_bytes() {
    let report = of_figures(vec![
        figure(
            "a",
            time(
                vec![series(
                    (0..500).map(|i| (f64::from(i), f64::from(i * i % 97))).collect(),
                    SeriesStyle::Step,
                )],
                true,
            ),
        ),
        figure(
            "b",
            Bars(grouped(vec![Some(Bar {
                value: 0.9,
                interval: Some((0.8, 1.0)),
                runs: 5,
                published: Some(0.91),
            })])),
        ),
    ]);
    assert_eq!(html(&report).unwrap(), html(&report.clone()).unwrap());
}

#[test]
fn an_empty_report_is_a_page() {
    let page = Html::parse_document(&html(&Report::default()).unwrap());
    assert!(page.errors.is_empty(), "{:?}", page.errors);
    assert!(
        select(&page, "script, table, nav, figure, .verdict").is_empty(),
        "no claims, no summary"
    );
    let check = |page: Html| assert_eq!(select(&page, "svg[role=img] > title").len(), 1);
    check(drawn(TimePlot::default()).1);
    check(drawn(time(vec![], false)).1);
    check(drawn(Bars::default()).1);
    check(drawn(Rows::default()).1);
    check(drawn(Boxes::default()).1);
    check(drawn(scatter(vec![])).1);
    let series = vec![Series::cdf("", Role::Reference, &[])];
    check(drawn(Cdf { series, log_x: true, ..Cdf::default() }).1);
}

#[test]
fn a_series_without_numbers_draws_no_line() {
    for (style, log) in
        [(SeriesStyle::Line, false), (SeriesStyle::Step, true), (SeriesStyle::Dots, false)]
    {
        let points = vec![(0.0, f64::NAN), (1.0, f64::INFINITY), (f64::NAN, 1.0)];
        let (_, page) = drawn(time(vec![series(points, style)], log));
        let drawn = select(&page, "svg.broad polyline.s0, svg.broad circle.f0");
        assert_eq!(drawn.len(), 2, "the two symbols of the legend");
        assert!(select(&page, "figure").iter().all(|figure| !figure.html().contains("NaN")));
    }
}

#[test]
fn a_gap_breaks_the_line_and_a_lone_sample_is_a_dot() {
    let points = vec![
        (0.0, 1.0),
        (1.0, 2.0),
        (2.0, f64::NAN),
        (3.0, 2.0),
        (4.0, f64::NAN),
        (5.0, 1.0),
        (6.0, 1.0),
    ];
    let (_, page) = drawn(time(vec![series(points, SeriesStyle::Line)], false));
    // In each of two panels: the symbol of the legend, two lines and one dot.
    assert_eq!(select(&page, "svg.broad polyline.s0").len(), 2 * 3);
    assert_eq!(select(&page, "svg.broad circle.f0").len(), 2);
    let (_, page) = drawn(time(vec![series(vec![(5.0, 5.0)], SeriesStyle::Step)], true));
    assert_eq!(select(&page, "svg.broad circle.f0").len(), 2);
}

#[test]
fn everything_is_drawn_inside_the_canvas() {
    let huge = vec![(0.0, f64::MAX), (1e300, -f64::MAX), (1.1e300, 0.0), (1.2e300, 5e-324)];
    let stats =
        BoxStats { p5: 0.0, p25: 0.0, p50: 3.0, p75: 1e12, p95: f64::MAX, published: Some(-1.0) };
    let boxes = Grouped {
        series: vec![("a".to_owned(), Role::Series(7))],
        groups: vec![Group { label: "g".to_owned(), items: vec![Some(stats), Some(stats), None] }],
        log_y: true,
        ..Grouped::default()
    };
    let linear = Grouped { log_y: false, ..boxes.clone() };
    let mut bodies: Vec<Box<dyn Drawable>> = vec![Box::new(Boxes(linear)), Box::new(Boxes(boxes))];
    for style in [SeriesStyle::Line, SeriesStyle::Step, SeriesStyle::Dots] {
        for log in [true, false] {
            bodies.push(Box::new(time(vec![series(huge.clone(), style)], log)));
        }
    }
    for body in bodies {
        let figure = Figure { body, ..figure("f", Bars::default()) };
        let page = Html::parse_document(&html(&of_figures(vec![figure])).unwrap());
        let svg = select(&page, "svg.broad")[0];
        let size: Vec<f64> =
            svg.attr("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        for path in select(&page, "svg.broad polyline") {
            for point in path.attr("points").unwrap().split_whitespace() {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!(
                    (0.0..=size[2]).contains(&x) && (0.0..=size[3]).contains(&y),
                    "{point} {size:?}"
                );
            }
        }
    }
}

#[test]
fn zero_is_drawn_at_the_floor_of_a_logarithmic_axis_whose_tick_says_so() {
    let stats = BoxStats { p5: 0.0, p25: 1.0, p50: 2.0, p75: 4.0, p95: 90.0, published: None };
    let boxes = Grouped {
        series: vec![(String::new(), Role::Series(0))],
        groups: vec![Group { label: "150".to_owned(), items: vec![Some(stats)] }],
        log_y: true,
        ..Grouped::default()
    };
    let (_, page) = drawn(Boxes(boxes));
    let texts: Vec<String> = select(&page, "svg.broad text").into_iter().map(text).collect();
    assert!(texts.contains(&"≤ 0.1".to_owned()), "{texts:?}");
}

#[test]
fn published_values_are_drawn_labelled_and_listed() {
    let item = Bar { value: 0.87, interval: None, runs: 1, published: Some(0.9) };
    let mut grouped = grouped(vec![Some(item), None]);
    grouped.marks = vec![
        Mark::published(MarkAt::Y(0.9), "90 %"),
        Mark { at: MarkAt::Y(0.5), label: "half".to_owned(), kind: MarkKind::Reference },
    ];
    let (_, page) = drawn(Bars(grouped));
    assert_eq!(select(&page, "svg.broad polyline.sp").len(), 3, "legend, mark, bar");
    assert_eq!(select(&page, "svg.broad polyline.sr").len(), 1);
    let texts: Vec<String> = select(&page, "svg.broad text.fp").into_iter().map(text).collect();
    assert_eq!(texts, ["published", "90 %"]);
    let cells: Vec<String> = select(&page, "details td").into_iter().map(text).collect();
    assert_eq!(cells, ["150", "1 Mbit/s", "0.87", "0.9"]);
    assert!(text(select(&page, "svg.broad desc")[0]).contains("published 90 % at 0.9"));
}

#[test]
fn horizontal_bars_have_room_for_long_names() {
    let long = "J6 the rest of the profile jansen-2016";
    let bar = Bar { value: 0.87, interval: Some((0.7, 0.9)), runs: 5, published: Some(0.9) };
    let mut rows = grouped(vec![Some(bar), None]);
    rows.groups[0].label = long.to_owned();
    rows.marks = vec![Mark::published(MarkAt::Y(0.65), "65 %")];
    let (_, page) = drawn(Rows(rows));
    let texts: Vec<String> = select(&page, "svg.broad text").into_iter().map(text).collect();
    assert!(
        texts.iter().any(|text| text == long) && texts.contains(&"published 65 %".to_owned()),
        "{texts:?}"
    );
    assert_eq!(select(&page, "svg.broad polyline.sp").len(), 3, "legend, mark, bar");
}

#[test]
fn a_full_report_stays_small() {
    // Three digits: rates and delays are counts of packets in an interval.
    let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 22);
    let noisy = |k: u32| {
        series((0..3000).map(|i| (f64::from(i) / 10.0, noise(i + k))).collect(), SeriesStyle::Line)
    };
    let panel = |k| Panel { series: vec![noisy(k), noisy(k + 1)], ..Panel::default() };
    let body = || TimePlot {
        panels: (0..3).map(panel).collect(),
        x_label: "time (s)".to_owned(),
        ..TimePlot::default()
    };
    let figures = (0..10).map(|i| figure(&format!("f{i}"), body())).collect();
    let size = html(&of_figures(figures)).unwrap().len();
    // Ten plots of 18,000 values each, drawn for two widths, and the values for the script.
    assert!(size < 1_800_000, "{size} bytes");
}

#[test]
fn columns_of_numbers_are_right_aligned() {
    let mut report = of_figures(vec![]);
    let rows = [["first", "1.69"], ["second", "≈ 2 Mbit/s"], ["third", "–"]];
    let rows = rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
    let columns = vec!["Section".to_owned(), "Rate".to_owned()];
    let table = TextTable { caption: String::new(), columns, rows };
    report.sections[0].table = Some(table);
    let page = Html::parse_document(&html(&report).unwrap());
    assert_eq!(
        select(&page, "td.num").into_iter().map(text).collect::<Vec<_>>(),
        ["1.69", "≈ 2 Mbit/s", "–"]
    );
}

#[test]
fn figures_of_several_sources_share_one_plot_or_one_axis() {
    let of = |series: usize, value: f64| {
        let bar = Some(Bar { value, ..Bar::default() });
        let mut grouped = grouped(vec![bar; series]);
        grouped.series.truncate(series);
        vec![figure("f", Bars(grouped))]
    };
    let merged = |series: usize| {
        merge_by_source(&[
            ("Chromium".to_owned(), of(series, 0.5)),
            ("simulator".to_owned(), of(series, 2.0)),
        ])
    };
    let bars = |figure: &Figure| figure.body.downcast_ref::<Bars>().unwrap().0.clone();
    let [one] = &merged(1)[..] else { panic!("one series per source is one plot") };
    assert_eq!(
        bars(one).series.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        ["Chromium", "simulator"]
    );
    let [first, second] = &merged(2)[..] else { panic!("two series per source are two plots") };
    assert_eq!((first.id.as_str(), second.title.as_str()), ("f-1", "Title of f: simulator"));
    assert_eq!((bars(first).y_range, bars(second).y_range), (Some((0.0, 2.0)), Some((0.0, 2.0))));
}

/// A page of every kind of figure with two streams that appear in different panels and figures.
fn page_of_all_kinds() -> (String, Html) {
    let of = |stream: &str, name: &str| Series {
        name: name.to_owned(),
        stream: stream.to_owned(),
        ..series((0..50).map(|i| (f64::from(i), f64::from(i % 9))).collect(), SeriesStyle::Line)
    };
    let panel = |y_label: &str, series: Vec<Series>| Panel {
        y_label: y_label.to_owned(),
        series,
        ..Panel::default()
    };
    let (call, upload) = (|name: &str| of("main.video", name), |name: &str| of("upload.tcp", name));
    let time = TimePlot {
        panels: vec![
            panel(
                "rate (kbit/s)",
                vec![call("call sent"), call("call received"), upload("upload")],
            ),
            panel("congestion window (kB)", vec![upload("window")]),
        ],
        x_label: "time (s)".to_owned(),
        ..TimePlot::default()
    };
    let alone = TimePlot {
        panels: vec![panel("RTT (ms)", vec![upload("upload again")])],
        x_label: "time (s)".to_owned(),
        ..TimePlot::default()
    };
    let bar = Bar { value: 0.9, interval: Some((0.8, 1.0)), runs: 5, published: Some(0.91) };
    let bars = Grouped {
        legend: "rate of alice.up".to_owned(),
        y_label: "utilisation (%)".to_owned(),
        note: "Whiskers: 95 % confidence interval.".to_owned(),
        ..grouped(vec![Some(bar); 2])
    };
    let cdf = Cdf {
        series: vec![Series::cdf("fifo", Role::Series(0), &[1.0, 2.0, 3.0])],
        x_label: "RTT (ms)".to_owned(),
        legend: "queue of alice.up".to_owned(),
        ..Cdf::default()
    };
    let page = html(&of_figures(vec![
        figure("t", time),
        figure("u", alone),
        figure("b", Bars(bars.clone())),
        figure("r", Rows(bars)),
        figure("c", cdf),
        figure("s", scatter(vec![point("a", 1.0, 2.0), point("b", 3.0, 1.0)])),
    ]))
    .unwrap();
    let parsed = Html::parse_document(&page);
    (page, parsed)
}

#[test]
fn a_stream_has_one_colour_in_all_panels_of_a_page() {
    let (_, page) = page_of_all_kinds();
    // The symbol in the legend is drawn just before its name.
    let mut colours: Vec<(String, String)> = Vec::new();
    for plot in select(&page, "#fig-t svg, #fig-u svg") {
        let shapes: Vec<ElementRef<'_>> = plot.select(&Selector::parse("g > *").unwrap()).collect();
        for pair in shapes.windows(2).filter(|pair| pair[1].value().name() == "text") {
            if pair[0].value().name() == "polyline" {
                colours.push((text(pair[1]), pair[0].attr("class").unwrap().to_owned()));
            }
        }
    }
    let of = |name: &str| {
        let classes: BTreeSet<&str> = colours
            .iter()
            .filter(|(other, _)| other == name)
            .map(|(_, class)| class.as_str())
            .collect();
        classes.into_iter().collect::<Vec<_>>().join(",")
    };
    assert_eq!((of("call sent").as_str(), of("call received").as_str()), ("s0", "s0 d1"));
    assert_eq!([of("upload"), of("window"), of("upload again")], ["s1", "s1", "s1"]);
}

#[test]
fn every_axis_has_a_label_with_its_unit() {
    let (_, page) = page_of_all_kinds();
    let texts = |id: &str| -> Vec<String> {
        select(&page, &format!("#fig-{id} svg.broad text")).into_iter().map(text).collect()
    };
    let expected: [(&str, &[&str]); 6] = [
        ("t", &["rate (kbit/s)", "congestion window (kB)", "time (s)"]),
        ("u", &["RTT (ms)", "time (s)"]),
        (
            "b",
            &[
                "utilisation (%)",
                "T_q (ms)",
                "rate of alice.up:",
                "Whiskers: 95 % confidence interval.",
            ],
        ),
        (
            "r",
            &[
                "utilisation (%)",
                "T_q (ms)",
                "rate of alice.up:",
                "Whiskers: 95 % confidence interval.",
            ],
        ),
        ("c", &["cumulative share (0 to 1)", "RTT (ms)", "queue of alice.up:"]),
        ("s", &["gain · ↑ better", "← better · cost"]),
    ];
    for (id, labels) in expected {
        let texts = texts(id);
        for label in labels {
            assert!(texts.iter().any(|text| text == label), "{id}: {label} in {texts:?}");
        }
    }
}

/// (left, right, top, bottom) of a text, in units of the drawing.
fn extent(text_element: ElementRef<'_>) -> [f64; 4] {
    let number = |name: &str| text_element.attr(name).map_or(0.0, |value| value.parse().unwrap());
    let size = number("font-size");
    // The widths of a wide font; a test of `letters` compares them with a real one.
    let bold = if text_element.attr("font-weight").is_some() { 1.12 } else { 1.0 };
    let width = f64::from(crate::plot::text_width(&text(text_element))) * size / 12.0 * bold;
    let left = match text_element.attr("text-anchor") {
        Some("middle") => number("x") - width / 2.0,
        Some("end") => number("x") - width,
        _ => number("x"),
    };
    [left, left + width, number("y") - 0.7 * size, number("y")]
}

#[test]
fn no_text_covers_another_or_leaves_the_plot() {
    let (_, page) = page_of_all_kinds();
    for plot in select(&page, "svg.plot") {
        let size: Vec<f64> =
            plot.attr("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        let texts: Vec<ElementRef<'_>> = plot.select(&Selector::parse("text").unwrap()).collect();
        for (i, one) in texts.iter().enumerate() {
            let [left, right, top, bottom] = extent(*one);
            assert!(left >= -1.0 && right <= size[2] + 1.0 && bottom <= size[3], "{}", text(*one));
            for other in &texts[..i] {
                let [from, to, above, below] = extent(*other);
                let apart = right <= from || to <= left || bottom <= above || below <= top;
                assert!(apart, "{} and {}", text(*one), text(*other));
            }
        }
    }
}

#[test]
fn a_figure_can_be_saved_and_its_values_are_its_data() {
    let bars = Grouped {
        y_label: "utilisation (%)".to_owned(),
        ..grouped(vec![Some(Bar {
            value: 0.1 + 0.2,
            interval: Some((0.25, 0.35)),
            runs: 5,
            published: None,
        })])
    };
    let expected = "T_q (ms),series,value,ci95 low,ci95 high,runs\n150,1 Mbit/s,0.3,0.25,0.35,5\n";
    let figures = vec![figure("f", Bars(bars))];
    assert_eq!(figures[0].body.csv(), expected);
    let page = Html::parse_document(&html(&of_figures(figures)).unwrap());
    let kinds: Vec<&str> =
        select(&page, ".save button").iter().filter_map(|button| button.attr("data-as")).collect();
    assert_eq!(kinds, ["svg", "png", "csv"]);
    let packed = select(&page, "figure")[0].attr("data-csv").unwrap();
    let bytes = base64::prelude::Engine::decode(&base64::prelude::BASE64_STANDARD, packed).unwrap();
    let values = miniz_oxide::inflate::decompress_to_vec(&bytes).unwrap();
    assert_eq!(String::from_utf8(values).unwrap(), expected);
}

#[test]
fn the_values_of_several_runs_have_their_mean_and_interval() {
    let mean = Series {
        band: vec![(1.0, 1.5, 2.5)],
        runs: vec![vec![(1.0, 1.9)], vec![(1.0, 2.1)]],
        ..series(vec![(1.0, 2.0), (2.0, 3.0)], SeriesStyle::Line)
    };
    let plot = TimePlot { x_label: "time (s)".to_owned(), ..time(vec![mean], false) };
    let csv = figure("f", plot).body.csv();
    let lines: Vec<&str> = csv.lines().take(5).collect();
    assert_eq!(
        lines,
        [
            "panel,series,time (s),value,ci95_low,ci95_high,run",
            "Rate · bit/s,sent,1,2,1.5,2.5,",
            "Rate · bit/s,sent,2,3,,,",
            "Rate · bit/s,sent,1,1.9,,,1",
            "Rate · bit/s,sent,1,2.1,,,2",
        ]
    );
}

#[test]
fn figures_are_files_of_the_width_of_a_journal() {
    let plot = || time(vec![series(vec![(0.0, 1.0), (1.0, 2.0)], SeriesStyle::Line)], false);
    let report = of_figures(vec![figure("Fig. 7/a", plot()), figure("t", values::hostile("x"))]);
    let files = |format, width| figure_files(&report, format, width).unwrap();
    let names = |files: &[FigureFile]| -> Vec<String> {
        files.iter().map(|file| file.name.clone()).collect()
    };
    let svg = files(FileFormat::Svg, Some(85.0));
    assert_eq!(names(&svg), ["fig-7-a.svg", "t.csv"], "a table has no plot");
    let text = String::from_utf8(svg[0].bytes.clone()).unwrap();
    assert!(text.starts_with("<svg xmlns=") && text.contains("width=\"85mm\""), "{text}");
    // 85 mm at 96 dpi, in quarters of a pixel: the letters keep their size of 9 points.
    assert!(text.contains("viewBox=\"0 0 1284 ") && text.contains("font-size=\"48\""), "{text}");
    let wide = String::from_utf8(files(FileFormat::Svg, None)[0].bytes.clone()).unwrap();
    assert!(wide.contains("width=\"180mm\""));
    assert_eq!(names(&files(FileFormat::Csv, None)), ["fig-7-a.csv", "t.csv"]);
    if !FileFormat::Pdf.is_built() {
        let error = figure_files(&report, FileFormat::Pdf, None).unwrap_err().to_string();
        assert!(error.contains("cannot write pdf files"), "{error}");
    }
}

#[cfg(feature = "paper")]
#[test]
fn a_pdf_embeds_its_fonts_and_a_png_has_300_dpi() {
    let points = vec![point("a", 1.0, 2.0), point("b", 3.0, 1.0)];
    let mut plot = scatter(points);
    plot.marks = vec![Mark::published(MarkAt::X(2.0), "2 ms")];
    let report = of_figures(vec![figure("f", plot)]);
    let file = |format| figure_files(&report, format, Some(85.0)).unwrap().remove(0);
    let pdf = file(FileFormat::Pdf);
    assert_eq!(pdf.name, "f.pdf");
    assert!(pdf.bytes.starts_with(b"%PDF-"));
    let has = |part: &str| pdf.bytes.windows(part.len()).any(|window| window == part.as_bytes());
    assert!(
        has("/FontFile2") && has("+Roboto-Regular") && has("+Roboto-Bold") && has("/ToUnicode")
    );
    // 85 mm in points.
    assert!(has("/MediaBox [0 0 240.94"), "{}", String::from_utf8_lossy(&pdf.bytes));
    assert!(pdf.bytes.len() < 40_000, "only the glyphs that are shown: {}", pdf.bytes.len());
    assert_eq!(pdf, file(FileFormat::Pdf), "the same bytes");
    let image = file(FileFormat::Png).bytes;
    assert_eq!(image[..8], *b"\x89PNG\r\n\x1a\n");
    // The width in the header: 85 mm at 300 dpi.
    assert_eq!(u32::from_be_bytes(image[16..20].try_into().unwrap()), 1004);
}
