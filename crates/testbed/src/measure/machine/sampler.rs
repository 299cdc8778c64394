use crate::measure::stats::{sample_count, sample_index};
use sim::recording::{Column, StreamKind, StreamRecord};
use std::io;
use std::path::{Path, PathBuf};
use units::{Duration, Time};

/// The name of the stream.
pub const STREAM: &str = "machine";
/// The kernel's counters since its start (proc(5)).
const STAT: &str = "/proc/stat";

/// The time of all cores since the system started, in ticks of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    all: u64,
    idle: u64,
    steal: u64,
}

impl Ticks {
    fn read(stat: &Path) -> io::Result<Self> {
        let text = std::fs::read_to_string(stat)?;
        Self::parse(&text).ok_or_else(|| io::Error::other("it has no line of all cores"))
    }

    /// Parses the line `cpu  user nice system idle iowait irq softirq steal guest guest_nice`.
    /// Guest times are included in user and nice. Before Linux 2.6.11 there is no steal.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let of = |index: usize| ticks.get(index).copied();
        let all = ticks.iter().try_fold(0u64, |sum, ticks| sum.checked_add(*ticks))?;
        Some(Self { all, idle: of(3)?.checked_add(of(4)?)?, steal: of(7).unwrap_or(0) })
    }

    /// The busy and the stolen share of all cores since `before`, 0…1. The kernel's idle counters
    /// may decrease slightly.
    fn since(self, before: Self) -> Option<(f64, f64)> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)? as f64;
        let idle = self.idle.saturating_sub(before.idle) as f64;
        let steal = self.steal.saturating_sub(before.steal) as f64;
        Some((((all - idle - steal) / all).clamp(0.0, 1.0), (steal / all).clamp(0.0, 1.0)))
    }
}

/// Samples the load of the whole machine during a run.
#[derive(Debug)]
pub struct MachineSampler {
    /// The file of the kernel's counters ([`STAT`]).
    stat: PathBuf,
    interval: Duration,
    duration: Duration,
    /// The time of the next sample.
    due: Time,
    before: Option<Ticks>,
    cpu: Vec<f64>,
    steal: Vec<f64>,
    /// The number of samples that were due, and of those that are missing.
    due_count: usize,
    missing: usize,
    /// Why the last missing sample is missing.
    reason: String,
}

impl MachineSampler {
    /// Starts with a run that has a sample every `interval` and lasts `duration`.
    #[must_use]
    pub fn start(interval: Duration, duration: Duration) -> Self {
        Self::reading(PathBuf::from(STAT), interval, duration)
    }

    pub(super) fn reading(stat: PathBuf, interval: Duration, duration: Duration) -> Self {
        let none = vec![f64::NAN; sample_count(interval, duration)];
        let (cpu, steal, due) = (none.clone(), none, Time::ZERO + interval);
        let (before, due_count, missing, reason) = (None, 0, 0, String::new());
        let mut sampler =
            Self { stat, interval, duration, due, before, cpu, steal, due_count, missing, reason };
        sampler.before = sampler.read();
        sampler
    }

    /// Takes a sample if one is due at this time of the run.
    pub fn poll(&mut self, now: Time) {
        if now < self.due {
            return;
        }
        let at = self.due;
        self.due += self.interval;
        self.due_count += 1;
        match self.read() {
            Some(ticks) => self.take(at, ticks),
            None => self.missing += 1,
        }
    }

    fn read(&mut self) -> Option<Ticks> {
        let ticks = Ticks::read(&self.stat);
        ticks.map_err(|error| self.reason = format!("{}: {error}", self.stat.display())).ok()
    }

    fn take(&mut self, at: Time, now: Ticks) {
        let Some(before) = self.before else {
            self.before = Some(now);
            self.missing += 1;
            return;
        };
        let Some((cpu, steal)) = now.since(before) else { return };
        self.before = Some(now);
        if let Some(index) = sample_index(at.as_secs_f64(), self.interval, self.cpu.len()) {
            (self.cpu[index], self.steal[index]) = (cpu, steal);
        }
    }

