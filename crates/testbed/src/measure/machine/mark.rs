use super::{MachineSampler, STREAM, verdict};
use crate::emulate::CallRecords;
use sim::recording::Event;
use units::Time;

/// Adds the load of the machine to the records of a run that ended at `end`, and marks the run if
/// the machine was too slow. `frame_rate` is what the senders were asked for, frames/s.
pub(in crate::measure) fn mark(
    records: &mut CallRecords,
    machine: MachineSampler,
    frame_rate: f64,
    end: Time,
) {
    records.warnings.extend(machine.missing());
    records.streams.push(machine.finish());
    let Some(reason) = verdict(&records.streams, frame_rate) else { return };
    records
        .warnings
        .push(format!("CPU-limited: {reason}; the records describe the machine, not the network"));
    records.notes.push(("cpuLimited".to_owned(), reason));
    // The event marks tables of samples, which have no notes.
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

    /// The records of a run in which decoding a frame takes `cost` seconds.
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
    fn a_cpu_limited_run_is_marked_in_warnings_notes_and_events() {
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
    fn missing_samples_of_the_machine_are_a_warning_of_the_run() {
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
