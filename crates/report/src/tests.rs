//! The page as a browser sees it: the HTML is parsed again.

mod values;

use super::{
    Bar, Bars, BoxStats, Boxes, Cdf, ClaimRow, Compared, Drawable, Figure, Finding, Group, Grouped,
    Mark, MarkAt, MarkKind, Panel, PrintedRow, Report, Role, Rows, Section, Series, SeriesStyle,
    Status, TextTable, TimePlot, html, merge_by_source,
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
    Series { name: "sent".to_owned(), points, style, role: Role::Series(0) }
}

fn time(series: Vec<Series>, log_y: bool) -> TimePlot {
    let panel = Panel {
        title: "Rate".to_owned(),
        y_label: "bit/s".to_owned(),
        series,
        log_y,
        ..Panel::default()
    };
    TimePlot { panels: vec![panel.clone(), panel], x_label: "time (s)".to_owned() }
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
    let rest = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    assert!(!rest.contains("http:") && !rest.contains("https:") && !rest.contains("@import"));
    let policy = select(&parsed, "meta[http-equiv]")[0].attr("content").unwrap();
    assert!(policy.starts_with("default-src 'none'"));
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
        Box::new(TimePlot { panels: vec![panel.clone()], x_label: h() }),
        Box::new(Bars(grouped)),
        Box::new(Cdf { series: vec![hostile_series], marks, x_label: h(), log_x: false }),
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
    assert_eq!(select(&page, "script").len(), 1, "only the filter");
    assert!(select(&page, "[onload]").is_empty());
    assert!(!text(select(&page, "script")[0]).contains("alert"));
    let texts: Vec<String> =
        select(&page, "svg text").iter().map(|t| t.text().collect::<String>()).collect();
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
                spread: Some((0.8, 1.0)),
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
        let drawn = select(&page, "svg polyline.s0, svg circle.f0");
        assert_eq!(drawn.len(), 2, "the two symbols of the legend");
        assert!(!page.html().contains("NaN"));
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
    assert_eq!(select(&page, "svg polyline.s0").len(), 2 * 3);
    assert_eq!(select(&page, "svg circle.f0").len(), 2);
    let (_, page) = drawn(time(vec![series(vec![(5.0, 5.0)], SeriesStyle::Step)], true));
    assert_eq!(select(&page, "svg circle.f0").len(), 2);
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
        let svg = select(&page, "svg")[0];
        let size: Vec<f64> =
            svg.attr("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        for path in select(&page, "svg polyline") {
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
    let texts: Vec<String> = select(&page, "svg text").into_iter().map(text).collect();
    assert!(texts.contains(&"≤ 0.1".to_owned()), "{texts:?}");
}

#[test]
fn published_values_are_drawn_labelled_and_listed() {
    let item = Bar { value: 0.87, spread: None, published: Some(0.9) };
    let mut grouped = grouped(vec![Some(item), None]);
    grouped.marks = vec![
        Mark::published(MarkAt::Y(0.9), "90 %"),
        Mark { at: MarkAt::Y(0.5), label: "half".to_owned(), kind: MarkKind::Reference },
    ];
    let (_, page) = drawn(Bars(grouped));
    assert_eq!(select(&page, "svg polyline.sp").len(), 3, "legend, mark, bar");
    assert_eq!(select(&page, "svg polyline.sr").len(), 1);
    let texts: Vec<String> = select(&page, "svg text.fp").into_iter().map(text).collect();
    assert_eq!(texts, ["published", "90 %"]);
    let cells: Vec<String> = select(&page, "details td").into_iter().map(text).collect();
    assert_eq!(cells, ["150", "1 Mbit/s", "0.87", "0.9"]);
    assert!(text(select(&page, "svg desc")[0]).contains("published 90 % at 0.9"));
}

#[test]
fn horizontal_bars_have_room_for_long_names() {
    let long = "J6 the rest of the profile jansen-2016";
    let bar = Bar { value: 0.87, spread: Some((0.7, 0.9)), published: Some(0.9) };
    let mut rows = grouped(vec![Some(bar), None]);
    rows.groups[0].label = long.to_owned();
    rows.marks = vec![Mark::published(MarkAt::Y(0.65), "65 %")];
    let (_, page) = drawn(Rows(rows));
    let texts: Vec<String> = select(&page, "svg text").into_iter().map(text).collect();
    assert!(
        texts.iter().any(|text| text == long) && texts.contains(&"published 65 %".to_owned()),
        "{texts:?}"
    );
    assert_eq!(select(&page, "svg polyline.sp").len(), 3, "legend, mark, bar");
}

#[test]
fn a_full_report_stays_small() {
    let noise = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8);
    let noisy = |k: u32| {
        series((0..3000).map(|i| (f64::from(i) / 10.0, noise(i + k))).collect(), SeriesStyle::Line)
    };
    let panel = |k| Panel { series: vec![noisy(k), noisy(k + 1)], ..Panel::default() };
    let body = || TimePlot { panels: (0..3).map(panel).collect(), x_label: "time (s)".to_owned() };
    let figures = (0..60).map(|i| figure(&format!("f{i}"), body())).collect();
    let size = html(&of_figures(figures)).unwrap().len();
    assert!(size < 5_000_000, "{size} bytes");
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
