//! Reads recordings, replays their inputs, and compares outputs.

use cc::{ControllerConfig, Ecn, Feedback, MediaFrame, PacketResult, Sender, SentPacket};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};
use units::{Bitrate, Bytes, Time};

/// Frames are split into packets of this size.
const PACKET: u64 = 1200;

/// The folder of the recordings of a controller.
fn folder(controller: &str) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rmcat");
    std::env::var_os("WEIR_RECORDINGS").map_or(own, PathBuf::from).join(controller)
}

/// The names of the recordings of a controller.
pub(crate) fn names(controller: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder(controller)).unwrap();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".inputs.csv.gz")?.to_owned()))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no recordings of {controller}");
    names
}

fn text(controller: &str, file: &str) -> String {
    let file = std::fs::File::open(folder(controller).join(file)).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text
}

/// The inputs and outputs of one recording.
pub(crate) struct Recording {
    header: String,
    inputs: Vec<String>,
    columns: Vec<String>,
    outputs: Vec<Vec<f64>>,
    /// Ticks per second.
    ticks: u64,
}

impl Recording {
    pub(crate) fn read(controller: &str, name: &str, ticks: u64) -> Self {
        let inputs = text(controller, &format!("{name}.inputs.csv.gz"));
        let outputs = text(controller, &format!("{name}.outputs.csv.gz"));
        let is_header = |line: &&str| line.starts_with('#');
        let header = outputs.lines().filter(is_header).collect::<Vec<_>>().join("\n");
        let mut rows = outputs.lines().filter(|line| !is_header(line));
        let columns = rows.next().unwrap().split(',').map(str::to_owned).collect();
        let numbers = |row: &str| row.split(',').map(|cell| cell.parse().unwrap()).collect();
        Self {
            header,
            inputs: inputs.lines().filter(|line| !is_header(line)).map(str::to_owned).collect(),
            columns,
            outputs: rows.map(numbers).collect(),
            ticks,
        }
    }

    /// The word after `key` in the header.
    pub(crate) fn word(&self, key: &str) -> &str {
        let (_, rest) = self.header.split_once(key).unwrap_or_else(|| panic!("no {key}"));
        rest.trim_start().split([' ', ',', '\n']).next().unwrap()
    }

    /// The number after `key` in the header.
    pub(crate) fn parameter(&self, key: &str) -> f64 {
        self.word(key).parse().unwrap()
    }

    /// The controller of the recording with these settings, within its rates.
    pub(crate) fn sender(&self, profile: &str, settings: &[(&str, String)]) -> Box<dyn Sender> {
        let rate = |key| Bitrate::from_bps_f64(self.parameter(key));
        let named = |(name, value): &(&str, String)| ((*name).to_owned(), value.clone());
        let config = ControllerConfig {
            profile: profile.to_owned(),
            settings: settings.iter().map(named).collect(),
            start_rate: rate("bounds min").max(rate(" start ")),
            min_rate: rate("bounds min"),
            max_rate: rate(" max "),
        };
        cc::build(&config).unwrap().sender
    }

    pub(crate) fn time(&self, ticks: u64) -> Time {
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(self.ticks);
        Time::from_nanos(u64::try_from(nanos).unwrap())
    }
}

