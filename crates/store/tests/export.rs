//! Exports hold every value, exactly, in files that are there whole or not at all.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{meta, recording};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};
use sim::Recording;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use store::export::{
    CsvTable, ExportError, Frame, FrameColumn, Layout, MetricRow, MetricTable, ParquetTable,
    parameters, to_file, write_csv, write_parquet,
};
use store::{RunMeta, StoredRun};
use tempfile::tempdir;
use units::Duration;

fn stored(index: u32) -> (StoredRun, Recording) {
    let recording = recording(index, 5, 3);
    (
        StoredRun { id: i64::from(index) + 1, meta: meta(index), duration: recording.duration },
        recording,
    )
}

fn csv(layout: &Layout) -> String {
    let (run, recording) = stored(1);
    let mut out = Vec::new();
    write_csv(&run, &recording, &mut out, layout).unwrap();
    String::from_utf8(out).unwrap()
}

/// The expected rows of a table, computed from the recording: (stream, record, time, name, bits of
/// the value).
type Value = (String, String, f64, String, u64);

fn expected(recording: &Recording) -> Vec<Value> {
    let mut all = Vec::new();
    for stream in &recording.streams {
        for column in &stream.columns {
            for (index, value) in
                column.values.iter().enumerate().filter(|(_, value)| !value.is_nan())
            {
                let time = recording.sample_time(index).as_secs_f64();
                all.push((
                    stream.name.clone(),
                    "sample".into(),
                    time,
                    column.name.into(),
                    value.to_bits(),
                ));
            }
        }
        for points in &stream.points {
            for (at, value) in &points.values {
                let at = at.as_secs_f64();
                all.push((
                    stream.name.clone(),
                    "point".into(),
                    at,
                    points.name.into(),
                    value.to_bits(),
                ));
            }
        }
    }
    for event in &recording.events {
        let at = event.at.as_secs_f64();
        all.push((
            event.stream.clone(),
            "event".into(),
            at,
            event.what.into(),
            event.value.to_bits(),
        ));
    }
    all
}

#[test]
fn the_long_csv_has_every_value_bit_identical() {
    let text = csv(&Layout::Long);
    let head = "run,experiment,mode,cpu_limited,cell.host.alice.up.rate,cell.call.main.controller,seed,stream,record,time_s,name,value";
    assert_eq!(text.lines().next().unwrap(), head);
    let first = "2,carlucci-2017/fig11,simulated,false,1Mbit/s,gcc:draft-02,18446744073709551601,call1.video,sample,1.5,bytesSent,125001";
    assert_eq!(text.lines().nth(1).unwrap(), first);
    let mut found = Vec::new();
    for record in csv::Reader::from_reader(text.as_bytes()).records().map(Result::unwrap) {
        let number = |place: usize| record[place].parse::<f64>().unwrap_or(f64::NAN);
        found.push((
            record[7].into(),
            record[8].into(),
            number(9),
            record[10].into(),
            number(11).to_bits(),
        ));
    }
    assert_eq!(found, expected(&stored(1).1));
}

#[test]
fn the_wide_csv_has_one_row_per_sample() {
    let text = csv(&Layout::Wide { stream: "call1.video".into() });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..4],
        ["time_s,bytesSent,bytesReceived,packetsLost", "0.5,,,", "1,,,", "1.5,125001,5,125001"]
    );
    assert_eq!(lines[4], "2,187501,7.333333333333333,187501");
    assert_eq!(lines.len(), 6);
}

#[test]
fn an_unknown_stream_is_an_error_that_lists_the_streams() {
    let (run, recording) = stored(0);
    let layout = Layout::Wide { stream: "bob.up".into() };
    let error = write_csv(&run, &recording, io::sink(), &layout).unwrap_err();
    assert_eq!(error.to_string(), "the run has no stream \"bob.up\"; it has call1.video, alice.up");
}

/// Two runs of experiments with different grids: each parameter has its column.
fn two_grids() -> Vec<(StoredRun, Recording)> {
    let (mut run, recording) = stored(0);
    run.meta = RunMeta { cell: vec![("duration".into(), "60s, \"long\"".into())], ..run.meta };
    vec![(run, recording), stored(1)]
}

