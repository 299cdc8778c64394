//! Generates the types of the pages from the messages.

use crate::messages::{
    Ask, Band, ChartHead, ClaimRow, ColumnName, ComparedClaim, Comparisons, DifferenceRow, Edit,
    ExperimentPage, ExperimentRow, Facts, Field, FieldKind, JobKind, JobStatus, JobView, Mark,
    MetricRow, Mode, PacketHead, PanelHead, Problem, Progress, RankRow, Ranking, RunPage, RunRow,
    SeriesHead, Start, ValueRow, VerdictRow, Verify,
};
use std::path::Path;
use ts_rs::{Config, TS};

const FILE: &str = "../../web/src/generated/dashboard.ts";
const RENEW: &str = "WEIR_RENEW=1 cargo test -p weir-dashboard --lib generated";

macro_rules! declarations {
    ($($name:ident),* $(,)?) => {{
        let config = Config::new();
        [$(<$name as TS>::decl(&config)),*]
    }};
}

fn generate() -> String {
    let all = declarations![
        Ask,
        Band,
        ChartHead,
        ClaimRow,
        ColumnName,
        ComparedClaim,
        Comparisons,
        DifferenceRow,
        Edit,
        ExperimentPage,
        ExperimentRow,
        Facts,
        Field,
        FieldKind,
        JobKind,
        JobStatus,
        JobView,
        Mark,
        MetricRow,
        Mode,
        PacketHead,
        PanelHead,
        Problem,
        Progress,
        RankRow,
        Ranking,
        RunPage,
        RunRow,
        SeriesHead,
        Start,
        ValueRow,
        VerdictRow,
        Verify,
    ];
    let head = "// Generated from crates/dashboard/src/messages.rs. To regenerate:\n";
    let declared = all.map(|text| {
        let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
        format!("export {}", lines.collect::<String>())
    });
    format!("{head}// {RENEW}\n\n{}", declared.join("\n"))
}

#[test]
fn the_types_of_the_pages_match_the_messages() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let expected = generate();
    if std::env::var_os("WEIR_RENEW").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} is out of date; regenerate it with\n  {RENEW}", path.display());
}
