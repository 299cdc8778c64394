//! The short form of an experiment: its schedule in 60 s. It is made by editing the document, so
//! that the stored text is that of the run.

use super::{Experiment, ExperimentError, grid, known_name};
use document::{self, Fault, KeyPath, Location, Node, Reader, Table, Value};
use metrics::{scaled, scaled_nanos};
use units::{Bytes, Duration};

/// The duration of a short form unless the file sets another.
const LENGTH: Duration = Duration::from_secs(60);

/// The keys of `[quick]`.
#[derive(Default)]
pub(super) struct Quick {
    /// The factor of the schedule; `None`: the one that makes the run [`LENGTH`] long.
    scale: Option<f64>,
    /// The values that are set afterwards.
    set: Vec<(KeyPath, Node)>,
}

impl Quick {
    pub(super) fn read(top: &mut Reader<'_>, document: &Table) -> Result<Self, Fault> {
        let Some(node) = top.node("quick") else { return Ok(Self::default()) };
        let mut table = Reader::new(node, "quick")?;
        let scale = factor(&mut table, "scale")?;
        let mut set = Vec::new();
        for (key, node) in table.entries("set")? {
            let fault = |problem| Fault::of(node.location, "quick.set", problem);
            let path = KeyPath::parse(key).map_err(|error| fault(error.into()))?;
            grid::check_path(&path, node.location)?;
            known_name(document, &path).map_err(fault)?;
            set.push((path, node.clone()));
        }
        table.finish()?;
        Ok(Self { scale, set })
    }
}

/// The factor of the schedule under `key`; `None` if the key is missing.
pub(super) fn factor(table: &mut Reader<'_>, key: &'static str) -> Result<Option<f64>, Fault> {
    let factor: Option<f64> = table.optional(key)?;
    match factor {
        Some(wrong) if !(wrong > 0.0 && wrong <= 1.0) => {
            let suggestion = "write a number above 0 and at most 1, such as 0.2";
            Err(table.fault(key, format!("{wrong} is out of range"), suggestion))
        }
        factor => Ok(factor),
    }
}

impl Experiment {
    /// The short form: every time of the schedule is multiplied so that the longest cell takes 60
    /// s, or as `[quick]` in the file says. The schedule is the duration of the run, the starts and
    /// stops of calls, TCP flows and programs, the lifetimes of users, the bytes that flows send,
    /// the times at which rates, delays and losses change, and the windows of the figures. Delays,
    /// intervals, rates and queues do not change. An experiment of at most 60 s, or one with
    /// `time_scale`, is its own short form.
    ///
    /// # Errors
    /// If the shortened document is not an experiment, for example because two values of a list get
    /// the same time.
    pub fn quick(&self) -> Result<Self, ExperimentError> {
        let longest =
            self.cells.iter().map(|cell| cell.scenario.duration).max().unwrap_or_default();
        if longest <= LENGTH || self.time_scale < 1.0 {
            return Ok(self.clone());
        }
        let shorten = || {
            let mut document = self.document.clone();
            let node = Node { value: Value::Table(document.clone()), location: Location::Line(1) };
            let quick = Quick::read(&mut Reader::new(&node, "")?, &document)?;
            let scale = quick.scale.unwrap_or(LENGTH.as_secs_f64() / longest.as_secs_f64());
            document.retain(|key| key != "quick");
            document.walk(&mut Vec::new(), &mut |path, value| {
                if is_schedule(path) {
                    shorten(value, scale);
                }
            });
            document.insert(
                "time_scale",
                Node { value: Value::Real(scale), location: Location::CommandLine },
            );
            for (path, node) in &quick.set {
                grid::override_axes(&mut document, path)
                    .map_err(|problem| Fault::of(node.location, "quick.set", problem))?;
                document.set(path, node)?;
            }
            let text = document::write(&document);
            Self::build(document, &text, &self.path, &self.name, self.files.clone())
        };
        shorten().map_err(|fault| fault.in_file(&self.path))
    }
}

/// Whether the value at this path belongs to the schedule. Lists add no part to the path.
fn is_schedule(path: &[&str]) -> bool {
    let varied = |key: &str, rest: &[&str]| {
        KeyPath::parse(key).is_ok_and(|key| {
            is_schedule(
                &key.parts()
                    .iter()
                    .map(String::as_str)
                    .chain(rest.iter().copied())
                    .collect::<Vec<_>>(),
            )
        })
    };
    match path {
        ["duration"] => true,
        ["grid", key, rest @ ..]
        | ["axis", "points", "set" | "as_printed", key, rest @ ..]
        | ["as_printed", key, rest @ ..] => varied(key, rest),
        ["call" | "conference" | "tcp" | "program", _, key] | ["defaults", "call" | "tcp", key] => {
            matches!(*key, "start" | "stop" | "pauses") || path.contains(&"tcp") && is_traffic(key)
        }
        ["program", _, "upload" | "iperf3", key] | ["users", _, "web", key] => is_traffic(key),
        ["users", _, "lifetime"] | ["tcp", _, "reading", "mean"] => true,
        ["users", _, "host", "up" | "down", "rate" | "delay" | "loss", "at" | "over"] => true,
        ["host", _, "up" | "down", "rate" | "delay" | "loss", "at" | "over"] => true,
        ["core_delay", "at" | "over"] => true,
        ["figure", "values" | "value" | "x" | "y", "from" | "to"] => true,
        // Marks in panels over time are at seconds.
        ["figure", "panels", "marks", "x" | "from" | "to"] => true,
        _ => false,
    }
}

/// Whether the key says how much or how long a flow sends.
fn is_traffic(key: &str) -> bool {
    matches!(key, "bytes" | "on" | "off" | "reading")
}