#[test]
fn many_runs_share_a_csv_table() {
    let runs = two_grids();
    let keys = parameters(runs.iter().map(|(run, _)| &run.meta));
    assert_eq!(keys, ["duration", "host.alice.up.rate", "call.main.controller"]);
    let mut table = CsvTable::new(Vec::new(), keys).unwrap();
    for (run, recording) in &runs {
        table.add(run, recording).unwrap();
    }
    let bytes = table.finish().unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let cell = |row: &csv::StringRecord| [row[4].to_owned(), row[5].to_owned(), row[6].to_owned()];
    assert_eq!(cell(&rows[0]), ["60s, \"long\"", "", ""]);
    assert_eq!(cell(rows.last().unwrap()), ["", "1Mbit/s", "gcc:draft-02"]);
    assert_eq!(
        rows.len(),
        runs.iter().map(|(_, recording)| expected(recording).len()).sum::<usize>()
    );
}

fn parquet(runs: &[(StoredRun, Recording)]) -> SerializedFileReader<bytes::Bytes> {
    let keys = parameters(runs.iter().map(|(run, _)| &run.meta));
    let mut table = ParquetTable::new(Vec::new(), keys).unwrap();
    for (run, recording) in runs {
        table.add(run, recording).unwrap();
    }
    SerializedFileReader::new(bytes::Bytes::from(table.finish().unwrap())).unwrap()
}

#[test]
fn an_interval_keeps_its_last_value_of_each_quantity_and_all_events() {
    let (run, recording) = stored(1);
    let mut table = CsvTable::new(Vec::new(), vec![]).unwrap().every(Some(Duration::from_secs(1)));
    table.add(&run, &recording).unwrap();
    let bytes = table.finish().unwrap();
    let kept = csv::Reader::from_reader(bytes.as_slice()).into_records().map(Result::unwrap);
    let kept: Vec<(String, String, f64, String, u64)> = kept
        .map(|row| {
            let number = |place: usize| row[place].parse::<f64>().unwrap_or(f64::NAN);
            let text = |place: usize| row[place].to_owned();
            (text(5), text(6), number(7), text(8), number(9).to_bits())
        })
        .collect();
    let all = expected(&recording);
    // Intervals are (0 s, 1 s], (1 s, 2 s], …: a value stays unless a later one is in its interval.
    let is_last = |row: &Value| {
        let later = |other: &Value| {
            (&other.0, &other.1, &other.3) == (&row.0, &row.1, &row.3)
                && other.2 > row.2
                && other.2.ceil() == row.2.ceil()
        };
        row.1 == "event" || !all.iter().any(later)
    };
    let last: Vec<Value> = all.iter().filter(|row| is_last(row)).cloned().collect();
    assert!(last.len() < all.len());
    assert_eq!(kept, last);
}

/// The metrics of the video of two runs: the second one lacks the round-trip time, and neither has
/// the third metric.
fn metrics(runs: &[(StoredRun, Recording)]) -> MetricTable<'_> {
    let values = [[1e6, 0.05, f64::NAN], [2e6, f64::NAN, f64::NAN]];
    let rows = runs.iter().zip(values).map(|((run, _), values)| MetricRow {
        run,
        stream: "=call1.video".into(),
        kind: "video",
        values: values.to_vec(),
    });
    let named = [("received_rate", "bit/s"), ("rtt_p95", "s"), ("share", "1")];
    MetricTable {
        keys: parameters(runs.iter().map(|(run, _)| &run.meta)),
        metrics: named.map(|(name, unit)| (name.to_owned(), unit.to_owned())).to_vec(),
        rows: rows.collect(),
    }
}

#[test]
fn the_csv_of_metrics_has_a_column_per_metric_that_some_stream_has() {
    let runs = two_grids();
    let mut out = Vec::new();
    metrics(&runs).write_csv(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "run,experiment,mode,cpu_limited,cell.duration,cell.host.alice.up.rate,cell.call.main.controller,seed,stream,kind,received_rate,rtt_p95",
            "1,carlucci-2017/fig11,simulated,false,\"60s, \"\"long\"\"\",,,18446744073709551602,'=call1.video,video,1000000,0.05",
            "2,carlucci-2017/fig11,simulated,false,,1Mbit/s,gcc:draft-02,18446744073709551601,'=call1.video,video,2000000,",
        ]
    );
}

