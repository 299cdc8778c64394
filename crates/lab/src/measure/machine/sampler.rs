use crate::measure::stats::{sample_count, sample_index};
use sim::recording::{Column, Kind, StreamRecord};
use std::io;
use std::time::Duration as StdDuration;
use units::{Duration, Time};

/// The stream's name.
pub const STREAM: &str = "machine";
/// What the kernel has counted since it started (proc(5)).
const STAT: &str = "/proc/stat";

/// Time of all cores since the system started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    all: u64,
    idle: u64,
    steal: u64,
}

impl Ticks {
    fn read() -> io::Result<Self> {
        Self::parse(&std::fs::read_to_string(STAT)?).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{STAT} has no line of all cores"))
        })
    }

    /// The line `cpu  user nice system idle iowait irq softirq steal guest guest_nice`; guests are within user and nice. Before
    /// Linux 2.6.11 there is no steal.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> =
            line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let of = |place: usize| ticks.get(place).copied();
        let all = ticks.iter().try_fold(0u64, |sum, ticks| sum.checked_add(*ticks))?;
        Some(Self { all, idle: of(3)?.checked_add(of(4)?)?, steal: of(7).unwrap_or(0) })
    }

    /// (busy, stolen) since `before`, shares of all cores. The kernel's counts of idle time may fall a little.
    fn since(self, before: Self) -> Option<(f64, f64)> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)? as f64;
        let idle = self.idle.saturating_sub(before.idle) as f64;
        let steal = self.steal.saturating_sub(before.steal) as f64;
        Some((((all - idle - steal) / all).clamp(0.0, 1.0), (steal / all).clamp(0.0, 1.0)))
    }
}

/// Watches the load of the whole machine during a run.
#[derive(Debug)]
pub struct MachineSampler {
    interval: Duration,
    duration: Duration,
    before: Ticks,
    cpu: Vec<f64>,
    steal: Vec<f64>,
}

impl MachineSampler {
    /// Begins with the run, which has a sample every `interval` and lasts `duration`.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn start(interval: Duration, duration: Duration) -> io::Result<Self> {
        let none = vec![f64::NAN; sample_count(interval, duration)];
        Ok(Self { interval, duration, before: Ticks::read()?, cpu: none.clone(), steal: none })
    }

    /// Takes a sample, to be called about once an interval; `since_start` is the time since the run began.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn sample(&mut self, since_start: StdDuration) -> io::Result<()> {
        let now = Ticks::read()?;
        self.take(since_start, now);
        Ok(())
    }

    fn take(&mut self, since_start: StdDuration, now: Ticks) {
        let Some((cpu, steal)) = now.since(self.before) else { return };
        self.before = now;
        if let Some(index) = sample_index(since_start.as_secs_f64(), self.interval, self.cpu.len()) {
            (self.cpu[index], self.steal[index]) = (cpu, steal);
        }
    }

    /// The stream [`STREAM`]: `cpu`, the share of all cores that was used in the interval, and `steal`, the share that the machine
    /// beneath a virtual one kept to itself; both 0…1.
    #[must_use]
    pub fn finish(self) -> StreamRecord {
        let column = |name, values| Column { name, values };
        StreamRecord {
            name: STREAM.to_owned(),
            kind: Kind::Stats,
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
        assert!(Ticks::parse("cpu  1 2 x 4 5 6 7 8").is_none() && Ticks::parse("cpu  1 2 3").is_none());
        assert!(Ticks::parse("cpu  18446744073709551615 2 3 4 5").is_none() && Ticks::parse("").is_none());
    }

    #[test]
    fn samples_lie_on_the_grid_of_the_run() {
        let mut sampler = MachineSampler::start(Duration::from_secs(1), Duration::from_secs(4)).unwrap();
        sampler.before = ticks("cpu  0 0 0 0 0 0 0 0");
        sampler.take(StdDuration::from_millis(1010), ticks("cpu  50 0 0 50 0 0 0 0"));
        sampler.take(StdDuration::from_millis(2900), ticks("cpu  150 0 0 50 0 0 0 0"));
        sampler.take(StdDuration::from_millis(9000), ticks("cpu  150 0 0 150 0 0 0 0"));
        let record = sampler.finish();
        assert_eq!(format!("{:?}", record.column("cpu").unwrap()), "[0.5, NaN, 1.0, NaN]");
        assert_eq!(record.column("steal").unwrap()[2], 0.0);
    }

    #[test]
    fn this_machine_can_be_watched() {
        let mut sampler = MachineSampler::start(Duration::from_millis(50), Duration::from_secs(1)).unwrap();
        std::thread::sleep(StdDuration::from_millis(100));
        sampler.sample(StdDuration::from_millis(100)).unwrap();
        let cpu = sampler.finish().columns[0].values[1];
        assert!((0.0..=1.0).contains(&cpu), "{cpu}");
    }
}