/// Multiplies a time, a size or a number of seconds. Other values do not change; the reader of the
/// document reports them.
fn shorten(value: &mut Value, scale: f64) {
    match value {
        Value::Text(text) => {
            let time = text.parse().ok().map(|time: Duration| scaled_nanos(time.as_nanos(), scale));
            let size = || text.parse().ok().map(|size: Bytes| scaled(size.get(), scale).max(1));
            let time = time.map(|nanos| Duration::from_nanos(nanos).to_string());
            if let Some(shorter) =
                time.or_else(|| size().map(|bytes| Bytes::new(bytes).to_string()))
            {
                *text = shorter;
            }
        }
        Value::Real(seconds) => *seconds *= scale,
        #[expect(clippy::cast_precision_loss, reason = "seconds of a plot")]
        Value::Integer(seconds) => *value = Value::Real(*seconds as f64 * scale),
        Value::Bool(_) | Value::List(_) | Value::Table(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;
    use units::Time;

    const LONG: &str = r#"
title = "Everything that a schedule has"
duration = "300s"
sample_interval = "1s"
core_delay = [{ at = "0s", value = "1ms" }, { at = "60s", ramp_to = "9ms", over = "30s", every = "500ms" }]

[host.alice]
up = { rate = [{ at = "0s", value = "1Mbit/s" }, { at = "100s", value = "2Mbit/s" }], delay = "25ms", queue = "droptail limit 150ms" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
start = "10s"
media_timeout = "5s"

[tcp.upload]
from = "alice"
to = "bob"
bytes = "5MB"
start = "100s"

[program.own]
host = "bob"
upload = { to = "alice", on = "5s", off = "10s" }
stop = "200s"

[[axis]]
name = "when"
points = [{ label = "early", set = { "tcp.upload.start" = "50s" } }, { label = "late" }]

[[figure]]
kind = "time"
title = "Rate"
panels = [{ label = "rate", lines = [{ stream = "main.video", value = "received_rate" }], marks = [{ y = 7, from = 60, to = 90.0 }] }]

[[figure]]
kind = "bars"
title = "Share"
label = "share"
values = [{ metric = "share", streams = ["main.video", "upload.tcp"], from = "100s", to = "200s" }]

[[figure]]
kind = "scatter"
title = "Plane"
x = { metric = "loss", stream = "main.video", from = "100s" }
y = { metric = "rtt_p95", stream = "main.video", to = "200s" }
"#;

    fn quick_text(text: &str) -> String {
        Experiment::parse(text, "x.toml").unwrap().quick().unwrap().text
    }

    #[test]
    fn only_the_schedule_is_scaled() {
        insta::assert_snapshot!(quick_text(LONG));
    }

    #[test]
    fn a_file_can_define_its_short_form() {
        let more =
            "[quick]\nscale = 0.5\nset = { duration = \"60s\", 'call.main.stop' = \"55s\" }\n";
        let quick = Experiment::parse(&format!("{LONG}{more}"), "x.toml").unwrap().quick().unwrap();
        let scenario = quick.cells()[1].scenario(units::Seed(1));
        assert_eq!((scenario.duration, quick.time_scale), (Duration::from_secs(60), 0.5));
        assert_eq!(
            (scenario.calls[0].start, scenario.calls[0].stop),
            (Time::from_secs(5), Time::from_secs(55))
        );
        assert_eq!(scenario.tcp[0].start, Time::from_secs(50));
    }

    #[test]
    fn a_short_experiment_is_its_own_short_form() {
        let short = LONG
            .replace("300s", "60s")
            .replace("100s", "10s")
            .replace("200s", "20s")
            .replace("50s", "5s");
        assert_eq!(quick_text(&short), short);
        assert_eq!(quick_text(&quick_text(LONG)), quick_text(LONG));
    }

    #[test]
    fn every_built_in_experiment_has_a_short_form() {
        for name in names() {
            let full = Experiment::open(name).unwrap();
            let quick = full.quick().unwrap_or_else(|error| panic!("{error}"));
            let params = |experiment: &Experiment| -> Vec<String> {
                experiment.cells().iter().map(super::super::Cell::label).collect()
            };
            assert_eq!(params(&quick), params(&full), "{name}");
            for cell in quick.cells() {
                assert!(
                    cell.scenario(units::Seed(1)).duration <= LENGTH,
                    "{name}: {}",
                    cell.label()
                );
            }
            let files = quick.files.clone();
            let again = Experiment::read(&quick.text, &quick.path, name, files).unwrap();
            assert_eq!(format!("{:?}", again.cells()), format!("{:?}", quick.cells()), "{name}");
            assert_eq!(again.time_scale, quick.time_scale, "{name}");
        }
    }

    #[test]
    fn errors_in_quick_name_the_key_and_a_suggestion() {
        for (line, part) in [
            (
                "[quick]\nscale = 0",
                "quick.scale: 0 is out of range; write a number above 0 and at most 1",
            ),
            ("[quick]\nscal = 0.5", "did you mean scale?"),
            ("[quick]\nset = { runs = 1 }", "this key cannot be varied"),
            ("[quick]\nset = { 'call.mane.stop' = \"9s\" }", "there is no call 'mane'"),
        ] {
            let error =
                Experiment::parse(&format!("{LONG}{line}\n"), "x.toml").unwrap_err().to_string();
            assert!(error.starts_with("x.toml:") && error.contains(part), "{error}");
        }
        let error =
            Experiment::parse(&LONG.replacen("duration", "time_scale = 2\nduration", 1), "x.toml");
        assert!(error.unwrap_err().to_string().contains("time_scale: 2 is out of range"));
    }
}