    /// A warning about missing samples; `None` if there are none.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let (missing, all, reason) = (self.missing, self.due_count, &self.reason);
        (missing > 0).then(|| {
            format!(
                "whether the machine kept up is not known in {missing} of {all} samples: {reason}"
            )
        })
    }

    /// The stream [`STREAM`]. `cpu`: the share of all cores that was used in the interval; `steal`:
    /// the share that the hypervisor of a virtual machine kept. Both 0…1.
    #[must_use]
    pub fn finish(self) -> StreamRecord {
        let column = |name, values| Column { name, values };
        StreamRecord {
            name: STREAM.to_owned(),
            kind: StreamKind::Stats,
            active: (Time::ZERO, Time::ZERO + self.duration),
            columns: vec![column("cpu", self.cpu), column("steal", self.steal)],
            points: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(line: &str) -> Ticks {
        Ticks::parse(&format!("{line}\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n")).unwrap()
    }

    #[test]
    fn busy_and_stolen_shares_are_those_of_the_interval() {
        let before = ticks("cpu  100 0 50 800 50 0 0 0 30 0");
        let after = ticks("cpu  150 10 70 810 60 5 5 90 60 0");
        assert_eq!(after.since(before), Some((90.0 / 200.0, 90.0 / 200.0)));
        assert_eq!(after.since(after), None);
        assert_eq!(before.since(after), None);
        assert!(
            Ticks::parse("cpu  1 2 x 4 5 6 7 8").is_none() && Ticks::parse("cpu  1 2 3").is_none()
        );
        assert!(
            Ticks::parse("cpu  18446744073709551615 2 3 4 5").is_none()
                && Ticks::parse("").is_none()
        );
    }

    #[test]
    fn samples_have_the_times_of_the_run() {
        let mut sampler = MachineSampler::start(Duration::from_secs(1), Duration::from_secs(4));
        sampler.before = Some(ticks("cpu  0 0 0 0 0 0 0 0"));
        sampler.take(Time::from_millis(1010), ticks("cpu  50 0 0 50 0 0 0 0"));
        sampler.take(Time::from_millis(2900), ticks("cpu  150 0 0 50 0 0 0 0"));
        sampler.take(Time::from_secs(9), ticks("cpu  150 0 0 150 0 0 0 0"));
        assert_eq!(sampler.missing(), None);
        let record = sampler.finish();
        assert_eq!(format!("{:?}", record.column("cpu").unwrap()), "[0.5, NaN, 1.0, NaN]");
        assert_eq!(record.column("steal").unwrap()[2], 0.0);
    }

    #[test]
    fn samples_without_kernel_counters_are_missing_with_a_reason() {
        let stat = tempfile::NamedTempFile::new().unwrap();
        let path = stat.path().to_owned();
        let mut sampler =
            MachineSampler::reading(path.clone(), Duration::from_secs(1), Duration::from_secs(6));
        let mut at = |seconds: u64, text: &str| {
            std::fs::write(&path, text).unwrap();
            // Samples that are not due, or were taken, are not taken again.
            for ms in [999, 1000, 1001] {
                sampler.poll(Time::from_millis((seconds - 1) * 1000 + ms));
            }
        };
        at(1, "cpu  0 0 0 0 0 0 0 0");
        at(2, "cpu  50 0 0 50 0 0 0 0");
        at(3, "intr 5");
        at(4, "cpu  50 0 0 250 0 0 0 0");
        drop(stat);
        sampler.poll(Time::from_secs(5));
        let said = sampler.missing().unwrap();
        assert!(said.contains("is not known in 3 of 5 samples: "), "{said}");
        assert!(said.contains("No such file"), "{said}");
        let record = sampler.finish();
        assert_eq!(
            format!("{:?}", record.column("cpu").unwrap()),
            "[NaN, 0.5, NaN, 0.0, NaN, NaN]"
        );
    }

    #[test]
    fn the_load_of_this_machine_can_be_read() {
        let mut sampler = MachineSampler::start(Duration::from_millis(50), Duration::from_secs(1));
        std::thread::sleep(std::time::Duration::from_millis(100));
        sampler.poll(Time::from_millis(50));
        let cpu = sampler.finish().columns[0].values[0];
        assert!((0.0..=1.0).contains(&cpu), "{cpu}");
    }
}
