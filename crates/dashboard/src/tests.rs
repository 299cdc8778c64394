//! Jobs, charts and packets without a browser.

use crate::chart::{Source, Wanted, chart};
use crate::data::Runs;
use crate::jobs::{Job, Jobs, RunTask, Task};
use crate::messages::{JobStatus, JobView};
use experiment::Experiment;
use lab::claims::Catalogue;
use serde_json::Value;
use sim::{Options, Recording, Simulation};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use units::{Seed, Time};

fn experiment(controller: &str, duration: &str) -> Experiment {
    let text = format!(
        "title = \"A call\"\nduration = \"{duration}\"\n[host.a]\n\
         up = {{ rate = \"1Mbit/s\", delay = \"20ms\", queue = \"bfifo limit 40kB\" }}\n[host.b]\n\
         [call.main]\nfrom = \"a\"\nto = \"b\"\nvideo = true\naudio = true\n\
         controller = \"{controller}\"\n[tcp.upload]\nfrom = \"a\"\nto = \"b\"\nstart = \"2s\"\n"
    );
    Experiment::parse(&text, "call.toml").unwrap()
}

fn recording(controller: &str) -> Recording {
    let scenario = experiment(controller, "5s").cells()[0].scenario(Seed(1));
    sim::run(&scenario, Options::default()).unwrap()
}

/// The head of a message of columns, and the number of its values.
fn head(bytes: &[u8]) -> (Value, usize) {
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let head = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
    (head, (bytes.len() - 4 - length) / 8)
}

fn source(controller: &str) -> Source {
    let controllers = vec![("main".to_owned(), controller.to_owned())];
    Source { name: "run 1".to_owned(), recording: Arc::new(recording(controller)), controllers }
}

fn jobs(folder: &Path) -> Jobs {
    let runs = Arc::new(Runs::open(&folder.join("runs.sqlite")).unwrap());
    let catalogue = Arc::new(Catalogue::embedded().unwrap());
    Jobs::start(runs, catalogue, NonZeroUsize::MIN, None).unwrap()
}

/// Waits until the job is in one of these states.
fn wait(jobs: &Jobs, job: &Job, until: impl Fn(&JobView) -> bool) -> JobView {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut changes = jobs.board().watch();
    runtime.block_on(async {
        loop {
            let view = job.view();
            if until(&view) {
                return view;
            }
            changes.changed().await.unwrap();
        }
    })
}

fn is_finished(view: &JobView) -> bool {
    !matches!(view.status, JobStatus::Waiting | JobStatus::Running)
}

#[test]
fn the_records_so_far_are_the_beginning_of_the_records() {
    let scenario = experiment("gcc:libwebrtc", "5s").cells()[0].scenario(Seed(1));
    let mut simulation = Simulation::new(&scenario, Options::default()).unwrap();
    simulation.advance(Time::from_millis(3_200)).unwrap();
    let part = simulation.records();
    assert_eq!(part.duration, units::Duration::from_secs(3));
    simulation.advance(Time::MAX).unwrap();
    let (so_far, whole) = (simulation.records(), simulation.finish());
    assert_eq!(format!("{so_far:?}"), format!("{whole:?}"));
    assert_eq!(
        format!("{whole:?}"),
        format!("{:?}", sim::run(&scenario, Options::default()).unwrap())
    );
    for (part, whole) in part.streams.iter().zip(&whole.streams) {
        assert_eq!(part.name, whole.name);
        for column in &part.columns {
            let all = whole.column(column.name).unwrap();
            assert_eq!(column.values.len(), 6, "{} {}", part.name, column.name);
            assert_eq!(format!("{:?}", column.values), format!("{:?}", &all[..6]));
        }
        for points in &part.points {
            let all = whole.points(points.name).unwrap();
            assert_eq!(points.values, all[..points.values.len()]);
        }
    }
}