/// Replays the inputs of a recording. After each feedback message `compare` gets the time and the
/// original's values by column.
pub(crate) fn replay(
    recording: &Recording,
    sender: &mut dyn Sender,
    mut compare: impl FnMut(&mut dyn Sender, Time, &BTreeMap<&str, f64>),
) {
    let mut outputs = recording.outputs.iter();
    let mut sent: BTreeMap<u64, SentPacket> = BTreeMap::new();
    // The packets of the sender's queue.
    let mut queue: VecDeque<u64> = VecDeque::new();
    let (mut ticks, mut arrival) = (0, 0);
    let mut rows = recording.inputs.iter().peekable();
    while let Some(row) = rows.next() {
        let fields: Vec<&str> = row.split(',').collect();
        let number = |index: usize| fields[index].parse::<u64>().unwrap();
        ticks += number(1);
        let now = recording.time(ticks);
        match fields[0] {
            "F" => {
                // A queue that was discarded at feedback is recorded after the next frame.
                let discarded = rows.peek().and_then(|next| next.strip_prefix("D,0,"));
                let discarded = discarded.map(|count| count.parse::<usize>().unwrap());
                if discarded.is_some_and(|count| count == queue.len()) {
                    queue.clear();
                    rows.next();
                }
                let mut size = number(3);
                while size > 0 {
                    queue.push_back(size.min(PACKET));
                    size = size.saturating_sub(PACKET);
                }
                let (size, queued) = (Bytes::new(number(3)), Bytes::new(queue.iter().sum()));
                sender.on_frame(now, &MediaFrame { size, queued });
            }
            "S" => {
                let (sequence, size) = (number(2), Bytes::new(number(3)));
                let packet = SentPacket { sequence, sent: now, size, probe: None };
                sender.on_sent(&packet);
                queue.pop_front();
                sent.insert(sequence, packet);
            }
            "P" => sender.on_timeout(now),
            "D" => drop(queue.drain(..number(2) as usize)),
            // A message in wire form has no arrival times in this file.
            "W" => {}
            "B" => {
                let mut results = Vec::new();
                for (sequence, entry) in (number(5)..).zip(fields[6].split(' ')) {
                    if entry == "-" {
                        continue;
                    }
                    let digits = entry.trim_end_matches(['a', 'b', 'c']);
                    let ecn = match entry.as_bytes()[entry.len() - 1] {
                        b'a' => Ecn::Ect1,
                        b'b' => Ecn::Ect0,
                        b'c' => Ecn::Ce,
                        _ => Ecn::NotEct,
                    };
                    arrival += digits.parse::<i64>().unwrap();
                    let arrival = Some(recording.time(arrival.try_into().unwrap()));
                    results.push(PacketResult { packet: sent[&sequence], arrival, ecn });
                }
                sender.on_feedback(now, Feedback::Packets { results: &results, rtt: None });
                let values = outputs.next().unwrap();
                let names = recording.columns.iter().map(String::as_str);
                compare(sender, now, &names.zip(values.iter().copied()).collect());
                // The original was asked for a packet after each message.
                sender.on_timeout(now);
            }
            other => panic!("unknown row {other}"),
        }
    }
}

/// The signals of a sender by name.
pub(crate) fn signals(sender: &dyn Sender) -> BTreeMap<&'static str, f64> {
    let mut signals = BTreeMap::new();
    sender.signals(&mut |name, value| {
        signals.insert(name, value);
    });
    signals
}

/// The deviations of one column of one recording.
#[derive(Clone, Default)]
pub(crate) struct Deviation {
    values: u64,
    sum: f64,
    greatest: f64,
    /// Rows beyond the tolerance.
    beyond: u64,
    /// The first of them.
    pub(crate) first: Option<String>,
}

impl Deviation {
    /// Compares two values. The deviation is relative to the original's value, at least `floor`.
    pub(crate) fn check(&mut self, now: Time, [real, own]: [f64; 2], floor: f64, tolerance: f64) {
        let relative = (real - own).abs() / real.abs().max(floor);
        self.values += 1;
        self.sum += relative;
        self.greatest = self.greatest.max(relative);
        // A value that is not a number is beyond any tolerance.
        if relative.is_nan() || relative > tolerance {
            self.beyond += 1;
            let since = now.as_secs_f64();
            self.first.get_or_insert_with(|| format!("at {since:.3} s {own} instead of {real}"));
        }
    }

    /// The share of the rows within the tolerance.
    fn within(&self) -> f64 {
        1.0 - self.beyond as f64 / self.values.max(1) as f64
    }

    pub(crate) fn line(&self, name: &str, column: &str) -> String {
        let mean = 100.0 * self.sum / self.values.max(1) as f64;
        let (greatest, within) = (100.0 * self.greatest, 100.0 * self.within());
        let first = self.first.as_deref().unwrap_or("");
        format!("{name:<28}{column:<16}{mean:>9.4}{greatest:>10.3}{within:>8.2}  {first}")
    }
}

/// The head of a table of [`Deviation::line`].
pub(crate) fn head() -> String {
    format!("{:<28}{:<16}{:>9}{:>10}{:>8}  first", "recording", "column", "mean %", "max %", "in %")
}