#[test]
fn the_parquet_of_metrics_has_their_units_and_nulls() {
    let runs = two_grids();
    let mut out = Vec::new();
    metrics(&runs).write_parquet(&mut out).unwrap();
    let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
    let facts = reader.metadata().file_metadata();
    let unit = |name: &str| {
        let key = format!("weir.unit.{name}");
        let all = facts.key_value_metadata()?;
        all.iter().find(|fact| fact.key == key)?.value.clone()
    };
    assert_eq!(unit("received_rate").as_deref(), Some("bit/s"));
    assert_eq!(unit("rtt_p95").as_deref(), Some("s"));
    assert_eq!(unit("share"), None);
    let names: Vec<&str> = facts.schema_descr().columns().iter().map(|one| one.name()).collect();
    assert_eq!(names[names.len() - 4..], ["stream", "kind", "received_rate", "rtt_p95"]);
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let last = |row: &parquet::record::Row| {
        let fields: Vec<Field> = row.get_column_iter().map(|(_, field)| field.clone()).collect();
        fields[fields.len() - 2..].to_vec()
    };
    assert_eq!(last(&rows[0]), [Field::Double(1e6), Field::Double(0.05)]);
    assert_eq!(last(&rows[1]), [Field::Double(2e6), Field::Null]);
}

#[test]
fn a_frame_reads_back_with_its_nulls() {
    let text = |text: &str| Some(text.to_owned());
    let columns = [
        ("run", FrameColumn::Integer(vec![-1, 7])),
        ("seed", FrameColumn::Unsigned(vec![1, u64::MAX])),
        ("rate", FrameColumn::Real(vec![f64::NAN, 0.1])),
        ("error", FrameColumn::Text(vec![text("refused"), None])),
    ];
    let columns = columns.map(|(name, values)| (name.to_owned(), values)).into();
    let mut out = Vec::new();
    Frame { columns }.write_parquet(&mut out).unwrap();
    let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
    let fields = |row: parquet::record::Row| -> Vec<Field> {
        row.get_column_iter().map(|(_, field)| field.clone()).collect()
    };
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| fields(row.unwrap())).collect();
    let refused = Field::Str("refused".to_owned());
    assert_eq!(rows[0], [Field::Long(-1), Field::ULong(1), Field::Null, refused]);
    let seven = [Field::Long(7), Field::ULong(u64::MAX), Field::Double(0.1), Field::Null];
    assert_eq!(rows[1], seven);
}

#[test]
fn parquet_has_the_same_rows() {
    let runs = two_grids();
    let reader = parquet(&runs);
    let mut found = Vec::new();
    let mut cells = Vec::new();
    for row in reader.get_row_iter(None).unwrap().map(Result::unwrap) {
        let text = |place| row.get_string(place).unwrap().clone();
        assert_eq!(text(1), "carlucci-2017/fig11");
        assert_eq!((text(2).as_str(), row.get_bool(3).unwrap()), ("simulated", false));
        let value = row.get_double(12).unwrap().to_bits();
        found.push((text(8), text(9), row.get_double(10).unwrap(), text(11), value));
        let columns: Vec<Field> = row.get_column_iter().map(|(_, field)| field.clone()).collect();
        cells.push((
            row.get_long(0).unwrap(),
            columns[4].clone(),
            columns[5].clone(),
            row.get_ulong(7).unwrap(),
        ));
    }
    let all: Vec<Value> = runs.iter().flat_map(|(_, recording)| expected(recording)).collect();
    assert_eq!(found, all);
    let text = |text: &str| Field::Str(text.into());
    assert_eq!(cells[0], (1, text("60s, \"long\""), Field::Null, meta(0).seed.0));
    assert_eq!(cells.last().unwrap(), &(2, Field::Null, text("1Mbit/s"), meta(1).seed.0));
}