#[test]
fn a_chart_has_the_panels_of_a_run_and_the_states_of_its_controller() {
    let (head, values) = head(&chart(&[source("gcc:libwebrtc")], &Wanted::default()));
    let labels: Vec<&str> = head["panels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["label"].as_str().unwrap())
        .collect();
    for wanted in
        ["rate", "queuing delay", "RTT", "packets lost", "frame rate", "congestion window"]
    {
        assert!(labels.contains(&wanted), "{labels:?}");
    }
    assert!(labels.iter().any(|label| label.starts_with("delay gradient")), "{labels:?}");
    let lengths = head["lengths"].as_array().unwrap().iter();
    assert_eq!(lengths.map(|length| length.as_u64().unwrap() as usize).sum::<usize>(), values);
    let words: Vec<&str> =
        head["bands"].as_array().unwrap().iter().map(|one| one["word"].as_str().unwrap()).collect();
    assert!(words.contains(&"increase"), "{words:?}");
}

#[test]
fn a_column_is_added_and_runs_have_a_mean_with_an_interval() {
    let columns = vec![("main.video".to_owned(), "jitter".to_owned())];
    let wanted = Wanted { columns, ..Wanted::default() };
    let (one, _) = head(&chart(&[source("gcc:libwebrtc")], &wanted));
    assert!(one["panels"].as_array().unwrap().iter().any(|panel| panel["label"] == "jitter"));
    let wanted = Wanted { mean: true, ..Wanted::default() };
    let both = [source("gcc:libwebrtc"), source("scream-v2")];
    let (mean, _) = head(&chart(&both, &wanted));
    assert_eq!(mean["runs"][0], "mean of 2 runs");
    let rate = &mean["panels"][0];
    let received = rate["series"].as_array().unwrap().iter();
    let received = received.filter(|one| one["name"] == "main.video received");
    assert!(received.map(|one| &one["band"]).all(Value::is_array), "{rate}");
    let (several, _) = head(&chart(&both, &Wanted::default()));
    let runs = several["panels"][0]["series"].as_array().unwrap().iter();
    assert!(runs.map(|one| one["run"].as_u64()).any(|run| run == Some(1)));
}

#[test]
fn a_controller_without_signals_has_none() {
    let (head, _) = head(&chart(&[source("fixed:500kbit/s")], &Wanted::default()));
    let columns = head["columns"].as_array().unwrap().iter();
    let signals: Vec<&Value> = columns.filter(|column| column["is_signal"] == true).collect();
    assert_eq!(signals, Vec::<&Value>::new(), "columns that are not the controller's own");
}

#[test]
fn a_job_stores_its_runs_with_tags_and_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(folder.path());
    let task = |experiment| Task::Run(RunTask { experiment, tags: vec!["first".to_owned()] });
    let short = jobs.add("short".to_owned(), task(experiment("gcc:libwebrtc", "3s"))).unwrap();
    let view = wait(&jobs, &short, is_finished);
    assert_eq!((view.status, view.runs, view.messages), (JobStatus::Done, vec![1], vec![]));
    let list = jobs.board().runs.list().unwrap();
    assert_eq!((list[0].id, list[0].tags.as_slice()), (1, &["first".to_owned()][..]));
    // Far longer than the test waits.
    let long = jobs.add("long".to_owned(), task(experiment("gcc:libwebrtc", "20000s"))).unwrap();
    let view = wait(&jobs, &long, |view| view.at > 0.0);
    assert_eq!(view.status, JobStatus::Running);
    assert!(long.live.records().is_some_and(|(seed, _)| seed == Seed(1)));
    jobs.cancel(&long);
    let view = wait(&jobs, &long, is_finished);
    assert_eq!((view.status, view.runs), (JobStatus::Cancelled, vec![]));
    assert_eq!(jobs.board().runs.list().unwrap().len(), 1);
}

#[test]
fn the_packets_of_a_stream_arrive_or_are_lost() {
    let scenario = experiment("fixed:2Mbit/s", "5s").cells()[0].scenario(Seed(1));
    let window = (Time::from_secs(1), Time::from_secs(2));
    let (head, values) = head(&crate::packets::view(&scenario, "main.video", window).unwrap());
    assert_eq!(head["streams"], serde_json::json!(["main.video", "main.audio"]));
    let count = head["lengths"][0].as_u64().unwrap() as usize;
    // The counter of the sender says the same, but for a packet at an end of the window.
    let recording = sim::run(&scenario, Options::default()).unwrap();
    let sent = recording.stream("main.video").unwrap().column("packetsSent").unwrap();
    let counted = sent[3] - sent[1];
    assert!((count as f64 - counted).abs() <= 1.0, "{count} packets, and {counted} by the counter");
    assert_eq!(values, 5 * count);
    assert!(head["lost"].as_u64().unwrap() > 20, "{head}");
}
