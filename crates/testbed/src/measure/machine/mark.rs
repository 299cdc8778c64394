use super::{MachineSampler, STREAM, verdict};
use crate::emulate::CallRecords;
use sim::recording::Event;
use units::Time;

/// Adds to a run's records, which end at `end`, what was seen of the machine, and marks them where
/// it did not keep up with the `frame_rate`, frames a second, that senders were asked for.
pub(in crate::measure) fn mark(
    records: &mut CallRecords,
    machine: MachineSampler,
    frame_rate: f64,
    end: Time,
) {
    records.warnings.extend(machine.missing());
    records.streams.push(machine.finish());
    let Some(reason) = verdict(&records.streams, frame_rate) else { return };
    records.warnings.push(format!(
        "CPU-limited: {reason}; what was measured is the machine's, not the network's"
    ));
    records.notes.push(("cpuLimited".to_owned(), reason));
    // Where there are no notes, as in a table of samples, the mark goes with them.
    records.limited = true;
    records.events.push(Event {
        at: end,
        stream: STREAM.to_owned(),
        what: "cpuLimited",
        value: 1.0,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::recording::{Column, StreamKind, StreamRecord};
    use units::Duration;

    const SECOND: Duration = Duration::from_secs(1);
    const END: Time = Time::from_secs(20);

    /// What becomes of a run in which a frame takes so long to decode, seconds.
    fn marked(cost: f64, sampler: MachineSampler) -> CallRecords {
        let counter = |name, step: f64| Column {
            name,
            values: (0..20).map(|n| step * f64::from(n)).collect(),
        };
        let decoder = StreamRecord {
            name: "main.bob.inbound-rtp.video".to_owned(),
            kind: StreamKind::Stats,
            active: (Time::ZERO, END),
            columns: vec![counter("framesDecoded", 10.0), counter("totalDecodeTime", 10.0 * cost)],
            points: Vec::new(),
        };
        let mut records = CallRecords { streams: vec![decoder], ..CallRecords::default() };
        mark(&mut records, sampler, 30.0, END);
        records
    }

    #[test]
    fn a_run_that_was_short_of_processor_says_so_wherever_it_goes() {
        let sampler = || MachineSampler::start(SECOND, SECOND * 20);
        let good = marked(0.01, sampler());
        assert!(
            !good.limited
                && good.warnings.is_empty()
                && good.notes.is_empty()
                && good.events.is_empty()
        );
        assert_eq!(good.streams[1].name, STREAM);
        let bad = marked(0.05, sampler());
        assert!(
            bad.limited && bad.warnings[0].starts_with("CPU-limited: decoding"),
            "{:?}",
            bad.warnings
        );
        assert_eq!(bad.notes[0].0, "cpuLimited");
        assert_eq!((bad.events[0].at, bad.events[0].what), (END, "cpuLimited"));
    }

    #[test]
    fn that_the_machine_was_not_seen_is_a_warning_of_the_run() {
        let mut sampler = MachineSampler::reading("/nonexistent".into(), SECOND, SECOND * 20);
        sampler.poll(Time::from_secs(1));
        let records = marked(0.01, sampler);
        assert!(!records.limited);
        assert!(
            records.warnings[0].contains("is not known in 1 of 1 samples: /nonexistent: "),
            "{records:?}"
        );
    }
}