#[test]
fn parquet_has_metadata() {
    let reader = parquet(&[stored(0), stored(1)]);
    let metadata = reader.metadata().file_metadata();
    assert_eq!(metadata.created_by().unwrap(), format!("weir {}", env!("CARGO_PKG_VERSION")));
    let pairs = metadata.key_value_metadata().unwrap();
    let value =
        |key: &str| pairs.iter().find(|pair| pair.key == key).unwrap().value.clone().unwrap();
    assert_eq!(value("weir.experiment"), "carlucci-2017/fig11");
    assert_eq!(value("weir.seed"), "18446744073709551602,18446744073709551601");
    assert_eq!(value("weir.mode"), "simulated");
    assert_eq!(value("weir.version"), "0.1.0");
    assert_eq!(value("weir.file"), *meta(0).file);
}

#[test]
fn a_run_longer_than_a_row_group_is_complete() {
    let recording = recording(0, 40_000, 8);
    let run = StoredRun { id: 1, meta: meta(0), duration: recording.duration };
    let mut bytes = Vec::new();
    write_parquet(&run, &recording, &mut bytes).unwrap();
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let rows = expected(&recording).len();
    assert!(reader.num_row_groups() > 1);
    assert_eq!(usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap(), rows);
    let last = reader.get_row_iter(None).unwrap().last().unwrap().unwrap();
    assert_eq!(last.get_string(10).unwrap(), "freeze");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let make = || {
        let (run, recording) = stored(3);
        let mut bytes = Vec::new();
        write_parquet(&run, &recording, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(make(), make());
    assert_eq!(csv(&Layout::Long), csv(&Layout::Long));
}

/// A writer that fails after this number of bytes, like a full disk.
struct Disk(usize);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_wherever_it_fills() {
    let (run, _) = stored(0);
    let recording = recording(0, 2_000, 3);
    for room in [0, 2, 9_000] {
        let long = write_csv(&run, &recording, Disk(room), &Layout::Long);
        let wide =
            write_csv(&run, &recording, Disk(room), &Layout::Wide { stream: "call1.video".into() });
        let table = write_parquet(&run, &recording, Disk(room));
        for result in [long, wide, table] {
            assert!(
                result.unwrap_err().to_string().starts_with("the disk is full; free some space"),
                "{room}"
            );
        }
    }
}

/// The names of the files in the folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn a_failed_export_does_not_change_the_old_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let fail = |writer: &mut io::BufWriter<&fs::File>| {
        writer.write_all(&[b'x'; 100_000])?;
        Err::<(), io::Error>(io::ErrorKind::StorageFull.into())
    };
    let error = to_file(&path, fail).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: the disk is full; free some space, or name a file on another disk",
            path.display()
        )
    );
    assert_eq!(names(folder.path()), [""; 0]);
    fs::write(&path, "old").unwrap();
    to_file(&path, fail).unwrap_err();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["out.csv"]);
}

/// Writes three letters.
fn three(writer: &mut io::BufWriter<&fs::File>) -> io::Result<()> {
    writer.write_all(b"new")
}

#[test]
fn an_export_replaces_the_old_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "a longer old text").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    to_file(&link, three).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(names(folder.path()), ["link", "out.csv"]);
}

#[test]
fn a_new_file_has_the_permissions_of_any_new_file() {
    let folder = tempdir().unwrap();
    let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
    to_file(&ours, three).unwrap();
    fs::write(&usual, "").unwrap();
    assert_eq!(
        fs::metadata(ours).unwrap().permissions(),
        fs::metadata(usual).unwrap().permissions()
    );
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    to_file(Path::new("/dev/null"), three).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    if Path::new("/dev/full").exists() {
        let error = to_file(Path::new("/dev/full"), three).unwrap_err();
        assert!(error.to_string().starts_with("/dev/full: the disk is full"), "{error}");
    }
}

#[test]
fn a_path_that_cannot_be_written_is_an_error_with_a_suggestion() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "old").unwrap();
    let says = |path: &Path, words: &str| {
        let error: ExportError = to_file(path, three).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: {words}", path.display()));
    };
    says(folder.path(), "it is a folder; name a file in it");
    says(
        &folder.path().join("no/out.csv"),
        "there is no such folder; create it, or name another file",
    );
    says(&path.join("out.csv"), "there is no such folder; create it, or name another file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    says(
        &path,
        "it cannot be written; make the file and its folder writable, or name another file",
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}
