//! The observer of the real-time loop: samples of every link, as the simulator takes them, and
//! packet captures.

use super::captures::Captures;
use super::live::{Columns, Live};
use emulator::Observer;
use net::{Direction, HostId, LinkId, Network};
use sim::Sampler;
use sim::recording::{StreamKind, StreamRecord};
use std::collections::BTreeSet;
use std::sync::Arc;
use units::Time;

/// Collects the records of the links.
pub(super) struct Recorder {
    lines: Vec<(LinkId, String, Sampler)>,
    live: Arc<Live>,
    pub(super) captures: Option<Captures>,
    /// Hosts that sent a packet over the MTU.
    pub(super) refused: BTreeSet<HostId>,
}

impl Recorder {
    /// Records the links of these hosts until `end`, and shows them `live`.
    pub(super) fn new(
        hosts: &[String],
        end: Time,
        captures: Option<Captures>,
        live: Arc<Live>,
    ) -> Self {
        let lines = (0..).map(HostId).zip(hosts).flat_map(|(id, host)| {
            Direction::ALL.map(|direction| {
                let name = format!("{host}.{direction}");
                let sampler = Sampler::new(name.clone(), StreamKind::Line, (Time::ZERO, end));
                (LinkId { host: id, direction }, name, sampler)
            })
        });
        Self { lines: lines.collect(), live, captures, refused: BTreeSet::new() }
    }

    /// The records, cut at the end of the run.
    pub(super) fn finish(self, end: Time) -> Vec<StreamRecord> {
        let lines = self.lines.into_iter();
        lines
            .map(|(_, _, mut line)| {
                line.close(end);
                line.finish(Vec::new())
            })
            .collect()
    }
}

impl Observer for Recorder {
    fn sample(&mut self, at: Time, network: &Network) {
        for (link, name, sampler) in &mut self.lines {
            let mut columns = Columns::default();
            sampler.sample(at, |show| {
                network.show(*link, at, &mut |name, value| {
                    columns.take(name, value);
                    show(name, value);
                });
            });
            self.live.take(name, *link, at, columns);
        }
    }

    fn packet(&mut self, at: Time, host: HostId, bytes: &[u8]) {
        if let Some(captures) = &mut self.captures {
            captures.packet(at, host, bytes);
        }
    }

    fn refused(&mut self, host: HostId) {
        self.refused.insert(host);
    }
}
